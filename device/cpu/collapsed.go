package cpu

import (
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu/simd"
)

func (l *lane) MulTargets(sub []int, alpha float64, a device.Array, x device.Points, beta float64, out device.Array) {
	m, o := arr(a), arr(out)
	y := l.targets(x)
	want(m.cols == len(y))
	if beta == 0 {
		o.Reshape(m.rows, 1)
	} else {
		want(o.shaped(m.rows, 1))
	}
	for _, k := range sub {
		l.gemv(false, m.rows, m.cols, alpha, m.member(k), y, beta, o.member(k))
	}
}

func (l *lane) Precision(sub []int, ks device.Kernels, theta device.Array, weight float64, q, out device.Array) {
	kn, th, x, o := kern(ks), arr(theta), arr(q), arr(out)
	want(x.rows == x.cols)
	o.Reshape(x.rows, x.cols)
	for _, k := range sub {
		w := weight / kn.noise(th, k)
		to, from := o.member(k), x.member(k)
		if l.entire(len(to)) {
			scale(l.level, w, from, to)
		} else {
			l.stretch(len(to), 1, stretches{do: stretchScale, a: to, b: from, x: w})
		}
		addDiagonal(to, x.rows, 1)
	}
}

// scale computes to = w from.
func scale(level simd.Level, w float64, from, to []float64) {
	n := len(from) &^ 7
	if n > 0 {
		level.Scaled(to[:n], from[:n], w)
	}
	for i := n; i < len(from); i++ {
		to[i] = w * from[i]
	}
}

func (l *lane) Bound(sub []int, ks device.Kernels, theta device.Array, n, yy float64, lb, solved, q, sumDiag, value device.Array) {
	kn, th, x, s, qa, sd, val := kern(ks), arr(theta), arr(lb), arr(solved), arr(q), arr(sumDiag), arr(value)
	m := x.rows
	want(x.shaped(m, m) && qa.shaped(m, m) && s.shaped(m, 1) && sd.shaped(1, 1) && val.shaped(1, 1))
	for _, k := range sub {
		s2 := kn.noise(th, k)
		xm, sm, qm := x.member(k), s.member(k), qa.member(k)
		logs, tr := 0.0, 0.0
		for i := range m {
			logs += math.Log(xm[i*m+i])
			tr += qm[i*m+i]
		}
		val.member(k)[0] += -n/2*(log2Pi+math.Log(s2)) - logs - yy/(2*s2) + l.level.Dot(sm, sm)/(2*s2*s2) - (sd.member(k)[0]-tr)/(2*s2)
	}
}

func (l *lane) Residual(sub []int, x device.Points, kzx, beta, r device.Array) {
	m, b, o := arr(kzx), arr(beta), arr(r)
	y := l.targets(x)
	want(m.cols == len(y) && b.shaped(m.rows, 1))
	o.Reshape(1, len(y))
	for _, k := range sub {
		om := o.member(k)
		copy(om, y)
		l.gemv(true, m.rows, m.cols, -1, m.member(k), b.member(k), 1, om)
	}
}

func (l *lane) BarKzx(sub []int, ks device.Kernels, theta device.Array, beta, r, out device.Array) {
	kn, th, b, res, o := kern(ks), arr(theta), arr(beta), arr(r), arr(out)
	want(b.shaped(o.rows, 1) && res.shaped(1, o.cols))
	for _, k := range sub {
		w := 1 / kn.noise(th, k)
		bm, rm, om := b.member(k), res.member(k), o.member(k)
		if l.entire(len(om)) {
			barKzx(l.level, w, bm, rm, om)
		} else {
			l.stretch(o.rows, o.cols, stretches{do: stretchBarKzx, a: bm, b: rm, c: om, x: w})
		}
	}
}

func barKzx(level simd.Level, w float64, b, r, out []float64) {
	for i, bi := range b {
		level.Axpby(w*bi, w, r, out[i*len(r):(i+1)*len(r)])
	}
}

func stretchBarKzx(s *stretches, from, to int) {
	barKzx(s.level, s.x, s.a[from:to], s.b, s.c[from*len(s.b):])
}

func (l *lane) Sum(sub []int, squares bool, a, out device.Array) {
	x, o := arr(a), arr(out)
	want(o.shaped(1, 1))
	for _, k := range sub {
		m := x.member(k)
		s := 0.0
		if squares {
			s = l.dot(m, m)
		} else {
			s = sum(m)
		}
		o.member(k)[0] += s
	}
}

// sum adds in eight chains, which do not wait for each other.
func sum(x []float64) float64 {
	var s [8]float64
	for len(x) >= 8 {
		v := (*[8]float64)(x)
		for j := range s {
			s[j] += v[j]
		}
		x = x[8:]
	}
	for j, v := range x {
		s[j] += v
	}
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

func (l *lane) Dot(sub []int, a, b, out device.Array) {
	x, y, o := arr(a), arr(b), arr(out)
	want(x.rows*x.cols == y.rows*y.cols && o.shaped(1, 1))
	for _, k := range sub {
		o.member(k)[0] += l.dot(x.member(k), y.member(k))
	}
}

func (l *lane) NoiseGrad(sub []int, ks device.Kernels, theta device.Array, n float64, sumR2, sumV, gradTheta device.Array) {
	kn, th, r, v, g := kern(ks), arr(theta), arr(sumR2), arr(sumV), arr(gradTheta)
	want(r.shaped(1, 1) && v.shaped(1, 1) && g.shaped(1, kn.params))
	for _, k := range sub {
		s2 := kn.noise(th, k)
		g.member(k)[kn.params-1] += (r.member(k)[0]+v.member(k)[0])/(2*s2*s2) - n/(2*s2)
	}
}
