package periods

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mat"
)

// Want is a term that repeats and that a covariance wants.
type Want struct {
	Period float64 // in the units of x
	Length float64 // of the leaf PER, without a unit
	Memory float64 // how far apart cycles are still alike; +Inf: all are
	Gain   float64 // nats, about
	Square float64 // the amplitude that gains them
}

// search is what periods are looked for with.
type search struct {
	lengths []float64 // of PER
	most    int       // wants of each length and memory
	cells   int       // lags have so many for each row, so that one is a fraction of the shortest details
	rows    float64   // periods are as long as so many at least
}

// smooth are periods from those of a sinusoid to those of thirty details.
func smooth() search { return search{[]float64{1, 0.3, 0.1, 0.05}, 1, 32, 4} }

// sharp are those of a hundred, that is, noise but for rows whole cycles apart: of ten times as many periods, so that what is
// wanted most by chance is above what repeats more often.
func sharp() search { return search{[]float64{0.015}, 3, 128, 2} }

const (
	// So many periods are within the range, or within twice the memory.
	wantedCycles = 2
	// What is so many steps of the frequency from what is wanted more is the same.
	sharpSteps = 8
	// What is usual is told by so many periods to either side, and anew after a quarter of these.
	usualPeriods = 128
	// Of a cycle of length ℓ harmonics up to this over ℓ are summed.
	summedHarmonics = 2.5
)

// Wanted finds what the covariance K̂ of a Gaussian process gains most by, to which
// a·D is added, D_ij = B_ij k_PER(x_i, x_j) exp(−(x_i−x_j)²/2λ²), for periods p, lengths ℓ and memories λ; w is
// (ααᵀ − K̂⁻¹)∘B, of which the diagonal does not count. The slope at a = 0 is, but for a constant, the score
//
//	s = Σ_{i>j} (ααᵀ − K̂⁻¹)_ij D_ij = Σ_Δ S(Δ) k_PER(Δ) exp(−Δ²/2λ²),  α = K̂⁻¹y,
//
// with S the sum of w over pairs of a lag Δ, so that all periods take one Fourier transform of S,
// whose harmonics k_PER weighs. Its variance, that is, the information about a, is taken for what is usual at
// neighbouring periods: with z the score less its median, by the root of that, and ν harmonics a gain of
//
//	ν(u − ln(1 + u)),  u = z/√ν.
//
// The best of each length and memory are returned, the greatest gain first; without memories cycles are alike over
// all of the range. Those of a hundred details are looked for where they are asked for, which takes several times as long. None where
// fewer than 12 inputs differ, or the context has ended.
func Wanted(ctx context.Context, x []float64, w mat.Symmetric, memories, details bool) (out []Want) {
	all := []search{smooth()}
	if details {
		all = append(all, sharp())
	}
	for _, s := range all {
		l, ok := lagged(x, w, s.cells)
		if !ok {
			return nil
		}
		out = append(out, l.wanted(ctx, s, memories)...)
	}
	if ctx.Err() != nil {
		return nil
	}
	byGain(out)
	return out
}

// wanted are those of one search, until the context has ended.
func (l *lags) wanted(ctx context.Context, s search, memories bool) (out []Want) {
	all := []float64{math.Inf(1)}
	if memories {
		all = append(all, l.span/4, l.span/16, l.span/64)
	}
	for _, memory := range all {
		if ctx.Err() != nil {
			return nil
		}
		l.weigh(func(lag float64) float64 {
			d := lag / memory
			return math.Exp(-d * d / 2)
		})
		seen := min(l.span, 2*memory)
		for _, length := range s.lengths {
			r := l.rate(length, seen/wantedCycles, s.rows*l.spacing, seen)
			for range s.most {
				if len(r.gains) == 0 {
					break
				}
				best := slices.Index(r.gains, slices.Max(r.gains))
				if !(r.gains[best] > 0) {
					break
				}
				out = append(out, Want{
					Period: 1 / (r.first + float64(best)*r.step), Length: length, Memory: memory, Gain: r.gains[best], Square: r.squares[best],
				})
				clear(r.gains[max(0, best-sharpSteps):min(len(r.gains), best+sharpSteps+1)])
			}
		}
	}
	return out
}

