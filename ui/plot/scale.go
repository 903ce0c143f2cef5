package plot

import "math"

// scale maps values of an axis to dots: lo to dot 0, hi to the last one.
type scale struct {
	lo, perDot float64 // in logarithms where log
	k          float64 // dots per unit
	n          int
	log        bool
}

// farDot bounds the dots of values far outside.
const farDot = 1 << 20

func newScale(lo, hi float64, dots int, log bool) scale {
	if log {
		lo, hi = math.Log(lo), math.Log(hi)
	}
	s := scale{lo: lo, n: dots, log: log, perDot: hi - lo}
	if dots > 1 {
		s.perDot = (hi - lo) / float64(dots-1)
		s.k = float64(dots-1) / (hi - lo)
	}
	return s
}

// place returns the place of a value in dots.
func (s *scale) place(v float64) float64 {
	if s.log {
		v = math.Log(v)
	}
	return (v - s.lo) * s.k
}

// dot returns the dot of a value, below 0 or from n on where it is outside;
// false where it has none.
func (s *scale) dot(v float64) (int, bool) {
	f := s.place(v)
	switch {
	case f != f:
		return 0, false
	case f < -farDot:
		return -farDot, true
	case f > farDot:
		return farDot, true
	}
	return int(math.Floor(f + 0.5)), true
}

// value is the inverse of place.
func (s *scale) value(dot float64) float64 {
	v := s.lo + dot*s.perDot
	if s.log {
		return math.Exp(v)
	}
	return v
}
