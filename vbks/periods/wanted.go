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

const (
	// Lags have so many cells for each row, so that a cell is a fraction of the shortest details.
	lagCells = 32
	// Periods are as long as so many rows at least, and so many are within the range, or within twice the memory.
	wantedRows   = 4
	wantedCycles = 2
	// What is usual is told by so many periods to either side, and anew after a quarter of these.
	usualPeriods = 128
	// Of a cycle of length ℓ harmonics up to this over ℓ are summed.
	summedHarmonics = 2.5
)

// wantedLengths are those of PER that are tried, from a sinusoid to a cycle of thirty details.
func wantedLengths() []float64 { return []float64{1, 0.3, 0.1, 0.05} }

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
// all of the range. None where fewer than 12 inputs differ, or the context has ended.
func Wanted(ctx context.Context, x []float64, w mat.Symmetric, memories bool) []Want {
	s, ok := sampleOf(x)
	if !ok || s.distinct < fewestInputs {
		return nil
	}
	n := len(x)
	cell := s.span / float64(lagCells*n)
	cells := lagCells*n + 1
	lags := make([]float64, fftLength(oversampling*cells))
	for i := range n {
		for j := range i {
			lags[int(math.Abs(x[i]-x[j])/cell+0.5)] += w.At(i, j)
		}
	}
	all := []float64{math.Inf(1)}
	if memories {
		all = append(all, s.span/4, s.span/16, s.span/64)
	}
	fft := fourier.NewFFT(len(lags))
	df := 1 / (float64(len(lags)) * cell)
	weighed, half := make([]float64, len(lags)), make([]complex128, len(lags)/2+1)
	var out []Want
	for _, memory := range all {
		if ctx.Err() != nil {
			return nil
		}
		for i, v := range lags[:cells] {
			d := float64(i) * cell / memory
			weighed[i] = v * math.Exp(-d*d/2)
		}
		fft.Coefficients(half, weighed)
		seen := min(s.span, 2*memory)
		for _, length := range wantedLengths() {
			if w, ok := wanted(half, df, s.span/float64(n), seen, length); ok {
				w.Memory = memory
				out = append(out, w)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Want) int { return cmp.Compare(b.Gain, a.Gain) })
	return out
}

// wanted is the best period of one length, from the transform of what lags want at multiples of df, where
// rows are so far from each other and cycles alike over so much.
func wanted(transform []complex128, df, spacing, seen, length float64) (best Want, ok bool) {
	most := max(1, int(summedHarmonics/length))
	weights, sum, squares := make([]float64, most), 0.0, 0.0
	for h := range weights {
		weights[h] = math.Exp(-float64((h+1)*(h+1)) * length * length / 2)
		sum += weights[h]
		squares += weights[h] * weights[h]
	}
	harmonics := sum * sum / squares
	step := length / (math.Pi * seen) // moves what is as far apart as cycles are alike by a length
	first, last := wantedCycles/seen, 1/(wantedRows*spacing)
	var scores []float64
	for f := first; f <= last; f += step {
		score := 0.0
		for h, c := range weights {
			if at := int(float64(h+1)*f/df + 0.5); at < len(transform) {
				score += c / sum * real(transform[at])
			}
		}
		scores = append(scores, score)
	}
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
			u := (scores[i] - middle) / sd / math.Sqrt(harmonics)
			if gain := harmonics * (u - math.Log1p(u)); u > 0 && gain > best.Gain {
				best, ok = Want{Period: 1 / (first + float64(i)*step), Length: length, Gain: gain, Square: (scores[i] - middle) / (sd * sd)}, true
			}
		}
	}
	return best, ok
}
