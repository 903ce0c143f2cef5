package vbks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/mixture"
)

// CalibrateNames lists what Settings.Calibrate may be.
func CalibrateNames() []string { return []string{"none", autoCalibration} }

const autoCalibration = "auto"

const (
	// Origins are after 5 to 9 tenths of the rows by the first input, and a tenth is
	// forecast from each.
	originTenths, mostOrigins = 10, 5
	fewestCalibrated          = 30 // rows
	// trustedOrigins is how many origins count as much as that intervals are right as
	// they are, and mostOff the largest mean squared error in variances that one may
	// show: errors from one origin are all of a kind.
	trustedOrigins, mostOff = 3, 9
)

// Calibration is what the standard deviations of predictions are multiplied by.
type Calibration struct {
	Factor  float64 `json:"factor"`  // 1: intervals are as wide as they should be
	Origins int     `json:"origins"` // that it was found from
	Rows    int     `json:"rows"`    // forecast from them
}

// sound reports whether it is one: shrunk towards 1, no factor is far from it.
func (c *Calibration) sound() bool {
	return c.Factor > 0 && c.Factor <= mostOff && c.Origins >= 1 && c.Origins <= mostOrigins && c.Rows >= 0
}

// String says what a calibration does.
func (c *Calibration) String() string {
	what := fmt.Sprintf("widened %.2f times", c.Factor)
	if c.Factor < 1 {
		what = fmt.Sprintf("narrowed to %.2f of their width", c.Factor)
	}
	return fmt.Sprintf("intervals %s by what %d rolling origins within the training rows showed", what, c.Origins)
}

// factorOf is the factor that origins with the mean squares s_o of standardised errors
// speak for: that by which variances must be multiplied for the errors to be as large as
// they should, shrunk towards 1,
//
//	c² = (κ + Σ_o min(s_o, 9))/(κ + O),   κ = 3.
//
// Rows behind one origin err together, so that each origin counts as one.
func factorOf(squares []float64) float64 {
	sum := float64(trustedOrigins)
	for _, s := range squares {
		sum += math.Min(s, mostOff)
	}
	return math.Sqrt(sum / float64(trustedOrigins+len(squares)))
}

// Calibrate finds, after the last planned evaluation, the factor of Settings.Calibrate;
// nil where predictions stay as they are: none is asked for, more evaluations follow, or
// there are too few rows. From each origin the kernels, refitted to the rows before it as
// Refit does, forecast those behind it. It is found once for an evaluation, for the
// kernels and weights that the settings predict with. If ctx ends or the device fails it
// is not found: what there was memory for must not decide it.
func (t *Trainer) Calibrate(ctx context.Context) (*Calibration, error) {
	switch {
	case t.predicts:
		return t.calibration, nil
	case t.settings.Calibrate != autoCalibration || !t.Done() || t.last == nil:
		return nil, nil
	case t.calibrated == t.evaluation:
		return t.calibration, nil
	case t.rows < fewestCalibrated:
		return nil, nil
	}
	if err := t.weigh(ctx, PredictOptions{Weights: t.settings.Weights}); err != nil {
		return nil, err
	}
	rows := make([]int, t.rows)
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(t.data.X[a*t.dim], t.data.X[b*t.dim]) })
	c := &Calibration{}
	t.calibration = nil
	var squares []float64
	for tenth := originTenths - mostOrigins; tenth < originTenths; tenth++ {
		cut, end := t.rows*tenth/originTenths, t.rows*(tenth+1)/originTenths
		s, err := t.foretold(ctx, rows[:cut], rows[cut:end])
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if errors.Is(err, device.ErrLost) || errors.Is(err, device.ErrOutOfMemory) {
			return nil, fmt.Errorf("calibrating the intervals, which predict.calibrate asks for: %w", err)
		}
		if err != nil { // of numbers: there may be too little to fit to
			continue
		}
		squares = append(squares, s)
		c.Rows += end - cut
	}
	if c.Origins = len(squares); c.Origins > 0 {
		c.Factor = factorOf(squares)
		t.calibration = c
	}
	t.calibrated = t.evaluation
	return t.calibration, nil
}

// foretold refits to some rows and returns the mean square of the standardised errors at
// others.
func (t *Trainer) foretold(ctx context.Context, past, ahead []int) (float64, error) {
	rows := func(which []int) (d Training) {
		d = t.data
		d.X, d.Y, d.NoiseSD = nil, nil, nil
		for _, r := range which {
			if t.data.NoiseSD != nil {
				d.NoiseSD = append(d.NoiseSD, t.data.NoiseSD[r])
			}
			d.X, d.Y = append(d.X, t.data.X[r*t.dim:(r+1)*t.dim]...), append(d.Y, t.data.Y[r])
		}
		return d
	}
	o := PredictOptions{Top: t.settings.Top, Weights: t.settings.Weights}
	fit, err := t.onRows(ctx, t.dev, rows(past), o)
	if err != nil {
		return 0, err
	}
	at := rows(ahead)
	o.NoiseSD = at.NoiseSD
	p, err := fit.predict(ctx, at.X, o)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return 0, err
	}
	return meanSquare(p, at.Y), nil
}

// meanSquare is the mean of ((y − μ)/σ)².
func meanSquare(p *mixture.Prediction, y []float64) float64 {
	sum := 0.0
	for row, v := range y {
		mean, variance := p.Moments(row, true)
		sum += (v - mean) * (v - mean) / variance
	}
	return sum / float64(len(y))
}

// calibrateNext is Calibrate for the evaluation that has just been made, which tells it.
func (t *Trainer) calibrateNext(ctx context.Context) error {
	c, err := t.Calibrate(ctx)
	if err != nil || t.settings.Calibrate != autoCalibration || !t.Done() {
		return err
	}
	text := t.Uncalibrated()
	if t.last.Calibration = c; c != nil {
		text = c.String()
	}
	t.last.Notices = append(t.last.Notices, Notice{Text: text})
	return nil
}

// Uncalibrated says, after Calibrate, why predictions have no factor although
// Settings.Calibrate asks for one; "" if they have one, or are to have none.
func (t *Trainer) Uncalibrated() string {
	const not = "intervals are not calibrated: "
	switch {
	case t.predicts:
		return t.uncalibrated
	case t.settings.Calibrate != autoCalibration || t.last == nil:
		return ""
	case !t.Done():
		return fmt.Sprintf(not+"they are at the last evaluation planned, and %d of %d have been made", t.evaluation, t.Planned())
	case t.rows < fewestCalibrated:
		return fmt.Sprintf(not+"%d rows are too few for rolling origins", t.rows)
	case t.calibrated == t.evaluation && t.calibration == nil:
		return not + "the kernels could be fitted to the rows before none of the rolling origins"
	}
	return ""
}
