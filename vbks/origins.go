package vbks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/mixture"
	"example.com/kestrel/vbks/stacking"
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
	c := &Calibration{}
	t.calibration = nil
	var squares []float64
	err := t.fromOrigins(ctx, PredictOptions{Top: t.settings.Top, Weights: t.settings.Weights}, math.MaxInt, "predict.calibrate",
		func(p *mixture.Prediction, y []float64) {
			squares = append(squares, meanSquare(p, y))
			c.Rows += len(y)
		})
	if err != nil {
		return nil, err
	}
	if c.Origins = len(squares); c.Origins > 0 {
		c.Factor = factorOf(squares)
		t.calibration = c
	}
	t.calibrated = t.evaluation
	return t.calibration, nil
}

// fromOrigins has the kernels that o predicts with, refitted to the rows before each origin, forecast those behind
// it, of which at most so many are taken, evenly. If ctx ends or the device fails there is no answer for the key
// that asks: what there was memory for must not decide it. Origins that cannot be computed are left out.
func (t *Trainer) fromOrigins(
	ctx context.Context, o PredictOptions, most int, key string, visit func(p *mixture.Prediction, y []float64),
) error {
	rows := inOrder(t.data.X, t.dim, t.rows)
	for tenth := originTenths - mostOrigins; tenth < originTenths; tenth++ {
		cut, end := t.rows*tenth/originTenths, t.rows*(tenth+1)/originTenths
		ahead := rows[cut:end]
		if len(ahead) > most {
			some := make([]int, most)
			for i := range some {
				some[i] = ahead[i*len(ahead)/most]
			}
			ahead = some
		}
		p, err := t.foretold(ctx, rows[:cut], ahead, o)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, device.ErrLost) || errors.Is(err, device.ErrOutOfMemory) {
			return fmt.Errorf("forecasting from rolling origins, which %s asks for: %w", key, err)
		}
		if err != nil { // of numbers: there may be too little to fit to
			continue
		}
		y := make([]float64, len(ahead))
		for i, r := range ahead {
			y[i] = t.data.Y[r]
		}
		visit(p, y)
	}
	return nil
}

// foretold refits to some rows and predicts others.
func (t *Trainer) foretold(ctx context.Context, past, ahead []int, o PredictOptions) (*mixture.Prediction, error) {
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
	fit, err := t.onRows(ctx, t.dev, rows(past), o)
	if err != nil {
		return nil, err
	}
	at := rows(ahead)
	o.NoiseSD = at.NoiseSD
	p, err := fit.predict(ctx, at.X, o)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return nil, err
	}
	return p, nil
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

const (
	// From each origin so many rows are forecast at most for weights: those behind one origin err together.
	mostForeseen = 2000
	// A notice names kernels of such a weight.
	namedWeight = 0.05
)

// Origin is how many rows, by the first input, lie before an origin, and how many behind it are forecast for weights.
type Origin struct{ Past, Ahead int }

// Origins are those that weights of "origins" come from of so many rows; none where these are too few.
func Origins(rows int) (all []Origin) { return origins(rows, mostForeseen) }

// CalibrationOrigins are those that Settings.Calibrate forecasts from, all rows of a tenth behind each.
func CalibrationOrigins(rows int) (all []Origin) { return origins(rows, rows) }

func origins(rows, most int) (all []Origin) {
	if rows < fewestCalibrated {
		return nil
	}
	for tenth := originTenths - mostOrigins; tenth < originTenths; tenth++ {
		past := rows * tenth / originTenths
		all = append(all, Origin{past, min(most, rows*(tenth+1)/originTenths-past)})
	}
	return all
}

// ForeseenOrigins is about what the weights of "origins" take of so many kernels after a number of inducing inputs, 0 where
// the settings ask for others: at each origin as many for a row, a refit to the rows before it, and what is forecast.
// Its unit is that of Foreseen.
func (s Settings) ForeseenOrigins(rows, kernels, inducing int) (work float64) {
	if s.Weights != OriginsWeights || kernels < 2 {
		return 0
	}
	return s.foreseenFrom(Origins(rows), rows, kernels, inducing)
}

// ForeseenCalibration is about what Settings.Calibrate takes likewise, 0 where it asks for none.
func (s Settings) ForeseenCalibration(rows, kernels, inducing int) (work float64) {
	if s.Calibrate != autoCalibration {
		return 0
	}
	if s.Top > 0 { // others are not predicted with
		kernels = min(kernels, s.Top)
	}
	return s.foreseenFrom(CalibrationOrigins(rows), rows, kernels, inducing)
}

