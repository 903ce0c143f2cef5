package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/datasets/jumps"
	"example.com/kestrel/datasets/relevance"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/local"
)

// SettleTask decides what is left to what the data are: a series in time is
// forecast, other data have gaps to be filled.
func (c *Config) SettleTask(d *datasets.Dataset) {
	if share := &c.Settings.Growth.Stated; *share < 0 {
		if *share = vbks.StatedShare; c.Kernels.Undecided() && d.Series == nil { // a list for any table, which nobody believes in
			*share = 0
		}
	}
	if c.Kernels.Undecided() {
		seasons := 0
		if d.Series != nil {
			seasons = c.withCycle(d)
		}
		switch s := d.Series; {
		case s == nil && d.Dim > 1 && d.Source != "synthetic":
			c.Kernels.Set, c.Kernels.Expressions = "", kernelspace.Table(tableColumns(d))
		case s == nil:
			c.Kernels.Set, c.Kernels.Base, c.Kernels.Depth = "", defaultBase(), defaultDepth
		case seasons < 2:
			c.Kernels.Set = "series"
		default:
			c.Kernels.Set = fmt.Sprintf("series%d", min(3, seasons))
		}
		if d.Series != nil {
			c.withSteps(d)
		}
		defer c.onCalendar(d, true)
	} else if strings.HasPrefix(c.Kernels.Set, "series") {
		defer c.onCalendar(d, false)
	}
	c.Data.Cycle = max(0, c.Data.Cycle) // it was looked for, or whoever chose the kernels wants none
	if c.Settings.Priors == autoText {
		c.Settings.Priors = "broad"
		if strings.HasPrefix(c.Kernels.Set, "series") {
			c.Settings.Priors = "series"
		}
	}
	if none := vbks.CalibrateNames()[0]; d.Series == nil && c.Settings.Calibrate != none {
		d.Notices = append(d.Notices, fmt.Sprintf("predict.calibrate is %q: without time there are no rolling origins", none))
		c.Settings.Calibrate = none
	}
	if c.Settings.Local == local.Neighbours && d.Dim > 1 && !d.Among() && (d.Series == nil || !slices.Contains(d.Calendar(), "hour")) {
		d.Notices = append(d.Notices, fmt.Sprintf("predict.local is %q: neighbours are those in one input, in time on the clock, or, "+
			"where rows are held out among the others, in a table", local.None))
		c.Settings.Local = local.None
	}
	switch {
	case c.Settings.Weights == vbks.OriginsWeights && d.Series == nil:
		d.Notices = append(d.Notices, fmt.Sprintf("predict.weights is %q: without time there are no rolling origins", posteriorText))
		c.Settings.Weights = posteriorText
	case c.Settings.Weights != autoText:
	case d.Series == nil:
		c.Settings.Weights = posteriorText
	case dense(d):
		c.Settings.Weights = vbks.OriginsWeights
	default:
		c.Settings.Weights = vbks.TemperedWeights
	}
}

// posteriorText has kernels weighed by the belief.
const posteriorText = "posterior"

// withSteps adds levels with steps to the kernels of a series whose training rows have some: else what
// wanders must explain them, and then it may do so again at any time.
func (c *Config) withSteps(d *datasets.Dataset) {
	found, rows := JumpsOf(d)
	if len(found) == 0 {
		return
	}
	plain := c.Kernels.Set
	c.Kernels.Set += kernelspace.Steps
	var places []string
	for _, j := range found {
		v := d.Row(int(rows[j.At]))[0]
		places = append(places, fmt.Sprintf("by %+.3g at %s", j.Size, d.Inputs[0].Written(v)))
	}
	if len(places) > mostPlaces {
		places = append(places[:mostPlaces], fmt.Sprintf("%d times more", len(places)-mostPlaces))
	}
	d.Notices = append(d.Notices, fmt.Sprintf(
		"the level of %s seems to change %s: kernels with steps are tried, too (kernels.set = %q goes without)",
		d.Target.Name, strings.Join(places, ", "), plain))
}

// JumpsOf finds where the level of a series changes, in its training rows, which are returned in the order of time.
func JumpsOf(d *datasets.Dataset) (found []jumps.Jump, rows []int32) {
	rows = inTime(d)
	return jumps.Find(d.Targets(rows), d.Series.Season, steps(d.Times(rows), d.Series.Step)), rows
}

// steps are times in steps from the first one: where rows are missing the season goes on.
func steps(times []float64, step float64) []int {
	out := make([]int, len(times))
	for i, v := range times {
		out[i] = int(math.Round((v - times[0]) / step))
	}
	return out
}

