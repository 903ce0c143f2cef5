package periods

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Sinusoid is a candidate period of what a Gaussian process leaves of a series.
type Sinusoid struct {
	Period    float64 // in the units of x
	Square    float64 // its mean square, with its harmonics
	Gain      float64 // nats of log likelihood
	Harmonics int     // by which it was found; 1: a sinusoid alone
}

const (
	// What K̂⁻¹ makes of a frequency is the mean over so many draws and over so many
	// frequencies to either side.
	levelDraws  = 32
	levelEither = 8
	// Of series without any a few in a hundred show one: of F independent frequencies the
	// greatest gain is above z with probability F√z exp(−z) or so, times a constant about 1 (Baluev 2008, MNRAS 385).
	leftSafety = 5
	leftStream = 0x6c656674
	faintGain  = 2 // nats, where any will do
)

// Left finds sinusoids in what a Gaussian process of covariance K̂ = k(X,X) + σ_n²I
// leaves of a series: with α = K̂⁻¹y those frequencies ω where
//
//	g(ω) = |Σ_i w_i α_i exp(−iωx_i)|² / E|Σ_i w_i α̃_i exp(−iωx_i)|²,  α̃ ~ N(0, K̂⁻¹),
//
// is large, for an amplitude that is constant, w = 1, or grows from the middle, w = t in
// [−1, 1]. It is the generalised least-squares periodogram for errors of covariance K̂:
// where K̂ is right g is exponential of mean 1, and adding the sinusoid to the mean gains g
// nats. The expectation is estimated from draws. A period that a rough function hides
// in a periodogram of y is seen here, since what the process explains is weighed down
// frequency by frequency. Fundamentals of many weak harmonics are found by the sum of
// those (see combs).
//
// The greatest are returned first, at most so many, each further from the others than the range of
// x resolves; with faint also those that chance makes in series without any. u is upper triangular, K̂ = uᵀu.
// None where K̂ is near singular, fewer than 12 inputs differ, or the context has ended.
func Left(ctx context.Context, x, y []float64, u *mat.TriDense, most int, faint bool, seed uint64) []Sinusoid {
	s, ok := sampleOf(x)
	if !ok || s.distinct < fewestInputs {
		return nil
	}
	var chol mat.Cholesky
	chol.SetFromU(u)
	alpha := mat.NewVecDense(len(x), nil)
	if err := chol.SolveVecTo(alpha, mat.NewVecDense(len(x), slices.Clone(y))); err != nil {
		return nil // K̂ is near singular
	}
	root := u.RawTriangular()
	drawn := byDraws(ctx, len(x), seed, func(z []float64) { // u⁻¹z has covariance K̂⁻¹
		blas64.Trsv(blas.NoTrans, root, blas64.Vector{N: len(z), Data: z, Inc: 1})
	})
	return weighedDown(x, s, alpha.RawVector().Data, most, 2, faint, drawn)
}

// Standing is Left with α = K̂⁻¹y itself, of which the expectation is estimated, too: what is usual at neighbouring
// frequencies. Amplitudes are constant. Periods of which few are seen are told from a wander by a covariance, not so well by that.
func Standing(x, alpha []float64, most int) []Sinusoid {
	s, ok := sampleOf(x)
	if !ok || s.distinct < fewestInputs {
		return nil
	}
	return weighedDown(x, s, alpha, most, 1, false, func(f *frequencies, weight func([]float64) []float64) []float64 {
		return usual(f.power(weight(alpha)), f.low, f.k)
	})
}

// usual is the median over neighbouring frequencies, as a mean of what is exponential: no further away than by a half of each.
func usual(g []float64, low, k int) []float64 {
	out := make([]float64, len(g))
	const either, fewest = combEither * oversampling, 4
	var some []float64
	for from := low; from <= k; {
		to := min(k+1, from+max(fewest, min(either/2, from/8)))
		middle := (from + to) / 2
		half := max(2*fewest, min(either, middle/2))
		some = append(some[:0], g[max(low, middle-half):min(k+1, middle+half)]...)
		slices.Sort(some)
		for i := from; i < to; i++ {
			out[i] = some[len(some)/2] / math.Ln2
		}
		from = to
	}
	return out
}

