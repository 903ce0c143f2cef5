package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// CompareSettings say which methods are compared and how: the [compare] section
// of a config.
type CompareSettings struct {
	Methods     []string // by name, without repetition
	Runs        int      // of each method, with seeds counting up
	RandomRuns  int      // of "random"
	RandomSeeds int      // that these are spread over; 0 stands for those of all runs
	Budget      CompareBudget
	Rows        int // training rows at which "bo" compares kernels
	Draws       int // of the hyperparameters' prior, for that
	Depth       int // base kernels in a kernel of "cks", at most
	Prune       AutoPruning
}

// CompareBudget is how long a method may go on in each run: as long as VBKS
// with the same seed took, a time, or a number of kernels. With the first two the
// clock decides what bo and cks train; only a number of kernels makes the same
// choices on every machine.
type CompareBudget struct {
	Time    time.Duration // 0: not this
	Kernels int           // 0: not this; both 0: as long as VBKS
}

// asVBKS is how a config says that VBKS gives the budget.
const asVBKS = "vbks"

// AutoPruning is when kernels are pruned by themselves.
type AutoPruning struct {
	Below      float64 // posterior
	Wait, Keep int     // for so many evaluations, but so many are kept
}

func defaultCompare() CompareSettings {
	return CompareSettings{
		Methods: []string{MethodAverage, MethodSingle, MethodRandom, MethodBO},
		Runs:    10, RandomRuns: 50, Rows: 200, Draws: 16, Depth: 3,
		Prune: AutoPruning{Below: 1e-3, Wait: 3, Keep: 10},
	}
}

// methods is a list of methods of comparison.
type methods struct{ p *[]string }

func (m methods) set(v any) error {
	if s, ok := v.(string); ok { // as --set compare.methods=bo,random
		v = splitList(s)
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return fmt.Errorf("must be a list of methods (%s), not %s", strings.Join(MethodNames(), ", "), shown(v))
	}
	var out []string
	for i, e := range list {
		var name string
		if err := choice(&name, MethodNames()...).set(e); err != nil {
			return &elementError{i, fmt.Errorf("has a wrong entry: it %w", err)}
		}
		if slices.Contains(out, name) {
			return &elementError{i, fmt.Errorf("names %q twice", name)}
		}
		out = append(out, name)
	}
	*m.p = out
	return nil
}

func (m methods) toml() string { return texts(m).toml() }

// compareBudget is "vbks", a time or a number of kernels.
type compareBudget struct{ p *CompareBudget }

func (b compareBudget) set(v any) error {
	switch v := v.(type) {
	case int64:
		if v >= 1 && v <= many {
			*b.p = CompareBudget{Kernels: int(v)}
			return nil
		}
	case string:
		if v == asVBKS {
			*b.p = CompareBudget{}
			return nil
		}
		if d, err := time.ParseDuration(v); err == nil && d > 0 {
			*b.p = CompareBudget{Time: d}
			return nil
		}
	}
	return fmt.Errorf(`must be "vbks" (as long as VBKS took), a time such as "90s" or "10m", or a number of kernels, not %s`, shown(v))
}

func (b compareBudget) toml() string {
	switch {
	case b.p.Time > 0:
		return quoteTOML(b.p.Time.String())
	case b.p.Kernels > 0:
		return fmt.Sprint(b.p.Kernels)
	}
	return quoteTOML(asVBKS)
}

// pruningValue is when VBKS prunes by itself; unlike posterior.auto_prune it is not
// to be switched off.
type pruningValue struct{ autoPrune }

func pruning(p *AutoPruning) pruningValue {
	return pruningValue{autoPrune{&p.Below, &p.Wait, &p.Keep}}
}

func (p pruningValue) set(v any) error {
	if _, ok := v.(map[string]any); !ok {
		return fmt.Errorf("must be a table {below = 0.001, wait = 3, keep = 10}, not %s", shown(v))
	}
	return p.autoPrune.set(v)
}
