package kernelspace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParamName names a hyperparameter of all kernels that have it, as in PER.period,
// PER#2.period or SE.lengthscale[temperature].
type ParamName struct {
	Base   string // base kernel, or CP; "" for the noise
	Number int    // of such leaves of a kernel, counted from 1; 0: all
	Name   string // as Param.Name
	Root   bool   // meant is the root of it: an amplitude, the noise's standard deviation
	Column string // input that it acts on alone, by name or number; "": any
}

// Other names than those of raw parameters: roots of a variance.
const (
	nameAmplitude     = "amplitude"
	nameNoise         = "noise"
	nameNoiseVariance = "noise_variance"
)

// hyperparameters are the names that a leaf of a kind has.
func (b *baseInfo) hyperparameters() []string {
	if b.op == OpStep {
		return []string{namePlace, nameWidth}
	}
	names := []string{nameAmplitude, nameVariance}
	if b.scale != scaleNone {
		names = append(names, nameLengthscale)
	}
	if b.periods {
		names = append(names, namePeriod)
	}
	if b.shape != "" {
		names = append(names, b.shape)
	}
	return names
}

// ParamNames lists what hyperparameters may be called, without numbers and columns.
func ParamNames() []string {
	out := []string{nameNoise, nameNoiseVariance}
	for i := range bases {
		for _, name := range bases[i].hyperparameters() {
			out = append(out, bases[i].name+"."+name)
		}
	}
	return out
}

// ParseParamName reads a name: noise, noise_variance, or BASE.name, where a number #n
// behind BASE means the n-th such leaf of a kernel and a column in brackets behind
// the name leaves that act on that alone. BASE may be any name of a base kernel.
func ParseParamName(text string) (ParamName, error) {
	var n ParamName
	rest := strings.TrimSpace(text)
	if at := strings.IndexByte(rest, '['); at >= 0 {
		if !strings.HasSuffix(rest, "]") {
			return n, fmt.Errorf("%s: the column stands at the end in brackets, as in SE.lengthscale[x]", text)
		}
		n.Column = strings.TrimSpace(rest[at+1 : len(rest)-1])
		if c, err := strconv.Unquote(n.Column); err == nil {
			n.Column = c
		}
		if n.Column == "" {
			return n, fmt.Errorf("%s: no column stands in the brackets", text)
		}
		rest = strings.TrimSpace(rest[:at])
	}
	base, name, dotted := strings.Cut(rest, ".")
	unknown := func(written string) error {
		msg := "no hyperparameter " + written
		if near := nearest(written, ParamNames()); near != "" {
			return fmt.Errorf("%s: did you mean %s?", msg, near)
		}
		return fmt.Errorf("%s; write BASE.name, such as PER.period, or %s", msg, nameNoise)
	}
	if !dotted {
		switch {
		case strings.EqualFold(rest, nameNoise):
			n.Name, n.Root = nameVariance, true
		case strings.EqualFold(rest, nameNoiseVariance):
			n.Name = nameVariance
		default:
			return n, unknown(rest)
		}
		if n.Column != "" {
			return n, fmt.Errorf("%s: the noise acts on no column", text)
		}
		return n, nil
	}
	base, number, numbered := strings.Cut(base, "#")
	if numbered {
		var err error
		if n.Number, err = strconv.Atoi(strings.TrimSpace(number)); err != nil || n.Number < 1 {
			return n, fmt.Errorf("%s: %s#%s: leaves are counted from 1, as in PER#2.period", text, base, number)
		}
	}
	base, name = strings.TrimSpace(base), strings.ToLower(strings.TrimSpace(name))
	b, ok := baseNamed(base)
	if strings.EqualFold(base, nameChange) {
		b, ok = baseStep, true
	}
	if !ok {
		return n, unknown(base + "." + name)
	}
	info := b.info()
	names := info.hyperparameters()
	if !slices.Contains(names, name) {
		if near := nearest(name, names); near != "" {
			return n, fmt.Errorf("no hyperparameter %s.%s: did you mean %s.%s?", info.name, name, info.name, near)
		}
		return n, fmt.Errorf("no hyperparameter %s.%s; %s has %s", info.name, name, info.name, strings.Join(names, ", "))
	}
	n.Base, n.Name = info.name, name
	if name == nameAmplitude {
		n.Name, n.Root = nameVariance, true
	}
	return n, nil
}

