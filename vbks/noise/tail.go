package noise

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"example.com/kestrel/vbks/mixture"
)

// Tail is how much likelier large errors are than those of a normal distribution: noise is
// a scale mixture of normals, N(0, σ²/w), over
//
//	w ~ Gamma(ν/2, ν/2)                           Student's t of ν degrees of freedom
//	w = 1 but for a share s of rows, 1/ratio      a normal, and a wider one for outliers
//
// The zero value is normal. With e the mean square of an error over σ² it gives each row
// what q(w), and a bound on the log density of the row, have of it.
type Tail struct {
	Nu    float64 `json:"nu,omitempty"`    // degrees of freedom; 0: it is not Student's t
	Share float64 `json:"share,omitempty"` // of the outliers
	Ratio float64 `json:"ratio,omitempty"` // of their variance to the others'; 0: there are none
}

// Heaviest and Lightest are the degrees of freedom between which Nu lies: of 2 there is no
// variance, of 2.5 it is five times the square of the scale. Outliers are at most so many
// of all rows, and have at least and at most so many times the variance of the others.
const (
	Heaviest, Lightest    = 2.5, 200
	mostShare             = 0.3
	leastRatio, mostRatio = 9, 1e4
)

// Normal reports whether the noise is.
func (t Tail) Normal() bool { return t == Tail{} }

// logDensity is the log density at √e of the standardised noise.
func (t Tail) logDensity(e float64) float64 {
	switch {
	case t.Nu > 0:
		return logT(t.Nu) - (t.Nu+1)/2*math.Log1p(e/t.Nu)
	case t.Ratio > 0:
		a, b := math.Log1p(-t.Share)-e/2, math.Log(t.Share)-0.5*math.Log(t.Ratio)-e/2/t.Ratio
		top := math.Max(a, b)
		return top + math.Log(math.Exp(a-top)+math.Exp(b-top)) - 0.5*math.Log(2*math.Pi)
	}
	return -0.5 * (math.Log(2*math.Pi) + e)
}

// logT is the log density of the standardised Student's t at 0.
func logT(nu float64) float64 {
	a, _ := math.Lgamma((nu + 1) / 2)
	b, _ := math.Lgamma(nu / 2)
	return a - b - 0.5*math.Log(math.Pi*nu)
}

// wide is the probability that a row is of the wider normal.
func (t Tail) wide(e float64) float64 {
	odds := math.Log(t.Share/(1-t.Share)) - 0.5*math.Log(t.Ratio) + e/2*(1-1/t.Ratio)
	return 1 / (1 + math.Exp(-odds))
}

// weight is E w,
//
//	(ν + 1)/(ν + e)   or   1 − p + p/ratio,  p = s N(√e; 0, ratio)/(s N(√e; 0, ratio) + (1 − s) N(√e; 0, 1)).
func (t Tail) weight(e float64) float64 {
	switch {
	case t.Nu > 0:
		return (t.Nu + 1) / (t.Nu + e)
	case t.Ratio > 0:
		return 1 - t.wide(e)*(1-1/t.Ratio)
	}
	return 1
}

// tailSteps are the steps of the EM algorithm for Share and Ratio.
const tailSteps = 20

// refit is the tail of the same form that is best for errors e, which it begins from: ν by
// golden sections of log ν, share and ratio by steps of EM.
func (t Tail) refit(e []float64) Tail {
	switch {
	case t.Nu > 0:
		of := func(u float64) float64 {
			sum, nu := 0.0, math.Exp(u)
			for _, v := range e {
				sum += math.Log1p(v / nu)
			}
			return float64(len(e))*logT(nu) - (nu+1)/2*sum
		}
		t.Nu = math.Exp(peak(of, math.Log(Heaviest), math.Log(Lightest)))
	case t.Ratio > 0:
		for range tailSteps {
			t = t.step(e)
		}
	}
	return t
}

// step is one of EM for the two normals.
func (t Tail) step(e []float64) Tail {
	sum, square := 0.0, 0.0
	for _, v := range e {
		p := t.wide(v)
		sum += p
		square += p * v
	}
	n := float64(len(e))
	t.Share = math.Min(mostShare, math.Max(sum, 0.1)/n) // a tenth of a row: not to be stuck at none
	if sum > 0 {
		t.Ratio = math.Min(mostRatio, math.Max(leastRatio, square/sum))
	}
	return t
}

// peak is where a function with one top is largest between two places, to 0.002.
func peak(of func(float64) float64, lo, hi float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := of(a), of(b)
	for hi-lo > 2e-3 {
		if fa >= fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = of(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = of(b)
		}
	}
	return (lo + hi) / 2
}

