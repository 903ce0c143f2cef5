//go:build cuda

package cuda

import (
	"fmt"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/source"
	"example.com/kestrel/kernelspace"
)

// kernels is a batch of compiled expressions.
type kernels struct {
	lane         *lane
	programs     []*kernelspace.Program
	params, free int

	tables, starts driver.Ptr // for the kernels that compute matrices: source.Table of every member, and where it begins
	lists          driver.Ptr // the free parameters of every member, behind their number
	width          int        // of a member's list
	known          driver.Ptr // what is known of every member's parameters, see expand
	cases          driver.Ptr // a member's place in its module
	owned          []owned

	modules []*module // those that compute members
	member  []int     // by member: index into modules, −1 for the interpreter
	chosen  []int     // scratch
}

func (ks *kernels) Params() int { return ks.params }
func (ks *kernels) Free() int   { return ks.free }

func (l *lane) kern(ks device.Kernels) *kernels {
	x, ok := ks.(*kernels)
	if !ok || x.lane != l {
		panic("cuda: kernels of another device or lane, or freed")
	}
	l.use(x)
	return x
}

// NewKernels lays out the programs for the kernels that compute matrices and
// generates the code that is not there yet, which can take seconds. Errors: a
// base kernel that the sources do not have, a program too large for the card (see
// source.Table), no memory.
func (l *lane) NewKernels(programs []*kernelspace.Program) (device.Kernels, error) {
	l.begins()
	ks := &kernels{lane: l, programs: programs}
	var tables, starts, lists []int32
	for _, p := range programs {
		t, err := source.Table(p)
		if err != nil {
			return nil, err
		}
		starts = append(starts, int32(len(tables)))
		tables = append(tables, t...)
		ks.params = max(ks.params, len(p.Params)+1)
		ks.free = max(ks.free, len(p.Free)+1)
	}
	ks.width = ks.free + 1
	for _, p := range programs {
		list := make([]int32, ks.width)
		list[0] = int32(len(p.Free))
		for i, j := range p.Free {
			list[1+i] = int32(j)
		}
		lists = append(lists, list...)
	}
	ks.params, ks.free = max(ks.params, 1), max(ks.free, 1)
	cases, err := ks.assign(l)
	if err != nil {
		return nil, err
	}
	if ks.known, err = upload(l, "kernels", ks.allKnown()); err != nil {
		return nil, err
	}
	ks.owned = append(ks.owned, own(l, ks, ks.known))
	for _, x := range []struct {
		to   *driver.Ptr
		data []int32
	}{{&ks.tables, tables}, {&ks.starts, starts}, {&ks.lists, lists}, {&ks.cases, cases}} {
		if *x.to, err = upload(l, "kernels", x.data); err != nil {
			l.release(ks.owned...)
			return nil, err
		}
		ks.owned = append(ks.owned, own(l, ks, *x.to))
	}
	return ks, nil
}

// allKnown is what expand is told of the members' parameters.
func (ks *kernels) allKnown() (all []float64) {
	for _, p := range ks.programs {
		values, ranges := make([]float64, ks.params), make([]float64, 2*ks.free)
		for i := range values[:ks.params-1] {
			if values[i] = 1; i < len(p.Params) && p.Params[i].Known.How == kernelspace.Fixed {
				values[i] = p.Params[i].Known.Value
			}
		}
		take := func(entry int, k *kernelspace.Known) {
			if k.How == kernelspace.Bounded {
				ranges[2*entry], ranges[2*entry+1] = k.Low, k.High
			}
		}
		for i, j := range p.Free {
			take(i, &p.Params[j].Known)
		}
		take(ks.free-1, &p.Noise)
		if p.Noise.How == kernelspace.Fixed {
			values[ks.params-1] = p.Noise.Value
		}
		all = append(append(all, values...), ranges...)
	}
	return all
}

// assign gives every member the module that computes it, and returns its case there.
func (ks *kernels) assign(l *lane) (cases []int32, err error) {
	places, err := l.codes.find(ks.programs)
	if err != nil {
		return nil, fmt.Errorf("compiling kernels for %s: %w", l.card.Info(), err)
	}
	seen := map[*module]int{}
	for k := range ks.programs {
		at := place{}
		if places != nil {
			at = places[k]
		}
		number := -1
		if at.module != nil {
			var ok bool
			if number, ok = seen[at.module]; !ok {
				number = len(ks.modules)
				seen[at.module] = number
				ks.modules = append(ks.modules, at.module)
			}
		}
		ks.member = append(ks.member, number)
		cases = append(cases, at.number)
	}
	return cases, nil
}
