//go:build cuda

package cuda

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
)

// noise is where θ holds the noise variances, and how far they are apart.
func (ks *kernels) noise(theta device.Array) (at, skip uint64) {
	t := ks.lane.arr(theta)
	want(t.shaped(1, ks.params))
	return t.last(ks.params), t.skip()
}

func (l *lane) Expand(sub []int, ks device.Kernels, noiseFloor float64, free, theta device.Array) {
	kn, f, t := l.kern(ks), l.arr(free), l.arr(theta)
	want(f.shaped(1, kn.free))
	t.Reshape(1, kn.params)
	l.blocks("expand", sub, 1, 32, uint64(kn.lists), driver.Int(kn.width), uint64(kn.known), driver.Int(kn.params),
		driver.Int(kn.free), driver.Float(noiseFloor), f.at(), f.skip(), t.at(), t.skip())
}

func (l *lane) Collect(sub []int, ks device.Kernels, noiseFloor float64, theta, gradTheta, gradFree device.Array) {
	kn, t, g, f := l.kern(ks), l.arr(theta), l.arr(gradTheta), l.arr(gradFree)
	want(t.shaped(1, kn.params) && g.shaped(1, kn.params))
	f.Reshape(1, kn.free)
	l.blocks("collect", sub, 1, 32, uint64(kn.lists), driver.Int(kn.width), uint64(kn.known), driver.Int(kn.params),
		driver.Int(kn.free), driver.Float(noiseFloor), t.at(), t.skip(), g.at(), g.skip(), f.at(), f.skip())
}
