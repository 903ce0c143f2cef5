package conformance

import (
	"math"
	"math/rand/v2"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// harness is a part of the suite with a lane to run it on.
type harness struct {
	T
	dev  device.Device
	lane device.Lane
}

func (h *harness) check(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// upload makes an array of rows x cols with these members.
func (h *harness) upload(members [][]float64, rows, cols int) device.Array {
	h.Helper()
	a := h.array(len(members), rows, cols)
	for k, m := range members {
		h.lane.Write(a, k, m)
	}
	return a
}

// array makes an array that is freed when the test ends.
func (h *harness) array(count, rows, cols int) device.Array {
	h.Helper()
	a, err := h.lane.NewArray(count, rows, cols)
	h.check(err)
	lane := h.lane
	h.Cleanup(func() { lane.Free(a) })
	return a
}

func (h *harness) scalar(v ...float64) device.Array {
	m := make([][]float64, len(v))
	for k := range m {
		m[k] = []float64{v[k]}
	}
	return h.upload(m, 1, 1)
}

func (h *harness) read(a device.Array, k int) []float64 {
	h.Helper()
	_, r, c := a.Shape()
	dst := make([]float64, r*c)
	h.check(h.lane.Read(a, k, dst))
	return dst
}

func (h *harness) kernels(programs ...*kernelspace.Program) device.Kernels {
	h.Helper()
	ks, err := h.lane.NewKernels(programs)
	h.check(err)
	lane := h.lane
	h.Cleanup(func() { lane.Free(ks) })
	return ks
}

func (h *harness) data(x, y []float64, dim int) device.Data {
	h.Helper()
	d, err := h.dev.NewData(x, y, dim)
	h.check(err)
	return d
}

func (h *harness) index(rows ...int32) device.Index {
	h.Helper()
	x, err := h.lane.NewIndex(rows)
	h.check(err)
	lane := h.lane
	h.Cleanup(func() { lane.Free(x) })
	return x
}

func (h *harness) shape(what string, a device.Array, rows, cols int) {
	h.Helper()
	if _, r, c := a.Shape(); r != rows || c != cols {
		h.Fatalf("%s: shape %d x %d, want %d x %d", what, r, c, rows, cols)
	}
}

// near compares entry by entry, relative to the largest expected entry (and
// at least 1e-300).
func (h *harness) near(what string, got, want []float64, tol float64) {
	h.Helper()
	h.within(what, got, want, 1e-300, tol)
}

// within is near with another least size.
func (h *harness) within(what string, got, want []float64, size, tol float64) {
	h.Helper()
	if len(got) != len(want) {
		h.Fatalf("%s: %d entries, want %d", what, len(got), len(want))
	}
	for _, v := range want {
		if !math.IsInf(v, 0) {
			size = math.Max(size, math.Abs(v))
		}
	}
	for i := range want {
		if got[i] != want[i] && !(math.Abs(got[i]-want[i]) <= tol*size) {
			h.Fatalf("%s: entry %d is %.17g, want %.17g (largest %.3g, tolerance %.1g)", what, i, got[i], want[i], size, tol)
		}
	}
}

// equal compares bit by bit.
func (h *harness) equal(what string, got, want []float64) {
	h.Helper()
	if len(got) != len(want) {
		h.Fatalf("%s: %d entries, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			h.Fatalf("%s: entry %d is %.17g, want exactly %.17g", what, i, got[i], want[i])
		}
	}
}

// arg is an array that an operation takes, with its content for each member.
type arg struct {
	rows, cols int
	fill       func(r *rand.Rand, rows, cols int) []float64
	capacity   [2]int // shape that it is made with where the operation gives it the shape above
}

// operation is an operation and what it does to one member, in plain loops.
type operation struct {
	name string
	args []arg
	run  func(sub []int, a []device.Array)
	ref  func(a [][]float64) // in place
	tol  float64
}

// verify runs an operation on members 0 and 2 of three and compares them with
// the reference and member 1 with what it was; then on member 2 alone, in the
// batch and in one of its own, which must give the same bits.
func (h *harness) verify(o operation) {
	h.Helper()
	if o.tol == 0 {
		o.tol = 1e-12
	}
	const count = 3
	host := make([][][]float64, count)
	for k := range host {
		r := rand.New(rand.NewPCG(uint64(k), 7))
		for _, a := range o.args {
			host[k] = append(host[k], a.fill(r, a.rows, a.cols))
		}
	}
	run := func(members, sub []int) []device.Array {
		arrays := make([]device.Array, len(o.args))
		for i, a := range o.args {
			content := make([][]float64, len(members))
			for j, k := range members {
				content[j] = host[k][i]
			}
			if a.capacity == [2]int{} {
				arrays[i] = h.upload(content, a.rows, a.cols)
			} else {
				arrays[i] = h.array(len(members), a.capacity[0], a.capacity[1])
				h.lane.Fill(all(len(members)), arrays[i], math.NaN())
			}
		}
		o.run(sub, arrays)
		return arrays
	}
	batch := run([]int{0, 1, 2}, []int{0, 2})
	inBatch := run([]int{0, 1, 2}, []int{2})
	alone := run([]int{2}, []int{0})
	for i, a := range o.args {
		if a.capacity == [2]int{} {
			h.equal(o.name+": a member not named", h.read(batch[i], 1), host[1][i])
		}
		h.equal(o.name+": a member alone in the batch", h.read(inBatch[i], 2), h.read(batch[i], 2))
		h.equal(o.name+": a member in a batch of its own", h.read(alone[i], 0), h.read(batch[i], 2))
	}
	for _, k := range []int{0, 2} {
		o.ref(host[k])
		for i, a := range o.args {
			h.shape(o.name, batch[i], a.rows, a.cols)
			h.near(o.name, h.read(batch[i], k), host[k][i], o.tol)
		}
	}
}

func all(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// in is an argument with random content.
func in(rows, cols int) arg { return arg{rows: rows, cols: cols, fill: normal} }

// out is an argument that takes its shape from the operation; it is made larger
// and holds NaN, which the operation must not read.
func out(rows, cols int) arg {
	return arg{rows: rows, cols: cols, fill: normal, capacity: [2]int{rows + 1, cols + 2}}
}

func with(rows, cols int, fill func(r *rand.Rand, rows, cols int) []float64) arg {
	return arg{rows: rows, cols: cols, fill: fill}
}

func normal(r *rand.Rand, rows, cols int) []float64 {
	a := make([]float64, rows*cols)
	for i := range a {
		a[i] = r.NormFloat64()
	}
	return a
}

func zeros(_ *rand.Rand, rows, cols int) []float64 { return make([]float64, rows*cols) }

// lower is a well-conditioned lower triangular matrix.
func lower(r *rand.Rand, n, _ int) []float64 {
	a := make([]float64, n*n)
	for i := range n {
		for j := range i {
			a[i*n+j] = r.NormFloat64() / math.Sqrt(float64(n)) / 2
		}
		a[i*n+i] = 1 + r.Float64()
	}
	return a
}

// definite is a well-conditioned positive definite matrix.
func definite(r *rand.Rand, n, _ int) []float64 {
	l := lower(r, n, n)
	a := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			s := 0.0
			for k := range j + 1 {
				s += l[i*n+k] * l[j*n+k]
			}
			a[i*n+j], a[j*n+i] = s, s
		}
	}
	return a
}
