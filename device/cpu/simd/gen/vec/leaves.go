package main

import (
	"fmt"
	"math"

	op "github.com/mmcloughlin/avo/operand"
)

func functions() []*fn {
	list := []*fn{
		{name: "vecExp", doc: "sets dst = s·exp(c·x).", ptrs: []string{"dst", "x"}, scalars: []string{"c", "s"}, body: func(g *gen) {
			g.store(g.mul(g.exp(g.mul(g.scalar["c"], g.at("x"))), g.scalar["s"]), "dst")
		}},
		{name: "vecPower", doc: "sets dst = s·2^(c·x).", ptrs: []string{"dst", "x"}, scalars: []string{"c", "s"}, temps: 9,
			tables: powerBy("s"), body: func(g *gen) {
				g.store(g.power(g.mul(g.scalar["c"], g.at("x"))), "dst")
			}},
		{name: "vecLog1p", doc: "sets dst = log(1+c·x), c·x >= 0.", ptrs: []string{"dst", "x"}, scalars: []string{"c"}, temps: 13,
			body: func(g *gen) {
				g.store(g.log1p(g.mul(g.scalar["c"], g.at("x"))), "dst")
			}},
		{name: "vecSinPi", doc: "sets dst = sin(πx).", ptrs: []string{"dst", "x"}, body: func(g *gen) {
			x := g.load("x")
			n := g.round(x)
			r := g.sub(x, n)
			y := g.sinPi(r, g.mul(r, r))
			// The sign of an odd multiple: n/2 has the fraction ½.
			h := g.mul(n, g.k(0.5))
			odd := g.sub(h, g.round(h)) // 0 or ±½
			odd = g.and(odd, g.kbits(0x3fe<<52))
			g.VPSLLQ(op.Imm(2), odd, odd)
			odd = g.and(odd, g.kbits(1<<63))
			o := g.v()
			g.VXORPD(odd, y, o)
			g.store(o, "dst")
		}},
		{name: "vecRq", doc: "sets log = log₂(1+h·f) and v = s·2^(−alpha·log), negAlpha = −alpha, alpha <= maxAlpha.",
			ptrs: []string{"v", "log", "f"}, scalars: []string{"h", "negAlpha", "s"}, temps: 15,
			tables: func(g *gen) {
				g.powerTables(g.scalar["s"])
				g.log2Tables()
			},
			body: func(g *gen) {
				l := g.log2p1(g.mul(g.scalar["h"], g.at("f")))
				g.store(l, "log")
				g.store(g.powerOf(l, g.scalar["negAlpha"]), "v")
			}},
		{name: "vecLog2p1", doc: "sets dst = log₂(1+c·x), c·x >= 0.", ptrs: []string{"dst", "x"}, scalars: []string{"c"}, temps: 14,
			tables: (*gen).log2Tables, body: func(g *gen) {
				g.store(g.log2p1(g.mul(g.scalar["c"], g.at("x"))), "dst")
			}},
		{name: "vecRational", doc: "sets v = s/(1+h·f).", ptrs: []string{"v", "f"}, scalars: []string{"h", "s"}, body: func(g *gen) {
			d := g.load("f")
			g.muladd(d, g.scalar["h"], g.k(1))
			g.store(g.div(g.scalar["s"], d), "v")
		}},
		{name: "vecRqGrad", doc: "sets w = a·v/(1+q), q = h·f, and returns Σ a·v, Σ w·f and Σ a·v·(q/(1+q) − log(2)·log).",
			ptrs: []string{"w", "a", "v", "f", "log"}, scalars: []string{"h"}, sums: []string{"sum", "scale", "shape"}, body: func(g *gen) {
				f := g.load("f")
				q := g.mul(f, g.scalar["h"])
				inv := g.div(g.kr(1), g.add(q, g.k(1)))
				k := g.mul(g.load("a"), g.at("v"))
				g.VADDPD(k, g.accs["sum"], g.accs["sum"])
				w := g.mul(k, inv)
				g.store(w, "w")
				g.addmul(g.accs["scale"], w, f)
				t := g.mul(q, inv)
				g.submul(t, g.kr(math.Ln2), g.at("log"))
				g.addmul(g.accs["shape"], k, t)
			}},
		{name: "vecReduce", doc: "sets u = d/p less the nearest whole number, inv = 1/p. bad is not 0 if an entry is beyond ±0.5000001 or NaN.",
			ptrs: []string{"u", "d"}, scalars: []string{"p", "inv"}, flag: true, body: func(g *gen) {
				g.store(g.reduce(g.load("d"), g.scalar["p"], g.scalar["inv"]), "u")
			}},
		{name: "vecSinCos", doc: "sets sin = sin(πu) and cos = cos(πu) for |u| <= ½.", ptrs: []string{"sin", "cos", "u"}, body: func(g *gen) {
			u := g.load("u")
			z := g.mul(u, u)
			g.store(g.cosPi(z), "cos")
			g.store(g.sinPi(u, z), "sin")
		}},
		{name: "vecPer", doc: "sets sq = il·sin², sc = slope·sin·cos·d and v = s·2^(c·sin²).",
			ptrs: []string{"v", "sq", "sc", "sin", "cos", "d"}, scalars: []string{"il", "slope", "c", "s"}, temps: 10, tables: powerBy("s"),
			body: func(g *gen) {
				w, sc := g.perTerms()
				g.store(sc, "sc")
				g.store(g.mul(w, g.scalar["il"]), "sq")
				g.store(g.power(g.mul(w, g.scalar["c"])), "v")
			}},
		{name: "vecPerValue", doc: "sets v = s·2^(c·sin²).", ptrs: []string{"v", "sin"}, scalars: []string{"c", "s"},
			temps: 10, tables: powerBy("s"), body: func(g *gen) {
				s := g.load("sin")
				g.store(g.power(g.mul(g.mul(s, s), g.scalar["c"])), "v")
			}},
		{name: "vecPerAdd", doc: "adds il·sin² to sq and slope·sin·cos·d to sc.",
			ptrs: []string{"sq", "sc", "sin", "cos", "d"}, scalars: []string{"il", "slope"}, body: func(g *gen) {
				w, sc := g.perTerms()
				g.muladd(w, g.scalar["il"], g.at("sq"))
				g.store(w, "sq")
				g.store(g.add(sc, g.at("sc")), "sc")
			}},
		{name: "vecCosine", doc: "sets v = s·cos(2πu) and slope = slopeScale·sin(2πu), slopeScale = 2π·s.",
			ptrs: []string{"v", "slope", "u"}, scalars: []string{"s", "slopeScale"}, body: func(g *gen) {
				u := g.load("u")
				r := g.sub(u, g.round(u))
				z := g.mul(r, r)
				s, c := g.sinPi(r, z), g.cosPi(z)
				g.store(g.mul(g.mul(g.add(s, s), c), g.scalar["slopeScale"]), "slope")
				w := g.mul(g.mul(s, s), g.k(-2))
				g.store(g.mul(g.add(w, g.k(1)), g.scalar["s"]), "v")
			}},
		{name: "vecAdd", doc: "sets dst = a + b.", ptrs: []string{"dst", "a", "b"}, body: func(g *gen) {
			g.store(g.add(g.load("a"), g.at("b")), "dst")
		}},
		{name: "vecMul", doc: "sets dst = a·b.", ptrs: []string{"dst", "a", "b"}, body: func(g *gen) {
			g.store(g.mul(g.load("a"), g.at("b")), "dst")
		}},
		{name: "vecScale", doc: "sets dst = c·a.", ptrs: []string{"dst", "a"}, scalars: []string{"c"}, body: func(g *gen) {
			g.store(g.mul(g.scalar["c"], g.at("a")), "dst")
		}},
		{name: "vecAffine", doc: "sets dst = s·(c·a + b).", ptrs: []string{"dst", "a"}, scalars: []string{"c", "b", "s"}, body: func(g *gen) {
			x := g.load("a")
			g.muladd(x, g.scalar["c"], g.scalar["b"])
			g.store(g.mul(x, g.scalar["s"]), "dst")
		}},
		{name: "vecDot2", doc: "returns Σ a·v and Σ a·v·x.", ptrs: []string{"a", "v", "x"}, sums: []string{"sum", "sumX"}, body: func(g *gen) {
			k := g.mul(g.load("a"), g.at("v"))
			g.VADDPD(k, g.accs["sum"], g.accs["sum"])
			g.addmul(g.accs["sumX"], k, g.at("x"))
		}},
		{name: "vecDot3", doc: "returns Σ a·v, Σ a·v·x and Σ a·v·y.", ptrs: []string{"a", "v", "x", "y"},
			sums: []string{"sum", "sumX", "sumY"}, body: func(g *gen) {
				k := g.mul(g.load("a"), g.at("v"))
				g.VADDPD(k, g.accs["sum"], g.accs["sum"])
				g.addmul(g.accs["sumX"], k, g.at("x"))
				g.addmul(g.accs["sumY"], k, g.at("y"))
			}},
	}
	for _, nu := range []int{12, 32, 52} {
		list = append(list, matern(nu), maternGrad(nu))
	}
	return list
}

