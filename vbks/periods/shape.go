package periods

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Shaped is a candidate period with the length scale of the periodic kernel
//
//	k(r) = exp(−2 sin²(πr/Period)/Scale²)
//
// that goes with it best.
type Shaped struct {
	Period float64 // in the units of x
	Scale  float64 // dimensionless
	Gain   float64 // nats of log evidence over a quadratic trend and noise, after those before it
}

const (
	// Candidates are weighed on so many rows, drawn at random.
	shapeRows = 512
	// A periodic function is taken as its first harmonics, at most so many.
	shapeHarmonics = 12
	// The strongest components' periods, and their multiples up to shapeMultiples, are
	// weighed; further components alone.
	shapeComponents = 5
	shapeMultiples  = 6
	// What gains less than leastGain nats is no period.
	leastGain = 4
	// After a coarse grid of length scales the best candidates are moved by parts of
	// the distance that the harmonics resolve.
	refinedCandidates = 4
	refinedSteps      = 6
)

// shapeScales are the length scales that are tried.
func shapeScales() []float64 { return []float64{0.15, 0.5, 1.5} }

// FindShaped finds periods by what a Gaussian process of period and noise explains of
// the series, the quadratic trend taken out: of the components of Find and their
// multiples those with the greatest log evidence, one after the other, the mean of
// what each explains subtracted before the next. A sum of many harmonics, which a
// sharp pattern is, counts as one period; twice the period, which has all of them,
// too, pays for the harmonics that are not there. Variance and noise are those of the
// greatest evidence.
//
// A slow wander has more power than a short period beside it: with smooth > 0 what a
// local mean of that width explains is taken out before.
func FindShaped(x, y []float64, smooth float64, most int, opts Options) []Shaped {
	opts = opts.orDefaults()
	x, y = finiteRows(x, y)
	if len(x) < fewestInputs {
		return nil
	}
	if len(x) > opts.Rows {
		x, y = thinRows(x, y, opts.Rows, opts.Seed)
	}
	s, ok := sampleOf(x)
	if !ok || s.distinct < fewestInputs {
		return nil
	}
	if smooth > 0 {
		y = withoutWander(x, y, smooth)
	}
	if y, ok = detrend(x, y, s); !ok {
		return nil
	}
	found := components(newSpectrum(x, y, s), opts)
	if len(found) == 0 {
		return nil
	}
	if len(x) > shapeRows {
		x, y = thinRows(x, y, shapeRows, opts.Seed)
	}
	w := newWeigher(x, y, s)
	candidates := fundamentals(found, s.span)
	var out []Shaped
	for len(out) < most {
		best := w.best(candidates)
		if !(best.gain >= leastGain) {
			break
		}
		out = append(out, Shaped{1 / best.freq, best.scale, best.gain})
		if !w.subtract(best) {
			break
		}
		candidates = slices.DeleteFunc(candidates, func(f float64) bool { return math.Abs(f-best.freq) < 0.25/s.span })
	}
	return out
}

// withoutWander takes a local mean out of a series, with normal weights of the given
// standard deviation.
func withoutWander(x, y []float64, width float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	out := make([]float64, len(y))
	first := 0
	for _, i := range order {
		for x[i]-x[order[first]] > 3*width {
			first++
		}
		var sum, weight float64
		for _, j := range order[first:] {
			d := (x[j] - x[i]) / width
			if d > 3 {
				break
			}
			w := math.Exp(-d * d / 2)
			sum, weight = sum+w*y[j], weight+w
		}
		out[i] = y[i] - sum/weight
	}
	return out
}

// fundamentals are the frequencies that the components may be harmonics of.
func fundamentals(found []component, span float64) []float64 {
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b component) int { return cmp.Compare(b.power, a.power) })
	var out []float64
	add := func(f float64) {
		near := func(g float64) bool { return math.Abs(f-g) < 0.1/span }
		if f*span >= 1.5 && !slices.ContainsFunc(out, near) {
			out = append(out, f)
		}
	}
	for _, c := range found {
		add(c.freq)
	}
	for _, c := range found[:min(shapeComponents, len(found))] {
		for m := 2; m <= shapeMultiples; m++ {
			add(c.freq / float64(m))
		}
	}
	return out
}

// weigher knows log evidences of periodic functions on some rows.
type weigher struct {
	x, y  []float64
	span  float64
	trend [][]float64 // orthonormal: 1, t, t²
	yy    float64
}

func newWeigher(x, y []float64, s sampling) *weigher {
	w := &weigher{x: x, y: slices.Clone(y), span: s.span}
	for j := range 3 {
		c := make([]float64, len(x))
		for i, v := range x {
			c[i] = power(2*(v-s.lo)/s.span-1, j)
		}
		w.project(c)
		if norm := floats.Norm(c, 2); norm > 1e-9*math.Sqrt(float64(len(x))) {
			floats.Scale(1/norm, c)
			w.trend = append(w.trend, c)
		}
	}
	w.project(w.y)
	w.yy = floats.Dot(w.y, w.y)
	return w
}

// project takes the trend out of a column, twice for rounding.
func (w *weigher) project(c []float64) {
	for range 2 {
		for _, q := range w.trend {
			floats.AddScaled(c, -floats.Dot(q, c), q)
		}
	}
}

// weighed is a frequency with the length scale and the ratio of variances that have
// the greatest evidence.
type weighed struct {
	freq, scale, ratio, gain float64
}

