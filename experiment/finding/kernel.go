package finding

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
)

// speller puts a kernel with its hyperparameters into words.
type speller struct {
	start  *record.Start
	info   *record.KernelInfo
	values []files.Number // as record.KernelInfo.Params
	names  []string       // of the leaves
	line   bool           // a linear function of the inputs is added
	brief  bool           // what it is and how long, not how large

	fit     *record.Fit     // that the values are of, nil where only they are known
	effects *record.Effects // of the kernel's components, nil where they are not known
	shared  *shared         // by the kernels that are believed in, nil where that is not known
	parts   []kernelspace.Component
	alike   map[string][]int // of components by what they are called the first of their hyperparameters, in order
	detail  detail
	sized   bool // with how much higher and lower a pattern is then
}

// Kernel says in plain English what functions a kernel stands for: its
// additive components one by one, with their scales in the units of the data,
// and the noise. It is "" where the kernel cannot be taken apart.
func Kernel(s *record.Start, o kernelspace.Options, info *record.KernelInfo, values []files.Number) string {
	return inFull(s, o, info, values, nil)
}

func inFull(s *record.Start, o kernelspace.Options, info *record.KernelInfo, values []files.Number, fit *record.Fit) string {
	w, components := newSpeller(s, o, info, values)
	if w == nil {
		return ""
	}
	w.fit = fit
	line := "" // of a mean function, which stands behind the kernel's own
	if w.line {
		line = " It is added to a linear function of the inputs, which has been learned with it."
	}
	parts := w.components(components)
	text := "It is " + parts[0]
	if n := len(parts); n > 1 {
		text = fmt.Sprintf("It is the sum of %d parts: %s; and %s", n, strings.Join(parts[:n-1], "; "), parts[n-1])
	}
	noise := ""
	if v := float64(values[len(values)-1]); v >= 0 {
		noise = " Observations scatter about it with a standard deviation of " + words.WithUnit(math.Sqrt(v), w.targetUnit()) + "."
	}
	return text + "." + line + noise
}

// InFull is Kernel of a kernel with the hyperparameters of its fit, "" where it has none.
func InFull(s *record.Start, k *record.Kernel) string {
	at := slices.IndexFunc(s.Kernels, func(i record.KernelInfo) bool { return i.ID == k.ID })
	if at < 0 || k.Fit == nil {
		return ""
	}
	return inFull(s, options(s), &s.Kernels[at], k.Fit.Params, k.Fit)
}

// newSpeller takes a kernel apart; it is nil where that cannot be done.
func newSpeller(s *record.Start, o kernelspace.Options, info *record.KernelInfo, values []files.Number) (w *speller,
	parts []kernelspace.Component) {
	e, err := kernelspace.Parse(info.ID)
	if err != nil {
		return nil, nil
	}
	p, err := kernelspace.Compile(e.Canonical(), o)
	if err != nil || len(values) < len(p.Params)+1 || len(info.Params) != len(values) {
		return nil, nil
	}
	components, err := p.Components()
	if err != nil || len(components) == 0 {
		return nil, nil
	}
	w = &speller{start: s, info: info, values: values, names: p.LeafNames(), line: len(values) > len(p.Params)+1, alike: map[string][]int{}}
	for i := range components {
		if c := &components[i]; len(c.Params) > 0 {
			w.alike[c.Expr.ID()] = append(w.alike[c.Expr.ID()], c.Params[0])
		}
	}
	w.parts = components
	return w, components
}

func (w *speller) targetUnit() string {
	if c := w.start.Target(); c != nil {
		return c.ModelledUnit()
	}
	return ""
}

// wordLeaf is a leaf of a component.
type wordLeaf struct {
	*kernelspace.Instr
	params []int // places in record.KernelInfo.Params
	name   string
}

// bearsLittle is the bearing of what says more than a straight line does.
const bearsLittle = 5

// bearing orders the leaves of a product: the first one is what the component
// is, the others say how it changes.
func (l *wordLeaf) bearing() int {
	switch l.Op {
	case kernelspace.OpWhite:
		return 0
	case kernelspace.OpCat, kernelspace.OpLevels:
		return 8
	case kernelspace.OpPER:
		return 1
	case kernelspace.OpCos:
		return 2
	case kernelspace.OpSE, kernelspace.OpRQ, kernelspace.OpMatern12, kernelspace.OpMatern32, kernelspace.OpMatern52:
		return 3
	case kernelspace.OpRW, kernelspace.OpIRW:
		return 4
	case kernelspace.OpPoly:
		return bearsLittle
	case kernelspace.OpLIN:
		return 6
	}
	return 7
}

