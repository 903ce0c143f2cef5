package datasets

import (
	"context"
	"fmt"
	"slices"
)

// Group is one of the series of a table.
type Group struct {
	Name string   // as it stands in the column; "" where no column names series
	Data *Dataset // its rows, not divided; none where all were dropped
}

// Groups loads the series that Spec.Group tells apart, in the order of the file, each
// with the rows that have its name: one, where none is named or Spec.GroupValue is
// one. Notices, the same in each, are of the table. Window divides them. Errors are
// those of Load, but for what concerns the division.
func Groups(ctx context.Context, spec Spec) ([]Group, error) {
	s, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	if s.Source == "synthetic" {
		d, err := generate(ctx, &s)
		return []Group{{"", d}}, err
	}
	d, kept, err := read(ctx, &s)
	if err != nil {
		return nil, err
	}
	if d.rows = kept; d.groups == nil {
		return []Group{{"", d}}, nil
	}
	if s.GroupValue != "" {
		if d, _, err = d.meant(&s, kept); err != nil {
			return nil, err
		}
		return []Group{{s.GroupValue, d}}, nil
	}
	if len(d.groups.names) == 0 {
		return nil, fmt.Errorf("%s: the column %s, which is to name the series (data.group), is empty", d.file(), quoteText(s.Group))
	}
	rows := d.groups.rows()
	if n := slices.Index(d.groups.of, -1); n >= 0 {
		d.Notices = append(d.Notices, d.unnamed(&s))
	}
	var out []Group
	for i, name := range d.groups.names {
		out = append(out, Group{name, d.pick(rows[i])})
	}
	return out, nil
}

// meant leaves the rows of the series that s means, and says which of the file's
// they are.
func (d *Dataset) meant(s *Spec, kept []int32) (*Dataset, []int32, error) {
	names := d.groups.names
	at := slices.Index(names, s.GroupValue)
	switch {
	case len(names) == 0:
		return nil, nil, fmt.Errorf("%s: the column %s, which is to name the series (data.group), is empty", d.file(), quoteText(s.Group))
	case s.GroupValue == "" && len(names) > 1:
		return nil, nil, fmt.Errorf("%s: the column %s names %d series; kestrel backtest forecasts each of them, "+
			"or choose one with data.group_value, of %s", d.file(), quoteText(s.Group), len(names), quoteList(names))
	case s.GroupValue == "":
		at = 0
	case at < 0:
		near := ""
		if name, ok := nearest(s.GroupValue, names); ok {
			near = fmt.Sprintf("did you mean %s? ", quoteText(name))
		}
		return nil, nil, fmt.Errorf("%s: no row has %s in the column %s (data.group_value); %sthere are %s", d.file(), quoteText(s.GroupValue),
			quoteText(s.Group), near, quoteList(names))
	}
	if slices.Contains(d.groups.of, -1) {
		d.Notices = append(d.Notices, d.unnamed(s))
	}
	rows := d.groups.rows()[at]
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("%s: no rows are left of the series %s: a value is missing in each", d.file(), quoteText(names[at]))
	}
	d.rows = kept
	out := d.pick(rows)
	return out, out.rows, nil
}

func (d *Dataset) unnamed(s *Spec) string {
	n := 0
	for _, at := range d.groups.of {
		if at < 0 {
			n++
		}
	}
	return fmt.Sprintf("%s without a name in the column %s (data.group) left out", plural(n, "row"), quoteText(s.Group))
}

// pick leaves some rows, in the given order, not divided.
func (d *Dataset) pick(rows []int32) *Dataset {
	out := *d
	out.X, out.Y = make([]float64, 0, len(rows)*d.Dim), d.Targets(rows)
	for _, r := range rows {
		out.X = append(out.X, d.Row(int(r))...)
	}
	if out.rows = rows; d.rows != nil {
		out.rows = picked(d.rows, rows)
	}
	if d.offsets != nil {
		out.offsets = picked(d.offsets, rows)
	}
	out.groups, out.NoiseSD = out.groups.keep(rows), d.NoiseOf(rows)
	out.Dropped.Others += d.N() - len(rows)
	out.Notices = slices.Clip(d.Notices) // each has its own behind these
	out.Train, out.Test, out.Series = nil, nil, nil
	return &out
}

// Window returns the first rows by the first input, so many for training and behind
// them so many held out, as a dataset of its own: nothing of it is known of later
// rows. It has the columns of the calendar. Of spec, Time and Season decide what series
// it is, Order and Seed the order of the training rows. Errors: fewer rows than that.
func (d *Dataset) Window(spec Spec, train, test int) (*Dataset, error) {
	s, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	if train < 0 || test < 0 || train+test > d.N() {
		return nil, fmt.Errorf("%s: has %s, not %d and %d behind them", d.file(), plural(d.N(), "row"), train, test)
	}
	rows := counted(d.N())
	d.sortByFirst(rows)
	w := d.pick(rows[:train+test])
	all := counted(train + test)
	w.Train, w.Test, w.SplitBy = all[:train:train], all[train:], "x"
	if err := w.findSeries(&s); err != nil {
		return nil, err
	}
	if err := w.addCalendar(); err != nil {
		return nil, err
	}
	if err := w.findNoiseBy(&s); err != nil {
		return nil, err
	}
	w.order(&s)
	return w, nil
}
