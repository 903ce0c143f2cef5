package main

import (
	"math"

	op "github.com/mmcloughlin/avo/operand"
)

const (
	ln2Hi = 6.93147180369123816490e-01 // 32 bits: small multiples are exact
	ln2Lo = 1.90821492927058770002e-10
)

// Coefficients: interpolation at Chebyshev nodes in 50 digits.
var (
	// (exp(r) − 1 − r)/r² on |r| <= log(2)/2, error 1e-16
	expCoef = []float64{0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062, 0.0013888888917213717,
		0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06, 2.7620088445409746e-07, 2.510038549551032e-08}
	// the same on |r| <= log(2)/16, error 1e-15
	expShort = []float64{0.5000000000000051, 0.16666666666666724, 0.0416666666175068, 0.008333333327871156, 0.0013889587247893672,
		0.0001984204579240919}
	// 2^(i/8) and what its float64 lacks
	expTable = [8]float64{1.0, 1.0905077326652577, 1.189207115002721, 1.2968395546510096, 1.4142135623730951, 1.5422108254079407,
		1.681792830507429, 1.8340080864093424}
	expRest = [8]float64{0.0, -3.046782079812471e-17, 3.982015231465646e-17, 2.5382502794888315e-17, -9.667293313452913e-17,
		7.949834809697621e-17, 8.199010020581497e-17, 3.283107224245627e-17}
	// (sin(πr)/r − π)/r² in r² on |r| <= ½
	sinCoef = []float64{-5.16771278004997, 2.55016403987734, -0.599264529320343, 0.08214588659675226, -0.007370430719633867,
		0.0004663008741103597, -2.190620164062443e-05, 7.72574285225615e-07}
	// (cos(πr) − 1)/r² in r²
	cosCoef = []float64{-4.934802200544679, 4.058712126416736, -1.3352627688518803, 0.23533063027215734, -0.02580689002587105,
		0.001929562652452103, -0.0001045828635957829, 4.166399355069221e-06}
)

// Base two: what the leaves use. Their results are powers of two of a product,
// so that reducing the argument is one exact subtraction.
var (
	// (2^r − 1)/r on |r| <= 1/32, error 2e-17 of 2^r
	powerShort = []float64{0.6931471805599457, 0.24022650695910075, 0.05550410865630706, 0.009618129106890753, 0.0013333786067768005,
		0.00015403727871878627}
	// the same on |r| <= ½, error 5e-17
	powerCoef = []float64{0.6931471805599453, 0.24022650695910072, 0.055504108664821625, 0.00961812910762848, 0.0013333558146406295,
		0.00015403530393370645, 1.5252733841782436e-05, 1.321548680881726e-06, 1.01780569717918e-07, 7.054897246767236e-09,
		4.4558384999982015e-10, 2.5729426100386435e-11}
	// 2^(i/16)
	powerTable = [2][8]float64{
		{1.0, 1.0442737824274138, 1.0905077326652577, 1.1387886347566916,
			1.189207115002721, 1.241857812073484, 1.2968395546510096, 1.3542555469368927},
		{1.4142135623730951, 1.4768261459394993, 1.5422108254079407, 1.6104903319492543,
			1.681792830507429, 1.7562521603732995, 1.8340080864093424, 1.9152065613971474},
	}
	// log₂(1+r)/r on −0.0295 <= r <= 0.03125, error 2e-17
	log2Coef = []float64{1.4426950408889634, -0.7213475204444781, 0.4808983469631284, -0.36067376027329895, 0.2885390072861732,
		-0.24044897227386774, 0.20610101519011997, -0.18063156796225205, 0.15937965558424666}
	// 1/c and log₂c for the middles c of 16 parts of [log2Offset, 2·log2Offset), one
	// of which has c = 1
	log2Inverse = [2][8]float64{
		{1.3913043478260871, 1.3333333333333335, 1.28, 1.2307692307692308,
			1.1851851851851853, 1.142857142857143, 1.103448275862069, 1.0666666666666667},
		{1.032258064516129, 1.0, 0.9411764705882354, 0.888888888888889, 0.8421052631578948, 0.8, 0.761904761904762, 0.7272727272727273},
	}
	log2Table = [2][8]float64{
		{-0.47643804394298733, -0.415037499278844, -0.35614381022527536, -0.29956028185890793,
			-0.24511249783653163, -0.1926450779423961, -0.14201900487242786, -0.09310940439148145},
		{-0.045803689613124754, 0.0, 0.08746284125033926, 0.16992500144231226,
			0.24792751344358538, 0.3219280948873623, 0.39231742277876014, 0.4594316186372972},
	}
)