// component describes a product of leaves.
func (w *speller) component(c *kernelspace.Component) string {
	if c.Expr.IsChange() {
		return w.change(c)
	}
	if slices.ContainsFunc(c.Program.Instrs, func(in kernelspace.Instr) bool { return in.Op == kernelspace.OpChange }) {
		return "the product " + c.Expr.String() // no words for how one changes the other
	}
	leaves := w.leaves(c)
	variance, stationary := 1.0, true
	for i := range leaves {
		l := &leaves[i]
		variance *= float64(w.values[l.params[0]])
		switch l.Op {
		case kernelspace.OpLIN, kernelspace.OpPoly, kernelspace.OpRW, kernelspace.OpIRW:
			stationary = false
		}
	}
	text := w.head(&leaves[0], c)
	if len(leaves) == 1 {
		text += w.reach(&leaves[0])
	}
	lines := map[string]int{} // factors LIN, by where they are 0
	var order []string
	var firsts []*wordLeaf // of order
	for i := range leaves[1:] {
		l := &leaves[1+i]
		if l.Op == kernelspace.OpLIN {
			at := w.centre(l)
			if lines[at] == 0 {
				order = append(order, at)
			}
			if lines[at]++; lines[at] == 1 {
				firsts = append(firsts, l)
			}
		} else if m := w.modifier(l); m != "" {
			if w.brief && w.apart(l, &leaves[0]) {
				m = w.together(l, m)
			}
			text += ", " + m
		}
	}
	if leaves[0].Op == kernelspace.OpLIN {
		// A product of straight lines only.
		if w.brief && len(leaves) == 2 && len(firsts) == 1 && w.apart(firsts[0], &leaves[0]) {
			return text + " whose slope" + w.growing(firsts[0])
		}
		degree := 0
		for _, at := range order {
			degree += lines[at]
		}
		if degree > 0 {
			text = fmt.Sprintf("a product of %d straight lines%s", degree+1, w.where(&leaves[0]))
		}
		return text + w.amplitude(variance, stationary)
	}
	for i, at := range order {
		if w.brief && lines[at] == 1 && w.apart(firsts[i], &leaves[0]) {
			if i == 0 && !strings.Contains(text, ", ") {
				text += " that"
			} else {
				text += ", which"
			}
			text += w.growing(firsts[i])
			continue
		}
		grows := map[int]string{1: "in proportion to the distance from ", 2: "with the square of the distance from ",
			3: "with the cube of the distance from "}[lines[at]]
		if grows == "" {
			grows = fmt.Sprintf("with the power %d of the distance from ", lines[at])
		}
		if w.brief {
			text += ", growing"
			continue
		}
		text += ", growing " + grows + at
	}
	return text + w.amplitude(variance, stationary)
}

// leaves are those of a product, what bears most first.
func (w *speller) leaves(c *kernelspace.Component) (leaves []wordLeaf) {
	for i := range c.Program.Instrs {
		in := &c.Program.Instrs[i]
		if in.Op >= kernelspace.OpAdd {
			continue
		}
		leaves = append(leaves, wordLeaf{in, c.Params[in.Off : in.Off+in.NumParams()], w.names[c.Leaves[len(leaves)]]})
	}
	bearing := func(l *wordLeaf) int {
		if w.once(l) {
			return bearsLittle
		}
		return l.bearing()
	}
	slices.SortStableFunc(leaves, func(a, b wordLeaf) int { return cmp.Compare(bearing(&a), bearing(&b)) })
	return leaves
}

// components describes the parts of a sum.
func (w *speller) components(components []kernelspace.Component) (parts []string) {
	for i := range components {
		parts = append(parts, w.component(&components[i]))
	}
	return parts
}

// amplitude says how far a stationary component goes as a rule.
func (w *speller) amplitude(variance float64, stationary bool) string {
	if w.brief || !stationary || !(variance > 0) || math.IsInf(variance, 0) {
		return ""
	}
	return " (standard deviation " + words.WithUnit(math.Sqrt(variance), w.targetUnit()) + ")"
}

