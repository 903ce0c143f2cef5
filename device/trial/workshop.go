package trial

import (
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// workshop is the first lane of a device with what was made on it. The first error is
// kept, and nothing is made after it.
type workshop struct {
	dev   device.Device
	lane  device.Lane
	sub   []int // all members
	made  []any // to be freed
	err   error
	count int
}

func newWorkshop(dev device.Device, count int) *workshop {
	w := &workshop{dev: dev, lane: dev.Lane(0), count: count}
	for k := range count {
		w.sub = append(w.sub, k)
	}
	return w
}

// close gives back what was made, whatever has happened since.
func (w *workshop) close() { w.lane.Free(w.made...) }

// free gives back one thing before the others.
func (w *workshop) free(thing any) {
	if i := slices.Index(w.made, thing); i >= 0 {
		w.made = slices.Delete(w.made, i, i+1)
		w.lane.Free(thing)
	}
}

func keep[T any](w *workshop, make func() (T, error)) (made T) {
	if w.err != nil {
		return made
	}
	if made, w.err = make(); w.err == nil {
		w.made = append(w.made, made)
	}
	return made
}

func (w *workshop) kernels(programs []*kernelspace.Program) device.Kernels {
	return keep(w, func() (device.Kernels, error) { return w.lane.NewKernels(programs) })
}

func (w *workshop) array(rows, cols int) device.Array {
	return keep(w, func() (device.Array, error) { return w.lane.NewArray(w.count, rows, cols) })
}

func (w *workshop) index(rows []int32) device.Index {
	return keep(w, func() (device.Index, error) { return w.lane.NewIndex(rows) })
}

func (w *workshop) data(x, y []float64, dim int) (d device.Data) {
	if w.err == nil {
		d, w.err = w.dev.NewData(x, y, dim)
	}
	return d
}

func (w *workshop) write(a device.Array, k int, src []float64) {
	if w.err == nil {
		w.lane.Write(a, k, src)
	}
}

func (w *workshop) read(a device.Array, k int) []float64 {
	if w.err != nil {
		return nil
	}
	_, rows, cols := a.Shape()
	dst := make([]float64, rows*cols)
	w.err = w.lane.Read(a, k, dst)
	return dst
}
