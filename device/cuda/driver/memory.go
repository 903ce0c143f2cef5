//go:build cuda

package driver

/*
#include <cuda.h>
#include "calls.h"

static CUresult pool_keeps_everything(CUmemoryPool pool) {
  cuuint64_t most = ~(cuuint64_t)0;
  return cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &most);
}

static size_t pool_idle(CUmemoryPool pool) {
  cuuint64_t reserved = 0, used = 0;
  if (cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) ||
      cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) || used > reserved) return 0;
  return reserved - used;
}
*/
import "C"

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"
)

// Ptr is an address on a card.
type Ptr uint64

// Add returns the address bytes further on.
func (p Ptr) Add(bytes int) Ptr { return p + Ptr(bytes) }

// openPool takes the card's memory pool, which keeps what is given back: an
// allocation then costs about a microsecond and stops nothing, instead of
// waiting for the card. Without a pool plain allocations serve.
func (c *Card) openPool() {
	var pool C.CUmemoryPool
	if C.cuDeviceGetDefaultMemPool(&pool, C.CUdevice(c.device)) == C.CUDA_SUCCESS &&
		C.pool_keeps_everything(pool) == C.CUDA_SUCCESS {
		c.pool = pool
	}
}

// trimPool gives memory that is not in use back to the driver. The context must
// be current.
func (c *Card) trimPool() {
	if c.pool != nil {
		C.cuMemPoolTrimTo(c.pool, 0)
	}
}

func (c *Card) pools() C.int {
	if c.pool != nil {
		return 1
	}
	return 0
}

// Alloc reserves bytes of memory, whose content is undefined. The error wraps
// ErrOutOfMemory where they are not to be had, and says what there is.
func (c *Card) Alloc(bytes int) (Ptr, error) {
	if bytes < 0 {
		panic("driver: a negative number of bytes")
	}
	c.issue()
	if c.err != nil {
		return 0, c.err
	}
	var p C.CUdeviceptr
	size := C.size_t(max(bytes, 8))
	r := C.kestrel_alloc(c.context, c.queue, c.pools(), &p, size)
	if r == C.CUDA_ERROR_OUT_OF_MEMORY && c.pool != nil {
		// What was given back may lie in the wrong pieces.
		err := c.do("collecting free memory", func() error {
			err := c.stream.Synchronize()
			c.trimPool()
			return err
		})
		if err != nil {
			return 0, err
		}
		r = C.kestrel_alloc(c.context, c.queue, c.pools(), &p, size)
	}
	if r != C.CUDA_SUCCESS {
		err := error(&Error{Op: fmt.Sprintf("allocating %d bytes", bytes), Card: c.info.String(), Code: int(r)})
		if r == C.CUDA_ERROR_OUT_OF_MEMORY {
			if free, total, e := c.MemInfo(); e == nil {
				err = fmt.Errorf("%w; %d of %d bytes are free", err, free, total)
			}
		}
		return 0, err
	}
	c.held[Ptr(p)] = int(size)
	c.inUse += int(size)
	return Ptr(p), nil
}

// Free gives memory back once everything asked for before is done, also while a
// failure is kept: a later Sync does not forget what Free was called for. A lost
// card's memory goes with its context. 0 is nothing. It panics at an address that
// Alloc did not return.
func (c *Card) Free(p Ptr) {
	if p == 0 || c.closed {
		return
	}
	size, ok := c.held[p]
	if !ok {
		panic("driver: free of what was not allocated")
	}
	c.issue()
	delete(c.held, p)
	c.inUse -= size
	if !errors.Is(c.err, ErrLost) {
		c.keep("freeing memory", C.kestrel_free(c.context, c.queue, c.pools(), C.CUdeviceptr(p)))
	}
}

// InUse returns the bytes allocated and not yet freed.
func (c *Card) InUse() int { return c.inUse }

// MemInfo returns the bytes that can still be allocated and all that the card
// has.
func (c *Card) MemInfo() (free, total uint64, err error) {
	err = c.do("asking for free memory", func() error {
		f, t, err := cu.MemInfo()
		free, total = uint64(f), uint64(t)
		if c.pool != nil {
			free += uint64(C.pool_idle(c.pool))
		}
		return err
	})
	return free, total, err
}
