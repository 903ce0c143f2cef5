// Package cpu is the device of pure Go: every lane is one core, and every
// operation runs to its end inside the call, on the caller's goroutine and, where it is
// large and there are cores without work, on others. Results do not depend on that, bit
// for bit: what is divided is where results are written, never a sum, unless it has the
// same parts on one core.
package cpu

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu/simd"
)

// Options are the choices of a CPU device.
type Options struct {
	Lanes int        // number of lanes; 0: runtime.GOMAXPROCS(0)
	Level simd.Level // instruction set; simd.Auto: the machine's best
	// Team is what the lanes take cores for large operations from, with the lanes of other
	// devices; nil: a team of their own, of as many cores as lanes.
	Team *Team
}

// Device is the CPU.
type Device struct {
	lanes []*lane
	level simd.Level
}

// New returns a device with the lanes asked for.
func New(o Options) *Device {
	n := o.Lanes
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	if o.Level == simd.Auto {
		o.Level = simd.Best()
	}
	if o.Team == nil {
		o.Team = NewTeam(n)
	}
	d := &Device{lanes: make([]*lane, n), level: o.Level}
	for i := range d.lanes {
		d.lanes[i] = newLane(o.Level, o.Team, max(maxTape, maxTapes/n))
	}
	return d
}

const kind = "cpu"

// Info describes the device.
func (d *Device) Info() device.Info {
	return device.Info{
		Kind:    kind,
		Name:    fmt.Sprintf("%s, %d cores", runtime.GOARCH, runtime.NumCPU()),
		Lanes:   len(d.lanes),
		Group:   1,
		Details: fmt.Sprintf("FP64 on %s", d.level),

		Arithmetic: d.level.String(),
	}
}

// Lane returns lane i.
func (d *Device) Lane(i int) device.Lane { return d.lanes[i] }

// Close waits until the lanes' helpers have ended.
func (d *Device) Close() error {
	for _, l := range d.lanes {
		l.rest()
	}
	return nil
}

// data are points as they were given: nothing is held twice of millions of rows.
type data struct {
	x     []float64 // rows x dim
	dim   int
	y     []float64
	scale []float64 // a factor for each row; nil: 1
}

func (d *data) Rows() int { return len(d.x) / d.dim }
func (d *data) Dim() int  { return d.dim }

// NewData places n rows of dim inputs and n targets (nil for none).
func (d *Device) NewData(x, y []float64, dim int) (device.Data, error) {
	if _, err := device.CountRows(x, y, dim); err != nil {
		return nil, err
	}
	return &data{x: x, dim: dim, y: y}, nil
}

// NewScaledData is NewData with a factor for each row, see device.Scaler.
func (d *Device) NewScaledData(x, y, scale []float64, dim int) (device.Data, error) {
	made, err := d.NewData(x, y, dim)
	if err != nil {
		return nil, err
	}
	out := made.(*data)
	if len(scale) != out.Rows() {
		return nil, fmt.Errorf("data: %d factors for %d rows", len(scale), out.Rows())
	}
	for i, a := range scale {
		if !(a > 0) || math.IsInf(a, 0) {
			return nil, fmt.Errorf("data: a factor of %v in row %d, want one above 0", a, i+1)
		}
	}
	out.scale = scale
	return out, nil
}

// index is a list of row numbers. It is never changed after it was made.
type index struct{ rows []int32 }

func (x *index) Len() int { return len(x.rows) }

var errSize = errors.New("negative size")
