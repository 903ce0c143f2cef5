package promise_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/periods"
	"example.com/kestrel/vbks/promise"
	"example.com/kestrel/vbks/starts"
)

func compile(e kernelspace.Expr) (*kernelspace.Program, error) {
	return kernelspace.Compile(e, kernelspace.Options{Dim: 1})
}

func program(t *testing.T, text string) *kernelspace.Program {
	t.Helper()
	e, err := kernelspace.Parse(text)
	must.OK(t, err)
	p, err := compile(e.Canonical())
	must.OK(t, err)
	return p
}

func grammar(t *testing.T) *grow.Grammar {
	t.Helper()
	var bases []kernelspace.Expr
	for _, text := range []string{"SE", "RQ", "LIN", "PER"} {
		bases = append(bases, program(t, text).Expr)
	}
	g, err := grow.New(bases, grow.Options{Leaves: 6, Ratio: .5})
	must.OK(t, err)
	return g
}

// drawn are inputs over 20 and what a kernel makes of them with noise, by its covariance entry by entry.
func drawn(t *testing.T, rng *rand.Rand, p *kernelspace.Program, raw []float64, n int, noise float64) (x, y []float64) {
	t.Helper()
	z := mat.NewVecDense(n, nil)
	for i := range n {
		x = append(x, 20*rng.Float64()-10)
		z.SetVec(i, rng.NormFloat64())
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, p.Eval(raw, x[i:i+1], x[j:j+1], i == j))
		}
		k.SetSym(i, i, k.At(i, i)+noise)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		t.Fatal("not positive definite")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	var out mat.VecDense
	out.MulVec(&lower, z)
	return x, out.RawVector().Data
}

// What data were drawn from is among the first of some forty neighbours of the kernel without one of its leaves, whichever that
// is and wherever it stands.
func TestWhatIsMissingPromisesMost(t *testing.T) {
	const n, noise = 250, 0.05
	g := grammar(t)
	var places []int
	for _, c := range []struct {
		of, without string
		raw, has    []float64
		left        float64 // what it takes for noise
	}{
		{"PER+SE", "SE", []float64{0.5, 0.8, 0.9, 1, 4}, []float64{1.3, 4}, 0.5},
		{"PER+LIN", "PER", []float64{0.5, 0.8, 0.9, 0.05, 1}, []float64{1, 0.8, 0.9}, 1.0},
		{"PER*LIN+SE", "PER+SE", []float64{0.05, 0.8, 0.9, 1, 1, 1, 4}, []float64{1, 0.8, 0.9, 1, 4}, 0.8},
		{"PER*SE+LIN", "PER+LIN", []float64{1, 0.8, 0.9, 1, 2, 0.05, 1}, []float64{1, 0.8, 0.9, 0.05, 1}, 0.7},
		{"(PER+SE)*LIN", "LIN*SE", []float64{0.04, 0.7, 0.6, 0.04, 3, 1, 1}, []float64{0.04, 1, 1, 3}, 0.8},
	} {
		rng := rand.New(rand.NewPCG(10, 1))
		for trial := range 3 {
			x, y := drawn(t, rng, program(t, c.of), c.raw, n, noise)
			r := promise.New(x, y, 1, starts.Summarise(x, y, 1), 1, promise.Most)
			p := program(t, c.without)
			to := g.Neighbours(p.Expr)
			gains := r.Gains(t.Context(), promise.Solution{Program: p, Raw: c.has, Noise: noise + c.left}, to, compile)
			want := program(t, c.of).Expr.ID()
			if _, ok := gains[want]; !ok {
				t.Fatalf("%s: nothing is said of %s", c.without, want)
			}
			above := 0
			for id, v := range gains {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s: a gain of %g", id, v)
				}
				if v > gains[want] {
					above++
				}
			}
			places = append(places, above)
			t.Logf("%s on %s, trial %d: %.1f nats, %d of %d above", want, c.without, trial, gains[want], above, len(gains))
		}
	}
	slices.Sort(places)
	t.Logf("so many were above: %v", places)
	if places[len(places)*9/10] > 1 {
		t.Errorf("what is missing is not among the first two in nine of ten draws: %v above", places)
	}
}

