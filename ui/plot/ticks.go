package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// linearTicks returns at most n round places from lo to hi, evenly spaced by 1, 2 or
// 5 times a power of ten, and the space between them.
func linearTicks(lo, hi float64, n int) (ticks []float64, step float64) {
	if !(lo < hi) || n < 1 || math.IsInf(hi-lo, 0) {
		return nil, 0
	}
	const slack = 1e-9 // of a step
	for e := int(math.Floor(math.Log10((hi-lo)/float64(n+1)))) - 1; ; e++ {
		for _, m := range [...]float64{1, 2, 5} {
			step = times10(m, e)
			from, to := math.Ceil(lo/step-slack), math.Floor(hi/step+slack)
			if step == 0 || to-from+1 > float64(n) {
				continue
			}
			for i := from; i <= to; i++ {
				ticks = append(ticks, times10(i*m, e)+0) // no negative zero
			}
			return ticks, step
		}
	}
}

// times10 returns m·10^e, rounded once.
func times10(m float64, e int) float64 {
	if e < 0 && e > -300 {
		return m / math.Pow10(-e)
	}
	return m * math.Pow10(e)
}

// logTicks returns at most n places from lo to hi, both positive: powers of
// ten where there are three, else 1, 2 and 5 times these, else evenly spaced
// ones, the space between which is step; 0 for the others.
func logTicks(lo, hi float64, n int) (ticks []float64, step float64) {
	if !(0 < lo && lo < hi) || n < 1 || math.IsInf(hi, 0) {
		return nil, 0
	}
	const slack = 1e-9
	first, last := math.Ceil(math.Log10(lo)-slack), math.Floor(math.Log10(hi)+slack)
	if decades := last - first + 1; decades >= 3 || n < 3 && decades > 1 {
		stride := math.Ceil(decades / float64(n))
		for d := math.Ceil(first/stride) * stride; d <= last; d += stride {
			ticks = append(ticks, math.Pow10(int(d)))
		}
		return ticks, 0
	}
	for d := first - 1; d <= last; d++ {
		for _, m := range [...]float64{1, 2, 5} {
			if v := times10(m, int(d)); v >= lo*(1-slack) && v <= hi*(1+slack) {
				ticks = append(ticks, v)
			}
		}
	}
	if len(ticks) >= 2 && len(ticks) <= n {
		return ticks, 0
	}
	if ticks = ticks[:0]; last > first {
		return append(ticks, math.Pow10(int(first)), math.Pow10(int(last))), 0
	}
	ticks, step = linearTicks(lo, hi, n)
	return slices.DeleteFunc(ticks, func(v float64) bool { return v <= 0 }), step
}

// Number writes v with as many digits as steps of that size need, short: 0.2,
// 15, 1.5k, 3e-5. Step 0 or less: three significant digits.
func Number(v, step float64) string { return number10(v, step, math.Abs(v)) }

// Minus writes a number's hyphens as minus signs.
func Minus(number string) string { return strings.ReplaceAll(number, "-", "−") }

// number10 is Number for one of several values of which the largest is most.
func number10(v, step, most float64) string {
	switch {
	case math.IsNaN(v):
		return "·"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "−∞"
	}
	if !(step > 0) {
		if v == 0 {
			return "0"
		}
		step = math.Pow10(exponent(v) - 2)
	}
	if most >= 1e15 || most < 1e-3 && most > 0 {
		return scientific(v, exponent(v)-exponent(step))
	}
	if most >= 1e4 {
		unit, name := 1e3, "k"
		for _, u := range [...]struct {
			size float64
			name string
		}{{1e6, "M"}, {1e9, "G"}, {1e12, "T"}} {
			if most >= u.size {
				unit, name = u.size, u.name
			}
		}
		if d := -exponent(step / unit); d <= 2 {
			if v == 0 {
				return "0"
			}
			return fixed(v/unit, d) + name
		}
	}
	return fixed(v, -exponent(step))
}

// logNumber writes a tick of a log axis, whose neighbours are of other sizes.
func logNumber(v float64) string {
	switch {
	case v >= 1e15 || v < 1e-2:
		return scientific(v, 0)
	case v >= 1e3:
		return number10(v, math.Pow10(exponent(v)), max(v, 1e4))
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// exponent returns the power of ten of the first digit of v.
func exponent(v float64) int {
	if v == 0 {
		return 0
	}
	return int(math.Floor(math.Log10(math.Abs(v)) + 1e-9))
}

func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', min(max(decimals, 0), 15), 64)
	if strings.HasPrefix(s, "-") && strings.Trim(s, "-0.") == "" {
		return s[1:]
	}
	return Minus(s)
}

// scientific writes 1.5e-5 rather than 1.5e-05.
func scientific(v float64, decimals int) string {
	if v == 0 {
		return "0"
	}
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', min(max(decimals, 0), 15), 64), "e")
	sign := strings.TrimLeft(power[:1], "+")
	return Minus(mantissa+"e"+sign) + strings.TrimLeft(power[1:], "0")
}