// best is the best of some frequencies, moved to where the evidence is greatest.
func (w *weigher) best(candidates []float64) weighed {
	all := make([]weighed, len(candidates))
	for i, f := range candidates {
		all[i] = w.weigh(f, shapeScales())
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Compare(b.gain, a.gain) })
	best := weighed{gain: math.Inf(-1)}
	for _, c := range all[:min(refinedCandidates, len(all))] {
		// A sharp pattern tells its frequency more exactly than a sine.
		for step, i := 0.2*math.Min(1, c.scale)/w.span, 0; i < refinedSteps; step, i = step/2, i+1 {
			for _, f := range []float64{c.freq - step, c.freq + step} {
				if moved := w.weigh(f, []float64{c.scale}); f*w.span >= 1 && moved.gain > c.gain {
					c = moved
				}
			}
		}
		if c.gain > best.gain {
			best = c
		}
	}
	return best
}

// weigh finds, for a period and each of some length scales, the greatest log evidence
// over the ratio λ of the variances of the periodic function and of the noise, σ² at
// its optimum,
//
//	−½ Σ_j log(1 + λe_j) − n/2 log[(yᵀy − Σ_j λc_j²/(1 + λe_j))/yᵀy],
//
// with ΦQ(ℓ)Φᵀ the kernel as a series of cosines, e_j the eigenvalues of ΦQΦᵀ and c_j
// the products of y and √e_j times its eigenvectors.
func (w *weigher) weigh(freq float64, scales []float64) weighed {
	phi := w.harmonics(freq, shapeHarmonics)
	columns := len(phi)
	gram, product := make([]float64, columns*columns), make([]float64, columns)
	for a := range columns {
		product[a] = floats.Dot(phi[a], w.y)
		for b := range a + 1 {
			gram[a*columns+b] = floats.Dot(phi[a], phi[b])
		}
	}
	best := weighed{freq: freq, gain: math.Inf(-1)}
	for _, scale := range scales {
		weights := CosineWeights(scale, shapeHarmonics)
		most := shapeHarmonics
		for most > 1 && weights[most] < 1e-4 {
			most--
		}
		c := 2 * most
		square := mat.NewSymDense(c, nil)
		for a := range c {
			for b := range a + 1 {
				square.SetSym(a, b, gram[a*columns+b]*math.Sqrt(weights[a/2+1]*weights[b/2+1]))
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(square, true) {
			continue
		}
		values := eigen.Values(nil)
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		along := make([]float64, c) // c_j
		for j := range c {
			for a := range c {
				along[j] += vectors.At(a, j) * math.Sqrt(weights[a/2+1]) * product[a]
			}
		}
		n := float64(len(w.x) - len(w.trend))
		for ratio := 1e-3; ratio < 2e4; ratio *= math.Sqrt(10) {
			det, rest := 0.0, w.yy
			for j, e := range values {
				e = math.Max(e, 0)
				det += math.Log1p(ratio * e)
				rest -= ratio * along[j] * along[j] / (1 + ratio*e)
			}
			if gain := -det/2 - n/2*math.Log(math.Max(rest/w.yy, 1e-12)); gain > best.gain {
				best = weighed{freq, scale, ratio, gain}
			}
		}
	}
	return best
}

// harmonics are the cosines and sines of the first harmonics of a frequency, one
// after the other, without trend.
func (w *weigher) harmonics(freq float64, most int) [][]float64 {
	out := make([][]float64, 2*most)
	for j := range out {
		out[j] = make([]float64, len(w.x))
	}
	for i, v := range w.x {
		s1, c1 := math.Sincos(2 * math.Pi * freq * v)
		s, c := 0.0, 1.0
		for h := range most {
			c, s = c*c1-s*s1, s*c1+c*s1
			out[2*h][i], out[2*h+1][i] = c, s
		}
	}
	for j := range out {
		w.project(out[j])
	}
	return out
}

// subtract takes the mean of what a period explains out of the series; false where
// nothing is left.
func (w *weigher) subtract(p weighed) bool {
	weights := CosineWeights(p.scale, shapeHarmonics)
	phi := w.harmonics(p.freq, shapeHarmonics)
	c := len(phi)
	gram, product := mat.NewSymDense(c, nil), mat.NewVecDense(c, nil)
	for a := range c {
		product.SetVec(a, floats.Dot(phi[a], w.y))
		for b := range a + 1 {
			gram.SetSym(a, b, floats.Dot(phi[a], phi[b]))
		}
		gram.SetSym(a, a, gram.At(a, a)+1/(p.ratio*math.Max(weights[a/2+1], 1e-12)))
	}
	var chol mat.Cholesky
	var coefficients mat.VecDense
	if !chol.Factorize(gram) || chol.SolveVecTo(&coefficients, product) != nil {
		return false
	}
	for a := range c {
		floats.AddScaled(w.y, -coefficients.AtVec(a), phi[a])
	}
	before := w.yy
	w.yy = floats.Dot(w.y, w.y)
	return w.yy > 1e-9*before
}

// CosineWeights are the weights q_0, q_1, … of the periodic kernel as a series of
// cosines,
//
//	exp(−2 sin²(πr/p)/ℓ²) = Σ_h q_h cos(2πhr/p),
//	q_0 = e^(−z) I_0(z),  q_h = 2e^(−z) I_h(z),  z = 1/ℓ²,
//
// I the modified Bessel functions (Solin and Särkkä, AISTATS 2014), as sums over
// equidistant points, which are exact to rounding for functions as smooth as these.
func CosineWeights(scale float64, most int) []float64 {
	points := 4 * (most + 8)
	if need := int(16 / scale); need > points {
		points = need
	}
	out := make([]float64, most+1)
	for i := range points {
		angle := 2 * math.Pi * float64(i) / float64(points)
		s := math.Sin(angle/2) / scale
		k := math.Exp(-2*s*s) / float64(points)
		for h := range out {
			out[h] += k * math.Cos(float64(h)*angle)
		}
	}
	for h := 1; h <= most; h++ {
		out[h] = math.Max(0, 2*out[h])
	}
	return out
}
