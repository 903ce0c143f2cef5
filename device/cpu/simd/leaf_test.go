package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// inputs are arrays for the leaf kernels.
type inputs struct{ f, d, a, x, y, v, w []float64 }

func newInputs(n int) *inputs {
	r := rand.New(rand.NewPCG(uint64(n), 5))
	in := &inputs{}
	for _, p := range []*[]float64{&in.f, &in.d, &in.a, &in.x, &in.y, &in.v, &in.w} {
		*p = make([]float64, n)
		for j := range n {
			(*p)[j] = r.NormFloat64()
		}
	}
	for j := range n {
		in.f[j] = r.ExpFloat64() * math.Exp(2*r.NormFloat64())
		in.d[j] = 20*r.Float64() - 10
	}
	in.f[0], in.d[0] = 0, 0
	return in
}

// close compares an entry or sum with what it should be, to a few roundings of scale.
func close(t *testing.T, name string, got, want, scale float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 2e-14*(math.Abs(want)+scale)) {
		t.Errorf("%s = %v, want %v", name, got, want)
	}
}

const (
	cc    = 0.7
	alpha = 1.3
	sigma = 1.7
	perio = 2.3
	il    = 0.9
)

// TestLeaves compares every leaf kernel with its formula.
func TestLeaves(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		for _, n := range []int{8, 16, 40, 256} {
			in := newInputs(n)
			f, d, a, x, y := in.f, in.d, in.a, in.x, in.y
			v, w, p, q, u := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
			each := func(name string, got []float64, want func(j int) float64, scale float64) {
				t.Helper()
				for j := range got {
					close(t, fmt.Sprintf("%s of %d, entry %d", name, n, j), got[j], want(j), scale)
				}
			}
			sums := func(name string, got float64, want func(j int) float64) {
				t.Helper()
				s, abs := 0.0, 0.0
				for j := range n {
					s += want(j)
					abs += math.Abs(want(j))
				}
				close(t, fmt.Sprintf("%s of %d", name, n), got, s, abs)
			}
			l.ExpScaled(v, f, -cc, sigma)
			each("exp", v, func(j int) float64 { return sigma * math.Exp(-cc*f[j]) }, 1e-3)
			l.Log2p1(v, f, cc)
			each("log2p1", v, func(j int) float64 { return math.Log1p(cc*f[j]) / math.Ln2 }, 0)
			l.RQ(v, w, f, cc, alpha, sigma)
			each("rq", v, func(j int) float64 { return sigma * math.Pow(1+cc*f[j], -alpha) }, 0)
			each("rq's log", w, func(j int) float64 { return math.Log1p(cc*f[j]) / math.Ln2 }, 0)
			l.Rational(v, f, cc, sigma)
			each("rational", v, func(j int) float64 { return sigma / (1 + cc*f[j]) }, 0)
			sum, scale, shape := l.RQGrad(p, a, x, f, w, cc)
			each("rq's weights", p, func(j int) float64 { return a[j] * x[j] / (1 + cc*f[j]) }, 0)
			sums("rq's Σav", sum, func(j int) float64 { return a[j] * x[j] })
			sums("rq's scale", scale, func(j int) float64 { return a[j] * x[j] / (1 + cc*f[j]) * f[j] })
			sums("rq's shape", shape, func(j int) float64 {
				h := cc * f[j]
				return a[j] * x[j] * (h/(1+h) - math.Log1p(h))
			})

			l.Reduce(u, d, perio, 1/perio)
			each("reduce", u, func(j int) float64 { return math.Remainder(d[j], perio) / perio }, 0)
			sin := func(j int) float64 { return math.Sin(math.Pi * math.Remainder(d[j], perio) / perio) }
			cos := func(j int) float64 { return math.Cos(math.Pi * math.Remainder(d[j], perio) / perio) }
			per := func(j int) float64 { return sigma * math.Exp(-2*il*sin(j)*sin(j)) }
			sq := func(j int) float64 { return il * sin(j) * sin(j) }
			sc := func(j int) float64 { return il * sin(j) * cos(j) * d[j] / perio }
			sines, cosines := make([]float64, n), make([]float64, n)
			l.SinCos(sines, cosines, u)
			each("sine", sines, sin, 0)
			each("cosine", cosines, cos, 0.02)
			l.PER(v, p, q, sines, cosines, d, il, 1/perio, sigma)
			each("per", v, per, 0)
			each("per's sin²", p, sq, 0)
			each("per's slope", q, sc, 10)
			l.PERValue(w, sines, il, sigma)
			for j := range w {
				if w[j] != v[j] {
					t.Errorf("per without auxiliaries is %v, with them %v", w[j], v[j])
				}
			}
			l.PERAdd(p, q, sines, cosines, d, il, 1/perio)
			each("per's sin² twice", p, func(j int) float64 { return 2 * sq(j) }, 0)
			each("per's slope twice", q, func(j int) float64 { return 2 * sc(j) }, 10)
			l.Cosine(v, w, d, sigma)
			turn := func(j int) float64 { return 2 * math.Pi * (d[j] - math.Round(d[j])) }
			each("cosine", v, func(j int) float64 { return sigma * math.Cos(turn(j)) }, 1)
			each("cosine's slope", w, func(j int) float64 { return 2 * math.Pi * sigma * math.Sin(turn(j)) }, 10)

			for _, nu := range []int{12, 32, 52} {
				name := fmt.Sprintf("matern%d", nu)
				s := func(j int) float64 { return math.Sqrt(float64(nu/10) * cc * f[j]) }
				shape := func(j int) float64 {
					return map[int]float64{12: 1, 32: 1 + s(j), 52: 1 + s(j) + s(j)*s(j)/3}[nu]
				}
				slope := func(j int) float64 {
					if nu == 12 && f[j] == 0 {
						return 0
					}
					s := s(j)
					return map[int]float64{12: 1 / s, 32: 3 / (1 + s), 52: 5 * (1 + s) / (3 + 3*s + s*s)}[nu]
				}
				l.Matern(nu, v, f, cc, sigma)
				each(name, v, func(j int) float64 { return sigma * shape(j) * math.Exp(-s(j)) }, 1e-3)
				sum, scale := l.MaternGrad(nu, w, a, x, f, cc)
				each(name+"'s weights", w, func(j int) float64 { return a[j] * x[j] * slope(j) }, 0)
				sums(name+"'s Σav", sum, func(j int) float64 { return a[j] * x[j] })
				sums(name+"'s scale", scale, func(j int) float64 { return a[j] * x[j] * slope(j) * f[j] })
			}

			l.Affine(v, x, cc, alpha, sigma)
			each("affine", v, func(j int) float64 { return sigma * (cc*x[j] + alpha) }, 1)
			l.Scaled(v, x, cc)
			each("scaled", v, func(j int) float64 { return cc * x[j] }, 0)
			l.Add(v, x, y)
			each("add", v, func(j int) float64 { return x[j] + y[j] }, 0)
			l.Mul(v, x, y)
			each("mul", v, func(j int) float64 { return x[j] * y[j] }, 0)
			s0, s1 := l.Dot2(a, x, y)
			sums("dot2", s0, func(j int) float64 { return a[j] * x[j] })
			sums("dot2's second", s1, func(j int) float64 { return a[j] * x[j] * y[j] })
			s0, s1, s2 := l.Dot3(a, x, y, d)
			sums("dot3", s0, func(j int) float64 { return a[j] * x[j] })
			sums("dot3's second", s1, func(j int) float64 { return a[j] * x[j] * y[j] })
			sums("dot3's third", s2, func(j int) float64 { return a[j] * x[j] * d[j] })
		}
	})
}

