package local

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Means is what a series has on average: a mean for each phase of a period, or one of all,
// and waves of longer periods.
type Means struct {
	Origin float64   `json:"origin"` // input of the first phase
	Cell   float64   `json:"cell"`   // width of a phase
	Phases []float64 `json:"phases"` // one at least
	Waves  []Wave    `json:"waves,omitempty"`
}

// Wave is a cosine and a sine of a period.
type Wave struct {
	Period float64 `json:"period"`
	Cos    float64 `json:"cos"`
	Sin    float64 `json:"sin"`
}

const (
	// Means by phase are of this many periods at least, and not of more phases: a row is
	// hardly a part of the mean that it is then held against.
	fewestCycles, mostPhases = 20, 5000
	// A period has waves, not terms of the kernel, where the rows hold fewer of it than
	// fewestTurns; one of which they hold less than leastWave has neither.
	fewestTurns, leastWave = 8, 1.5
	waves                  = 2 // harmonics
)

func (m *Means) phase(x float64) int {
	n := len(m.Phases)
	if n == 1 {
		return 0
	}
	p := int(math.Mod(math.Round((x-m.Origin)/m.Cell), float64(n)))
	if p < 0 {
		p += n
	}
	return p
}

func (m *Means) at(x float64) float64 {
	v := m.Phases[m.phase(x)]
	for i := range m.Waves {
		w := &m.Waves[i]
		s, c := math.Sincos(2 * math.Pi * (x - m.Origin) / w.Period)
		v += w.Cos*c + w.Sin*s
	}
	return v
}

// newMeans finds the least squares of y on phases and waves. The phases are then drawn
// towards their common mean as far as a variance of their own, estimated by moments, allows:
// of one of n rows with variance s² about it, the part τ²/(τ² + s²/n) of its distance.
func newMeans(x, y []float64, step, period float64, long []float64) Means {
	m := Means{Origin: x[0], Cell: step, Phases: []float64{0}}
	if period > 0 {
		m.Phases = make([]float64, int(math.Round(period/step)))
		m.Cell = period / float64(len(m.Phases))
	}
	for _, p := range long {
		for h := 1; h <= waves; h++ {
			m.Waves = append(m.Waves, Wave{Period: p / float64(h)})
		}
	}
	k := 2 * len(m.Waves)
	h := make([]float64, k+1) // the waves at a row, and y
	at := func(i int) {
		for j := range m.Waves {
			h[2*j+1], h[2*j] = math.Sincos(2 * math.Pi * (x[i] - m.Origin) / m.Waves[j].Period)
		}
		h[k] = y[i]
	}
	count := make([]float64, len(m.Phases))
	sums := make([]float64, len(m.Phases)*(k+1))
	phases := make([]int32, len(x))
	for i := range x {
		at(i)
		p := m.phase(x[i])
		phases[i] = int32(p)
		count[p]++
		for j, v := range h {
			sums[p*(k+1)+j] += v
		}
	}
	for p, n := range count {
		for j := range h {
			sums[p*(k+1)+j] /= max(1, n)
		}
	}
	if k > 0 { // of what the phases leave
		gram, right := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
		for i := range x {
			at(i)
			mean := sums[int(phases[i])*(k+1):]
			for a := range k {
				ha := h[a] - mean[a]
				right.SetVec(a, right.AtVec(a)+ha*(h[k]-mean[k]))
				for b := range a + 1 {
					gram.SetSym(a, b, gram.At(a, b)+ha*(h[b]-mean[b]))
				}
			}
		}
		for a := range k {
			gram.SetSym(a, a, gram.At(a, a)+1e-6*float64(len(x)))
		}
		var chol mat.Cholesky
		var beta mat.VecDense
		if chol.Factorize(gram) && chol.SolveVecTo(&beta, right) == nil {
			for j := range m.Waves {
				m.Waves[j].Cos, m.Waves[j].Sin = beta.AtVec(2*j), beta.AtVec(2*j+1)
			}
			for p := range count {
				for a := range k {
					sums[p*(k+1)+k] -= beta.AtVec(a) * sums[p*(k+1)+a]
				}
			}
		}
	}
	for p := range count {
		m.Phases[p] = sums[p*(k+1)+k]
	}
	m.shrink(x, y, phases, count)
	return m
}

// shrink draws phases towards their mean.
func (m *Means) shrink(x, y []float64, phases []int32, count []float64) {
	seen, mean, within := 0.0, 0.0, 0.0
	for p, n := range count {
		if n > 0 {
			seen++
			mean += m.Phases[p]
		}
	}
	mean /= seen
	if seen < 2 || seen >= float64(len(x)) {
		return
	}
	for i := range x {
		d := y[i] - m.at(x[i])
		within += d * d
	}
	within /= float64(len(x)) - seen
	between, noise := 0.0, 0.0
	for p, n := range count {
		if n > 0 {
			d := m.Phases[p] - mean
			between += d * d / (seen - 1)
			noise += within / n / seen
		}
	}
	own := max(0, between-noise)
	for p, n := range count {
		part := 0.0
		if n > 0 && own > 0 {
			part = own / (own + within/n)
		}
		m.Phases[p] = mean + part*(m.Phases[p]-mean)
	}
}
