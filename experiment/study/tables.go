package study

import (
	"errors"
	"slices"
	"strconv"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
)

// Tables are the CSV files of a case, to which a row is added as soon as it is known.
// The local ELBOs of a row are on the disk before it is, so that one that is there
// is whole.
type Tables struct {
	rows, elbos, starts, moreELBOs *series.Table // the last two only where starts are compared

	known map[uint64]*Row // by seed
	more  map[uint64]*Row // with more starts: what a comparison needs of it
}

// OpenTables opens the files of cases in a directory, or makes them. What is known
// there is read, and what a killed process had not completed is cut off; nothing is
// changed before all that is there has been found sound.
func OpenTables(dir *inside.Dir, cases []*Case, compare bool) (opened []*Tables, err error) {
	defer func() {
		if err != nil {
			for _, t := range opened {
				err = errors.Join(err, t.Close())
			}
			opened = nil
		}
	}()
	for _, c := range cases {
		t := &Tables{known: map[uint64]*Row{}, more: map[uint64]*Row{}}
		opened = append(opened, t)
		if err := t.open(dir, c, compare); err != nil {
			return opened, err
		}
	}
	for _, t := range opened {
		for _, f := range t.files() {
			if err := f.Settle(dir); err != nil {
				return opened, err
			}
		}
	}
	return opened, nil
}

// open opens what there is and reads it.
func (t *Tables) open(dir *inside.Dir, c *Case, compare bool) (err error) {
	names := c.tableNames()
	if t.rows, err = series.OpenTable(dir, names[0], rowColumns()); err != nil {
		return err
	}
	if t.elbos, err = series.OpenTable(dir, names[1], elboColumns()); err != nil {
		return err
	}
	if err := t.readRows(c); err != nil || !compare {
		return err
	}
	if t.starts, err = series.OpenTable(dir, names[2], startsColumns()); err != nil {
		return err
	}
	if t.moreELBOs, err = series.OpenTable(dir, names[3], elboColumns()); err != nil {
		return err
	}
	return t.readStarts()
}

// files are those that are open.
func (t *Tables) files() []*series.Table {
	return slices.DeleteFunc([]*series.Table{t.rows, t.elbos, t.starts, t.moreELBOs}, func(f *series.Table) bool { return f == nil })
}

// tableNames are the names of the files of a case, those of compared starts last.
func (s *Case) tableNames() []string {
	name := s.Variant.Name + "-" + s.Figure + ".csv"
	p := record.StudyPrefix
	return []string{p + name, p + "elbos-" + name, p + "starts-" + name, p + "starts-elbos-" + name}
}

func rowColumns() []string {
	return []string{"variant", "figure", "seed", "truth", "rank", "leader", "gap", "elbo_se", "posterior", "bayes", "tied",
		"lead_from", "first_ahead", "early_max", "violations", "pairs", "evaluations", "seconds", "failure", "exact_gap"}
}

func elboColumns() []string { return []string{"seed", "kernel_id", "local_elbo"} }

func startsColumns() []string {
	return []string{"variant", "figure", "seed", "starts", "more_starts", "kernels", "median_rise", "largest_rise",
		"largest_rise_kernel", "leader", "more_leader", "leader_changed"}
}

// Known returns what is known of a seed, and what came with more starts; nil where
// it is not known.
func (t *Tables) Known(seed uint64) (row, more *Row) { return t.known[seed], t.more[seed] }

// Add adds a row, unless it is there.
func (t *Tables) Add(r *Row) error {
	if t.known[r.Seed] != nil {
		return nil
	}
	cells := []string{r.Variant, r.Figure, strconv.FormatUint(r.Seed, 10), r.Truth, "", r.Leader, "", "", "", "", "",
		optional(r.LeadFrom), optional(r.FirstAhead), optional(r.EarlyMax),
		strconv.Itoa(r.Violations), strconv.Itoa(r.Pairs), strconv.Itoa(r.Evaluations), r.Seconds.String(), r.Failure,
		r.ExactGap.Known("")}
	if r.Rank == 0 {
		cells[6] = r.Gap.Known("")
	} else {
		cells[4] = strconv.Itoa(r.Rank)
		copy(cells[6:], []string{r.Gap.String(), r.SE.String(), r.Posterior.String(), r.Bayes.String(), strconv.FormatBool(r.Tied)})
	}
	if err := add(t.elbos, r, t.rows, cells); err != nil {
		return err
	}
	t.known[r.Seed] = r
	return nil
}