const (
	log2Offset = 0.703125
	powerMagic = 3 << 47 // its last bit is worth 1/16
	// What power has for less than 2^powerLeast is 0: no number that follows from it, a product of two of
	// them included, is then subnormal, for which processors take a hundred times as long as for others.
	powerLeast = -500
)

// Comparisons of VCMPPD.
const (
	lessThan    = 1 // false for NaN
	notLessThan = 5 // true for NaN
)

const piLo = 1.2246467991473532e-16 // π less its float64

func even(c []float64) (r []float64) {
	for i := 0; i < len(c); i += 2 {
		r = append(r, c[i])
	}
	return r
}

// exp is the exponential of x, with exp(r) = 1 + p, p = r + r²Q(r):
//
//	AVX-512: 2^(n/8) (1+p),  |r| <= log(2)/16, the eighths from a table in registers
//	AVX2:    2ⁿ (1+p),       |r| <= log(2)/2
//
// Arguments are clamped to where the result is 0 or +Inf already; the clamp's
// operands are ordered so that NaN passes.
func (g *gen) exp(x op.Op) vec {
	y := g.v()
	if g.wide {
		return g.expWide(x, y)
	}
	g.VMINPD(x, g.kr(710), y)
	g.VMAXPD(y, g.kr(-750), y)
	n := g.round(g.mul(y, g.k(math.Log2E)))
	p := g.expPoly(y, n, expCoef)
	return g.mulPower(g.add(p, g.k(1)), n)
}

// expWide rounds to eighths by adding magic, whose last bit is worth ⅛: the low
// three bits are the index into the table, and scaling takes the floor of n/8.
func (g *gen) expWide(x op.Op, y vec) vec {
	const magic = 3 << 48
	g.VMINPD(x, g.kr(1000), y)
	g.VMAXPD(y, g.kr(-1000), y)
	t := g.v()
	g.VMOVUPD(y, t)
	g.muladd(t, g.kr(math.Log2E), g.k(magic))
	n := g.sub(t, g.k(magic))
	p := g.expPoly(y, n, expShort)
	hi, lo := g.v(), g.v()
	g.VPERMPD(g.table(expTable), t, hi)
	g.VPERMPD(g.table(expRest), t, lo)
	g.muladd(p, hi, lo)
	p = g.add(p, hi)
	g.VSCALEFPD(n, p, p)
	return p
}

// expPoly is r + r²Q(r) for r = y − n·log 2; Q in two chains, of the even and the
// odd powers.
func (g *gen) expPoly(y vec, n op.Op, coef []float64) vec {
	g.submul(y, n, g.k(ln2Hi))
	g.submul(y, n, g.k(ln2Lo))
	r2 := g.mul(y, y)
	q := g.poly2(y, r2, coef)
	g.muladd(q, r2, y)
	return q
}

// powerTables loads the table of power, times s.
func (g *gen) powerTables(s op.Op) {
	if !g.wide {
		g.factor = s
		return
	}
	for i := range g.powers {
		g.powers[i] = g.mul(s, g.table(powerTable[i]))
	}
}

// power is s·2^y, s of powerTables: 2^y = 2^(n/16)(1+p) with |p| < 0.022 and the
// sixteenths from a table in registers, or, at 256 bits, 2ⁿ(1+p). For y < powerLeast
// it is 0; NaN passes.
func (g *gen) power(y vec) vec {
	if !g.wide {
		return g.powerNarrow(y)
	}
	t := g.add(y, g.k(powerMagic))
	n := g.sub(t, g.k(powerMagic))
	return g.sixteenths(t, n, g.sub(y, n))
}

// powerOf is power of c·x for |c·x| < 2^46: with fused multiply-adds for the
// product its latency is less.
func (g *gen) powerOf(x vec, c op.Op) vec {
	if !g.wide {
		return g.power(g.mul(x, c))
	}
	t, r := g.v(), g.v()
	g.VMOVUPD(x, t)
	g.muladd(t, c, g.k(powerMagic))
	n := g.sub(t, g.k(powerMagic))
	g.VMOVUPD(n, r)
	g.VFMSUB231PD(c, x, r)
	return g.sixteenths(t, n, r)
}

