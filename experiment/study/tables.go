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
)

// Tables are the CSV files of a case, to which a row is added as soon as it is known.
// The local ELBOs of a row are on the disk before it is, so that one that is there
// is whole.
type Tables struct {
	rows, elbos, starts, moreELBOs *tableFile // the last two only where starts are compared

	known map[uint64]*Row // by seed
	more  map[uint64]*Row // with more starts: what a comparison needs of it
}

// OpenTables opens the files of a case in a directory, or makes them. What is known
// there is read, and what a killed process had not completed is cut off.
func OpenTables(dir *inside.Dir, c *Case, compare bool) (opened *Tables, err error) {
	t := &Tables{known: map[uint64]*Row{}, more: map[uint64]*Row{}}
	defer func() {
		if err != nil {
			opened, err = nil, errors.Join(err, t.Close())
		}
	}()
	names := c.tableNames()
	if t.rows, err = openTable(dir, names[0], rowColumns()); err != nil {
		return nil, err
	}
	if t.elbos, err = openTable(dir, names[1], elboColumns()); err != nil {
		return nil, err
	}
	if err := t.readRows(c); err != nil || !compare {
		return t, err
	}
	if t.starts, err = openTable(dir, names[2], startsColumns()); err != nil {
		return nil, err
	}
	if t.moreELBOs, err = openTable(dir, names[3], elboColumns()); err != nil {
		return nil, err
	}
	return t, t.readStarts()
}

// tableNames are the names of the files of a case, those of compared starts last.
func (s *Case) tableNames() []string {
	name := s.Variant.Name + "-" + s.Figure + ".csv"
	return []string{"study-" + name, "study-elbos-" + name, "study-starts-" + name, "study-starts-elbos-" + name}
}

func rowColumns() []string {
	return []string{"variant", "figure", "seed", "truth", "rank", "leader", "gap", "elbo_se", "posterior", "bayes", "tied",
		"lead_from", "first_ahead", "early_max", "violations", "pairs", "evaluations", "seconds", "failure"}
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
		strconv.Itoa(r.Violations), strconv.Itoa(r.Pairs), strconv.Itoa(r.Evaluations), r.Seconds.String(), r.Failure}
	if r.Rank > 0 {
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
	for _, f := range []*tableFile{t.rows, t.elbos, t.starts, t.moreELBOs} {
		if f == nil {
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
		if p.err != nil {
			return t.rows.damaged(i, p.err)
		}
		r.ELBOs, t.known[r.Seed] = elbos[r.Seed], r
	}
	return t.elbos.keep(t.known)
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
	return t.moreELBOs.keep(t.more)
}

// tableFile is a CSV file that grows.
type tableFile struct {
	*os.File
	records [][]string // that were there, without the header
	ends    []int64    // of each
	begins  int64      // of the first
}

// openTable opens a table, or makes it with its header. A torn last line is cut off.
func openTable(dir *inside.Dir, name string, header []string) (_ *tableFile, err error) {
	dir.RemoveLeftovers(name)
	f, err := dir.OpenToWrite(name)
	if errors.Is(err, fs.ErrNotExist) {
		var head []byte
		if head, err = files.FormatRows([][]string{slices.Clone(header)}); err == nil {
			err = dir.ReplaceFile(name, head)
		}
		if err == nil {
			f, err = dir.OpenToWrite(name)
		}
	}
	if err != nil {
		return nil, err
	}
	t := &tableFile{File: f}
	if err := t.read(header); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// read reads what is there, up to its last whole line.
func (t *tableFile) read(header []string) error {
	all, err := io.ReadAll(t.File)
	if err != nil {
		return err
	}
	in := csv.NewReader(bytes.NewReader(all))
	end := int64(0)
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
		case n == 0 && !slices.Equal(cells, header):
			return fmt.Errorf("%s has other columns than this version of kestrel writes; choose another directory with --out", t.Name())
		case n == 0:
			t.begins = at
		default:
			t.records, t.ends = append(t.records, cells), append(t.ends, at)
		}
		end = at
	}
	if end == 0 {
		return t.damaged(-1, errors.New("its header is torn"))
	}
	return t.cut(end)
}

// cut leaves so many bytes, behind which is written.
func (t *tableFile) cut(end int64) error {
	if err := t.Truncate(end); err != nil {
		return err
	}
	_, err := t.Seek(end, io.SeekStart)
	return err
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

// keep cuts off what is of a seed that is not known yet: its row was still to come.
func (t *tableFile) keep(known map[uint64]*Row) error {
	for i, cells := range t.records {
		p := reader{cells: cells}
		if known[p.seed(0)] != nil {
			continue
		}
		if i == 0 {
			return t.cut(t.begins)
		}
		return t.cut(t.ends[i-1])
	}
	return nil
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