// Repeating finds sinusoids in what may be independent noise of one variance, as Left does
// with K̂ = σ²I, where σ² is the values' own.
func Repeating(ctx context.Context, x, r []float64, most int, seed uint64) []Sinusoid {
	s, ok := sampleOf(x)
	square := meanSquare(r)
	if !ok || s.distinct < fewestInputs || !(square > 0) {
		return nil
	}
	alpha := slices.Clone(r)
	floats.Scale(1/square, alpha)
	drawn := byDraws(ctx, len(x), seed, func(z []float64) { floats.Scale(1/math.Sqrt(square), z) })
	return weighedDown(x, s, alpha, most, 2, false, drawn)
}

// level is what is expected of each frequency's power, for weights by which rows are multiplied; nil where the context has ended.
type level func(f *frequencies, weight func([]float64) []float64) []float64

// byDraws is the level by draws of N(0, K̂⁻¹), which colour makes of independent ones.
func byDraws(ctx context.Context, n int, seed uint64, colour func(z []float64)) level {
	rng := rand.New(rand.NewPCG(seed, leftStream))
	draws := make([][]float64, levelDraws)
	for i := range draws {
		draws[i] = make([]float64, n)
		for j := range draws[i] {
			draws[i][j] = rng.NormFloat64()
		}
		colour(draws[i])
	}
	return func(f *frequencies, weight func([]float64) []float64) []float64 {
		out := make([]float64, f.k+1)
		for _, d := range draws {
			if ctx.Err() != nil {
				return nil
			}
			for k, p := range f.power(weight(d)) {
				out[k] += p / levelDraws
			}
		}
		return smoothed(out, levelEither)
	}
}

// power is |Σ_i w_i exp(−iω_k x_i)|² for k = 0, …, K.
func (f *frequencies) power(w []float64) []float64 {
	out := make([]float64, f.k+1)
	for k, c := range f.transform(w, f.k) {
		out[k] = real(c)*real(c) + imag(c)*imag(c)
	}
	return out
}

// weighedDown does what Left says with K̂⁻¹y and the level of each frequency; with one weight amplitudes are constant.
func weighedDown(x []float64, s sampling, alpha []float64, most, weights int, faint bool, expected level) []Sinusoid {
	n := len(x)
	f := newFrequencies(x, s)
	t := make([]float64, n)
	for i, v := range x {
		t[i] = 2*(v-s.lo)/s.span - 1
	}
	var all []Sinusoid
	least := math.Log(float64(f.k)/oversampling) + leftSafety
	if faint {
		least = faintGain
	}
	for weight := range weights {
		weigh := func(w []float64) []float64 {
			out := slices.Clone(w)
			if weight == 1 {
				for i := range out {
					out[i] *= t[i]
				}
			}
			return out
		}
		got, level := f.power(weigh(alpha)), expected(&f, weigh)
		if level == nil {
			return nil
		}
		square := 1.0
		if weight == 1 {
			square = meanSquare(t)
		}
		gains, squares := make([]float64, f.k+1), make([]float64, f.k+1)
		for k := f.low; k <= f.k; k++ {
			// Of A = cᵀK̂⁻¹c and as much for the sine the amplitude is |Σ wα exp|/A.
			half := level[k] / 2
			gains[k], squares[k] = got[k]/level[k], got[k]/(half*half)/2*square
			if gains[k] >= least {
				all = append(all, Sinusoid{1 / (float64(k) * f.df), squares[k], gains[k], 1})
			}
		}
		for _, c := range combs(gains, f.low, f.k, least) {
			sum := 0.0
			for h := 1; h <= c.harmonics; h++ {
				// Of a ratio of mean 1 + s only s is the harmonic's own.
				k := int(math.Round(float64(h) * c.freq))
				sum += squares[k] * (1 - 1/max(1, gains[k]))
			}
			all = append(all, Sinusoid{1 / (c.freq * f.df), sum, c.gain, c.harmonics})
		}
	}
	slices.SortStableFunc(all, func(a, b Sinusoid) int { return cmp.Compare(b.Gain, a.Gain) })
	var out []Sinusoid
	for _, c := range all {
		near := func(o Sinusoid) bool { return math.Abs(1/o.Period-1/c.Period) < 1/s.span }
		if len(out) < most && !slices.ContainsFunc(out, near) {
			out = append(out, c)
		}
	}
	return out
}

// smoothed is the running mean over so many entries to either side.
func smoothed(v []float64, either int) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		lo, hi := max(0, i-either), min(len(v), i+either+1)
		for _, w := range v[lo:hi] {
			out[i] += w / float64(hi-lo)
		}
	}
	return out
}

func meanSquare(v []float64) float64 {
	sum := 0.0
	for _, w := range v {
		sum += w * w
	}
	return sum / float64(len(v))
}
