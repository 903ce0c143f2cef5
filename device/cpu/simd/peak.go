package simd

import "time"

// Peak measures the fused multiply-adds that one core executes, in GFLOPS (an
// FMA counts two): the best of several short trials within about the given
// time. At Portable there is no such measure and it returns 0.
func (l Level) Peak(during time.Duration) float64 {
	if !l.assembly() {
		return 0
	}
	const n = 200_000
	best := 0.0
	for start := time.Now(); time.Since(start) < during; {
		t := time.Now()
		flops := l.peak(n)
		if g := flops / float64(time.Since(t).Nanoseconds()); g > best {
			best = g
		}
	}
	return best
}
