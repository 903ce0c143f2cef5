//go:build cuda

package cuda

import (
	"cmp"
	"errors"
	"fmt"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
)

// array is a batch of matrices in one allocation, member k at k*stride.
type array struct {
	lane              *lane
	count, rows, cols int
	stride            int // capacity of a member
	ptr               driver.Ptr
	owned             owned

	// What Read last fetched, of all members, and the lane's serial then.
	mirror   []float64
	mirrored int
}

var (
	errSize  = errors.New("negative size")
	errLarge = errors.New("too large for a card")
)

// The kernels count a matrix's entries in 32 bits, rounded up to whole blocks of
// threads, and a launch has so many members.
const (
	mostEntries = 1<<31 - 1<<10
	mostMembers = 1<<16 - 1
)

// indexed reports whether a kernel can count the entries of rows x cols.
func indexed(rows, cols int) bool {
	return rows <= mostEntries && cols <= mostEntries && rows*cols <= mostEntries
}

// NewArray makes a zeroed batch. The error wraps driver.ErrOutOfMemory where the
// card has no room for it. Matrices of 2^31 entries and more are refused.
func (l *lane) NewArray(count, rows, cols int) (device.Array, error) {
	what := fmt.Sprintf("array of %d x (%d x %d)", count, rows, cols)
	if count < 0 || rows < 0 || cols < 0 {
		return nil, fmt.Errorf("%s: %w", what, errSize)
	}
	if count > mostMembers || !indexed(rows, cols) {
		return nil, fmt.Errorf("%s: %w; it takes %d of %d entries", what, errLarge, mostMembers, mostEntries)
	}
	l.begins()
	a := &array{lane: l, count: count, rows: rows, cols: cols, stride: rows * cols, mirrored: -1}
	bytes := 8 * count * a.stride
	p, err := l.alloc(what, bytes)
	if err != nil {
		return nil, err
	}
	a.ptr, a.owned = p, own(l, a, p)
	l.card.Memset(p, 0, bytes)
	return a, nil
}

func (a *array) Shape() (count, rows, cols int) { return a.count, a.rows, a.cols }

func (a *array) Reshape(rows, cols int) {
	if rows < 0 || cols < 0 || !indexed(rows, cols) || rows*cols > a.stride {
		panic("cuda: reshape exceeds the array's capacity")
	}
	a.rows, a.cols = rows, cols
}

func (a *array) shaped(rows, cols int) bool { return a.rows == rows && a.cols == cols }

// at and skip are what a kernel is told of an array: where it begins, and how
// many numbers further each member does.
func (a *array) at() uint64 {
	if a == nil {
		return 0
	}
	return uint64(a.ptr)
}

func (a *array) skip() uint64 {
	if a == nil {
		return 0
	}
	return driver.Int(a.stride)
}

// last is at the last of n entries of the first member.
func (a *array) last(n int) uint64 {
	if a == nil {
		return 0
	}
	return uint64(a.ptr.Add(8 * (n - 1)))
}

// arr converts an argument; a nil argument stays nil.
func (l *lane) arr(a device.Array) *array {
	if a == nil {
		return nil
	}
	x, ok := a.(*array)
	if !ok || x.lane != l {
		panic("cuda: array of another device or lane, or freed")
	}
	l.use(x)
	return x
}

func want(ok bool) {
	if !ok {
		panic("cuda: shapes do not fit")
	}
}

// pending is a run of members that were written one after the other and go to
// the card as one copy, before anything else happens on the lane.
type pending struct {
	array *array
	first int
	count int
	buf   []float64
}

const (
	// mostPending and mostMirror are in numbers: 1 MiB.
	mostPending = 1 << 17
	mostMirror  = 1 << 17
)

// Write copies src to member k.
func (l *lane) Write(a device.Array, k int, src []float64) {
	x := l.arr(a)
	want(len(src) == x.rows*x.cols && k >= 0 && k < x.count)
	if len(src) == 0 {
		return
	}
	x.mirrored = -1
	p := &l.pending
	gathers := x.stride <= 4*len(src)+64 && x.stride <= mostPending
	if gathers && p.array == x && k == p.first+p.count && len(p.buf)+x.stride <= mostPending {
		// What lies between the members is beyond their shape.
		p.buf = append(p.buf, make([]float64, p.count*x.stride-len(p.buf))...)
		p.buf = append(p.buf, src...)
		p.count++
		return
	}
	l.flush()
	if !gathers {
		driver.CopyIn(l.card, x.ptr.Add(8*k*x.stride), src)
		return
	}
	*p = pending{array: x, first: k, count: 1, buf: append(p.buf[:0], src...)}
}

// flush copies what was written and is still on the host.
func (l *lane) flush() {
	p := &l.pending
	if p.array == nil {
		return
	}
	if p.array.ptr != 0 {
		driver.CopyIn(l.card, p.array.ptr.Add(8*p.first*p.array.stride), p.buf)
	}
	p.array = nil
}

// Read waits for the lane and copies member k to dst. A small array is fetched
// as a whole and serves further reads until something else happens on the lane.
func (l *lane) Read(a device.Array, k int, dst []float64) error {
	x := l.arr(a)
	want(len(dst) == x.rows*x.cols && k >= 0 && k < x.count)
	l.flush()
	if err := l.failure(); err != nil {
		return cmp.Or(err, l.card.Sync())
	}
	if x.mirrored == l.serial {
		copy(dst, x.mirror[k*x.stride:])
		return nil
	}
	if n := x.count * x.stride; x.count > 1 && n <= mostMirror && x.stride <= 4*len(dst)+64 {
		if cap(x.mirror) < n {
			x.mirror = make([]float64, n)
		}
		x.mirror = x.mirror[:n]
		if err := driver.CopyOut(l.card, x.mirror, x.ptr); err != nil {
			return err
		}
		x.mirrored = l.serial
		copy(dst, x.mirror[k*x.stride:])
		return nil
	}
	return driver.CopyOut(l.card, dst, x.ptr.Add(8*k*x.stride))
}
