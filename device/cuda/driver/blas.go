//go:build cuda

package driver

/*
#include <stdlib.h>
#include "blas.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// ErrNoBLAS says that there is no libcublas.
var ErrNoBLAS = errors.New("no libcublas")

// BLAS is NVIDIA's library of products and solves on a card, on the card's
// stream. Matrices are column-major; a row-major matrix is its transpose. What
// goes wrong is returned by the card's next Sync or CopyOut.
type BLAS struct {
	card      *Card
	handle    unsafe.Pointer
	workspace Ptr
}

// workspaceBytes is what NVIDIA recommends for Hopper, the largest of its cards'.
const workspaceBytes = 32 << 20

// BLAS opens the library for the card; it takes some tenths of a second and 32
// MiB of the card's memory. A workspace of its own makes equal calls give equal
// bits. The error wraps ErrNoBLAS where there is no library. Card.Close closes it.
func (c *Card) BLAS() (*BLAS, error) {
	if c.blas != nil {
		return c.blas, nil
	}
	if err := openBLAS(c.driver.version / 1000); err != nil {
		return nil, err
	}
	b := &BLAS{card: c}
	if r := C.kestrel_cublas_create(c.context, c.queue, &b.handle); r != 0 {
		return nil, b.status("opening libcublas", r)
	}
	c.blas = b
	var err error
	if b.workspace, err = c.Alloc(workspaceBytes); err != nil {
		b.close()
		return nil, err
	}
	if r := C.kestrel_cublas_workspace(c.context, b.handle, C.CUdeviceptr(b.workspace), workspaceBytes); r != 0 {
		b.close()
		return nil, b.status("giving libcublas memory", r)
	}
	return b, nil
}

// openBLAS finds the library once for the process, preferably of the driver's
// generation.
func openBLAS(major int) error {
	table.Lock()
	defer table.Unlock()
	if table.cublas != "" {
		return nil
	}
	path, err := firstOf(toolkitPlaces(CUBLASVariable, generations("libcublas.so", major)...), func(path string) error {
		p := C.CString(path)
		defer C.free(unsafe.Pointer(p))
		if reason := C.kestrel_load_cublas(p); reason != nil {
			return errors.New(C.GoString(reason))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w; install the CUDA toolkit, or pip install nvidia-cublas-cu12, or name the library in %s",
			ErrNoBLAS, err, CUBLASVariable)
	}
	table.cublas = path
	return nil
}

func (b *BLAS) close() {
	C.kestrel_cublas_destroy(b.card.context, b.handle)
	b.card.Free(b.workspace)
	b.card.blas = nil
}

// Version returns the library's version as it counts them, 120403.
func (b *BLAS) Version() int { return int(C.kestrel_cublas_version(b.handle)) }

// status turns a cublasStatus_t into an error: 3 is a failed allocation, 13 a
// kernel that failed, whose reason the next wait for the card tells.
func (b *BLAS) status(op string, r C.int) error {
	code := C.CUresult(C.CUDA_ERROR_UNKNOWN)
	switch {
	case r == 0:
		return nil
	case r == 3:
		code = C.CUDA_ERROR_OUT_OF_MEMORY
	case r != 13:
		return fmt.Errorf("cuda: %s on %s: libcublas answers %d", op, b.card.info, r)
	}
	return &Error{Op: op, Card: b.card.info.String(), Code: int(code)}
}

func (b *BLAS) keep(op string, r C.int) {
	if err := b.status(op, r); err != nil && b.card.err == nil {
		b.card.err = err
	}
}

// ready reports whether the card takes calls, with those gathered made.
func (b *BLAS) ready() bool {
	b.card.issue()
	return b.card.err == nil
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// GemmStrided computes C_i = alpha op(A_i) op(B_i) + beta C_i, m x n with inner
// dimension k, for count matrices that lie strideA, strideB, strideC numbers
// apart.
func (b *BLAS) GemmStrided(transA, transB bool, m, n, k int, alpha float64,
	a Ptr, lda, strideA int, x Ptr, ldx, strideX int, beta float64, y Ptr, ldy, strideY, count int) {
	if b.ready() && count > 0 {
		b.keep("a strided product", C.kestrel_dgemm_strided(b.card.context, b.handle, flag(transA), flag(transB), C.int(m), C.int(n), C.int(k),
			C.double(alpha), C.CUdeviceptr(a), C.int(lda), C.longlong(strideA), C.CUdeviceptr(x), C.int(ldx), C.longlong(strideX),
			C.double(beta), C.CUdeviceptr(y), C.int(ldy), C.longlong(strideY), C.int(count)))
	}
}

// GemmBatched is GemmStrided on matrices whose addresses a, x and y list, on
// the card.
func (b *BLAS) GemmBatched(transA, transB bool, m, n, k int, alpha float64,
	a Ptr, lda int, x Ptr, ldx int, beta float64, y Ptr, ldy, count int) {
	if b.ready() && count > 0 {
		b.keep("a batched product", C.kestrel_dgemm_batched(b.card.context, b.handle, flag(transA), flag(transB), C.int(m), C.int(n), C.int(k),
			C.double(alpha), C.CUdeviceptr(a), C.int(lda), C.CUdeviceptr(x), C.int(ldx), C.double(beta), C.CUdeviceptr(y), C.int(ldy), C.int(count)))
	}
}

// TrsmBatched solves op(A_i) X = alpha X_i, or X op(A_i) = alpha X_i if right,
// for triangular A_i, in place; X is m x n. a and x list addresses, on the card.
func (b *BLAS) TrsmBatched(right, upper, trans bool, m, n int, alpha float64, a Ptr, lda int, x Ptr, ldx, count int) {
	if b.ready() && count > 0 {
		b.keep("a batched solve", C.kestrel_dtrsm_batched(b.card.context, b.handle, flag(right), flag(upper), flag(trans), C.int(m), C.int(n),
			C.double(alpha), C.CUdeviceptr(a), C.int(lda), C.CUdeviceptr(x), C.int(ldx), C.int(count)))
	}
}
