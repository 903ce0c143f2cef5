package inspect

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/mixture"
)

const (
	curvePoints = 200  // of a query that does not say
	mostPoints  = 5000 // of a curve
	margin      = 0.05 // of the range of the data, on both sides
)

// FitQuery says which curve through the inputs is wanted: one column varies,
// the others are held.
type FitQuery struct {
	Column    int
	Low, High float64   // in data units; both 0: the range of the data with a margin of 5 %
	Points    int       // at least 2; 0: 200
	Held      []float64 // a value for every input, that of Column not being used; nil: the medians
	Kernel    string    // id; "": averaged as the config says
	Level     float64   // of the bands, in (0, 1); 0: 0.95
	// Fan are the levels of further bands of y, which Ahead bounds: they are drawn from
	// there on.
	Fan   []float64
	Ahead float64
	// Steps takes those of a series as points, if it has even ones and no more of them in the range than
	// Points: between two steps there is never a row, and a belief there tells nobody anything.
	Steps bool
}

// Curve is the predictive belief along a line through the inputs.
type Curve struct {
	Evaluation     int
	Steps          bool      // X are the steps of the series
	IDs            []string  // the kernels averaged, best first
	Weights        []float64 // of them
	X              []float64 // of the column that varies
	Mean           []float64 // of y; of f, too, where the target is not transformed
	Lower, Upper   []float64 // quantiles of y, noise included
	LowerF, UpperF []float64 // quantiles of f, in the units of y
	Fan            []FanBand // of the levels asked for
}

// FanBand is an interval of y at some level along a curve, NaN before FitQuery.Ahead.
type FanBand struct {
	Level        float64
	Lower, Upper []float64
}

// ComponentCurve is one additive component of a kernel's fit, in the units of the
// transformed target: those of the data where there is no transform.
type ComponentCurve struct {
	ID           string // canonical expression; "" for DataMean
	Name         string // for reading
	X, Mean      []float64
	Lower, Upper []float64 // mean ± as many standard deviations as the level of a normal has
}

// DataMean names the constant component that the data's mean is where it was
// taken from the targets, as they are transformed.
const DataMean = "mean of the data"

// Curve predicts along a line: quantiles are those of the mixture over kernels.
func (i *Inspector) Curve(ctx context.Context, q FitQuery) (*Curve, error) {
	x, rows, err := i.line(&q)
	if err != nil {
		return nil, err
	}
	p, err := i.predict(ctx, rows, nil, q.Kernel)
	if err != nil {
		return nil, err
	}
	c := i.belief(p, x, q.Level)
	c.Steps = q.Steps
	mapped := p.In(i.subject.Scaler)
	for _, level := range q.Fan {
		band := FanBand{Level: level}
		for row, at := range x {
			lo, hi := math.NaN(), math.NaN()
			if at >= q.Ahead {
				lo, hi = mapped.Quantile(row, (1-level)/2, true), mapped.Quantile(row, (1+level)/2, true)
			}
			band.Lower, band.Upper = append(band.Lower, lo), append(band.Upper, hi)
		}
		c.Fan = append(c.Fan, band)
	}
	return c, context.Cause(ctx)
}

// belief is what is predicted at rows that stand at x, in the units of the data.
func (i *Inspector) belief(p *mixture.Prediction, x []float64, level float64) *Curve {
	n := len(x)
	c := &Curve{
		Evaluation: i.Evaluation(), IDs: p.IDs, Weights: p.Weights, X: x, Mean: make([]float64, n),
		Lower: make([]float64, n), Upper: make([]float64, n), LowerF: make([]float64, n), UpperF: make([]float64, n),
	}
	tail := (1 - level) / 2
	mapped := p.In(i.subject.Scaler)
	for row := range n {
		c.Mean[row], _ = mapped.Moments(row, true)
		for _, b := range []struct {
			to   []float64
			prob float64
			ofY  bool
		}{{c.Lower, tail, true}, {c.Upper, 1 - tail, true}, {c.LowerF, tail, false}, {c.UpperF, 1 - tail, false}} {
			b.to[row] = mapped.Quantile(row, b.prob, b.ofY)
		}
	}
	return c
}

// Components predicts the additive components of a kernel along a line. Their
// means, with that of DataMean where there is one, add up to the curve's, or to the
// mean of the transformed target where there is a transform. The query's own kernel
// is not used.
func (i *Inspector) Components(ctx context.Context, id string, q FitQuery) ([]ComponentCurve, error) {
	x, rows, err := i.line(&q)
	if err != nil {
		return nil, err
	}
	var parts []vbks.ComponentPrediction
	err = i.ask(ctx, func(ctx context.Context) (err error) {
		parts, err = i.trainer.Components(ctx, id, rows)
		return err
	})
	if err != nil {
		return nil, err
	}
	z := distuv.UnitNormal.Quantile((1 + q.Level) / 2)
	var out []ComponentCurve
	for _, p := range parts {
		c := ComponentCurve{ID: p.ID, Name: p.Name, X: x, Mean: p.Mean}
		for row, m := range p.Mean {
			half := z * i.subject.Scaler.SD(math.Sqrt(max(0, p.Var[row])))
			c.Mean[row] = i.subject.Scaler.SD(m)
			c.Lower, c.Upper = append(c.Lower, c.Mean[row]-half), append(c.Upper, c.Mean[row]+half)
		}
		out = append(out, c)
	}
	if shift := i.subject.Scaler.YShift; shift != 0 {
		level := slices.Repeat([]float64{shift}, len(x))
		out = append(out, ComponentCurve{Name: DataMean, X: x, Mean: level, Lower: level, Upper: level})
	}
	return out, nil
}

