//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"kestrel/device"
	"kestrel/device/cuda/driver"
)

// Generate says when kernel matrices are computed by code generated for their
// expressions, and when by the interpreter. Both give the same bits.
type Generate int

const (
	// GenerateAuto generates code where there is a compiler, and uses it for
	// matrices large enough, or where one launch does for all kernels.
	GenerateAuto Generate = iota
	GenerateAlways
	GenerateNever
)

// Options are the choices of a CUDA device.
type Options struct {
	Cards    []int // the cards to use; nil: all
	Generate Generate
	Defines  []string // further options of the compiler, for tests
}

// Device is one or more cards.
type Device struct {
	lanes []*lane
	names []string
	least uint64 // memory of the smallest card when it was opened
}

// Open makes a lane of every card. The errors are those of package driver:
// ErrNoDriver, ErrNoDevice, ErrNoCompiler below the message.
func Open(o Options) (*Device, error) {
	drv, err := driver.Open()
	if err != nil {
		return nil, err
	}
	if o.Cards == nil {
		for i := range drv.Cards() {
			o.Cards = append(o.Cards, i)
		}
	}
	d := &Device{}
	for _, i := range o.Cards {
		l, err := openLane(drv, len(d.lanes), i, o)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.lanes = append(d.lanes, l)
		d.names = append(d.names, l.card.Info().Name)
		free, _, err := l.card.MemInfo()
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		if d.least == 0 || free < d.least {
			d.least = free
		}
	}
	if len(d.lanes) == 0 {
		return nil, driver.ErrNoDevice
	}
	return d, nil
}

// Info describes the device.
func (d *Device) Info() device.Info {
	name := d.names[0]
	if n := len(d.names); n > 1 {
		name = fmt.Sprintf("%d cards, first %s", n, name)
	}
	card := d.lanes[0].card.Info()
	return device.Info{
		Kind:   "cuda",
		Name:   name,
		Lanes:  len(d.lanes),
		Group:  0,
		Memory: d.least,
		Details: fmt.Sprintf("FP64, compute capability %d.%d, %d multiprocessors, %.0f GiB free",
			card.Major, card.Minor, card.Multiprocessors, float64(d.least)/(1<<30)),
	}
}

// Lane returns lane i.
func (d *Device) Lane(i int) device.Lane { return d.lanes[i] }

// Close gives everything on the cards back.
func (d *Device) Close() error {
	var errs []error
	for _, l := range d.lanes {
		errs = append(errs, l.card.Close())
	}
	d.lanes = nil
	return errors.Join(errs...)
}

// data is a set of points. A lane copies it to its card when it first reads it.
type data struct {
	x, y   []float64
	rows   int
	dim    int
	placed []*placement // by lane
}

// placement is where a card has a data's points.
type placement struct {
	lane  *lane
	x, y  driver.Ptr
	ready bool
}

func (d *data) Rows() int { return d.rows }
func (d *data) Dim() int  { return d.dim }

// NewData places n rows of dim inputs and n targets (nil for none).
func (d *Device) NewData(x, y []float64, dim int) (device.Data, error) {
	if dim < 1 {
		return nil, fmt.Errorf("data: %d input columns, want at least 1", dim)
	}
	if len(x)%dim != 0 {
		return nil, fmt.Errorf("data: %d inputs are not rows of %d columns", len(x), dim)
	}
	n := len(x) / dim
	if y != nil && len(y) != n {
		return nil, fmt.Errorf("data: %d targets for %d rows", len(y), n)
	}
	out := &data{x: x, y: y, rows: n, dim: dim}
	for _, l := range d.lanes {
		p := &placement{lane: l}
		out.placed = append(out.placed, p)
		runtime.AddCleanup(out, func(p *placement) { p.lane.discard(p.x, p.y) }, p)
	}
	return out, nil
}

// on returns where the lane's card has the points, placing them if need be.
func (d *data) on(l *lane) *placement {
	p := d.placed[l.number]
	if p.lane != l {
		panic("cuda: data of another device")
	}
	if p.ready {
		return p
	}
	p.ready = true
	p.x = l.copyIn("inputs", d.x)
	if d.y != nil {
		p.y = l.copyIn("targets", d.y)
	}
	return p
}

// index is a list of row numbers on a lane.
type index struct {
	lane *lane
	n    int
	ptr  driver.Ptr
	gone runtime.Cleanup
}

func (x *index) Len() int { return x.n }
