package inspect

import (
	"math"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks/mixture"
)

// Accuracy says how well predictions fit targets, in the units of the data.
type Accuracy struct {
	Rows     int // with a target
	Missing  int // without
	RMSE     float64
	MAE      float64
	NLPD     float64 // nats
	CRPS     float64
	Interval float64 // score of the central 95 %
	Coverage mixture.Coverage
}

// tally adds up, batch by batch, what Accuracy needs; mixture.Score has the
// formulas.
type tally struct {
	rows, missing                           int
	squares, absolute, nlpd, crps, interval float64 // sums
	inside                                  [len(record.CoverageLevels)]int
}

// add takes predictions and their targets in the units of the data in, NaN where
// there is none.
func (t *tally) add(p mixture.Mapped, y []float64) error {
	p.Prediction, y = withTarget(p.Prediction, y, &t.missing)
	if len(y) == 0 {
		return nil
	}
	s, err := p.Score(y)
	if err != nil {
		return err
	}
	n := float64(s.Rows)
	t.rows += s.Rows
	t.squares += n * s.RMSE * s.RMSE
	t.absolute += n * s.MAE
	t.nlpd += n * s.NLPD
	t.crps += n * s.CRPS
	t.interval += n * s.Interval
	for l, share := range s.Coverage {
		t.inside[l] += int(math.Round(n * share))
	}
	return nil
}

// withTarget leaves the rows out that have no target and counts them.
func withTarget(p *mixture.Prediction, y []float64, missing *int) (*mixture.Prediction, []float64) {
	var rows []int
	for row, v := range y {
		if !math.IsNaN(v) {
			rows = append(rows, row)
		}
	}
	*missing += len(y) - len(rows)
	if len(rows) == len(y) {
		return p, y
	}
	pick := func(from []float64) []float64 {
		out := make([]float64, len(rows))
		for i, row := range rows {
			out[i] = from[row]
		}
		return out
	}
	q := *p
	q.Mean, q.Var = make([][]float64, len(p.IDs)), make([][]float64, len(p.IDs))
	for k := range p.IDs {
		q.Mean[k], q.Var[k] = pick(p.Mean[k]), pick(p.Var[k])
	}
	for _, each := range []*[]float64{&q.NoiseAt, &q.NoiseScale} {
		if *each != nil {
			*each = pick(*each)
		}
	}
	return &q, pick(y)
}

func (t *tally) merge(o *tally) {
	t.rows += o.rows
	t.missing += o.missing
	t.squares += o.squares
	t.absolute += o.absolute
	t.nlpd += o.nlpd
	t.crps += o.crps
	t.interval += o.interval
	for l := range t.inside {
		t.inside[l] += o.inside[l]
	}
}

// accuracy returns the averages.
func (t *tally) accuracy() Accuracy {
	a := Accuracy{Rows: t.rows, Missing: t.missing}
	if t.rows == 0 {
		return a
	}
	n := float64(t.rows)
	a.RMSE, a.MAE, a.NLPD = math.Sqrt(t.squares/n), t.absolute/n, t.nlpd/n
	a.CRPS, a.Interval = t.crps/n, t.interval/n
	for l := range a.Coverage {
		a.Coverage[l] = float64(t.inside[l]) / n
	}
	return a
}
