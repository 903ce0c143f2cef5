package launcher

import (
	"slices"

	"example.com/kestrel/experiment/config"
)

// calendarNames are what data.calendar may hold: that it is left to the data, and columns.
func calendarNames() []string {
	for _, k := range config.Keys() {
		if k.Path == partKeys[calendarPart] {
			return k.Choices
		}
	}
	return nil
}

// stamped reports whether the one input is made of time stamps, of which there is a
// calendar.
func (c *choice) stamped() bool {
	for i, in := range c.inputs {
		if in && c.columns[i].Kind == "time" {
			return c.single() && c.time != "no"
		}
	}
	return false
}

// calendarParts are the settings about the calendar, those of use.
func (c *choice) calendarParts() []part {
	if !c.stamped() {
		return nil
	}
	ps := []part{calendarPart, holidaysPart}
	if len(c.calendar) > 0 || c.holidays.Value() != "" {
		ps = append(ps, zonePart)
	}
	return ps
}

// toggleCalendar takes an input made of the calendar in or out.
func (c *choice) toggleCalendar() {
	names := calendarNames()
	if c.calendarAt >= len(names) {
		return
	}
	name := names[c.calendarAt]
	had := slices.Contains(c.calendar, name)
	var now []string
	for _, n := range names { // in their order
		beside := (n == names[0]) == (name == names[0]) // what is left to the data goes with no column
		if n == name && !had || n != name && beside && slices.Contains(c.calendar, n) {
			now = append(now, n)
		}
	}
	c.calendar = now
}

// calendarSet is what has been changed of the calendar.
func (c *choice) calendarSet(add func(part, config.Override)) {
	if !c.stamped() {
		return
	}
	if !slices.Equal(c.calendar, c.base.Data.Calendar) {
		add(calendarPart, config.ListOverride(partKeys[calendarPart], c.calendar))
	}
	for _, p := range []struct {
		part part
		base string
	}{{holidaysPart, c.base.Data.Holidays}, {zonePart, c.base.Data.Zone}} {
		v := homePath(c.text(p.part).Value())
		if v != p.base && (p.part != zonePart || slices.Contains(c.calendarParts(), zonePart)) {
			add(p.part, config.TextOverride(partKeys[p.part], v))
		}
	}
}
