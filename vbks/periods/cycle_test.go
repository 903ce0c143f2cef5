package periods

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawnSeries are n values at even steps, with a season of 12 where they have one.
var drawnSeries = map[string]func(n int, rng *rand.Rand) []float64{
	"noise": func(n int, rng *rand.Rand) []float64 {
		return column(n, func(float64) float64 { return rng.NormFloat64() })
	},
	"a walk in noise": func(n int, rng *rand.Rand) []float64 {
		v := 0.0
		return column(n, func(float64) float64 { v += rng.NormFloat64(); return v + 3*rng.NormFloat64() })
	},
	"a level that returns": func(n int, rng *rand.Rand) []float64 { return returning(n, 0.9, rng) },
	"a slope that wanders": func(n int, rng *rand.Rand) []float64 {
		slope, v := 0.0, 0.0
		return column(n, func(float64) float64 { slope += rng.NormFloat64(); v += slope; return v + 5*rng.NormFloat64() })
	},
	"a season": func(n int, rng *rand.Rand) []float64 {
		rest := returning(n, 0.8, rng)
		return column(n, func(t float64) float64 {
			return 10*math.Sin(2*math.Pi*t/12) + 3*math.Abs(math.Sin(math.Pi*t/12)) + rest[int(t)]
		})
	},
	"a season that changes": func(n int, rng *rand.Rand) []float64 {
		rest, size := returning(n, 0.8, rng), 10.
		return column(n, func(t float64) float64 {
			size += 0.3 * rng.NormFloat64()
			return size*math.Sin(2*math.Pi*t/12) + rest[int(t)]
		})
	},
	"what grows with its season": func(n int, rng *rand.Rand) []float64 {
		return column(n, func(t float64) float64 {
			return math.Exp(2*t/float64(n) + 0.3*math.Sin(2*math.Pi*t/12) + 0.03*rng.NormFloat64())
		})
	},
	"a step": func(n int, rng *rand.Rand) []float64 {
		return column(n, func(t float64) float64 {
			if t > 0.6*float64(n) {
				return 8 + rng.NormFloat64()
			}
			return rng.NormFloat64()
		})
	},
	"outliers": func(n int, rng *rand.Rand) []float64 {
		return column(n, func(float64) float64 {
			if rng.Float64() < 0.03 {
				return 60
			}
			return rng.NormFloat64()
		})
	},
}

func returning(n int, phi float64, rng *rand.Rand) []float64 {
	v := 0.0
	return column(n, func(float64) float64 { v = phi*v + rng.NormFloat64(); return v })
}

func TestNoCycle(t *testing.T) {
	const tries = 60
	for name, draw := range drawnSeries {
		for _, n := range []int{60, 150, 600} {
			rng, found := rand.New(rand.NewPCG(uint64(n), 7)), 0
			for range tries {
				if Cycle(draw(n, rng), []float64{12}) > 0 {
					found++
				}
			}
			if found > tries/15 {
				t.Errorf("%s of %d values: a cycle in %d of %d", name, n, found, tries)
			}
			t.Logf("%s of %d values: %d", name, n, found)
		}
	}
}

// A wave as large as the noise about it is found with its period, over a walk and beside a season and
// outliers; so is one that wanders in phase, as the sun's.
func TestCycle(t *testing.T) {
	const tries, n = 50, 300
	wave := func(period float64) func(rng *rand.Rand) []float64 {
		return func(rng *rand.Rand) []float64 {
			phase := 2 * math.Pi * rng.Float64()
			return column(n, func(t float64) float64 { return 1.4 * math.Sin(2*math.Pi*t/period+phase) })
		}
	}
	for _, c := range []struct {
		name   string
		period float64
		within float64
		draw   func(rng *rand.Rand) []float64
	}{
		{"in noise", 29.53, 0.02, wave(29.53)},
		{"short", 3.4, 0.01, wave(3.4)},
		{"near a season's half", 6.4, 0.01, wave(6.4)},
		{"with a level that returns", 29.53, 0.04, func(rng *rand.Rand) []float64 {
			y, level := wave(29.53)(rng), returning(n, 0.9, rng)
			for i := range y {
				y[i] += 0.3 * level[i]
			}
			return y
		}},
		{"with outliers", 29.53, 0.02, func(rng *rand.Rand) []float64 {
			y := wave(29.53)(rng)
			for i := range y {
				if rng.Float64() < 0.04 {
					y[i] += 40 * (rng.Float64() - 0.5)
				}
			}
			return y
		}},
		{"with a season", 29.53, 0.02, func(rng *rand.Rand) []float64 {
			y := wave(29.53)(rng)
			for i := range y {
				y[i] += 5 * math.Sin(2*math.Pi*float64(i)/12)
			}
			return y
		}},
		{"that wanders", 25, 0.1, func(rng *rand.Rand) []float64 {
			phase := 0.0
			return column(n, func(t float64) float64 {
				phase += 2 * math.Pi / 25 * (1 + 0.2*rng.NormFloat64())
				return 3 * math.Sin(phase)
			})
		}},
	} {
		rng, found := rand.New(rand.NewPCG(3, 4)), 0
		for range tries {
			y := c.draw(rng)
			for i := range y {
				y[i] += rng.NormFloat64()
			}
			if v := Cycle(y, []float64{12}); math.Abs(v/c.period-1) <= c.within {
				found++
			}
		}
		t.Logf("%s: %d of %d", c.name, found, tries)
		if found < tries*9/10 {
			t.Errorf("%s: found in %d of %d", c.name, found, tries)
		}
	}
}

func TestShown(t *testing.T) {
	const tries = 100
	for name, want := range map[string][2]int{
		"noise": {0, 15}, "a walk in noise": {0, 15}, "a level that returns": {0, 15},
		"a season": {tries, tries}, "what grows with its season": {tries, tries},
	} {
		rng, shown := rand.New(rand.NewPCG(5, 6)), 0 // cases come in any order
		for range tries {
			if Shown(drawnSeries[name](150, rng), []float64{12})[0] {
				shown++
			}
		}
		if shown < want[0] || shown > want[1] {
			t.Errorf("%s: a season in %d of %d", name, shown, tries)
		}
	}
	if Cycle([]float64{1, 2}, nil) != 0 || Shown([]float64{1, math.NaN()}, []float64{7})[0] {
		t.Error("two values have a cycle, or a season")
	}
}
