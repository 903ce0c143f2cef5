package study

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"

	"kestrel/experiment/files"
	"kestrel/experiment/inside"
	"kestrel/experiment/record"
)

// Tables are the CSV files of a case, to which a row is added as soon as it is known.
// The local ELBOs of a row are on the disk before it is, so that one that is there
// is whole.
type Tables struct {
	rows, elbos, starts, moreELBOs *tableFile // the last two only where starts are compared

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
			if err := f.settle(dir); err != nil {
				return opened, err
			}
		}
	}
	return opened, nil
}

// open opens what there is and reads it.
func (t *Tables) open(dir *inside.Dir, c *Case, compare bool) (err error) {
	names := c.tableNames()
	if t.rows, err = openTable(dir, names[0], rowColumns()); err != nil {
		return err
	}
	if t.elbos, err = openTable(dir, names[1], elboColumns()); err != nil {
		return err
	}
	if err := t.readRows(c); err != nil || !compare {
		return err
	}
	if t.starts, err = openTable(dir, names[2], startsColumns()); err != nil {
		return err
	}
	if t.moreELBOs, err = openTable(dir, names[3], elboColumns()); err != nil {
		return err
	}
	return t.readStarts()
}

// files are those that are open.
func (t *Tables) files() []*tableFile {
	return slices.DeleteFunc([]*tableFile{t.rows, t.elbos, t.starts, t.moreELBOs}, func(f *tableFile) bool { return f == nil })
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
		strconv.Itoa(c.Kernels), c.MedianRise.String(), c.MostRise.String(), c.MostKernel, c.Leader, c.MoreLeader, strconv.FormatBool(c.Changed)}
	if err := add(t.moreELBOs, more, t.starts, cells); err != nil {
		return err
	}
	t.more[c.Seed] = more
	return nil
}

// add writes the local ELBOs of a row and then, when they are on the disk, the row.
func add(elbos *tableFile, r *Row, to *tableFile, cells []string) error {
	var each [][]string
	for _, k := range r.ELBOs {
		each = append(each, []string{strconv.FormatUint(r.Seed, 10), k.ID, files.Number(k.ELBO).String()})
	}
	if err := elbos.write(each); err != nil {
		return err
	}
	return to.write([][]string{cells})
}

