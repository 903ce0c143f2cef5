package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The functions of this file take the number of whole vectors; the caller sees
// to the rest.

func (s isa) broadcast(param string) VecVirtual {
	v := s.reg()
	m, err := Param(param).Resolve()
	check(err)
	VBROADCASTSD(m.Addr, v)
	return v
}

func (s isa) constant(name string, x float64) VecVirtual {
	m := GLOBL(name+s.name, RODATA|NOPTR)
	DATA(0, U64(math.Float64bits(x)))
	v := s.reg()
	VBROADCASTSD(m, v)
	return v
}

// over runs body for every vector of the pointers, which advance.
func (s isa) over(pointers []Register, body func()) {
	n := Load(Param("n"), GP64())
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("loop")
	body()
	for _, p := range pointers {
		ADDQ(U32(uint32(s.bytes())), p)
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("done")
}

func pointers(names ...string) []Register {
	var all []Register
	for _, n := range names {
		all = append(all, Load(Param(n), GP64()))
	}
	return all
}

func at(p Register) Mem { return Mem{Base: p} }

// adam: see Level.Adam.
func (s isa) adam() {
	TEXT("adam"+s.name, NOSPLIT, "func(n int, x, grad, m, v *float64, b1, b2, rate, c1, c2 float64)")
	Pragma("noescape")
	Doc("adam" + s.name + " makes m = b1 m + (1−b1) g, v = b2 v + (1−b2) g², x += rate m/(√(v c2) + 1e-8) with c1 in rate, over n vectors.")
	p := pointers("x", "grad", "m", "v")
	b1, b2, rate, c1, c2 := s.broadcast("b1"), s.broadcast("b2"), s.broadcast("rate"), s.broadcast("c1"), s.broadcast("c2")
	eps := s.constant("adamEpsilon", 1e-8)
	one := s.constant("one", 1)
	a1, a2 := s.reg(), s.reg()
	VSUBPD(b1, one, a1)
	VSUBPD(b2, one, a2)
	g, m, v := s.reg(), s.reg(), s.reg()
	s.over(p, func() {
		VMOVUPD(at(p[1]), g)
		VMULPD(at(p[2]), b1, m)
		VMULPD(at(p[3]), b2, v)
		VFMADD231PD(g, a1, m)
		VMULPD(g, g, g)
		VFMADD231PD(g, a2, v)
		VMOVUPD(m, at(p[2]))
		VMOVUPD(v, at(p[3]))
		VMULPD(v, c2, v)
		VSQRTPD(v, v)
		VADDPD(v, eps, v)
		VMULPD(m, c1, m)
		VMULPD(m, rate, m)
		VDIVPD(v, m, m)
		VADDPD(at(p[0]), m, m)
		VMOVUPD(m, at(p[0]))
	})
	VZEROUPPER()
	RET()
}

// dot sums into four vectors.
func (s isa) dot() {
	TEXT("dot"+s.name, NOSPLIT, "func(n int, x, y *float64) (sum float64)")
	Pragma("noescape")
	Doc("dot"+s.name+" returns x·y over n groups of four vectors. Nothing is stored on the way: in a caller's frame that would lie",
		"across two lines of the caches now and then.")
	p := pointers("x", "y")
	acc := make([]VecVirtual, 4)
	for i := range acc {
		acc[i] = s.reg()
		VXORPD(acc[i], acc[i], acc[i])
	}
	t := s.reg()
	n := Load(Param("n"), GP64())
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("loop")
	for i := range acc {
		VMOVUPD(Mem{Base: p[0], Disp: i * s.bytes()}, t)
		VFMADD231PD(Mem{Base: p[1], Disp: i * s.bytes()}, t, acc[i])
	}
	for _, q := range p {
		ADDQ(U32(uint32(4*s.bytes())), q)
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("done")
	VADDPD(acc[1], acc[0], acc[0])
	VADDPD(acc[3], acc[2], acc[2])
	VADDPD(acc[2], acc[0], acc[0])
	h := XMM()
	if s.lanes == 8 { // ((s₀+s₄) + (s₁+s₅)) + ((s₂+s₆) + (s₃+s₇))
		upper := YMM()
		VEXTRACTF64X4(U8(1), acc[0], upper)
		VADDPD(upper, acc[0].AsY(), upper)
		VHADDPD(upper, upper, upper)
		VEXTRACTF128(U8(1), upper, h)
		VADDSD(h, upper.AsX(), h)
	} else { // (s₀+s₂) + (s₁+s₃)
		VEXTRACTF128(U8(1), acc[0].AsY(), h)
		VADDPD(h, acc[0].AsX(), h)
		VHADDPD(h, h, h)
	}
	sum, err := ReturnIndex(0).Resolve()
	check(err)
	VMOVSD(h, sum.Addr)
	VZEROUPPER()
	RET()
}

func (s isa) axpy() {
	TEXT("axpy"+s.name, NOSPLIT, "func(n int, alpha float64, x, y *float64)")
	Pragma("noescape")
	Doc("axpy" + s.name + " computes y += alpha x over n vectors.")
	p := pointers("x", "y")
	alpha, y := s.broadcast("alpha"), s.reg()
	s.over(p, func() {
		VMOVUPD(at(p[1]), y)
		VFMADD231PD(at(p[0]), alpha, y)
		VMOVUPD(y, at(p[1]))
	})
	VZEROUPPER()
	RET()
}

func (s isa) axpby() {
	TEXT("axpby"+s.name, NOSPLIT, "func(n int, alpha, beta float64, x, y *float64)")
	Pragma("noescape")
	Doc("axpby" + s.name + " computes y = alpha x + beta y over n vectors.")
	p := pointers("x", "y")
	alpha, beta, y := s.broadcast("alpha"), s.broadcast("beta"), s.reg()
	s.over(p, func() {
		VMULPD(at(p[1]), beta, y)
		VFMADD231PD(at(p[0]), alpha, y)
		VMOVUPD(y, at(p[1]))
	})
	VZEROUPPER()
	RET()
}

// marginals: one row of the sums of a mean and a variance.
func (s isa) marginals() {
	TEXT("marginals"+s.name, NOSPLIT, "func(n int, m float64, a, ca, mu, v *float64)")
	Pragma("noescape")
	Doc("marginals" + s.name + " adds m a to mu and ca² − a² to v over n vectors.")
	p := pointers("a", "ca", "mu", "v")
	m := s.broadcast("m")
	a, ca, mu, v := s.reg(), s.reg(), s.reg(), s.reg()
	s.over(p, func() {
		VMOVUPD(at(p[0]), a)
		VMOVUPD(at(p[1]), ca)
		VMOVUPD(at(p[2]), mu)
		VMOVUPD(at(p[3]), v)
		VFMADD231PD(m, a, mu)
		VFNMADD231PD(a, a, v)
		VFMADD231PD(ca, ca, v)
		VMOVUPD(mu, at(p[2]))
		VMOVUPD(v, at(p[3]))
	})
	VZEROUPPER()
	RET()
}

// abar: one row of Ā.
func (s isa) abar() {
	TEXT("abar"+s.name, NOSPLIT, "func(n int, w, m float64, r, a, sa *float64)")
	Pragma("noescape")
	Doc("abar" + s.name + " sets sa = w (m r + a − sa) over n vectors.")
	p := pointers("r", "a", "sa")
	w, m := s.broadcast("w"), s.broadcast("m")
	t := s.reg()
	s.over(p, func() {
		VMOVUPD(at(p[1]), t)
		VSUBPD(at(p[2]), t, t)
		VFMADD231PD(at(p[0]), m, t)
		VMULPD(w, t, t)
		VMOVUPD(t, at(p[2]))
	})
	VZEROUPPER()
	RET()
}

// panel: rows of a panel of b, packed.
func (s isa) panel() {
	TEXT("panel"+s.name, NOSPLIT, "func(n int, dst, src *float64, srs int)")
	Pragma("noescape")
	Doc("panel" + s.name + fmt.Sprintf(" copies n rows of %d columns, srs bytes apart, one after the other.", 2*s.lanes))
	p := pointers("dst", "src")
	srs := Load(Param("srs"), GP64())
	n := Load(Param("n"), GP64())
	u, v := s.reg(), s.reg()
	TESTQ(n, n)
	JZ(LabelRef("done"))
	Label("loop")
	VMOVUPD(at(p[1]), u)
	VMOVUPD(Mem{Base: p[1], Disp: s.bytes()}, v)
	VMOVUPD(u, at(p[0]))
	VMOVUPD(v, Mem{Base: p[0], Disp: s.bytes()})
	ADDQ(srs, p[1])
	ADDQ(U32(uint32(2*s.bytes())), p[0])
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// transposes copies a 4x4 or 8x8 block transposed.
func (s isa) transposes() {
	TEXT("transpose"+s.name, NOSPLIT, "func(dst *float64, drs int, src *float64, srs int)")
	Pragma("noescape")
	Doc("transpose" + s.name + " stores the transpose of a square block of one vector's width. Strides are in bytes.")
	src := newStrided(Load(Param("src"), GP64()), Load(Param("srs"), GP64()), s.rows)
	dst := newStrided(Load(Param("dst"), GP64()), Load(Param("drs"), GP64()), s.rows)
	v := make([]VecVirtual, s.rows)
	for i := range v {
		v[i] = s.reg()
		VMOVUPD(src.row(i), v[i])
	}
	pairs := func(f func(a, b, lo, hi VecVirtual), order [][2]int) {
		out := make([]VecVirtual, len(v))
		for _, o := range order {
			out[o[0]], out[o[1]] = s.reg(), s.reg()
			f(v[o[0]], v[o[1]], out[o[0]], out[o[1]])
		}
		v = out
	}
	// Interleave neighbours, then exchange halves at distance 2 (and 4).
	unpack := func(a, b, lo, hi VecVirtual) {
		VUNPCKLPD(b, a, lo)
		VUNPCKHPD(b, a, hi)
	}
	if s.lanes == 4 {
		pairs(unpack, [][2]int{{0, 1}, {2, 3}})
		pairs(func(a, b, lo, hi VecVirtual) {
			VPERM2F128(U8(0x20), b, a, lo)
			VPERM2F128(U8(0x31), b, a, hi)
		}, [][2]int{{0, 2}, {1, 3}})
		for i := range v {
			VMOVUPD(v[i], dst.row(i))
		}
	} else {
		pairs(unpack, [][2]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}})
		// Now row 2i holds (a0 b0 a2 b2 a4 b4 a6 b6), row 2i+1 the odd ones.
		pairs(func(a, b, lo, hi VecVirtual) {
			VSHUFF64X2(U8(0x88), b, a, lo) // pairs 0 and 2 of both
			VSHUFF64X2(U8(0xdd), b, a, hi) // pairs 1 and 3
		}, [][2]int{{0, 2}, {1, 3}, {4, 6}, {5, 7}})
		pairs(func(a, b, lo, hi VecVirtual) {
			VSHUFF64X2(U8(0x88), b, a, lo)
			VSHUFF64X2(U8(0xdd), b, a, hi)
		}, [][2]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}})
		// Columns 0, 1 of the source came out at 0, 1; 4, 5 at 4, 5; 2, 3 at 2, 3.
		for i := range v {
			VMOVUPD(v[i], dst.row(i))
		}
	}
	VZEROUPPER()
	RET()
}
