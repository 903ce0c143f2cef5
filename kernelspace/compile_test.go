package kernelspace

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// freeNames writes a program's free parameters as leaf:name, in short.
func freeNames(p *Program) string {
	var names []string
	for _, i := range p.Free {
		name := fmt.Sprintf("%d:%.3s", p.Params[i].Leaf, p.Params[i].Name)
		if c := p.Params[i].Column; c >= 0 && p.Dim > 1 {
			name += fmt.Sprint(c)
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestFreeParameters(t *testing.T) {
	for _, c := range []struct {
		expr string
		opt  Options
		free string
	}{
		{"SE", Options{Dim: 1}, "0:var 0:len"},
		{"RQ", Options{Dim: 1}, "0:var 0:len 0:alp"},
		{"LIN", Options{Dim: 1}, "0:var"},
		{"LIN", Options{Dim: 1, ARD: true}, "0:var"},
		{"PER", Options{Dim: 1}, "0:var 0:len 0:per"},
		{"POLY3", Options{Dim: 1}, "0:var 0:off"},
		{"COS+WN+CONST", Options{Dim: 1}, "0:var 0:per 1:var 2:var"},
		{"PER*LIN*RQ", Options{Dim: 1}, "0:var 0:len 0:per 2:len 2:alp"},
		{"(PER+RQ)*LIN", Options{Dim: 1}, "0:var 0:len 0:per 1:var 1:len 1:alp"},
		{"LIN*(PER+RQ)", Options{Dim: 1}, "1:var 1:len 1:per 2:var 2:len 2:alp"},
		{"LIN*LIN*WN*CONST", Options{Dim: 1}, "0:var"},
		{"(SE+LIN)*(RQ+LIN*PER)", Options{Dim: 1}, "0:var 0:len 1:var 2:len 2:alp 3:var 4:len 4:per"},
		{"SE", Options{Dim: 2}, "0:var 0:len"},
		{"SE", Options{Dim: 2, ARD: true}, "0:var 0:len0 0:len1"},
		{"SE[;iso]+SE[2]", Options{Dim: 2, ARD: true}, "0:var 0:len 1:var 1:len1"},
		{"SE[3,1;ard]", Options{Dim: 3}, "0:var 0:len2 0:len0"},
		{"PER", Options{Dim: 2}, "0:var 0:len 0:per0 0:per1"},
		{"PER", Options{Dim: 2, SharedPeriod: true}, "0:var 0:len 0:per"},
		{"LIN", Options{Dim: 2, ARD: true}, "0:len0 0:len1"},
		{"LIN*SE", Options{Dim: 2, ARD: true}, "0:len0 0:len1 1:len0 1:len1"},
		{"SE*LIN", Options{Dim: 2, ARD: true}, "0:var 0:len0 0:len1 1:len1"},
		{"SE*POLY2", Options{Dim: 2, ARD: true}, "0:var 0:len0 0:len1 1:len1 1:off"},
		{"POLY2", Options{Dim: 2, ARD: true}, "0:len0 0:len1 0:off"},
		{"SE[b]", Options{Columns: []string{"a", "b"}}, "0:var 0:len1"},
	} {
		if got := freeNames(compile(t, parse(t, c.expr), c.opt)); got != c.free {
			t.Errorf("%s, %+v: free %s; want %s", c.expr, c.opt, got, c.free)
		}
	}
}

// Fixing amplitudes must take nothing from the family of kernels: the free
// parameters' tangent space is that of all of them. And none is redundant,
// except where an expression is (SE*SE has one length scale too many).
func TestFreeParametersSpanAll(t *testing.T) {
	r := newRand(6)
	redundant := []string{"SE*SE", "LIN+LIN", "LIN*LIN+LIN*LIN"} // as written or multiplied out
	const n = 10
	for _, e := range testSpace(t) {
		for _, opt := range []Options{{Dim: 1}, {Dim: 2, ARD: true}} {
			p := compile(t, e, opt)
			rows := randomRows(r, n, opt.Dim)
			theta := randomTheta(r, p)
			for i := range theta {
				if !p.Params[i].Free {
					theta[i] = 1
				}
			}
			all := make([]int, len(theta))
			for i := range all {
				all[i] = i
			}
			full, free := tangentRank(p, theta, rows, all), tangentRank(p, theta, rows, p.Free)
			if free != full {
				t.Errorf("%s, %+v: free parameters span %d dimensions of %d", e, opt, free, full)
			}
			components, err := p.Components()
			if err != nil {
				t.Fatal(err)
			}
			var products []Expr
			for _, c := range components {
				products = append(products, c.Expr)
			}
			both := e.ID() + " " + Sum(products...).ID()
			skip := slices.ContainsFunc(redundant, func(s string) bool { return strings.Contains(both, s) })
			if free != len(p.Free) && !skip {
				t.Errorf("%s, %+v: %d free parameters span %d dimensions", e, opt, len(p.Free), free)
			}
		}
	}
}

// tangentRank is the rank of ∂k/∂log θ over the given parameters.
func tangentRank(p *Program, theta []float64, rows [][]float64, params []int) int {
	n := len(rows)
	jac := mat.NewDense(n*(n+1)/2, len(params), nil)
	for c, k := range params {
		const h = 1e-4
		at := func(step float64) []float64 {
			moved := slices.Clone(theta)
			moved[k] *= math.Exp(step)
			var values []float64
			for i := range rows {
				for j := range i + 1 {
					values = append(values, p.Eval(moved, rows[i], rows[j], i == j))
				}
			}
			return values
		}
		up, down, up2, down2 := at(h), at(-h), at(2*h), at(-2*h)
		norm := 0.0
		for i := range up {
			d := (8*(up[i]-down[i]) - (up2[i] - down2[i])) / (12 * h)
			jac.Set(i, c, d)
			norm = math.Hypot(norm, d)
		}
		for i := range up {
			jac.Set(i, c, jac.At(i, c)/norm)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(jac, mat.SVDNone) {
		return -1
	}
	rank := 0
	for _, s := range svd.Values(nil) {
		if s > 1e-8 {
			rank++
		}
	}
	return rank
}

func TestParamsDescribeLayout(t *testing.T) {
	p := compile(t, parse(t, "(PER[time,temp;ard]+RQ)*LIN[hour]"), Options{Columns: []string{"time", "temp", "hour"}})
	var got []string
	for _, q := range p.Params {
		got = append(got, fmt.Sprintf("%s %d %s %d", q.Name, q.Leaf, q.Base, q.Column))
	}
	want := []string{
		"variance 0 PER -1", "lengthscale 0 PER 0", "lengthscale 0 PER 1", "period 0 PER 0", "period 0 PER 1",
		"variance 1 RQ -1", "lengthscale 1 RQ -1", "alpha 1 RQ -1", "variance 2 LIN -1", "lengthscale 2 LIN 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if p.ID != p.Expr.ID() || p.Dim != 3 || p.Depth != 2 || len(p.Instrs) != 5 {
		t.Errorf("%+v", p)
	}
}

func TestCompileErrors(t *testing.T) {
	names := []string{"time", "temp", "wind"}
	for _, c := range []struct {
		expr string
		opt  Options
		want string
	}{
		{"SE", Options{}, "no input columns"},
		{"SE", Options{Columns: names, Dim: 2}, "3 names for 2"},
		{"SE+SE[tmp]", Options{Columns: names}, `there is no column "tmp"; did you mean "temp"?`},
		{"SE[pressure]", Options{Columns: names}, "columns: time, temp, wind"},
		{"SE[4]", Options{Columns: names}, "there is no column 4; columns are counted from 1 to 3"},
		{"SE[temp]", Options{Columns: []string{"date", "temp", "temp"}}, `SE[temp]: inputs 2 and 3 are both named "temp"; write the number`},
		{"SE[1,time]", Options{Columns: names}, "column 1 (time) stands twice"},
		{"SE[time]", Options{Dim: 2}, "no names; write their number, 1 to 2"},
		{"SE[ard]", Options{Columns: names}, "[;ard]"},
	} {
		_, err := Compile(parse(t, c.expr), c.opt)
		if err == nil {
			t.Errorf("%s, %+v is accepted", c.expr, c.opt)
			continue
		}
		contains(t, err.Error(), c.want)
	}
}

// run interprets the instructions for one pair of rows, as a device does for
// tiles, with the formulas of the Op constants.
func run(t *testing.T, p *Program, theta, x, y []float64, same bool) (value float64, depth int) {
	var stack []float64
	for _, in := range p.Instrs {
		if in.Op >= OpAdd {
			operands := stack[len(stack)-in.Arity:]
			v := operands[0]
			if in.Op == OpChange {
				stack = append(stack[:len(stack)-in.Arity], change(p, theta, x, y, operands))
				continue
			}
			for _, o := range operands[1:] {
				if in.Op == OpAdd {
					v += o
				} else {
					v *= o
				}
			}
			stack = append(stack[:len(stack)-in.Arity], v)
			continue
		}
		stack = append(stack, runLeaf(t, in, theta[in.Off:in.Off+in.NumParams()], x, y, same))
		depth = max(depth, len(stack))
	}
	return stack[0], depth
}

func runLeaf(t *testing.T, in Instr, theta, x, y []float64, same bool) float64 {
	if in.Op == OpStep {
		return float64(in.Off) // where change finds it
	}
	r2, dot, sines, turns := 0.0, 0.0, 0.0, 0.0
	for i, c := range in.Cols {
		scale, period := 1.0, 1.0
		if in.NumScale > 0 {
			scale = theta[1+min(i, in.NumScale-1)]
		}
		if in.NumPeriod > 0 {
			period = theta[1+in.NumScale+min(i, in.NumPeriod-1)]
		}
		d := x[c] - y[c]
		r2 += d * d / (scale * scale)
		dot += x[c] * y[c] / (scale * scale)
		// sin² a = (1 − cos 2a)/2
		sines += (1 - math.Cos(2*math.Pi*d/period)) / 2 / (scale * scale)
		turns += d / period
	}
	r, last := math.Sqrt(r2), theta[len(theta)-1]
	k := 0.0
	switch in.Op {
	case OpSE:
		k = math.Exp(-r2 / 2)
	case OpRQ:
		k = math.Pow(1+r2/(2*last), -last)
	case OpLIN:
		k = dot
	case OpPER:
		k = math.Exp(-2 * sines)
	case OpMatern12:
		k = math.Exp(-r)
	case OpMatern32:
		k = (1 + math.Sqrt(3)*r) * math.Exp(-math.Sqrt(3)*r)
	case OpMatern52:
		k = (1 + math.Sqrt(5)*r + 5*r2/3) * math.Exp(-math.Sqrt(5)*r)
	case OpWhite:
		if same {
			k = 1
		}
	case OpCat: // of the distance alone
		if r2 == 0 {
			k = 1
		}
	case OpConst:
		k = 1
	case OpPoly:
		k = 1
		for range in.Degree {
			k *= dot + last
		}
	case OpCos:
		k = math.Cos(2 * math.Pi * turns)
	case OpRW, OpIRW:
		for _, c := range in.Cols {
			k += wandering(in.Op, x[c]+last, y[c]+last)
		}
	default:
		t.Fatalf("no second formula for %s", in.base.info().name)
	}
	return theta[0] * k
}

// wandering is RW, and IRW as the integral of min(s,u) min(s,v) … by its increments:
// ∫₀^m (u−s)(v−s) ds, the weights with which white noise at s enters both.
func wandering(op Op, u, v float64) float64 {
	if u*v <= 0 {
		return 0
	}
	if op == OpRW { // |u| + |v| − |u − v| = 2 min
		return (math.Abs(u) + math.Abs(v) - math.Abs(u-v)) / 2
	}
	u, v = math.Abs(u), math.Abs(v)
	m := math.Min(u, v)
	return u*v*m - (u+v)*m*m/2 + m*m*m/3
}

// change is CP of a step, by where its parameters are, and two values: the hyperbolic
// tangent does what the exponential does there.
func change(p *Program, theta, x, y, operands []float64) float64 {
	off := int(operands[0])
	place, width := math.Sinh(math.Log(theta[off])), theta[off+1]
	d := p.Params[off].Column
	s, r := (1+math.Tanh((x[d]-place)/width/2))/2, (1+math.Tanh((y[d]-place)/width/2))/2
	return s*r*operands[2] + (1-s)*(1-r)*operands[1]
}

func TestInstrsAgreeWithTree(t *testing.T) {
	r := newRand(7)
	exprs := testSpace(t)
	for range 50 {
		exprs = append(exprs, randomExpr(r, 2+r.IntN(7)))
	}
	names := []string{"temp", "a,b", "λ"}
	for _, e := range exprs {
		for _, opt := range []Options{{Columns: names[:1]}, {Columns: names}, {Columns: names, ARD: true},
			{Columns: names, ARD: true, SharedPeriod: true}} {
			p, err := Compile(e, opt)
			if err != nil {
				continue // names columns that one-column data lack, or one twice
			}
			rows := randomRows(r, 3, p.Dim)
			theta := randomTheta(r, p)
			params, depth := 0, 0
			for _, in := range p.Instrs {
				if in.Op < OpAdd {
					if in.Off != params {
						t.Fatalf("%s: leaf at %d, want %d", e.Written(), in.Off, params)
					}
					params += in.NumParams()
				}
			}
			if params != len(p.Params) {
				t.Fatalf("%s: %d parameters in instructions, %d described", e.Written(), params, len(p.Params))
			}
			for i := range rows {
				for j := range rows {
					var got float64
					got, depth = run(t, p, theta, rows[i], rows[j], i == j)
					if want := p.Eval(theta, rows[i], rows[j], i == j); relative(got, want, 1e-6) > 1e-9 {
						t.Fatalf("%s, %+v: instructions give %g, tree %g", e.Written(), opt, got, want)
					}
				}
			}
			if depth != p.Depth {
				t.Fatalf("%s: stack depth %d, program says %d", e.Written(), depth, p.Depth)
			}
		}
	}
}