// String writes the name as ParseParamName reads it, the same for equal ones.
func (n ParamName) String() string {
	name := n.Name
	switch {
	case n.Base == "" && n.Root:
		return nameNoise
	case n.Base == "":
		return nameNoiseVariance
	case n.Root:
		name = nameAmplitude
	}
	text := n.Base
	if n.Number > 0 {
		text += "#" + strconv.Itoa(n.Number)
	}
	if text += "." + name; n.Column != "" {
		text += "[" + n.Column + "]"
	}
	return text
}

// Variance reports whether it is a variance, or the root of one, which has the unit of the
// target unless it is relative.
func (n ParamName) Variance() bool { return n.Name == nameVariance }

// Specific is how much a name says: of two that name one hyperparameter that which says
// more counts.
func (n ParamName) Specific() int {
	specific := 0
	if n.Number > 0 {
		specific += 2
	}
	if n.Column != "" {
		specific++
	}
	return specific
}

// Miss is why a name means nothing in a kernel; the greatest of all kernels is what to
// tell.
type Miss uint8

const (
	NoSuchLeaf    Miss = iota // the kernel has no such base kernel
	NoSuchNumber              // not so many of them
	NoSuchParam               // no such parameter, which depends on how it is compiled
	OtherColumn               // none that acts on the column alone
	CarriedByRest             // another amplitude stands for it
)

// Find lists the places in p.Params of the free parameters that a name means, the noise's
// being len(p.Params), or says why there are none. column is where n.Column is among
// the inputs, −1 for any.
func (p *Program) Find(n ParamName, column int) (places []int, why Miss) {
	if n.Base == "" {
		return []int{len(p.Params)}, 0
	}
	leaves := p.leafInstrs()
	leaf, number := -1, 0
	miss := func(m Miss) { why = max(why, m) }
	for i := range p.Own().Params {
		q := &p.Params[i]
		if q.Base != n.Base {
			continue
		}
		if q.Leaf != leaf {
			leaf = q.Leaf
			number++
			miss(NoSuchNumber)
		}
		if n.Number > 0 && number != n.Number {
			continue
		}
		miss(NoSuchParam)
		if q.Name != n.Name {
			continue
		}
		on := leaves[q.Leaf].Cols
		alone := q.Column == column || q.Column < 0 && len(on) == 1 && on[0] == column
		switch {
		case column >= 0 && !alone:
			miss(OtherColumn)
		case !q.Free:
			miss(CarriedByRest)
		default:
			places = append(places, i)
		}
	}
	return places, why
}

// Columns returns the inputs that raw parameter i stands for.
func (p *Program) Columns(i int) []int {
	_, columns := p.leafOf(i)
	return columns
}

// Level returns the value of the column that raw parameter i is of, where Params[i].Level is not 0.
func (p *Program) Level(i int) float64 {
	in, _ := p.leafOf(i)
	return in.Levels[p.Params[i].Level-1]
}

// Backwards reports whether the value of raw parameter i falls as it is told in data units.
func (p *Program) Backwards(i int) bool { return i < len(p.Params) && p.Params[i].Name == nameOrigin }

// LeafNames names the leaves: "PER", or "PER#1" and "PER#2" where a base kernel appears
// more than once; those of a linear mean "mean LIN" and "mean CONST".
func (p *Program) LeafNames() []string {
	var bases []string
	count := map[string]int{}
	for i, q := range p.Params {
		if q.Leaf != len(bases) {
			continue
		}
		name := q.Base
		if i >= len(p.Own().Params) {
			name = "mean " + name
		}
		bases = append(bases, name)
		count[name]++
	}
	seen := map[string]int{}
	for i, b := range bases {
		if count[b] > 1 {
			seen[b]++
			bases[i] = fmt.Sprintf("%s#%d", b, seen[b])
		}
	}
	return bases
}