func powerBy(scalar string) func(g *gen) {
	return func(g *gen) { g.powerTables(g.scalar[scalar]) }
}

// perTerms is sin² and slope·sin·cos·d.
func (g *gen) perTerms() (sin2, sc vec) {
	s := g.load("sin")
	sc = g.mul(s, g.at("cos"))
	return g.mul(s, s), g.mul(sc, g.mul(g.scalar["slope"], g.at("d")))
}

// distance is s = √(2ν·c·f).
func (g *gen) distance(nu int, f op.Op) vec {
	r := g.sqrt(g.mul(g.scalar["c"], f))
	switch nu {
	case 32:
		r = g.mul(r, g.k(math.Sqrt(3)))
	case 52:
		r = g.mul(r, g.k(math.Sqrt(5)))
	}
	return r
}

func matern(nu int) *fn {
	shape := map[int]string{12: "", 32: "(1+s)·", 52: "(1+s+s²/3)·"}[nu]
	return &fn{name: fmt.Sprintf("vecMatern%d", nu), doc: fmt.Sprintf("sets v = variance·%sexp(−s), s = √(%d·c·f).", shape, nu/10),
		ptrs: []string{"v", "f"}, scalars: []string{"c", "variance"}, temps: 10, tables: powerBy("variance"), body: func(g *gen) {
			s := g.distance(nu, g.load("f"))
			e := g.power(g.mul(s, g.k(-math.Log2E)))
			switch nu {
			case 32:
				e = g.mul(e, g.add(s, g.k(1)))
			case 52:
				p := g.mul(s, g.k(1.0/3))
				g.muladd(p, s, s)
				e = g.mul(e, g.add(p, g.k(1)))
			}
			g.store(e, "v")
		}}
}

