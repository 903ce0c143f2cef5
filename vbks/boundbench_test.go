package vbks

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/pace"
)

// The bounds of kernels that share lanes are those of dense matrices: the tight bound, and the log
// evidence where the inducing inputs are the rows.
func TestBoundBench(t *testing.T) {
	s := stepSetup(t, StepBound, 60, 5, 60, stepBenchKernels...)
	s.Jitter = device.Jitter{Relative: 1e-9}
	for _, whole := range []bool{false, true} {
		if whole {
			s.Z = slices.Clone(s.X)
			s.Z[0], s.Z[1] = s.Z[1], s.Z[0] // in any order
		}
		b, err := NewBoundBench(onCPU(2), s)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Steps(2); err != nil {
			t.Fatal(err)
		}
		var sum float64
		for k, p := range s.Programs {
			_, want := naiveBounds(p, s.Theta[k], s.Noise, s.X, s.Y, s.Z, 1, s.Jitter)
			if whole {
				want = denseEvidence(p, s.Theta[k], s.Noise, s.X, s.Y, nil, 1)
			}
			if sum += want; math.Abs(b.values[k]-want) > 1e-7*math.Abs(want) {
				t.Errorf("%s, all rows: %v: %.12g, dense %.12g", stepBenchKernels[k], whole, b.values[k], want)
			}
		}
		if got, ok := b.Value(); !ok || math.Abs(got-sum) > 1e-6*math.Abs(sum) {
			t.Errorf("all rows: %v: %v in all, finite: %v; want %v", whole, got, ok, sum)
		}
		free := slices.Concat(b.lanes[0].units[0].grads, b.lanes[1].units[0].grads)
		if slices.Equal(free[0], make([]float64, len(free[0]))) {
			t.Error("no gradient was read")
		}
	}
	for name, spoil := range map[string]func(s *StepSetup){
		"no kernels":      func(s *StepSetup) { s.Programs = nil },
		"no parameters":   func(s *StepSetup) { s.Theta = nil },
		"inducing inputs": func(s *StepSetup) { s.Z = nil },
		"targets":         func(s *StepSetup) { s.Y = s.Y[1:] },
	} {
		bad := s
		if spoil(&bad); true {
			if _, err := NewBoundBench(onCPU(1), bad); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
	}
	if _, err := NewStepBench(onCPU(1), s); err == nil {
		t.Error("steps on the bound")
	}
}

// late is a lane on which each matrix k(Z,X) and each of its gradients takes a time of a clock that stands
// otherwise, when somebody waits.
type late struct {
	device.Lane
	clock   time.Time
	waiting int
	most    int // that somebody has waited for
}

func (l *late) Kernel(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, dst device.Array) {
	l.Lane.Kernel(sub, ks, theta, a, b, dst)
	l.waiting++
}

func (l *late) KernelGrad(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, dst, bar, grad device.Array) {
	l.Lane.KernelGrad(sub, ks, theta, a, b, dst, bar, grad)
	l.waiting++
}

func (l *late) Sync() error {
	l.most = max(l.most, l.waiting)
	l.clock = l.clock.Add(time.Duration(l.waiting) * 20 * time.Millisecond)
	l.waiting = 0
	return l.Lane.Sync()
}

// A stop ends a bound of many rows within a few chunks, its value and its gradient: it is asked for before
// each, and a lane that works through a queue is waited for.
func TestBoundStopsBetweenChunks(t *testing.T) {
	const chunks, m = 12, 3
	rng := rand.New(rand.NewPCG(4, 4))
	x, y := randomPoints(rng, chunks*chunkRows, 1), randomPoints(rng, chunks*chunkRows, 1)
	p := kernelspacetest.Program(t, "SE", kernelspace.Options{Dim: 1})
	b, rows := testBound(t, []*kernelspace.Program{p}, x, y, x[:m], 1, device.Jitter{Relative: 1e-6}, 1e-3, true)
	slow := &late{Lane: b.lane, clock: time.Unix(1, 0)}
	b.lane, b.pace = slow, pace.Pace{Now: func() time.Time { return slow.clock }}
	enough := errors.New("enough")
	for at := 1; at <= 2*chunks+1; at++ {
		asked := 0
		err := b.eval([]int{0}, rows, sumSquares(y), true, func() error {
			if asked++; asked == at {
				return enough
			}
			return nil
		})
		if ended := at > 2*chunks; ended != (err == nil) || !ended && (!errors.Is(err, enough) || asked != at) {
			t.Errorf("asked %d times, at %d: %v", asked, at, err)
		}
	}
	if slow.most > 4 {
		t.Errorf("%d chunks of 20 ms stand in a queue", slow.most)
	}
}
