package local

import (
	"cmp"
	"math"
	"sync"

	"example.com/kestrel/internal/guard"
)

// question is a row that is to be predicted from neighbours as if it and what is about it
// were not known.
type question struct {
	row  int
	near []int32
	away float64 // from the nearest row that is known
}

// objective is the sum of log densities of rows given their neighbours (Vecchia 1988; Stein,
// Chi and Welty 2004), as a function of the logarithms of a kernel's hyperparameters. Rows
// on a grid have few distances, each of which is evaluated once.
type objective struct {
	terms     []Term
	y         []float64
	asked     []question
	distances []float64 // those there are
	pairs     [][]int32 // of each question: places of distances, of k(N,N) below the diagonal row by row, each followed by that to x
}

// stripes is into how many parts the questions are divided that may be worked on at once.
// Sums are made in their order, so that results do not depend on how many are.
const stripes = 4

// same is by what part of the least step distances may differ that are taken for one.
const same = 1e-4

func newObjective(terms []Term, s *series, asked []question) *objective {
	o := &objective{terms: terms, y: s.rest, asked: asked}
	places := map[int64]int32{}
	of := func(d float64) int32 {
		key := int64(math.Round(math.Abs(d) / (same * s.step)))
		p, ok := places[key]
		if !ok {
			p = int32(len(o.distances))
			places[key] = p
			o.distances = append(o.distances, math.Abs(d))
		}
		return p
	}
	for _, q := range asked {
		pairs := make([]int32, 0, len(q.near)*(len(q.near)+1)/2)
		for i, r := range q.near {
			for _, other := range q.near[:i] {
				pairs = append(pairs, of(s.x[r]-s.x[other]))
			}
			pairs = append(pairs, of(s.x[r]-s.x[q.row]))
		}
		o.pairs = append(o.pairs, pairs)
	}
	return o
}

// striped does work on each stripe at once and returns the first stripe's error.
func striped(n int, do func(stripe, from, to int) error) error {
	var wg sync.WaitGroup
	var errs [stripes]error
	for s := range stripes {
		wg.Go(func() {
			errs[s] = guard.Do(func() error { return do(s, s*n/stripes, (s+1)*n/stripes) })
		})
	}
	wg.Wait()
	return cmp.Or(errs[:]...)
}

// value returns the objective and, if grad is not nil, its derivatives in it. With
// b = K⁻¹k, a = K⁻¹y_N, v = k(x,x) + σ_n² − kᵀb and e = y − kᵀa, K = k(N,N) + σ_n²I,
//
//	d log p = ½(e²/v² − 1/v) dv + (e/v) (dkᵀa − bᵀ dK a),   dv = d(k(x,x) + σ_n²) − 2bᵀdk + bᵀ dK b.
//
// Errors: errSingular.
func (o *objective) value(theta, grad []float64) (sum float64, err error) {
	m := (&Kernel{o.terms, theta}).made()
	prior := m.variance()
	table := make([]float64, len(o.distances))
	err = striped(len(table), func(_, from, to int) error {
		for i := from; i < to; i++ {
			table[i] = m.at(o.distances[i])
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	var sums, variance, noise [stripes]float64
	var weights [stripes][]float64 // of the derivatives of the distances
	err = striped(len(o.asked), func(s, from, to int) error {
		var w given
		if grad != nil {
			weights[s] = make([]float64, len(table))
		}
		for i := from; i < to; i++ {
			q := &o.asked[i]
			w.fill(q, o.y, table, o.pairs[i])
			mean, v, ok := w.condition(prior, m.noise)
			if !ok {
				return errSingular
			}
			v += m.noise
			e := o.y[q.row] - mean
			sums[s] += logNormal(e, v)
			if grad != nil {
				diag := w.slopes(e, v, o.pairs[i], weights[s])
				c := 0.5 * (e*e/v - 1) / v
				variance[s] += diag + c
				noise[s] += diag + c
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	clear(grad)
	total := 0.0
	for s := range stripes {
		sum += sums[s]
		if grad == nil {
			continue
		}
		grad[0] += m.noise * noise[s]
		total += variance[s]
		if s > 0 {
			for i, w := range weights[s] {
				weights[0][i] += w
			}
		}
	}
	if grad == nil {
		return sum, nil
	}
	m.slopes(0, total, grad)
	for i, w := range weights[0] {
		m.slopes(o.distances[i], w, grad)
	}
	return sum, nil
}

// fill takes covariances from a table.
func (w *given) fill(q *question, y, table []float64, pairs []int32) {
	n := len(q.near)
	w.room(n)
	for i, r := range q.near {
		row := w.l[i*n : i*n+i]
		for j := range row {
			row[j] = table[pairs[j]]
		}
		w.k[i], w.y[i] = table[pairs[i]], y[r]
		pairs = pairs[i+1:]
	}
}

// slopes adds, after condition, the derivatives of log p by the covariances that are of
// pairs, and returns the sum of those by the diagonal of k(N,N).
func (w *given) slopes(e, v float64, pairs []int32, weights []float64) (diagonal float64) {
	w.back(w.k, w.b)
	w.back(w.y, w.a)
	cv, ce := 0.5*(e*e/v-1)/v, e/v
	for i, bi := range w.b {
		ai := w.a[i]
		diagonal += (cv*bi - ce*ai) * bi
		bb, ba, ab := 2*cv*bi, ce*bi, ce*ai
		for j := range i {
			weights[pairs[j]] += bb*w.b[j] - ba*w.a[j] - ab*w.b[j]
		}
		weights[pairs[i]] += ce*ai - bb
		pairs = pairs[i+1:]
	}
	return diagonal
}
