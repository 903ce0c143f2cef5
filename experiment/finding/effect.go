package finding

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/datasets/transform"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
)

// mostSized is how many parts of a kernel are told with a number: a sentence is short, but
// a table of a season, a trend and a text has each of them.
const mostSized = 3

// oneStep is how many leaves a level with one step has.
const oneStep = 3

// effectsOf are those of a component of the kernel that is put into words. Those of components that are called alike
// stand in their order; where there are not so many groups of them nobody knows whose they are.
func (w *speller) effectsOf(c *kernelspace.Component) (out []record.Effect) {
	id := c.Expr.ID()
	if w.effects == nil {
		return nil
	}
	for _, e := range w.effects.All {
		if e.Part == id && w.amount(float64(e.Mean)) != "" {
			out = append(out, e)
		}
	}
	all := w.alike[id]
	at := slices.Index(all, c.Params[0])
	if at < 0 || len(all) == 1 {
		return out
	}
	groups := grouped(out)
	if len(groups) != len(all) {
		return nil
	}
	return groups[at]
}

// grouped parts the effects of components that are called alike: those of each have the parts of time first, then
// one of each kind and name.
func grouped(all []record.Effect) (groups [][]record.Effect) {
	for _, e := range all {
		n := len(groups)
		if n == 0 || slices.ContainsFunc(groups[n-1], func(o record.Effect) bool {
			return o.Kind == e.Kind && (o.Name == e.Name || e.Kind == record.EffectShape) ||
				e.Kind == record.EffectPart && o.Kind != record.EffectPart
		}) {
			groups, n = append(groups, nil), n+1
		}
		groups[n-1] = append(groups[n-1], e)
	}
	return groups
}

// size writes how large a component is, behind what it is; "" where that is not known, or may be
// 0. What a rhythm says is not said again.
func (w *speller) size(c *kernelspace.Component) string {
	all := w.effectsOf(c)
	if text, levels := w.levels(all); levels {
		return text
	}
	at := slices.IndexFunc(all, func(e record.Effect) bool {
		return e.Kind != record.EffectPart && e.Kind != record.EffectShape && e.Kind != record.EffectStep && e.Known()
	})
	if at < 0 {
		return ""
	}
	best, mean := &all[at], float64(all[at].Mean)
	switch best.Kind {
	case record.EffectSlope:
		per, length := w.per(best.Column)
		return " (" + way(mean, "grows", "falls") + " by " + w.amount(mean*length) + " " + per + w.turnedAt(best.Column) + ")"
	case record.EffectBend:
		per, length := w.per(best.Column)
		return " (its slope is " + w.amount(mean*length) + " " + per + " " + way(mean, "higher", "lower") + " from then on)"
	case record.EffectChange:
		if c.Expr.IsSteps() && c.Expr.NumLeaves() <= oneStep {
			return " (" + w.amount(mean) + " " + way(mean, "higher", "lower") + " from then on)"
		}
		return " (ends " + w.amount(mean) + " " + way(mean, "higher", "lower") + " than it began)"
	case record.EffectSwing:
		if i := slices.IndexFunc(all, func(e record.Effect) bool { return e.Kind == record.EffectShape && e.Known() }); i >= 0 {
			return w.curve(&all[i])
		}
		return " (swings by ±" + w.amount(mean) + ")"
	}
	return ""
}

// stepSizes are by how much a level that changes several times does so at each place, in their order; "" where that is
// not asked for, not known or may be 0.
func (w *speller) stepSizes(c *kernelspace.Component, places int) []string {
	texts := make([]string, places)
	var all []record.Effect
	for _, e := range w.effectsOf(c) {
		if e.Kind == record.EffectStep {
			all = append(all, e)
		}
	}
	if !w.sized || len(all) != places {
		return texts
	}
	for i := range all {
		if v := float64(all[i].Mean); all[i].Known() {
			texts[i] = " (" + way(v, "+", "−") + w.amount(v) + ")"
		}
	}
	return texts
}

// way is a word for up or for down.
func way(v float64, up, down string) string {
	if v < 0 {
		return down
	}
	return up
}

// curve writes how what varies along a column runs, and over how much.
func (w *speller) curve(e *record.Effect) string {
	by := w.amount(float64(e.Mean))
	switch e.Name {
	case record.ShapeRises:
		return " (rises by " + by + w.turnedAt(e.Column) + ")"
	case record.ShapeFalls:
		return " (falls by " + by + w.turnedAt(e.Column) + ")"
	case record.ShapeTop:
		return " (rises to a top at " + e.Against + " and falls, " + by + " from lowest to highest)"
	case record.ShapeBottom:
		return " (falls to a bottom at " + e.Against + " and rises, " + by + " from lowest to highest)"
	}
	return ""
}

// fewLevels is how many levels of a column are all told.
const fewLevels = 3

