package kernelspace

import (
	"slices"
	"strings"
)

// TableColumn is an input of a table, as its space of kernels is made of it.
type TableColumn struct {
	Name     string
	Number   int  // from 1: taken where the name is "", or is not the only one of its kind
	Time     bool // something may repeat along it
	Quantity bool // near values are alike
	Levels   bool // it may be levels of a category; of few numbers both
	Tells    bool // it seems to say something of the target
	Alike    bool // it has some levels of enough rows each, of which a few may be alike
}

// How much of a table its space takes up, whatever it has.
const (
	mostTerms  = 4 // quantities that have terms of their own, in every mix of curves and lines
	mostCats   = 3 // categories
	mostOthers = 3 // columns that seem to say nothing and are tried one by one
	mostAdded  = 8 // quantities with a term of their own, in one sum
	mostPairs  = 4 // pairs of columns that are tried alone; all are tried one more after the other
	mostThrees = 2 // of columns each pair of which matters
)

// tableSpace is a space that is being put together.
type tableSpace struct {
	texts []string
	seen  map[string]bool
}

func (s *tableSpace) add(terms ...string) {
	terms = slices.DeleteFunc(terms, func(t string) bool { return t == "" })
	text := strings.Join(terms, "+")
	if text == "" {
		return
	}
	e, err := Parse(text)
	if err != nil { // names are quoted; what is made of them is an expression
		return
	}
	if id := e.Canonical().ID(); !s.seen[id] {
		s.seen[id] = true
		s.texts = append(s.texts, id)
	}
}

// pairs adds products of columns that say something together, and of what each says by itself, to a sum of terms.
func (s *tableSpace) pairs(columns []TableColumn, together [][2]int, own, alone []string) {
	product := func(of ...int) string {
		slices.Sort(of)
		var factors []string
		for _, c := range of {
			factors = append(factors, own[c])
		}
		return strings.Join(factors, "*")
	}
	beside := func(products []string, of ...int) {
		sum := slices.Clone(alone)
		for _, c := range of {
			if !slices.Contains(sum, own[c]) {
				sum = append(sum, own[c])
			}
		}
		s.add(append(sum, products...)...)
	}
	there := func(a, b int) bool {
		return slices.Contains(together, [2]int{a, b}) || slices.Contains(together, [2]int{b, a})
	}
	var all []string
	var touched []int
	for i, p := range together {
		all, touched = append(all, product(p[0], p[1])), append(touched, p[0], p[1])
		if i < mostPairs {
			beside(all[i:], p[0], p[1])
			for _, side := range [][2]int{{p[0], p[1]}, {p[1], p[0]}} {
				if a, b := side[0], side[1]; i == 0 && columns[a].Quantity && !columns[a].Levels {
					line := "LIN" + strings.TrimPrefix(own[a], "SE")
					beside([]string{line + "*" + own[b]}, a, b)
				}
			}
		}
		if i > 0 {
			beside(all, touched...)
		}
	}
	threes := 0
	for _, p := range together {
		for c := range columns {
			if c != p[0] && c != p[1] && threes < mostThrees && there(p[0], c) && there(p[1], c) {
				threes++
				beside(slices.Concat(all, []string{product(p[0], p[1], c)}), touched...)
			}
		}
	}
}

// alike finds the first category of which some levels may be alike, among those that have terms or else in a pair:
// with a length for each level, as it is, and the curve that each may have, that of the pair; "" where there is none.
func alike(columns []TableColumn, together [][2]int, own, cats, curves []string) (lengths, category, curve string) {
	if len(curves) > 0 {
		curve = curves[0]
	}
	found := -1
	for i, c := range columns {
		if found < 0 && c.Levels && c.Alike && slices.Contains(cats, own[i]) {
			found = i
		}
	}
	for _, p := range together {
		for _, side := range [][2]int{{p[0], p[1]}, {p[1], p[0]}} {
			a, b := side[0], side[1]
			if (found < 0 || found == a && curve == "") && columns[a].Levels && columns[a].Alike && columns[b].Quantity && !columns[b].Levels {
				found, curve = a, own[b]
			}
		}
	}
	if found < 0 {
		return "", "", ""
	}
	return strings.TrimSuffix(own[found], "]") + ";ard]", own[found], curve
}

