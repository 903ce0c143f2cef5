//go:build cuda

package driver

/*
#include <cuda.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"reflect"

	"gorgonia.org/cu"

	"example.com/kestrel/device"
)

// What errors.Is finds below the errors of this package.
var (
	ErrNoDriver    = errors.New("no CUDA driver")
	ErrNoDevice    = errors.New("no CUDA device")
	ErrNoCompiler  = errors.New("no CUDA compiler (libnvrtc)")
	ErrOutOfMemory = fmt.Errorf("%w on the card", device.ErrOutOfMemory)
	ErrLost        = fmt.Errorf("the card is %w", device.ErrLost)
)

// Error is a call into libcuda that did not succeed.
type Error struct {
	Op   string // what was asked for, "launch of gemm"
	Card string // which card, "card 0 (NVIDIA H200)"; empty where none is concerned
	Code int    // CUresult
}

func (e *Error) Error() string {
	text := "cuda: " + e.Op
	if e.Card != "" {
		text += " on " + e.Card
	}
	return fmt.Sprintf("%s: %s", text, describe(e.Code))
}

// Is reports whether e is a shortage of memory or the loss of a card.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrOutOfMemory, device.ErrOutOfMemory:
		return e.Code == C.CUDA_ERROR_OUT_OF_MEMORY
	case ErrLost, device.ErrLost:
		return lost(e.Code)
	}
	return false
}

// Results that only the headers of CUDA 12.8 and later have: CUDA_ERROR_CONTAINED
// and CUDA_ERROR_TENSOR_MEMORY_LEAK.
const (
	contained        = 226
	tensorMemoryLeak = 721
)

// lost reports whether no call on the context succeeds after this error, which
// its documentation says of each ("leaves the process in an inconsistent
// state", "the context cannot be used"), or the card itself is gone.
func lost(code int) bool {
	switch code {
	case C.CUDA_ERROR_ECC_UNCORRECTABLE, C.CUDA_ERROR_NVLINK_UNCORRECTABLE,
		C.CUDA_ERROR_ILLEGAL_ADDRESS, C.CUDA_ERROR_LAUNCH_TIMEOUT, C.CUDA_ERROR_CONTEXT_IS_DESTROYED,
		C.CUDA_ERROR_ASSERT, C.CUDA_ERROR_HARDWARE_STACK_ERROR, C.CUDA_ERROR_ILLEGAL_INSTRUCTION,
		C.CUDA_ERROR_MISALIGNED_ADDRESS, C.CUDA_ERROR_INVALID_ADDRESS_SPACE, C.CUDA_ERROR_INVALID_PC,
		C.CUDA_ERROR_LAUNCH_FAILED, C.CUDA_ERROR_DEVICE_UNAVAILABLE, C.CUDA_ERROR_DEINITIALIZED,
		C.CUDA_ERROR_MPS_CLIENT_TERMINATED, C.CUDA_ERROR_EXTERNAL_DEVICE, C.CUDA_ERROR_UNKNOWN,
		contained, tensorMemoryLeak:
		return true
	}
	return false
}

// describe turns a CUresult into words and its name.
func describe(code int) string {
	var name, text *C.char
	if C.cuGetErrorName(C.CUresult(code), &name) != C.CUDA_SUCCESS || name == nil {
		return fmt.Sprintf("error %d of the CUDA driver", code)
	}
	if C.cuGetErrorString(C.CUresult(code), &text) != C.CUDA_SUCCESS || text == nil {
		return C.GoString(name)
	}
	return fmt.Sprintf("%s (%s)", C.GoString(text), C.GoString(name))
}

// code returns the CUresult in an error of package cu, whose type is not
// exported.
func code(err error) int {
	var e *Error
	switch {
	case err == nil:
		return C.CUDA_SUCCESS
	case errors.As(err, &e):
		return e.Code
	case reflect.TypeOf(err) == reflect.TypeOf(cu.Success):
		return int(reflect.ValueOf(err).Int())
	}
	return C.CUDA_ERROR_UNKNOWN
}

// wrap makes an Error of one of package cu's.
func wrap(op, card string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Op: op, Card: card, Code: code(err)}
}
