package finding

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
)

// traitKind is what a part of a kernel is, as far as parts of different kernels are compared.
type traitKind int

const (
	repeating traitKind = iota // a pattern of a period
	straight                   // a line
	wandering                  // a level or a slope that wanders
	varying                    // a variation of a length
	stepping                   // a level that steps
	levelled                   // a level for each value of a column
)

// trait is a part of a kernel as others may have it.
type trait struct {
	kind   traitKind
	column int     // the first that it acts on
	period float64 // of what repeats, NaN where nobody knows it
}

const (
	likely      = 0.01 // of the belief: a kernel with less is no likely one
	fewestKnown = 0.98 // of the belief must be known for anything to be said of its sum
	certain     = 0.95 // a sum of the belief from which on a part is certain
	mainly      = 0.5  // a sum of the belief below which a part is open
	idle        = 0.25 // a sum of the belief below which a column seems not to matter
	samePeriod  = 0.05 // of a period, within which patterns are the same
)

// same reports whether parts of two kernels are of one kind.
func (a trait) same(b trait) bool {
	return a.kind == b.kind && a.column == b.column &&
		(a.kind != repeating || !(math.Abs(a.period-b.period) > samePeriod*a.period))
}

// moves reports whether a part says that a level changes, in whatever way.
func (a trait) moves() bool { return a.kind != repeating && a.kind != levelled }

// believed is a kernel that is believed in, and what it has.
type believed struct {
	share   float64
	traits  []trait
	columns []int
}

// shared is what the kernels that are believed in have in common.
type shared struct {
	kernels []believed
	offered []int // columns that some kernel acts on
}

// share is the belief in a kernel, 0 where there is none or nobody knows it.
func share(k *record.Kernel) float64 {
	p := 0.0
	switch {
	case k.Fit != nil:
		p = float64(k.Fit.Posterior)
	case k.Left != nil:
		p = float64(k.Left.Posterior)
	}
	return max(0, p) // NaN stays
}

// sharing is what the kernels of an evaluation share, nil where the belief in them is not known.
func sharing(s *record.Start, e *record.Evaluation) *shared {
	total := 0.0
	for i := range e.Kernels {
		total += share(&e.Kernels[i])
	}
	if !(math.Abs(total-1) <= 1-fewestKnown) {
		return nil
	}
	of, b := options(s), &shared{}
	for i := range e.Kernels {
		k := &e.Kernels[i]
		at := slices.IndexFunc(s.Kernels, func(i record.KernelInfo) bool { return i.ID == k.ID })
		if at < 0 {
			continue
		}
		p := share(k)
		if p*float64(len(e.Kernels)) < likely { // far too little for a sum
			b.offered = append(b.offered, columnsOf(k.ID, of)...)
			continue
		}
		w, components := newSpeller(s, of, &s.Kernels[at], valuesOf(&s.Kernels[at], k))
		if w == nil {
			return nil
		}
		w.brief = true
		one := believed{share: p}
		for c := range components {
			if slices.ContainsFunc(ops(&components[c]), shows) {
				one.traits = append(one.traits, w.traits(&components[c])...)
				one.columns = append(one.columns, w.columnsOf(&components[c])...)
			}
		}
		b.kernels, b.offered = append(b.kernels, one), append(b.offered, columnsOf(k.ID, of)...)
	}
	return b
}

// valuesOf are the hyperparameters of a kernel, NaN where it is not compared any more.
func valuesOf(info *record.KernelInfo, k *record.Kernel) []files.Number {
	if k.Fit != nil {
		return k.Fit.Params
	}
	unknown := make([]files.Number, len(info.Params))
	for i := range unknown {
		unknown[i] = files.Number(math.NaN())
	}
	return unknown
}

// componentColumns are the columns that a component acts on.
func componentColumns(c *kernelspace.Component) (out []int) {
	for _, in := range c.Program.Instrs {
		if in.Op < kernelspace.OpAdd || in.Op == kernelspace.OpStep {
			out = append(out, in.Cols...)
		}
	}
	return out
}

// columnsOf are the columns that a kernel acts on.
func columnsOf(id string, o kernelspace.Options) (out []int) {
	e, err := kernelspace.Parse(id)
	if err != nil {
		return nil
	}
	p, err := kernelspace.Compile(e.Canonical(), o)
	if err != nil {
		return nil
	}
	for _, in := range p.Instrs {
		if in.Op < kernelspace.OpAdd && shows(in.Op) || in.Op == kernelspace.OpStep {
			out = append(out, in.Cols...)
		}
	}
	return out
}

