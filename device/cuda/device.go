//go:build cuda

package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/source"
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
	least uint64   // memory of the smallest card when it was opened
	unfit []string // cards left out, and why

	compiler string // that the kernels come from
	notices  notices
}

// Shared memory that a block must be able to ask for: what the largest kernels use, panels of 64
// with what the compiler adds. Cards of compute capability 7.0, 7.2 and from 8.0 on have
// enough for all; 7.5 has 64 KiB, for all but forWide; those before 7.0 have 48 KiB.
const (
	leastShared = 8*(panel+rowsBelow)*pitch + 2<<10
	wideShared  = 8*3*(slice128+slice64t) + 2<<10
)

// Fits says why a card does not serve, below it ErrUnfit; nil if it does.
func Fits(c driver.CardInfo) error {
	if c.Arch() >= source.ImageArchs[0] && c.SharedPerBlock >= leastShared {
		return nil
	}
	return fmt.Errorf("%w: %s has compute capability %d.%d with %d KiB of shared memory for a block; "+
		"7.0 and later with %d KiB are needed",
		ErrUnfit, c, c.Major, c.Minor, c.SharedPerBlock>>10, (leastShared+1023)>>10)
}

// ErrUnfit is below the error where a card lacks what the kernels need.
var ErrUnfit = errors.New("the card does not serve")

// Open makes a lane of every card asked for. Those that do not serve (see Fits) are
// left out, as Info says, unless none does. Errors are ErrUnfit and those of package
// driver: ErrNoDriver, ErrNoDevice, ErrNoCompiler below the message.
func Open(o Options) (*Device, error) {
	drv, err := driver.Open()
	if err != nil {
		return nil, err
	}
	d := &Device{}
	cards := drv.Cards()
	if o.Cards == nil {
		for i := range cards {
			o.Cards = append(o.Cards, i)
		}
	}
	var unfit error
	o.Cards = slices.DeleteFunc(slices.Clone(o.Cards), func(i int) bool {
		if i < 0 || i >= len(cards) {
			return false // which opening it says
		}
		err := Fits(cards[i])
		if err != nil {
			unfit = cmp.Or(unfit, err)
			d.unfit = append(d.unfit, fmt.Sprintf("%s left out: %d KiB of shared memory", cards[i], cards[i].SharedPerBlock>>10))
		}
		return err != nil
	})
	if len(o.Cards) == 0 && unfit != nil {
		return nil, unfit
	}
	for _, i := range o.Cards {
		l, err := openLane(drv, len(d.lanes), i, o, d.notices.add)
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
	for _, l := range d.lanes {
		for _, other := range d.lanes {
			l.shared = min(l.shared, other.card.Info().SharedPerBlock)
		}
	}
	d.compiler = "no libnvrtc"
	if c, err := drv.Compiler(); err == nil {
		d.compiler = "libnvrtc " + c.Version()
	}
	return d, nil
}

// Info describes the device; its details end in what Notices has returned or will.
func (d *Device) Info() device.Info {
	name := d.names[0]
	if n := len(d.names); n > 1 {
		name = fmt.Sprintf("%d cards, first %s", n, name)
	}
	card := d.lanes[0].card.Info()
	return device.Info{
		Kind:   source.Kind,
		Name:   name,
		Lanes:  len(d.lanes),
		Group:  0,
		Memory: d.least,
		Details: strings.Join(slices.Concat([]string{fmt.Sprintf("FP64, compute capability %d.%d, %d multiprocessors, %.0f GiB free, %s",
			card.Major, card.Minor, card.Multiprocessors, float64(d.least)/(1<<30), d.compiler)}, d.unfit, d.notices.all()), "; "),
		Arithmetic: fmt.Sprintf("compute capability %s, %s", strings.Join(d.archs(), " and "), d.compiler),
	}
}

// archs are the compute capabilities of the cards, each once, in their order.
func (d *Device) archs() (all []string) {
	for _, l := range d.lanes {
		card := l.card.Info()
		if arch := fmt.Sprintf("%d.%d", card.Major, card.Minor); !slices.Contains(all, arch) {
			all = append(all, arch)
		}
	}
	return all
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
	ready bool // both have been copied
}

func (d *data) Rows() int { return d.rows }
func (d *data) Dim() int  { return d.dim }

// NewData places n rows of dim inputs and n targets (nil for none).
func (d *Device) NewData(x, y []float64, dim int) (device.Data, error) {
	n, err := device.CountRows(x, y, dim)
	if err != nil {
		return nil, err
	}
	if n > mostEntries {
		return nil, fmt.Errorf("data: %d rows: %w, which takes %d", n, errLarge, mostEntries)
	}
	out := &data{x: x, y: y, rows: n, dim: dim}
	for _, l := range d.lanes {
		out.placed = append(out.placed, &placement{lane: l})
	}
	return out, nil
}

// on returns where the lane's card has the points, placing them if need be.
func (d *data) on(l *lane) *placement {
	p := d.placed[l.number]
	if p.lane != l {
		panic("cuda: data of another device")
	}
	for _, part := range []struct {
		what string
		src  []float64
		to   *driver.Ptr
	}{{"inputs", d.x, &p.x}, {"targets", d.y, &p.y}} {
		if p.ready || part.src == nil || *part.to != 0 {
			continue
		}
		at, err := upload(l, part.what, part.src)
		if err != nil {
			l.fail(err) // the next operation tries again
			return p
		}
		own(l, d, at)
		*part.to = at
	}
	p.ready = true
	return p
}

// index is a list of row numbers on a lane.
type index struct {
	lane  *lane
	n     int
	ptr   driver.Ptr
	owned owned
}

func (x *index) Len() int { return x.n }
