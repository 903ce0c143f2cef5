package kernelspace

import (
	"slices"
	"strings"
)

// On returns an expression whose leaves that name no column act on these; others stay.
func (e Expr) On(names ...string) Expr {
	if e.root == nil {
		return e
	}
	var columns []column
	for _, n := range names {
		columns = append(columns, column{name: n})
	}
	return Expr{e.root.mapLeaves(func(n *node) *node {
		if len(n.scope.columns) > 0 {
			return n
		}
		scoped := *n
		scoped.scope.columns = slices.Clone(columns)
		return &scoped
	})}
}

// onCalendar returns the text of an SE over some columns, with a length scale for each.
func onCalendar(columns []string) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = column{name: c}.text(false)
	}
	if len(columns) == 1 {
		return "SE[" + names[0] + "]"
	}
	return "SE[" + strings.Join(names, ",") + ";ard]"
}

// Terms of the calendar beside a level of a series, by the space that its seasons ask
// for: C is an SE over all columns of the calendar, with a length scale for each; two of
// them have what days have in common and what each has for itself. Seasons
// of time alone are among them, since the calendar may say nothing.
var calendarTerms = map[string][]string{
	"SERIES":  {"+PER", "+PER*SE", "+C", "+C+C", "+PER+C", "+PER*C", "+PER*SE+C"},
	"SERIES2": {"+PER*PER", "+PER*PER*SE", "+C", "+C+C", "+PER+C", "+PER*C", "+PER*PER+C"},
	"SERIES3": {"+PER*PER", "+PER*PER+PER", "+C", "+C+C", "+PER+C", "+PER*C", "+PER*PER+C"},
}

// What levels with a step, or with two, have beside them: fewer of these.
var calendarSteps = map[string][]string{"SERIES": {"+PER", "+C", "+PER+C"}, "SERIES2": {"+PER*PER", "+C", "+PER*PER+C"},
	"SERIES3": {"+PER*PER", "+C", "+PER*PER+C"}}

// Terms of the calendar beside a level of a dense series: C over all its columns and R over those that every
// day has, without holidays. Where there are none of these another C does, and what the hours of the days of a
// week have in common.
var (
	denseTerms   = []string{"+C", "+C+R", "+PER*PER+C"}
	plainTerms   = []string{"+C", "+C+C", "+PER*PER+C"}
	denseWithout = []string{"+PER*PER", "+PER*PER+PER"} // seasons of time alone, since the calendar may say nothing
)

// denseLevels are those of a dense series whose year the calendar knows: inducing inputs lie so far apart there that
// a level that wanders ends where the last weeks were, which says nothing of the months ahead.
func denseLevels() []string { return []string{"CONST", "LIN+CONST", "LIN+SE+CONST"} }

// holidayColumn is the one that not every day has.
const holidayColumn = "holiday"

// OnDense returns the kernels of a series of very many rows within days as text, on the column of time and those
// of the calendar, the day of the year among them: few levels, none that wanders, with terms of the calendar.
func OnDense(time string, columns []string) ([]string, error) {
	every := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return c == holidayColumn })
	terms := plainTerms
	if len(every) < len(columns) && len(every) > 0 {
		terms = denseTerms
	}
	var seasons []string
	for _, t := range slices.Concat(terms, denseWithout) {
		t = strings.ReplaceAll(t, "C", onCalendar(columns))
		if len(every) > 0 {
			t = strings.ReplaceAll(t, "+R", "+"+onCalendar(every))
		}
		seasons = append(seasons, t)
	}
	kernels, err := series(denseLevels(), seasons...)
	if err != nil {
		return nil, err
	}
	return onTime(kernels, time), nil
}

// onTime has leaves that name no column act on time.
func onTime(kernels []Expr, time string) (texts []string) {
	for _, e := range kernels {
		texts = append(texts, e.On(time).Canonical().ID())
	}
	return texts
}

// OnCalendar returns the kernels of a space of series as text, on the column of time:
// those of the space itself, or, with terms of the calendar, every level with what
// repeats in time, with the other columns, which are of the calendar, and with both,
// added or multiplied.
func OnCalendar(set, time string, columns []string, terms bool) ([]string, error) {
	var kernels []Expr
	var err error
	if terms {
		leaf := onCalendar(columns)
		seasons := func(of map[string][]string, set string) (out []string) {
			for _, t := range of[set] {
				out = append(out, strings.ReplaceAll(t, "C", leaf))
			}
			return out
		}
		plain, steps := strings.CutSuffix(strings.ToUpper(set), strings.ToUpper(Steps))
		kernels, err = series(append(levels(), "CONST"), seasons(calendarTerms, plain)...) // the calendar may be all that there is
		if steps && err == nil {
			var more []Expr
			more, err = series(stepped(), seasons(calendarSteps, plain)...)
			kernels = append(kernels, more...)
		}
	} else {
		kernels, err = Set(set)
	}
	if err != nil {
		return nil, err
	}
	return onTime(kernels, time), nil
}