// traits are what a component is: what repeats in it wherever that stands, and what it is
// else.
func (w *speller) traits(c *kernelspace.Component) (out []trait) {
	if c.Expr.IsChange() {
		if c.Expr.IsSteps() {
			return []trait{{stepping, c.Program.Instrs[0].Cols[0], 0}}
		}
		return nil
	}
	leaves := w.leaves(c)
	for i := range leaves {
		l := &leaves[i]
		switch {
		case repeats(l.Op) && l.NumPeriod == 1 && len(l.Cols) == 1 && !w.once(l):
			out = append(out, trait{repeating, l.Cols[0], w.period(l)})
		case l.Op.ByLevel():
			out = append(out, trait{levelled, l.Cols[0], 0})
		}
	}
	if len(out) > 0 {
		return out
	}
	switch l := &leaves[0]; l.Op {
	case kernelspace.OpLIN, kernelspace.OpPoly:
		return []trait{{straight, l.Cols[0], 0}}
	case kernelspace.OpRW, kernelspace.OpIRW:
		return []trait{{wandering, l.Cols[0], 0}}
	case kernelspace.OpSE, kernelspace.OpRQ, kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52:
		return []trait{{varying, l.Cols[0], 0}}
	}
	return nil
}

// with is the belief in kernels that have a part which fits.
func (b *shared) with(fits func(trait) bool) (sum float64) {
	for i := range b.kernels {
		if slices.ContainsFunc(b.kernels[i].traits, fits) {
			sum += b.kernels[i].share
		}
	}
	return sum
}

// in is the belief in kernels with a part like this one; of a line, a step or what wanders
// along time.
func (b *shared) in(t trait) float64 { return b.with(t.same) }

// column is the belief in kernels that act on a column.
func (b *shared) column(at int) (sum float64) {
	for i := range b.kernels {
		if slices.Contains(b.kernels[i].columns, at) {
			sum += b.kernels[i].share
		}
	}
	return sum
}

// claim is something that the leader says, and the belief in kernels that say it, too.
type claim struct {
	text   string
	column string // that it says of that it matters, "" where it says something else
	belief float64
	open   bool // it may as well be nothing, whatever the belief
	way    bool // in which a level moves, whatever else it does
}

// movements are ways in which a level moves.
var movements = map[traitKind]struct{ certain, likely string }{
	straight:  {"a straight line", "that it does so along a straight line"},
	wandering: {"a level that wanders", "that it wanders"},
	varying:   {"a level that varies", "that it varies about a mean"},
	stepping:  {"a level that steps", "that it steps"},
}

// claims are what the leader's parts say, as far as it is worth to be said of each how sure it
// is: what repeats, that a level moves and how it does, which columns matter.
func (r *reading) claims() (claims []claim) {
	info := r.info(r.leader)
	if r.shared == nil || info == nil {
		return nil
	}
	w, components := newSpeller(r.Start, options(r.Start), info, r.leader.Fit.Params)
	if w == nil {
		return nil
	}
	w.brief, w.shared, w.effects = true, r.shared, r.effects()
	add := func(c claim) {
		if !slices.ContainsFunc(claims, func(o claim) bool { return o.text == c.text && o.column == c.column }) {
			claims = append(claims, c)
		}
	}
	inputs := r.Start.Inputs()
	for _, p := range w.pieces(components) {
		if p.of < 0 {
			continue
		}
		for _, t := range w.traits(&components[p.of]) {
			_, _, time := record.TimeScale(&inputs[t.column])
			switch along := time || len(inputs) == 1; {
			case t.kind == repeating:
				add(claim{text: "a " + w.rhythmName(&components[p.of], t) + " pattern", belief: r.shared.in(t),
					open: w.doubtful(&components[p.of])})
			case !along:
				for _, c := range w.columnsOf(&components[p.of]) {
					add(claim{column: words.PlainLine(inputs[c].Name), belief: r.shared.column(c)})
				}
			case t.moves():
				kind := r.shared.in(t)
				any := r.shared.with(func(o trait) bool { return o.moves() && o.column == t.column })
				if kind < certain && any >= certain {
					add(claim{text: "that the level moves", belief: any})
				}
				if way := movements[t.kind]; kind < certain && any >= certain {
					add(claim{text: way.likely, belief: kind, way: true})
				} else {
					add(claim{text: way.certain, belief: kind})
				}
			}
		}
	}
	claims = oneWay(claims)
	slices.SortStableFunc(claims, func(a, b claim) int { return cmp.Compare(a.order(), b.order()) })
	return claims
}

