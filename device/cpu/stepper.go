package cpu

import (
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu/simd"
)

func (l *lane) Adam(sub []int, t int, rate float64, stride, x, grad, m1, m2 device.Array) {
	xa, ga, ma, va, sa := arr(x), arr(grad), arr(m1), arr(m2), arr(stride)
	want(ga.shaped(xa.rows, xa.cols) && ma.shaped(xa.rows, xa.cols) && va.shaped(xa.rows, xa.cols) &&
		(sa == nil || sa.shaped(xa.rows, xa.cols)))
	step := simd.NewAdam(t, rate)
	for _, k := range sub {
		var stride []float64
		if sa != nil {
			stride = sa.member(k)
		}
		x, g, m, v := xa.member(k), ga.member(k), ma.member(k), va.member(k)
		if stride != nil || l.entire(len(x)) {
			l.level.Adam(step, stride, x, g, m, v)
		} else {
			l.stretch(len(x), 1, stretches{do: stretchAdam, adam: step, a: x, b: g, c: m, d: v})
		}
	}
}

func (l *lane) AdamLower(sub []int, t int, rate float64, x, grad, m1, m2 device.Array) {
	xa, ga, ma, va := arr(x), arr(grad), arr(m1), arr(m2)
	n := xa.rows
	want(xa.cols == n && ga.shaped(n, n) && ma.shaped(n, n) && va.shaped(n, n))
	step := simd.NewAdam(t, rate)
	for _, k := range sub {
		x, g, m, v := xa.member(k), ga.member(k), ma.member(k), va.member(k)
		if l.entire(n * n / 2) {
			adamRows(l.level, step, 0, n, n, x, g, m, v)
		} else {
			l.stretch(n, n/2, stretches{do: stretchAdamLower, adam: step, a: x, b: g, c: m, d: v})
		}
	}
}

func stretchAdam(s *stretches, from, to int) {
	s.level.Adam(s.adam, nil, s.a[from:to], s.b[from:to], s.c[from:to], s.d[from:to])
}

// adamRows makes a step on rows of n entries, of which i+1 count.
func adamRows(level simd.Level, step simd.Adam, from, to, n int, x, grad, m, v []float64) {
	for i := from; i < to; i++ {
		a, b := i*n, i*n+i+1
		level.Adam(step, nil, x[a:b], grad[a:b], m[a:b], v[a:b])
	}
}

func stretchAdamLower(s *stretches, from, to int) {
	adamRows(s.level, s.adam, from, to, s.n, s.a, s.b, s.c, s.d)
}

func (l *lane) LogPrior(sub []int, x, mean, prec, lo, hi device.Array, wall float64, value, grad device.Array) {
	xa, ma, pa, la, ha, val, ga := arr(x), arr(mean), arr(prec), arr(lo), arr(hi), arr(value), arr(grad)
	for _, a := range []*array{ma, pa, la, ha} {
		want(a.shaped(xa.rows, xa.cols))
	}
	want(val.shaped(1, 1) && (ga == nil || ga.shaped(xa.rows, xa.cols)))
	for _, k := range sub {
		mm, pm, lm, hm := ma.member(k), pa.member(k), la.member(k), ha.member(k)
		var g []float64
		if ga != nil {
			g = ga.member(k)
		}
		sum := 0.0
		for i, v := range xa.member(k) {
			slope := 0.0
			if p := pm[i]; p > 0 {
				d := v - mm[i]
				sum += 0.5 * (math.Log(p) - log2Pi - p*d*d)
				slope -= p * d
			}
			if e := excess(v, lm[i], hm[i]); e != 0 {
				sum -= wall * e * e / 2
				slope -= wall * e
			}
			if g != nil {
				g[i] += slope
			}
		}
		val.member(k)[0] += sum
	}
}

// excess is how far x lies outside [lo, hi], with its sign.
func excess(x, lo, hi float64) float64 {
	switch {
	case x < lo:
		return x - lo
	case x > hi:
		return x - hi
	}
	return 0
}

func (l *lane) Sample(sub []int, mean, c, eta, x device.Array) {
	ma, ca, ea, xa := arr(mean), arr(c), arr(eta), arr(x)
	n := ma.cols
	want(ma.shaped(1, n) && ca.shaped(n, n) && ea.shaped(n, 1))
	xa.Reshape(1, n)
	for _, k := range sub {
		cm, em, xm := ca.member(k), ea.member(k), xa.member(k)
		// In order, so that zeros that pad a shorter vector change nothing.
		for i, m := range ma.member(k) {
			for j, c := range cm[i*n : i*n+i+1] {
				m += c * em[j]
			}
			xm[i] = m
		}
	}
}

func (l *lane) SampleGrad(sub []int, gradX, eta, gradMean, gradC device.Array) {
	ga, ea, gm, gc := arr(gradX), arr(eta), arr(gradMean), arr(gradC)
	n := ga.cols
	want(ga.shaped(1, n) && ea.shaped(n, 1) && gm.shaped(1, n) && gc.shaped(n, n))
	for _, k := range sub {
		em, mm, cm := ea.member(k), gm.member(k), gc.member(k)
		for i, g := range ga.member(k) {
			mm[i] += g
			for j, e := range em[:i+1] {
				cm[i*n+j] += g * e
			}
		}
	}
}