func byGain(all []Want) {
	slices.SortStableFunc(all, func(a, b Want) int { return cmp.Compare(b.Gain, a.Gain) })
}

// lags are what pairs of rows that are so far from each other want together.
type lags struct {
	sums          []float64 // by cells, longer than there are, for the transform
	cells         int
	cell          float64 // width of one
	span, spacing float64
	fft           *fourier.FFT
	weighed       []float64
	half          []complex128
	real          []float64 // of it
}

// lagged sums w by lags; ok is false where fewer than 12 inputs differ.
func lagged(x []float64, w mat.Symmetric, cells int) (l lags, ok bool) {
	s, ok := sampleOf(x)
	if !ok || s.distinct < fewestInputs {
		return l, false
	}
	n := len(x)
	l.span, l.spacing, l.cells = s.span, s.span/float64(n), cells*n+1
	l.cell = s.span / float64(cells*n)
	l.sums = make([]float64, fftLength(oversampling*l.cells))
	for i := range n {
		for j := range i {
			l.sums[int(math.Abs(x[i]-x[j])/l.cell+0.5)] += w.At(i, j)
		}
	}
	l.fft = fourier.NewFFT(len(l.sums))
	l.weighed, l.half = make([]float64, len(l.sums)), make([]complex128, len(l.sums)/2+1)
	l.real = make([]float64, len(l.half))
	return l, true
}

// weigh transforms them for terms with a factor that is a function of the lag.
func (l *lags) weigh(factor func(lag float64) float64) {
	for i, v := range l.sums[:l.cells] {
		l.weighed[i] = v * factor(float64(i)*l.cell)
	}
	l.fft.Coefficients(l.half, l.weighed)
	for i, v := range l.half {
		l.real[i] = real(v)
	}
}

// rated are what terms of frequencies at equal steps gain, 0 where nothing, and the amplitudes that gain it.
type rated struct {
	first, step    float64
	gains, squares []float64
}

// rate rates those of one length, with periods from the longest to the shortest, where cycles are alike over so much.
func (l *lags) rate(length, longest, shortest, seen float64) rated {
	df := 1 / (float64(len(l.sums)) * l.cell)
	most := max(1, int(summedHarmonics/length))
	weights, sum, squares := make([]float64, most), 0.0, 0.0
	for h := range weights {
		weights[h] = math.Exp(-float64((h+1)*(h+1)) * length * length / 2)
		sum += weights[h]
		squares += weights[h] * weights[h]
	}
	harmonics := sum * sum / squares
	r := rated{first: 1 / longest, step: length / (math.Pi * seen)} // moves what is as far apart as cycles are alike by a length
	var scores []float64
	for f := r.first; f <= 1/shortest; f += r.step {
		score := 0.0
		for h, c := range weights {
			at := int(float64(h+1)*f/df + 0.5)
			if at >= len(l.real) {
				break
			}
			score += c / sum * l.real[at]
		}
		scores = append(scores, score)
	}
	r.gains, r.squares = make([]float64, len(scores)), make([]float64, len(scores))
	var near []float64
	for from := 0; from < len(scores); from += usualPeriods / 2 {
		to := min(len(scores), from+usualPeriods/2)
		near = append(near[:0], scores[max(0, (from+to)/2-usualPeriods):min(len(scores), (from+to)/2+usualPeriods)]...)
		slices.Sort(near)
		middle := near[len(near)/2]
		for i, v := range near {
			near[i] = math.Abs(v - middle)
		}
		slices.Sort(near)
		sd := near[len(near)/2] / 0.6745 // of a normal variable
		if !(sd > 0) {
			continue
		}
		for i := from; i < to; i++ {
			if u := (scores[i] - middle) / sd / math.Sqrt(harmonics); u > 0 {
				r.gains[i], r.squares[i] = harmonics*(u-math.Log1p(u)), (scores[i]-middle)/(sd*sd)
			}
		}
	}
	return r
}