// oneWay says that it is open how a level moves, where several ways are likely at once.
func oneWay(claims []claim) []claim {
	ways := 0
	for _, c := range claims {
		if c.way && c.belief >= mainly {
			ways++
		}
	}
	if ways < 2 {
		return claims
	}
	claims = slices.DeleteFunc(claims, func(c claim) bool { return c.way })
	return append(claims, claim{text: "how the level moves", belief: certain, open: true})
}

// order puts patterns before what they lie on.
func (c *claim) order() int {
	if strings.HasSuffix(c.text, " pattern") {
		return 0
	}
	return 1
}

// rhythmName calls a pattern by how often it repeats.
func (w *speller) rhythmName(c *kernelspace.Component, t trait) string {
	leaves := w.leaves(c)
	for i := range leaves {
		l := &leaves[i]
		if !repeats(l.Op) || l.NumPeriod != 1 || l.Cols[0] != t.column || w.period(l) != t.period {
			continue
		}
		if every := w.calendarPeriod(l); every != "" {
			return map[string]string{"day": "daily", "week": "weekly", "year": "yearly"}[every]
		}
	}
	return "repeating"
}

// plainly says what is certain, what is likely and what is open of what the data show, at most so many of these; "" where that is
// not known, or more is to come.
func (r *reading) plainly(most int) string {
	if !r.whole() || r.outstanding() > 0 || len(r.open) > 0 || r.nothing ||
		r.State == record.Running && r.effects() == nil { // which may leave a pattern open
		return ""
	}
	claims, of := r.claims(), " of the belief"
	var parts []string
	for _, p := range []struct {
		how      string
		from, to float64
	}{{"certain", certain, math.Inf(1)}, {"likely", mainly, certain}, {"open", math.Inf(-1), mainly}} {
		var what, matter, sures []string
		for _, c := range claims {
			if b := c.belief; c.open && p.to != mainly || !c.open && !(b >= p.from && b < p.to) {
				continue
			}
			sure := ""
			if p.from != certain && !(c.open && c.belief >= mainly) {
				sure = " (" + percent(c.belief) + of + ")"
				of = "" // said once
			}
			if c.column != "" {
				matter, sures = append(matter, c.column), append(sures, sure)
			} else {
				what = append(what, c.text+sure)
			}
		}
		if len(matter) == 1 {
			what = append(what, "that "+matter[0]+" matters"+sures[0])
		} else if len(matter) > 0 {
			for i := range matter {
				matter[i] += sures[i]
			}
			what = append(what, "that "+words.Join(matter)+" matter")
		}
		if len(what) > 0 && len(parts) < most {
			parts = append(parts, p.how+": "+words.Join(what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// needless says which columns seem not to matter, "" where none does.
func (r *reading) needless() string {
	inputs := r.Start.Inputs()
	if r.shared == nil || len(inputs) < 2 || !r.whole() {
		return ""
	}
	var names []string
	for i := range inputs {
		if slices.Contains(r.shared.offered, i) && r.shared.column(i) < idle {
			names = append(names, words.PlainLine(inputs[i].Name))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " seems to tell nothing more"
	}
	return words.Join(names) + " seem to tell nothing more"
}

// doubtful reports whether a component is in few of the kernels that are believed in, or not in
// all and as well nothing.
func (w *speller) doubtful(c *kernelspace.Component) bool {
	traits := w.traits(c)
	if w.shared == nil || len(traits) == 0 {
		return false
	}
	belief := w.shared.in(traits[0])
	return belief < mainly || (belief < certain || traits[0].kind == repeating) && w.mayBeNothing(c)
}

// mayBeNothing reports whether sizes of a component are known, and none of them to be other than 0.
func (w *speller) mayBeNothing(c *kernelspace.Component) bool {
	all := w.effectsOf(c)
	return len(all) > 0 && !slices.ContainsFunc(all, func(e record.Effect) bool { return e.Known() })
}