// sixteenths is s·2^(n+r) for |r| <= 1/32 where t = n + powerMagic, 0 for n < powerLeast.
func (g *gen) sixteenths(t, n, r vec) vec {
	enough := g.K()
	g.VCMPPD(op.Imm(notLessThan), g.k(powerLeast), n, enough)
	g.VPERMI2PD(g.powers[1], g.powers[0], t)
	q := g.poly(r, powerShort)
	r = g.mul(r, t)
	g.muladd(q, r, t)
	g.VSCALEFPD_Z(n, q, enough, q)
	return q
}

func (g *gen) powerNarrow(y vec) vec {
	enough := g.v()
	g.VCMPPD(op.Imm(notLessThan), g.k(powerLeast), y, enough)
	g.VMINPD(y, g.kr(1025), y)
	g.VMAXPD(y, g.kr(powerLeast), y)
	n := g.round(y)
	r := g.sub(y, n)
	p := g.poly2(r, g.mul(r, r), powerCoef)
	g.muladd(p, r, g.k(1))
	return g.and(g.mul(g.mulPower(p, n), g.factor), enough)
}

// mulPower is p·2ⁿ by two powers of two, each a normal number, so that only the
// last product rounds and subnormal results are right. Adding magic leaves n +
// 1023 in the low bits.
func (g *gen) mulPower(p vec, n op.Op) vec {
	const magic = 3<<51 + 1023
	t1 := g.v()
	g.VMOVUPD(n, t1)
	g.muladd(t1, g.kr(0.5), g.k(magic))
	n1 := g.sub(t1, g.k(magic))
	t2 := g.add(g.sub(n, n1), g.k(magic))
	g.VPSLLQ(op.Imm(52), t1, t1)
	g.VPSLLQ(op.Imm(52), t2, t2)
	return g.mul(g.mul(p, t1), t2)
}

// log2Tables loads the tables of log2p1.
func (g *gen) log2Tables() {
	if !g.wide {
		return
	}
	for i := range g.inverses {
		g.inverses[i], g.logs[i] = g.v(), g.v()
		g.VMOVUPD(g.table(log2Inverse[i]), g.inverses[i])
		g.VMOVUPD(g.table(log2Table[i]), g.logs[i])
	}
}

// log2p1 is log₂(1+q) for q >= 0, where beyond 1e300 counts as that; NaN passes.
// At 512 bits there is no division:
//
//	1+q = u + rest,  u = 2ᵏm,  m/c = 1 + r,  log₂(1+q) = k + log₂c + log₂(1+r) + 2⁻ᵏ rest log₂(e)
//
// with c from a table by the leading four bits of m. Near 1 c is 1, r exact and
// the last term, rest/m·2⁻ᵏ log₂(e), is right; elsewhere it is below the last place.
func (g *gen) log2p1(q vec) vec {
	if !g.wide {
		return g.mul(g.log1p(q), g.k(math.Log2E))
	}
	g.VMINPD(q, g.kr(1e300), q)
	u := g.add(q, g.k(1))
	rest := g.sub(q, g.sub(u, g.k(1))) // exact
	t, i, j, k := g.v(), g.v(), g.v(), g.v()
	g.VPSUBQ(g.kbits(math.Float64bits(log2Offset)), u, t)
	g.VPSRLQ(op.Imm(48), t, i)
	g.VMOVUPD(i, j)
	e := g.and(t, g.kbits(0xfff<<52)) // k in the exponent's place
	m := g.v()
	g.VPSUBQ(e, u, m)
	g.VPERMI2PD(g.inverses[1], g.inverses[0], i)
	g.muladd(m, i, g.k(-1))
	g.VPSRLQ(op.Imm(52), t, k)
	g.VCVTQQ2PD(k, k)
	g.VPERMI2PD(g.logs[1], g.logs[0], j)
	scale := g.v()
	g.VMOVUPD(g.kbits(math.Float64bits(math.Log2E)), scale)
	g.VPSUBQ(e, scale, scale) // 2⁻ᵏ log₂(e)
	l := g.add(k, j)
	g.addmul(l, rest, scale)
	g.addmul(l, g.poly2(m, g.mul(m, m), log2Coef), m)
	return l
}