// solved is K + diagonal·I, entry by entry, as its factor, and α of that.
func solved(
	t *testing.T, x, y []float64, k func(a, b float64) float64, diagonal float64,
) (chol *mat.Cholesky, a *mat.VecDense) {
	t.Helper()
	n := len(x)
	c := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			c.SetSym(i, j, k(x[i], x[j]))
		}
		c.SetSym(i, i, c.At(i, i)+diagonal)
	}
	chol = new(mat.Cholesky)
	if !chol.Factorize(c) {
		t.Fatal("not positive definite")
	}
	a = new(mat.VecDense)
	must.OK(t, chol.SolveVecTo(a, mat.NewVecDense(n, slices.Clone(y))))
	return chol, a
}

// evidence is ln N(y; 0, K + diagonal·I), but for a constant, entry by entry.
func evidence(t *testing.T, x, y []float64, k func(a, b float64) float64, diagonal float64) float64 {
	t.Helper()
	n := len(x)
	chol, a := solved(t, x, y, k, diagonal)
	return -(mat.Dot(a, mat.NewVecDense(n, slices.Clone(y))) + chol.LogDet()) / 2
}

// wanted is αα' − (K + diagonal·I)⁻¹ with α = (K + diagonal·I)⁻¹y.
func wanted(t *testing.T, x, y []float64, k func(a, b float64) float64, diagonal float64) *mat.SymDense {
	t.Helper()
	n := len(x)
	chol, a := solved(t, x, y, k, diagonal)
	var w mat.SymDense
	must.OK(t, chol.InverseTo(&w))
	for i := range n {
		for j := range i + 1 {
			w.SetSym(i, j, a.AtVec(i)*a.AtVec(j)-w.At(i, j))
		}
	}
	return &w
}

func mean(x []float64, k func(a, b float64) float64) (m float64) {
	for _, v := range x {
		m += k(v, v) / float64(len(x))
	}
	return m
}

