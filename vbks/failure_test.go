package vbks

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
)

// brokenDevice fails to factorise anything for one kernel while broken says so.
type brokenDevice struct {
	device.Device
	id     string // of the kernel; "" for every one
	broken func(factor float64) bool
}

func (d *brokenDevice) Lane(i int) device.Lane {
	return &brokenLane{Lane: d.Device.Lane(i), device: d}
}

type brokenLane struct {
	device.Lane
	device   *brokenDevice
	programs []*kernelspace.Program
	factor   device.Array // of the jitter last added
}

func (l *brokenLane) NewKernels(programs []*kernelspace.Program) (device.Kernels, error) {
	l.programs = programs
	return l.Lane.NewKernels(programs)
}

func (l *brokenLane) AddJitter(sub []int, kzz device.Array, j device.Jitter, factor device.Array) {
	l.factor = factor
	l.Lane.AddJitter(sub, kzz, j, factor)
}

func (l *brokenLane) Cholesky(sub []int, a, info device.Array) {
	l.Lane.Cholesky(sub, a, info)
	for _, k := range sub {
		var factor [1]float64
		if err := l.Read(l.factor, k, factor[:]); err != nil {
			panic("the CPU cannot fail to read")
		}
		if (l.device.id == "" || l.programs[k].ID == l.device.id) && l.device.broken(factor[0]) {
			l.Write(info, k, []float64{1})
		}
	}
}

// A kernel that cannot be computed is marked failed, with its expression and
// hyperparameters, whenever that happens; the others end as they do without it.
func TestBrokenKernelFailsAlone(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	data := trainingSeries(15, 90)
	for _, optimizer := range optimizers {
		for _, when := range []struct {
			what       string
			evaluation int
			phase      string // after which it breaks; "" for from the start
		}{{"from the start", 1, ""}, {"later", 2, ""}, {"while learning", 1, "optimise"}} {
			if when.phase != "" && optimizer == "collapsed" {
				continue
			}
			s := quickSettings(optimizer)
			s.Transplants = false // so that the others cannot have taken from it
			var broken atomic.Bool
			d := &brokenDevice{id: "LIN+RQ", broken: func(float64) bool { return broken.Load() }}
			wrap := func(dev device.Device) device.Device { d.Device = dev; return d }
			tr := trainerOn(t, 1, wrap, data, s, fourKernels...)
			tr.SetProgress(func(p Progress) {
				if p.Phase == when.phase && p.Done == p.Total {
					broken.Store(true)
				}
			})
			others := trainerOn(t, 1, nil, data, s, "SE", "LIN+SE", "PER")
			for i := 1; i <= 3; i++ {
				broken.Store(broken.Load() || i == when.evaluation && when.phase == "")
				e, want := next(t, tr), next(t, others)
				checkEvaluation(t, e)
				k := e.Kernels[2]
				if i < when.evaluation {
					if k.Status != Live {
						t.Errorf("%s, %s: %s at evaluation %d", optimizer, when.what, k.Status, i)
					}
					continue
				}
				if k.Status != Failed {
					t.Fatalf("%s, %s: the kernel is %s at evaluation %d", optimizer, when.what, k.Status, i)
				}
				for _, part := range []string{"10000 times the jitter", "alpha", "lengthscale", "noise"} {
					if !strings.Contains(k.Reason, part) {
						t.Errorf("%s, %s: the reason %q lacks %q", optimizer, when.what, k.Reason, part)
					}
				}
				told := slices.ContainsFunc(e.Notices, func(n Notice) bool {
					return strings.Contains(n.Text, "LIN+RQ failed") && n.Kernel == "LIN+RQ" && n.Failed
				})
				if told != (i == when.evaluation) {
					t.Errorf("%s, %s: notices at evaluation %d: %+v", optimizer, when.what, i, e.Notices)
				}
				if told { // a run that goes on knows whose failure it was
					same(t, optimizer+", "+when.what, resumed(t, tr, s), tr)
				}
				for j, at := range []int{0, 1, 3} {
					if e.Kernels[at].ELBO != want.Kernels[j].ELBO {
						t.Errorf("%s, %s: %s has ELBO %g beside a broken kernel, %g without", optimizer, when.what,
							want.Kernels[j].ID, e.Kernels[at].ELBO, want.Kernels[j].ELBO)
					}
				}
			}
			if _, err := tr.Restore([]string{"LIN+RQ"}); err == nil || !strings.Contains(err.Error(), "failed") {
				t.Errorf("%s: restoring a failed kernel: %v", optimizer, err)
			}
		}
	}
}

func TestAllKernelsFail(t *testing.T) {
	for _, optimizer := range optimizers {
		d := &brokenDevice{broken: func(float64) bool { return true }}
		wrap := func(dev device.Device) device.Device { d.Device = dev; return d }
		tr := trainerOn(t, 1, wrap, trainingSeries(16, 60), quickSettings(optimizer), fourKernels...)
		before := snapshotOf(tr)
		_, err := tr.Next(context.Background())
		if err == nil {
			t.Fatalf("%s: no error", optimizer)
		}
		for _, part := range []string{"every kernel failed", "SE", "not positive definite", "lengthscale"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %q lacks %q", optimizer, err, part)
			}
		}
		if !reflect.DeepEqual(snapshotOf(tr), before) || tr.Last() != nil {
			t.Errorf("%s: the failed evaluation changed the trainer", optimizer)
		}
	}
}

// A kernel that needs more jitter gets it, says so once, and keeps it.
func TestJitterEscalationIsKept(t *testing.T) {
	for _, optimizer := range optimizers {
		d := &brokenDevice{id: "PER", broken: func(factor float64) bool { return factor < 1000 }}
		wrap := func(dev device.Device) device.Device { d.Device = dev; return d }
		tr := trainerOn(t, 1, wrap, trainingSeries(17, 60), quickSettings(optimizer), fourKernels...)
		for i := 1; i <= 2; i++ {
			e := next(t, tr)
			checkEvaluation(t, e)
			for j, k := range tr.kernels {
				want := 1.0
				if k.id == "PER" {
					want = 1000
				}
				if e.Kernels[j].Status != Live || k.state.Factor != want {
					t.Errorf("%s: %s is %s with %g times the jitter, want %g", optimizer, k.id, e.Kernels[j].Status, k.state.Factor, want)
				}
			}
			told := slices.ContainsFunc(e.Notices, func(n Notice) bool {
				return n == Notice{Text: "kernel PER: jitter raised 1000 times", Kernel: "PER"}
			})
			if told != (i == 1) {
				t.Errorf("%s: notices at evaluation %d: %+v", optimizer, i, e.Notices)
			}
		}
	}
}
