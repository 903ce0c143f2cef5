//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/source"
	"example.com/kestrel/kernelspace"
)

// codes are the structures that a card has code for.
type codes struct {
	card    *driver.Card
	options []string
	when    Generate
	tell    func(notice string)
	places  map[string]place
}

// place is where a structure's code is; without a module, nowhere.
type place struct {
	module *module
	number int32
}

// module is compiled code for some structures. Gradients by the inputs are rare
// and left to the interpreter; only GenerateAlways has code for them.
type module struct {
	forward, backward, along driver.Function
}

// find returns the code of every program, generating what is missing. Programs
// that the interpreter takes have none. Errors: the card is lost; and where code
// must be generated, whatever went wrong.
func (c *codes) find(programs []*kernelspace.Program) ([]place, error) {
	if c.when == GenerateNever {
		return nil, nil
	}
	missing := map[string]*kernelspace.Program{}
	for _, p := range programs {
		if s := source.Structure(p); s != "" {
			if _, ok := c.places[s]; !ok {
				missing[s] = p
			}
		}
	}
	// In an order of their own, so that the same kernels in another order, as another
	// number of lanes deals them, find their modules compiled.
	var ordered []*kernelspace.Program
	for _, s := range slices.Sorted(maps.Keys(missing)) {
		ordered = append(ordered, missing[s])
	}
	batches := slices.Collect(slices.Chunk(ordered, source.PerModule)) // a module each
	modules := make([]*module, len(batches))
	errs := make([]error, len(batches))
	var wg sync.WaitGroup
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, b := range batches {
		turns <- struct{}{}
		wg.Go(func() {
			modules[i], errs[i] = c.compile(b)
			<-turns
		})
	}
	wg.Wait()
	for i, b := range batches {
		err := errs[i]
		if errors.Is(err, driver.ErrLost) || err != nil && c.when == GenerateAlways {
			return nil, err
		}
		// What the compiler refuses, or the card has no room for, is left to the
		// interpreter, which gives the same bits.
		if err != nil {
			c.tell(interpreted(fmt.Sprintf("%d expressions", len(b)), err))
		}
		for j, p := range b {
			c.places[source.Structure(p)] = place{modules[i], int32(j)}
		}
	}
	out := make([]place, len(programs))
	for i, p := range programs {
		out[i] = c.places[source.Structure(p)]
	}
	return out, nil
}

func (c *codes) compile(programs []*kernelspace.Program) (*module, error) {
	text, err := source.Matrices(programs, c.when == GenerateAlways)
	if err != nil {
		return nil, err
	}
	m, err := c.card.Compile("matrices.cu", text, c.options...)
	if err != nil {
		return nil, fmt.Errorf("%s and %d more: %w", programs[0].ID, len(programs)-1, err)
	}
	out := &module{}
	for _, f := range []struct {
		name string
		to   *driver.Function
	}{{"matrix_forward", &out.forward}, {"matrix_backward", &out.backward}, {"matrix_along", &out.along}} {
		if f.to == &out.along && c.when != GenerateAlways {
			continue
		}
		if *f.to, err = m.Function(f.name); err != nil {
			return nil, err
		}
	}
	return out, nil
}