// What is said of a line at any place, and of kernels with a leaf less or with a line in its place, is what evidence says, with
// covariances written out entry by entry.
func TestGainsOfALine(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 2))
	const n, noise = 60, 0.4
	raw := []float64{0.5, 0.8, 0.9, 0.7, 4}
	per := func(a, b float64) float64 {
		s := math.Sin(math.Pi*(a-b)/0.9) / 0.8
		return 0.5 * math.Exp(-2*s*s)
	}
	se := func(a, b float64) float64 { return 0.7 * math.Exp(-(a-b)*(a-b)/(2*16)) }
	one := func(float64, float64) float64 { return 1 }
	none := func(float64, float64) float64 { return 0 }
	noises := []float64{1, 2, 4, 10, 30}
	for _, drawnFrom := range []string{"PER*LIN+SE", "PER+SE"} {
		both := func(a, b float64) float64 { return per(a, b) + se(a, b) }
		from := map[string][]float64{"PER*LIN+SE": {0.05, 0.8, 0.9, 1, 1, 1, 4}, "PER+SE": raw}[drawnFrom]
		x, y := drawn(t, rng, program(t, drawnFrom), from, n, noise)
		p := program(t, "PER+SE")
		r := promise.New(x, y, 1, starts.Summarise(x, y, 1), 1, promise.Most)
		gains := r.Gains(t.Context(), promise.Solution{Program: p, Raw: raw, Noise: noise}, grammar(t).Neighbours(p.Expr), compile)
		shared := func(line func(a, b float64) float64, of [2]float64) float64 {
			more := 0.0
			if m := mean(x, line); m > 0 {
				more = (of[0]*mean(x, both) + of[1]*noise) / m
			}
			return evidence(t, x, y, func(a, b float64) float64 { return (1-of[0])*both(a, b) + more*line(a, b) }, (1-of[1])*noise)
		}
		noisy := func(k func(a, b float64) float64) float64 { // as long as more noise is better
			top := math.Inf(-1)
			for _, times := range noises {
				v := evidence(t, x, y, k, times*noise)
				if v <= top {
					break
				}
				top = v
			}
			return top
		}
		best := noisy(both)
		for _, of := range [][2]float64{{0, 0.3}, {0.5, 0}, {0, 0.1}, {0, 0.6}, {0, 0.9}, {0.1, 0}, {0.9, 0}} {
			best = math.Max(best, shared(none, of))
		}
		instead := func(rest, term, line func(a, b float64) float64) float64 { // of the term, as much of the line
			with := func(times float64) func(a, b float64) float64 {
				f := times * mean(x, term) / mean(x, line)
				return func(a, b float64) float64 { return rest(a, b) + f*line(a, b) }
			}
			top, at := math.Inf(-1), 0.0
			for _, times := range noises {
				v := evidence(t, x, y, with(1), times*noise)
				if v <= top {
					break
				}
				top, at = v, times
			}
			for _, f := range []float64{0.3, 3} {
				top = math.Max(top, evidence(t, x, y, with(f), at*noise))
			}
			return top - best
		}
		check := func(text string, want float64) {
			t.Helper()
			id := program(t, text).Expr.ID()
			// Gains are multiples of .001.
			if got, ok := gains[id]; !ok || math.Abs(got-want) > 5.01e-4 {
				t.Errorf("%s of data from %s: a gain of %v, want %v", id, drawnFrom, got, want)
			}
		}
		losing := 0
		for _, c := range []struct {
			id         string
			what, rest func(a, b float64) float64 // that a line is multiplied by, and what there is beside
		}{
			{"PER+SE+LIN", one, nil}, {"PER*LIN+SE", per, se}, {"PER+SE*LIN", se, per}, {"(PER+SE)*LIN", both, none},
		} {
			line := func(a, b float64) float64 { return a * b * c.what(a, b) }
			then := [][2]float64{{0, 0.3}, {0, 0.1}, {0, 0.6}, {0, 0.9}}
			if shared(line, [2]float64{0.5, 0}) > shared(line, then[0]) {
				then = [][2]float64{{0.5, 0}, {0.1, 0}, {0.9, 0}}
			}
			want := 0.0
			for _, of := range then {
				want = math.Max(want, shared(line, of)-best)
			}
			if c.rest != nil && want <= 3 { // a line is nowhere constant
				want = math.Min(want, instead(c.rest, c.what, line))
				losing++
			}
			check(c.id, want)
		}
		if losing == 0 {
			t.Errorf("data from %s: no product with a line loses", drawnFrom)
		}
		check("PER", noisy(per)-best)
		check("SE", noisy(se)-best)
		alone := func(a, b float64) float64 { return a * b }
		check("PER+LIN", instead(per, se, alone))
		check("LIN+SE", instead(se, per, alone))

		top := math.Inf(-1) // another PER is one of the first two that are wanted without SE
		at, times := -1, 0.0
		for _, f := range noises {
			if v := evidence(t, x, y, per, f*noise); v > top {
				top, times = v, f
			} else {
				break
			}
		}
		wants := periods.Wanted(t.Context(), x, wanted(t, x, y, per, times*noise), false, false)[:2]
		as := func(i int) func(a, b float64) float64 {
			return func(a, b float64) float64 {
				s := math.Sin(math.Pi*(a-b)/wants[i].Period) / wants[i].Length
				return math.Exp(-2 * s * s)
			}
		}
		top = math.Inf(-1)
		for i := range wants {
			f := mean(x, se) / mean(x, as(i))
			if v := noisy(func(a, b float64) float64 { return per(a, b) + f*as(i)(a, b) }); v > top {
				at, top = i, v
			}
		}
		check("PER+PER", instead(per, se, as(at))-math.Log(n))

		p = program(t, "PER*LIN+SE")
		own := leafwise(t, p, map[string][]float64{"PER": {0.5, 0.8, 0.9}, "LIN": {0.1, 1}, "SE": {0.7, 4}})
		gains = r.Gains(t.Context(), promise.Solution{Program: p, Raw: own, Noise: noise},
			grammar(t).Neighbours(p.Expr), compile)
		grows := func(a, b float64) float64 { return a * b * per(a, b) / 10 }
		both = func(a, b float64) float64 { return grows(a, b) + se(a, b) }
		best = noisy(both)
		for _, of := range [][2]float64{{0, 0.3}, {0.5, 0}, {0, 0.1}, {0, 0.6}, {0, 0.9}, {0.1, 0}, {0.9, 0}} {
			best = math.Max(best, shared(none, of))
		}
		flat := mean(x, grows) / mean(x, per)
		check("PER+SE", noisy(func(a, b float64) float64 { return flat*per(a, b) + se(a, b) })-best) // as much in the mean
		steep := mean(x, grows) / mean(x, alone)
		check("LIN+SE", noisy(func(a, b float64) float64 { return steep*alone(a, b) + se(a, b) })-best)
	}
}

// leafwise are parameters of a program whose leaves are all of different kinds.
func leafwise(t *testing.T, p *kernelspace.Program, of map[string][]float64) []float64 {
	t.Helper()
	raw := make([]float64, len(p.Params))
	exprs := p.Own().Expr.Leaves()
	for i, in := range params.Leaves(p.Own()) {
		copy(raw[in.Off:], of[exprs[i].ID()])
	}
	return raw
}

