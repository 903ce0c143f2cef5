package study

import (
	"fmt"
	"strings"

	"example.com/kestrel/experiment/config"
)

// Variant is a named set of overrides under which the figures are studied.
type Variant struct {
	Name string
	Doc  string
	Set  []config.Override
}

// Overrides reads what a user sets of a study of many seeds.
func Overrides(set []string) ([]config.Override, error) {
	all, err := config.ParseOverrides(set)
	for _, o := range all {
		if o.Key == "seed" {
			return nil, fmt.Errorf("%s: a study runs many seeds; state them with --seeds", o.Flag)
		}
	}
	return all, err
}

// Variants lists the variants of the selection study.
func Variants() []Variant {
	v := func(name, doc string, set ...string) Variant {
		out := Variant{Name: name, Doc: doc}
		for _, s := range set {
			key, value, _ := strings.Cut(s, "=")
			out.Set = append(out.Set, config.Override{Key: key, Value: value, Flag: "variant " + name + ": " + s})
		}
		return out
	}
	return []Variant{
		v("i", "observation noise of 0.1 sd", "data.noise=0.1"),
		v("ii", "noise-free, 64 inducing inputs", "data.noise=0.0", "sparse.inducing=64"),
		v("iii", "the config as it is; fig1a to fig1d are noise-free"),
		// The authors' public code: Adam at its default rate of 0.001, 500
		// iterations a round, one start, local ELBOs divided by a scale (2, 800,
		// or the largest gap) and a prior variance of 0.1 or 0.5. After so few
		// steps the gaps are thousands of nats, for which a scale of 2 is as good
		// as none; the largest gap is not a constant.
		v("paper", "as iii, in the authors' way: 16 inducing inputs, Adam with rate 0.001 and 500 steps an evaluation from one start, "+
			"ELBOs divided by 800, prior variance 0.5, errors ignored",
			"sparse.inducing=16", "sparse.jitter=1e-6", "posterior.errors=ignore",
			"optimise.optimizer=adam", "optimise.learning_rate=0.001", "optimise.starts=1", "optimise.transplants=false",
			"schedule.steps=500", "posterior.evidence_scale=800.0", "posterior.prior_variance=0.5"),
	}
}

// FindVariant returns the variant of that name.
func FindVariant(name string) (Variant, error) {
	var names []string
	for _, v := range Variants() {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return Variant{}, fmt.Errorf("there is no variant %q; variants are %s", name, strings.Join(names, ", "))
}
