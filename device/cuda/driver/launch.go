//go:build cuda

package driver

/*
#cgo noescape kestrel_launch
#cgo nocallback kestrel_launch
#include "calls.h"
*/
import "C"

import (
	"math"
	"unsafe"
)

// Float is a kernel's argument of type double.
func Float(x float64) uint64 { return math.Float64bits(x) }

// Int is a kernel's argument of type long long, or int.
func Int(n int) uint64 { return uint64(n) }

// Launch runs f over a grid of blocks of threads, with shared bytes of dynamic
// shared memory. args are Ptr, Int and Float, at most 64. An empty grid is
// nothing. What goes wrong is returned by the next Sync or CopyOut.
func (c *Card) Launch(f Function, grid, block [3]int, shared int, args ...uint64) {
	if c.err != nil || grid[0] == 0 || grid[1] == 0 || grid[2] == 0 {
		return
	}
	if len(args) > C.kestrel_most_arguments {
		panic("driver: too many arguments of " + f.name)
	}
	if c.gathered.on {
		// No grid or block has 2^32 places along one side.
		pair := func(low, high int) uint64 { return uint64(uint32(low)) | uint64(high)<<32 }
		c.gathered.gather("launch of "+f.name, [C.kestrel_call_words]uint64{uint64(uintptr(unsafe.Pointer(f.f))), uint64(len(args)),
			pair(grid[0], grid[1]), pair(grid[2], block[0]), pair(block[1], block[2]), uint64(shared)}, args)
		return
	}
	var first *C.uint64_t
	if len(args) > 0 {
		first = (*C.uint64_t)(unsafe.Pointer(&args[0]))
	}
	r := C.kestrel_launch(c.context, c.queue, f.f, C.uint(grid[0]), C.uint(grid[1]), C.uint(grid[2]),
		C.uint(block[0]), C.uint(block[1]), C.uint(block[2]), C.uint(shared), first, C.int(len(args)))
	if r != C.CUDA_SUCCESS {
		c.keep("launch of "+f.name, r)
	}
}
