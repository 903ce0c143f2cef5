// Command dense generates the microkernels of products, triangular solves and
// factorisations, for 256 and 512 bits. See ../README.md.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set: a microkernel has rows x 2 vectors.
type isa struct {
	name  string
	lanes int // doubles in a vector
	rows  int
	reg   func() VecVirtual
}

func (s isa) bytes() int { return 8 * s.lanes }

func main() {
	ConstraintExpr("amd64")
	masks := windowMasks()
	for _, s := range []isa{
		{"AVX512", 8, 8, ZMM},
		{"AVX2", 4, 4, YMM},
	} {
		for rows := 1; rows <= s.rows; rows++ {
			s.product(rows, masks)
		}
		for rows := 1; rows <= s.rows; rows++ {
			s.solve(rows, masks)
		}
		s.peak()
		s.adam()
		s.dot()
		s.axpy()
		s.axpby()
		s.marginals()
		s.abar()
		s.panel()
		s.transposes()
	}
	Generate()
}

// windowMasks are 8 x all ones, then 8 x zero: a window into them is the mask
// of a row that ends inside two vectors of 256 bits.
func windowMasks() Mem {
	m := GLOBL("windowMasks", RODATA|NOPTR)
	for i := range 16 {
		v := uint64(math.MaxUint64)
		if i >= 8 {
			v = 0
		}
		DATA(8*i, U64(v))
	}
	return m
}

// edge is how many columns of the two vectors exist.
type edge struct {
	s    isa
	full bool        // all exist
	k    [2]Register // opmasks, or vectors of 256 bits
}

// panels emits body for panels of columns of whole tiles, one after the other,
// and again with masks for the columns left. The moving pointers, parameters,
// advance by a panel. The labels of body need the given suffix, and body ends
// with a jump to "next" + suffix or there.
func (s isa) panels(masks Mem, moving []string, body func(e edge, suffix string)) {
	cols := Load(Param("cols"), GP64())
	Label("panel")
	CMPQ(cols, U32(uint32(2*s.lanes)))
	JL(LabelRef("rest"))
	body(edge{s: s, full: true}, "full")
	Label("nextfull")
	for _, name := range moving {
		m, err := Param(name).Resolve()
		check(err)
		ADDQ(U32(uint32(2*s.bytes())), m.Addr)
	}
	SUBQ(U32(uint32(2*s.lanes)), cols)
	JMP(LabelRef("panel"))
	Label("rest")
	TESTQ(cols, cols)
	JZ(LabelRef("nextedge"))
	body(s.edge(cols, masks), "edge")
	Label("nextedge")
	VZEROUPPER()
	RET()
}

// edge makes the masks for cols columns, 1 <= cols <= 2·lanes.
func (s isa) edge(cols Register, masks Mem) edge {
	e := edge{s: s}
	if s.lanes == 8 {
		bits := GP64()
		XORQ(bits, bits)
		NOTQ(bits)
		// bits = 2^cols − 1
		BZHIQ(cols, bits, bits)
		k1, k2 := K(), K()
		KMOVW(bits.As32(), k1)
		KSHIFTRW(U8(8), k1, k2)
		e.k = [2]Register{k1, k2}
		return e
	}
	base, at := GP64(), GP64()
	LEAQ(masks, base)
	MOVQ(U32(8), at)
	SUBQ(cols, at)
	for i := range 2 {
		y := YMM()
		VMOVUPD(Mem{Base: base, Index: at, Scale: 8, Disp: 32 * i}, y)
		e.k[i] = y
	}
	return e
}

func (e edge) load(i int, m Mem, v Op) {
	m = m.Offset(i * e.s.bytes())
	switch {
	case e.full:
		VMOVUPD(m, v)
	case e.s.lanes == 8:
		VMOVUPD_Z(m, e.k[i], v)
	default:
		VMASKMOVPD(m, e.k[i], v)
	}
}

func (e edge) store(i int, v Op, m Mem) {
	m = m.Offset(i * e.s.bytes())
	switch {
	case e.full:
		VMOVUPD(v, m)
	case e.s.lanes == 8:
		VMOVUPD(v, e.k[i], m)
	default:
		VMASKMOVPD(v, e.k[i], m)
	}
}

// strided addresses rows of a matrix through two pointers and a stride.
type strided struct {
	p, p4, s, s3 Register
}

func newStrided(p, stride Register, rows int) strided {
	x := strided{p: p, s: stride}
	if rows > 3 {
		x.s3 = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, x.s3)
	}
	if rows > 4 {
		x.p4 = GP64()
		LEAQ(Mem{Base: p, Index: stride, Scale: 4}, x.p4)
	}
	return x
}

func (x strided) row(i int) Mem {
	base := x.p
	if i >= 4 {
		base, i = x.p4, i-4
	}
	switch i {
	case 1:
		return Mem{Base: base, Index: x.s, Scale: 1}
	case 2:
		return Mem{Base: base, Index: x.s, Scale: 2}
	case 3:
		return Mem{Base: base, Index: x.s3, Scale: 1}
	}
	return Mem{Base: base}
}

func (x strided) advance(by Register) {
	ADDQ(by, x.p)
	if x.p4 != nil {
		ADDQ(by, x.p4)
	}
}

func (s isa) accumulators(rows int) [][2]VecVirtual {
	acc := make([][2]VecVirtual, rows)
	for r := range acc {
		for i := range acc[r] {
			acc[r][i] = s.reg()
			VXORPD(acc[r][i], acc[r][i], acc[r][i])
		}
	}
	return acc
}

