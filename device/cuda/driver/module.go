//go:build cuda

package driver

/*
#include <cuda.h>
*/
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// Module is a set of compiled kernels on a card.
type Module struct {
	card *Card
	name string
	mod  cu.Module
}

// Function is a kernel of a module.
type Function struct {
	name string
	f    C.CUfunction
	card *Card
}

// Attributes says what a kernel needs.
type Attributes struct {
	Registers  int // of a thread
	Local      int // bytes of local memory of a thread, spilled registers among them
	Shared     int // bytes of shared memory of a block, less what a launch adds
	MaxThreads int // of a block
}

// Load places an image on the card: PTX text or a CUBIN.
func (c *Card) Load(image []byte) (Module, error) { return c.load("an image", image) }

func (c *Card) load(name string, image []byte) (Module, error) {
	m := Module{card: c, name: name}
	err := c.do("loading "+name, func() (err error) {
		m.mod, err = cu.LoadData(string(image))
		return err
	})
	return m, err
}

// Function finds a kernel of the module, which stays valid as long as the card.
func (m Module) Function(name string) (Function, error) {
	f := Function{name: name, card: m.card}
	err := m.card.do(fmt.Sprintf("finding %s in %s", name, m.name), func() error {
		g, err := m.mod.Function(name)
		f.f = *(*C.CUfunction)(unsafe.Pointer(&g))
		return err
	})
	return f, err
}

// Unload takes the module from the card; its functions must not be used
// afterwards.
func (m Module) Unload() error { return m.card.do("unloading "+m.name, m.mod.Unload) }

// Name returns the kernel's name.
func (f Function) Name() string { return f.name }

// Attributes asks what the kernel needs.
func (f Function) Attributes() (Attributes, error) {
	var a Attributes
	err := f.card.do("asking about "+f.name, func() error {
		g := *(*cu.Function)(unsafe.Pointer(&f.f))
		for _, q := range []struct {
			attribute cu.FunctionAttribute
			to        *int
		}{{cu.NumRegs, &a.Registers}, {cu.LocalSizeBytes, &a.Local}, {cu.SharedSizeBytes, &a.Shared}, {cu.FnMaxThreadsPerBlock, &a.MaxThreads}} {
			v, err := g.Attribute(q.attribute)
			if err != nil {
				return err
			}
			*q.to = v
		}
		return nil
	})
	return a, err
}

// SetSharedLimit allows launches with up to bytes of dynamic shared memory.
// Without it 48 KiB are the most; CardInfo.SharedPerBlock is.
func (f Function) SetSharedLimit(bytes int) error {
	return f.card.do(fmt.Sprintf("allowing %s %d bytes of shared memory", f.name, bytes), func() error {
		if r := C.cuFuncSetAttribute(f.f, C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, C.int(bytes)); r != C.CUDA_SUCCESS {
			return &Error{Code: int(r)}
		}
		return nil
	})
}