// levels writes how far levels of a column are apart, of few each from the most frequent one;
// "" where none is known to be; ok is false where there are no levels.
func (w *speller) levels(all []record.Effect) (text string, ok bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(e record.Effect) bool { return e.Kind != record.EffectLevel })
	if len(all) == 0 {
		return "", false
	}
	slices.SortStableFunc(all, func(a, b record.Effect) int { return cmp.Compare(b.Mean, a.Mean) })
	if len(all) >= fewLevels { // and the one that they are told against
		high, low := all[0], all[len(all)-1]
		against := record.Effect{Name: high.Against}
		if high.Mean < 0 {
			high = against
		}
		if low.Mean > 0 {
			low = against
		}
		if !high.Apart(&low) {
			return "", true
		}
		return " (highest " + quoted(high.Name) + ", lowest " + quoted(low.Name) + ", " + w.amount(float64(high.Mean-low.Mean)) + " apart)", true
	}
	var parts []string
	last := ""
	for i := range all {
		e := &all[i]
		if !e.Known() {
			continue
		}
		if side := way(float64(e.Mean), " above", " below"); side == last { // Corvo 7 and Linde 12 below Alba
			parts[len(parts)-1] = strings.TrimSuffix(parts[len(parts)-1], side)
			parts = append(parts, quoted(e.Name)+" "+w.amount(float64(e.Mean))+side)
		} else {
			parts = append(parts, quoted(e.Name)+" "+w.amount(float64(e.Mean))+side)
			last = side
		}
	}
	if len(parts) == 0 {
		return "", true
	}
	return " (" + words.Join(parts) + " " + quoted(all[0].Against) + ")", true
}

// longLevel is of how many characters the name of a level is cut in a sentence.
const longLevel = 24

// quoted is a level as a file calls it, short and without what steers a terminal.
func quoted(level string) string {
	text := []rune(words.PlainLine(level))
	if len(text) > longLevel {
		return string(text[:longLevel-1]) + "…"
	}
	return string(text)
}

// amount writes how far something is to either side in the target's unit, of its logarithm in percent of the
// target, of which nothing is 100 below; "" where another transform has no unit that means anything.
func (w *speller) amount(v float64) string {
	unit := ""
	if c := w.start.Target(); c != nil {
		switch unit = spokenUnit(c); {
		case c.Transform.Identity():
		case c.Transform.Name == transform.Log:
			v, unit = 100*math.Expm1(v), "%"
		default:
			return ""
		}
	}
	v = math.Abs(v)
	digits := 2
	if math.Abs(v) >= 100 {
		digits = 3
	}
	return strings.TrimSpace(words.Significant(v, digits) + " " + unit)
}

// unitsInNames are units that stand behind the name of a column, and how they are written.
var unitsInNames = map[string]string{"eur": "EUR", "usd": "USD", "chf": "CHF", "gbp": "GBP", "mm": "mm", "cm": "cm", "km": "km", "kg": "kg",
	"kwh": "kWh", "mwh": "MWh", "kw": "kW", "mw": "MW", "pct": "%", "percent": "%"}

// things matches the name of a column that calls what it counts.
var things = regexp.MustCompile(`^[a-z]{2,}[b-hj-rtv-z]s$`)

// spokenUnit is the unit of a column, else what its name tells of it: that of takings_eur, or what
// passengers counts.
func spokenUnit(c *datasets.ColumnSummary) string {
	if c.Unit != "" {
		return c.Unit
	}
	if at := strings.LastIndexByte(c.Name, '_'); at > 0 {
		return unitsInNames[strings.ToLower(c.Name[at+1:])]
	}
	if things.MatchString(c.Name) {
		return c.Name
	}
	return ""
}

// per is the length of a column that a slope is told for, and how many of the column's
// units that has: of time the longest unit of which the data have three.
func (w *speller) per(column string) (text string, length float64) {
	inputs := w.start.Inputs()
	at := max(0, slices.IndexFunc(inputs, func(c datasets.ColumnSummary) bool { return c.Name == column }))
	c := &inputs[at]
	_, second, ok := record.TimeScale(c)
	if !ok {
		return "per " + cmp.Or(c.Unit, "unit of "+words.PlainLine(c.Name)), 1
	}
	for _, u := range []struct {
		name    string
		seconds float64
	}{{"a year", 365.2425 * 86400}, {"a month", 365.2425 * 86400 / 12}, {"a week", 7 * 86400}, {"a day", 86400}, {"an hour", 3600},
		{"a minute", 60}} {
		if (c.Max-c.Min)*second >= 3*u.seconds {
			return u.name, u.seconds / second
		}
	}
	return "a second", 1 / second
}

