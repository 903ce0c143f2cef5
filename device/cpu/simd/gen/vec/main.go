// Command vec generates the vector functions of package simd: elementary
// functions, the leaves of kernel expressions forward and backward, and the
// differences of points, each for AVX2 with FMA and for AVX-512, from one source
// that is parameterised by the width of a vector.
package main

import (
	"math"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type vec = reg.VecVirtual

// gen emits one function at one width.
type gen struct {
	*build.Context
	wide   bool // 512 bits
	pool   *pool
	hoist  int // constants that may stay in registers
	kept   map[uint64]reg.Register
	order  []uint64 // constants in the order of their first use
	index  reg.GPVirtual
	ptrs   map[string]reg.Register
	scalar map[string]vec
	accs   map[string]vec
	bad    reg.Register // lanes found wanting: an opmask or a vector

	powers, inverses, logs [2]vec // tables in registers
	factor                 op.Op  // of power at 256 bits
}

const (
	symbol      = "vecdata"
	tableSymbol = "vectables"
)

// pool is the read-only data: every constant fills a whole vector of 512 bits,
// so that it can be a memory operand at both widths.
type pool struct {
	at     map[uint64]int
	bits   []uint64
	tables [][8]float64 // vectors of eight different constants, in a symbol of their own
}

func (p *pool) mem(bits uint64) op.Mem {
	i, ok := p.at[bits]
	if !ok {
		i = len(p.bits)
		p.at[bits] = i
		p.bits = append(p.bits, bits)
	}
	return op.NewDataAddr(op.NewStaticSymbol(symbol), 64*i)
}

func (p *pool) table(t [8]float64) op.Mem {
	i := slices.Index(p.tables, t)
	if i < 0 {
		i = len(p.tables)
		p.tables = append(p.tables, t)
	}
	return op.NewDataAddr(op.NewStaticSymbol(tableSymbol), 64*i)
}

func (g *gen) bytes() int {
	if g.wide {
		return 64
	}
	return 32
}

func (g *gen) v() vec {
	if g.wide {
		return g.ZMM()
	}
	return g.YMM()
}

// k is a constant as an operand: a register, or memory if none is left.
func (g *gen) k(x float64) op.Op { return g.kbits(math.Float64bits(x)) }

func (g *gen) kbits(b uint64) op.Op {
	if r, ok := g.kept[b]; ok {
		return r
	}
	if !slices.Contains(g.order, b) {
		g.order = append(g.order, b)
	}
	return g.pool.mem(b)
}

// kr is a constant in a register.
func (g *gen) kr(x float64) op.Op {
	o := g.k(x)
	if m, ok := o.(op.Mem); ok {
		r := g.v()
		g.VMOVUPD(m, r)
		return r
	}
	return o
}

// table is a vector of eight constants.
func (g *gen) table(t [8]float64) op.Op { return g.pool.table(t) }

// fn describes a function over arrays of n entries, n a positive multiple of 8.
type fn struct {
	name    string
	doc     string
	ptrs    []string // arrays
	scalars []string
	sums    []string // results: sums over the entries
	flag    bool     // a further result: not 0 if some lane was found wanting
	temps   int      // vectors that the body needs at once, with tables; 0: 9
	tables  func(g *gen)
	body    func(g *gen)
}

func (f *fn) signature() string {
	s := "func(" + strings.Join(f.ptrs, ", ") + " *float64, n int"
	if len(f.scalars) > 0 {
		s += ", " + strings.Join(f.scalars, ", ") + " float64"
	}
	s += ")"
	var results []string
	for _, r := range f.sums {
		results = append(results, r+" float64")
	}
	if f.flag {
		results = append(results, "bad uint64")
	}
	if len(results) > 0 {
		s += " (" + strings.Join(results, ", ") + ")"
	}
	return s
}

func suffix(wide bool) string {
	if wide {
		return "AVX512"
	}
	return "AVX2"
}

// emit writes the function; a rehearsal on a context that is thrown away finds
// the constants, so that they can be loaded before the loop.
func (f *fn) emit(c *build.Context, p *pool, wide bool) {
	rehearsal := &gen{Context: build.NewContext(), wide: wide, pool: &pool{at: map[uint64]int{}}}
	f.write(rehearsal, nil)
	temps := f.temps
	if temps == 0 {
		temps = 9
	}
	room := 16
	if wide {
		room = 32
	}
	g := &gen{Context: c, wide: wide, pool: p, hoist: max(0, room-temps-len(f.scalars)-len(f.sums))}
	f.write(g, rehearsal.order)
}

func (f *fn) write(g *gen, constants []uint64) {
	g.Function(f.name + suffix(g.wide))
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr(f.signature())
	g.Doc(f.name + suffix(g.wide) + " " + f.doc)
	g.ptrs, g.scalar, g.accs, g.kept = map[string]reg.Register{}, map[string]vec{}, map[string]vec{}, map[uint64]reg.Register{}
	for _, p := range f.ptrs {
		g.ptrs[p] = g.Load(g.Param(p), g.GP64())
	}
	end := g.Load(g.Param("n"), g.GP64())
	g.SHLQ(op.Imm(3), end)
	for _, s := range f.scalars {
		g.scalar[s] = g.param(s)
	}
	for _, b := range constants[:min(len(constants), g.hoist)] {
		r := g.v()
		g.VMOVUPD(g.pool.mem(b), r)
		g.kept[b] = r
	}
	for _, s := range f.sums {
		g.accs[s] = g.zero()
	}
	if f.flag {
		if g.wide {
			k := g.K()
			g.KXORW(k, k, k)
			g.bad = k
		} else {
			g.bad = g.zero()
		}
	}
	if f.tables != nil {
		f.tables(g)
	}
	g.index = g.GP64()
	g.XORQ(g.index, g.index)
	g.Label("loop")
	f.body(g)
	g.ADDQ(op.Imm(uint64(g.bytes())), g.index)
	g.CMPQ(g.index, end)
	g.JLT(op.LabelRef("loop"))
	for _, s := range f.sums {
		g.returnSum(s, g.accs[s])
	}
	if f.flag {
		r := g.GP32()
		if g.wide {
			g.KMOVW(g.bad, r)
		} else {
			g.VMOVMSKPD(g.bad, r)
		}
		g.Store(r.As64(), g.Return("bad"))
	}
	g.VZEROUPPER()
	g.RET()
}

// param is an argument in every lane.
func (g *gen) param(name string) vec {
	a, err := g.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := g.v()
	g.VBROADCASTSD(a.Addr, r)
	return r
}

func (g *gen) zero() vec {
	r := g.v()
	if g.wide {
		g.VPXORQ(r, r, r)
	} else {
		g.VXORPD(r, r, r)
	}
	return r
}

// returnSum stores the sum of the lanes, halves first.
func (g *gen) returnSum(name string, r vec) {
	if g.wide {
		h := g.YMM()
		g.VEXTRACTF64X4(op.Imm(1), r, h)
		g.VADDPD(h, r.AsY(), r.AsY())
	}
	h := g.XMM()
	g.VEXTRACTF128(op.Imm(1), r.AsY(), h)
	g.VADDPD(h, r.AsX(), r.AsX())
	g.VUNPCKHPD(r.AsX(), r.AsX(), h)
	g.VADDSD(h, r.AsX(), r.AsX())
	a, err := g.Return(name).Resolve()
	if err != nil {
		panic(err)
	}
	g.VMOVSD(r.AsX(), a.Addr)
}

// at is the array's current entries.
func (g *gen) at(p string) op.Mem { return op.Mem{Base: g.ptrs[p], Index: g.index, Scale: 1} }

func (g *gen) load(p string) vec {
	r := g.v()
	g.VMOVUPD(g.at(p), r)
	return r
}

func (g *gen) store(r op.Op, p string) { g.VMOVUPD(r, g.at(p)) }

// The arithmetic returns a new vector; the second operand may be in memory.
func (g *gen) mul(a, b op.Op) vec { r := g.v(); g.VMULPD(b, a, r); return r }
func (g *gen) add(a, b op.Op) vec { r := g.v(); g.VADDPD(b, a, r); return r }
func (g *gen) sub(a, b op.Op) vec { r := g.v(); g.VSUBPD(b, a, r); return r }
func (g *gen) div(a, b op.Op) vec { r := g.v(); g.VDIVPD(b, a, r); return r }
func (g *gen) sqrt(a op.Op) vec   { r := g.v(); g.VSQRTPD(a, r); return r }
func (g *gen) and(a, b op.Op) vec { r := g.v(); g.VANDPD(b, a, r); return r }
func (g *gen) or(a, b op.Op) vec  { r := g.v(); g.VORPD(b, a, r); return r }

// muladd sets a = a·b + c.
func (g *gen) muladd(a vec, b, c op.Op) { g.VFMADD213PD(c, b, a) }

// addmul sets a += b·c.
func (g *gen) addmul(a vec, b, c op.Op) { g.VFMADD231PD(c, b, a) }

// submul sets a −= b·c.
func (g *gen) submul(a vec, b, c op.Op) { g.VFNMADD231PD(c, b, a) }

// round is the nearest whole number, even of two.
func (g *gen) round(a op.Op) vec {
	r := g.v()
	if g.wide {
		g.VRNDSCALEPD(op.Imm(8), a, r)
	} else {
		g.VROUNDPD(op.Imm(8), a, r)
	}
	return r
}

// poly is the polynomial of x with these coefficients, lowest first, by
// Horner's rule.
func (g *gen) poly(x op.Op, c []float64) vec {
	r := g.v()
	g.VMOVUPD(g.k(c[len(c)-1]), r)
	for i := len(c) - 2; i >= 0; i-- {
		g.muladd(r, x, g.k(c[i]))
	}
	return r
}

// poly2 is poly in two chains, of the even and the odd powers, x2 = x².
func (g *gen) poly2(x, x2 op.Op, c []float64) vec {
	odd, r := g.poly(x2, even(c[1:])), g.poly(x2, even(c))
	g.addmul(r, odd, x)
	return r
}

func main() {
	c := build.NewContext()
	c.ConstraintExpr("amd64")
	p := &pool{at: map[uint64]int{}}
	for _, wide := range []bool{false, true} {
		for _, f := range functions() {
			f.emit(c, p, wide)
		}
		rows(c, p, wide)
	}
	c.StaticGlobal(symbol)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, b := range p.bits {
		for j := range 8 {
			c.AddDatum(64*i+8*j, op.U64(b))
		}
	}
	c.StaticGlobal(tableSymbol)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, t := range p.tables {
		for j, x := range t {
			c.AddDatum(64*i+8*j, op.U64(math.Float64bits(x)))
		}
	}
	finish(c)
}
