package cpu

import (
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu/simd"
)

const log2Pi = 1.8378770664093454835606594728112352797227949472755668

// noise returns σ_n² of member k.
func (ks *kernels) noise(theta *array, k int) float64 { return theta.member(k)[ks.params-1] }

func (l *lane) Predict(sub []int, a, ca, m, kdiag, mu, v device.Array) {
	x, y, mean, kd, u, w := arr(a), arr(ca), arr(m), arr(kdiag), arr(mu), arr(v)
	rows, cols := x.rows, x.cols
	want(y.shaped(rows, cols) && mean.shaped(rows, 1) && kd.shaped(1, cols))
	u.Reshape(1, cols)
	w.Reshape(1, cols)
	for _, k := range sub {
		xm, ym, mm, um, wm := x.member(k), y.member(k), mean.member(k), u.member(k), w.member(k)
		clear(um)
		copy(wm, kd.member(k))
		if cols < leastColumns || l.entire(len(xm)) {
			marginals(l.level, 0, cols, mm, xm, ym, um, wm)
		} else {
			l.stretch(cols, rows, stretches{do: stretchMarginals, a: mm, b: xm, c: ym, d: um, e: wm})
		}
	}
}

// leastColumns is how many columns a matrix has that is divided by columns.
const leastColumns = 512

// marginals adds up columns from to to of A and CA.
func marginals(level simd.Level, from, to int, mean, a, ca, mu, v []float64) {
	cols := len(mu)
	mu, v = mu[from:to], v[from:to]
	for i, m := range mean {
		row := i * cols
		level.Marginals(m, a[row+from:row+to], ca[row+from:row+to], mu, v)
	}
}

func stretchMarginals(s *stretches, from, to int) {
	marginals(s.level, from, to, s.a, s.b, s.c, s.d, s.e)
}

func (l *lane) Likelihood(sub []int, ks device.Kernels, theta device.Array, x device.Points, n float64,
	mu, v, r, value, gradTheta device.Array) {
	kn, th, u, w, res, val, g := kern(ks), arr(theta), arr(mu), arr(v), arr(r), arr(value), arr(gradTheta)
	y := l.targets(x)
	b := len(y)
	want(u.shaped(1, b) && w.shaped(1, b) && val.shaped(1, 1) && (g == nil || g.shaped(1, kn.params)))
	res.Reshape(1, b)
	for _, k := range sub {
		s2 := kn.noise(th, k)
		um, wm, rm := u.member(k), w.member(k), res.member(k)
		sum := 0.0
		for j, yj := range y {
			d := yj - um[j]
			rm[j] = d
			sum += d*d + wm[j]
		}
		scale := n / float64(b)
		val.member(k)[0] += scale * (-0.5*float64(b)*(log2Pi+math.Log(s2)) - sum/(2*s2))
		if g != nil {
			g.member(k)[kn.params-1] += scale * (sum/(2*s2*s2) - float64(b)/(2*s2))
		}
	}
}

func (l *lane) RowLikelihood(sub []int, ks device.Kernels, theta device.Array, x device.Points, mu, v, out device.Array) {
	kn, th, u, w, o := kern(ks), arr(theta), arr(mu), arr(v), arr(out)
	y := l.targets(x)
	want(u.shaped(1, len(y)) && w.shaped(1, len(y)))
	o.Reshape(1, len(y))
	for _, k := range sub {
		s2 := kn.noise(th, k)
		c := -0.5 * (log2Pi + math.Log(s2))
		um, wm, om := u.member(k), w.member(k), o.member(k)
		for j, yj := range y {
			d := yj - um[j]
			om[j] = c - (d*d+wm[j])/(2*s2)
		}
	}
}

func (l *lane) ABar(sub []int, ks device.Kernels, theta device.Array, n float64, m, r, a, sa device.Array) {
	kn, th, mean, res, x, s := kern(ks), arr(theta), arr(m), arr(r), arr(a), arr(sa)
	rows, cols := x.rows, x.cols
	want(s.shaped(rows, cols) && mean.shaped(rows, 1) && res.shaped(1, cols))
	for _, k := range sub {
		w := n / (float64(cols) * kn.noise(th, k))
		mm, rm, xm, sm := mean.member(k), res.member(k), x.member(k), s.member(k)
		if l.entire(len(xm)) {
			abar(l.level, w, mm, rm, xm, sm)
		} else {
			l.stretch(rows, cols, stretches{do: stretchABar, a: mm, b: rm, c: xm, d: sm, x: w})
		}
	}
}

func abar(level simd.Level, w float64, mean, r, a, sa []float64) {
	for i, m := range mean {
		row := i * len(r)
		level.ABar(w, m, r, a[row:row+len(r)], sa[row:row+len(r)])
	}
}

func stretchABar(s *stretches, from, to int) {
	row := from * len(s.b)
	abar(s.level, s.x, s.a[from:to], s.b, s.c[row:], s.d[row:])
}

func (l *lane) Weight(sub []int, ks device.Kernels, theta device.Array, n float64, rows int, times float64, a device.Array) {
	kn, th, x := kern(ks), arr(theta), arr(a)
	for _, k := range sub {
		w := times * n / (float64(rows) * kn.noise(th, k))
		m := x.member(k)
		if l.entire(len(m)) {
			scale(l.level, w, m, m)
		} else {
			l.stretch(len(m), 1, stretches{do: stretchScale, a: m, b: m, x: w})
		}
	}
}

func (l *lane) GaussKL(sub []int, m, c, value, gradM, gradC device.Array) {
	mean, root, val, gm, gc := arr(m), arr(c), arr(value), arr(gradM), arr(gradC)
	n := mean.rows
	want(mean.shaped(n, 1) && root.shaped(n, n) && val.shaped(1, 1))
	want((gm == nil || gm.shaped(n, 1)) && (gc == nil || gc.shaped(n, n)))
	for _, k := range sub {
		l.terms = grow(l.terms, n)
		mm, cm := mean.member(k), root.member(k)
		var g []float64
		if gc != nil {
			g = gc.member(k)
		}
		if l.entire(n * n / 2) {
			klRows(l.level, 0, n, l.terms, mm, cm, g)
		} else {
			l.stretch(n, n/2, stretches{do: stretchKL, a: l.terms, b: mm, c: cm, d: g})
		}
		kl := 0.0
		for _, v := range l.terms {
			kl += v
		}
		val.member(k)[0] -= kl / 2
		if gm != nil {
			g := gm.member(k)
			for i, x := range mm {
				g[i] -= x
			}
		}
	}
}

// klRows computes rows' terms of twice the KL and, if asked for, the gradient by them.
func klRows(level simd.Level, from, to int, terms, m, c, grad []float64) {
	n := len(m)
	for i := from; i < to; i++ {
		row := c[i*n : i*n+i+1]
		terms[i] = m[i]*m[i] + level.Dot(row, row) - 1 - 2*math.Log(math.Abs(row[i]))
		if grad != nil {
			level.Axpy(-1, row, grad[i*n:i*n+i+1])
			grad[i*n+i] += 1 / row[i] // C⁻ᵀ is upper triangular
		}
	}
}

func stretchKL(s *stretches, from, to int) { klRows(s.level, from, to, s.a, s.b, s.c, s.d) }
