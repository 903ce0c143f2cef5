package baseline

import "math"

// smoothing is exponential smoothing with additive errors, of one target a step: in
// Hyndman et al. (2008), "Forecasting with Exponential Smoothing", chapter 2,
//
//	e_t = y_t − (ℓ_{t−1} + φ b_{t−1}),   ℓ_t = y_t − (1 − α) e_t,   b_t = φ b_{t−1} + β e_t
//
// with β = φ = 0 and b = 0 where there is no trend.
type smoothing struct {
	alpha, beta, phi float64
	level, slope     float64 // before the first target
}

// start sets the level, and the slope where phi > 0, to those of the least sum of
// squared errors: errors are linear in them.
func (m *smoothing) start(y []float64) {
	// Errors at level 0 and slope 0, and what a level of 1 or a slope of 1 alone gives. All
	// is measured from the first target, which keeps digits.
	errors := smoothing{m.alpha, m.beta, m.phi, 0, 0}
	one, rise := smoothing{m.alpha, m.beta, m.phi, 1, 0}, smoothing{m.alpha, m.beta, m.phi, 0, 1}
	var ll, lb, bb, le, be float64
	for _, v := range y {
		e, l, b := errors.step(v-y[0]), -one.step(0), -rise.step(0)
		ll += l * l
		lb += l * b
		bb += b * b
		le += l * e
		be += b * e
	}
	m.level, m.slope = le/ll, 0
	if det := ll*bb - lb*lb; m.phi > 0 && det > 1e-12*ll*bb {
		m.level, m.slope = (bb*le-lb*be)/det, (ll*be-lb*le)/det
	}
	m.level += y[0]
}

// step takes a target in and returns its error.
func (m *smoothing) step(y float64) float64 {
	e := y - m.level - m.phi*m.slope
	m.level = y - (1-m.alpha)*e
	m.slope = m.phi*m.slope + m.beta*e
	return e
}

// squares returns the sum of squared errors, and the model behind the last target.
func (m smoothing) squares(y []float64) (float64, smoothing) {
	sum := 0.0
	for _, v := range y {
		e := m.step(v)
		sum += e * e
	}
	return sum, m
}

// ahead returns mean and sd h steps behind the last target that the model has taken in, with errors of
// a standard deviation σ,
//
//	ℓ + φ_h b,   σ² (1 + Σ_{j<h} (α + β φ_j)²),   φ_j = φ + … + φ^j
//
// (Hyndman et al. 2008, table 6.1), for h = 1 to most.
func (m smoothing) ahead(most int, sigma float64) []Normal {
	out := make([]Normal, most)
	variance, damped, power := 1.0, 0.0, 1.0
	for h := range out {
		power *= m.phi
		damped += power
		out[h] = Normal{m.level + damped*m.slope, sigma * math.Sqrt(variance)}
		c := m.alpha + m.beta*damped
		variance += c * c
	}
	return out
}

// Bounds of forecast::ets in R.
const (
	leastAlpha, mostAlpha = 1e-4, 1 - 1e-4
	leastPhi, mostPhi     = 0.8, 0.98
)

// alphaAt is a place of 0 to 1 between the bounds.
func alphaAt(u float64) float64 { return leastAlpha + u*(mostAlpha-leastAlpha) }

// minimise returns where a function of dim numbers from 0 to 1 is least: the best
// points of a grid are followed by a search along the axes, with steps that halve.
func minimise(dim int, f func(u []float64) float64) []float64 {
	const points, followed, finest = 8, 3, 1e-8
	type place struct {
		u     []float64
		value float64
	}
	var best []place // the least first
	keep := func(p place) {
		at := len(best)
		for at > 0 && best[at-1].value > p.value {
			at--
		}
		best = append(best[:at], append([]place{p}, best[at:]...)...)
		best = best[:min(followed, len(best))]
	}
	for i := range int(math.Pow(points, float64(dim))) {
		u := make([]float64, dim)
		for d := range u {
			u[d] = float64(i%points) / (points - 1)
			i /= points
		}
		keep(place{u, f(u)})
	}
	for _, p := range best {
		for step := 0.5 / (points - 1); step > finest; step /= 2 {
			for moved := true; moved; {
				moved = false
				for d := range p.u {
					for _, to := range []float64{max(0, p.u[d]-step), min(1, p.u[d]+step)} {
						was := p.u[d]
						p.u[d] = to
						if value := f(p.u); value < p.value {
							p.value, moved = value, true
						} else {
							p.u[d] = was
						}
					}
				}
			}
		}
		if p.value < best[0].value {
			best[0] = p
		}
	}
	return best[0].u
}
