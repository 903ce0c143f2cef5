package backtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"example.com/kestrel/baseline"
	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
)

// BeyondEnd is the origin behind which nothing is known yet: the end of the series.
const BeyondEnd = 0

// errUneven is why nothing is forecast where it would have to be guessed when.
var errUneven = errors.New("its steps are uneven, so that it cannot be told which inputs come behind its last row")

// ahead forecasts a series beyond its end, by a run of all its rows: a row for each step.
// Errors are as those of forecasts.
func (s *Series) ahead(ctx context.Context, c *config.Config, horizon int) ([]Row, error) {
	w, err := s.data.Window(c.Data, s.data.N(), 0)
	if err != nil {
		return nil, err
	}
	rows, to := make([]Row, horizon), make([]*Row, horizon)
	for i := range rows {
		rows[i] = Row{Series: s.Name, Origin: BeyondEnd, Step: i + 1, Y: math.NaN(), Method: Kestrel}
		to[i] = &rows[i]
	}
	points, err := beyond(w, horizon)
	if err != nil {
		for i := range rows {
			rows[i].missing(err.Error())
		}
		return rows, nil
	}
	for i := range rows {
		rows[i].X = w.Inputs[0].Written(points.X[i*points.Dim])
	}
	if err := byRun(ctx, c, w, points.X, to); err != nil {
		return nil, fmt.Errorf("series %s, beyond its end: %w", s.Name, err)
	}
	return rows, nil
}

// beyond returns the inputs of so many rows behind the last one, as kestrel predict has
// them, but only where steps can be counted, as baselines count them: what nobody looks at
// one by one is not continued by the typical step of inputs that lie anyhow.
func beyond(w *datasets.Dataset, rows int) (*datasets.Points, error) {
	h, err := datasets.ParseHorizon(strconv.Itoa(rows))
	if err != nil {
		return nil, err
	}
	past, err := baseline.NewSeries(w.Times(w.Train), w.Targets(w.Train))
	if err != nil {
		return nil, err
	}
	if _, _, err := past.Grid(); err != nil {
		return nil, errUneven
	}
	return w.Beyond(h)
}

// aheadColumns are those of record.AheadFile. An input that is called as another column is
// called NAME_data, as in the table of kestrel predict.
func aheadColumns(input string) []string {
	before, behind := []string{"series", "step"}, []string{"leader", "mean"}
	for _, p := range Probabilities() {
		behind = append(behind, "q"+files.FormatFloat(p))
	}
	behind = append(behind, "reason")
	for slices.Contains(before, input) || slices.Contains(behind, input) {
		input += "_data"
	}
	return append(append(before, files.SafeCell(input)), behind...)
}

// aheadCells are in the order of aheadColumns.
func (r *Row) aheadCells() []string {
	out := []string{r.Series, strconv.Itoa(r.Step), r.X, r.Leader, files.Number(r.Mean).Known("")}
	for _, q := range r.Q {
		out = append(out, files.Number(q).Known(""))
	}
	return append(out, r.Why)
}

// readAhead reads aheadCells.
func readAhead(cells []string) (Row, error) {
	p := series.Cells{Cells: cells}
	r := Row{
		Series: series.Text(cells[0]), Origin: BeyondEnd, Step: p.Whole(1), X: series.Text(cells[2]), Y: math.NaN(), Method: Kestrel,
		Leader: series.Text(cells[3]), Mean: float64(p.Number(4)),
	}
	for i := range r.Q {
		r.Q[i] = float64(p.Number(5 + i))
	}
	r.Why = series.Text(cells[5+quantiles])
	return r, p.Err
}

// Beyond says which series are forecast beyond their ends.
type Beyond struct {
	Series  int       `json:"series"`            // forecast
	Without []LeftOut `json:"without,omitempty"` // those of which kestrel has no forecast
	File    string    `json:"file"`
}

// newBeyond counts the series of forecasts, which are in their order.
func newBeyond(dir string, rows []Row) *Beyond {
	out := &Beyond{File: filepath.Join(dir, record.AheadFile)}
	for i := range rows {
		switch r := &rows[i]; {
		case r.Step > 1:
		case r.forecast():
			out.Series++
		default:
			out.Without = append(out.Without, LeftOut{r.Series, r.Why})
		}
	}
	return out
}
