package backtest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"example.com/kestrel/datasets"
)

const (
	leastRows    = 8 // for training
	leastSeasons = 2
)

// Plan says from where is forecast, and how far.
type Plan struct {
	Horizon int `json:"horizon"`        // rows forecast from each origin
	Origins int `json:"origins"`        // of each series, at most; 0, with Ahead: none
	Step    int `json:"step,omitempty"` // rows from one origin to the next; 0: the horizon, less in series that are too short for that

	Ahead bool `json:"ahead,omitempty"` // forecast beyond the ends, too
}

// Check returns an error that names the flag that is wrong.
func (p Plan) Check() error {
	if p.Ahead && p.Horizon > 0 {
		if _, err := datasets.ParseHorizon(strconv.Itoa(p.Horizon)); err != nil {
			return fmt.Errorf("--horizon %w", err)
		}
	}
	origins := 1
	if p.Ahead {
		origins = 0
	}
	for _, v := range []struct {
		flag         string
		value, least int
	}{{"--horizon", p.Horizon, 1}, {"--origins", p.Origins, origins}, {"--step", p.Step, 0}} {
		if v.value < v.least {
			return fmt.Errorf("%s %d: must be at least %d", v.flag, v.value, v.least)
		}
	}
	return nil
}

// Series is a series that is forecast.
type Series struct {
	Name  string
	Train []int // rows before each origin, the earliest first; none: it is forecast beyond its end alone

	data  *datasets.Dataset
	apart int // rows between origins
}

// rowsBefore counts the rows before an origin; all are before the end.
func (s *Series) rowsBefore(origin int) int {
	if origin == BeyondEnd {
		return s.data.N()
	}
	return s.Train[len(s.Train)-origin]
}

// LeftOut is a series that is not forecast, or not from any origin.
type LeftOut struct {
	Series string `json:"series"`
	Why    string `json:"why"`
}

// severalAtOnce is why a series is left out that is none.
const severalAtOnce = "several of its rows have one time"

// origins returns how many of n rows are before each origin, the earliest first, and
// how many rows these are apart: origin k, counted from the last one, has
//
//	n − horizon − (k − 1)·step
//
// rows, at least so many; none where not even the last one has.
func (p Plan) origins(n, least int) (train []int, apart int) {
	spare := n - p.Horizon - least
	if spare < 0 {
		return nil, 0
	}
	if apart = p.Step; apart == 0 {
		apart = p.Horizon
		if p.Origins > 1 {
			apart = min(apart, max(1, spare/(p.Origins-1)))
		}
	}
	for k := min(p.Origins, 1+spare/apart); k >= 1; k-- {
		train = append(train, n-p.Horizon-(k-1)*apart)
	}
	return train, apart
}

// series finds the origins of a series, or why there are none: then it may be forecast
// beyond its end yet.
func (p Plan) series(name string, d *datasets.Dataset, spec datasets.Spec) (*Series, string, error) {
	if d.N() == 0 {
		return nil, "it has no rows without a missing value", nil
	}
	x := slices.Sorted(slices.Values(d.X))
	for i := 1; i < len(x); i++ {
		if x[i] == x[i-1] {
			return nil, severalAtOnce, nil
		}
	}
	whole, err := d.Window(spec, d.N(), 0)
	if err != nil {
		return nil, "", err
	}
	least, of := leastRows, ""
	if s := whole.Series; s != nil && leastSeasons*s.Season > least {
		least, of = leastSeasons*s.Season, fmt.Sprintf(", %d seasons of %d", leastSeasons, s.Season)
	}
	why := fmt.Sprintf("it is too short: training takes %d rows%s", least, of)
	if p.Origins > 0 {
		why += fmt.Sprintf(", the horizon %d", p.Horizon)
	}
	train, apart := p.origins(d.N(), least)
	s := &Series{Name: name, Train: train, data: d, apart: apart}
	switch ahead := p.Ahead && d.N() >= least; {
	case len(train) > 0 || ahead && p.Origins == 0:
		return s, "", nil
	case ahead:
		return s, why + "; it is forecast beyond its end alone", nil
	}
	return nil, why, nil
}

// all finds the origins of all series. Notices say of how many they are not as the
// plan has them.
func (p Plan) all(groups []datasets.Group, spec datasets.Spec) (all []*Series, out []LeftOut, notices []string, err error) {
	fewer, closer := 0, 0
	for _, g := range groups {
		name := cmp.Or(g.Name, g.Data.Name)
		s, why, err := p.series(name, g.Data, spec)
		switch {
		case err != nil:
			return nil, nil, nil, err
		case s == nil:
			out = append(out, LeftOut{name, why})
			continue
		case why != "":
			out = append(out, LeftOut{name, why})
		case len(s.Train) < p.Origins:
			fewer++
		case p.Step == 0 && p.Origins > 1 && s.apart < p.Horizon:
			closer++
		}
		all = append(all, s)
	}
	say := func(n int, what string) {
		if n > 0 {
			notices = append(notices, fmt.Sprintf("%d of %d series: too short for %d origins %s", n, len(groups), p.Origins, what))
		}
	}
	say(closer, fmt.Sprintf("%d rows apart, the origins are closer", p.Horizon))
	say(fewer, "at all, there are fewer")
	return all, out, notices, nil
}