// Close closes the files.
func (t *Tables) Close() error {
	var first error
	for _, f := range t.files() {
		if f.File == nil {
			continue
		}
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
	elbos, err := t.elbos.bySeed()
	if err != nil {
		return err
	}
	for i, cells := range t.rows.records {
		r := &Row{Variant: cells[0], Figure: cells[1], Starts: c.Config.Settings.Starts, Truth: text(cells[3]), Leader: text(cells[5]),
			Failure: text(cells[18])}
		p := reader{cells: cells}
		r.Seed, r.Rank = p.seed(2), p.whole(4)
		r.Gap, r.SE, r.Posterior, r.Bayes = p.number(6), p.number(7), p.number(8), p.number(9)
		r.Tied = cells[10] == "true"
		r.LeadFrom, r.FirstAhead, r.EarlyMax = p.optional(11), p.optional(12), p.optional(13)
		r.Violations, r.Pairs, r.Evaluations, r.Seconds = p.whole(14), p.whole(15), p.whole(16), p.number(17)
		r.ExactGap = p.number(19)
		if p.err != nil {
			return t.rows.damaged(i, p.err)
		}
		r.ELBOs, t.known[r.Seed] = elbos[r.Seed], r
	}
	t.elbos.keep(t.known)
	return nil
}

// readStarts reads what is known of more starts.
func (t *Tables) readStarts() error {
	elbos, err := t.moreELBOs.bySeed()
	if err != nil {
		return err
	}
	for i, cells := range t.starts.records {
		p := reader{cells: cells}
		r := &Row{Variant: cells[0], Figure: cells[1], Seed: p.seed(2), Starts: p.whole(4), Leader: text(cells[10])}
		if p.err != nil {
			return t.starts.damaged(i, p.err)
		}
		r.ELBOs, t.more[r.Seed] = elbos[r.Seed], r
	}
	t.moreELBOs.keep(t.more)
	return nil
}

// tableFile is a CSV file that grows.
type tableFile struct {
	*os.File // nil: it is not there yet
	name     string
	header   []string
	records  [][]string // that were there, without the header
	ends     []int64    // of each
	begins   int64      // of the first
	end      int64      // of what stays
}

// openTable opens a table, if it is there, and reads it.
func openTable(dir *inside.Dir, name string, header []string) (*tableFile, error) {
	t := &tableFile{name: name, header: header}
	f, err := dir.OpenToWrite(name)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	t.File = f
	if err := t.read(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// settle makes a table that is not there, with its header, and cuts off what does not
// stay of one that is.
func (t *tableFile) settle(dir *inside.Dir) error {
	dir.RemoveLeftovers(t.name)
	if t.File == nil {
		head, err := files.FormatRows([][]string{slices.Clone(t.header)})
		if err == nil {
			err = dir.ReplaceFile(t.name, head)
		}
		if err == nil {
			t.File, err = dir.OpenToWrite(t.name)
		}
		if err != nil {
			return err
		}
		t.end = int64(len(head))
	}
	if err := t.Truncate(t.end); err != nil {
		return err
	}
	_, err := t.Seek(t.end, io.SeekStart)
	return err
}

// read reads what is there, up to its last whole line.
func (t *tableFile) read() error {
	all, err := io.ReadAll(t.File)
	if err != nil {
		return err
	}
	in := csv.NewReader(bytes.NewReader(all))
	for n := 0; ; n++ {
		cells, err := in.Read()
		if err == io.EOF {
			break
		}
		at := in.InputOffset()
		open := errors.Is(err, csv.ErrQuote) && at == int64(len(all)) // torn behind a line of a text of several
		if open || all[len(all)-1] != '\n' && (err != nil || at == int64(len(all))) {
			break
		}
		switch {
		case err != nil:
			return t.damaged(n-1, err)
		case n == 0 && !slices.Equal(cells, t.header):
			return fmt.Errorf("%s has other columns than this version of kestrel writes; choose another directory with --out", t.Name())
		case n == 0:
			t.begins = at
		default:
			t.records, t.ends = append(t.records, cells), append(t.ends, at)
		}
		t.end = at
	}
	if t.end == 0 {
		return t.damaged(-1, errors.New("its header is torn"))
	}
	return nil
}

// bySeed reads a table of local ELBOs.
func (t *tableFile) bySeed() (map[uint64][]KernelELBO, error) {
	out := map[uint64][]KernelELBO{}
	for i, cells := range t.records {
		p := reader{cells: cells}
		seed, elbo := p.seed(0), p.number(2)
		if p.err != nil {
			return nil, t.damaged(i, p.err)
		}
		out[seed] = append(out[seed], KernelELBO{text(cells[1]), float64(elbo)})
	}
	return out, nil
}

// keep leaves what is before that of a seed that is not known yet: its row was still
// to come.
func (t *tableFile) keep(known map[uint64]*Row) {
	for i, cells := range t.records {
		p := reader{cells: cells}
		if known[p.seed(0)] != nil {
			continue
		}
		t.end = t.begins
		if i > 0 {
			t.end = t.ends[i-1]
		}
		return
	}
}

// write adds rows, all or none, and waits until they are on the disk.
func (t *tableFile) write(rows [][]string) error {
	err := files.AllOrNothing(func() error { return files.WriteRows(t, rows...) }, t.File)
	if err == nil {
		err = t.Sync()
	}
	return err
}

// damaged says where, of the records from 0.
func (t *tableFile) damaged(record int, err error) error {
	return fmt.Errorf("%s is damaged: line %d: %w; remove it, or choose another directory with --out", t.Name(), record+2, err)
}

// text is a cell without what keeps it from starting a formula.
func text(cell string) string {
	if len(cell) > 1 && cell[0] == '\'' && files.SafeCell(cell[1:]) == cell {
		return cell[1:]
	}
	return cell
}

// reader reads cells up to its first error.
type reader struct {
	cells []string
	err   error
}

func (p *reader) note(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *reader) seed(i int) uint64 {
	v, err := strconv.ParseUint(p.cells[i], 10, 64)
	p.note(err)
	return v
}

// whole reads an empty cell as 0.
func (p *reader) whole(i int) int {
	if p.cells[i] == "" {
		return 0
	}
	v, err := strconv.Atoi(p.cells[i])
	p.note(err)
	return v
}

// number reads an empty cell as NaN.
func (p *reader) number(i int) files.Number {
	v := p.optional(i)
	if v == nil {
		return files.Number(math.NaN())
	}
	return files.Number(*v)
}

// optional reads an empty cell as nil.
func (p *reader) optional(i int) *float64 {
	if p.cells[i] == "" {
		return nil
	}
	v, err := strconv.ParseFloat(p.cells[i], 64)
	p.note(err)
	return &v
}
