// Package starts makes the hyperparameters from which the search for a kernel's
// begins: drawn from what the data look like, shaken, recombined of other kernels'
// solutions, or transplanted from a relative's.
package starts

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// Drawer draws starting hyperparameters from what the data look like. It may be
// used by many goroutines at a time.
type Drawer struct {
	Inducing int // M; not to be changed while it is in use

	scales  kernelspace.Scales
	dim     int
	rows    int         // training rows in all
	sample  [][]float64 // some rows of X
	square  float64     // mean of y²
	yvar    float64     // variance of y
	peaks   [][]float64 // the periods of a column's strongest components
	shaped  sync.Once
	periods [][]candidate // see candidates
	x, y    []float64     // the rows, which are not modified
	seed    uint64        // of the search for periods
	spread  []float64     // median distance of two rows, per column
	floor   float64

	calendrical bool // as Options.Calendar
}

// Options say what a Drawer needs to know beside the rows.
type Options struct {
	Inducing int                // M
	Floor    float64            // of the noise variance
	Scales   kernelspace.Scales // of the rows, see Summarise
	Seed     uint64             // of the search for periods
	Calendar bool               // the priors know the seasons: no other periods are tried where there are as many leaves
}

// NewDrawer summarises training rows: x (N x dim, row-major) and y.
func NewDrawer(x, y []float64, dim int, o Options) *Drawer {
	n := len(y)
	w := &Drawer{Inducing: o.Inducing, scales: o.Scales, dim: dim, rows: n, floor: o.Floor, x: x, y: y, seed: o.Seed}
	w.findPeaks()
	w.calendrical = o.Calendar
	var mean, square float64
	for _, v := range y {
		mean += v
		square += v * v
	}
	mean /= float64(n)
	w.square = square / float64(n)
	w.yvar = w.square - mean*mean
	const rows = 64
	for i := range min(rows, n) {
		r := i * n / min(rows, n)
		w.sample = append(w.sample, slices.Clone(x[r*dim:(r+1)*dim])) // not all of x with it
	}
	w.spread = make([]float64, dim)
	for c := range w.spread {
		var gaps []float64
		for i := range w.sample {
			for j := range i {
				gaps = append(gaps, math.Abs(w.sample[i][c]-w.sample[j][c]))
			}
		}
		slices.Sort(gaps)
		if len(gaps) > 0 {
			w.spread[c] = gaps[len(gaps)/2]
		}
		if w.spread[c] <= 0 {
			w.spread[c] = max(w.scales.Span[c]/4, 1e-3)
		}
	}
	return w
}

// logUniform draws from [lo, hi] uniformly in the logarithm.
func logUniform(rng *rand.Rand, lo, hi float64) float64 {
	if hi <= lo {
		return lo
	}
	return lo * math.Exp(rng.Float64()*math.Log(hi/lo))
}

// Draw returns a fresh start for a kernel. The first (number 0) uses the
// strongest periods and middling values; the others are random around them.
func (w *Drawer) Draw(p *kernelspace.Program, rng *rand.Rand, number int) []float64 {
	p = p.Own()
	raw := make([]float64, len(p.Params))
	used := w.taken(p)
	for _, in := range params.Leaves(p) {
		w.fresh(p, in, raw, rng, number, used)
	}
	if w.calendrical {
		w.calendar(p, raw)
	}
	for _, in := range params.Leaves(p) {
		w.heed(p, in, raw, rng, number)
	}
	share := math.Pow(10, -0.5-2*rng.Float64()) // of the noise
	if number == 0 {
		share = 0.1
	}
	w.normalise(p, raw, (1-share)*w.square)
	return params.Free(p, raw, heeded(&p.Noise, share*w.yvar, rng, number), w.floor)
}

// calendar gives the leaves PER the periods that the calendar knows.
func (w *Drawer) calendar(p *kernelspace.Program, raw []float64) {
	known := p.Seasons(w.scales)
	for _, in := range params.Leaves(p) {
		if !in.Seasonal() || known == nil {
			continue
		}
		first := in.Off + 1 + in.NumScale
		for i := range in.NumPeriod {
			raw[first+i] = known[0]
		}
		known = known[1:]
	}
}

// unused notes for each column which candidate periods a kernel has taken.
func (w *Drawer) unused() []map[int]bool {
	used := make([]map[int]bool, w.dim)
	for c := range used {
		used[c] = map[int]bool{}
	}
	return used
}

// normalise scales a kernel to the given mean of k(x,x) and settles it.
func (w *Drawer) normalise(p *kernelspace.Program, raw []float64, target float64) {
	if d := w.meanDiag(p, raw); d > 0 && !math.IsInf(d, 0) {
		params.Tree(p).Amplify(raw, target/d)
	}
	params.Settle(p, raw)
}

// meanDiag returns the mean of k(x,x) over the sample.
func (w *Drawer) meanDiag(p *kernelspace.Program, raw []float64) float64 {
	var sum float64
	for _, x := range w.sample {
		sum += p.Eval(raw, x, x, true)
	}
	return sum / float64(len(w.sample))
}

