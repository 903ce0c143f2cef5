package simd

import "math"

// The leaf kernels: the base kernels of an expression and their derivatives,
// over the entries of a tile. All arrays of a call have one length, a positive
// multiple of 8 (Padded). Sums run in a fixed order.

const (
	sqrt3 = 1.73205080756887729352744634150587236694280525381038
	sqrt5 = 2.23606797749978969640917366873127623544061835961153
)

// ExpScaled sets dst = s·exp(c·x) for c·x <= 0, as s·2^(c·log₂(e)·x).
func (l Level) ExpScaled(dst, x []float64, c, s float64) {
	if l.assembly() {
		l.vecPower(&dst[0], &x[0], len(dst), c*math.Log2E, s)
		return
	}
	expPortable(dst, x, c, s)
}

// Log2p1 sets dst = log₂(1+c·x) for c·x >= 0; beyond 1e300 c·x may count as that.
func (l Level) Log2p1(dst, x []float64, c float64) {
	if l.assembly() {
		l.vecLog2p1(&dst[0], &x[0], len(dst), c)
		return
	}
	log1pPortable(dst, x, c)
	for j := range dst {
		dst[j] *= math.Log2E
	}
}

// maxAlpha is the largest exponent for which no power that the fused code makes
// is beyond its range.
const maxAlpha = 1 << 36

// RQ sets log = log₂(1+h·f) and v = s·2^(−alpha·log).
func (l Level) RQ(v, log, f []float64, h, alpha, s float64) {
	if l.assembly() && alpha <= maxAlpha {
		l.vecRq(&v[0], &log[0], &f[0], len(v), h, -alpha, s)
		return
	}
	l.Log2p1(log, f, h)
	l.ExpScaled(v, log, -alpha*math.Ln2, s)
}

// Rational sets v = s/(1+h·f): RQ where alpha is 1.
func (l Level) Rational(v, f []float64, h, s float64) {
	if l.assembly() {
		l.vecRational(&v[0], &f[0], len(v), h, s)
		return
	}
	f = f[:len(v)]
	for j := range v {
		v[j] = s / (1 + h*f[j])
	}
}

// RQGrad sets w = a·v/(1+q), q = h·f, and returns Σ a·v, Σ w·f and
// Σ a·v·(q/(1+q) − log(2)·log).
func (l Level) RQGrad(w, a, v, f, log []float64, h float64) (sum, scale, shape float64) {
	if l.assembly() {
		return l.vecRqGrad(&w[0], &a[0], &v[0], &f[0], &log[0], len(w), h)
	}
	a, v, f, log = a[:len(w)], v[:len(w)], f[:len(w)], log[:len(w)]
	for j := range w {
		k, q := a[j]*v[j], h*f[j]
		inv := 1 / (1 + q)
		sum += k
		shape += k * (q*inv - math.Ln2*log[j])
		w[j] = k * inv
		scale += w[j] * f[j]
	}
	return sum, scale, shape
}

// Reduce sets u to d/p less the nearest whole number, |u| <= ½. The remainder is
// exact: it keeps its accuracy many periods away.
func (l Level) Reduce(u, d []float64, p, inv float64) {
	if l.assembly() {
		if l.vecReduce(&u[0], &d[0], len(u), p, inv) == 0 {
			return
		}
		// Some quotient has no fraction left or is not finite: rare and slow.
	}
	d = d[:len(u)]
	for j := range u {
		u[j] = reduce(d[j], p, inv)
	}
}

// SinCos sets sin = sin(πu) and cos = cos(πu) for |u| <= ½.
func (l Level) SinCos(sin, cos, u []float64) {
	if l.assembly() {
		l.vecSinCos(&sin[0], &cos[0], &u[0], len(sin))
		return
	}
	cos, u = cos[:len(sin)], u[:len(sin)]
	for j := range sin {
		s := sinHalf(u[j])
		w := s * s
		sin[j], cos[j] = 2*s*math.Sqrt(1-w), 1-2*w
	}
}

// PER sets, for the sine and the cosine of πd/p, sq = il·sin², sc = il·sin·cos·d·inv and
// v = s·exp(−2sq).
func (l Level) PER(v, sq, sc, sin, cos, d []float64, il, inv, s float64) {
	if l.assembly() {
		l.vecPer(&v[0], &sq[0], &sc[0], &sin[0], &cos[0], &d[0], len(v), il, il*inv, -2*math.Log2E*il, s)
		return
	}
	clear(sq)
	clear(sc)
	l.PERAdd(sq, sc, sin, cos, d, il, inv)
	expPortable(v, sq, -2, s)
}

// PERValue sets v = s·exp(−2il·sin²). v may be sin.
func (l Level) PERValue(v, sin []float64, il, s float64) {
	if l.assembly() {
		l.vecPerValue(&v[0], &sin[0], len(v), -2*math.Log2E*il, s)
		return
	}
	sin = sin[:len(v)]
	for j := range v {
		v[j] = il * (sin[j] * sin[j])
	}
	expPortable(v, v, -2, s)
}

// PERAdd adds il·sin² to sq and il·sin·cos·d·inv to sc.
func (l Level) PERAdd(sq, sc, sin, cos, d []float64, il, inv float64) {
	if l.assembly() {
		l.vecPerAdd(&sq[0], &sc[0], &sin[0], &cos[0], &d[0], len(sq), il, il*inv)
		return
	}
	sc, sin, cos, d = sc[:len(sq)], sin[:len(sq)], cos[:len(sq)], d[:len(sq)]
	for j := range sq {
		sq[j] += il * (sin[j] * sin[j])
		sc[j] += il * (sin[j] * cos[j]) * (d[j] * inv)
	}
}