// head says what a leaf is, the first one of a component.
func (w *speller) head(l *wordLeaf, c *kernelspace.Component) string {
	in, long := w.where(l), " with a length scale of "
	if w.brief {
		long = " over about "
	}
	if w.beyond(l, farBeyond) {
		return "a drift" + in + " longer than the data"
	}
	if w.once(l) {
		if len(l.Cols) > 1 {
			return "a variation" + in
		}
		return mayBe + "a pattern" + in + " that repeats every " + w.every(l)
	}
	if w.brief && l.ownLengths() {
		if what := map[kernelspace.Op]string{kernelspace.OpSE: "a smooth variation", kernelspace.OpRQ: "a variation on many scales",
			kernelspace.OpMatern12: "a rough variation", kernelspace.OpMatern32: "a fairly rough variation",
			kernelspace.OpMatern52: "a fairly smooth variation"}[l.Op]; what != "" {
			return what + w.varying(l)
		}
	}
	switch l.Op {
	case kernelspace.OpSE:
		return "a smooth variation" + in + long + w.lengths(l)
	case kernelspace.OpRQ:
		if w.brief {
			return "a variation" + in + " on many scales about " + w.lengths(l)
		}
		return "a variation" + in + " on many length scales about " + w.lengths(l)
	case kernelspace.OpMatern12:
		return "a rough variation" + in + ", nowhere smooth," + long + w.lengths(l)
	case kernelspace.OpMatern32:
		return "a fairly rough variation" + in + long + w.lengths(l)
	case kernelspace.OpMatern52:
		return "a fairly smooth variation" + in + long + w.lengths(l)
	case kernelspace.OpPER:
		return "a pattern" + in + " that repeats every " + w.every(l) + w.rhythm(l, c)
	case kernelspace.OpCos:
		return "a sine wave" + in + " with a period of " + w.periods(l)
	case kernelspace.OpLIN:
		if w.brief {
			return "a straight line" + in
		}
		return "a straight line" + in + ", 0 at " + w.centre(l)
	case kernelspace.OpRW:
		return "a level that wanders" + in
	case kernelspace.OpIRW:
		return "a slope that wanders" + in
	case kernelspace.OpPoly:
		return fmt.Sprintf("a polynomial of degree %d%s", l.Degree, in)
	case kernelspace.OpWhite:
		return "noise that no other row shares"
	case kernelspace.OpConst:
		return "a constant"
	case kernelspace.OpCat, kernelspace.OpLevels:
		if w.brief {
			return "a level for each value of " + w.namesOf(l) + someAlike(l)
		}
		return "a level of its own for each value of " + w.namesOf(l) + someAlike(l)
	}
	return l.name
}

// someAlike says of levels with a length each that they may have something in common.
func someAlike(l *wordLeaf) string {
	if l.Op == kernelspace.OpLevels {
		return ", some alike"
	}
	return ""
}

// reach says how far RW and IRW along one input go over all of it, from the level or
// line that they begin with.
func (w *speller) reach(l *wordLeaf) string {
	if w.brief || l.Op != kernelspace.OpRW && l.Op != kernelspace.OpIRW || len(l.Cols) != 1 {
		return ""
	}
	c := &w.start.Inputs()[l.Cols[0]]
	v := float64(w.values[l.params[0]]) * kernelspace.Walked(l.Op, c.Max-c.Min)
	if !(v > 0) || math.IsInf(v, 0) {
		return ""
	}
	from := "where it began"
	if l.Op == kernelspace.OpIRW {
		from = "the line that it began with"
	}
	length := words.WithUnit(c.Max-c.Min, c.Unit)
	if _, unit, ok := record.TimeScale(c); ok {
		length = datasets.HumanDuration((c.Max - c.Min) * unit)
	}
	return " (over all " + length + " by a standard deviation of " + words.WithUnit(math.Sqrt(v), w.targetUnit()) +
		" from " + from + ")"
}

// mayBe is before a pattern that the data do not show twice.
const mayBe = "what may be "

// farBeyond is how many times the range of its column a length scale is that is not told
// in brief.
const farBeyond = 3

// beyond reports whether a leaf that is told in brief varies on lengths of more than so many
// times the range of the data.
func (w *speller) beyond(l *wordLeaf, times float64) bool {
	stationary := slices.Contains([]kernelspace.Op{kernelspace.OpSE, kernelspace.OpRQ, kernelspace.OpMatern12, kernelspace.OpMatern32,
		kernelspace.OpMatern52}, l.Op)
	if !w.brief || !stationary || len(l.Cols) != 1 || l.NumScale != 1 {
		return false
	}
	c := &w.start.Inputs()[l.Cols[0]]
	return c.Max > c.Min && float64(w.values[l.params[1]]) > times*(c.Max-c.Min)
}

// once reports whether a leaf that is told in brief has a period that the data do not
// show twice.
func (w *speller) once(l *wordLeaf) bool {
	if !w.brief {
		return false
	}
	inputs, from := w.start.Inputs(), 1+l.NumScale
	for i, p := range l.params[from : from+l.NumPeriod] {
		c := &inputs[l.Cols[min(i, len(l.Cols)-1)]]
		if span := c.Max - c.Min; span > 0 && 2*float64(w.values[p]) > span {
			return true
		}
	}
	return false
}
