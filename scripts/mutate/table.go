package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Verdicts.
const (
	killed     = "killed"
	survived   = "survived"
	unreached  = "not reached"
	equivalent = "equivalent"
	choice     = "choice"
	invalid    = "does not compile"
)

// A row is what has come of a mutant.
type row struct {
	site
	verdict, by string
	seconds     float64
}

// A table is the rows so far, and the file that grows with them.
type table struct {
	rows map[[6]string]row
	anew map[[6]string]bool // those to be tried once more
	same []known
	file *os.File
}

// known is a mutant of which it is known why it is not killed: it is equivalent, it
// changes no behaviour, or another choice, that is as good and that no law rules out.
type known struct{ file, function, before, after, kind, reason string }

var columns = []string{"file", "line", "function", "nth", "operator", "before", "after", "verdict", "by", "seconds"}

// openTable reads what is known of mutants, of each the last. With again those that have
// survived are to be tried once more, but for the named ones.
func openTable(dir string, again bool, same []known) (*table, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	t := &table{rows: map[[6]string]row{}, anew: map[[6]string]bool{}, same: same}
	name := filepath.Join(dir, "mutants.csv")
	cells, err := readCells(name, len(columns))
	if err != nil {
		return nil, err
	}
	var rows []row
	last := map[[6]string]int{}
	for _, c := range cells {
		line, err1 := strconv.Atoi(c[1])
		nth, err2 := strconv.Atoi(c[3])
		seconds, err3 := strconv.ParseFloat(c[9], 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s := site{file: c[0], line: line, function: c[2], nth: nth, operator: c[4], before: c[5], after: c[6]}
		r := row{s, c[7], c[8], seconds}
		last[s.key()] = len(rows)
		rows = append(rows, r)
	}
	if t.file, err = os.Create(name); err != nil {
		return nil, err
	}
	if err := t.write(columns); err != nil {
		return nil, err
	}
	for i, r := range rows {
		if last[r.key()] != i {
			continue
		}
		if err := t.add(r); err != nil {
			return nil, err
		}
		t.anew[r.key()] = again && (r.verdict == survived || r.verdict == unreached) && t.named(r.site) == ""
	}
	return t, nil
}

func (t *table) write(cells []string) error {
	w := csv.NewWriter(t.file)
	if err := w.Write(cells); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// add takes a row, and has it in the file.
func (t *table) add(r row) error {
	t.rows[r.key()] = r
	delete(t.anew, r.key())
	return t.write([]string{r.file, strconv.Itoa(r.line), r.function, strconv.Itoa(r.nth), r.operator, r.before, r.after, r.verdict, r.by,
		strconv.FormatFloat(r.seconds, 'f', 1, 64)})
}

// named is what somebody has said of a mutant, equivalent or choice, "" where nobody has.
func (t *table) named(s site) string {
	for _, k := range t.same {
		if k.file == s.file && k.function == s.function && k.before == s.before && k.after == s.after {
			return k.kind
		}
	}
	return ""
}

// figures prints what has come of groups' mutants, the share that was killed of those
// that are not equivalent, and which nothing has noticed.
func (t *table) figures(to io.Writer, groups []string) {
	verdicts := []string{killed, survived, unreached, choice, equivalent}
	fmt.Fprintf(to, "\n%-20s %5s", "", "tried")
	for _, v := range verdicts {
		fmt.Fprintf(to, " %11s", v)
	}
	fmt.Fprintln(to)
	var left []string
	for _, group := range groups {
		count, all := map[string]int{}, 0
		for _, r := range t.rows {
			if r.verdict == invalid || !strings.HasPrefix(r.file, group+"/") {
				continue
			}
			if named := t.named(r.site); r.verdict != killed && named != "" {
				r.verdict = named
			} else if r.verdict != killed {
				left = append(left, r.text())
			}
			count[r.verdict]++
			all++
		}
		fmt.Fprintf(to, "%-20s %5d", group, all)
		for _, v := range verdicts {
			fmt.Fprintf(to, " %11d", count[v])
		}
		fmt.Fprintf(to, " %6.1f%%\n", 100*float64(count[killed])/float64(max(1, all-count[equivalent])))
	}
	slices.Sort(left)
	for _, l := range left {
		fmt.Fprintf(to, "\n%s\n", l)
	}
}

func (r row) text() string {
	return fmt.Sprintf("%s  %s %s, %.1f s", r.site.text(), r.verdict, r.by, r.seconds)
}

// readKnown reads the kept file of mutants that need not be killed.
func readKnown(name string) ([]known, error) {
	cells, err := readCells(name, 6)
	if err != nil {
		return nil, err
	}
	var all []known
	for _, c := range cells {
		if c[4] != equivalent && c[4] != choice {
			return nil, fmt.Errorf("%s: %q is neither %s nor %s", name, c[4], equivalent, choice)
		}
		all = append(all, known{c[0], c[1], c[2], c[3], c[4], c[5]})
	}
	return all, nil
}

// readCells reads a table with so many columns, without its head; one that is not there
// is empty.
func readCells(name string, columns int) ([][]string, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = columns
	cells, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return cells[min(1, len(cells)):], nil
}