// log1p is log(1+q) for q >= 0, as FreeBSD's s_log1p.c:
//
//	1+q = u + rest = 2ᵏ(1+g+c),  √½ <= 1+g < √2
//	log(1+g) = g − (g²/2 − s(g²/2 + R(s²))),  s = g/(2+g)
//
// and c/(1+g) = c(1 − 2s + 2s² − …) is added. What is not finite passes.
func (g *gen) log1p(q op.Op) vec {
	const (
		one   = 0x3ff0000000000000
		root  = 0x3fe6a09e667f3bcd // √½
		fract = 1<<52 - 1
	)
	lp := []float64{6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
		1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01}
	onev := g.kr(1)
	u := g.add(q, onev)
	hi, lo := g.v(), g.v()
	g.VMAXPD(q, onev, hi)
	g.VMINPD(q, onev, lo)
	rest := g.sub(lo, g.sub(u, hi))
	e := g.v()
	g.VPADDQ(g.kbits(one-root), u, e)
	k := g.v()
	g.VPSRLQ(op.Imm(52), e, k)
	k = g.sub(g.or(k, g.k(1<<52)), g.k(1<<52+1023))
	m := g.and(e, g.kbits(fract))
	g.VPADDQ(g.kbits(root), m, m)
	f := g.sub(m, onev)
	// 2⁻ᵏ: 2046 less the exponent
	exponent := g.and(e, g.kbits(0xfff<<52))
	scale := g.v()
	big := g.v()
	g.VMOVUPD(g.kbits(0x7fe<<52), big)
	g.VPSUBQ(exponent, big, scale)
	c := g.mul(rest, scale)
	s := g.div(f, g.add(f, g.k(2)))
	z := g.mul(s, s)
	w := g.mul(z, z)
	r := g.poly(w, even(lp))
	g.addmul(r, z, g.poly(w, even(lp[1:])))
	half := g.mul(g.mul(f, f), g.k(0.5))
	g.muladd(r, z, half) // g²/2 + R
	d := g.sub(s, onev)
	g.muladd(d, g.add(s, s), onev)
	low := g.mul(c, d)
	g.addmul(low, k, g.k(ln2Lo))
	g.muladd(r, s, low)
	y := g.sub(g.sub(half, r), f)
	out := g.mul(k, g.k(ln2Hi))
	out = g.sub(out, y)
	if g.wide {
		mask := g.K()
		g.VCMPPD(op.Imm(lessThan), g.k(math.Inf(1)), q, mask)
		res := g.v()
		g.VBLENDMPD(out, q, mask, res)
		return res
	}
	mask := g.v()
	g.VCMPPD(op.Imm(lessThan), g.k(math.Inf(1)), q, mask)
	res := g.v()
	g.VBLENDVPD(mask, out, q, res)
	return res
}

// sinPi is sin(πr) for |r| <= ½, with one rounding more than the last.
func (g *gen) sinPi(r, z op.Op) vec {
	t := g.poly2(z, g.mul(z, z), sinCoef[1:])
	g.muladd(t, z, g.k(sinCoef[0])) // the odd chain's rounding is too large for this one
	g.muladd(t, z, g.k(piLo))
	t = g.mul(t, r)
	g.addmul(t, r, g.k(math.Pi))
	return t
}

// cosPi is cos(πr) for |r| <= ½, accurate to 1e-16 absolutely.
func (g *gen) cosPi(z op.Op) vec {
	t := g.poly2(z, g.mul(z, z), cosCoef)
	g.muladd(t, z, g.k(1))
	return t
}

// reduce is d/p less the nearest whole number, inv = 1/p. The remainder is
// exact: one fused multiply-add. Lanes where the quotient has no fraction left
// or is not finite are noted as bad.
func (g *gen) reduce(d, p, inv op.Op) vec {
	n := g.round(g.mul(d, inv))
	r := g.v()
	g.VMOVUPD(d, r)
	g.submul(r, n, p)
	u := g.mul(r, inv)
	g.noteUnless(u, 0.5000001)
	return u
}

// noteUnless notes the lanes where |u| <= limit does not hold.
func (g *gen) noteUnless(u op.Op, limit float64) {
	const notLessOrEqual = 6 // true for NaN
	abs := g.and(u, g.kbits(1<<63-1))
	if g.wide {
		m := g.K()
		g.VCMPPD(op.Imm(notLessOrEqual), g.k(limit), abs, m)
		g.KORW(m, g.bad, g.bad)
		return
	}
	m := g.v()
	g.VCMPPD(op.Imm(notLessOrEqual), g.k(limit), abs, m)
	g.VORPD(m, g.bad, g.bad)
}