// predictRows predicts rows of the data as predict does.
func (i *Inspector) predictRows(ctx context.Context, rows []int32, kernel string) (*mixture.Prediction, error) {
	d := i.subject.Data
	return i.predict(ctx, i.subject.Scaler.X(d, rows), d.NoiseOf(rows), kernel)
}

// predict predicts standardised rows with one kernel, or averaged; sds are the noise's
// standard deviations where they are known, or nil.
func (i *Inspector) predict(ctx context.Context, rows, sds []float64, kernel string) (p *mixture.Prediction, err error) {
	o := vbks.PredictOptions{Top: i.subject.Settings.Top, Weights: i.subject.Settings.Weights, NoiseSD: sds}
	if kernel != "" {
		o = vbks.PredictOptions{IDs: []string{kernel}, NoiseSD: sds}
	}
	err = i.ask(ctx, func(ctx context.Context) error {
		p, err = i.trainer.Predict(ctx, rows, o)
		return err
	})
	if err == nil {
		err = p.Check()
	}
	return p, err
}

// line returns the points of a query, in which it writes the defaults: x of the
// column, and the rows standardised.
func (i *Inspector) line(q *FitQuery) (x, rows []float64, err error) {
	if err := i.input(q.Column); err != nil {
		return nil, nil, err
	}
	inputs := i.Inputs()
	if q.Low == 0 && q.High == 0 {
		q.Low, q.High = widened(&inputs[q.Column], margin)
	}
	if q.Points == 0 {
		q.Points = curvePoints
	}
	if q.Level == 0 {
		q.Level = 0.95
	}
	if q.Held == nil {
		q.Held = i.medians()
	}
	switch {
	case !(q.Low < q.High) || math.IsInf(q.High-q.Low, 0):
		return nil, nil, fmt.Errorf("there is no range from %v to %v", q.Low, q.High)
	case !(q.Level > 0 && q.Level < 1):
		return nil, nil, fmt.Errorf("level %v of the bands is not between 0 and 1", q.Level)
	case len(q.Held) != i.subject.Data.Dim:
		return nil, nil, fmt.Errorf("%d values to hold for %d inputs", len(q.Held), i.subject.Data.Dim)
	}
	if x = i.steps(q); x != nil {
		return x, i.along(q.Column, x, q.Held), nil
	}
	q.Steps = false
	if x, err = linspace(q.Low, q.High, q.Points, mostPoints); err != nil {
		return nil, nil, err
	}
	return x, i.along(q.Column, x, q.Held), nil
}

// widened is the range of a column with a margin, of a constant one too; of levels each
// has a length of 1, about its number.
func widened(c *prepare.ColumnInfo, by float64) (low, high float64) {
	if n := len(c.Levels); n > 0 {
		return -0.5, float64(n) - 0.5
	}
	d := by * (c.High - c.Low)
	if c.High == c.Low {
		d = max(1, math.Abs(c.Low)) / 2
	}
	return c.Low - d, c.High + d
}

// linspace returns n values evenly from low to high, both included.
func linspace(low, high float64, n, most int) ([]float64, error) {
	if n < 2 || n > most {
		return nil, fmt.Errorf("%d points; from 2 to %d are allowed", n, most)
	}
	x := make([]float64, n)
	for i := range x {
		u := float64(i) / float64(n-1)
		x[i] = (1-u)*low + u*high
	}
	return x, nil
}

// medians returns the inputs' medians.
func (i *Inspector) medians() []float64 {
	var out []float64
	for _, c := range i.Inputs() {
		out = append(out, c.Median)
	}
	return out
}

// along returns standardised rows: column takes the values x, the others are
// held, but for those that are made of it. Of levels there is nothing between two: x is
// the one next to it.
func (i *Inspector) along(column int, x, held []float64) []float64 {
	levels := len(i.subject.Data.Inputs[column].Levels)
	if column == 0 {
		if rows, ok := i.subject.Data.Along(x); ok {
			return i.subject.Scaler.Inputs(rows)
		}
	}
	rows := make([]float64, 0, len(x)*len(held))
	for _, v := range x {
		for j, h := range held {
			switch {
			case j == column && levels > 0:
				h = max(0, min(math.Round(v), float64(levels-1)))
			case j == column:
				h = v
			}
			rows = append(rows, i.subject.Scaler.Input(j, h))
		}
	}
	return rows
}
