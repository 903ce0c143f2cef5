//go:build cuda

package cuda

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
)

// adam makes step t; with lower > 0 on lower triangles of so many columns.
func (l *lane) adam(sub []int, t, lower int, rate float64, stride, x, grad, m1, m2 *array) {
	for _, a := range []*array{grad, m1, m2} {
		want(a.shaped(x.rows, x.cols))
	}
	want(stride == nil || stride.shaped(x.rows, x.cols))
	l.begin(sub) // what else it asks of the card comes before the numbers that vary
	c1, c2, at := l.corrections(t)
	l.elements("adam", sub, x.rows*x.cols, driver.Int(lower), driver.Float(rate), driver.Float(c1), driver.Float(c2), uint64(at),
		stride.at(), stride.skip(), x.at(), x.skip(), grad.at(), grad.skip(), m1.at(), m1.skip(), m2.at(), m2.skip())
}

func (l *lane) Adam(sub []int, t int, rate float64, stride, x, grad, m1, m2 device.Array) {
	l.adam(sub, t, 0, rate, l.arr(stride), l.arr(x), l.arr(grad), l.arr(m1), l.arr(m2))
}

func (l *lane) AdamLower(sub []int, t int, rate float64, x, grad, m1, m2 device.Array) {
	xa := l.arr(x)
	want(xa.rows == xa.cols)
	l.adam(sub, t, xa.cols, rate, nil, xa, l.arr(grad), l.arr(m1), l.arr(m2))
}

func (l *lane) LogPrior(sub []int, x, mean, prec, lo, hi device.Array, wall float64, value, grad device.Array) {
	xa, ma, pa, la, ha, val, ga := l.arr(x), l.arr(mean), l.arr(prec), l.arr(lo), l.arr(hi), l.arr(value), l.arr(grad)
	for _, a := range []*array{ma, pa, la, ha} {
		want(a.shaped(xa.rows, xa.cols))
	}
	want(val.shaped(1, 1) && (ga == nil || ga.shaped(xa.rows, xa.cols)))
	l.blocks("log_prior", sub, 1, blockThreads, driver.Int(xa.rows*xa.cols), xa.at(), xa.skip(), ma.at(), ma.skip(), pa.at(), pa.skip(),
		la.at(), la.skip(), ha.at(), ha.skip(), driver.Float(wall), val.at(), val.skip(), ga.at(), ga.skip())
}

func (l *lane) Sample(sub []int, mean, c, eta, x device.Array) {
	ma, ca, ea, xa := l.arr(mean), l.arr(c), l.arr(eta), l.arr(x)
	n := ma.cols
	want(ma.shaped(1, n) && ca.shaped(n, n) && ea.shaped(n, 1))
	xa.Reshape(1, n)
	l.elements("sample", sub, n, ma.at(), ma.skip(), ca.at(), ca.skip(), ea.at(), ea.skip(), xa.at(), xa.skip())
}

func (l *lane) SampleGrad(sub []int, gradX, eta, gradMean, gradC device.Array) {
	ga, ea, gm, gc := l.arr(gradX), l.arr(eta), l.arr(gradMean), l.arr(gradC)
	n := ga.cols
	want(ga.shaped(1, n) && ea.shaped(n, 1) && gm.shaped(1, n) && gc.shaped(n, n))
	l.square("sample_grad", sub, n, ga.at(), ga.skip(), ea.at(), ea.skip(), gm.at(), gm.skip(), gc.at(), gc.skip())
}
