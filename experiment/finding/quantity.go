package finding

import (
	"math"
	"strconv"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
)

// where names the columns that a leaf acts on if there are others.
func (w *speller) where(l *wordLeaf) string {
	inputs := w.start.Inputs()
	if len(inputs) < 2 {
		return ""
	}
	if len(l.Cols) == len(inputs) {
		return " in all inputs"
	}
	var names []string
	for _, c := range l.Cols {
		names = append(names, inputs[c].Name)
	}
	return " in " + words.Join(names)
}

// namesOf are the columns that a leaf acts on.
func (w *speller) namesOf(l *wordLeaf) string {
	var names []string
	for _, c := range l.Cols {
		names = append(names, w.start.Inputs()[c].Name)
	}
	return words.Join(names)
}

// lengths are those on which a leaf varies; in brief they have two digits, which is what
// is known of them.
func (w *speller) lengths(l *wordLeaf) string {
	text := w.quantities(l.params[1 : 1+l.NumScale])
	number, unit, _ := strings.Cut(text, " ")
	if v, err := strconv.ParseFloat(number, 64); w.brief && err == nil && l.NumScale == 1 {
		return strings.TrimSpace(words.Significant(v, 2) + " " + unit)
	}
	return text
}

// periods are those of a leaf as the rows show them.
func (w *speller) periods(l *wordLeaf) string {
	from := 1 + l.NumScale
	if l.NumPeriod == 1 && len(l.Cols) == 1 {
		return w.quantity(l.params[from], w.period(l))
	}
	return w.quantities(l.params[from : from+l.NumPeriod])
}

// every is how often a leaf repeats: in brief that of the calendar where the data do not tell
// another from it.
func (w *speller) every(l *wordLeaf) string {
	if w.brief {
		if text := calendarTexts[w.calendarPeriod(l)]; text != "" {
			return text
		}
	}
	return w.periods(l)
}

// calendarTexts are the periods of the calendar as they stand behind every.
var calendarTexts = map[string]string{"day": "24 h", "week": "7 days", "year": "year"}

const (
	nearCalendar  = 0.01 // of a period of the calendar, that another may be off
	driftCalendar = 0.25 // of a period, by which patterns of both may differ at the end of the data
)

// calendarPeriod is the period of the calendar, "day", "week" or "year", of which the data do not
// tell that of a leaf along time; "" where there is none.
func (w *speller) calendarPeriod(l *wordLeaf) string {
	if l.NumPeriod != 1 || len(l.Cols) != 1 {
		return ""
	}
	c := &w.start.Inputs()[l.Cols[0]]
	_, second, ok := record.TimeScale(c)
	if !ok {
		return ""
	}
	for name, days := range calendarDays {
		off := math.Abs(w.period(l)*second/86400 - days)
		if off < nearCalendar*days && off*(c.Max-c.Min)*second/86400 < driftCalendar*days*days {
			return name
		}
	}
	return ""
}

// calendarDays are the periods of the calendar.
var calendarDays = map[string]float64{"day": 1, "week": 7, "year": 365.25}

// period is that of a leaf along one column as its rows show it.
func (w *speller) period(l *wordLeaf) float64 {
	v, c := float64(w.values[l.params[1+l.NumScale]]), &w.start.Inputs()[l.Cols[0]]
	if !c.Regular {
		return v
	}
	return datasets.OnGrid(v, c.Spacing, c.Max-c.Min)
}

// quantities writes lengths in the unit of their column, lengths of time in
// words; several with their columns.
func (w *speller) quantities(places []int) string {
	var parts []string
	for _, i := range places {
		text := w.quantity(i, float64(w.values[i]))
		if p := &w.info.Params[i]; len(places) > 1 && p.Column != "" {
			text += " in " + p.Column
		}
		parts = append(parts, text)
	}
	return words.Join(parts)
}

// quantity writes a value of the hyperparameter at a place.
func (w *speller) quantity(place int, v float64) string {
	p := &w.info.Params[place]
	if text := w.start.InWords(p, v); text != "" {
		return text
	}
	if p.Unit == kernelspace.Standardised {
		return words.WithUnit(v, "standard deviations")
	}
	text := words.WithUnit(v, p.Unit)
	if inputs := w.start.Inputs(); p.Unit == "" && len(inputs) == 1 { // of several it is named anyway
		text += " (" + words.PlainLine(inputs[0].Name) + ")"
	}
	return text
}

// centre says where a linear leaf is 0.
func (w *speller) centre(l *wordLeaf) string {
	inputs := w.start.Inputs()
	var parts []string
	for _, c := range l.Cols {
		at := "0"
		for _, f := range w.info.Fixed {
			if f.Name == l.name+".centre" && f.Column == inputs[c].Name {
				at = w.place(c, f.Value)
			}
		}
		parts = append(parts, inputs[c].Name+" = "+at)
	}
	return words.Join(parts)
}

// place writes a value of an input for reading, a time stamp as a date.
func (w *speller) place(column int, v float64) string {
	c := &w.start.Inputs()[column]
	if t, ok := record.TimeColumn(c); ok {
		return t.At(v).Format("2006-01-02 15:04")
	}
	return strings.TrimSpace(words.Significant(v, 5) + " " + c.Unit)
}
