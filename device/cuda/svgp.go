//go:build cuda

package cuda

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
)

func (l *lane) Predict(sub []int, a, ca, m, kdiag, mu, v device.Array) {
	x, y, mean, kd, u, w := l.arr(a), l.arr(ca), l.arr(m), l.arr(kdiag), l.arr(mu), l.arr(v)
	rows, cols := x.rows, x.cols
	want(y.shaped(rows, cols) && mean.shaped(rows, 1) && kd.shaped(1, cols))
	u.Reshape(1, cols)
	w.Reshape(1, cols)
	l.blocks("predict", sub, ceilDiv(cols, 32), blockThreads, driver.Int(rows), driver.Int(cols), x.at(), x.skip(), y.at(), y.skip(),
		mean.at(), mean.skip(), kd.at(), kd.skip(), u.at(), u.skip(), w.at(), w.skip())
}

func (l *lane) Likelihood(sub []int, ks device.Kernels, theta device.Array, x device.Points, n float64,
	mu, v, r, value, gradTheta device.Array) {
	kn, u, w, res, val, g := l.kern(ks), l.arr(mu), l.arr(v), l.arr(r), l.arr(value), l.arr(gradTheta)
	y, index := l.targets(x)
	b := x.Len()
	want(u.shaped(1, b) && w.shaped(1, b) && val.shaped(1, 1) && (g == nil || g.shaped(1, kn.params)))
	res.Reshape(1, b)
	at, skip := kn.noise(theta)
	l.blocks("likelihood", sub, 1, blockThreads, driver.Int(b), at, skip, driver.Float(n), y, index, u.at(), u.skip(), w.at(), w.skip(),
		res.at(), res.skip(), val.at(), val.skip(), g.last(kn.params), g.skip())
}

func (l *lane) RowLikelihood(sub []int, ks device.Kernels, theta device.Array, x device.Points, mu, v, out device.Array) {
	u, w, o := l.arr(mu), l.arr(v), l.arr(out)
	y, index := l.targets(x)
	b := x.Len()
	want(u.shaped(1, b) && w.shaped(1, b))
	o.Reshape(1, b)
	at, skip := l.kern(ks).noise(theta)
	l.elements("row_likelihood", sub, b, at, skip, y, index, u.at(), u.skip(), w.at(), w.skip(), o.at(), o.skip())
}

// entries runs a kernel (sub, rows, cols, ...) with a thread for each entry.
func (l *lane) entries(name string, sub []int, rows, cols int, args ...uint64) {
	l.begin(sub)
	l.args = append(l.args, driver.Int(rows), driver.Int(cols))
	l.args = append(l.args, args...)
	l.launch(l.library[name], sub, ceilDiv(rows*cols, blockThreads), blockThreads, 0)
}

func (l *lane) ABar(sub []int, ks device.Kernels, theta device.Array, n float64, m, r, a, sa device.Array) {
	mean, res, x, s := l.arr(m), l.arr(r), l.arr(a), l.arr(sa)
	rows, cols := x.rows, x.cols
	want(s.shaped(rows, cols) && mean.shaped(rows, 1) && res.shaped(1, cols))
	at, skip := l.kern(ks).noise(theta)
	l.entries("abar", sub, rows, cols, at, skip, driver.Float(n), mean.at(), mean.skip(), res.at(), res.skip(), x.at(), x.skip(),
		s.at(), s.skip())
}

func (l *lane) Weight(sub []int, ks device.Kernels, theta device.Array, n float64, rows int, scale float64, a device.Array) {
	x := l.arr(a)
	at, skip := l.kern(ks).noise(theta)
	l.elements("weight", sub, x.rows*x.cols, at, skip, driver.Float(scale*n/float64(rows)), x.at(), x.skip())
}

func (l *lane) GaussKL(sub []int, m, c, value, gradM, gradC device.Array) {
	mean, root, val, gm, gc := l.arr(m), l.arr(c), l.arr(value), l.arr(gradM), l.arr(gradC)
	n := mean.rows
	want(mean.shaped(n, 1) && root.shaped(n, n) && val.shaped(1, 1))
	want((gm == nil || gm.shaped(n, 1)) && (gc == nil || gc.shaped(n, n)))
	l.blocks("gauss_kl", sub, 1, 512, driver.Int(n), mean.at(), mean.skip(), root.at(), root.skip(), val.at(), val.skip(),
		gm.at(), gm.skip(), gc.at(), gc.skip())
}
