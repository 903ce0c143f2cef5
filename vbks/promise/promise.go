// Package promise says what kernels one step away from another may gain on it, or lose, before any of them is trained.
package promise

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/periods"
	"example.com/kestrel/vbks/random"
)

const (
	// Most rows are looked at to say how much neighbours gain, Rough of them to say which of thousands may.
	Most, Rough = 256, 96

	stream = 0x70726f6d
	// Of a leaf PER so many periods are tried.
	mostPeriods = 2
	// Gains are multiples of so many nats, so that rounding makes no order.
	resolution = 1e-3
	// What gains no more beside what there is may lose where nothing of that stays.
	leastGain = 3
)

// share is how much of the function's variance, and of the noise's, becomes a leaf's.
type share struct{ function, noise float64 }

// firstShares are those that a leaf is tried with, otherShares what follows, with what is best and the better of the two.
func firstShares() []share { return []share{{0, 0.3}, {0.5, 0}} }

func otherShares() [][]share { return [][]share{{{0, 0.1}, {0, 0.6}, {0, 0.9}}, {{0.1, 0}, {0.9, 0}}} }

// spans are the lengths of radial leaves that are tried, in ranges of x.
func spans() []float64 { return []float64{1, 1. / 3, 0.1, 0.03, 0.01} }

// Rows are what kernels are looked at on.
type Rows struct {
	dim    int
	x      []float64
	y      []float64
	scales kernelspace.Scales

	mu    sync.Mutex
	known map[string][]square // what leaves may be
}

type compiler = func(kernelspace.Expr) (*kernelspace.Program, error)

// New takes rows x (row-major) and y, of which scales are, or so many of them where they are more.
func New(x, y []float64, dim int, scales kernelspace.Scales, seed uint64, most int) *Rows {
	r := &Rows{dim: dim, scales: scales}
	rng := rand.New(rand.NewPCG(seed, stream))
	rows := make([]int, len(y))
	for i := range rows {
		rows[i] = i
	}
	if len(rows) > most {
		rows = random.Sample(rng, len(y), most)
	}
	for _, i := range rows {
		r.x, r.y = append(r.x, x[i*dim:(i+1)*dim]...), append(r.y, y[i])
	}
	return r
}

func (r *Rows) at(i int) []float64 { return r.x[i*r.dim : (i+1)*r.dim] }

// Solution is a kernel's: its parameters as they are, those of a line as its mean among them, and the variance of its noise.
type Solution struct {
	Program *kernelspace.Program
	Raw     []float64
	Noise   float64
}

