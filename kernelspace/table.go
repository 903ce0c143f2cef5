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
}

// How much of a table its space takes up, whatever it has.
const (
	mostTerms  = 4 // quantities that have terms of their own, in every mix of curves and lines
	mostCats   = 3 // categories
	mostOthers = 3 // columns that seem to say nothing and are tried one by one
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

// Table returns kernels for a table with several inputs, in the order of what they seem to
// say of the target: 20 to 60 of them, however many columns there are. The first columns have
// terms of their own, a curve or a line each, and levels an effect each; then there are fewer and more
// of these, products of two, what repeats along time, and kernels on all quantities
// at once with a length scale for each.
func Table(columns []TableColumn) []string {
	s := &tableSpace{seen: map[string]bool{}}
	var told, quantities, cats, others []string
	var times []string
	for _, c := range columns {
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
		switch {
		case c.Levels && c.Tells && len(cats) < mostCats:
			cats = append(cats, "CAT["+name+"]")
		case c.Quantity && !c.Levels && c.Tells && len(told) < mostTerms:
			told = append(told, name)
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
	// Every mix of curves and lines.
	for mix := range 1 << len(told) {
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
	for _, o := range others {
		with(se(told), o)
	}
	// Products of two beside what they are made of.
	for i := range min(3, len(told)) {
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
	// What repeats along time, and what wanders.
	for _, t := range times[:min(1, len(times))] {
		rest := slices.DeleteFunc(slices.Clone(told), func(n string) bool { return n == t })
		with(se(rest), "SE["+t+"]", "PER["+t+"]")
		with(se(rest), "LIN["+t+"]", "PER["+t+"]")
		with(se(rest), "SE["+t+"]", "PER["+t+"]*SE["+t+"]")
		with(se(rest), "MATERN12["+t+"]")
		with(se(rest), "MATERN12["+t+"]", "LIN["+t+"]")
		// A pattern hides what another column says: each once more beside it.
		for _, o := range others {
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
	}
	return s.texts
}
