//go:build cuda

// Package source holds the CUDA C of the device and writes more of it: code for
// the kernel matrices of given expressions. What is in it runs on a card or, after
// emulate.h, on the host.
package source

import (
	"embed"
	"regexp"
	"strings"
)

// Kind is the device's, as device.Info has it.
const Kind = "cuda"

//go:embed *.cu
var files embed.FS

// Options are the compiler's options for all sources. Products and sums are
// contracted only where the source says fma, so that an expression gives the
// same bits in generated code and in the interpreter.
var Options = []string{"--fmad=false", "--std=c++17"}

// Library returns the source of everything that does not depend on expressions,
// the interpreter included.
func Library() string {
	return join("common", "arrays", "gemm", "factor", "fused", "leaves", "matrix", "interpret", "small")
}

func join(names ...string) string {
	var s strings.Builder
	for _, n := range names {
		text, err := files.ReadFile(n + ".cu")
		if err != nil {
			panic(err) // it is embedded
		}
		s.Write(text)
	}
	return s.String()
}

var kernelName = regexp.MustCompile(`__global__ void (?:__launch_bounds__\([\w, ]+\) )?(\w+)\(`)

// Names returns the kernels of the library.
func Names() []string {
	var names []string
	for _, m := range kernelName.FindAllStringSubmatch(Library(), -1) {
		names = append(names, m[1])
	}
	return names
}
