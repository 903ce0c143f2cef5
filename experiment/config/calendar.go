package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/datasets/habits"
	"example.com/kestrel/vbks/periods"
)

// CalendarOpen reports whether it is left to the data which inputs are made of the calendar.
func (c *Config) CalendarOpen() bool { return slices.Equal(c.Data.Calendar, []string{autoText}) }

const (
	// With so many training rows a series is dense: kernels in time alone, whose inducing inputs then lie
	// far apart, resolve no day, and seasons that go together, such as hours that differ from weekday to weekday
	// and from summer to winter, are products of too many leaves.
	denseRows = 5000
	// So many years must have been seen: else what the days have in common leaves a level that the calendar knows
	// nothing of, and which kernels in time alone follow better.
	fewestYears = 2
	yearDays    = 365.25
	// swissgrid is the source of the Swiss grid's tables.
	swissgrid = "swissgrid"
)

// SettleCalendar decides which inputs are to be made of the calendar, where that is open, by data that have none
// yet, and returns why there are some: the kernels are open, too, and it is a dense series of years by time
// stamps within days, which is to be forecast and whose values show a day, but no cycle that the calendar does
// not know. Then the config says a time zone and holidays, too, if it says none: of a source whose country is known,
// else what the rows show that people live by (datasets/habits).
func (c *Config) SettleCalendar(d *datasets.Dataset) (notice string) {
	if !c.CalendarOpen() {
		return ""
	}
	c.Data.Calendar = nil
	s := d.Series
	switch {
	case !c.Kernels.Undecided() || s == nil || d.Dim != 1 || !d.Inputs[0].Time || len(d.Train) <= denseRows:
		return ""
	case c.Data.Cycle > 0 || c.Data.Season > 0 || c.Data.Group != "":
		return ""
	case !slices.Contains([]string{autoText, "x", "rows"}, c.Data.SplitBy):
		return "" // rows that are missing lie among those known
	case slices.Contains(append(datasets.CalendarNames(), datasets.HolidayName), d.Inputs[0].Name):
		return ""
	}
	first := d.Times(d.Train)
	days := (slices.Max(first) - slices.Min(first)) * d.Days(0)
	if 2*s.Step*d.Days(0) > 1 || days < fewestYears*yearDays || len(s.Seasons) == 0 {
		return ""
	}
	if c.Data.Cycle < 0 {
		if cycle, _ := cycleOf(d); cycle > 0 {
			return ""
		}
	}
	if shown := periods.Shown(onGrid(d), []float64{s.Seasons[0] / s.Step}); !shown[0] {
		return ""
	}
	c.Data.Calendar = datasets.CalendarNames()
	notice = fmt.Sprintf("%s shows the day: %s of the calendar are inputs (data.calendar = [] goes without)",
		d.Target.Name, strings.Join(c.Data.Calendar, ", "))
	if c.Data.Source == swissgrid {
		c.Data.Zone, c.Data.Holidays = cmp.Or(c.Data.Zone, "Europe/Zurich"), cmp.Or(c.Data.Holidays, "CH")
	} else {
		notice += c.settleHabits(d)
	}
	var more []string
	if c.Data.Holidays == "" {
		more = append(more, `data.holidays = "DE" or another country's code`)
	}
	if c.Data.Zone == "" {
		more = append(more, `data.zone = "Europe/Berlin" or another one, if the stamps are not on the clock that people live by`)
	}
	if len(more) > 0 {
		notice += "; say more with " + strings.Join(more, " and ")
	}
	return notice
}

// settleHabits says the zone and the holidays that the training rows of a series show, where the config says none, and
// returns what it has found, to be added to a notice.
func (c *Config) settleHabits(d *datasets.Dataset) (notice string) {
	times := d.Times(d.Train)
	at, y := make([]float64, len(times)), make([]float64, len(times))
	for i, r := range d.Train {
		at[i], y[i] = float64(d.Inputs[0].At(times[i]).UnixMicro())/1e6, d.Y[r]
	}
	known := c.Data.Zone != ""
	clock, written := d.Clock()
	var found habits.Zone
	keeps := func(name string) bool {
		zone, err := time.LoadLocation(name)
		return err == nil && d.Keeps(zone)
	}
	switch {
	case known:
	case clock == datasets.ClockSeveral:
		if i := slices.IndexFunc(habits.Clocks(), keeps); i >= 0 {
			c.Data.Zone = habits.Clocks()[i]
		}
	case clock == datasets.ClockOne:
		if zone, ok := habits.FindZone(at, y); ok {
			c.Data.Zone, found = zone.Name, zone
		}
	}
	var rest habits.Rest
	sure := c.Data.Holidays != ""
	if !sure {
		zone := written
		if c.Data.Zone != "" && clock != datasets.ClockUnsaid {
			zone, _ = time.LoadLocation(c.Data.Zone)
		}
		rest, _ = habits.FindHolidays(at, y, zone)
		c.Data.Holidays, sure = rest.Code, rest.Sure()
	}
	if c.Data.Zone != "" && !known {
		if its := habits.ZoneOf(c.Data.Holidays, c.Data.Zone, at); sure && (clock == datasets.ClockOne || keeps(its)) {
			c.Data.Zone = its
		}
		if found.Changes > 0 {
			notice = fmt.Sprintf("; its days move with summer time, in %d of %d changes: data.zone = %q",
				found.Followed, found.Changes, c.Data.Zone)
		} else {
			notice = fmt.Sprintf("; its stamps are by one clock: data.zone = %q", c.Data.Zone)
		}
	}
	if rest.Days > 0 {
		notice += fmt.Sprintf("; %d of %d holidays of %s, on working days, are as no others: data.holidays = %q",
			rest.Kept, rest.Days, rest.Code, rest.Code)
	}
	if notice != "" {
		notice += ` (state others if that is wrong; data.calendar = ["` + strings.Join(c.Data.Calendar, `", "`) + `"] takes what is stated alone)`
	}
	return notice
}

// dense reports whether a series has very many rows and the calendar as inputs, its year, too: kernels and weights are
// then others.
func dense(d *datasets.Dataset) bool {
	columns := d.Calendar()
	return len(d.Train) > denseRows && slices.Contains(columns, "hour") && slices.Contains(columns, "yearday")
}
