//go:build cuda

package driver

/*
#include <cuda.h>
#include "blas.h"
#include "calls.h"
*/
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"
)

// The handles of package cu are structs of one pointer.
const (
	_ = -uint(unsafe.Sizeof(cu.CUContext{}) - unsafe.Sizeof(C.CUcontext(nil)))
	_ = -uint(unsafe.Sizeof(cu.Stream{}) - unsafe.Sizeof(C.CUstream(nil)))
	_ = -uint(unsafe.Sizeof(cu.Function{}) - unsafe.Sizeof(C.CUfunction(nil)))
)

// Card is a card with its context, one stream, and what lives there.
type Card struct {
	info     CardInfo
	driver   *Driver
	device   cu.Device
	context  C.CUcontext
	stream   cu.Stream
	queue    C.CUstream // the stream again, as C has it
	pool     C.CUmemoryPool
	held     map[Ptr]int // bytes of what is allocated
	inUse    int         // their sum
	staging  staging
	blas     *BLAS
	gathered gathering
	err      error // the first failure since the last Sync
	closed   bool
}

// Card makes the context and the stream of card i, which takes some tenths of
// a second. Two Cards of one card share a context.
func (d *Driver) Card(i int) (*Card, error) {
	if i < 0 || i >= len(d.cards) {
		return nil, fmt.Errorf("%w: there is no card %d; the driver has %d", ErrNoDevice, i, len(d.cards))
	}
	c := &Card{info: d.cards[i], driver: d, held: map[Ptr]int{}}
	var err error
	if c.device, err = cu.GetDevice(i); err != nil {
		return nil, c.wrap("finding", err)
	}
	context, err := c.device.RetainPrimaryCtx()
	if err != nil {
		return nil, c.wrap("making a context", err)
	}
	c.context = *(*C.CUcontext)(unsafe.Pointer(&context))
	err = c.do("making a stream", func() error {
		if c.info.Pools {
			c.openPool()
		}
		c.stream, err = cu.MakeStream(cu.NonBlocking)
		return err
	})
	if err != nil {
		c.Close()
		return nil, err
	}
	c.queue = *(*C.CUstream)(unsafe.Pointer(&c.stream))
	return c, nil
}

// Info describes the card.
func (c *Card) Info() CardInfo { return c.info }

// Close waits for the card, gives everything on it back and, where the card
// was lost, resets it. The Card must not be used afterwards.
func (c *Card) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	isLost := errors.Is(c.err, ErrLost)
	var err error
	if !isLost {
		err = c.do("closing", func() error {
			err := c.stream.Synchronize()
			c.forgetGraphs()
			if c.blas != nil {
				C.kestrel_cublas_destroy(c.context, c.blas.handle)
			}
			for p := range c.held {
				err = cmp.Or(err, cu.MemFree(cu.DevicePtr(p)))
			}
			c.staging.close()
			err = cmp.Or(err, c.stream.Destroy())
			c.trimPool()
			return err
		})
		isLost = errors.Is(err, ErrLost)
	}
	c.held, c.inUse = nil, 0
	C.kestrel_forget()
	err = cmp.Or(err, c.wrap("closing", c.device.ReleasePrimaryCtx()))
	if isLost {
		return c.wrap("resetting", c.device.ResetPrimaryCtx())
	}
	return err
}

// do calls f, which speaks to package cu, with the card's context on its thread.
func (c *Card) do(op string, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r := C.kestrel_bind(c.context); r != C.CUDA_SUCCESS {
		return &Error{Op: op, Card: c.info.String(), Code: int(r)}
	}
	return c.wrap(op, f())
}

func (c *Card) wrap(op string, err error) error { return wrap(op, c.info.String(), err) }

// keep remembers the first failure.
func (c *Card) keep(op string, r C.CUresult) {
	if r != C.CUDA_SUCCESS && c.err == nil {
		c.err = &Error{Op: op, Card: c.info.String(), Code: int(r)}
	}
}

// Err returns the first failure since the last Sync without waiting; what is
// still under way may add one.
func (c *Card) Err() error { return c.err }

// Sync waits until everything asked for is done, and returns the first failure
// since the last Sync. A card that is lost stays lost.
func (c *Card) Sync() error {
	c.issue()
	err := c.err
	if errors.Is(err, ErrLost) {
		return err
	}
	c.err = nil
	waited := c.do("waiting", c.stream.Synchronize)
	if errors.Is(waited, ErrLost) {
		if err != nil {
			waited = fmt.Errorf("%w; before that: %w", waited, err)
		}
		c.err = waited
		return waited
	}
	return cmp.Or(err, waited)
}