// leaf draws one leaf's parameters, its variance such that leaves in a sum
// have comparable shares.
func (w *Drawer) leaf(in *kernelspace.Instr, raw []float64, rng *rand.Rand, number int, used []map[int]bool) {
	first := number == 0
	if in.Op == kernelspace.OpStep {
		w.step(in.Cols[0], raw, rng, first)
		return
	}
	raw[0] = 1
	if !first {
		raw[0] = math.Exp(rng.NormFloat64())
	}
	scales := raw[1 : 1+in.NumScale]
	columns := len(in.Cols)
	switch in.Op {
	case kernelspace.OpPER:
		w.periodic(in, raw, rng, number, used)
		return
	case kernelspace.OpLIN, kernelspace.OpPoly:
		// Unit mean square after scaling.
		if in.NumScale > 1 {
			for i, c := range in.Cols {
				scales[i] = math.Sqrt(float64(columns)) * w.rms(c)
			}
		} else if in.NumScale == 1 {
			var s float64
			for _, c := range in.Cols {
				s += w.rms(c) * w.rms(c)
			}
			scales[0] = math.Sqrt(s)
		}
	case kernelspace.OpRW, kernelspace.OpIRW:
		w.walk(in, raw, rng, first)
		return
	case kernelspace.OpCos, kernelspace.OpConst, kernelspace.OpWhite, kernelspace.OpCat: // no length scale
	case kernelspace.OpLevels: // all alike, at first as much as not: c = 0.6
		f := 1.0
		if !first {
			f = logUniform(rng, 0.4, 3)
		}
		for i := range scales {
			if scales[i] = f; !first {
				scales[i] *= math.Exp(0.5 * rng.NormFloat64())
			}
		}
	default:
		f := 0.5
		if !first {
			f = logUniform(rng, w.shortest(columns), 3)
		}
		if in.NumScale == 1 {
			var s float64
			for _, c := range in.Cols {
				s += w.spread[c] * w.spread[c]
			}
			scales[0] = f * math.Sqrt(s)
		} else {
			for i, c := range in.Cols {
				scales[i] = f * math.Sqrt(float64(columns)) * w.spread[c]
				if !first {
					scales[i] *= math.Exp(0.5 * rng.NormFloat64())
				}
			}
		}
	}
	rest := raw[1+in.NumScale:]
	for i := range rest[in.NumPeriod:] { // a shape, if there is one
		rest[in.NumPeriod+i] = 1
		if !first && in.Op != kernelspace.OpPoly {
			rest[in.NumPeriod+i] = math.Exp(rng.NormFloat64())
		}
	}
	for i := range in.NumPeriod {
		rest[i] = w.period(in.Cols[min(i, len(in.Cols)-1)], rng, number, used).period
	}
}

// shortest is the least useful length scale as a fraction of the spread: what
// M inducing inputs can resolve in one dimension.
func (w *Drawer) shortest(columns int) float64 {
	if columns > 1 {
		return 0.3
	}
	return math.Max(0.01, math.Min(0.3, 4/float64(w.Inducing)))
}

func (w *Drawer) rms(c int) float64 {
	var s float64
	for _, x := range w.sample {
		s += x[c] * x[c]
	}
	if s == 0 {
		return 1
	}
	return math.Sqrt(s / float64(len(w.sample)))
}

// Shake changes a solution for another try: either every parameter a little,
// one much and periods by factors of two, or one leaf is drawn afresh.
func (w *Drawer) Shake(p *kernelspace.Program, x []float64, rng *rand.Rand) []float64 {
	if rng.IntN(2) == 0 {
		return w.redraw(p, x, rng)
	}
	y := slices.Clone(x)
	for i := range y {
		y[i] += 0.4 * rng.NormFloat64()
	}
	if p.Noise.How == kernelspace.Fixed {
		y[len(p.Free)] = x[len(p.Free)]
	}
	for i, j := range p.Free {
		if p.Params[j].Known.How == kernelspace.Bounded { // its entry is no logarithm
			continue
		}
		switch p.Params[j].Name {
		case "period":
			y[i] = x[i] + 0.01*rng.NormFloat64()
			switch rng.IntN(4) {
			case 0:
				y[i] += math.Ln2
			case 1:
				y[i] -= math.Ln2
			}
		case "alpha":
			// A large shape is flat: no small step leads out of it.
			if rng.IntN(2) == 0 {
				y[i] = rng.NormFloat64()
			}
		}
	}
	if len(p.Free) > 0 {
		y[rng.IntN(len(p.Free))] += 1.5 * rng.NormFloat64()
	}
	return y
}

// redraw replaces one leaf of a solution by a fresh draw and keeps the mean of
// k(x,x).
func (w *Drawer) redraw(p *kernelspace.Program, x []float64, rng *rand.Rand) []float64 {
	p = p.Own()
	raw, noise := params.Raw(p, x, w.floor)
	whole := w.meanDiag(p, raw)
	all := params.Leaves(p)
	in := all[rng.IntN(len(all))]
	w.fresh(p, in, raw, rng, 1, w.taken(p))
	if w.calendrical {
		w.calendar(p, raw)
	}
	w.heed(p, in, raw, rng, 1)
	w.normalise(p, raw, whole)
	return params.Free(p, raw, noise, w.floor)
}