// Gains returns, by id, what neighbours gain on a solution, in nats, about, to the thousandth. With K₀ the covariance of the rows and
// σ² the noise of the solution, and D what a leaf that is added or multiplied adds to it for an amplitude of one at its place, the
// rest being as it is, it is
//
//	max ln N(y; 0, (1 − b)K₀ + (bk̄ + cσ²)D/d̄ + (1 − c)σ²I) − ln N(y; 0, K₀ + σ²I) − ln n,
//
// where k̄ and d̄ are the means of the diagonals of K₀ and D: a share b of the function, or c of what is taken for noise, becomes
// the leaf's. The maximum is over some shares and n choices of the leaf's hyperparameters: lengths of a radial one; what is in the
// middle of the prior for others; of PER the two periods and lengths that pairs of rows want most (periods.Wanted), with n
// the number of rows, since there are about as many periods to choose from. The solution is valued with the best of the same shares,
// without D, and of some noises, lest all neighbours gain what these do; there are no gains below 0. But where a factor that is
// constant nowhere, as a line, gains little, its product with P, what stands at its place, is what there is there, and it may lose:
//
//	max ln N(y; 0, K₀ − P + a(p̄/d̄)D + sσ²I) − ln N(y; 0, K₀ + σ²I) − ln n
//
// over some amplitudes a and noises s. So it is where another leaf stands in the place of one, of which P is the term then: of a radial
// one its length, or that within which the cycles of PER are smooth, is tried, too, and of PER what is wanted without the leaf. Where a
// leaf is left out nothing is in the place of P, or for a factor a constant: what is left is as large. Of moves and of change points
// nothing is said, which is 0. Nothing is optimised, so that it is an order in which to try neighbours, and no evidence. All cores work
// on it; compile makes programs, for several at a time. It is nil where the context has ended or K₀ + σ²I is near singular.
func (r *Rows) Gains(ctx context.Context, of Solution, neighbours []grow.Neighbour, compile compiler) map[string]float64 {
	l := r.look(of, compile)
	if l == nil {
		return nil
	}
	gains := make([]float64, len(neighbours))
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, min(runtime.GOMAXPROCS(0), len(neighbours)))
	for core := range errs {
		wg.Go(func() {
			errs[core] = guard.Do(func() error {
				w := newDesk(len(r.y))
				for i := next.Add(1) - 1; i < int64(len(gains)); i = next.Add(1) - 1 {
					gains[i] = l.neighbour(ctx, w, &neighbours[i], compile)
				}
				return nil
			})
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil { // a panic
			panic(err)
		}
	}
	if ctx.Err() != nil { // periods may not have been looked for
		return nil
	}
	out := map[string]float64{}
	for i := range neighbours {
		out[neighbours[i].Expr.ID()] = gains[i]
	}
	return out
}

// neighbour is what one of them gains.
func (l *looked) neighbour(ctx context.Context, w *desk, n *grow.Neighbour, compile compiler) (most float64) {
	if ctx.Err() != nil {
		return 0
	}
	leaf, err := kernelspace.Parse(n.Leaf)
	if err != nil {
		return 0
	}
	switch n.Kind {
	case grow.Add, grow.Multiply:
		program, err := compile(n.Expr)
		if err != nil {
			return 0
		}
		for i, around := range l.places(program.Own(), n.Kind) {
			if v := l.gain(ctx, w, n.Kind, leaf, around, compile); i == 0 || v > most {
				most = v
			}
		}
	case grow.Replace, grow.Column, grow.Remove:
		most = l.change(ctx, w, n, leaf, compile)
	case grow.Move:
		most = l.moved(w, n, leaf, compile)
	case grow.Share:
		most = l.shared(w, n, compile)
	}
	return resolution * math.Round(most/resolution)
}

// square is a symmetric matrix of all rows with all rows, row by row.
type square []float64

// desk is what one core works with.
type desk struct {
	level simd.Level
	work  simd.Workspace
	a     square // a factor
	y     []float64
}

// wanted is ααᵀ − K̂⁻¹ of what has been factorised, with L⁻¹y in y.
func (w *desk) wanted() square {
	n, out := len(w.y), make(square, len(w.a))
	w.level.SolveVector(true, n, w.a, n, w.y)
	w.level.Inverse(&w.work, n, w.a, n, out, n)
	for i := range n {
		for j := range n {
			out[i*n+j] = w.y[i]*w.y[j] - out[i*n+j]
		}
	}
	return out
}

func newDesk(n int) *desk {
	return &desk{level: simd.Best(), a: make(square, n*n), y: make([]float64, n)}
}

// looked is a solution that is looked at.
type looked struct {
	*Rows
	id     string
	expr   kernelspace.Expr
	tree   *params.Term
	ins    []*kernelspace.Instr // of its leaves
	raw    []float64
	leaves []square // what each of these is
	k      square   // K₀
	noise  float64
	best   float64 // log evidence with the best of its noise and others, as others are looked at with
	w      square  // ααᵀ − (K₀ + σ²I)⁻¹
}

// look factorises a solution's covariance; nil where that cannot be.
func (r *Rows) look(of Solution, compile compiler) *looked {
	n, own := len(r.y), of.Program.Own()
	l := &looked{Rows: r, id: own.Expr.ID(), expr: own.Expr, tree: params.Tree(own), ins: params.Leaves(own), raw: of.Raw,
		k: r.matrix(of.Program, of.Raw), noise: of.Noise}
	w := newDesk(n)
	var ok bool
	if l.best, ok = l.with(w, nil, share{}); !ok {
		return nil
	}
	l.w = w.wanted()
	for _, s := range slices.Concat(firstShares(), slices.Concat(otherShares()...)) { // what a leaf may leave, without it
		if v, ok := l.with(w, nil, s); ok {
			l.best = math.Max(l.best, v)
		}
	}
	noisy, _ := l.noisy(w, l.k)
	l.best = math.Max(l.best, noisy)
	exprs := own.Expr.Leaves()
	for i, in := range l.ins {
		if in.Op == kernelspace.OpStep { // it is no covariance
			l.leaves = append(l.leaves, nil)
			continue
		}
		p, err := compile(exprs[i])
		if err != nil {
			return nil
		}
		l.leaves = append(l.leaves, r.matrix(p.Own(), of.Raw[in.Off:in.Off+in.NumParams()]))
	}
	return l
}

// matrix is a covariance of all rows.
func (r *Rows) matrix(p *kernelspace.Program, raw []float64) square {
	n := len(r.y)
	k := make(square, n*n)
	for i := range n {
		for j := range i + 1 {
			v := p.Eval(raw, r.at(i), r.at(j), i == j)
			k[i*n+j], k[j*n+i] = v, v
		}
	}
	return k
}

// places are what the leaf that a neighbour has and the solution has not is multiplied by where it stands, which may be at several
// places where leaves are alike.
func (l *looked) places(p *kernelspace.Program, kind string) (out []square) {
	tree := params.Tree(p)
	drop := map[string]string{grow.Add: kernelspace.DropSum, grow.Multiply: kernelspace.DropFactor}[kind]
	for _, s := range p.Expr.Simplifications() {
		if s.Kind != drop || len(s.Dropped) != 1 || s.Expr.ID() != l.id {
			continue
		}
		of := make([]square, len(s.Leaves)+1) // by the neighbour's leaves
		for j, i := range s.Leaves {
			of[i] = l.leaves[j]
		}
		around := square(slices.Repeat([]float64{1}, len(l.k)))
		if multiplied(around, tree, s.Dropped[0], of) {
			out = append(out, around)
		}
	}
	return out
}

// multiplied multiplies a matrix by all factors beside a leaf of a term and of what that is in; false where it is at a change.
func multiplied(to square, t *params.Term, leaf int, of []square) bool {
	if t.Leaf >= 0 {
		return true
	}
	if t.In.Op != kernelspace.OpAdd && t.In.Op != kernelspace.OpMul {
		return false
	}
	for _, a := range t.Args {
		if slices.Contains(a.Leaves, leaf) {
			if !multiplied(to, a, leaf, of) {
				return false
			}
			continue
		}
		if t.In.Op == kernelspace.OpMul {
			v := value(a, of)
			if v == nil {
				return false
			}
			times(to, v)
		}
	}
	return true
}

// value is what a term is of leaves that are known, nil where there is a change point in it.
func value(t *params.Term, of []square) square {
	if t.Leaf >= 0 {
		return of[t.Leaf]
	}
	if t.In.Op != kernelspace.OpAdd && t.In.Op != kernelspace.OpMul {
		return nil
	}
	var out square
	for _, a := range t.Args {
		v := value(a, of)
		switch {
		case v == nil:
			return nil
		case out == nil:
			out = slices.Clone(v)
		case t.In.Op == kernelspace.OpAdd:
			floats.Add(out, v)
		default:
			times(out, v)
		}
	}
	return out
}

// times multiplies a matrix by another, entry by entry.
func times(to, by square) { floats.Mul(to, by) }

// trace is the sum of the diagonal.
func (r *Rows) trace(a square) (sum float64) {
	n := len(r.y)
	for i := range n {
		sum += a[i*n+i]
	}
	return sum
}

// with is the log evidence, but for a constant, with shares that are a matrix's; false where there is none. The factor is left in w.a,
// and of it L⁻¹y in w.y.
func (l *looked) with(w *desk, d square, of share) (nats float64, ok bool) {
	n := len(l.y)
	copy(w.a, l.k)
	floats.Scale(1-of.function, w.a)
	if d != nil {
		more := of.function*l.trace(l.k) + of.noise*l.noise*float64(n)
		floats.AddScaled(w.a, more/l.trace(d), d)
	}
	for i := range n {
		w.a[i*n+i] += (1 - of.noise) * l.noise
	}
	return l.evidence(w)
}

// evidence is the log evidence of the covariance w.a, but for a constant; false where there is none. The factor is left there, and of
// it L⁻¹y in w.y.
func (l *looked) evidence(w *desk) (nats float64, ok bool) {
	n := len(l.y)
	if w.level.Cholesky(&w.work, n, w.a, n) != 0 {
		return 0, false
	}
	copy(w.y, l.y)
	w.level.SolveVector(false, n, w.a, n, w.y)
	nats = -floats.Dot(w.y, w.y) / 2
	for i := range n {
		nats -= math.Log(w.a[i*n+i])
	}
	return nats, !math.IsNaN(nats)
}

// gain is what a leaf gains where it is multiplied by a matrix.
func (l *looked) gain(ctx context.Context, w *desk, kind string, leaf kernelspace.Expr, around square, compile compiler) float64 {
	p, err := compile(leaf)
	if err != nil {
		return 0
	}
	p = p.Own()
	in := params.Leaves(p)[0]
	var choices []square
	among := float64(len(l.y))
	if in.Op == kernelspace.OpPER && len(in.Cols) == 1 {
		choices = l.repeating(ctx, p, in, l.w, around)
	} else {
		choices = l.leaf(leaf.ID(), p, in)
		among = float64(len(choices))
	}
	var best square
	better, top := 0, math.Inf(-1)
	for _, k := range choices {
		d := slices.Clone(k)
		times(d, around)
		if !(l.trace(d) > 0) {
			continue
		}
		for f, of := range firstShares() {
			if v, ok := l.with(w, d, of); ok && v > top {
				best, better, top = d, f, v
			}
		}
	}
	if best == nil {
		return 0
	}
	for _, of := range otherShares()[better] {
		if v, ok := l.with(w, best, of); ok {
			top = math.Max(top, v)
		}
	}
	top = math.Max(0, top-l.best-math.Log(among))
	if kind == grow.Add || in.Op.Radial() || in.Op == kernelspace.OpPER || top > leastGain { // it may be as good as constant
		return top
	}
	at := place{around: around, rest: slices.Clone(l.k), trace: l.trace(around), factor: true}
	floats.Sub(at.rest, around)
	if v := l.stead(w, &at, choices); !math.IsInf(v, -1) {
		top = math.Min(top, v-math.Log(among)-l.best)
	}
	return top
}

// repeating are leaves PER with the periods that are wanted most by w where they are multiplied by a matrix.
func (l *looked) repeating(
	ctx context.Context, p *kernelspace.Program, in *kernelspace.Instr, w, around square,
) (out []square) {
	column := make([]float64, len(l.y))
	for i := range column {
		column[i] = l.x[i*l.dim+in.Cols[0]]
	}
	w = slices.Clone(w)
	times(w, around)
	raw := make([]float64, len(p.Params))
	for _, want := range periods.Wanted(ctx, column, mat.NewSymDense(len(l.y), w), false, false) {
		raw[in.Off], raw[in.Off+1], raw[in.Off+2] = 1, want.Length, want.Period
		if out = append(out, l.matrix(p, raw)); len(out) == mostPeriods {
			break
		}
	}
	return out
}

// middle are a leaf's parameters in the middle of the prior, with an amplitude of one.
func (r *Rows) middle(p *kernelspace.Program, in *kernelspace.Instr) []float64 {
	raw := make([]float64, len(p.Params))
	for d := range raw {
		mean, _ := p.Prior(d, r.scales)
		raw[d] = math.Exp(mean)
	}
	raw[in.Off] = 1
	return raw
}

// leaf is what a leaf may be, with an amplitude of one.
func (r *Rows) leaf(id string, p *kernelspace.Program, in *kernelspace.Instr) []square {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.known[id]; ok {
		return known
	}
	raw := r.middle(p, in)
	var out []square
	if in.Op.Radial() {
		for _, s := range spans() {
			for d := range in.NumScale {
				raw[in.Off+1+d] = s * r.scales.Span[in.Cols[min(d, len(in.Cols)-1)]]
			}
			out = append(out, r.matrix(p, raw))
		}
	} else {
		out = append(out, r.matrix(p, raw))
	}
	if r.known == nil {
		r.known = map[string][]square{}
	}
	r.known[id] = out
	return out
}
