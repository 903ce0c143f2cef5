package cpu

import (
	"math"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

func (l *lane) Expand(sub []int, ks device.Kernels, noiseFloor float64, free, theta device.Array) {
	kn, fr, th := kern(ks), arr(free), arr(theta)
	want(fr.shaped(1, kn.free))
	th.Reshape(1, kn.params)
	for _, k := range sub {
		f, t, p := fr.member(k), th.member(k), kn.plans[k].prog
		for j := range t {
			if t[j] = 1; j < len(p.Params) && p.Params[j].Known.How == kernelspace.Fixed {
				t[j] = p.Params[j].Known.Value
			}
		}
		for i, j := range p.Free {
			log, _ := p.Params[j].Known.Log(f[i])
			t[j] = math.Exp(log)
		}
		t[kn.params-1] = p.NoiseAt(f[kn.free-1], noiseFloor)
	}
}

func (l *lane) Collect(sub []int, ks device.Kernels, noiseFloor float64, theta, gradTheta, gradFree device.Array) {
	kn, th, gt, gf := kern(ks), arr(theta), arr(gradTheta), arr(gradFree)
	want(th.shaped(1, kn.params) && gt.shaped(1, kn.params))
	gf.Reshape(1, kn.free)
	for _, k := range sub {
		t, g, f, p := th.member(k), gt.member(k), gf.member(k), kn.plans[k].prog
		clear(f)
		for i, j := range p.Free {
			if f[i] = g[j]; p.Params[j].Known.How == kernelspace.Bounded {
				f[i] *= p.Params[j].Known.Slope(math.Log(t[j]))
			}
		}
		f[kn.free-1] = g[kn.params-1] * p.NoiseSlope(t[kn.params-1], noiseFloor)
	}
}