// inTime are the training rows of a series in the order of time.
func inTime(d *datasets.Dataset) []int32 {
	rows := slices.Clone(d.First())
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(d.Row(int(a))[0], d.Row(int(b))[0]) })
	return rows
}

// mostPlaces, and pairs of columns, are named in a notice.
const mostPlaces = 3

// How many levels a category has of which some may be alike, and how many rows each on average.
const leastAlike, mostAlike, rowsAlike = 3, 12, 5

// distinct is how many values a column of rows has.
func distinct(x []float64, dim, column int) int {
	seen := map[float64]bool{}
	for at := column; at < len(x); at += dim {
		seen[x[at]] = true
	}
	return len(seen)
}

// tableColumns are the inputs of a table by what they seem to say of the target, that of
// the training rows, and which pairs of them say more than their sum, in a notice, too.
func tableColumns(d *datasets.Dataset) (out []kernelspace.TableColumn, together [][2]int) {
	rows := d.First()
	x := make([]float64, 0, len(rows)*d.Dim)
	for _, r := range rows {
		x = append(x, d.Row(int(r))...)
	}
	levels, names := make([]bool, d.Dim), map[string]int{}
	for i := range d.Inputs {
		levels[i] = d.Inputs[i].Categorical()
		names[d.Inputs[i].Name]++
	}
	alone := relevance.Order(x, d.Dim, d.Targets(rows), levels)
	place := make([]int, d.Dim)
	for i, f := range alone {
		place[f.Column] = i
		in := &d.Inputs[f.Column]
		c := kernelspace.TableColumn{Name: in.Name, Number: f.Column + 1, Tells: f.Tells, Time: in.Type == datasets.TypeTime,
			Quantity: !in.Categorical(), Levels: in.Categorical() || in.Type == datasets.TypeFew}
		if names[in.Name] > 1 {
			c.Name = ""
		}
		n := distinct(x, d.Dim, f.Column)
		c.Alike = c.Levels && n >= leastAlike && n <= mostAlike && n*rowsAlike <= len(rows)
		out = append(out, c)
	}
	var told []string
	for _, p := range relevance.Pairs(x, d.Dim, d.Targets(rows), levels, alone) {
		together = append(together, [2]int{place[p.A], place[p.B]})
		told = append(told, fmt.Sprintf("%s and %s", d.Inputs[p.A].Name, d.Inputs[p.B].Name))
	}
	if len(told) > 0 {
		if more := len(told) - mostPlaces; more > 0 {
			told = append(told[:mostPlaces], fmt.Sprintf("%d pairs more", more))
		}
		d.Notices = append(d.Notices, fmt.Sprintf("what one column does to %s seems to depend on another: products are tried of %s",
			d.Target.Name, strings.Join(told, "; ")))
	}
	return out, together
}

// onCalendar has the kernels of a space of series act on time, where there are columns
// beside it that are made of it, and adds those that are of the calendar, too.
func (c *Config) onCalendar(d *datasets.Dataset, more bool) {
	columns := d.Calendar()
	if len(columns) == 0 {
		return
	}
	kernels, err := kernelspace.OnCalendar(c.Kernels.Set, d.Inputs[0].Name, columns, more)
	if more && dense(d) {
		kernels, err = kernelspace.OnDense(d.Inputs[0].Name, columns)
	}
	if err != nil { // no such space, which is told where kernels are read
		return
	}
	c.Kernels.Set, c.Kernels.Expressions = "", kernels
}

// SettleData puts into a config which files its data have been read from, so that
// it says the same in any working directory, and what they held.
func (c *Config) SettleData(d *datasets.Dataset) {
	c.SettleTask(d)
	c.SettleFiles(d)
}

// SettleFiles is SettleData for the files alone: of several series each decides what is
// left to it.
func (c *Config) SettleFiles(d *datasets.Dataset) {
	if d.Source == "synthetic" {
		return
	}
	c.Data.Path, c.SHA256 = files.Absolute(d.Path), d.SHA256
	holidays, sum := d.Holidays()
	if holidays != "" {
		c.HolidaysSHA = sum
	}
	if d.Mask != "" {
		c.MaskSHA256 = d.MaskSHA256
	}
	for _, file := range []struct {
		key   *string
		found string
	}{{&c.Data.Mask, d.Mask}, {&c.Data.Locations, d.Locations}, {&c.Data.Holidays, holidays}} {
		if *file.key != "" && file.found != "" {
			*file.key = files.Absolute(file.found)
		}
	}
}
