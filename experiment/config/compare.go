package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/datasets/transform"
)

// CheckCompare finds contradictions that concern comparisons only.
func (c *Config) CheckCompare() error {
	v := &c.Compare
	searches := slices.ContainsFunc(ComparedMethods(), func(m Method) bool { return m.Searches && slices.Contains(v.Methods, m.Name) })
	if searches && v.Budget == (ComparisonBudget{}) && !v.RunsVBKS() {
		return fmt.Errorf("compare.budget = %q needs the method vbks or vbks-s; state a time or a number of kernels, or add one of them", asVBKS)
	}
	if v.RandomSeeds > v.Runs && slices.Contains(v.Methods, MethodRandom) {
		return fmt.Errorf("compare.random_seeds = %d is more than compare.runs = %d", v.RandomSeeds, v.Runs)
	}
	return nil
}

// RunsVBKS reports whether VBKS itself is among the methods.
func (v *Comparison) RunsVBKS() bool {
	return slices.Contains(v.Methods, MethodAverage) || slices.Contains(v.Methods, MethodSingle)
}

// BringUp gives the config of a comparison, or of a series of runs, what older versions did not write in
// it: the mask's hash, and of its mask and locations the absolute paths. A
// relative one is that of now if that ends in it, wherever it was looked for
// from; the hash of the data, which must agree anyway, covers the locations but not
// the mask.
func (c *Config) BringUp(now *Config) {
	if c.MaskSHA256 == "" {
		c.MaskSHA256 = now.MaskSHA256
	}
	if c.Data.Transform == "" && now.Data.Transform == transform.None {
		c.Data.Transform = transform.None
	}
	if c.Settings.PredictTheta == "" && now.Settings.PredictTheta == autoText { // what is to be done is as what has been done
		c.Settings.PredictTheta, now.Settings.PredictTheta = "mode", "mode"
	}
	if c.Settings.Priors == autoText {
		c.Settings.Priors = now.Settings.Priors
	}
	if c.Settings.Evidence == "mode" && now.Settings.Evidence == autoText && !now.Settings.Integrates() { // which it comes to
		c.Settings.Evidence = autoText
	}
	if !c.Settings.Growth.On && !now.Settings.Growth.On { // then it decides nothing
		c.Settings.Growth.Stated, c.Settings.Growth.Rows = now.Settings.Growth.Stated, now.Settings.Growth.Rows
	}
	for _, file := range []struct {
		was *string
		is  string
	}{{&c.Data.Mask, now.Data.Mask}, {&c.Data.Locations, now.Data.Locations}} {
		was := filepath.ToSlash(filepath.Clean(*file.was))
		for strings.HasPrefix(was, "../") {
			was = was[len("../"):]
		}
		if *file.was != "" && !filepath.IsAbs(*file.was) && strings.HasSuffix(filepath.ToSlash(file.is), "/"+was) {
			*file.was = file.is
		}
	}
}

// FixedKeys returns the values of the keys that must not change when a
// comparison goes on. Those of workers decide no result.
func FixedKeys(c Config) map[string]string {
	out := map[string]string{}
	for _, k := range c.keys() {
		out[k.path()] = k.value.toml()
	}
	for _, free := range []string{"methods", "runs", "random_runs", "random_seeds", "budget"} {
		delete(out, "compare."+free)
	}
	for _, free := range []string{"lost_after", "most_lost", "work_here"} {
		delete(out, "cluster."+free)
	}
	return out
}

// SeedsDrawn is over how many seeds the runs of random kernels are spread.
func (v *Comparison) SeedsDrawn() int {
	if v.RandomSeeds > 0 {
		return v.RandomSeeds
	}
	return min(v.Runs, v.RandomRuns)
}

// Comparison says which methods are compared and how: the [compare] section
// of a config.
type Comparison struct {
	Methods     []string // by name, without repetition
	Runs        int      // of each method, with seeds counting up
	RandomRuns  int      // of "random"
	RandomSeeds int      // that these are spread over; 0 stands for those of all runs
	Budget      ComparisonBudget
	Rows        int // training rows at which "bo" compares kernels
	Draws       int // of the hyperparameters' prior, for that
	Depth       int // base kernels in a kernel of "cks", at most
	Prune       AutoPruning
}

// ComparisonBudget is how long a method may go on in each run: as long as VBKS
// with the same seed took, a time, or a number of kernels. With the first two the
// clock decides what bo and cks train; only a number of kernels makes the same
// choices on every machine.
type ComparisonBudget struct {
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

func defaultCompare() Comparison {
	return Comparison{
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
type compareBudget struct{ p *ComparisonBudget }

func (b compareBudget) set(v any) error {
	switch v := v.(type) {
	case int64:
		if v >= 1 && v <= many {
			*b.p = ComparisonBudget{Kernels: int(v)}
			return nil
		}
	case string:
		if v == asVBKS {
			*b.p = ComparisonBudget{}
			return nil
		}
		if d, err := time.ParseDuration(v); err == nil && d > 0 {
			*b.p = ComparisonBudget{Time: d}
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
