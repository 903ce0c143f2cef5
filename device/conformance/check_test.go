package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/internal/must"
)

// wrong is a CPU of which two operations are wrong and one is a mistake.
type wrong struct{ device.Device }

type wrongLane struct{ device.Lane }

func (d wrong) Lane(i int) device.Lane { return wrongLane{d.Device.Lane(i)} }

func (l wrongLane) LogDiag(sub []int, a, out device.Array) {
	l.Lane.LogDiag(sub, a, out)
	l.Lane.AddScaled(sub, out, 1e-6, out)
}

func (wrongLane) Adam([]int, int, float64, device.Array, device.Array, device.Array, device.Array, device.Array) {
	panic("no Adam")
}

// full is a CPU without memory.
type full struct{ device.Device }

type fullLane struct{ device.Lane }

func (d full) Lane(i int) device.Lane { return fullLane{d.Device.Lane(i)} }

func (fullLane) NewArray(int, int, int) (device.Array, error) { return nil, device.ErrOutOfMemory }

// Outside of tests the suite tells the first thing that is wrong in each part, goes on
// behind it, and stops where it is told to.
func TestCheck(t *testing.T) {
	small := func(part string) bool {
		return part == "Cholesky" || part == "Adam" || part == "Sample" || part == "Arrays"
	}
	dev := cpu.New(cpu.Options{Lanes: 1})
	var began []string
	note := func(part string) { began = append(began, part) }
	must.OK(t, Check(t.Context(), dev, small, note))
	if strings.Join(began, " ") != "Arrays Cholesky Adam Sample" {
		t.Errorf("parts %q", began)
	}
	err := Check(t.Context(), wrong{dev}, small, nil)
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "Cholesky: ") || !strings.HasPrefix(lines[1], "Adam: internal error: no Adam") {
		t.Errorf("%q", lines)
	}
	if !errors.Is(err, ErrWrong) {
		t.Errorf("no ErrWrong below %v", err)
	}
	// A mistake, and a device that fails, are no wrong numbers.
	if err := Check(t.Context(), wrong{dev}, func(part string) bool { return part == "Adam" }, nil); err == nil || errors.Is(err, ErrWrong) {
		t.Errorf("a mistake: %v", err)
	}
	if err := Check(t.Context(), full{dev}, small, nil); !errors.Is(err, device.ErrOutOfMemory) || errors.Is(err, ErrWrong) {
		t.Errorf("without memory: %v", err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if err := Check(ctx, dev, nil, nil); !errors.Is(err, enough) {
		t.Errorf("cancelled: %v", err)
	}
}
