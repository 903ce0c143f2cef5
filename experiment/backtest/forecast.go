package backtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"example.com/kestrel/baseline"
	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/scoring"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/mixture"
)

// from makes the forecasts of a series from an origin, or beyond its end.
func (s *Series) from(ctx context.Context, c *config.Config, origin, horizon int) ([]Row, error) {
	if origin == BeyondEnd {
		return s.ahead(ctx, c, horizon)
	}
	return s.forecasts(ctx, c, origin, horizon)
}

// forecasts makes all forecasts of a series from origin k, counted from the last one,
// 1: a row for each step and method. Errors are of the program, or the cause of ctx; a
// method that cannot forecast has rows that say why.
func (s *Series) forecasts(ctx context.Context, c *config.Config, k, horizon int) ([]Row, error) {
	train := s.rowsBefore(k)
	w, err := s.data.Window(c.Data, train, horizon)
	if err != nil {
		return nil, err
	}
	// The rows of a window are in the order of time, which is the first input.
	all := make([]int32, w.N())
	for i := range all {
		all[i] = int32(i)
	}
	times, x, targets := w.Times(all), slices.Clone(w.X[train*w.Dim:]), slices.Clone(w.Y[train:])
	at := times[train:]
	season := 1
	if w.Series != nil {
		season = w.Series.Season
	}
	past, err := baseline.NewSeries(times[:train], w.Y[:train])
	if err != nil {
		return nil, fmt.Errorf("series %s, origin %d: %w", s.Name, k, err)
	}
	scale, err := past.Scale(season)
	if err != nil {
		scale = math.NaN()
	}
	rows := make([]Row, 0, horizon*len(Methods()))
	for i := range targets {
		for _, m := range Methods() {
			rows = append(rows, Row{Series: s.Name, Origin: k, Train: train, Season: season, Scale: scale,
				Step: i + 1, X: w.Inputs[0].Written(at[i]), Y: targets[i], Method: m})
		}
	}
	for m, method := range baseline.Forecasts() {
		p, err := method.Predict(past, season, at)
		for i := range targets {
			row := &rows[i*len(Methods())+1+m]
			if err != nil {
				row.missing(err.Error())
			} else {
				row.normal(p[i])
			}
		}
	}
	own := make([]*Row, len(targets))
	for i := range own {
		own[i] = &rows[i*len(Methods())]
	}
	if err := byRun(ctx, c, w, x, own); err != nil {
		return nil, fmt.Errorf("series %s, origin %d: %w", s.Name, k, err)
	}
	return rows, nil
}

// byRun takes over what a run of a window forecasts at inputs, one for each of the rows,
// or why it cannot. w is left without its rows.
func byRun(ctx context.Context, c *config.Config, w *datasets.Dataset, at []float64, rows []*Row) error {
	p, leader, err := run(ctx, c, w, at)
	var cannot *cannotError
	if err != nil && !errors.As(err, &cannot) {
		return err
	}
	for i, row := range rows {
		if cannot != nil {
			row.missing(cannot.why)
		} else if err := row.mixture(p, i, leader); err != nil {
			return err
		}
	}
	return nil
}

// normal takes over the forecast of a baseline.
func (r *Row) normal(p baseline.Normal) {
	r.Mean, r.SD = p.Mean, p.SD
	for i, prob := range Probabilities() {
		r.Q[i] = p.Mean + p.SD*distuv.UnitNormal.Quantile(prob)
	}
	r.CRPS = scoring.CRPS(r.Y, p.Mean, p.SD)
}

// mixture takes over the forecast of a run, of which this is the i-th row.
func (r *Row) mixture(p mixture.Mapped, i int, leader string) error {
	one := *p.Prediction
	one.Mean, one.Var = make([][]float64, len(one.IDs)), make([][]float64, len(one.IDs))
	for k := range one.IDs {
		one.Mean[k], one.Var[k] = p.Prediction.Mean[k][i:i+1], p.Prediction.Var[k][i:i+1]
	}
	m := one.In(p.Units)
	r.Mean, r.SD = m.Moments(0, true)
	for i, prob := range Probabilities() {
		r.Q[i] = m.Quantile(0, prob, true)
	}
	r.Leader = leader
	if math.IsNaN(r.Y) {
		return nil // nobody knows it yet
	}
	score, err := m.Score([]float64{r.Y})
	if err == nil {
		r.CRPS = score.CRPS
	}
	return err
}

// cannotError says why there is no run of a window: something of its data or its
// kernels, not of the program.
type cannotError struct{ why string }

func (e *cannotError) Error() string { return e.why }

// run makes the run of a window in memory and predicts at inputs. It has no test rows:
// they would be scored at every evaluation. w is left without its rows.
func run(ctx context.Context, c *config.Config, w *datasets.Dataset, at []float64) (p mixture.Mapped, leader string, err error) {
	own := c.Clone()
	own.Unasked = true
	w.Test = nil
	job, err := prepare.PrepareData(ctx, own, w)
	if err != nil {
		if ctx.Err() != nil {
			return p, "", context.Cause(ctx)
		}
		return p, "", &cannotError{err.Error()}
	}
	defer job.Close()
	var end record.Standing
	err = experiment.Complete(ctx, job, record.RecorderFunc(func(e *record.Event) error {
		end.Apply(e)
		return nil
	}))
	switch {
	case err != nil:
		return p, "", err
	case end.State == record.Failed && end.Cause.OfKernels():
		return p, "", &cannotError{end.Reason}
	case end.State == record.Failed:
		return p, "", errors.New(end.Reason)
	case end.Evaluation == nil || end.Evaluation.Leader() == nil:
		return p, "", &cannotError{"no kernel has been evaluated"}
	}
	set := &job.Config.Settings
	mixed, err := job.Trainer.Predict(ctx, job.Scaler.Inputs(at), vbks.PredictOptions{Top: set.Top, Weights: set.Weights})
	if err != nil {
		return p, "", err
	}
	return mixed.In(job.Scaler), end.Evaluation.Leader().ID, nil
}
