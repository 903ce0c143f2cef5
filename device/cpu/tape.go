package cpu

import (
	"slices"
	"weak"

	"example.com/kestrel/device"
)

// What the tapes of an array hold at most, and those of all lanes together, in entries: 4 and 256 MiB. To read
// them takes less than to compute again, unless they push each other out of the caches, but a million rows with
// few inducing inputs would have more than a gigabyte.
const (
	maxTape  = 4 << 20 / 8
	maxTapes = 256 << 20 / 8
)

// tape keeps what Kernel computed for a member, tile after tile: the leaves'
// values and the auxiliaries of their gradients, so that KernelGrad needs no
// transcendental function. It belongs to arguments, not to the array's
// content, which may be overwritten: it is used again where KernelGrad has the
// same arguments, else everything is computed again.
type tape struct {
	ks    *kernels
	a, b  device.Points
	theta []float64
	buf   []float64
}

// record returns the buffer for member k of an array, or nil if it would be too large.
func (l *lane) record(a *array, k, size int) []float64 {
	if a.tapes == nil {
		a.tapes = make([]tape, a.count)
	}
	t := &a.tapes[k]
	t.ks = nil
	if more := size - cap(t.buf); more > 0 {
		if a.taped+more > maxTape || l.taped+more > l.mostTaped && l.recount()+more > l.mostTaped {
			return nil
		}
		if a.taped == 0 {
			l.withTapes = append(l.withTapes, weak.Make(a))
		}
		t.buf = make([]float64, size)
		a.taped, l.taped = a.taped+more, l.taped+more
	}
	t.buf = t.buf[:size]
	return t.buf
}

// recount forgets arrays that nothing refers to any more, most of which nobody frees, and returns
// what the others have.
func (l *lane) recount() int {
	l.taped = 0
	l.withTapes = slices.DeleteFunc(l.withTapes, func(w weak.Pointer[array]) bool {
		a := w.Value()
		if a != nil {
			l.taped += a.taped
		}
		return a == nil || a.taped == 0
	})
	return l.taped
}

func (t *tape) set(ks *kernels, theta []float64, a, b device.Points) {
	t.ks, t.a, t.b = ks, a, b
	t.theta = append(t.theta[:0], theta...)
}

// played returns the buffer that Kernel left for these arguments, or nil.
func (a *array) played(k int, ks *kernels, theta []float64, p, q device.Points) []float64 {
	if a.tapes == nil {
		return nil
	}
	t := &a.tapes[k]
	if t.ks != ks || t.a != p || t.b != q || !slices.Equal(t.theta, theta) {
		return nil
	}
	return t.buf
}
