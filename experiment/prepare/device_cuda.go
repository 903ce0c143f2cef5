//go:build cuda

package prepare

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/proving"
	"example.com/kestrel/experiment/config"
)

const builtWithCUDA = true

// openCUDA makes a device of the first c.Lanes cards, or of all, but those that fail the check
// before their first use. Where all of them together were measured to be slower than the CPU with this
// load it says so, which is an error, errSlower, unless cards were asked for.
func openCUDA(ctx context.Context, c config.DeviceChoice, load Load) (device.Device, string, error) {
	d, err := driver.Open()
	if err != nil {
		return nil, "", err
	}
	cards := d.Cards()
	if c.Lanes > 0 && c.Lanes < len(cards) {
		cards = cards[:c.Lanes]
	}
	o, told, err := proven(ctx, d, cards, load, c.Kind == "cuda")
	if err != nil {
		return nil, "", err
	}
	dev, err := cuda.Open(o)
	if err != nil {
		return nil, "", err // not a nil *cuda.Device
	}
	return dev, strings.Join(told, "; "), nil
}

var errSlower = errors.New("the CPU is faster")

// proven chooses those of the cards that compute what they should, and tells of the others. Where
// cards are meant, slow ones are taken, too.
func proven(ctx context.Context, d *driver.Driver, cards []driver.CardInfo, load Load, meant bool) (
	o cuda.Options, told []string, err error,
) {
	var failed []string
	speed, measured := 0.0, true // of all cards together, as a multiple of the CPU's
	for _, card := range cards {
		if cuda.Fits(card) != nil {
			o.Cards = append(o.Cards, card.Index) // opening it says why not
			continue
		}
		_, known := proving.Kept(d, card)
		v := proving.First(ctx, d, card, proving.Patience)
		switch {
		case ctx.Err() != nil:
			return o, nil, context.Cause(ctx)
		case !v.Passed:
			failed = append(failed, fmt.Sprintf("%s: %s", card, v.Reason))
			continue
		case !known:
			told = append(told, fmt.Sprintf("%s was checked before its first use and gives the CPU's numbers", card))
		}
		o.Cards = append(o.Cards, card.Index)
		times, ok := v.Faster(load.Kernels, load.Inducing, load.Bound)
		speed, measured = speed+times, measured && ok
		if card.Slow() && !v.Whole {
			told = append(told, fmt.Sprintf("%s computes in double precision at 1/%d of its single precision, so that the CPU may be faster; "+
				"kestrel devices --check measures it", card, card.Ratio))
		}
	}
	if len(failed) > 0 && len(o.Cards) == 0 {
		return o, nil, fmt.Errorf("%w: %s; kestrel devices --check says more", errUnproven, strings.Join(failed, "; "))
	}
	for _, f := range failed {
		told = append(told, "left out, for it has not passed its check: "+f)
	}
	if slower := measured && speed > 0 && speed < 1; slower && meant {
		told = append(told, fmt.Sprintf("a run of this size takes %.1f times as long on %s as on the CPU, by the last devices --check; "+
			"--device cpu", 1/speed, cards[0]))
	} else if slower {
		return o, nil, fmt.Errorf("%w: a run of this size takes %.1f times as long on %s, by the last devices --check; device.kind = \"cuda\" "+
			"takes the card all the same", errSlower, 1/speed, cards[0])
	}
	return o, told, nil
}

// cudaCards lists the cards without making anything on them.
func cudaCards() ([]DeviceStatus, error) {
	d, err := driver.Open()
	if err != nil {
		return nil, err
	}
	compiler := "no libnvrtc"
	if c, err := d.Compiler(); err == nil {
		compiler = "libnvrtc " + c.Version()
	}
	var list []DeviceStatus
	for _, c := range d.Cards() {
		s := DeviceStatus{
			Kind: "cuda", Name: c.Name, Lanes: 1, Memory: c.Memory,
			Details: fmt.Sprintf("card %d, compute capability %d.%d, %d multiprocessors, driver for CUDA %s, %s",
				c.Index, c.Major, c.Minor, c.Multiprocessors, d.Version(), compiler),
		}
		if err := cuda.Fits(c); err != nil {
			s.Missing, s.Lanes = err.Error(), 0
		}
		list = append(list, s)
	}
	return list, nil
}
