package local

// tableObjective is the sum of log densities of rows given those they are most like, as a
// function of the logarithms of a kernel's hyperparameters (Vecchia 1988; see objective).
type tableObjective struct {
	levels []bool
	dim    int
	y      func(i int) float64 // of a row
	x      []float64           // rows, N x dim
	asked  []int
	near   [][]int32 // of each row asked for
}

func newTableObjective(t *tree, levels []bool, y func(i int) float64, asked []int, near int) *tableObjective {
	o := &tableObjective{levels: levels, dim: t.dim, y: y, x: t.x, asked: asked, near: make([][]int32, len(asked))}
	_ = striped(len(asked), func(_, from, to int) error {
		for i := from; i < to; i++ {
			o.near[i], _ = t.nearest(t.row(int32(asked[i])), near, int32(asked[i]), nil)
		}
		return nil
	})
	return o
}

func (o *tableObjective) row(i int) []float64 { return o.x[i*o.dim : (i+1)*o.dim] }

// value returns the objective and its derivatives in grad, by the formula of objective.value.
// Errors: errSingular.
func (o *tableObjective) value(theta, grad []float64) (sum float64, err error) {
	m := (&Alike{o.levels, theta}).made()
	prior := m.variance()
	var sums [stripes]float64
	var grads [stripes][]float64
	err = striped(len(o.asked), func(s, from, to int) error {
		var w given
		var p pairs
		g := make([]float64, len(theta))
		grads[s] = g
		for i := from; i < to; i++ {
			near, self := o.near[i], o.row(o.asked[i])
			m.at(&p, &w, len(near), func(a int) []float64 { return o.row(int(near[a])) }, self)
			for a, r := range near {
				w.y[a] = o.y(int(r))
			}
			mean, v, ok := w.condition(prior, m.noise)
			if !ok {
				return errSingular
			}
			v += m.noise
			e := o.y(o.asked[i]) - mean
			sums[s] += logNormal(e, v)
			w.back(w.k, w.b)
			w.back(w.y, w.a)
			cv, ce := 0.5*(e*e/v-1)/v, e/v
			diagonal, at := cv, 0
			clear(p.weight)
			for a, ba := range w.b {
				aa := w.a[a]
				diagonal += (cv*ba - ce*aa) * ba
				bb, bc, ab := 2*cv*ba, ce*ba, ce*aa
				for b := range a {
					p.weight[at] = bb*w.b[b] - bc*w.a[b] - ab*w.b[b]
					at++
				}
				p.weight[at] = ce*aa - bb
				at++
			}
			m.slopes(&p, g)
			at = 0
			for a, r := range near {
				x := o.row(int(r))
				for _, other := range near[:a] {
					m.stretch(p.bySmooth[at], x, o.row(int(other)), g[shared:])
					at++
				}
				m.stretch(p.bySmooth[at], x, self, g[shared:])
				at++
			}
			g[0] += m.own * diagonal
			g[1] += (1 + leastNoise) * m.smooth * diagonal
			g[2] += (1 + leastNoise) * m.rough * diagonal
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	clear(grad)
	for s := range stripes {
		sum += sums[s]
		for i, v := range grads[s] {
			grad[i] += v
		}
	}
	return sum, nil
}

// stretch adds w (x_d − y_d)²/ℓ_d² to grad, by input.
func (a *alike) stretch(w float64, x, y, grad []float64) {
	for d, rate := range a.rate {
		e := x[d] - y[d]
		if a.levels[d] && e != 0 {
			e = 1
		}
		grad[d] += w * e * e * rate
	}
}
