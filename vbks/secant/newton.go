package secant

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// Steps of Newton go no further than farthest in any entry, and so many are tried for one that leads up.
	farthest = 1.0
	tries    = 5
)

// Newton climbs a function from x by steps of Newton's method, where C, F × F row-major lower, has a rough idea of the
// curvature, −∇∇f ≈ (CCᵀ)⁻¹, which steps then correct as in L-BFGS. It ends after so many steps, or where another one is
// expected to gain no more than enough, and returns the best point, its value, and what it still expects. at computes the
// function and, into grad, its gradient; where it is not ok at x, best is nil.
func Newton(
	x, c []float64, steps int, enough float64, at func(x, grad []float64) (value float64, ok bool, err error),
) (best []float64, value, gain float64, err error) {
	f := len(x)
	grad := make([]float64, f)
	value, ok, err := at(x, grad)
	if err != nil || !ok {
		return nil, 0, 0, err
	}
	var m Memory
	white := func(g []float64) []float64 { // Cᵀg
		out := make([]float64, f)
		for i := range f {
			floats.AddScaled(out[:i+1], g[i], c[i*f:i*f+i+1])
		}
		return out
	}
	ahead := func(d []float64) (move []float64, t float64) { // Cd, and how much of it is gone
		move = make([]float64, f)
		for i := range f {
			move[i] = floats.Dot(c[i*f:i*f+i+1], d[:i+1])
		}
		return move, math.Min(1, farthest/floats.Norm(move, math.Inf(1)))
	}
	best = append([]float64(nil), x...)
	z, g := make([]float64, f), white(grad)
	m.Step(z, g)
	for range steps {
		d := m.ahead(1)
		if gain = floats.Dot(g, d) / 2; gain <= enough {
			break
		}
		move, t := ahead(d)
		risen := false
		for range tries {
			to, there := append([]float64(nil), best...), make([]float64, f)
			floats.AddScaled(to, t, move)
			v, ok, err := at(to, there)
			if err != nil {
				return nil, 0, 0, err
			}
			if ok && v > value {
				best, value, risen = to, v, true
				floats.AddScaled(z, t, d)
				g = white(there)
				m.Step(z, g)
				break
			}
			if t /= 4; ok { // what lies there tells of the curvature on the way
				back := append([]float64(nil), d...)
				floats.Scale(4*t, back)
				fell := append([]float64(nil), g...)
				floats.Sub(fell, white(there))
				if m.pair(back, fell) {
					d = m.ahead(1)
					move, t = ahead(d)
				}
			}
		}
		if !risen {
			return best, value, gain, nil
		}
		gain = floats.Dot(g, m.ahead(1)) / 2
	}
	return best, value, gain, nil
}
