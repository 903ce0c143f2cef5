package backtest

import (
	"slices"
	"strconv"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
)

// Result is what a backtest has come to.
type Result struct {
	Plan    `json:"plan"`
	Series  int        `json:"series"` // forecast from an origin
	LeftOut []LeftOut  `json:"left_out,omitempty"`
	Methods []Scores   `json:"methods"`    // in the order of Methods
	Steps   [][]Scores `json:"by_horizon"` // by step of the horizon
	Verdict string     `json:"verdict"`

	BySeries []SeriesScores `json:"by_series"` // in their order

	Beyond *Beyond `json:"ahead,omitempty"` // nil: none is asked for

	rows     []Row // in the order of the series
	seasonal int   // series with a season
	unit     string
}

// newResult scores forecasts, which are in the order of the series.
func newResult(p Plan, rows []Row) (r *Result, err error) {
	r = &Result{Plan: p, rows: rows}
	for i := range rows {
		if i == 0 || rows[i].Series != rows[i-1].Series {
			r.Series++
			if rows[i].Season > 1 {
				r.seasonal++
			}
		}
	}
	if r.Methods, err = Summarise(rows, 0); err != nil {
		return nil, err
	}
	for step := range p.Horizon {
		at, err := Summarise(rows, step+1)
		if err != nil {
			return nil, err
		}
		r.Steps = append(r.Steps, at)
	}
	r.BySeries, err = bySeries(rows)
	return r, err
}

// conclude puts the forecasts in order and writes what is made of them.
func (b *Backtest) conclude() (*Result, error) {
	var rows, beyond []Row
	for _, t := range b.tasks() {
		if t.origin == BeyondEnd {
			beyond = append(beyond, b.known[t]...)
		} else {
			rows = append(rows, b.known[t]...)
		}
	}
	if err := b.closeTables(); err != nil {
		return nil, files.Unwritable(b.dir.Path, err)
	}
	r := &Result{Plan: b.Plan, Methods: []Scores{}, Steps: [][]Scores{}, BySeries: []SeriesScores{}}
	var all []files.File
	var err error
	if b.past != nil {
		if r, err = newResult(b.Plan, rows); err != nil {
			return nil, err
		}
		r.unit, r.Verdict = b.unit, r.verdict()
		if all, err = r.files(b.past); err != nil {
			return nil, err
		}
	}
	r.LeftOut = b.LeftOut
	if b.ahead != nil {
		r.Beyond = newBeyond(b.dir.Path, beyond)
		f, err := b.ahead.whole(beyond)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	for _, f := range all {
		if err := b.dir.Owner.ReplaceFile(f.Name, f.Text); err != nil {
			return nil, files.Unwritable(b.dir.Path, err)
		}
	}
	return r, nil
}

// files are the table of the forecasts from origins and what is made of them.
func (r *Result) files(past *kept) ([]files.File, error) {
	all, err := r.figure().Files("")
	if err != nil {
		return nil, err
	}
	f, err := past.whole(r.rows)
	all = append(all, f)
	for _, t := range []struct {
		name string
		rows [][]string
	}{{record.SummaryFile, r.summaryRows()}, {record.HorizonFile, r.horizonRows()}, {record.SeriesFile, r.seriesRows()}} {
		var text []byte
		if err == nil {
			text, err = files.FormatRows(t.rows)
		}
		all = append(all, files.File{Name: t.name, Text: text})
	}
	return all, err
}

// whole is the table with all forecasts, in order.
func (k *kept) whole(rows []Row) (files.File, error) {
	text, err := files.FormatRows(append([][]string{slices.Clone(k.columns)}, k.cellsOf(rows)...))
	return files.File{Name: k.name, Text: text}, err
}

func scoreColumns() []string {
	return []string{"method", "series", "crps", "relative_crps", "scaled_crps", "msis", "mase", "smape", "coverage80", "coverage95", "rmse",
		"kestrel_relative_crps", "kestrel_better", "compared"}
}

func (s *Scores) cells() []string {
	out := []string{s.Method, strconv.Itoa(s.Series)}
	for _, v := range []files.Number{s.CRPS, s.Relative, s.Scaled, s.MSIS, s.MASE, s.SMAPE, s.Coverage80, s.Coverage95, s.RMSE,
		s.KestrelRelative} {
		out = append(out, v.Known(""))
	}
	return append(out, strconv.Itoa(s.KestrelBetter), strconv.Itoa(s.Compared))
}

func (r *Result) summaryRows() [][]string {
	rows := [][]string{scoreColumns()}
	for m := range r.Methods {
		rows = append(rows, r.Methods[m].cells())
	}
	return rows
}

func (r *Result) horizonRows() [][]string {
	rows := [][]string{append([]string{"step"}, scoreColumns()...)}
	for step, methods := range r.Steps {
		for m := range methods {
			rows = append(rows, append([]string{strconv.Itoa(step + 1)}, methods[m].cells()...))
		}
	}
	return rows
}

// scaled reports whether the CRPS of a step is told in the scale of MASE: that of
// several series has no common unit.
func (r *Result) scaled() bool {
	known := func(s Scores) bool { return s.Scaled == s.Scaled }
	return r.Series > 1 && slices.ContainsFunc(r.Methods, known)
}

// crpsOf is what is told of a step.
func (r *Result) crpsOf(s *Scores) files.Number {
	if r.scaled() {
		return s.Scaled
	}
	return s.CRPS
}

// crpsName says what crpsOf is.
func (r *Result) crpsName() string {
	switch {
	case r.scaled():
		return "CRPS / scale of MASE"
	case r.unit != "" && r.Series == 1:
		return "CRPS (" + r.unit + ")"
	}
	return "CRPS"
}

// figure draws the CRPS of the methods by step.
func (r *Result) figure() *chart.Figure {
	f := &chart.Figure{Name: record.BacktestFigure, XLabel: "step of the horizon", YLabel: r.crpsName()}
	looks := chart.Swatches()
	for m := range r.Methods {
		l := chart.Line{Name: labelOf(r.Methods[m].Method), Swatch: looks[m%len(looks)]}
		if m == 0 {
			l.Width = 2
		}
		for step := range r.Steps {
			if v := float64(r.crpsOf(&r.Steps[step][m])); v == v {
				l.X, l.Lo = append(l.X, float64(step+1)), append(l.Lo, v)
			}
		}
		if len(l.X) > 0 {
			f.Lines = append(f.Lines, l)
		}
	}
	return f
}
