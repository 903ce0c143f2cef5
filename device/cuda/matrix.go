//go:build cuda

package cuda

import (
	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
)

// mode says which entries of a kernel matrix are computed, as enum Mode in matrix.cu.
type mode int

const (
	rectangle mode = iota
	symmetric
	diagonal
	square
)

// selection is the points that an operation reads, on the card.
type selection struct {
	x, y, index    driver.Ptr
	from, n, width int
}

func (l *lane) selection(p device.Points) selection {
	d, ok := p.Data.(*data)
	if !ok {
		panic("cuda: data of another device")
	}
	l.use(d)
	at := d.on(l)
	s := selection{x: at.x, y: at.y, from: p.From, n: p.Len(), width: d.dim}
	if p.Index != nil {
		x, ok := p.Index.(*index)
		if !ok || x.lane != l {
			panic("cuda: index of another device or lane, or freed")
		}
		want(p.From >= 0 && p.To <= x.n)
		l.use(x)
		s.index, s.from = l.place(p, x)
	} else {
		want(p.From >= 0 && p.To <= d.rows)
	}
	return s
}

// targets returns where the targets of the points begin, or all targets and a
// list of which are meant.
func (l *lane) targets(p device.Points) (y, index uint64) {
	s := l.selection(p)
	if p.Data.(*data).y == nil {
		panic("cuda: data without targets")
	}
	if s.index != 0 {
		return uint64(s.y), uint64(s.index.Add(4 * s.from))
	}
	return uint64(s.y.Add(8 * s.from)), 0
}

// job is an operation on kernel matrices.
type job struct {
	sub    []int
	ks     *kernels
	theta  *array
	a, b   selection
	mode   mode
	blocks int // of a member
	rows   int // doubles of shared memory, in vectors of parameters
}

// matrixJob prepares an operation on the matrices of a and b, whose entries are
// taken in tiles of 32 x 32.
func (l *lane) matrixJob(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, m mode) *job {
	j := &job{sub: sub, ks: l.kern(ks), theta: l.arr(theta), a: l.selection(a), b: l.selection(b), mode: m, rows: 2}
	want(j.theta.shaped(1, j.ks.params) && len(j.ks.programs) <= j.theta.count && j.a.width == j.b.width)
	for _, p := range j.ks.programs {
		if p.Dim > j.a.width {
			panic("cuda: program of more columns than the data")
		}
	}
	switch m {
	case diagonal:
		j.blocks = ceilDiv(j.a.n, 1024)
	case symmetric:
		tiles := ceilDiv(j.a.n, 32)
		j.blocks = tiles * (tiles + 1) / 2
	default:
		j.blocks = tiles32(j.a.n, j.b.n)
	}
	return j
}

// Generated code is used where at most fewModules launches do for all members,
// or a member has so many entries that a launch is a small part of the time.
const (
	fewModules  = 2
	manyEntries = 1 << 13
)

func (c *codes) generated(j *job) bool {
	switch c.when {
	case GenerateAlways:
		return true
	case GenerateNever:
		return false
	}
	entries := j.a.n
	if j.mode != diagonal {
		entries *= j.b.n
	}
	return entries >= manyEntries || len(j.ks.modules) <= fewModules
}