// nodeStep is the distance of the nodes of Tails in standard deviations of log w, and
// nodeEdge how unlikely the outermost ones are beside the likeliest.
const nodeStep, nodeEdge = 1.25, 1e-6

// Parts are the normals that the noise is a mixture of, nil where it is one. Student's t is
// an integral of them, by the trapezoidal rule over log w: its distribution function is
// right within 0.001.
func (t Tail) Parts() []mixture.Part {
	switch {
	case t.Ratio > 0:
		return []mixture.Part{{Share: 1 - t.Share, Factor: 1}, {Share: t.Share, Factor: t.Ratio}}
	case t.Nu == 0:
		return nil
	}
	half := t.Nu / 2
	step := nodeStep / math.Sqrt(half)
	density := func(u float64) float64 { return math.Exp(half * (u + 1 - math.Exp(u))) } // 1 at its top, u = 0
	var parts []mixture.Part
	sum := 0.0
	add := func(u float64) bool {
		d := density(u)
		if d < nodeEdge {
			return false
		}
		parts = append(parts, mixture.Part{Share: d, Factor: math.Exp(-u)})
		sum += d
		return true
	}
	for u := 0.0; add(u); u += step {
	}
	slices.Reverse(parts)
	for u := -step; add(u); u -= step {
	}
	for i := range parts {
		parts[i].Share /= sum
	}
	return parts
}

// Draw is a draw of 1/w, by which the variance of a row's noise is multiplied.
func (t Tail) Draw(rng *rand.Rand) float64 {
	switch {
	case t.Nu > 0:
		return t.Nu / distuv.ChiSquared{K: t.Nu, Src: rng}.Rand()
	case t.Ratio > 0 && rng.Float64() < t.Share:
		return t.Ratio
	}
	return 1
}

// check returns an error where numbers are impossible.
func (t Tail) check() error {
	student := t.Nu >= Heaviest && t.Nu <= Lightest && t.Share == 0 && t.Ratio == 0
	outliers := t.Nu == 0 && t.Share > 0 && t.Share <= mostShare && t.Ratio >= leastRatio && t.Ratio <= mostRatio
	if !t.Normal() && !student && !outliers {
		return errors.New("noise of a tail that none can have")
	}
	return nil
}

// forms are where Best begins.
func forms() []Tail {
	return []Tail{{Nu: 5}, {Share: 0.05, Ratio: 25}, {Share: 0.01, Ratio: 100}, {Share: 0.15, Ratio: leastRatio}}
}

// fitSteps are the steps in which scale and tail are fitted in turn, to mostFitted errors.
const fitSteps, mostFitted = 40, 4096

// Best is the tail of which standardised errors have the greatest likelihood, each at its
// own scale, and by how many nats that is greater than that of the best normal
// distribution, less what chance gives a form of so many numbers: above 0 they speak for
// it. student asks for Student's t.
func Best(z []float64, student bool) (best Tail, nats float64) {
	if len(z) > mostFitted {
		some := make([]float64, mostFitted)
		for i := range some {
			some[i] = z[i*len(z)/mostFitted]
		}
		z = some
	}
	n := float64(len(z))
	square := 0.0
	for _, v := range z {
		square += v * v
	}
	nats = math.Inf(-1)
	if !(square > 0) {
		return Tail{Nu: Lightest}, nats
	}
	normal := -0.5 * n * (math.Log(2*math.Pi*square/n) + 1)
	e := make([]float64, len(z))
	for _, t := range forms() {
		if student && t.Nu == 0 {
			continue
		}
		value, s2 := 0.0, square/n
		for range fitSteps {
			for i, v := range z {
				e[i] = v * v / s2
			}
			if t.Nu > 0 {
				t = t.refit(e)
			} else {
				t = t.step(e)
			}
			sum := 0.0
			for _, v := range e {
				sum += t.weight(v) * v
			}
			s2 *= sum / n
		}
		for _, v := range z {
			value += t.logDensity(v*v/s2) - 0.5*math.Log(s2)
		}
		if gain := value - normal - t.cost(len(z)); gain > nats {
			best, nats = t, gain
		}
	}
	return best, nats
}

// cost is how many nats a tail must gain: what chance gives one set in ten thousand, and
// what one or two more numbers cost.
func (t Tail) cost(rows int) float64 {
	numbers := 1.0
	if t.Ratio > 0 {
		numbers = 2
	}
	return 3 + 0.5*numbers*math.Log(float64(rows))
}
