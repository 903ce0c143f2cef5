//go:build cuda

package driver

/*
#cgo LDFLAGS: -L${SRCDIR}/lib -ldl
#include <stdlib.h>
#include <cuda.h>
#include "trampolines.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// oldest is the first driver that serves: memory in the order of a stream came
// with 11.2, as 1000·major + 10·minor.
const oldest = 11020

// table guards the process's table of functions, which is filled once.
var table struct {
	sync.Mutex
	cuda, nvrtc, cublas string // paths of what it is filled from
}

// Driver is the CUDA driver with the cards that it knows.
type Driver struct {
	path    string
	version int
	cards   []CardInfo
}

// CardInfo describes a card.
type CardInfo struct {
	Index           int
	Name            string
	Major, Minor    int    // compute capability
	Memory          uint64 // bytes, all of it
	Multiprocessors int
	SharedPerBlock  int // bytes of shared memory that a block can ask for
	Pools           bool
	Clock           float64 // Hz, at most
	Ratio           int     // how many times faster FP32 is than FP64; 0: the driver does not say
	UUID            string  // "" where the driver does not say
}

// Arch returns the compute capability as one number, 90 for 9.0.
func (c CardInfo) Arch() int { return 10*c.Major + c.Minor }

func (c CardInfo) String() string { return fmt.Sprintf("card %d (%s)", c.Index, c.Name) }

// Open finds the CUDA driver, starts it and lists the cards; it makes nothing
// on them. The error wraps ErrNoDriver where there is none that serves, and
// ErrNoDevice where it has no card.
func Open() (*Driver, error) {
	table.Lock()
	defer table.Unlock()
	if table.cuda == "" {
		path, err := firstOf(cudaPlaces(), loadCUDA)
		if err != nil {
			return nil, fmt.Errorf("%w: %w; install NVIDIA's driver, or name its library in %s", ErrNoDriver, err, CUDAVariable)
		}
		table.cuda = path
	}
	d := &Driver{path: table.cuda, version: cu.Version()}
	if d.version >= 0 && d.version < oldest {
		return nil, fmt.Errorf("%w that serves: %s is for CUDA %s, and %s is needed; install a newer driver",
			ErrNoDriver, d.path, release(d.version), release(oldest))
	}
	switch r := C.kestrel_init(); r {
	case C.CUDA_SUCCESS:
	case C.CUDA_ERROR_NO_DEVICE:
		return nil, fmt.Errorf("%w: the driver (%s) finds no card; nvidia-smi and CUDA_VISIBLE_DEVICES tell more", ErrNoDevice, d.path)
	default:
		return nil, fmt.Errorf("%w that works: %s does not start: %s; nvidia-smi tells more", ErrNoDriver, d.path, describe(int(r)))
	}
	count, err := cu.NumDevices()
	if err != nil {
		return nil, wrap("counting cards", "", err)
	}
	if count == 0 {
		return nil, fmt.Errorf("%w: the driver (%s) lists no card; CUDA_VISIBLE_DEVICES may hide it", ErrNoDevice, d.path)
	}
	for i := range count {
		info, err := inspect(i)
		if err != nil {
			return nil, err
		}
		d.cards = append(d.cards, info)
	}
	return d, nil
}

// loadCUDA fills the table from a libcuda. table must be locked.
func loadCUDA(path string) error {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	if reason := C.kestrel_load_cuda(p); reason != nil {
		return errors.New(C.GoString(reason))
	}
	return nil
}

// Cards lists the cards.
func (d *Driver) Cards() []CardInfo { return d.cards }

// Version returns the CUDA version that the driver is for, "12.4".
func (d *Driver) Version() string { return release(d.version) }

// release writes a version as CUDA counts them.
func release(version int) string { return fmt.Sprintf("%d.%d", version/1000, version%1000/10) }

// inspect asks what a card is.
func inspect(i int) (CardInfo, error) {
	info := CardInfo{Index: i}
	dev, err := cu.GetDevice(i)
	if err != nil {
		return info, wrap("finding", info.String(), err)
	}
	if info.Name, err = dev.Name(); err != nil {
		return info, wrap("asking the name", info.String(), err)
	}
	memory, err := dev.TotalMem()
	if err != nil {
		return info, wrap("asking the memory", info.String(), err)
	}
	info.Memory = uint64(memory)
	var pools int
	for _, a := range []struct {
		attribute cu.DeviceAttribute
		to        *int
	}{
		{cu.ComputeCapabilityMajor, &info.Major},
		{cu.ComputeCapabilityMinor, &info.Minor},
		{cu.MultiprocessorCount, &info.Multiprocessors},
		{C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &info.SharedPerBlock},
		{C.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &pools},
	} {
		if *a.to, err = dev.Attribute(a.attribute); err != nil {
			return info, wrap(fmt.Sprintf("asking attribute %d", a.attribute), info.String(), err)
		}
	}
	info.Pools = pools != 0
	// What only describes it may be missing.
	if id, err := dev.UUID(); err == nil {
		info.UUID = id.String()
	}
	if kilohertz, err := dev.Attribute(C.CU_DEVICE_ATTRIBUTE_CLOCK_RATE); err == nil {
		info.Clock = 1e3 * float64(kilohertz)
	}
	if ratio, err := dev.Attribute(C.CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO); err == nil {
		info.Ratio = ratio
	}
	return info, nil
}