func maternGrad(nu int) *fn {
	slope := map[int]string{12: "1/s (0 at s = 0)", 32: "3/(1+s)", 52: "5(1+s)/(3+3s+s²)"}[nu]
	return &fn{name: fmt.Sprintf("vecMatern%dGrad", nu),
		doc:  fmt.Sprintf("sets w = a·v·%s, s = √(%d·c·f), and returns Σ a·v and Σ w·f.", slope, nu/10),
		ptrs: []string{"w", "a", "v", "f"}, scalars: []string{"c"}, sums: []string{"sum", "scale"}, body: func(g *gen) {
			f := g.load("f")
			s := g.distance(nu, f)
			k := g.mul(g.load("a"), g.at("v"))
			g.VADDPD(k, g.accs["sum"], g.accs["sum"])
			var w vec
			switch nu {
			case 12:
				w = g.div(k, s)
				if g.wide {
					m := g.K()
					g.VCMPPD(op.Imm(lessThan), s, g.kr(0), m)
					g.VMOVAPD_Z(w, m, w)
				} else {
					m := g.v()
					g.VCMPPD(op.Imm(lessThan), s, g.kr(0), m)
					w = g.and(m, w)
				}
			case 32:
				w = g.div(g.mul(k, g.k(3)), g.add(s, g.k(1)))
			case 52:
				t := g.add(s, g.k(3))
				g.muladd(t, s, g.k(3))
				w = g.div(g.mul(g.mul(k, g.k(5)), g.add(s, g.k(1))), t)
			}
			g.store(w, "w")
			g.addmul(g.accs["scale"], w, f)
		}}
}
