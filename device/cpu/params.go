package cpu

import (
	"math"

	"kestrel/device"
)

func (l *lane) Expand(sub []int, ks device.Kernels, noiseFloor float64, free, theta device.Array) {
	kn, fr, th := kern(ks), arr(free), arr(theta)
	want(fr.shaped(1, kn.free))
	th.Reshape(1, kn.params)
	for _, k := range sub {
		f, t := fr.member(k), th.member(k)
		fill(t, 1)
		for i, j := range kn.plans[k].prog.Free {
			t[j] = math.Exp(f[i])
		}
		t[kn.params-1] = noiseFloor + math.Exp(f[kn.free-1])
	}
}

func (l *lane) Collect(sub []int, ks device.Kernels, noiseFloor float64, theta, gradTheta, gradFree device.Array) {
	kn, th, gt, gf := kern(ks), arr(theta), arr(gradTheta), arr(gradFree)
	want(th.shaped(1, kn.params) && gt.shaped(1, kn.params))
	gf.Reshape(1, kn.free)
	for _, k := range sub {
		t, g, f := th.member(k), gt.member(k), gf.member(k)
		clear(f)
		for i, j := range kn.plans[k].prog.Free {
			f[i] = g[j]
		}
		// ∂σ_n²/∂ρ = exp(ρ)
		f[kn.free-1] = g[kn.params-1] * (t[kn.params-1] - noiseFloor)
	}
}