// loop adds or subtracts a·b over k, and leaves a and b behind the last terms.
func (s isa) loop(name string, rows int, k Register, a strided, acs Register, b, brs Register, e edge, acc [][2]VecVirtual, subtract bool) {
	bv := [2]VecVirtual{s.reg(), s.reg()}
	av := s.reg()
	fma := VFMADD231PD
	if subtract {
		fma = VFNMADD231PD
	}
	step := func() {
		for i := range bv {
			e.load(i, Mem{Base: b}, bv[i])
		}
		for r := range rows {
			VBROADCASTSD(a.row(r), av)
			for i := range bv {
				fma(av, bv[i], acc[r][i])
			}
		}
		a.advance(acs)
		ADDQ(brs, b)
	}
	const unroll = 4
	Label(name + "4")
	CMPQ(k, U32(unroll))
	JL(LabelRef(name + "1"))
	for range unroll {
		step()
	}
	SUBQ(U32(unroll), k)
	JMP(LabelRef(name + "4"))
	Label(name + "1")
	TESTQ(k, k)
	JZ(LabelRef(name + "0"))
	step()
	DECQ(k)
	JMP(LabelRef(name + "1"))
	Label(name + "0")
}

func (s isa) product(rows int, masks Mem) {
	TEXT(fmt.Sprintf("product%s_%d", s.name, rows), NOSPLIT,
		"func(k int, a *float64, ars, acs int, b *float64, brs int, c *float64, crs int, cols int, alpha float64, add bool)")
	Pragma("noescape")
	Doc(fmt.Sprintf("product%s_%d computes c = alpha a b, or c += alpha a b, for %d rows, panel by panel of %d columns.",
		s.name, rows, rows, 2*s.lanes),
		"Strides are in bytes.")
	s.panels(masks, []string{"b", "c"}, func(e edge, suffix string) { s.productBody(rows, e, suffix) })
}

func (s isa) productBody(rows int, e edge, suffix string) {
	k := Load(Param("k"), GP64())
	a := newStrided(Load(Param("a"), GP64()), Load(Param("ars"), GP64()), rows)
	acs := Load(Param("acs"), GP64())
	b, brs := Load(Param("b"), GP64()), Load(Param("brs"), GP64())
	acc := s.accumulators(rows)
	s.loop("k"+suffix, rows, k, a, acs, b, brs, e, acc, false)
	alpha := s.reg()
	m, err := Param("alpha").Resolve()
	check(err)
	VBROADCASTSD(m.Addr, alpha)
	c := newStrided(Load(Param("c"), GP64()), Load(Param("crs"), GP64()), rows)
	add := GP8()
	Load(Param("add"), add)
	TESTB(add, add)
	JZ(LabelRef("set" + suffix))
	old := s.reg()
	for r := range rows {
		for i := range 2 {
			e.load(i, c.row(r), old)
			VFMADD231PD(alpha, acc[r][i], old)
			e.store(i, old, c.row(r))
		}
	}
	JMP(LabelRef("next" + suffix))
	Label("set" + suffix)
	for r := range rows {
		for i := range 2 {
			VMULPD(alpha, acc[r][i], acc[r][i])
			e.store(i, acc[r][i], c.row(r))
		}
	}
}

func (s isa) solve(rows int, masks Mem) {
	TEXT(fmt.Sprintf("solve%s_%d", s.name, rows), NOSPLIT,
		"func(k int, a *float64, ars, acs int, inv *float64, b *float64, brs int, cols int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("solve%s_%d makes the %d rows c of b from row k on c = T⁻¹(c − a b), a of %d x k, T the lower", s.name, rows, rows, rows),
		"triangle that follows a, inv the inverses of its diagonal. Strides are in bytes.")
	s.panels(masks, []string{"b"}, func(e edge, suffix string) { s.solveBody(rows, e, suffix) })
}

func (s isa) solveBody(rows int, e edge, suffix string) {
	k := Load(Param("k"), GP64())
	a := newStrided(Load(Param("a"), GP64()), Load(Param("ars"), GP64()), rows)
	acs := Load(Param("acs"), GP64())
	b, brs := Load(Param("b"), GP64()), Load(Param("brs"), GP64())
	acc := s.accumulators(rows)
	s.loop("k"+suffix, rows, k, a, acs, b, brs, e, acc, true)
	c := newStrided(b, brs, rows)
	t := s.reg()
	for r := range rows {
		for i := range 2 {
			e.load(i, c.row(r), t)
			VADDPD(t, acc[r][i], acc[r][i])
		}
	}
	inv := Load(Param("inv"), GP64())
	for r := range rows {
		VBROADCASTSD(Mem{Base: inv, Disp: 8 * r}, t)
		for i := range 2 {
			VMULPD(t, acc[r][i], acc[r][i])
		}
		for q := r + 1; q < rows; q++ {
			VBROADCASTSD(a.row(q), t)
			for i := range 2 {
				VFNMADD231PD(t, acc[r][i], acc[q][i])
			}
		}
		if r < rows-1 {
			a.advance(acs)
		}
	}
	for r := range rows {
		for i := range 2 {
			e.store(i, acc[r][i], c.row(r))
		}
	}
}

// peak keeps the units of multiplication and addition busy, with registers only.
func (s isa) peak() {
	TEXT("peak"+s.name, NOSPLIT, "func(n int)")
	Doc("peak" + s.name + fmt.Sprintf(" executes n times %d fused multiply-adds on vectors of %d.", 12, s.lanes))
	n := Load(Param("n"), GP64())
	acc := make([]VecVirtual, 12)
	for i := range acc {
		acc[i] = s.reg()
		VXORPD(acc[i], acc[i], acc[i])
	}
	x := s.reg()
	VXORPD(x, x, x)
	Label("loop")
	for _, v := range acc {
		VFMADD231PD(x, x, v)
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
