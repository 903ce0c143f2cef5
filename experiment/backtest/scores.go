package backtest

import (
	"maps"
	"math"
	"slices"

	"example.com/kestrel/experiment/average"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/scoring"
)

// Scores are of a method, means over series of what it scored in each. NaN: not known.
type Scores struct {
	Method string `json:"method"`
	Series int    `json:"series"` // that it has forecast, at one origin at least

	CRPS       files.Number `json:"crps"`
	Scaled     files.Number `json:"scaled_crps"` // over the scale of MASE
	MSIS       files.Number `json:"msis"`
	MASE       files.Number `json:"mase"`  // of the median
	SMAPE      files.Number `json:"smape"` // of the median, in percent
	Coverage80 files.Number `json:"coverage80"`
	Coverage95 files.Number `json:"coverage95"`
	RMSE       files.Number `json:"rmse"` // of the mean

	// Geometric means over series of the quotient of mean CRPS, at the origins where both
	// have forecast: of this method and the seasonal naive one, or the naive one where a
	// series has no season; of kestrel and this method.
	Relative        files.Number `json:"relative_crps"`
	KestrelRelative files.Number `json:"kestrel_relative_crps"`
	KestrelBetter   int          `json:"kestrel_better"` // series in which kestrel's is less
	Compared        int          `json:"compared"`       // series in which both have forecast
}

// tally adds up what one method scores in one series.
type tally struct {
	rows, scaled                         int
	crps, scaledCRPS, interval, absolute float64
	smape, squares, inside80, inside95   float64
	byOrigin                             map[int]float64 // Σ CRPS
}

func (t *tally) add(r *Row) error {
	t.rows++
	t.crps += r.CRPS
	if t.byOrigin == nil {
		t.byOrigin = map[int]float64{}
	}
	t.byOrigin[r.Origin] += r.CRPS
	if !math.IsNaN(r.Scale) {
		t.scaled++
		t.scaledCRPS += r.CRPS / r.Scale
		t.absolute += math.Abs(r.Y-r.Q[median]) / r.Scale
		t.interval += scoring.Interval(r.Y, r.Q[low95], r.Q[high95]) / r.Scale
	}
	off, err := scoring.SMAPE([]float64{r.Y}, []float64{r.Q[median]})
	t.smape += off
	t.squares += (r.Y - r.Mean) * (r.Y - r.Mean)
	if r.Q[low80] <= r.Y && r.Y <= r.Q[high80] {
		t.inside80++
	}
	if r.Q[low95] <= r.Y && r.Y <= r.Q[high95] {
		t.inside95++
	}
	return err
}

// Summarise scores the methods on the rows of one step of the horizon; 0: of all. Rows
// of a series stand together.
func Summarise(rows []Row, step int) ([]Scores, error) {
	names := Methods()
	at := map[string]int{}
	sums := make([]sum, len(names))
	for m, name := range names {
		at[name] = m
		sums[m].Method = name
	}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Series == rows[0].Series {
			n++
		}
		one := make([]tally, len(names))
		for i := range rows[:n] {
			if r := &rows[i]; (step == 0 || r.Step == step) && r.forecast() {
				if err := one[at[r.Method]].add(r); err != nil {
					return nil, err
				}
			}
		}
		naive := &one[at[reference(rows[:n])]]
		for m := range sums {
			sums[m].add(&one[m], naive, &one[0])
		}
		rows = rows[n:]
	}
	out := make([]Scores, len(names))
	for m := range sums {
		out[m] = sums[m].scores()
	}
	return out, nil
}

// reference is the method that the rows of a series are compared with.
func reference(rows []Row) string {
	for i := range rows {
		if rows[i].Season > 1 {
			return "snaive"
		}
	}
	return "naive"
}

// sum gathers what a method scored in each series.
type sum struct {
	Scores
	crps, scaled, msis, mase, smape, inside80, inside95, rmse []float64
	relative, kestrel                                         []float64 // logarithms
}

func (s *sum) add(t, naive, kestrel *tally) {
	if t.rows == 0 {
		return
	}
	s.Series++
	n := float64(t.rows)
	s.crps, s.smape = append(s.crps, t.crps/n), append(s.smape, t.smape/n)
	s.inside80, s.inside95 = append(s.inside80, t.inside80/n), append(s.inside95, t.inside95/n)
	s.rmse = append(s.rmse, math.Sqrt(t.squares/n))
	if n := float64(t.scaled); n > 0 {
		s.scaled, s.msis, s.mase = append(s.scaled, t.scaledCRPS/n), append(s.msis, t.interval/n), append(s.mase, t.absolute/n)
	}
	if own, other, both := t.against(naive); both && own > 0 && other > 0 {
		s.relative = append(s.relative, math.Log(own/other))
	}
	if own, other, both := t.against(kestrel); both {
		s.Compared++
		if other < own {
			s.KestrelBetter++
		}
		if own > 0 && other > 0 {
			s.kestrel = append(s.kestrel, math.Log(other/own))
		}
	}
}

// against returns the CRPS of two methods, added up over the origins where both have
// forecast, and whether there are any.
func (t *tally) against(other *tally) (own, others float64, both bool) {
	for _, k := range slices.Sorted(maps.Keys(t.byOrigin)) { // sums depend on the order
		if o, ok := other.byOrigin[k]; ok {
			own, others, both = own+t.byOrigin[k], others+o, true
		}
	}
	return own, others, both
}

func (s *sum) scores() Scores {
	out := s.Scores
	for _, v := range []struct {
		to *files.Number
		of []float64
	}{{&out.CRPS, s.crps}, {&out.Scaled, s.scaled}, {&out.MSIS, s.msis}, {&out.MASE, s.mase}, {&out.SMAPE, s.smape},
		{&out.Coverage80, s.inside80}, {&out.Coverage95, s.inside95}, {&out.RMSE, s.rmse},
		{&out.Relative, s.relative}, {&out.KestrelRelative, s.kestrel}} {
		mean, _ := average.MeanSD(v.of)
		*v.to = files.Number(mean)
	}
	out.Relative, out.KestrelRelative = files.Number(math.Exp(float64(out.Relative))), files.Number(math.Exp(float64(out.KestrelRelative)))
	return out
}
