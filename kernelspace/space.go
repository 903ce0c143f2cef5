package kernelspace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxSpace is the largest kernel space that Enumerate builds.
const MaxSpace = 100_000

// Enumerate returns all distinct kernels built by + and * from 1 to depth
// bases (each may be used again), canonical, fewer bases first and then in
// canonical order. SE, RQ, LIN, PER to depth 3 are the 144 of the paper's
// K144. A base that is itself a sum or product counts as one.
//
// Errors: no base, a depth below 1, more than MaxSpace kernels.
func Enumerate(base []Expr, depth int) ([]Expr, error) {
	return enumerate(base, depth, MaxSpace)
}

func enumerate(base []Expr, depth, limit int) ([]Expr, error) {
	if len(base) == 0 {
		return nil, errors.New("enumerating kernels: no base kernel given")
	}
	if depth < 1 {
		return nil, fmt.Errorf("enumerating kernels: depth is %d; it must be 1 or more", depth)
	}
	seen := map[string]bool{}
	levels := make([][]Expr, depth+1)
	total := 0
	add := func(level int, e Expr) error {
		e = e.Canonical()
		if id := e.ID(); !seen[id] {
			seen[id] = true
			levels[level] = append(levels[level], e)
			if total++; total > limit {
				return fmt.Errorf("enumerating kernels: more than %d of %d base kernels up to depth %d; "+
					"lower the depth or the number of base kernels", limit, len(base), depth)
			}
		}
		return nil
	}
	for _, e := range base {
		if e.IsZero() {
			return nil, errors.New("enumerating kernels: a base kernel is the zero Expr")
		}
		if err := add(1, e); err != nil {
			return nil, err
		}
	}
	for level := 2; level <= depth; level++ {
		for left := level / 2; left >= 1; left-- {
			for i, a := range levels[left] {
				others := levels[level-left]
				if left == level-left {
					others = others[i:] // + and * are commutative
				}
				for _, b := range others {
					if err := add(level, Sum(a, b)); err != nil {
						return nil, err
					}
					if err := add(level, Product(a, b)); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	var all []Expr
	for _, level := range levels[1:] {
		slices.SortFunc(level, Compare)
		all = append(all, level...)
	}
	return all, nil
}

// SetNames lists the kernel spaces that Set knows.
func SetNames() []string {
	return []string{"K12", "K144", "series", "series2", "series3", "series" + Steps, "series2" + Steps, "series3" + Steps}
}

// Steps is what the name of a space of series has behind it where levels with a step or two are
// in it, too.
const Steps = "-steps"

// Set returns a kernel space by name, in any case, its kernels in canonical form: of
// the paper K12 in its order (appendix on the kernel set) and K144 as enumerated;
// series, for a series in time, has every level with every season; series2 and series3
// are for those of which two or three seasons are known, such as day, week and year; with Steps
// behind them they have levels with steps besides.
func Set(name string) ([]Expr, error) {
	upper := strings.ToUpper(name)
	if plain, ok := strings.CutSuffix(upper, strings.ToUpper(Steps)); ok && stepSeasons[plain] != nil {
		kernels, err := Set(plain)
		if err != nil {
			return nil, err
		}
		more, err := series(stepped(oneStep+"+LIN", oneStep+"+MATERN12"), stepSeasons[plain]...)
		return append(kernels, more...), err
	}
	switch upper {
	case "K12":
		return parseAll([]string{
			"LIN+RQ", "LIN*RQ+LIN", "LIN*RQ+PER", "PER+RQ+SE", "PER+LIN+RQ", "PER+PER+SE",
			"PER*SE+SE", "PER*RQ+SE", "PER*LIN+SE", "PER*LIN*SE", "PER*LIN*RQ", "(PER+RQ)*LIN",
		})
	case "K144":
		base, err := parseAll([]string{"SE", "RQ", "LIN", "PER"})
		if err != nil {
			return nil, err
		}
		return Enumerate(base, 3)
	case "SERIES":
		return series(append(levels(), "IRW", "LIN+CONST"), "", "+PER", "+PER*SE", "+PER*RW")
	case "SERIES2":
		return series(levels(), "+PER", "+PER*SE", "+PER+PER", "+PER*PER", "+PER*SE+PER", "+PER*PER*SE")
	case "SERIES3":
		return series(levels(), "+PER+PER", "+PER*PER", "+PER+PER+PER", "+PER*PER+PER", "+PER*PER*SE+PER")
	}
	if near := nearest(name, SetNames()); near != "" {
		return nil, fmt.Errorf("there is no kernel set %q; did you mean %s? Sets: %s", name, near, strings.Join(SetNames(), ", "))
	}
	return nil, fmt.Errorf("there is no kernel set %q; sets: %s", name, strings.Join(SetNames(), ", "))
}

// levels of a series in time: one that wanders, also about a line, a slope that wanders
// about a level that returns, a line with a level that returns or bends or has
// short swings.
func levels() []string {
	return []string{"RW", "LIN+RW", "IRW+MATERN12", "LIN+MATERN12+CONST", "LIN+SE+CONST", "LIN+RW+MATERN32"}
}

// Levels of a series with a step, and with two.
const oneStep, twoSteps = "CP(CONST,CONST)", "CP(CONST,CP(CONST,CONST))"

// stepped are levels of a series with a step or with two, alone and with what wanders, and more between.
func stepped(more ...string) []string {
	return slices.Concat([]string{oneStep, oneStep + "+RW"}, more, []string{twoSteps, twoSteps + "+RW"})
}

// stepSeasons are what levels with steps have beside them, by the space.
var stepSeasons = map[string][]string{"SERIES": {"", "+PER", "+PER*SE"}, "SERIES2": {"", "+PER", "+PER*PER"},
	"SERIES3": {"", "+PER*PER", "+PER*PER+PER"}}

// series returns every level with every season: one that stays, that changes its
// shape (with SE), that grows or fades (with RW), or some of them.
func series(levels []string, seasons ...string) ([]Expr, error) {
	var texts []string
	for _, season := range seasons {
		for _, level := range levels {
			texts = append(texts, level+season)
		}
	}
	return parseAll(texts)
}

func parseAll(texts []string) ([]Expr, error) {
	var all []Expr
	for _, text := range texts {
		e, err := Parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, e.Canonical())
	}
	return all, nil
}
