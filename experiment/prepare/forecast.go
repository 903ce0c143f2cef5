package prepare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/kestrel/baseline"
	"example.com/kestrel/datasets"
)

// ForecastNames are the baselines that forecast a series.
func ForecastNames() (names []string) {
	for _, m := range baseline.Forecasts() {
		names = append(names, m.Name)
	}
	return append(names, baseline.OfSeasons(0).Name)
}

// Forecast predicts a series beyond its end by a baseline that is named, which learns from all rows,
// held out or not, as those do that stand beside a run; in data units.
func Forecast(d *datasets.Dataset, name string, at []float64) (p []baseline.Normal, label string, err error) {
	if d.Series == nil {
		return nil, "", errors.New("the data are no series in time, which could be continued")
	}
	rows := slices.Concat(d.Train, d.Test)
	slices.SortStableFunc(rows, func(r, s int32) int { return cmp.Compare(d.Row(int(r))[0], d.Row(int(s))[0]) })
	ways := append(waysOf(baseline.Forecasts(), d.Series.Season), bySeasons(d.Series)...)
	i := slices.IndexFunc(ways, func(w way) bool { return w.Name == name })
	if i < 0 {
		return nil, "", fmt.Errorf("no method %s for this series", name)
	}
	w := ways[i]
	if n := len(rows) - mostSmoothed; n > 0 && w.smooths() {
		rows = rows[n:]
	}
	s, err := baseline.NewSeries(d.Times(rows), d.Targets(rows))
	if err == nil {
		p, err = w.Predict(s, w.season, at)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.ToLower(w.Label), err)
	}
	return p, w.Label, err
}
