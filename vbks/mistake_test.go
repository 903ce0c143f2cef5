package vbks

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
)

// An ascent that a mistake ends counts for nothing; those beside it end as they do
// without it, and no goroutine is left.
func TestBrokenAscentFailsAlone(t *testing.T) {
	climb := func(t *testing.T, start []float64, scale []float64, rival []float64, f testFunction) []*ascent {
		o := &testObjective{functions: []testFunction{quadratic(3, -2), f, rosenbrock}}
		runs := []*ascent{{start: []float64{0, 0}}, {start: start, scale: scale}, {start: []float64{-1.2, 1}}}
		if rival != nil {
			runs[1].against(&solution{X: rival})
		}
		if err := ascend(context.Background(), nil, []int{0, 1, 2}, runs, 200, o.objective()); err != nil {
			t.Error(err)
		}
		return runs
	}
	steep := func(x, grad []float64) (float64, bool) {
		for i := range grad {
			grad[i] = 1.7e308
		}
		return x[0], true
	}
	whole := climb(t, []float64{-1.2, 1}, nil, nil, rosenbrock)
	for what, x := range map[string]struct {
		start, scale, rival []float64
		f                   testFunction
	}{
		"gonum, on its own goroutine":     {[]float64{0, 0, 0, 0}, nil, nil, steep},
		"the status":                      {[]float64{-1.2, 1}, nil, []float64{-1.2, 1, 0}, rosenbrock},
		"before gonum has begun":          {[]float64{-1.2, 1}, []float64{1, 1, 1}, nil, rosenbrock},
		"gonum, when it is given no room": {nil, nil, nil, rosenbrock},
	} {
		synctest.Test(t, func(t *testing.T) {
			runs := climb(t, x.start, x.scale, x.rival, x.f)
			if runs[1].broken == nil || runs[1].x != nil {
				t.Errorf("%s: %v at %v", what, runs[1].broken, runs[1].x)
			}
			for _, i := range []int{0, 2} {
				if a := runs[i]; a.broken != nil || a.value != whole[i].value || !slices.Equal(a.x, whole[i].x) {
					t.Errorf("%s: the ascent beside it ends with %g at %v, %v; alone with %g at %v",
						what, a.value, a.x, a.broken, whole[i].value, whole[i].x)
				}
			}
		})
	}
}

// steepDevice gives the gradients of some kernels a norm that overflows, on which
// gonum panics on a goroutine of its own.
type steepDevice struct {
	device.Device
	ids []string
}

func (d *steepDevice) Lane(i int) device.Lane {
	return &steepLane{Lane: d.Device.Lane(i), device: d}
}

type steepLane struct {
	device.Lane
	device   *steepDevice
	programs []*kernelspace.Program
	grad     device.Array // last collected
}

func (l *steepLane) NewKernels(programs []*kernelspace.Program) (device.Kernels, error) {
	l.programs = programs
	return l.Lane.NewKernels(programs)
}

func (l *steepLane) Collect(sub []int, ks device.Kernels, floor float64, theta, gradTheta, gradFree device.Array) {
	l.grad = gradFree
	l.Lane.Collect(sub, ks, floor, theta, gradTheta, gradFree)
}

func (l *steepLane) Read(a device.Array, k int, dst []float64) error {
	err := l.Lane.Read(a, k, dst)
	if a == l.grad && slices.Contains(l.device.ids, l.programs[k].ID) {
		for i := range dst {
			dst[i] = 1.7e308
		}
	}
	return err
}

// A kernel whose optimiser panics is marked failed and says where; the stack is
// kept for the log, and the others end as they do without it. Where all break, the
// evaluation fails and leaves no trace.
func TestPanicInTheOptimiserFailsAKernel(t *testing.T) {
	thorough.AnyInstructions(t)
	data := trainingSeries(15, 90)
	for _, optimizer := range append(slices.Clone(optimizers), "collapsed diagonal") {
		s := quickSettings(strings.Fields(optimizer)[0])
		s.Transplants = false // so that the others cannot have taken from it
		if strings.HasSuffix(optimizer, "diagonal") {
			s.Hyperparameters = "diagonal"
		}
		d := &steepDevice{ids: []string{"LIN+RQ"}}
		wrap := func(dev device.Device) device.Device { d.Device = dev; return d }
		tr := trainerOn(t, 2, wrap, data, s, fourKernels...)
		others := trainerOn(t, 2, nil, data, s, "SE", "LIN+SE", "PER")
		for i := 1; i <= 2; i++ {
			e, want := next(t, tr), next(t, others)
			checkEvaluation(t, e)
			k := e.Kernels[2]
			if k.Status != Failed || !strings.HasPrefix(k.Reason, "internal error: morethuente: ") || strings.Contains(k.Reason, "\n") ||
				!strings.Contains(k.Reason, "alpha") || !strings.Contains(k.Reason, "noise=") {
				t.Fatalf("%s: %s, %q", optimizer, k.Status, k.Reason)
			}
			told := slices.ContainsFunc(e.Notices, func(n Notice) bool {
				return strings.HasPrefix(n.Text, "kernel LIN+RQ failed: internal error: ") && n.Kernel == "LIN+RQ" && n.Failed
			})
			if told != (i == 1) || len(e.Broken) != 2-i {
				t.Errorf("%s, evaluation %d: notices %+v, broken %v", optimizer, i, e.Notices, e.Broken)
			}
			for _, p := range e.Broken {
				if !strings.Contains(string(p.Stack), "optimize.(*MoreThuente).Init") {
					t.Errorf("%s: the stack is\n%s", optimizer, p.Stack)
				}
			}
			for j, at := range []int{0, 1, 3} {
				if got, want := e.Kernels[at], want.Kernels[j]; got.ELBO != want.ELBO || math.IsNaN(got.ELBO) {
					t.Errorf("%s: %s has ELBO %g beside a broken kernel, %g without", optimizer, got.ID, got.ELBO, want.ELBO)
				}
			}
		}
		d = &steepDevice{ids: []string{"LIN+RQ", "LIN+SE"}}
		tr = trainerOn(t, 1, wrap, data, s, "LIN+RQ", "LIN+SE")
		var caught *guard.PanicError
		if _, err := tr.Next(t.Context()); !errors.As(err, &caught) || strings.Contains(err.Error(), "\n") || tr.Last() != nil {
			t.Errorf("%s, all broken: %v", optimizer, err)
		}
	}
}
