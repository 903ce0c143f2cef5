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
	// smallOwn is what is set aside for the compiler's own shared memory.
	smallOwn = 1 << 10
)

// smallShared is the dynamic shared memory of small_adam and small_natural in bytes, as they
// take it.
func smallShared(m, b, frees int) (adam, natural int) {
	const panel = smallInducing * smallPitch
	r, pitch := (m+7)/8*8, b|1
	both := 2*panel + smallInducing + 3*(source.MostParams+1) + 2*smallRows + 3*r*pitch + 3*frees
	return 8 * (both + 3*(m+m*m)), 8 * (both + panel + 3*smallInducing + smallRows + smallInducing*smallInducing)
}

// mostSmall is what the larger of them takes at most, with these sizes, whatever the kernels.
func mostSmall(m, b int) int { return max(smallShared(m, b, source.MostParams+1)) }

// small reports whether steps with so many inducing inputs and rows are made in one
// launch. It must not depend on the kernels of a group, whose parameters need memory, too;
// nor on the lane, so the least of all cards' shared memory counts.
func (l *lane) small(m, b int) bool {
	return m >= 1 && m <= smallInducing && b >= 1 && b <= smallRows && mostSmall(m, b)+smallOwn <= l.shared
}

// alike adds to the arguments arrays of a shape and a capacity, of which a kernel is told once.
func (l *lane) alike(args []uint64, rows, cols int, list ...device.Array) []uint64 {
	first := l.arr(list[0])
	for _, a := range list {
		v := l.arr(a)
		want(v.shaped(rows, cols) && v.stride == first.stride)
		args = append(args, v.at())
	}
	return append(args, first.skip())
}

// smallSizes are those of which the shared memory of small steps is, and where what was drawn from q(log θ) is.
type smallSizes struct {
	m, b, frees int
	etas, fresh uint64
}

// beginSmall prepares a launch of small steps with what both kernels are told.
func (l *lane) beginSmall(sub []int, s *device.SmallRun) smallSizes {
	ks, z, x := l.kern(s.Kernels), l.selection(s.Z), l.selection(s.X)
	sizes := smallSizes{m: z.n, b: x.n, frees: ks.free}
	rows := s.X.Data.Rows()
	if s.X.Index != nil {
		rows = s.X.Index.Len()
	}
	want(s.Steps >= 1 && s.Skip >= 0 && s.X.To+(s.Steps-1)*s.Skip <= rows)
	want(len(s.Taken) == len(sub) && z.width == x.width && s.X.Data.(*data).y != nil)
	for _, p := range ks.programs {
		want(p.Dim <= z.width)
	}
	taken := make([]int32, len(sub))
	for i, t := range s.Taken {
		taken[i] = int32(t)
	}
	counts := stage(l, &l.counts, taken)
	sizes.etas, sizes.fresh = l.drawn(s, len(sub))
	l.begin(sub)
	l.args = append(l.args, uint64(ks.tables), uint64(ks.starts), driver.Int(ks.params),
		uint64(z.x), uint64(z.index), driver.Int(z.from), driver.Int(z.n),
		uint64(x.x), uint64(x.index), driver.Int(x.from), driver.Int(x.n), driver.Int(s.Skip), driver.Int(x.width), uint64(x.y),
		uint64(ks.lists), driver.Int(ks.width), uint64(ks.known), driver.Int(ks.free), driver.Float(s.NoiseFloor),
		driver.Float(s.N), driver.Float(s.Jitter.Relative), driver.Float(s.Jitter.Absolute))
	l.args = l.alike(l.args, 1, 1, s.Factor)
	l.args = append(l.args, driver.Float(s.Rate), driver.Float(s.Wall), counts, driver.Int(s.Steps))
	l.args = l.alike(l.args, 1, ks.free, s.Free, s.FreeM1, s.FreeM2, s.Stride, s.PriorMean, s.PriorPrec, s.Lo, s.Hi)
	l.args = l.alike(l.args, 1, 1, s.Failed)
	return sizes
}

// stage copies numbers to scratch memory, in the order of the lane.
func stage[T driver.Number](l *lane, to *scratch, list []T) uint64 {
	p := l.grow(to, 8*len(list))
	if l.err == nil && len(list) > 0 {
		driver.CopyIn(l.card, p, list)
	}
	return uint64(p)
}

// drawn has θ drawn from q(log θ), if there is one.
func (l *lane) drawn(s *device.SmallRun, members int) (etas, fresh uint64) {
	if s.Belief == nil {
		return 0, 0
	}
	draws := s.Belief.Draw()
	want(len(draws) == s.Steps*members*s.Kernels.Free() && len(s.Belief.Fresh) == members)
	first := make([]int32, members)
	for i, is := range s.Belief.Fresh {
		if is {
			first[i] = 1
		}
	}
	return stage(l, &l.etas, draws), stage(l, &l.fresh, first)
}

// believed adds what is told of q(log θ).
func (l *lane) believed(s *device.SmallRun, sizes smallSizes) {
	q, f := s.Belief, s.Kernels.Free()
	if q == nil {
		l.args = append(l.args, make([]uint64, 10)...)
		return
	}
	mean, free := l.arr(q.Mean), l.arr(s.Free)
	want(mean.shaped(1, f) && mean.stride == free.stride)
	l.args = append(l.args, mean.at())
	l.args = l.alike(l.args, f, f, q.Chol, q.CholM1, q.CholM2, q.CholStride, q.Scale)
	diagonal := 0
	if q.Diagonal {
		diagonal = 1
	}
	l.args = append(l.args, sizes.etas, sizes.fresh, driver.Int(diagonal))
}

// AdamSteps makes them all in one launch, a block a member.
func (l *lane) AdamSteps(sub []int, s *device.AdamRun) bool {
	if !l.small(s.Z.Len(), s.X.Len()) {
		return false
	}
	z := l.beginSmall(sub, &s.SmallRun)
	l.args = l.alike(l.args, z.m, 1, s.Mean, s.MeanM1, s.MeanM2)
	l.args = l.alike(l.args, z.m, z.m, s.Chol, s.CholM1, s.CholM2)
	l.args = l.alike(l.args, 1, 1, s.Value)
	l.believed(&s.SmallRun, z)
	shared, _ := smallShared(z.m, z.b, z.frees)
	l.launch(l.library["small_adam"], sub, 1, blockThreads, shared)
	return true
}

// NaturalSteps does so, too.
func (l *lane) NaturalSteps(sub []int, s *device.NaturalRun) bool {
	if !l.small(s.Z.Len(), s.X.Len()) {
		return false
	}
	want(len(s.Seen) == len(sub) && s.First >= 0 && s.Every >= 0)
	seen := stage(l, &l.seen, s.Seen)
	z := l.beginSmall(sub, &s.SmallRun)
	l.args = append(l.args, seen, driver.Int(s.First), driver.Int(s.Every), driver.Float(s.Warm), driver.Float(s.Least))
	l.args = l.alike(l.args, z.m, z.m, s.Lambda)
	l.args = l.alike(l.args, z.m, 1, s.LambdaM)
	l.believed(&s.SmallRun, z)
	_, shared := smallShared(z.m, z.b, z.frees)
	l.launch(l.library["small_natural"], sub, 1, blockThreads, shared)
	return true
}
