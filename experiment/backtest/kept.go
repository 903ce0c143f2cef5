package backtest

import (
	"errors"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
)

// form is how the forecasts of a task stand in a table.
type form struct {
	methods []string // of each step, a row each
	width   int      // of a row
	cells   func(r *Row) []string
	read    func(cells []string) (Row, error)
}

// formOf is the form of the forecasts from an origin, or beyond the end.
func formOf(origin int) form {
	if origin == BeyondEnd {
		return form{[]string{Kestrel}, len(aheadColumns("")), (*Row).aheadCells, readAhead}
	}
	return form{Methods(), len(columns()), (*Row).cells, readRow}
}

func (f *form) cellsOf(rows []Row) [][]string {
	out := make([][]string, len(rows))
	for i := range rows {
		out[i] = f.cells(&rows[i])
	}
	return out
}

// check returns an error unless a row is the i-th of a task of a series.
func (f *form) check(r *Row, i int, t task, series string) error {
	if r.Series != series || r.Origin != t.origin || r.Method != f.methods[i%len(f.methods)] || r.Step != 1+i/len(f.methods) {
		return errNotTheRow
	}
	return nil
}

// kept is a table of forecasts, which grows by those of one task after the other.
type kept struct {
	form
	*series.Table
	name    string
	columns []string
}

// keep lists the tables that a backtest needs.
func (b *Backtest) keep() {
	for _, t := range b.tasks() {
		if t.origin == BeyondEnd && b.ahead == nil {
			b.ahead = &kept{form: formOf(BeyondEnd), name: record.AheadFile, columns: aheadColumns(b.input)}
		} else if t.origin != BeyondEnd && b.past == nil {
			b.past = &kept{form: formOf(t.origin), name: record.ForecastsFile, columns: columns()}
		}
	}
}

// tables are those that there are.
func (b *Backtest) tables() (all []*kept) {
	for _, k := range []*kept{b.past, b.ahead} {
		if k != nil {
			all = append(all, k)
		}
	}
	return all
}

// tableOf is where the forecasts of a task stand.
func (b *Backtest) tableOf(t task) *kept {
	if t.origin == BeyondEnd {
		return b.ahead
	}
	return b.past
}

// openTables opens the tables and reads them; then, if nothing is wrong with any, cuts off
// what was not written whole.
func (b *Backtest) openTables() (err error) {
	dir := b.dir.Owner.Dir
	for _, k := range b.tables() {
		if k.Table, err = series.OpenTable(dir, k.name, k.columns); err != nil {
			return err
		}
		if err = b.read(k); err != nil {
			return err
		}
	}
	for _, k := range b.tables() {
		if err = k.Settle(dir); err != nil {
			return err
		}
	}
	return nil
}

// closeTables closes those that are open.
func (b *Backtest) closeTables() (err error) {
	for _, k := range b.tables() {
		if k.Table != nil {
			err = errors.Join(err, k.Close())
		}
	}
	return err
}

// read takes over the forecasts that are there. Those of a task are written at
// once: where the last ones are not all there a process was killed.
func (b *Backtest) read(k *kept) error {
	places := map[string]int{}
	for i, s := range b.Series {
		places[s.Name] = i
	}
	n := b.Horizon * len(k.methods)
	for from := 0; from < len(k.Records); from += n {
		if from+n > len(k.Records) {
			k.Leave(from)
			return nil
		}
		var t task
		rows := make([]Row, n)
		for i := range rows {
			var err error
			if rows[i], err = k.form.read(k.Records[from+i]); err != nil {
				return k.Damaged(from+i, err)
			}
			r := &rows[i]
			at, known := places[r.Series]
			if i == 0 {
				t = task{at, r.Origin}
			}
			if !known || !b.has(t) || b.tableOf(t) != k || b.known[t] != nil {
				return k.Damaged(from+i, errNotTheRow)
			}
			if err := k.check(r, i, t, b.Series[t.series].Name); err != nil {
				return k.Damaged(from+i, err)
			}
		}
		b.known[t] = rows
	}
	return nil
}
