package vbks

import (
	"math"
	"slices"
	"testing"
)

// A kernel is flagged for what its hyperparameters show, and for nothing else.
func TestFlags(t *testing.T) {
	data := trainingSeries(61, 60) // x from −4 to 4, about sin 2x
	s := quickSettings("collapsed")
	tr := trainerOn(t, 1, nil, data, s, "PER+SE", "PER*PER")
	next(t, tr)
	span := slices.Max(data.X) - slices.Min(data.X)
	for _, c := range []struct {
		name   string
		kernel int
		change func(k *kernel, set func(name string, nth int, v float64))
		want   []Flag
	}{
		{"nothing", 0, func(*kernel, func(string, int, float64)) {}, nil},
		{"a long period", 0, func(_ *kernel, set func(string, int, float64)) { set("period", 0, 0.51*span) }, []Flag{PeriodOnce}},
		{"a period just short enough", 0, func(_ *kernel, set func(string, int, float64)) { set("period", 0, 0.49*span) }, nil},
		{"equal periods", 1, func(_ *kernel, set func(string, int, float64)) { set("period", 1, 1.505) }, []Flag{PeriodsEqual}},
		{"unequal periods", 1, func(_ *kernel, set func(string, int, float64)) { set("period", 1, 1.53) }, nil},
		{"an idle summand", 0, func(_ *kernel, set func(string, int, float64)) { set("variance", 1, 0.0009) }, []Flag{IdleSummand}},
		{"little noise", 0, func(k *kernel, _ func(string, int, float64)) { k.state.Free[len(k.state.Free)-1] = -40 }, []Flag{NoiseAtFloor}},
		{"a climb", 0, func(k *kernel, _ func(string, int, float64)) { k.gain = 2 }, []Flag{StillMoving}},
	} {
		k := *tr.kernels[c.kernel]
		k.state, k.gain = k.state.clone(), 0
		set := func(name string, nth int, v float64) {
			for a, i := range k.program.Free {
				if k.program.Params[i].Name == name {
					if nth == 0 {
						k.state.Free[a] = math.Log(v)
						return
					}
					nth--
				}
			}
			t.Fatalf("%s: no %s", c.name, name)
		}
		for a := range k.state.Free {
			k.state.Free[a] = 0
		}
		k.state.Free[len(k.state.Free)-1] = math.Log(0.1)
		set("period", 0, 1.5)
		if c.kernel == 1 {
			set("period", 1, 2.5)
		}
		c.change(&k, set)
		if got := tr.flags(&k); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
