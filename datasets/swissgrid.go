package datasets

import (
	"context"
	"fmt"
	"math"
	"time"
)

// swissgridFile is read where a Spec names no file.
const swissgridFile = "swissgrid/total-consumption-15min-2009-2014.csv.xz"

// swissgridInput is the input: the start of the quarter hour, in UTC.
const swissgridInput = "utc_start"

const secondsPerDay = 86400

// loadSwissgrid reads the table of consumption or Swissgrid's own workbooks,
// whichever the path holds. The path is a file, a folder of workbooks, a
// pattern such as "swissgrid/*.xls", or several of these, separated as in
// $PATH.
func loadSwissgrid(ctx context.Context, s *Spec) (d *Dataset, kept []int32, err error) {
	if s.Path == "" {
		s.Path = swissgridFile
	}
	if s.Name == "" {
		s.Name = "swissgrid"
	}
	files, path, err := findWorkbooks(ctx, s.Path, s.SearchDirs)
	if err != nil {
		return nil, nil, err
	}
	if files != nil {
		return loadWorkbooks(ctx, s, files, path)
	}
	s.Header, s.Delimiter = "yes", ","
	s.Inputs = []string{swissgridInput}
	if s.Target == "" {
		s.Target = "mwh"
	}
	if d, kept, err = loadTable(ctx, s); err != nil {
		return nil, nil, err
	}
	d.Target.Unit = "MWh"
	if !d.Inputs[0].Time {
		d.Notices = append(d.Notices, "utc_start holds no time stamps; taken as days")
		d.Inputs[0].Unit = "d"
		return d, kept, nil
	}
	d.Inputs[0].local = false // but UTC, by its name
	d.quarterHours()
	return d, kept, nil
}

// quarterHours looks for gaps in the grid of quarter hours and turns the
// stamps into days.
func (d *Dataset) quarterHours() {
	col := &d.Inputs[0]
	const step = 15 * time.Minute
	gaps, widest, at, backwards := 0, 0.0, 0.0, 0
	for i := 1; i < len(d.X); i++ {
		gap := d.X[i] - d.X[i-1]
		switch {
		case gap <= 0:
			backwards++
		case math.Abs(gap-step.Seconds()) > 1e-6:
			gaps++
			if gap > widest {
				widest, at = gap, d.X[i-1]
			}
		}
	}
	if gaps > 0 {
		d.Notices = append(d.Notices, fmt.Sprintf("the time grid has %s other than 15 min, the widest %s after %s", plural(gaps, "step"),
			HumanDuration(widest), col.Origin.Add(time.Duration(at*1e9)).Format("2006-01-02 15:04")))
	}
	if backwards > 0 {
		d.Notices = append(d.Notices, fmt.Sprintf("the time stamps do not ascend at %s", plural(backwards, "row")))
	}
	d.inDays(0)
}

// inDays turns the seconds of a time column into days.
func (d *Dataset) inDays(column int) {
	for i := column; i < len(d.X); i += d.Dim {
		d.X[i] /= secondsPerDay
	}
	d.Inputs[column].Unit = "d"
}
