package vbks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/distance"
	"example.com/kestrel/vbks/starts"
)

// mined is a device on which a panic, or whatever else trip does, waits at a
// certain operation, counted over all lanes.
type mined struct {
	device.Device
	at   int64
	trip func() error
	done atomic.Int64 // operations
}

func (d *mined) Lane(i int) device.Lane { return &minedLane{d.Device.Lane(i), d} }

func (d *mined) step() error {
	if d.done.Add(1) == d.at {
		return d.trip()
	}
	return nil
}

type minedLane struct {
	device.Lane
	device *mined
}

func (l *minedLane) Kernel(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, out device.Array) {
	_ = l.device.step() // what it does besides a panic comes at the next Read
	l.Lane.Kernel(sub, ks, theta, a, b, out)
}

func (l *minedLane) Read(a device.Array, k int, dst []float64) error {
	if err := l.device.step(); err != nil {
		return err
	}
	return l.Lane.Read(a, k, dst)
}

// However an evaluation or a prediction ends, its goroutines end with it:
// synctest.Test panics with their stacks if one is left.
func TestGoroutinesEndWithTheRound(t *testing.T) {
	thorough.Unraced(t)
	thorough.AnyInstructions(t)
	t.Parallel()
	var (
		errGate   = errors.New("stopped by the gate")
		errBroken = errors.New("the device is broken")
	)
	data := trainingSeries(31, 40)
	for _, optimizer := range append(slices.Clone(optimizers), "collapsed diagonal") {
		s := quickSettings(strings.Fields(optimizer)[0])
		if strings.HasSuffix(optimizer, "diagonal") {
			s.Hyperparameters = "diagonal"
		}
		// How many operations and steps there are, so that an end can come anywhere.
		var operations, steps int64
		for _, way := range []string{"done", "context", "gate", "device", "lost", "panic", "panic at the gate"} {
			for _, share := range []float64{0.05, 0.5, 0.9} {
				if way == "done" && steps > 0 {
					continue // there is one end only
				}
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					d := &mined{}
					tr := trainerOn(t, 2, func(dev device.Device) device.Device { d.Device = dev; return d }, data, s, fourKernels...)
					var gated atomic.Int64
					end := 1 + int64(share*float64(steps))
					tr.SetGate(func(ctx context.Context) error {
						if gated.Add(1) == end {
							switch way {
							case "context":
								cancel()
							case "gate":
								return errGate
							case "panic at the gate":
								panic("gate")
							}
						}
						return ctx.Err()
					})
					if operations > 0 {
						d.at = 1 + int64(share*float64(operations))
					}
					d.done.Store(0)
					d.trip = func() error {
						switch way {
						case "device":
							return errBroken
						case "lost":
							return device.ErrLost
						case "panic":
							panic("lane")
						}
						return nil
					}
					var err error
					for err == nil && !tr.Done() {
						if _, err = tr.Next(ctx); err == nil {
							_, err = tr.Predict(ctx, []float64{-1, 0, 1}, PredictOptions{})
						}
					}
					var p *guard.PanicError
					ok := err == nil
					switch way {
					case "done":
						operations, steps = d.done.Load(), gated.Load()
					case "context":
						ok = errors.Is(err, context.Canceled)
					case "gate":
						ok = errors.Is(err, errGate)
					case "device":
						// A Kernel has no error to give; then the mine was in vain.
						ok = err == nil || errors.Is(err, errBroken)
					case "panic", "panic at the gate":
						ok = errors.As(err, &p)
					}
					if !ok {
						t.Errorf("%s, %s after %g of it: %v", optimizer, way, share, err)
					}
				})
			}
		}
	}
}

// The lanes of the distance between kernels end with the work, and those of a
// benchmark when it is closed, whatever happened.
func TestGoroutinesEndWithOtherWork(t *testing.T) {
	var programs []*kernelspace.Program
	for _, e := range []string{"SE[a]", "LIN[b]", "PER[a]*SE[b]", "RQ", "SE+LIN"} {
		programs = append(programs, kernelspacetest.Program(t, e, kernelspace.Options{Columns: []string{"a", "b"}, Dim: 2}))
	}
	x := []float64{0, 0, 1, 2, 0.5, -1, 2, 0.25}
	scales := starts.Summarise(x, []float64{1, 2, 3, 5}, 2)
	errBroken := errors.New("the device is broken")
	for _, way := range []string{"done", "context", "device", "panic"} {
		for _, at := range []int64{1, 2, 7, 20} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				dev := onCPU(2)
				defer dev.Close()
				d := &mined{Device: dev, at: at, trip: func() error {
					switch way {
					case "context":
						cancel()
					case "device":
						return errBroken
					case "panic":
						panic("lane")
					}
					return nil
				}}
				between, err := distance.NewPrior(d, x, scales, programs, 3, 1)
				if err != nil {
					t.Fatal(err)
				}
				_, err = between.From(ctx, 0)
				if d.done.Load() < at {
					t.Fatalf("only %d operations", d.done.Load())
				}
				var p *guard.PanicError
				if ok := map[string]bool{
					"done": err == nil, "context": errors.Is(err, context.Canceled), "panic": errors.As(err, &p),
					"device": err == nil || errors.Is(err, errBroken), // a Kernel has no error to give
				}; !ok[way] {
					t.Errorf("%s at %d: %v", way, at, err)
				}
			})
		}
		for _, kind := range []StepKind{StepAdam, StepFrozen, StepPredict} {
			synctest.Test(t, func(t *testing.T) {
				dev := onCPU(2)
				defer dev.Close()
				d := &mined{Device: dev}
				b, err := NewStepBench(d, stepSetup(t, kind, 60, 5, 4, stepBenchKernels...))
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				// A panic on a lane's own goroutine would end the program.
				if d.trip = func() error { return nil }; way == "device" {
					d.at, d.trip = d.done.Load()+5, func() error { return errBroken }
				}
				if err := b.Steps(3); err != nil && !errors.Is(err, errBroken) {
					t.Error(err)
				}
			})
		}
	}
}
