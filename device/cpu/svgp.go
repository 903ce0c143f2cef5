package cpu

import (
	"math"

	"example.com/kestrel/device"
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
		for i := range rows {
			l.level.Marginals(mm[i], xm[i*cols:(i+1)*cols], ym[i*cols:(i+1)*cols], um, wm)
		}
	}
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
		for i := range rows {
			l.level.ABar(w, mm[i], rm, xm[i*cols:(i+1)*cols], sm[i*cols:(i+1)*cols])
		}
	}
}

func (l *lane) Weight(sub []int, ks device.Kernels, theta device.Array, n float64, rows int, scale float64, a device.Array) {
	kn, th, x := kern(ks), arr(theta), arr(a)
	for _, k := range sub {
		w := scale * n / (float64(rows) * kn.noise(th, k))
		m := x.member(k)
		for i := range m {
			m[i] *= w
		}
	}
}

func (l *lane) GaussKL(sub []int, m, c, value, gradM, gradC device.Array) {
	mean, root, val, gm, gc := arr(m), arr(c), arr(value), arr(gradM), arr(gradC)
	n := mean.rows
	want(mean.shaped(n, 1) && root.shaped(n, n) && val.shaped(1, 1))
	want((gm == nil || gm.shaped(n, 1)) && (gc == nil || gc.shaped(n, n)))
	for _, k := range sub {
		mm, cm := mean.member(k), root.member(k)
		kl := 0.0
		for i := range n {
			row := cm[i*n : i*n+i+1]
			kl += mm[i]*mm[i] + l.level.Dot(row, row) - 1 - 2*math.Log(math.Abs(row[i]))
		}
		val.member(k)[0] -= kl / 2
		if gm != nil {
			g := gm.member(k)
			for i, x := range mm {
				g[i] -= x
			}
		}
		if gc != nil {
			g := gc.member(k)
			for i := range n {
				l.level.Axpy(-1, cm[i*n:i*n+i+1], g[i*n:i*n+i+1])
				g[i*n+i] += 1 / cm[i*n+i] // C⁻ᵀ is upper triangular
			}
		}
	}
}