// launch runs the job, on the members that a module has code for and on the
// others by the interpreter. args follow the common ones.
func (j *job) launch(l *lane, name string, which func(*module) driver.Function, args ...uint64) {
	shared := 8 * j.rows * j.ks.params
	run := func(f driver.Function, sub []int, cases driver.Ptr) {
		if len(sub) == 0 {
			return
		}
		l.begin(sub)
		l.args = append(l.args, uint64(j.ks.tables), uint64(j.ks.starts), j.theta.at(), j.theta.skip(), driver.Int(j.ks.params))
		for _, p := range []selection{j.a, j.b} {
			l.args = append(l.args, uint64(p.x), uint64(p.index), driver.Int(p.from), driver.Int(p.n))
		}
		l.args = append(l.args, driver.Int(j.a.width), driver.Int(int(j.mode)))
		if cases != 0 {
			l.args = append(l.args, uint64(cases))
		}
		l.args = append(l.args, args...)
		l.launch(f, sub, j.blocks, blockThreads, shared)
	}
	if !l.codes.generated(j) || name == "along" && l.codes.when != GenerateAlways {
		run(l.library["interpret_"+name], j.sub, 0)
		return
	}
	for number := -1; number < len(j.ks.modules); number++ {
		chosen := j.ks.chosen[:0]
		for _, k := range j.sub {
			if j.ks.member[k] == number {
				chosen = append(chosen, k)
			}
		}
		j.ks.chosen = chosen
		if number < 0 {
			run(l.library["interpret_"+name], chosen, 0)
		} else {
			run(which(j.ks.modules[number]), chosen, j.ks.cases)
		}
	}
}

func forward(m *module) driver.Function  { return m.forward }
func backward(m *module) driver.Function { return m.backward }
func along(m *module) driver.Function    { return m.along }

func (l *lane) Kernel(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, out device.Array) {
	m := rectangle
	if a == b {
		m = symmetric
	}
	j, o := l.matrixJob(sub, ks, theta, a, b, m), l.arr(out)
	o.Reshape(j.a.n, j.b.n)
	j.launch(l, "forward", forward, o.at(), o.skip())
}

func (l *lane) KernelDiag(sub []int, ks device.Kernels, theta device.Array, a device.Points, out device.Array) {
	j, o := l.matrixJob(sub, ks, theta, a, a, diagonal), l.arr(out)
	o.Reshape(1, j.a.n)
	j.launch(l, "forward", forward, o.at(), o.skip())
}

// gradient sums over blocks, then over the blocks' sums; a member's only block
// adds to the gradient itself.
func (j *job) gradient(l *lane, bar, grad *array) {
	want(grad.shaped(1, j.ks.params))
	if j.blocks == 0 {
		return
	}
	j.rows += blockThreads / 32
	if j.blocks == 1 {
		j.launch(l, "backward", backward, bar.at(), bar.skip(), grad.at(), grad.skip())
		return
	}
	partial := uint64(l.grow(&l.partials, 8*len(j.ks.programs)*j.blocks*j.ks.params))
	j.launch(l, "backward", backward, bar.at(), bar.skip(), partial, 0)
	l.blocks("add_partials", j.sub, 1, blockThreads, uint64(j.ks.tables), uint64(j.ks.starts), driver.Int(j.blocks), driver.Int(j.ks.params),
		partial, grad.at(), grad.skip())
}

func (l *lane) KernelGrad(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, k, bar, gradTheta device.Array) {
	m := rectangle
	if a == b {
		m = symmetric
	}
	j, br := l.matrixJob(sub, ks, theta, a, b, m), l.arr(bar)
	want(l.arr(k).shaped(j.a.n, j.b.n) && br.shaped(j.a.n, j.b.n))
	j.gradient(l, br, l.arr(gradTheta))
}

func (l *lane) KernelDiagGrad(sub []int, ks device.Kernels, theta device.Array, a device.Points, bar, gradTheta device.Array) {
	j, br := l.matrixJob(sub, ks, theta, a, a, diagonal), l.arr(bar)
	want(br.shaped(1, j.a.n))
	j.gradient(l, br, l.arr(gradTheta))
}

func (l *lane) KernelInputGrad(sub []int, ks device.Kernels, theta device.Array, a, b device.Points, bar, gradA device.Array) {
	m := rectangle
	if a == b {
		m = square
	}
	j, br, g := l.matrixJob(sub, ks, theta, a, b, m), l.arr(bar), l.arr(gradA)
	want(br.shaped(j.a.n, j.b.n) && g.shaped(j.a.n, j.a.width))
	j.blocks = j.a.n
	j.launch(l, "along", along, br.at(), br.skip(), g.at(), g.skip())
}