// merged are terms, each once.
func merged(lists ...[]string) (out []string) {
	for _, t := range slices.Concat(lists...) {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// Table returns kernels for a table with several inputs, in the order of what they seem to
// say of the target: 20 to 60 of them, however many columns there are. The first columns have
// terms of their own, a curve or a line each, and levels an effect each; then there are fewer and more
// of these, up to one for each of eight numbers, products of two, what repeats along time, and kernels on all quantities
// at once with a length scale for each. Of one category the levels have a length each in some, too.
//
// together are pairs of columns that seem to say more than their sum, the surest first: these
// are the products, one by one and then more and more of them, and of three columns where each pair of them is
// there. Without any they are those of the first three numbers.
func Table(columns []TableColumn, together [][2]int) []string {
	s := &tableSpace{seen: map[string]bool{}}
	var told, further, quantities, cats, others []string
	var times []string
	own := make([]string, len(columns)) // the term of each by itself: a curve or levels
	for i, c := range columns {
		name := column{name: c.Name}.text(false)
		if c.Name == "" {
			name = column{number: c.Number}.text(false)
		}
		if c.Quantity {
			quantities = append(quantities, name)
		}
		if c.Time {
			times = append(times, name)
		}
		if own[i] = "SE[" + name + "]"; c.Levels {
			own[i] = "CAT[" + name + "]"
		}
		switch {
		case c.Levels && c.Tells && len(cats) < mostCats:
			cats = append(cats, "CAT["+name+"]")
		case c.Quantity && !c.Levels && c.Tells && len(told) < mostTerms:
			told = append(told, name)
		case c.Quantity && !c.Levels && c.Tells && len(told)+len(further) < mostAdded:
			further = append(further, name)
		case c.Levels && len(others) < mostOthers:
			others = append(others, "CAT["+name+"]")
		case c.Quantity && len(others) < mostOthers:
			others = append(others, "SE["+name+"]")
		}
	}
	if len(told)+len(cats) == 0 && len(others) > 0 { // all seem to say nothing: the first are tried
		cats, others = others, nil
	}
	se := func(names []string) (terms []string) {
		for _, n := range names {
			terms = append(terms, "SE["+n+"]")
		}
		return terms
	}
	with := func(terms []string, more ...string) { s.add(slices.Concat(terms, more, cats)...) }
	// Every mix of curves and lines; of the first three where pairs of columns matter, too.
	mixed := len(told)
	if len(together) > 0 {
		mixed = min(mixed, 3)
	}
	for mix := range 1 << mixed {
		var terms []string
		for i, n := range told {
			terms = append(terms, map[bool]string{true: "LIN[" + n + "]", false: "SE[" + n + "]"}[mix>>i&1 == 1])
		}
		with(terms)
	}
	// Fewer terms, and one more.
	for p := range told {
		with(se(told[:p]))
		s.add(se(told[:p+1])...)
	}
	for i := range cats {
		s.add(slices.Concat(se(told), cats[:i])...)
	}
	with(se(told), se(further)...)
	for _, o := range others {
		with(se(told), o)
	}
	s.pairs(columns, together, own, slices.Concat(se(told), se(further), cats))
	// Products of two beside what they are made of.
	for i := range min(3, len(told)) {
		if len(together) > 0 {
			break
		}
		for j := range i {
			a, b := told[j], told[i]
			with(se(told), "SE["+a+"]*SE["+b+"]")
			if i == 1 {
				with(se(told), "SE["+a+"]*LIN["+b+"]")
				with(se(told), "SE["+b+"]*LIN["+a+"]")
				with(se(told[2:]), "SE["+a+"]*SE["+b+"]")
			}
		}
	}
	for i, c := range cats[:min(2, len(cats))] {
		for j, n := range told[:min(2, len(told))] {
			with(se(told), "SE["+n+"]*"+c)
			if i+j == 0 {
				with(se(told), "LIN["+n+"]*"+c)
			}
		}
		for _, other := range cats[:i] {
			with(se(told), other+"*"+c)
		}
	}
	// Levels of which some are alike.
	lengths, category, curve := alike(columns, together, own, cats, se(told))
	if lengths != "" {
		others := slices.DeleteFunc(slices.Clone(cats), func(c string) bool { return c == category })
		s.add(slices.Concat(se(told), []string{lengths}, others)...)
		if curve != "" {
			s.add(merged(se(told), cats, []string{category, curve, curve + "*" + lengths})...)
		}
	}
	// What repeats along time, and what wanders.
	for _, t := range times[:min(1, len(times))] {
		rest := slices.DeleteFunc(slices.Clone(told), func(n string) bool { return n == t })
		with(se(rest), "SE["+t+"]", "PER["+t+"]")
		with(se(rest), "LIN["+t+"]", "PER["+t+"]")
		with(se(rest), "SE["+t+"]", "PER["+t+"]*SE["+t+"]")
		with(se(rest), "MATERN12["+t+"]")
		with(se(rest), "MATERN12["+t+"]", "LIN["+t+"]")
		// A pattern hides what another column says: each once more beside it.
		for _, o := range others[:min(2, len(others))] {
			if o != "SE["+t+"]" {
				with(se(rest), "LIN["+t+"]", "PER["+t+"]", o)
			}
		}
	}
	// All quantities at once.
	if len(quantities) > 0 {
		suffix := "[" + strings.Join(quantities, ",") + ";ard]"
		if len(quantities) == 1 {
			suffix = "[" + quantities[0] + "]"
		}
		for _, b := range []string{"SE", "MATERN32", "MATERN52", "RQ"} {
			with(nil, b+suffix)
			s.add(b + suffix)
		}
		with(nil, "SE"+suffix, "LIN"+suffix)
		with(se(told), "MATERN32"+suffix)
		if len(cats) > 0 {
			with(nil, "SE"+suffix+"*("+cats[0]+"+CONST)")
		}
		if lengths != "" {
			s.add("SE" + suffix + "*" + lengths)
		}
	}
	return s.texts
}