// AddComparison adds what more starts changed, unless it is there; more is the row
// of these.
func (t *Tables) AddComparison(c *StartsComparison, more *Row) error {
	if t.more[c.Seed] != nil {
		return nil
	}
	cells := []string{c.Variant, c.Figure, strconv.FormatUint(c.Seed, 10), strconv.Itoa(c.Starts), strconv.Itoa(c.More),
		strconv.Itoa(
			c.Kernels,
		), c.MedianRise.String(), c.MostRise.String(), c.MostKernel, c.Leader, c.MoreLeader, strconv.FormatBool(c.Changed)}
	if err := add(t.moreELBOs, more, t.starts, cells); err != nil {
		return err
	}
	t.more[c.Seed] = more
	return nil
}

// add writes the local ELBOs of a row and then, when they are on the disk, the row.
func add(elbos *series.Table, r *Row, to *series.Table, cells []string) error {
	var each [][]string
	for _, k := range r.ELBOs {
		each = append(each, []string{strconv.FormatUint(r.Seed, 10), k.ID, files.Number(k.ELBO).String()})
	}
	if err := elbos.Write(each); err != nil {
		return err
	}
	return to.Write([][]string{cells})
}

// Close closes the files.
func (t *Tables) Close() error {
	var first error
	for _, f := range t.files() {
		if err := f.Close(); first == nil {
			first = err
		}
	}
	return first
}

func optional(p *float64) string {
	if p == nil {
		return ""
	}
	return files.Number(*p).String()
}

// readRows reads the rows that are known.
func (t *Tables) readRows(c *Case) error {
	elbos, err := bySeed(t.elbos)
	if err != nil {
		return err
	}
	for i, cells := range t.rows.Records {
		r := &Row{
			Variant: cells[0],
			Figure:  cells[1],
			Starts:  c.Config.Settings.Starts,
			Truth:   series.Text(cells[3]),
			Leader:  series.Text(cells[5]),
			Failure: series.Text(cells[18]),
		}
		p := series.Cells{Cells: cells}
		r.Seed, r.Rank = p.Seed(2), p.Whole(4)
		r.Gap, r.SE, r.Posterior, r.Bayes = p.Number(6), p.Number(7), p.Number(8), p.Number(9)
		r.Tied = cells[10] == "true"
		r.LeadFrom, r.FirstAhead, r.EarlyMax = p.Optional(11), p.Optional(12), p.Optional(13)
		r.Violations, r.Pairs, r.Evaluations, r.Seconds = p.Whole(14), p.Whole(15), p.Whole(16), p.Number(17)
		r.ExactGap = p.Number(19)
		if p.Err != nil {
			return t.rows.Damaged(i, p.Err)
		}
		r.ELBOs, t.known[r.Seed] = elbos[r.Seed], r
	}
	keep(t.elbos, t.known)
	return nil
}

// readStarts reads what is known of more starts.
func (t *Tables) readStarts() error {
	elbos, err := bySeed(t.moreELBOs)
	if err != nil {
		return err
	}
	for i, cells := range t.starts.Records {
		p := series.Cells{Cells: cells}
		r := &Row{Variant: cells[0], Figure: cells[1], Seed: p.Seed(2), Starts: p.Whole(4), Leader: series.Text(cells[10])}
		if p.Err != nil {
			return t.starts.Damaged(i, p.Err)
		}
		r.ELBOs, t.more[r.Seed] = elbos[r.Seed], r
	}
	keep(t.moreELBOs, t.more)
	return nil
}

// bySeed reads a table of local ELBOs.
func bySeed(t *series.Table) (map[uint64][]KernelELBO, error) {
	out := map[uint64][]KernelELBO{}
	for i, cells := range t.Records {
		p := series.Cells{Cells: cells}
		seed, elbo := p.Seed(0), p.Number(2)
		if p.Err != nil {
			return nil, t.Damaged(i, p.Err)
		}
		out[seed] = append(out[seed], KernelELBO{series.Text(cells[1]), float64(elbo)})
	}
	return out, nil
}

// keep leaves what is before that of a seed that is not known yet: its row was still
// to come.
func keep(t *series.Table, known map[uint64]*Row) {
	for i, cells := range t.Records {
		p := series.Cells{Cells: cells}
		if known[p.Seed(0)] == nil {
			t.Leave(i)
			return
		}
	}
}