// TestLeavesAtTheEdges: what underflows is 0, infinite distances too, NaN stays
// NaN, and log₂(1+q) is accurate relative to itself however small q is.
func TestLeavesAtTheEdges(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		f := []float64{0, 1e-300, 3e-16, 1e-9, 1, 1e5, 1e300, inf}
		v, log := make([]float64, 8), make([]float64, 8)
		for _, alpha := range []float64{0.1, 2, 1e6, 1e12, 1e15} {
			l.RQ(v, log, f, 1/(2*alpha), alpha, 3)
			for j, x := range f {
				want := 3 * math.Exp(-alpha*math.Log1p(x/(2*alpha)))
				if x >= 1e300 { // may count as 1e300
					if !(v[j] >= 0 && v[j] <= 3.1*math.Pow(1e300, -alpha)*math.Max(1, math.Pow(2*alpha, min(alpha, 10)))) {
						t.Errorf("RQ, alpha %g, at %g: %v", alpha, x, v[j])
					}
					continue
				}
				if !(math.Abs(v[j]-want) <= 1e-12*want+1e-300) {
					t.Errorf("RQ, alpha %g, at %g: %v, want %v", alpha, x, v[j], want)
				}
			}
		}
		l.ExpScaled(v, f, -0.5, 3)
		for j, x := range f {
			if want := 3 * math.Exp(-0.5*x); !(math.Abs(v[j]-want) <= 1e-14*want) {
				t.Errorf("SE at %g: %v, want %v", x, v[j], want)
			}
		}
		r := rand.New(rand.NewPCG(3, 8))
		for range 500 {
			for j := range f {
				f[j] = math.Exp(40 * (r.Float64() - 0.9))
			}
			l.Log2p1(v, f, 1)
			for j, x := range f {
				if want, _ := bigOp((*big.Float).Quo, bigLog1p(x), bf(math.Ln2)).Float64(); math.Abs(v[j]/want-1) > 6e-16 {
					t.Fatalf("log₂(1+%v) = %v, want %v", x, v[j], want)
				}
			}
		}
		f[2] = math.NaN()
		l.RQ(v, log, f, 1, 1.3, 2)
		if !math.IsNaN(v[2]) || !math.IsNaN(log[2]) || math.IsNaN(v[3]) {
			t.Errorf("RQ of NaN is %v", v[2])
		}
		l.ExpScaled(v, f, -1, 2)
		if !math.IsNaN(v[2]) || math.IsNaN(v[3]) {
			t.Errorf("SE of NaN is %v", v[2])
		}
		l.PERValue(v, f, 1e300, 2) // sin² of 0 or a tiny fraction still counts
		if !math.IsNaN(v[2]) {
			t.Errorf("PER of NaN is %v", v[2])
		}
	})
}

