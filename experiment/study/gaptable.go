package study

import (
	"strconv"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
)

// GapTable is the CSV file of a study of gaps, to which the rows of a seed are added
// together, as soon as they are known.
type GapTable struct {
	file  *series.Table
	known map[uint64][]*GapRow
}

func gapColumns() []string {
	return []string{"variant", "figure", "seed", "kernel_id", "local_elbo", "best_elbo", "gap", "searched", "best_searched", "missing",
		"from", "expected", "own", "flagged", "cpu", "cpu_best"}
}

// OpenGaps opens the table of a case in a directory, or makes it. What is known is read,
// and a line that a killed process had not completed is cut off.
func OpenGaps(dir *inside.Dir, g *Gaps) (*GapTable, error) {
	t := &GapTable{known: map[uint64][]*GapRow{}}
	var err error
	name := record.StudyPrefix + "gaps-" + g.Variant.Name + "-" + g.Figure + ".csv"
	if t.file, err = series.OpenTable(dir, name, gapColumns()); err != nil {
		return nil, err
	}
	for i, cells := range t.file.Records {
		p := series.Cells{Cells: cells}
		r := &GapRow{
			Variant: series.Text(cells[0]), Figure: series.Text(cells[1]), Seed: p.Seed(2), Kernel: series.Text(cells[3]),
			ELBO: p.Number(4), Best: p.Number(5), Searched: p.Number(7), BestSearched: p.Number(8), From: series.Text(cells[10]),
			Expected: p.Number(11), Own: p.Number(12), Flagged: cells[13] == "true", CPU: p.Number(14), CPUBest: p.Number(15),
		}
		if p.Err != nil {
			t.Close()
			return nil, t.file.Damaged(i, p.Err)
		}
		t.known[r.Seed] = append(t.known[r.Seed], r)
	}
	t.drop(g.Kernels)
	if err := t.file.Settle(dir); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// drop cuts a seed off whose rows are not all there.
func (t *GapTable) drop(kernels int) {
	n := len(t.file.Records)
	if n == 0 {
		return
	}
	if whole := n / kernels * kernels; whole < n {
		delete(t.known, (&series.Cells{Cells: t.file.Records[n-1]}).Seed(2))
		t.file.Leave(whole)
	}
}

// Known returns what is known of a seed; nil where it is not.
func (t *GapTable) Known(seed uint64) []*GapRow { return t.known[seed] }

// Add adds the rows of a seed, unless they are there.
func (t *GapTable) Add(rows []*GapRow) error {
	if len(rows) == 0 || t.known[rows[0].Seed] != nil {
		return nil
	}
	var all [][]string
	for _, r := range rows {
		all = append(all, []string{r.Variant, r.Figure, strconv.FormatUint(r.Seed, 10), r.Kernel, r.ELBO.Known(""), r.Best.Known(""),
			files.Number(r.Gap()).Known(""), r.Searched.Known(""), r.BestSearched.Known(""), files.Number(r.Missing()).Known(""), r.From,
			r.Expected.Known(""), r.Own.Known(""), strconv.FormatBool(r.Flagged), r.CPU.String(), r.CPUBest.String()})
	}
	if err := t.file.Write(all); err != nil {
		return err
	}
	t.known[rows[0].Seed] = rows
	return nil
}

// Close closes the file.
func (t *GapTable) Close() error { return t.file.Close() }
