package simd

import "math"

// The elementary functions in Go. Package math's are calls with branches for
// every special case; these leave all that is unusual (not finite, overflow,
// underflow) to package math and run the rest without a branch, so that the
// core works on several entries at once. The errors are below 2 units in the
// last place.

const (
	ln2Hi  = 6.93147180369123816490e-01 // 32 bits, so that small multiples are exact
	ln2Lo  = 1.90821492927058770002e-10
	expN   = 64      // entries of the table of powers of two
	round  = 3 << 51 // adding it rounds to whole numbers, in the low bits
	expMax = 707     // beyond, exp may leave the normal numbers
)

// exp2Table holds 2^(i/64).
var exp2Table = func() (t [expN]float64) {
	for i := range t {
		t[i] = math.Exp2(float64(i) / expN)
	}
	return t
}()

// expPortable sets dst = s·exp(c·x):
//
//	exp(x) = 2^(n/64) exp(r),  |r| <= log(2)/128,
//
// with a table for the first factor and the Taylor polynomial of degree 5.
func expPortable(dst, v []float64, c, s float64) {
	v = v[:len(dst)]
	for j := range dst {
		x := c * v[j]
		if !(math.Abs(x) <= expMax) {
			dst[j] = s * math.Exp(x)
			continue
		}
		t := x*(expN/math.Ln2) + round
		n := math.Float64bits(t)
		k := t - round
		r := (x - k*(ln2Hi/expN)) - k*(ln2Lo/expN)
		p := r + r*r*((0.5+r*(1.0/6))+r*r*(1.0/24+r*(1.0/120)))
		e := exp2Table[n%expN]
		y := e + e*p
		// The whole part of n/64 goes to the exponent.
		dst[j] = s * math.Float64frombits(math.Float64bits(y)+(n/expN)<<52)
	}
}

// log1pPortable sets dst to log(1+c·f) for c·f >= 0, as FreeBSD's s_log1p.c.
func log1pPortable(dst, f []float64, c float64) {
	const (
		lp1   = 6.666666666666735130e-01
		lp2   = 3.999999999940941908e-01
		lp3   = 2.857142874366239149e-01
		lp4   = 2.222219843214978396e-01
		lp5   = 1.818357216161805012e-01
		lp6   = 1.531383769920937332e-01
		lp7   = 1.479819860511658591e-01
		one   = 0x3ff0000000000000
		root  = 0x3fe6a09e667f3bcd // √½
		fract = 1<<52 - 1
	)
	f = f[:len(dst)]
	for j := range dst {
		q := c * f[j]
		if !(q >= 0 && q <= 1e300) {
			dst[j] = math.Log1p(q)
			continue
		}
		// 1+q = u + rest = 2^k (1+g), √½ <= 1+g < √2
		u := 1 + q
		rest := q - (u - 1)
		if q > 1 {
			rest = 1 - (u - q)
		}
		bits := math.Float64bits(u) + (one - root)
		k := float64(int(bits>>52) - 1023)
		g := math.Float64frombits(bits&fract+root) - 1
		half := 0.5 * g * g
		s := g / (2 + g)
		z := s * s
		w := z * z
		r := z * ((lp1 + w*(lp3+w*(lp5+w*lp7))) + z*(lp2+w*(lp4+w*lp6)))
		dst[j] = k*ln2Hi - ((half - (s*(half+r) + (k*ln2Lo + rest/u))) - g)
	}
}

// sinHalf returns sin(πu/2) for |u| <= ½ (the kernel of FreeBSD's k_sin.c). With
// w its square,
//
//	sin(πu) = 2 sin(πu/2) √(1−w),  cos(πu) = 1−2w,
//
// one polynomial for both.
func sinHalf(u float64) float64 {
	const (
		s1 = -1.66666666666666324348e-01
		s2 = 8.33333333332248946124e-03
		s3 = -1.98412698298579493134e-04
		s4 = 2.75573137070700676789e-06
		s5 = -2.50507602534068634195e-08
		s6 = 1.58969099521155010221e-10
	)
	x := math.Pi / 2 * u
	z := x * x
	w := z * z
	return x + z*x*((s1+z*s2)+w*((s3+z*s4)+w*(s5+z*s6)))
}

// sinPi returns sin(πx).
func sinPi(x float64) float64 {
	n := math.RoundToEven(x)
	s := math.Sin(math.Pi * (x - n))
	if math.Mod(n, 2) != 0 {
		return -s
	}
	return s
}

// reduce returns d/p less the nearest whole number. The remainder is exact
// (one fused multiply-add), so that it keeps its accuracy many periods away.
func reduce(d, p, inv float64) float64 {
	u := math.FMA(-math.RoundToEven(d*inv), p, d) * inv
	if !(math.Abs(u) <= 0.5000001) {
		return math.Remainder(d, p) / p // d/p has no fraction left, or is not finite
	}
	return u
}