func (s Settings) foreseenFrom(origins []Origin, rows, kernels, inducing int) (work float64) {
	e, err := s.Effort(max(1, rows))
	if err != nil {
		return 0
	}
	for _, o := range origins {
		m := max(1, inducing*o.Past/rows)
		one := float64(o.Past+min(o.Past, s.sampled(o.Past))+o.Ahead) * rowWork(m)
		if e.Exact() {
			one = 0
			if s.pointEstimates() {
				one = RefitGradients * s.boundWork(rows, o.Past, m)
			}
			if one += float64(o.Ahead) * rowWork(m); s.averages(o.Past, rows) {
				one += foreseenAverage * s.boundWork(rows, o.Past, m)
			}
		}
		work += one + foreseenFixed*math.Pow(float64(m), 3)
	}
	return float64(kernels) * work
}

// foresee finds the weights of "origins" under the last evaluation, once no more are planned: those for which the
// average of the live kernels has the greatest log density of what comes behind rolling origins within the rows, each
// kernel refitted to the rows before them as Refit does. The evidence of very many rows is that of what lies among
// them, a level that wanders, say, which far ahead is worth nothing. Without an origin that can be computed there are
// none, and those of "tempered" stand for them.
func (t *Trainer) foresee(ctx context.Context) error {
	if t.last == nil || t.foreseen == t.last || t.predicts || !t.Done() || t.rows < fewestCalibrated {
		return nil
	}
	live, logp, origins, err := t.foresights(ctx)
	if err != nil {
		return err
	}
	t.ahead, t.foresaw = nil, origins
	if origins == 0 {
		return nil
	}
	t.ahead = make([]float64, len(t.kernels))
	for j, w := range stacking.Weights(logp) {
		t.ahead[live[j]] = w
	}
	t.foreseen = t.last
	return nil
}

// foresights are the log densities that each live kernel gives to the rows behind the origins.
func (t *Trainer) foresights(ctx context.Context) (live []int, logp [][]float64, origins int, err error) {
	o := PredictOptions{Weights: evenWeights}
	for i := range t.last.Kernels {
		if res := &t.last.Kernels[i]; res.Status == Live {
			live, o.IDs = append(live, i), append(o.IDs, res.ID)
		}
	}
	logp = make([][]float64, len(live))
	if len(live) < 2 {
		return live, logp, 0, nil
	}
	err = t.fromOrigins(ctx, o, mostForeseen, "predict.weights", func(p *mixture.Prediction, y []float64) {
		origins++
		for k := range p.IDs {
			j := slices.Index(o.IDs, p.IDs[k])
			one := p.Single(k)
			for row, v := range y {
				logp[j] = append(logp[j], one.LogDensity(row, v))
			}
		}
	})
	return live, logp, origins, err
}

// farSighted has half of the kernels that go on to the next rung be those that forecast best from rolling origins,
// where weights are to be found by these: what the evidence of many rows prefers need not be among them.
func (t *Trainer) farSighted(ctx context.Context, stay map[int]bool) (map[int]bool, error) {
	if t.settings.Weights != OriginsWeights || t.rows < fewestCalibrated {
		return stay, nil
	}
	live, logp, origins, err := t.foresights(ctx)
	if err != nil || origins == 0 {
		return stay, err
	}
	mean := make(map[int]float64, len(live))
	for j, i := range live {
		for _, v := range logp[j] {
			mean[i] += v / float64(len(logp[j]))
		}
	}
	byForecast := slices.SortedStableFunc(slices.Values(live), func(a, b int) int { return cmp.Compare(mean[b], mean[a]) })
	byBelief := slices.SortedFunc(maps.Keys(stay), func(a, b int) int {
		return cmp.Or(cmp.Compare(t.kernels[b].worth(), t.kernels[a].worth()), cmp.Compare(a, b))
	})
	out := map[int]bool{}
	for _, i := range byForecast[:(len(stay)+1)/2] {
		out[i] = true
	}
	for _, i := range byBelief {
		if len(out) < len(stay) {
			out[i] = true
		}
	}
	return out, nil
}

// foreseeNext is foresee for the evaluation that has just been made, which tells it.
func (t *Trainer) foreseeNext(ctx context.Context) error {
	if t.settings.Weights != OriginsWeights || !t.Done() {
		return nil
	}
	if err := t.foresee(ctx); err != nil {
		return err
	}
	order, weights, err := t.chosen(PredictOptions{Weights: OriginsWeights})
	if err != nil {
		return err
	}
	if t.foreseen != t.last {
		if len(order) > 1 && !t.predicts {
			t.last.Notices = append(t.last.Notices, Notice{Text: "predict.weights = \"origins\": from no origin within the training rows " +
				"a forecast can be made; kernels are averaged over as with \"tempered\""})
		}
		return nil
	}
	var named []string
	for j, i := range order {
		if weights[j] >= namedWeight {
			named = append(named, fmt.Sprintf("%s %.2f", t.kernels[i].id, weights[j]))
		}
	}
	if len(named) > fewNames {
		named = append(named[:fewNames], fmt.Sprintf("%d others", len(named)-fewNames))
	}
	t.last.Notices = append(t.last.Notices, Notice{Text: fmt.Sprintf(
		"forecasts average over kernels by how well they forecast from %d rolling origins within the training rows: %s", t.foresaw,
		strings.Join(named, ", "))})
	return nil
}
