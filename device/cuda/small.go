//go:build cuda

package cuda

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/source"
)

// The largest matrices of which many steps are made in one launch, see small.cu.
const (
	smallInducing = 32
	smallRows     = 64
	smallPitch    = smallInducing + 1
)

// smallShared is the dynamic shared memory of small_adam in bytes, as it takes it.
func smallShared(m, b, params, frees int) int {
	r, pitch := (m+7)/8*8, b|1
	state := 3 * (frees + m + m*m)
	return 8 * ((3+blockThreads/32)*params + 2*r*smallPitch + r + 3*r*pitch + 2*b + state)
}

// smallOwn is what is set aside for the compiler's own shared memory of small_adam.
const smallOwn = 2 << 10

// small reports whether steps with so many inducing inputs and rows are made in one
// launch. It must not depend on the kernels of a group, whose parameters need memory, too;
// nor on the lane, so the least of all cards' shared memory counts.
func (l *lane) small(m, b int) bool {
	return m >= 1 && m <= smallInducing && b >= 1 && b <= smallRows &&
		smallShared(m, b, source.MostParams+1, source.MostParams+1)+smallOwn <= l.shared
}

// AdamSteps makes them all in one launch, a block a member.
func (l *lane) AdamSteps(sub []int, s *device.AdamRun) bool {
	m, b := s.Z.Len(), s.X.Len()
	if !l.small(m, b) {
		return false
	}
	ks, z, x := l.kern(s.Kernels), l.selection(s.Z), l.selection(s.X)
	y := x.y
	want(y != 0 || l.err != nil)
	want(s.Steps >= 1 && s.Skip >= 0 && len(s.Taken) == len(sub) && z.width == x.width)
	if s.X.Index != nil {
		want(s.X.To+(s.Steps-1)*s.Skip <= s.X.Index.Len())
	} else {
		want(s.X.To+(s.Steps-1)*s.Skip <= s.X.Data.Rows())
	}
	for _, p := range ks.programs {
		want(p.Dim <= z.width)
	}
	// alike are arrays of a shape and a capacity, of which the card is told once.
	alike := func(rows, cols int, list ...device.Array) (at []uint64) {
		first := l.arr(list[0])
		for _, a := range list {
			v := l.arr(a)
			want(v.shaped(rows, cols) && v.stride == first.stride)
			at = append(at, v.at())
		}
		return append(at, first.skip())
	}
	taken := make([]int32, len(sub))
	for i, t := range s.Taken {
		taken[i] = int32(t)
	}
	counts := l.grow(&l.counts, 4*len(sub))
	if l.err == nil && len(sub) > 0 {
		driver.CopyIn(l.card, counts, taken)
	}
	l.begin(sub)
	l.args = append(l.args, uint64(ks.tables), uint64(ks.starts), driver.Int(ks.params),
		uint64(z.x), uint64(z.index), driver.Int(z.from), driver.Int(m),
		uint64(x.x), uint64(x.index), driver.Int(x.from), driver.Int(b), driver.Int(s.Skip), driver.Int(x.width), uint64(y),
		uint64(ks.lists), driver.Int(ks.width), uint64(ks.known), driver.Int(ks.free), driver.Float(s.NoiseFloor),
		driver.Float(s.N), driver.Float(s.Jitter.Relative), driver.Float(s.Jitter.Absolute))
	l.args = append(l.args, alike(1, 1, s.Factor)...)
	l.args = append(l.args, driver.Float(s.Rate), driver.Float(s.Wall), uint64(counts), driver.Int(s.Steps))
	l.args = append(l.args, alike(1, ks.free, s.Free, s.FreeM1, s.FreeM2, s.Stride, s.PriorMean, s.PriorPrec, s.Lo, s.Hi)...)
	l.args = append(l.args, alike(1, 1, s.Failed)...)
	l.args = append(l.args, alike(m, 1, s.Mean, s.MeanM1, s.MeanM2)...)
	l.args = append(l.args, alike(m, m, s.Chol, s.CholM1, s.CholM2)...)
	l.args = append(l.args, alike(1, 1, s.Value)...)
	l.launch(l.library["small_adam"], sub, 1, blockThreads, smallShared(m, b, ks.params, ks.free))
	return true
}
