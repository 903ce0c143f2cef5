package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	op "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows emits the functions over pieces of rows: Segment {Row, Col, N, At int32}
// and Column {A, B *float64, Scale float64}.
func rows(c *build.Context, p *pool, wide bool) {
	rowFunction(c, p, wide, "vecDeltas", "sets dst[At+j] = A[Row] − B[Col+j] for the first column and every segment.",
		func(g *gen, a, b op.Op, s op.Op) vec {
			return g.sub(a, b)
		}, false)
	rowFunction(c, p, wide, "vecDistances", "sets dst[At+j] = Σ Scale·(A[Row] − B[Col+j])² over the columns.",
		func(g *gen, a, b op.Op, s op.Op) vec {
			d := g.sub(a, b)
			return g.mul(g.mul(d, d), s)
		}, true)
	rowFunction(c, p, wide, "vecProducts", "sets dst[At+j] = Σ Scale·A[Row]·B[Col+j] over the columns.",
		func(g *gen, a, b op.Op, s op.Op) vec {
			return g.mul(g.mul(s, a), b)
		}, true)
	turns(c, p, wide)
}

// turns emits the sine and the cosine of differences of angles, of whose sines and cosines the columns are:
//
//	sin(a−b) = sin a cos b − cos a sin b,  cos(a−b) = cos a cos b + sin a sin b
func turns(c *build.Context, p *pool, wide bool) {
	turnFunction(c, p, wide, "vecTurnSin", []string{"sin"}, "sets sin = A₀[Row]·B₁[Col+j] − A₁[Row]·B₀[Col+j] at At+j for every segment.")
	turnFunction(c, p, wide, "vecTurn", []string{"sin", "cos"},
		"sets sin as vecTurnSin does and cos = A₁[Row]·B₁[Col+j] + A₀[Row]·B₀[Col+j].")
}

// turnFunction emits one of them; segments are as for rowFunction.
func turnFunction(c *build.Context, p *pool, wide bool, name string, to []string, doc string) {
	g := &gen{Context: c, wide: wide, pool: p, kept: map[uint64]reg.Register{}}
	g.Function(name + suffix(wide))
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr("func(" + strings.Join(to, ", ") + " *float64, segments *int32, n int, columns **float64)")
	g.Doc(name + suffix(wide) + " " + doc)
	seg := g.Load(g.Param("segments"), g.GP64())
	n := g.Load(g.Param("n"), g.GP64())
	col := g.Load(g.Param("columns"), g.GP64())
	var dst []reg.Register
	for _, d := range to {
		dst = append(dst, g.Load(g.Param(d), g.GP64()))
	}
	const colSize, segSize = 24, 16
	row, at, from, left := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	sinA, sinB, cosA, cosB := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	for i, r := range []reg.Register{sinA, sinB, cosA, cosB} {
		g.MOVQ(op.Mem{Base: col, Disp: i/2*colSize + i%2*8}, r)
	}
	sa, ca := g.v(), g.v()
	g.Label("segment")
	g.MOVLQSX(op.Mem{Base: seg}, row)
	g.MOVLQSX(op.Mem{Base: seg, Disp: 4}, from)
	g.MOVLQSX(op.Mem{Base: seg, Disp: 8}, left)
	g.MOVLQSX(op.Mem{Base: seg, Disp: 12}, at)
	g.VBROADCASTSD(op.Mem{Base: sinA, Index: row, Scale: 8}, sa)
	g.VBROADCASTSD(op.Mem{Base: cosA, Index: row, Scale: 8}, ca)
	g.Label("entries")
	sb, cb := g.v(), g.v()
	g.VMOVUPD(op.Mem{Base: sinB, Index: from, Scale: 8}, sb)
	g.VMOVUPD(op.Mem{Base: cosB, Index: from, Scale: 8}, cb)
	for i := range to {
		var r vec
		if i == 0 {
			r = g.mul(sa, cb)
			g.submul(r, ca, sb)
		} else {
			r = g.mul(ca, cb)
			g.addmul(r, sa, sb)
		}
		g.VMOVUPD(r, op.Mem{Base: dst[i], Index: at, Scale: 8})
	}
	g.ADDQ(op.Imm(uint64(g.bytes()/8)), from)
	g.ADDQ(op.Imm(uint64(g.bytes()/8)), at)
	g.SUBQ(op.Imm(uint64(g.bytes()/8)), left)
	g.JG(op.LabelRef("entries"))
	g.ADDQ(op.Imm(segSize), seg)
	g.DECQ(n)
	g.JNE(op.LabelRef("segment"))
	g.VZEROUPPER()
	g.RET()
}

