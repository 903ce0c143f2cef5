//go:build cuda

package cuda

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
)

func (l *lane) MulTargets(sub []int, alpha float64, a device.Array, x device.Points, beta float64, out device.Array) {
	m, o := l.arr(a), l.arr(out)
	y, index := l.targets(x)
	want(m.cols == x.Len())
	shapeOf(o, m.rows, 1, beta)
	l.multiplyVector(sub, alpha, m, y, 0, index, beta, o)
}

func (l *lane) Precision(sub []int, ks device.Kernels, theta device.Array, weight float64, q, out device.Array) {
	x, o := l.arr(q), l.arr(out)
	want(x.rows == x.cols)
	o.Reshape(x.rows, x.cols)
	at, skip := l.kern(ks).noise(theta)
	l.square("precision", sub, x.rows, at, skip, driver.Float(weight), x.at(), x.skip(), o.at(), o.skip())
}

func (l *lane) Bound(sub []int, ks device.Kernels, theta device.Array, n, yy float64, lb, solved, q, sumDiag, value device.Array) {
	x, s, qa, sd, val := l.arr(lb), l.arr(solved), l.arr(q), l.arr(sumDiag), l.arr(value)
	m := x.rows
	want(x.shaped(m, m) && qa.shaped(m, m) && s.shaped(m, 1) && sd.shaped(1, 1) && val.shaped(1, 1))
	at, skip := l.kern(ks).noise(theta)
	l.blocks("bound", sub, 1, blockThreads, driver.Int(m), at, skip, driver.Float(n), driver.Float(yy),
		x.at(), x.skip(), s.at(), s.skip(), qa.at(), qa.skip(), sd.at(), sd.skip(), val.at(), val.skip())
}

func (l *lane) Residual(sub []int, x device.Points, kzx, beta, r device.Array) {
	m, b, o := l.arr(kzx), l.arr(beta), l.arr(r)
	y, index := l.targets(x)
	want(m.cols == x.Len() && b.shaped(m.rows, 1))
	o.Reshape(1, m.cols)
	l.blocks("residual", sub, ceilDiv(m.cols, 32), blockThreads, driver.Int(m.rows), driver.Int(m.cols), m.at(), m.skip(),
		b.at(), b.skip(), y, index, o.at(), o.skip())
}

func (l *lane) BarKzx(sub []int, ks device.Kernels, theta device.Array, beta, r, out device.Array) {
	b, res, o := l.arr(beta), l.arr(r), l.arr(out)
	want(b.shaped(o.rows, 1) && res.shaped(1, o.cols))
	at, skip := l.kern(ks).noise(theta)
	l.entries("bar_kzx", sub, o.rows, o.cols, at, skip, b.at(), b.skip(), res.at(), res.skip(), o.at(), o.skip())
}

// dot adds Σ a∘b to out, or Σ a without b.
func (l *lane) dot(sub []int, a, b, out *array) {
	want(out.shaped(1, 1))
	l.blocks("dot", sub, 1, 512, driver.Int(a.rows*a.cols), a.at(), a.skip(), b.at(), b.skip(), out.at(), out.skip())
}

func (l *lane) Sum(sub []int, squares bool, a, out device.Array) {
	x := l.arr(a)
	if squares {
		l.dot(sub, x, x, l.arr(out))
	} else {
		l.dot(sub, x, nil, l.arr(out))
	}
}

func (l *lane) Dot(sub []int, a, b, out device.Array) {
	x, y := l.arr(a), l.arr(b)
	want(x.rows*x.cols == y.rows*y.cols)
	l.dot(sub, x, y, l.arr(out))
}

func (l *lane) NoiseGrad(sub []int, ks device.Kernels, theta device.Array, n float64, sumR2, sumV, gradTheta device.Array) {
	kn, r, v, g := l.kern(ks), l.arr(sumR2), l.arr(sumV), l.arr(gradTheta)
	want(r.shaped(1, 1) && v.shaped(1, 1) && g.shaped(1, kn.params))
	at, skip := kn.noise(theta)
	l.elements("noise_grad", sub, 1, at, skip, driver.Float(n), r.at(), r.skip(), v.at(), v.skip(), g.last(kn.params), g.skip())
}
