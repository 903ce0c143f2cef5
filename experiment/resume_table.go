package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
)

// table has a config read the run's table at another path. Where that is another file it
// must have the same rows, and may have more behind them: what the run has decided by
// the first ones stays. It returns what looks at its rows, nil where it is the same file.
func (p *pastRun) table(ctx context.Context, c *config.Config, path string, again bool) (check func(*datasets.Dataset) error, err error) {
	if p.all.Start == nil {
		return nil, fmt.Errorf("its %s does not say what it has read: leave --data out", record.EventsFile)
	}
	was := p.all.Start.Data
	if was.Source == "synthetic" {
		return nil, errors.New("the data of this run were drawn, not read from a table: leave --data out")
	}
	prepare.Elsewhere(c, path)
	if was.Source != "csv" {
		return nil, nil // its sha256 must be the same
	}
	sum, err := datasets.SHA256(ctx, c.Data.Path, nil)
	if err != nil {
		return nil, err
	}
	other := fmt.Sprintf("%q is not the table that the run has read: it has another sha256", path)
	switch {
	case sum == was.SHA256:
		return nil, nil
	case again:
		return nil, fmt.Errorf("%s; --from-start takes that one only, and rows behind it can be added when the run goes on", other)
	case p.saved == nil || p.saved.Marks == nil:
		return nil, fmt.Errorf("%s, and no checkpoint of the run says which rows that had", other)
	}
	c.SHA256 = ""
	if c.Data.FirstRows == 0 {
		c.Data.FirstRows = was.RowsRead
	}
	return func(d *datasets.Dataset) error { return p.sameRows(ctx, c, d) }, nil
}

// sameRows returns an error if a table has not the columns and the rows that the run has
// read.
func (p *pastRun) sameRows(ctx context.Context, c *config.Config, d *datasets.Dataset) error {
	file := filepath.Base(d.Path)
	var was, now []string
	for _, col := range p.all.Start.Data.Columns {
		was = append(was, col.Name)
	}
	for _, col := range append(slices.Clone(d.Inputs), d.Target) {
		now = append(now, col.Name)
	}
	if !slices.Equal(was, now) {
		return fmt.Errorf("%s has the inputs and the target %s, the run has read %s", file, strings.Join(now, ", "), strings.Join(was, ", "))
	}
	m := p.saved.Marks
	from, to, differs := d.Differs(m)
	switch {
	case !differs:
		return nil
	case from >= d.Rows:
		return fmt.Errorf("%s has %s, the run has read %d: those from row %d on are missing", file, words.Count(d.Rows, "row"), m.Rows, from+1)
	}
	line, err := datasets.LineOf(ctx, c.Data, from)
	if err != nil {
		return err
	}
	which := fmt.Sprintf("row %d (line %d) is", from+1, line)
	if to-from > 1 {
		which = fmt.Sprintf("of the rows %d to %d (from line %d on) one is", from+1, to, line)
	}
	return fmt.Errorf("%s of %s not what the run has read there, or rows before it are missing: "+
		"only rows behind those of before can be added; begin a new run with this table", which, file)
}

// newTable is the order that a run be given the table that it has been prepared with;
// nil where that is the one that it has, at the same path.
func (p *pastRun) newTable(j *prepare.Job, path string) *record.Order {
	was, now := p.all.Start, j.Start
	if was.Data.SHA256 == now.Data.SHA256 && path == j.Config.Data.Path {
		return nil
	}
	start := *was
	data := *now.Data
	data.Name = was.Data.Name // which is that of the file, as a rule
	start.Config, start.Data, start.Baselines = now.Config, &data, now.Baselines
	return &record.Order{What: record.EventData, Start: &start, After: p.all.Made}
}

// giveTable gives the run another table on a trainer at rest: the trainer is told of the
// rows that are new.
func (r *Run) giveTable(o record.Order) error {
	was, start := r.start, *o.Start
	more := start.Data.Train - was.Data.Train
	if more > 0 {
		t, ok := r.trainer.(interface{ Grow(rows int) error })
		if !ok {
			return errors.New("this trainer takes no more rows in")
		}
		if err := t.Grow(start.Data.Train); err != nil {
			return err
		}
		r.allow(r.trainer.Planned() - r.standing.Made)
	}
	start.Planned = r.planned()
	r.mu.Lock()
	r.start, r.shown.Start, r.shown.Planned = &start, &start, start.Planned
	r.mu.Unlock()
	r.record(&record.Event{Type: record.EventData, Start: &start,
		Before: &record.Table{Path: was.Data.Path, RowsRead: was.Data.RowsRead, Train: was.Data.Train}})
	if more > 0 {
		r.record(&record.Event{Type: record.EventNotice, Notice: r.whatStays(was, &start)})
	}
	return nil
}

// whatStays says what rows that have come behind others do not change.
func (r *Run) whatStays(was, now *record.Start) string {
	held := ""
	if n := now.Data.Test; n > 0 {
		held = fmt.Sprintf(" and the %d held-out rows", n)
	}
	text := fmt.Sprintf("scaling, priors, seasons, candidate periods%s stay those of the first %d rows of the table; "+
		"the new rows are learned from", held, r.first)
	if a, b := was.Baselines, now.Baselines; a != nil && b != nil && a.Task == record.TaskForecast && b.Task != a.Task {
		text += "; they lie behind the held-out rows, whose scores are those of a gap from here on, not of a forecast"
	}
	return text
}

// unchanged is what a run that has finished answers to a table without new rows.
func (p *pastRun) unchanged(path, table string) error {
	return fmt.Errorf("run %q has finished (%s) and %w: %s has no rows for training behind those that it has learned from; "+
		"kestrel open %s shows it", path, p.all.Reason, ErrComplete, table, path)
}
