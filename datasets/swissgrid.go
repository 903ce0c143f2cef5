package datasets

import (
	"fmt"
	"math"
	"time"
)

// swissgridFile is read where a Spec names no file.
const swissgridFile = "swissgrid/total-consumption-15min-2009-2014.csv.xz"

const secondsPerDay = 86400

// swissgrid names the columns of the Swissgrid table: utc_start, local_label,
// mwh, dst_order_guessed.
func (s *Spec) swissgrid() {
	if s.Path == "" {
		s.Path = swissgridFile
	}
	if s.Name == "" {
		s.Name = "swissgrid"
	}
	s.Header, s.Delimiter = "yes", ","
	s.Inputs, s.Target = []string{"utc_start"}, "mwh"
}

// swissgrid turns the stamps into days and looks for gaps in the grid of
// quarter hours.
func (d *Dataset) swissgrid() {
	d.Target.Unit = "MWh"
	col := &d.Inputs[0]
	if !col.Time {
		d.Notices = append(d.Notices, "utc_start holds no time stamps; taken as days")
		col.Unit = "d"
		return
	}
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
	for i := range d.X {
		d.X[i] /= secondsPerDay
	}
	col.Unit = "d"
}