// TestNothingIsSubnormal: what the assembly has for far points is 0, before it or a product of two of it is
// subnormal, which would take processors a hundred times as long.
func TestNothingIsSubnormal(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		if !l.assembly() {
			t.Skip("math.Exp has no such case")
		}
		const n, s = 4096, 0.3
		f, v, log := make([]float64, n), make([]float64, n), make([]float64, n)
		for j := range f {
			f[j] = float64(j) / 4 // to beyond where exp is 0
		}
		check := func(name string) {
			t.Helper()
			some := false
			for j, x := range v {
				if x != 0 && x*x < 0x1p-1022 {
					t.Fatalf("%s at %g: %g", name, f[j], x)
				}
				some = some || x == 0
			}
			if !some || v[0] != s {
				t.Errorf("%s: %g at 0, %g in the end", name, v[0], v[n-1])
			}
		}
		l.ExpScaled(v, f, -1, s)
		check("SE")
		l.RQ(v, log, f, 1e-6, 1e6, s)
		check("RQ")
		for _, nu := range []int{12, 32, 52} {
			l.Matern(nu, v, f, 500, s)
			check("Matérn")
		}
		l.PERValue(v, f, 1, s)
		check("PER")
	})
}

// TestReduceFar checks exact remainders many periods away, and that entries
// without one do not disturb their neighbours.
func TestReduceFar(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(1, 6))
		d, u := make([]float64, 64), make([]float64, 64)
		for range 500 {
			p := math.Exp(3 * r.NormFloat64())
			for j := range d {
				d[j] = math.Exp(15*r.NormFloat64()) * (r.Float64() - 0.5)
			}
			l.Reduce(u, d, p, 1/p)
			for j := range d {
				want := math.Remainder(d[j], p) / p
				// Half a period away either side is right.
				if diff := math.Abs(u[j] - want); diff > 1e-15 && math.Abs(diff-1) > 1e-6 || math.Abs(u[j]) > 0.5000001 {
					t.Fatalf("%v/%v has the remainder %v, want %v", d[j], p, u[j], want)
				}
			}
		}
		copy(d, []float64{0.3, inf, -0.2, math.NaN(), 1e300, -inf, 1.25, 0})
		const p = 3e-200
		l.Reduce(u[:8], d[:8], 1, 1)
		for j, want := range []float64{0.3, math.NaN(), -0.2, math.NaN(), 0, math.NaN(), 0.25, 0} {
			if !(math.Abs(u[j]-want) < 1e-16 || math.IsNaN(want) && math.IsNaN(u[j])) {
				t.Errorf("reduce(%v) = %v, want %v", d[j], u[j], want)
			}
		}
		l.Reduce(u[:8], d[:8], p, 1/p)
		if !(math.Abs(u[4]) <= 0.5) {
			t.Errorf("reduce far away = %v", u[4])
		}
	})
}

