package backtest

import (
	"math"
	"strconv"

	"example.com/kestrel/baseline"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/series"
)

// Kestrel is the name of the method that is not one of package baseline.
const Kestrel = "kestrel"

// Methods returns the names of all methods: Kestrel first.
func Methods() []string {
	names := []string{Kestrel}
	for _, m := range baseline.Forecasts() {
		names = append(names, m.Name)
	}
	return names
}

// Probabilities returns those of the quantiles of a row: the ends of the central 95,
// 80 and 50 %, and the median.
func Probabilities() []float64 { return []float64{0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975} }

// Places in Probabilities.
const (
	low95 = iota
	low80
	_
	median
	_
	high80
	high95
	quantiles
)

// Row is what a method has forecast at a row of the data, in their units. Where it has
// not, numbers are NaN and Why says why.
type Row struct {
	Series string
	Origin int     // counted from the last one, 1; BeyondEnd
	Train  int     // rows before it
	Season int     // in steps; 1: none is known
	Scale  float64 // of MASE; NaN: there is none
	Step   int     // of the horizon, from 1
	X      string
	Y      float64 // NaN: not known yet
	Method string
	Mean   float64
	SD     float64
	Q      [quantiles]float64
	CRPS   float64
	Leader string // id of the kernel ranked first
	Why    string
}

// forecast reports whether there is one.
func (r *Row) forecast() bool { return r.Why == "" }

// missing makes a row of one without forecast.
func (r *Row) missing(why string) {
	nan := math.NaN()
	r.Mean, r.SD, r.CRPS, r.Why = nan, nan, nan, why
	for i := range r.Q {
		r.Q[i] = nan
	}
}

func columns() []string {
	names := []string{"series", "origin", "train_rows", "season", "scale", "step", "x", "y", "method", "mean", "sd"}
	for _, p := range Probabilities() {
		names = append(names, "q"+files.FormatFloat(p))
	}
	return append(names, "crps", "leader", "reason")
}

// cells are in the order of columns.
func (r *Row) cells() []string {
	number := func(v float64) string { return files.Number(v).Known("") }
	out := []string{r.Series, strconv.Itoa(r.Origin), strconv.Itoa(r.Train), strconv.Itoa(r.Season), number(r.Scale),
		strconv.Itoa(r.Step), r.X, number(r.Y), r.Method, number(r.Mean), number(r.SD)}
	for _, q := range r.Q {
		out = append(out, number(q))
	}
	return append(out, number(r.CRPS), r.Leader, r.Why)
}

// readRow reads cells.
func readRow(cells []string) (Row, error) {
	p := series.Cells{Cells: cells}
	number := func(i int) float64 { return float64(p.Number(i)) }
	r := Row{
		Series: series.Text(cells[0]), Origin: p.Whole(1), Train: p.Whole(2), Season: p.Whole(3), Scale: number(4),
		Step: p.Whole(5), X: series.Text(cells[6]), Y: number(7), Method: cells[8], Mean: number(9), SD: number(10),
	}
	for i := range r.Q {
		r.Q[i] = number(11 + i)
	}
	const last = 11 + quantiles
	r.CRPS, r.Leader, r.Why = number(last), series.Text(cells[last+1]), series.Text(cells[last+2])
	return r, p.Err
}
