package jumps

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/internal/thorough"
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
	"a level that returns by .7":   goingBack(0.7),
	"a level that returns by .95":  goingBack(0.95),
	"a walk of .05 and noise":      walkAndNoise(0.05),
	"a walk of .15 and noise":      walkAndNoise(0.15),
	"a walk of .5 and noise":       walkAndNoise(0.5),
	"a walk of 1 and noise":        walkAndNoise(1),
	"half a wave":                  wave(0.5),
	"a wave":                       wave(1),
	"a wave and a half":            wave(1.5),
	"a change over a tenth of ten": logistic(10),
	"growth that bends": func(n int, rng *rand.Rand) []float64 {
		at, more := rng.Float64(), 10*rng.NormFloat64()
		return made(n, func(i int) float64 {
			t := float64(i) / float64(n)
			return 5*t + more*max(0, t-at) + rng.NormFloat64()
		})
	},
	"a season that is not known": func(n int, rng *rand.Rand) []float64 {
		length, height := 5+40*rng.Float64(), math.Exp(2*rng.NormFloat64())
		return made(n, func(i int) float64 { return height*math.Sin(2*math.Pi*float64(i)/length) + rng.NormFloat64() })
	},
	"cycles": func(n int, rng *rand.Rand) []float64 {
		length, last, v := 8+20*rng.Float64(), 0.0, 0.0
		return made(n, func(int) float64 {
			v, last = 1.9*math.Cos(2*math.Pi/length)*v-0.9025*last+rng.NormFloat64(), v
			return v
		})
	},
	"heavy tails": func(n int, rng *rand.Rand) []float64 { return made(n, func(int) float64 { return heavy(rng) }) },
	"heavy tails that return": func(n int, rng *rand.Rand) []float64 {
		v := 0.0
		return made(n, func(int) float64 { v = 0.7*v + heavy(rng); return v })
	},
	"noise that grows": func(n int, rng *rand.Rand) []float64 {
		return made(n, func(i int) float64 { return math.Exp(3*float64(i)/float64(n)) * rng.NormFloat64() })
	},
	"skewed noise": func(n int, rng *rand.Rand) []float64 {
		return made(n, func(int) float64 { return math.Exp(rng.NormFloat64()) })
	},
	"counts": func(n int, rng *rand.Rand) []float64 {
		return made(n, func(int) float64 { return math.Floor(1.5 * rng.ExpFloat64()) })
	},
}

func goingBack(keep float64) func(n int, rng *rand.Rand) []float64 {
	return func(n int, rng *rand.Rand) []float64 {
		v := rng.NormFloat64() / math.Sqrt(1-keep*keep)
		return made(n, func(int) float64 { v = keep*v + rng.NormFloat64(); return v })
	}
}

func walkAndNoise(step float64) func(n int, rng *rand.Rand) []float64 {
	return func(n int, rng *rand.Rand) []float64 {
		v := 0.0
		return made(n, func(int) float64 { v += step * rng.NormFloat64(); return v + rng.NormFloat64() })
	}
}

func wave(cycles float64) func(n int, rng *rand.Rand) []float64 {
	return func(n int, rng *rand.Rand) []float64 {
		from, height := 2*math.Pi*rng.Float64(), math.Exp(1.2*rng.NormFloat64())
		return made(n, func(i int) float64 {
			return height*math.Sin(from+2*math.Pi*cycles*float64(i)/float64(n)) + rng.NormFloat64()
		})
	}
}

// logistic goes from a tenth of its size to nine tenths within a tenth of all values.
func logistic(size float64) func(n int, rng *rand.Rand) []float64 {
	return func(n int, rng *rand.Rand) []float64 {
		at, width := float64(n)*(0.25+0.5*rng.Float64()), 0.1*float64(n)/(2*math.Log(9))
		return made(n, func(i int) float64 { return size/(1+math.Exp((at-float64(i))/width)) + rng.NormFloat64() })
	}
}

// heavy is of Student's t of two degrees.
func heavy(rng *rand.Rand) float64 { return rng.NormFloat64() / math.Sqrt(rng.ExpFloat64()) }

func made(n int, of func(i int) float64) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = of(i)
	}
	return y
}

// Fewer than one in twenty of any kind has a step by comparison, and fewer than one in ten a jump at all, as fewer than
// one in twenty has one by means beside each place, except after a change over a tenth of all values, and of noise
// that grows, of which these make jumps.
func TestNoJumps(t *testing.T) {
	thorough.Unraced(t)
	const whole = 200
	tries := whole / thorough.OneIn(t, 4, "series")
	luck := 0 // of a sample, one standard error of one in twenty
	if tries < whole {
		luck = int(math.Sqrt(float64(tries) / 20))
	}
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		known := name == "a change over a tenth of ten" || name == "noise that grows"
		for _, n := range []int{60, 150, 600} {
			rng, steps, all := rand.New(rand.NewPCG(uint64(n), 4)), 0, 0
			for range tries {
				y := drawn[name](n, rng)
				jumps := Find(y, 12, nil)
				if len(jumps) > 0 {
					all++
				}
				if (known || len(jumps) > 0) && len(compared(y, 12, nil)) > 0 {
					steps++
				}
			}
			t.Logf("%s of %d values: %d of %d, %d by comparison", name, n, all, tries, steps)
			if steps > tries/20+luck || all > tries/10+luck && !known {
				t.Errorf("%s of %d values: a jump in %d of %d, in %d by comparison", name, n, all, tries, steps)
			}
		}
	}
}

