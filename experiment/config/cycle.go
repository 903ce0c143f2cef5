package config

import (
	"fmt"
	"math"

	"example.com/kestrel/datasets"
	"example.com/kestrel/vbks/periods"
)

// mostCycleSteps is how many times as many steps as rows a series may have, or those between its rows are made up.
const mostCycleSteps = 2

// cycleOf looks for a cycle in the training rows of a series that its calendar does not know, and says, in
// steps, which there is, and how many of the calendar's seasons show beside it.
func cycleOf(d *datasets.Dataset) (cycle float64, shown int) {
	s := d.Series
	if len(s.Seasons) == 0 || d.Dim != 1 { // any period is tried, or columns of the calendar say when
		return 0, len(s.Seasons)
	}
	y := onGrid(d)
	seasons := make([]float64, len(s.Seasons))
	for i, v := range s.Seasons {
		seasons[i] = v / s.Step
	}
	if cycle = periods.Cycle(y, seasons); cycle == 0 {
		return 0, len(s.Seasons)
	}
	for _, ok := range periods.Shown(y, seasons) {
		if ok {
			shown++
		}
	}
	return cycle, shown
}

// onGrid are the targets of the training rows of a series at even steps: of several in one step the mean, where
// there is none between its neighbours; nil where few steps have any.
func onGrid(d *datasets.Dataset) []float64 {
	rows := inTime(d)
	first, last := d.Row(int(rows[0]))[0], d.Row(int(rows[len(rows)-1]))[0]
	steps := math.Round((last-first)/d.Series.Step) + 1
	if !(steps <= mostCycleSteps*float64(len(rows))) {
		return nil
	}
	sums, counts := make([]float64, int(steps)), make([]float64, int(steps))
	for i, y := range d.Targets(rows) {
		at := int(math.Round((d.Row(int(rows[i]))[0] - first) / d.Series.Step))
		sums[at] += y
		counts[at]++
	}
	before := 0
	for at := range sums {
		if counts[at] == 0 {
			continue
		}
		sums[at] /= counts[at]
		for i := before + 1; i < at; i++ {
			share := float64(i-before) / float64(at-before)
			sums[i] = (1-share)*sums[before] + share*sums[at]
		}
		before = at
	}
	return sums
}

// withCycle gives the kernels of a series the cycle that is stated, or that its values show, and says with how many
// others of the calendar.
func (c *Config) withCycle(d *datasets.Dataset) (seasons int) {
	s := d.Series
	seasons = len(s.Seasons)
	switch {
	case c.Data.Cycle == 0:
		return seasons
	case c.Data.Cycle > 0:
		return seasons + 1
	case c.Data.Season > 0:
		c.Data.Cycle = 0
		return seasons
	}
	cycle, shown := cycleOf(d)
	if c.Data.Cycle = cycle; cycle == 0 {
		return seasons
	}
	s.Cycle = cycle * s.Step
	beside := "beside its seasons"
	if shown == 0 {
		beside = "in the place of its seasons, which do not show"
	}
	d.Notices = append(d.Notices, fmt.Sprintf(
		"%s seems to repeat every %s, which is no season of the calendar: kernels have this period %s (data.cycle = 0 goes without)",
		d.Target.Name, s.CycleText(), beside))
	return shown + 1
}
