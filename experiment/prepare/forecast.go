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

// methodOfSeasons is the name of baseline.OfSeasons.
var methodOfSeasons = baseline.OfSeasons(0).Name

// ForecastNames are the baselines that forecast a series.
func ForecastNames() (names []string) {
	for _, m := range baseline.Forecasts() {
		names = append(names, m.Name)
	}
	return append(names, methodOfSeasons)
}

// Forecast predicts a series beyond its end by a baseline that is named, which learns from all rows,
// held out or not, as those do that stand beside a run; in data units.
func Forecast(d *datasets.Dataset, name string, at []float64) (p []baseline.Normal, label string, err error) {
	if d.Series == nil {
		return nil, "", errors.New("the data are no series in time, which could be continued")
	}
	rows := slices.Concat(d.Train, d.Test)
	slices.SortStableFunc(rows, func(r, s int32) int { return cmp.Compare(d.Row(int(r))[0], d.Row(int(s))[0]) })
	season := d.Series.Season
	methods := baseline.Forecasts()
	if phases, slow := slowSeasons(d.Series); phases > 0 {
		methods = append(methods, baseline.OfSeasons(slow))
		if name == methodOfSeasons {
			season = phases
		}
	}
	if n := len(rows) - mostSmoothed; n > 0 && (name == "theta" || name == "ets") {
		rows = rows[n:]
	}
	i := slices.IndexFunc(methods, func(m baseline.Method) bool { return m.Name == name })
	if i < 0 {
		return nil, "", fmt.Errorf("no method %s for this series", name)
	}
	s, err := baseline.NewSeries(d.Times(rows), d.Targets(rows))
	if err == nil {
		p, err = methods[i].Predict(s, season, at)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", strings.ToLower(methods[i].Label), err)
	}
	return p, methods[i].Label, err
}
