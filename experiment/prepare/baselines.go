package prepare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/baseline"
	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/scoring"
	"example.com/kestrel/vbks/mixture"
)

// How many training rows baselines learn from: those that smooth the last ones, those of
// tables some that are evenly spread.
const (
	mostSmoothed  = 20_000
	mostRegressed = 100_000
)

// baselines predicts all test rows without kernels, in data units: what follows a series
// by forecasts, what lies within one input by filling gaps, and where neither is meant to
// do by regressions. Synthetic data of several inputs have none. A method that cannot be
// had is kept with its reason. Nil without test rows.
func baselines(d *datasets.Dataset) *record.Baselines {
	if len(d.Test) == 0 || d.Source == "synthetic" && d.Dim > 1 {
		return nil
	}
	b := &record.Baselines{Task: record.TaskRegression, Rows: len(d.Test)}
	y := d.Targets(d.Test)
	add := func(method, label, note string, predict func() ([]baseline.Normal, error)) {
		m := record.Baseline{Method: method, Label: label}
		p, err := predict()
		var s baseline.Score
		if err == nil {
			s, err = baseline.Scored(p, y)
		}
		if err != nil {
			m.Reason = err.Error()
		} else {
			m.Score, m.Note = scoreOf(s), note
			if percentages(b, y) {
				means := make([]float64, len(p))
				for i := range p {
					means[i] = p[i].Mean
				}
				m.Score.SMAPE = smape(y, means)
			}
		}
		b.Methods = append(b.Methods, m)
	}
	if d.Dim == 1 || d.Series != nil {
		ofSeries(d, b, add)
	}
	if d.Dim > 1 {
		alongTime(d, add)
	}
	if d.Series == nil && b.Task != record.TaskForecast {
		rows, note := thinned(d.Train, mostRegressed)
		for _, m := range baseline.Regressions() {
			add(m.Name, m.Label, note, func() ([]baseline.Normal, error) {
				return m.Predict(inputs(d, rows), d.Dim, d.Targets(rows), inputs(d, d.Test))
			})
		}
	}
	if b.Task != record.TaskForecast {
		f := newFeatures(d)
		if _, dim := f.of(d.Row(0)); dim > 1 {
			rows, note := thinned(d.Train, min(mostRegressed, max(1000, mostProducts/(dim*dim))))
			add("ridge", f.name(), note, func() ([]baseline.Normal, error) {
				x, _ := f.of(inputs(d, rows))
				at, _ := f.of(inputs(d, d.Test))
				return baseline.Ridge(x, dim, d.Targets(rows), at)
			})
		}
	}
	return b
}

// thinned returns at most so many rows, evenly taken, and says so.
func thinned(rows []int32, most int) (kept []int32, note string) {
	n := len(rows)
	if n <= most {
		return rows, ""
	}
	for i := range most {
		kept = append(kept, rows[i*n/most])
	}
	return kept, fmt.Sprintf("from %d of the training rows", most)
}

// alongTime adds the line between the neighbours in time of a table that has one row at a
// time, as far as held-out rows lie among the others.
func alongTime(d *datasets.Dataset, add func(method, label, note string, predict func() ([]baseline.Normal, error))) {
	c := slices.IndexFunc(d.Inputs, func(in datasets.Column) bool { return in.Time })
	if c < 0 {
		return
	}
	times := func(rows []int32) (out []float64) {
		for _, r := range rows {
			out = append(out, d.Row(int(r))[c])
		}
		return out
	}
	past, at := times(d.Train), times(d.Test)
	sorted := slices.Clone(past)
	slices.Sort(sorted)
	last := len(sorted) - 1
	once := len(slices.Compact(slices.Clone(sorted))) > last
	if !once || slices.Min(at) > sorted[last] {
		return
	}
	add("linear", "linear interpolation along "+d.Inputs[c].Name, "", func() ([]baseline.Normal, error) {
		s, err := baseline.NewSeries(past, d.Targets(d.Train))
		if err != nil {
			return nil, err
		}
		return baseline.Interpolate(s, 0, at)
	})
}