// TestSegments compares differences, distances and products over pieces of rows,
// packed without gaps, with their formulas; nothing beyond 7 further entries is
// written.
func TestSegments(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(1, 7))
		for dim := 1; dim <= 4; dim++ {
			const rows, cols = 9, 60
			var list []Column
			for range dim {
				a, b := make([]float64, rows), make([]float64, cols, cols+7)
				for i := range a {
					a[i] = r.NormFloat64()
				}
				for j := range b {
					b[j] = r.NormFloat64()
				}
				list = append(list, Column{A: a, B: b, Scale: r.Float64()})
			}
			var c Columns
			c.Set(list...)
			for trial := range 60 {
				var segments []Segment
				w := 0
				for range 1 + trial%5 {
					s := Segment{Row: int32(r.IntN(rows)), Col: int32(r.IntN(cols)), At: int32(w)}
					s.N = 1 + int32(r.IntN(cols-int(s.Col)))
					w += int(s.N)
					segments = append(segments, s)
				}
				sum := func(term func(a, b, s float64) float64) (out []float64) {
					for _, s := range segments {
						for j := range s.N {
							v := 0.0
							for _, x := range list {
								v += term(x.A[s.Row], x.B[s.Col+j], x.Scale)
							}
							out = append(out, v)
						}
					}
					return out
				}
				run := func(name string, f func(dst []float64, segments []Segment, c *Columns), want []float64) {
					dst := make([]float64, w+20)
					for j := range dst {
						dst[j] = -7
					}
					f(dst, segments, &c)
					for j := range want {
						close(t, fmt.Sprintf("%s of %d columns, entry %d", name, dim, j), dst[j], want[j], 1)
					}
					for _, x := range dst[w+7:] {
						if x != -7 {
							t.Fatalf("%s writes too far beyond the end", name)
						}
					}
				}
				run("distances", l.Distances, sum(func(a, b, s float64) float64 { return s * (a - b) * (a - b) }))
				run("products", l.Products, sum(func(a, b, s float64) float64 { return s * a * b }))
				if dim == 1 {
					run("deltas", l.Deltas, sum(func(a, b, _ float64) float64 { return a - b }))
				}
				if dim == 2 { // as if these were the sines and the cosines
					var sines, cosines []float64
					for _, s := range segments {
						sa, ca := list[0].A[s.Row], list[1].A[s.Row]
						for j := range s.N {
							sb, cb := list[0].B[s.Col+j], list[1].B[s.Col+j]
							sines, cosines = append(sines, sa*cb-ca*sb), append(cosines, ca*cb+sa*sb)
						}
					}
					sin := func(dst []float64, segments []Segment, c *Columns) { l.Turn(dst, nil, segments, c) }
					both := func(dst []float64, segments []Segment, c *Columns) { l.Turn(dst, make([]float64, w+7), segments, c) }
					cos := func(dst []float64, segments []Segment, c *Columns) { l.Turn(make([]float64, w+7), dst, segments, c) }
					run("sine", sin, sines)
					run("sine beside the cosine", both, sines)
					run("cosine", cos, cosines)
				}
			}
		}
	})
}

func BenchmarkLeaves(b *testing.B) {
	const n = 256
	in := newInputs(n)
	u := make([]float64, n)
	Portable.Reduce(u, in.d, perio, 1/perio)
	sin, cos := make([]float64, n), make([]float64, n)
	Portable.SinCos(sin, cos, u)
	for l := Portable; l <= Best(); l++ {
		for _, k := range []struct {
			name string
			run  func()
		}{
			{"se", func() { l.ExpScaled(in.v, in.f, -cc, sigma) }},
			{"rq", func() { l.RQ(in.v, in.w, in.f, cc, alpha, sigma) }},
			{"rational", func() { l.Rational(in.v, in.f, cc, sigma) }},
			{"rqGrad", func() { l.RQGrad(in.w, in.a, in.x, in.f, in.y, cc) }},
			{"reduce", func() { l.Reduce(in.v, in.d, perio, 1/perio) }},
			{"per", func() { l.PER(in.v, in.w, in.y, sin, cos, in.d, il, 1/perio, sigma) }},
			{"perValue", func() { l.PERValue(in.v, sin, il, sigma) }},
			{"sinCos", func() { l.SinCos(in.v, in.w, u) }},
			{"cosine", func() { l.Cosine(in.v, in.w, u, sigma) }},
			{"matern52", func() { l.Matern(52, in.v, in.f, cc, sigma) }},
			{"matern52Grad", func() { l.MaternGrad(52, in.w, in.a, in.x, in.f, cc) }},
			{"mul", func() { l.Mul(in.v, in.x, in.y) }},
			{"dot3", func() { l.Dot3(in.a, in.x, in.y, in.d) }},
		} {
			b.Run(fmt.Sprintf("%s/%s", k.name, l), func(b *testing.B) {
				for b.Loop() {
					k.run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entry")
			})
		}
	}
}