// Cosine sets v = s·cos(2πu) and slope = 2πs·sin(2πu).
func (l Level) Cosine(v, slope, u []float64, s float64) {
	if l.assembly() {
		l.vecCosine(&v[0], &slope[0], &u[0], len(v), s, 2*math.Pi*s)
		return
	}
	slope, u = slope[:len(v)], u[:len(v)]
	for j := range v {
		sin, cos := math.Sincos(2 * math.Pi * (u[j] - math.RoundToEven(u[j])))
		v[j] = s * cos
		slope[j] = 2 * math.Pi * s * sin
	}
}

// Matern sets, for nu = 12, 32 and 52 and s = √(c·f), √(3c·f) and √(5c·f), v to
// variance times exp(−s), (1+s)exp(−s) and (1+s+s²/3)exp(−s).
func (l Level) Matern(nu int, v, f []float64, c, variance float64) {
	if l.assembly() {
		switch nu {
		case 12:
			l.vecMatern12(&v[0], &f[0], len(v), c, variance)
		case 32:
			l.vecMatern32(&v[0], &f[0], len(v), c, variance)
		default:
			l.vecMatern52(&v[0], &f[0], len(v), c, variance)
		}
		return
	}
	f = f[:len(v)]
	switch nu {
	case 12:
		for j := range v {
			v[j] = math.Sqrt(c * f[j])
		}
		expPortable(v, v, -1, variance)
	case 32:
		for j := range v {
			v[j] = sqrt3 * math.Sqrt(c*f[j])
		}
		expPortable(v, v, -1, variance)
		for j := range v {
			v[j] *= 1 + sqrt3*math.Sqrt(c*f[j])
		}
	default:
		for j := range v {
			v[j] = sqrt5 * math.Sqrt(c*f[j])
		}
		expPortable(v, v, -1, variance)
		for j := range v {
			s := sqrt5 * math.Sqrt(c*f[j])
			v[j] *= 1 + s + s*s/3
		}
	}
}

// MaternGrad sets w = a·v times 1/s (0 at s = 0), 3/(1+s) and
// 5(1+s)/(3+3s+s²), and returns Σ a·v and Σ w·f.
func (l Level) MaternGrad(nu int, w, a, v, f []float64, c float64) (sum, scale float64) {
	if l.assembly() {
		switch nu {
		case 12:
			return l.vecMatern12Grad(&w[0], &a[0], &v[0], &f[0], len(w), c)
		case 32:
			return l.vecMatern32Grad(&w[0], &a[0], &v[0], &f[0], len(w), c)
		}
		return l.vecMatern52Grad(&w[0], &a[0], &v[0], &f[0], len(w), c)
	}
	a, v, f = a[:len(w)], v[:len(w)], f[:len(w)]
	switch nu {
	case 12:
		for j := range w {
			k := a[j] * v[j]
			sum += k
			w[j] = 0
			if s := math.Sqrt(c * f[j]); s > 0 {
				w[j] = k / s
			}
			scale += w[j] * f[j]
		}
	case 32:
		for j := range w {
			k := a[j] * v[j]
			sum += k
			w[j] = 3 * k / (1 + sqrt3*math.Sqrt(c*f[j]))
			scale += w[j] * f[j]
		}
	default:
		for j := range w {
			k, s := a[j]*v[j], sqrt5*math.Sqrt(c*f[j])
			sum += k
			w[j] = 5 * k * (1 + s) / (3 + 3*s + s*s)
			scale += w[j] * f[j]
		}
	}
	return sum, scale
}

// Affine sets dst = s·(c·a + b).
func (l Level) Affine(dst, a []float64, c, b, s float64) {
	if l.assembly() {
		l.vecAffine(&dst[0], &a[0], len(dst), c, b, s)
		return
	}
	a = a[:len(dst)]
	for j := range dst {
		dst[j] = s * (c*a[j] + b)
	}
}

// Scaled sets dst = c·a.
func (l Level) Scaled(dst, a []float64, c float64) {
	if l.assembly() {
		l.vecScale(&dst[0], &a[0], len(dst), c)
		return
	}
	a = a[:len(dst)]
	for j := range dst {
		dst[j] = c * a[j]
	}
}

// Add sets dst = a + b.
func (l Level) Add(dst, a, b []float64) {
	if l.assembly() {
		l.vecAdd(&dst[0], &a[0], &b[0], len(dst))
		return
	}
	a, b = a[:len(dst)], b[:len(dst)]
	for j := range dst {
		dst[j] = a[j] + b[j]
	}
}

// Mul sets dst = a·b.
func (l Level) Mul(dst, a, b []float64) {
	if l.assembly() {
		l.vecMul(&dst[0], &a[0], &b[0], len(dst))
		return
	}
	a, b = a[:len(dst)], b[:len(dst)]
	for j := range dst {
		dst[j] = a[j] * b[j]
	}
}

// Dot2 returns Σ a·v and Σ a·v·x.
func (l Level) Dot2(a, v, x []float64) (sum, sumX float64) {
	if l.assembly() {
		return l.vecDot2(&a[0], &v[0], &x[0], len(a))
	}
	v, x = v[:len(a)], x[:len(a)]
	for j := range a {
		k := a[j] * v[j]
		sum += k
		sumX += k * x[j]
	}
	return sum, sumX
}

// Dot3 returns Σ a·v, Σ a·v·x and Σ a·v·y.
func (l Level) Dot3(a, v, x, y []float64) (sum, sumX, sumY float64) {
	if l.assembly() {
		return l.vecDot3(&a[0], &v[0], &x[0], &y[0], len(a))
	}
	v, x, y = v[:len(a)], x[:len(a)], y[:len(a)]
	for j := range a {
		k := a[j] * v[j]
		sum += k
		sumX += k * x[j]
		sumY += k * y[j]
	}
	return sum, sumX, sumY
}
