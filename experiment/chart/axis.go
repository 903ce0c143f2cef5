package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// figureAxis maps values of an axis to places on the paper.
type figureAxis struct {
	lo, hi   float64 // lo > hi: downwards
	log      bool
	from, to vg.Length
}

// farAway bounds places far outside, in points.
const farAway = 1e6

// largest is what can be drawn, so that limits beyond it are still finite.
const largest = 1e250

// has says whether a value has a place on the axis.
func (a *figureAxis) has(v float64) bool {
	return math.Abs(v) <= largest && (!a.log || v >= 1/largest)
}

// part returns where a value stands between lo (0) and hi (1).
func (a *figureAxis) part(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		v, lo, hi = math.Log10(v), math.Log10(lo), math.Log10(hi)
	}
	return (v - lo) / (hi - lo)
}

func (a *figureAxis) place(v float64) vg.Length {
	p := float64(a.from) + a.part(v)*float64(a.to-a.from)
	return vg.Length(min(max(p, -farAway), farAway))
}

// contains says whether a value lies within the limits.
func (a *figureAxis) contains(v float64) bool {
	const slack = 1e-9
	return a.has(v) && a.part(v) > -slack && a.part(v) < 1+slack
}

// Extent gathers the limits of data.
type Extent struct {
	Lo, Hi float64
	Any    bool
}

// Add widens the extent to v.
func (e *Extent) Add(v float64) {
	if !e.Any {
		*e = Extent{v, v, true}
	}
	e.Lo, e.Hi = min(e.Lo, v), max(e.Hi, v)
}

// padded returns limits a little beyond the data's; margin is a part of their
// distance.
func (e Extent) padded(log bool, margin float64) (lo, hi float64) {
	lo, hi = e.Lo, e.Hi
	if log {
		if hi/lo < 1+1e-12 {
			return lo / 2, hi * 2
		}
		k := math.Pow(10, margin*(math.Log10(hi)-math.Log10(lo)))
		return lo / k, hi * k
	}
	size := max(math.Abs(lo), math.Abs(hi))
	pad := margin * (hi - lo)
	switch {
	case size < 1/largest:
		pad = 1
	case hi-lo <= size*1e-12: // all the same but for rounding
		pad = size / 10
	}
	return lo - pad, hi + pad
}

// figureTick is a place on an axis; without text a small one.
type figureTick struct {
	at float64
	tickText
}

// tickText is a number, as a rule without an exponent. Fonts lack a raised
// minus sign.
type tickText struct{ text, raised string }

// ticks divides an axis at round numbers, about want of them. factor is
// what the numbers are to be multiplied by, as a rule nothing.
func (a *figureAxis) ticks(want int) (ticks []figureTick, factor tickText) {
	lo, hi := min(a.lo, a.hi), max(a.lo, a.hi)
	if a.log {
		if ticks := logTicks(lo, hi, want); len(ticks) > 0 {
			return ticks, tickText{}
		}
	}
	at, step := RoundNumbers(lo, hi, want)
	exponent := 0
	// Numbers such as 20000 and 0.005 are written out, as are those that would
	// be long all the same.
	size, digit := magnitude(max(math.Abs(lo), math.Abs(hi))), magnitude(step)
	if (size > 4 || size < -3) && size-digit < 4 && digit != 0 {
		exponent = digit
		factor = powerOfTen("×", digit)
	}
	decimals := max(0, exponent-digit)
	for _, v := range at {
		ticks = append(ticks, figureTick{v, tickText{text: decimal(v/math.Pow(10, float64(exponent)), decimals)}})
	}
	return ticks, factor
}

// at labels given numbers.
func (a *figureAxis) at(values []float64) (ticks []figureTick) {
	for _, v := range values {
		if a.contains(v) {
			ticks = append(ticks, figureTick{v, tickText{text: decimal(v, -1)}})
		}
	}
	return ticks
}

// magnitude is the exponent of ten of a positive number; that of a power of ten
// that rounding has left a little below it is its own.
func magnitude(v float64) int { return int(math.Floor(math.Log10(v) + 1e-9)) }

// RoundNumbers returns the multiples of 1, 2 or 5 times a power of ten from lo
// to hi, about want.
func RoundNumbers(lo, hi float64, want int) (at []float64, step float64) {
	raw := (hi - lo) / float64(want)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step = 10 * power
	switch m := raw / power; { // to the nearest ratio
	case m < math.Sqrt(2):
		step = power
	case m < math.Sqrt(10):
		step = 2 * power
	case m < math.Sqrt(50):
		step = 5 * power
	}
	const slack = 1e-9
	first := math.Ceil(lo/step - slack)
	for i := range 3 * want {
		v := (first + float64(i)) * step
		if v > hi+slack*step {
			break
		}
		if v == 0 {
			v = 0 // not −0
		}
		at = append(at, v)
	}
	return at, step
}

// logTicks labels powers of ten, or where there are few also their multiples;
// none if that leaves less than two.
func logTicks(lo, hi float64, want int) []figureTick {
	const slack = 1e-9
	first, last := int(math.Ceil(math.Log10(lo)-slack)), int(math.Floor(math.Log10(hi)+slack))
	stride := max(1, (last-first+want)/want)
	labelled := []float64{1}
	if last-first < 1 {
		labelled = []float64{1, 2, 5}
	} else if last-first < 2 {
		labelled = []float64{1, 3}
	}
	var ticks []figureTick
	count := 0
	plain := lo >= 1e-4 && hi < 1e5
	for e := first - 1; e <= last; e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, float64(e))
			if v < lo*(1-slack) || v > hi*(1+slack) {
				continue
			}
			t := figureTick{at: v}
			switch {
			case !slices.Contains(labelled, m) || (e-first)%stride != 0 && stride > 1:
				if stride > 2 && m > 1 {
					continue
				}
			case plain:
				t.text = decimal(v, max(0, -e))
			case m == 1:
				t.tickText = powerOfTen("", e)
			default:
				t.tickText = powerOfTen(strconv.Itoa(int(m))+"×", e)
			}
			if t.text != "" {
				count++
			}
			ticks = append(ticks, t)
		}
	}
	if count < 2 {
		return nil
	}
	return ticks
}

// decimal writes a number with a true minus sign, and none before 0.
func decimal(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if rest, negative := strings.CutPrefix(s, "-"); negative {
		if strings.Trim(rest, "0.") == "" {
			return rest
		}
		return "−" + rest
	}
	return s
}

func powerOfTen(times string, e int) tickText {
	return tickText{times + "10", decimal(float64(e), 0)}
}