// Another leaf in the place of one that stands for it loses little, less than any other and than none; what explains much is
// missed.
func TestAnotherLeafInItsPlace(t *testing.T) {
	const n, noise = 250, 0.05
	g := grammar(t)
	for _, c := range []struct {
		of, has, better string
		raw, as         map[string][]float64
		missed          []string
	}{
		{
			"PER+LIN", "PER+SE", "PER+LIN", map[string][]float64{"PER": {0.5, 0.8, 0.9}, "LIN": {0.05, 1}},
			map[string][]float64{"PER": {0.5, 0.8, 0.9}, "SE": {2, 15}}, []string{"SE", "PER", "RQ+SE"},
		},
		{
			"PER*SE", "PER*RQ", "PER*SE", map[string][]float64{"PER": {1, 0.8, 0.9}, "SE": {1, 3}},
			map[string][]float64{"PER": {1, 0.8, 0.9}, "RQ": {1, 3, 1}}, []string{"PER", "RQ", "LIN*RQ", "PER*LIN"},
		},
		{
			"SE*LIN", "PER*LIN", "LIN*SE", map[string][]float64{"SE": {1, 1.1}, "LIN": {0.05, 1}}, // of a period that is never seen
			map[string][]float64{"PER": {1, 0.2, 34.6}, "LIN": {0.05, 1}}, []string{"LIN", "LIN*LIN"},
		},
	} {
		rng := rand.New(rand.NewPCG(10, 4))
		from, p := program(t, c.of), program(t, c.has)
		x, y := drawn(t, rng, from, leafwise(t, from, c.raw), n, noise)
		r := promise.New(x, y, 1, starts.Summarise(x, y, 1), 1, promise.Most)
		gains := r.Gains(t.Context(), promise.Solution{Program: p, Raw: leafwise(t, p, c.as), Noise: noise}, g.Neighbours(p.Expr), compile)
		want := program(t, c.better).Expr.ID()
		if gains[want] < -5 {
			t.Errorf("%s in %s loses %.1f nats", want, c.has, -gains[want])
		}
		for _, nb := range g.Neighbours(p.Expr) {
			id := nb.Expr.ID()
			if nb.Kind != grow.Add && nb.Kind != grow.Multiply && id != want && gains[id] > gains[want] {
				t.Errorf("%s: %s, %s, gains %.1f, %s %.1f", c.has, id, nb.Step(), gains[id], want, gains[want])
			}
		}
		for _, text := range c.missed {
			if id := program(t, text).Expr.ID(); !(gains[id] < -25) {
				t.Errorf("%s: %s gains %.1f nats", c.has, id, gains[id])
			}
		}
	}
}

// Beside a change point a leaf may gain; of what stands in it nothing is said.
func TestGainsBesideAChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 3))
	const n, noise = 120, 0.05
	x, y := drawn(t, rng, program(t, "PER"), []float64{1, 0.8, 0.9}, n, noise)
	for i := range y {
		if x[i] > 1 {
			y[i] += 5
		}
	}
	p := program(t, "CP(CONST,CONST)")
	raw := make([]float64, len(p.Params))
	for i, in := range p.Params {
		raw[i] = map[string]float64{"place": kernelspace.RawPlace(1), "width": 1e-3, "variance": 12}[in.Name]
		if raw[i] == 0 {
			t.Fatalf("what is %s?", in.Name)
		}
	}
	r := promise.New(x, y, 1, starts.Summarise(x, y, 1), 1, promise.Most)
	gains := r.Gains(t.Context(), promise.Solution{Program: p, Raw: raw, Noise: noise + 1},
		grammar(t).Neighbours(p.Expr), compile)
	beside, in := program(t, "CP(CONST,CONST)+PER").Expr.ID(), program(t, "CP(CONST+PER,CONST)").Expr.ID()
	if gains[beside] < 30 {
		t.Errorf("%s gains %v", beside, gains[beside])
	}
	if v := gains[in]; v != 0 {
		t.Errorf("%s gains %v", in, v)
	}
}

