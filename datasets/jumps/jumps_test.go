package jumps

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawn are series of n values of a kind.
var drawn = map[string]func(n int, rng *rand.Rand) []float64{
	"noise": func(n int, rng *rand.Rand) []float64 { return made(n, func(int) float64 { return rng.NormFloat64() }) },
	"a walk": func(n int, rng *rand.Rand) []float64 {
		v := 0.0
		return made(n, func(int) float64 { v += rng.NormFloat64(); return v })
	},
	"a level that returns": func(n int, rng *rand.Rand) []float64 {
		v := 0.0
		return made(n, func(int) float64 { v = 0.9*v + rng.NormFloat64(); return v })
	},
	"a line": func(n int, rng *rand.Rand) []float64 {
		return made(n, func(i int) float64 { return 0.1*float64(i) + rng.NormFloat64() })
	},
	"a slope that wanders": func(n int, rng *rand.Rand) []float64 {
		slope, v := 0.0, 0.0
		return made(n, func(int) float64 { slope += rng.NormFloat64(); v += slope; return v })
	},
	"a slow wave": func(n int, rng *rand.Rand) []float64 {
		length := float64(n) * (0.1 + rng.Float64())
		return made(n, func(i int) float64 { return math.Sin(2*math.Pi*float64(i)/length) + 0.1*rng.NormFloat64() })
	},
	"a season": func(n int, rng *rand.Rand) []float64 {
		return made(n, func(i int) float64 { return 5*math.Sin(2*math.Pi*float64(i)/12) + rng.NormFloat64() })
	},
	"what grows with its season": func(n int, rng *rand.Rand) []float64 {
		return made(n, func(i int) float64 {
			return math.Exp(6*float64(i)/float64(n) + 0.3*math.Sin(2*math.Pi*float64(i)/12) + 0.1*rng.NormFloat64())
		})
	},
	"outliers": func(n int, rng *rand.Rand) []float64 {
		return made(n, func(int) float64 {
			if rng.Float64() < 0.03 {
				return 60
			}
			return rng.NormFloat64()
		})
	},
	"a peak": func(n int, rng *rand.Rand) []float64 {
		from := n/4 + rng.IntN(n/4)
		return made(n, func(i int) float64 {
			v := rng.NormFloat64()
			if i >= from && i < from+n/25 {
				v += 15
			}
			return v
		})
	},
}

func made(n int, of func(i int) float64) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = of(i)
	}
	return y
}

func TestNoJumps(t *testing.T) {
	const tries = 200
	for name, draw := range drawn {
		for _, n := range []int{60, 150, 600} {
			rng, found := rand.New(rand.NewPCG(uint64(n), 4)), 0
			for range tries {
				if len(Find(draw(n, rng), 12)) > 0 {
					found++
				}
			}
			if found > tries/20 {
				t.Errorf("%s of %d values: a jump in %d of %d", name, n, found, tries)
			}
		}
	}
}

func TestJumpsAreFound(t *testing.T) {
	for name, season := range map[string]int{"noise": 1, "a line": 1, "a season": 12} {
		for _, n := range []int{120, 600} {
			rng, found := rand.New(rand.NewPCG(uint64(n), 5)), 0
			const tries = 100
			for range tries {
				at, size := n/4+rng.IntN(n/2), 7*float64(1-2*rng.IntN(2))
				y := drawn[name](n, rng)
				for i := at; i < n; i++ {
					y[i] += size
				}
				if all := Find(y, season); len(all) == 1 && max(all[0].At-at, at-all[0].At) <= 3 && math.Abs(all[0].Size-size) < 2 {
					found++
				}
			}
			if found < 9*tries/10 {
				t.Errorf("%s of %d values: %d jumps found of %d", name, n, found, tries)
			}
		}
	}
	// Two of them, and back again.
	rng := rand.New(rand.NewPCG(1, 6))
	y := drawn["noise"](300, rng)
	for i := 100; i < 200; i++ {
		y[i] += 9
	}
	all := Find(y, 1)
	if len(all) != 2 || math.Abs(float64(all[0].At-100)) > 2 || math.Abs(float64(all[1].At-200)) > 2 || all[0].Size*all[1].Size >= 0 {
		t.Errorf("up at 100 and down at 200: %v", all)
	}
}

// What a jump is does not depend on the unit or the direction of time.
func TestLawsOfJumps(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 7))
	y := drawn["a walk"](200, rng)
	for i := 120; i < 200; i++ {
		y[i] -= 30
	}
	places := func(y []float64) (at []int) {
		for _, j := range Find(y, 1) {
			at = append(at, j.At)
		}
		return at
	}
	plain := places(y)
	if len(plain) != 1 {
		t.Fatalf("found %v", plain)
	}
	scaled := made(200, func(i int) float64 { return -1e-3*y[i] - 5 })
	sloped := made(200, func(i int) float64 { return y[i] + 3*float64(i) - 1e4 })
	reversed := slices.Clone(y)
	slices.Reverse(reversed)
	for name, got := range map[string][]int{"scaled": places(scaled), "with a line": places(sloped)} {
		if !slices.Equal(got, plain) {
			t.Errorf("%s: %v, not %v", name, got, plain)
		}
	}
	size := Find(y, 1)[0].Size
	if got := Find(reversed, 1); len(got) != 1 || got[0].At != 200-plain[0] || math.Abs(got[0].Size+size) > 1e-9 {
		t.Errorf("reversed: %v, not %v of %v", got, 200-plain[0], -size)
	}
	if got := Find(scaled, 1)[0].Size; math.Abs(got+1e-3*size) > 1e-9 {
		t.Errorf("scaled: a size of %v, not of %v", got, -1e-3*size)
	}
	for name, y := range map[string][]float64{"none": nil, "few": y[:20], "equal": make([]float64, 100),
		"not a number": append(slices.Clone(y), math.NaN()), "infinite": append(slices.Clone(y), math.Inf(1))} {
		if got := Find(y, 12); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := places(made(100, func(i int) float64 { return float64(i / 50) })); !slices.Equal(got, []int{50}) {
		t.Errorf("a plain step: %v", got)
	}
}