// rowFunction emits one of them. Segments are written in whole vectors, in
// ascending order of At: what a segment writes beyond its end is overwritten by
// the next. B must be readable 7 entries beyond its end, dst writable.
func rowFunction(c *build.Context, p *pool, wide bool, name, doc string, term func(g *gen, a, b, s op.Op) vec, sum bool) {
	g := &gen{Context: c, wide: wide, pool: p, kept: map[uint64]reg.Register{}}
	g.Function(name + suffix(wide))
	g.Attributes(attr.NOSPLIT)
	g.Pragma("noescape")
	g.SignatureExpr("func(dst *float64, segments *int32, n int, columns **float64, count int)")
	g.Doc(name + suffix(wide) + " " + doc)
	dst := g.Load(g.Param("dst"), g.GP64())
	seg := g.Load(g.Param("segments"), g.GP64())
	n := g.Load(g.Param("n"), g.GP64())
	col := g.Load(g.Param("columns"), g.GP64())
	count := g.Load(g.Param("count"), g.GP64())
	const colSize, segSize = 24, 16
	row, at, from, left, a, b := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	as, ss := g.v(), g.v()
	g.Label("segment")
	g.MOVLQSX(op.Mem{Base: seg}, row)
	g.MOVLQSX(op.Mem{Base: seg, Disp: 4}, from)
	g.MOVLQSX(op.Mem{Base: seg, Disp: 8}, left)
	g.MOVLQSX(op.Mem{Base: seg, Disp: 12}, at)
	g.LEAQ(op.Mem{Base: dst, Index: at, Scale: 8}, at)
	g.MOVQ(op.Mem{Base: col}, a)
	g.MOVQ(op.Mem{Base: col, Disp: 8}, b)
	g.LEAQ(op.Mem{Base: b, Index: from, Scale: 8}, b)
	g.VBROADCASTSD(op.Mem{Base: a, Index: row, Scale: 8}, as)
	g.VBROADCASTSD(op.Mem{Base: col, Disp: 16}, ss)
	if sum {
		g.CMPQ(count, op.Imm(1))
		g.JNE(op.LabelRef("several"))
	}
	g.Label("one")
	g.VMOVUPD(term(g, as, op.Mem{Base: b}, ss), op.Mem{Base: at})
	g.ADDQ(op.Imm(uint64(g.bytes())), b)
	g.ADDQ(op.Imm(uint64(g.bytes())), at)
	g.SUBQ(op.Imm(uint64(g.bytes()/8)), left)
	g.JG(op.LabelRef("one"))
	if sum {
		g.JMP(op.LabelRef("next"))
		g.Label("several")
		acc := g.zero()
		cp, left2 := g.GP64(), g.GP64()
		g.MOVQ(col, cp)
		g.MOVQ(count, left2)
		g.Label("column")
		g.MOVQ(op.Mem{Base: cp}, a)
		g.MOVQ(op.Mem{Base: cp, Disp: 8}, b)
		g.VBROADCASTSD(op.Mem{Base: a, Index: row, Scale: 8}, as)
		g.VBROADCASTSD(op.Mem{Base: cp, Disp: 16}, ss)
		g.VADDPD(term(g, as, op.Mem{Base: b, Index: from, Scale: 8}, ss), acc, acc)
		g.ADDQ(op.Imm(colSize), cp)
		g.DECQ(left2)
		g.JNE(op.LabelRef("column"))
		g.VMOVUPD(acc, op.Mem{Base: at})
		g.ADDQ(op.Imm(uint64(g.bytes()/8)), from)
		g.ADDQ(op.Imm(uint64(g.bytes())), at)
		g.SUBQ(op.Imm(uint64(g.bytes()/8)), left)
		g.JG(op.LabelRef("several"))
		g.Label("next")
	}
	g.ADDQ(op.Imm(segSize), seg)
	g.DECQ(n)
	g.JNE(op.LabelRef("segment"))
	g.VZEROUPPER()
	g.RET()
}