// A leaf that is moved to where it belongs gains, more than at any other place; at a place it explains what is missing without it.
func TestMovedToItsPlace(t *testing.T) {
	const n, noise = 200, 0.05
	rng := rand.New(rand.NewPCG(10, 6))
	g, from, p := grammar(t), program(t, "PER*LIN+SE"), program(t, "PER+SE*LIN")
	x, y := drawn(t, rng, from, leafwise(t, from, map[string][]float64{"PER": {1, 0.8, 0.9}, "LIN": {0.05, 1}, "SE": {0.7, 4}}), n, noise)
	r := promise.New(x, y, 1, starts.Summarise(x, y, 1), 1, promise.Most)
	raw := leafwise(t, p, map[string][]float64{"PER": {0.5, 0.8, 0.9}, "LIN": {0.05, 1}, "SE": {1, 4}})
	moves := g.Moves(p.Expr)
	gains := r.Gains(t.Context(), promise.Solution{Program: p, Raw: raw, Noise: noise}, moves, compile)
	want := program(t, "PER*LIN+SE").Expr.ID()
	for _, m := range moves {
		if id := m.Expr.ID(); id != want && gains[id] > gains[want] {
			t.Errorf("%s, %s, gains %.1f, %s %.1f", id, m.Step(), gains[id], want, gains[want])
		}
	}
	if gains[want] < 10 {
		t.Errorf("%s gains %.1f nats of %v", want, gains[want], gains)
	}

	per := func(a, b float64) float64 { s := math.Sin(math.Pi*(a-b)/0.9) / 0.8; return 0.5 * math.Exp(-2*s*s) }
	se := func(a, b float64) float64 { return math.Exp(-(a - b) * (a - b) / 32) }
	line := func(a, b float64) float64 { return a * b }
	all := func(a, b float64) float64 { return per(a, b) + 0.05*line(a, b)*se(a, b) }
	noisy := func(k func(a, b float64) float64) float64 {
		top := math.Inf(-1)
		for _, f := range []float64{1, 2, 4, 10, 30} {
			top = math.Max(top, evidence(t, x, y, k, f*noise))
		}
		return top
	}
	best := noisy(all) // the solution with the best noise, or with less of its function
	for _, less := range []float64{0.1, 0.5, 0.9} {
		best = math.Max(best, evidence(t, x, y, func(a, b float64) float64 { return (1 - less) * all(a, b) }, noise))
	}
	for _, less := range []float64{0.1, 0.3, 0.6, 0.9} {
		best = math.Max(best, evidence(t, x, y, all, (1-less)*noise))
	}
	grown := 0.05 * mean(x, line) // SE is as large without the line
	rest := func(a, b float64) float64 { return grown * se(a, b) }
	term := func(a, b float64) float64 { return per(a, b) * line(a, b) }
	explains := mean(x, all) - mean(x, rest)
	top := math.Inf(-1)
	for _, times := range []float64{1, 0.3, 3} {
		f := times * explains / mean(x, term)
		top = math.Max(top, noisy(func(a, b float64) float64 { return rest(a, b) + f*term(a, b) }))
	}
	if gain := top - best - math.Log(2); math.Abs(gains[want]-gain) > 5.01e-4 { // a line as it was, and as one that is added
		t.Errorf("%s gains %v, want %v", want, gains[want], gain)
	}
}

// Two products that share a leaf lose nothing where both have it alike, and much where not.
func TestSharedLeavesLoseLittle(t *testing.T) {
	const n, noise = 200, 0.05
	g, p := grammar(t), program(t, "PER*SE+LIN*SE")
	id := program(t, "(PER+LIN)*SE").Expr.ID()
	for _, c := range []struct{ other, least, most float64 }{{3, -1.5, 0.5}, {0.5, math.Inf(-1), -10}} {
		raw, first := leafwise(t, p, map[string][]float64{"PER": {0.5, 0.8, 0.9}, "LIN": {0.05, 1}, "SE": {1, 3}}), true
		for i, q := range p.Params {
			if q.Base == "SE" && q.Name == "lengthscale" && first {
				raw[i], first = c.other, false
			}
		}
		x, y := drawn(t, rand.New(rand.NewPCG(10, 8)), p, raw, n, noise)
		r := promise.New(x, y, 1, starts.Summarise(x, y, 1), 1, promise.Most)
		gains := r.Gains(t.Context(), promise.Solution{Program: p, Raw: raw, Noise: noise}, g.Neighbours(p.Expr), compile)
		if v, ok := gains[id]; !ok || v < c.least || v > c.most {
			t.Errorf("beside a length of 3 one of %v: %s gains %v", c.other, id, v)
		}
	}
}
