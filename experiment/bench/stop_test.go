package bench

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/internal/must"
)

// queueing is a CPU whose lane does what it is asked only when somebody waits or reads, as a card, and
// takes a time for each kernel matrix and each of its gradients. It is the only one that takes any.
type queueing struct {
	device.Device
	lane *queueingLane
}

type queueingLane struct {
	device.Lane
	each    time.Duration
	queue   int
	longest time.Duration // that anybody has waited
}

func (q *queueing) Lane(int) device.Lane { return q.lane }

func (l *queueingLane) Kernel(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, dst device.Array) {
	l.Lane.Kernel(sub, ks, theta, a, b, dst)
	l.queue++
}

func (l *queueingLane) KernelGrad(
	sub []int, ks device.Kernels, theta device.Array, a, b device.Points, dst, bar, grad device.Array,
) {
	l.Lane.KernelGrad(sub, ks, theta, a, b, dst, bar, grad)
	l.queue++
}

func (l *queueingLane) wait() {
	takes := time.Duration(l.queue) * l.each
	l.longest, l.queue = max(l.longest, takes), 0
	time.Sleep(takes)
}

func (l *queueingLane) Read(a device.Array, k int, dst []float64) error {
	l.wait()
	return l.Lane.Read(a, k, dst)
}

func (l *queueingLane) Sync() error {
	l.wait()
	return l.Lane.Sync()
}

// An optimisation ends as soon as the device is through with what stands in its queue: at once where stops come
// while it is idle, never later than the longest queue and what one evaluation of the bound still brings along.
func TestMeasureStops(t *testing.T) {
	for _, bound := range []bool{true, false} {
		for _, each := range []time.Duration{50 * time.Microsecond, 30 * time.Millisecond} {
			synctest.Test(t, func(t *testing.T) {
				base := cpu.New(cpu.Options{Lanes: 1})
				defer base.Close()
				dev := &queueing{base, &queueingLane{Lane: base.Lane(0), each: each}}
				s, err := MeasureStops(t.Context(), dev, "a", "SE", bound, 2*time.Second)
				must.OK(t, err)
				if s.Times < 3 || s.During == "" || s.Longest < each/2 || s.Longest > 2*dev.lane.longest {
					t.Errorf("bound: %v, each takes %v: %+v, somebody waits for %v", bound, each, s, dev.lane.longest)
				}
				t.Logf("bound: %v, each takes %v: %+v, somebody waits for %v", bound, each, s, dev.lane.longest)
			})
		}
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := MeasureStops(ctx, cpu.New(cpu.Options{Lanes: 1}), "a", "SE", true, time.Second)
	if !errors.Is(err, cause) && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
