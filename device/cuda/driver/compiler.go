//go:build cuda

package driver

/*
#include <stdlib.h>
#include <nvrtc.h>
#include "trampolines.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"gorgonia.org/cu/nvrtc"
)

const _ = -uint(unsafe.Sizeof(nvrtc.Program{}) - unsafe.Sizeof(C.nvrtcProgram(nil)))

// Compiler turns CUDA C into images. It needs no card. Any number of goroutines
// may use it.
type Compiler struct {
	path         string
	major, minor int
	archs        []int // that it makes CUBINs for, ascending
}

// Image is a compiled source.
type Image struct {
	Code []byte // CUBIN, or PTX text
	Arch string // "sm_90", or "compute_90"
	Log  string // the compiler's words: warnings, and with -Xptxas=-v registers and spills
}

// OpenCompiler finds libnvrtc. Of several, one that is not newer than major,
// the generation of the driver, is preferred; 0 takes the newest. The error
// wraps ErrNoCompiler where there is none.
func OpenCompiler(major int) (*Compiler, error) {
	table.Lock()
	defer table.Unlock()
	if table.nvrtc == "" {
		path, err := firstOf(toolkitPlaces(NVRTCVariable, generations("libnvrtc.so", major)...), loadNVRTC)
		if err != nil {
			return nil, fmt.Errorf("%w: %w; install the CUDA toolkit, or pip install nvidia-cuda-nvrtc-cu12, or name the library in %s",
				ErrNoCompiler, err, NVRTCVariable)
		}
		table.nvrtc = path
	}
	c := &Compiler{path: table.nvrtc}
	var err error
	if c.major, c.minor, err = nvrtc.Version(); err != nil {
		return nil, fmt.Errorf("%w that works: %s: %w", ErrNoCompiler, c.path, err)
	}
	var n C.int
	if C.nvrtcGetNumSupportedArchs(&n) == C.NVRTC_SUCCESS && n > 0 {
		archs := make([]C.int, n)
		if C.nvrtcGetSupportedArchs(&archs[0]) == C.NVRTC_SUCCESS {
			for _, a := range archs {
				c.archs = append(c.archs, int(a))
			}
			slices.Sort(c.archs)
		}
	}
	return c, nil
}

// loadNVRTC fills the table from a libnvrtc. table must be locked.
func loadNVRTC(path string) error {
	open := func(path string) *C.char {
		p := C.CString(path)
		defer C.free(unsafe.Pointer(p))
		return C.kestrel_load_nvrtc(p)
	}
	// One that is opened by its path finds its companion only if that is open.
	if dir := filepath.Dir(path); dir != "." {
		companions, _ := filepath.Glob(filepath.Join(dir, "libnvrtc-builtins.so*"))
		for _, companion := range companions {
			p := C.CString(companion)
			C.kestrel_open(p)
			C.free(unsafe.Pointer(p))
		}
	}
	if reason := open(path); reason != nil {
		return errors.New(C.GoString(reason))
	}
	return nil
}

// Version returns the compiler's CUDA version, "12.4".
func (c *Compiler) Version() string { return fmt.Sprintf("%d.%d", c.major, c.minor) }

// Path returns the library that the compiler is.
func (c *Compiler) Path() string { return c.path }

// Target returns what to compile for so that a card of this compute capability
// (90 for 9.0) can run it: code for just that card if the compiler knows it,
// else PTX for the newest that it knows and the card can run.
func (c *Compiler) Target(arch int) string {
	if slices.Contains(c.archs, arch) {
		return fmt.Sprintf("sm_%d", arch)
	}
	best := arch
	if i, _ := slices.BinarySearch(c.archs, arch); i > 0 {
		best = c.archs[i-1]
	}
	return fmt.Sprintf("compute_%d", best)
}

// Compile compiles a source for a target, as Target returns it. name stands in
// messages. The error holds the compiler's log.
func (c *Compiler) Compile(name, source, target string, options ...string) (*Image, error) {
	program, err := nvrtc.CreateProgram(source, name)
	if err != nil {
		return nil, fmt.Errorf("cuda: compiling %s: %w", name, err)
	}
	defer program.Destroy()
	err = program.Compile(append([]string{"--gpu-architecture=" + target}, options...)...)
	log, _ := program.GetLog()
	log = strings.TrimRight(log, "\x00\n")
	if err != nil {
		return nil, fmt.Errorf("cuda: compiling %s for %s with libnvrtc %s: %w: %s", name, target, c.Version(), err, log)
	}
	image := &Image{Arch: target, Log: log}
	if strings.HasPrefix(target, "sm_") {
		image.Code, err = cubin(&program)
	} else {
		var ptx string
		ptx, err = program.GetPTX()
		image.Code = []byte(strings.TrimRight(ptx, "\x00"))
	}
	if err != nil {
		return nil, fmt.Errorf("cuda: compiling %s for %s with libnvrtc %s: %w", name, target, c.Version(), err)
	}
	return image, nil
}

// cubin returns a compiled program's machine code.
func cubin(program *nvrtc.Program) ([]byte, error) {
	p := *(*C.nvrtcProgram)(unsafe.Pointer(program))
	var size C.size_t
	if r := C.nvrtcGetCUBINSize(p, &size); r != C.NVRTC_SUCCESS || size == 0 {
		return nil, fmt.Errorf("it gives no machine code (%d)", r)
	}
	code := make([]byte, size)
	if r := C.nvrtcGetCUBIN(p, (*C.char)(unsafe.Pointer(&code[0]))); r != C.NVRTC_SUCCESS {
		return nil, fmt.Errorf("it gives no machine code (%d)", r)
	}
	return code, nil
}