// ofSeries adds the baselines of one input, or of time alone.
func ofSeries(d *datasets.Dataset, b *record.Baselines, add func(method, label, note string, predict func() ([]baseline.Normal, error))) {
	train := slices.Clone(d.Train)
	slices.SortStableFunc(train, func(r, s int32) int { return cmp.Compare(d.Row(int(r))[0], d.Row(int(s))[0]) })
	at, past := d.Times(d.Test), d.Times(train)
	b.Task = record.TaskGaps
	methods := baseline.Fillings()
	if slices.Min(at) > past[len(past)-1] {
		b.Task = record.TaskForecast
		methods = baseline.Forecasts()
	}
	season := 0
	if d.Series != nil {
		season = d.Series.Season
		b.Season = season
	}
	whole, err := baseline.NewSeries(past, d.Targets(train))
	if d.Series != nil {
		b.Scale, b.Unscaled = scale(whole, err, season)
	}
	recent, recentErr, last := whole, err, ""
	if n := len(train) - mostSmoothed; n > 0 {
		recent, recentErr = baseline.NewSeries(past[n:], d.Targets(train[n:]))
		last = fmt.Sprintf("from the last %d training rows", mostSmoothed)
	}
	ways := waysOf(methods, season)
	if b.Task == record.TaskForecast {
		ways = append(ways, bySeasons(d.Series)...)
	}
	for _, m := range ways {
		s, err, note := whole, err, ""
		if m.smooths() {
			s, err, note = recent, recentErr, last
		}
		add(m.Name, m.Label, note, func() ([]baseline.Normal, error) {
			if err != nil {
				return nil, err
			}
			return m.Predict(s, m.season, at)
		})
	}
}

// way is a method with the season that it is told.
type way struct {
	baseline.Method
	season int
}

func waysOf(methods []baseline.Method, season int) (ways []way) {
	for _, m := range methods {
		ways = append(ways, way{m, season})
	}
	return ways
}

// bySeasons is the method of a series that has several seasons; none of other ones.
func bySeasons(s *datasets.Series) []way {
	phases, slow := slowSeasons(s)
	if phases == 0 {
		return nil
	}
	return []way{{baseline.OfSeasons(slow), phases}}
}

// smooths reports whether a way takes the rows one after the other, of very many the last ones.
func (w way) smooths() bool { return w.Name == "theta" || w.Name == "ets" }

// slowSeasons are those of a series that has several, in steps: the longest of which each phase has a
// mean of its own, and one that is far longer, a year, else 0. phases is 0 where there are no several.
func slowSeasons(s *datasets.Series) (phases int, slow float64) {
	if s == nil || len(s.Seasons) < 2 {
		return 0, 0
	}
	last := len(s.Seasons) - 1
	if s.Seasons[last] > farLonger*s.Seasons[last-1] {
		slow = s.Seasons[last] / s.Step
		last--
	}
	return int(math.Round(s.Seasons[last] / s.Step)), slow
}

// farLonger is how many times as long as a week a year is at least.
const farLonger = 20

// percentages reports whether sMAPE says anything of targets: on a grid, and all above 0.
func percentages(b *record.Baselines, y []float64) bool {
	return b != nil && b.Scale > 0 && slices.Min(y) > 0
}

func smape(y, forecasts []float64) *files.Number {
	v, err := scoring.SMAPE(y, forecasts)
	if err != nil { // another number of forecasts
		return nil
	}
	n := files.Number(v)
	return &n
}

// scale is that of MASE of a series on a grid without gaps, or why there is none.
func scale(s *baseline.Series, err error, season int) (files.Number, string) {
	v, missing := 0.0, 0
	if err == nil {
		_, missing, err = s.Grid()
	}
	if err == nil && missing > 0 {
		err = fmt.Errorf("%d steps have no training row", missing)
	}
	if err == nil {
		v, err = s.Scale(season)
	}
	if err != nil {
		return 0, err.Error()
	}
	return files.Number(v), ""
}

// inputs are those of some rows, row by row.
func inputs(d *datasets.Dataset, rows []int32) []float64 {
	x := make([]float64, 0, len(rows)*d.Dim)
	for _, r := range rows {
		x = append(x, d.Row(int(r))...)
	}
	return x
}

func scoreOf(s baseline.Score) *record.BaselineScore {
	if math.IsInf(s.NLPD, 0) { // which the log has no number for
		s.NLPD = math.NaN()
	}
	return &record.BaselineScore{
		RMSE: files.Number(s.RMSE), MAE: files.Number(s.MAE), NLPD: files.Number(s.NLPD),
		CRPS: files.Number(s.CRPS), Interval: files.Number(s.Interval),
		Coverage50: files.Number(s.Coverage[mixture.Coverage50]),
		Coverage80: files.Number(s.Coverage[mixture.Coverage80]),
		Coverage95: files.Number(s.Coverage[mixture.Coverage95]),
	}
}