// daily is a series of noise with a weekly pattern, one in fifty values an outlier and one in fifty rows missing, whose
// level changes in its middle half.
func daily(n int, size float64, rng *rand.Rand) (y []float64, places []int, at int) {
	at = n/4 + rng.IntN(n/2)
	week, place := made(7, func(int) float64 { return 1.5 * rng.NormFloat64() }), 0
	for i := range n {
		if place++; rng.Float64() < 0.02 {
			place++
		}
		v := week[place%7] + rng.NormFloat64()
		if rng.Float64() < 0.02 {
			v += 8 * float64(1-2*rng.IntN(2))
		}
		if i >= at {
			v += size
		}
		y, places = append(y, v), append(places, place)
	}
	return y, places, at
}

// A step that many values show is found where it is small beside the noise of one.
func TestSmallStepsAreFound(t *testing.T) {
	thorough.Unraced(t)
	tries := 100 / thorough.OneIn(t, 4, "series")
	for _, c := range []struct {
		n           int
		size, share float64 // of all that are found at least
	}{{60, 7, 0.85}, {120, 4, 0.85}, {250, 2.3, 0.85}, {400, 1.5, 0.8}, {1000, 1, 0.8}} {
		rng, found, others := rand.New(rand.NewPCG(uint64(c.n), 9)), 0, 0
		for range tries {
			y, places, at := daily(c.n, c.size, rng)
			for _, j := range Find(y, 7, places) {
				if max(j.At-at, at-j.At) <= max(3, c.n/20) && math.Abs(j.Size/c.size-1) < 0.5 {
					found++
				} else {
					others++
				}
			}
		}
		if t.Logf("%.1f noises in %d values: %d of %d, %d others", c.size, c.n, found, tries, others); float64(found) < c.share*float64(tries) ||
			others > tries/20 {
			t.Errorf("%.1f noises in %d values: found in %d of %d, and %d others", c.size, c.n, found, tries, others)
		}
	}
	// The season goes on where rows are missing: without their places it is none.
	found := [2]int{}
	rng := rand.New(rand.NewPCG(1, 10))
	for range tries {
		y, places, _ := daily(250, 2.3, rng)
		week := made(7, func(int) float64 { return 4 * rng.NormFloat64() })
		for i := range y {
			y[i] += week[places[i]%7]
		}
		found[0] += len(Find(y, 7, nil))
		found[1] += len(Find(y, 7, places))
	}
	if found[1] <= found[0] {
		t.Errorf("with places %d of %d, without %d", found[1], tries, found[0])
	}
}

// Of long series blocks are compared, and steps are where the values have them.
func TestStepsOfLongSeries(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 11))
	for range 5 {
		y, places, at := daily(20_000, 0.7, rng)
		got := compared(y, 7, places)
		if len(got) != 1 || max(got[0].At-at, at-got[0].At) > 40 || math.Abs(got[0].Size-0.7) > 0.1 {
			t.Errorf("by .7 at %d: %v", at, got)
		}
	}
	// Without noise the place is exact, within a block or between two.
	for at := 1500; at < 1512; at++ {
		got := compared(made(4000, func(i int) float64 { return 5 + 1e-3*rng.NormFloat64() + 3*float64(i/at-i/(2*at)) }), 1, nil)
		if len(got) == 0 || got[0].At != at {
			t.Errorf("at %d: %v", at, got)
		}
	}
}

func TestJumpsAreFound(t *testing.T) {
	thorough.Unraced(t)
	tries := 100 / thorough.OneIn(t, 2, "series")
	for name, season := range map[string]int{"noise": 1, "a line": 1, "a season": 12} {
		for _, n := range []int{120, 600} {
			rng, found := rand.New(rand.NewPCG(uint64(n), 5)), 0
			for range tries {
				at, size := n/4+rng.IntN(n/2), 7*float64(1-2*rng.IntN(2))
				y := drawn[name](n, rng)
				for i := at; i < n; i++ {
					y[i] += size
				}
				if all := Find(y, season, nil); len(all) == 1 && max(all[0].At-at, at-all[0].At) <= 3 && math.Abs(all[0].Size-size) < 2 {
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
	all := Find(y, 1, nil)
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
		for _, j := range Find(y, 1, nil) {
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
	size := Find(y, 1, nil)[0].Size
	if got := Find(reversed, 1, nil); len(got) != 1 || got[0].At != 200-plain[0] || math.Abs(got[0].Size+size) > 1e-9 {
		t.Errorf("reversed: %v, not %v of %v", got, 200-plain[0], -size)
	}
	if got := Find(scaled, 1, nil)[0].Size; math.Abs(got+1e-3*size) > 1e-9 {
		t.Errorf("scaled: a size of %v, not of %v", got, -1e-3*size)
	}
	for name, y := range map[string][]float64{"none": nil, "few": y[:20], "equal": make([]float64, 100),
		"not a number": append(slices.Clone(y), math.NaN()), "infinite": append(slices.Clone(y), math.Inf(1))} {
		if got := Find(y, 12, nil); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := places(made(100, func(i int) float64 { return float64(i / 50) })); !slices.Equal(got, []int{50}) {
		t.Errorf("a plain step: %v", got)
	}
}