// rhythm says when the data are high and low, of a pattern of a day, a week or a year, and
// by how much where that is asked for.
func (w *speller) rhythm(l *wordLeaf, c *kernelspace.Component) string {
	if w.detail == calm || l.NumPeriod != 1 || len(l.Cols) != 1 || l.Cols[0] != 0 {
		return ""
	}
	_, unit, ok := record.TimeScale(&w.start.Inputs()[0])
	if !ok {
		return ""
	}
	days := w.period(l) * unit / (24 * 3600)
	for every, length := range map[string]float64{"day": 1, "week": 7, "year": 365.25} {
		if math.Abs(days/length-1) >= 0.01 {
			continue
		}
		var high, low record.Effect
		var parts []record.Effect
		for _, e := range w.effectsOf(c) {
			if e.Kind != record.EffectPart {
				continue
			}
			parts = append(parts, e)
			if high.Name == "" || e.Mean > high.Mean {
				high = e
			}
			if low.Name == "" || e.Mean < low.Mean {
				low = e
			}
		}
		at := slices.IndexFunc(w.start.Data.Rhythms, func(r datasets.Rhythm) bool { return r.Every == every })
		switch {
		case at >= 0: // of all that the data show, which one part of the kernel may not
			r := w.start.Data.Rhythms[at]
			high, low = called(parts, high, r.High), called(parts, low, r.Low)
		case high.Name == "" || !high.Known() || !low.Known():
			return ""
		}
		return w.peaks(every, alike(parts, high), alike(parts, low))
	}
	return ""
}

// called is the part of a name, where it cannot be told from an extreme one; else nothing is known of it.
func called(parts []record.Effect, extreme record.Effect, name string) record.Effect {
	for _, e := range parts {
		if e.Name == name && (e.Name == extreme.Name || !e.Apart(&extreme)) {
			return e
		}
	}
	return record.Effect{Name: name}
}

// alike are the parts, which follow each other in a circle, about an extreme one that
// cannot be told from it; it alone where these are all of them or all but one. They are in
// the place of it: of five working days that are equal one is the highest by chance.
func alike(parts []record.Effect, extreme record.Effect) []record.Effect {
	at := slices.IndexFunc(parts, func(e record.Effect) bool { return e.Name == extreme.Name })
	if at < 0 || extreme.SD <= 0 {
		return []record.Effect{extreme}
	}
	n := len(parts)
	same := func(i int) bool { e := &parts[(at+i+n)%n]; return !e.Apart(&extreme) }
	from, to := 0, 0
	for to-from < n-1 && same(to+1) {
		to++
	}
	for to-from < n-1 && same(from-1) {
		from--
	}
	if to-from+1 > n-2 {
		return []record.Effect{extreme}
	}
	var out []record.Effect
	for i := from; i <= to; i++ {
		out = append(out, parts[(at+i+n)%n])
	}
	return out
}

// peaks says when something is high and, where there is room, when low: in the parts of a
// day, a week or a year that are so.
func (w *speller) peaks(every string, high, low []record.Effect) string {
	at, behind := " about ", ""
	switch every {
	case "week":
		at, behind = " on ", "s"
	case "year":
		at = " in "
	}
	against := " the mean" // said once
	when := func(parts []record.Effect) string {
		first, last := parts[0], parts[len(parts)-1]
		text := at + first.Name + behind
		switch len(parts) {
		case 1:
		case 2:
			text += " and " + last.Name + behind
		default:
			text = " from " + first.Name + " to " + last.Name
		}
		mean, known := 0.0, w.sized
		for i := range parts {
			known = known && parts[i].Known()
			mean += float64(parts[i].Mean) / float64(len(parts))
		}
		if known {
			text += " (" + w.amount(mean) + way(mean, " above", " below") + against + ")"
			against = ""
		}
		return text
	}
	text := ", highest" + when(high)
	if w.detail >= highOnly {
		return text
	}
	return text + " and lowest" + when(low)
}

// spread is how far a component goes to both sides of its middle, 0 where that is not known.
func (w *speller) spread(c *kernelspace.Component) float64 {
	low, high, slope, level := 0.0, 0.0, 0.0, 0.0
	for _, e := range w.effectsOf(c) {
		v := float64(e.Mean)
		switch e.Kind {
		case record.EffectSwing:
			return math.Abs(v)
		case record.EffectChange:
			slope = math.Abs(v) / 2
		case record.EffectStep: // behind its change
			level += v
			low, high = min(low, level), max(high, level)
		case record.EffectSlope:
			inputs := w.start.Inputs()
			if at := slices.IndexFunc(inputs, func(c datasets.ColumnSummary) bool { return c.Name == e.Column }); at >= 0 {
				slope = math.Abs(v) * (inputs[at].Max - inputs[at].Min) / 2
			}
		case record.EffectLevel: // the most frequent one is 0
			low, high = min(low, v), max(high, v)
		}
	}
	return max(slope, (high-low)/2)
}

// large reports whether a piece is not small beside the first one by what the data show, whatever
// the kernel would have allowed.
func (w *speller) large(components []kernelspace.Component, first, p piece) bool {
	if first.of < 0 || p.of < 0 {
		return false
	}
	most, own := w.spread(&components[first.of]), w.spread(&components[p.of])
	return most > 0 && own*own >= smallPart*most*most
}
