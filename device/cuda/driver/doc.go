// Package driver reaches NVIDIA cards through gorgonia.org/cu, in a program
// that starts without a driver, too. All of it is behind the build tag cuda.
//
//	d, err := driver.Open()                    // ErrNoDriver, ErrNoDevice
//	d.Cards()                                  // []CardInfo; touches no card
//	card, err := d.Card(0)                     // its context, one stream
//	p, err := card.Alloc(bytes)                // ErrOutOfMemory; content undefined
//	driver.CopyIn(card, p, floats)             // returns at once; floats may change then
//	driver.CopyOut(card, floats, p)            // waits, returns what went wrong so far
//	card.CopyDevice(dst, src, bytes)
//	card.Memset(p, 0, bytes)
//	mod, err := card.Compile("name.cu", source, "-DM=16")
//	mod, err := card.Load(image)               // PTX or CUBIN
//	f, err := mod.Function("k")                // extern "C" __global__ void k(...)
//	f.SetSharedLimit(bytes)                    // above 48 KiB of dynamic shared memory
//	f.Attributes()                             // registers, local and shared bytes
//	card.Launch(f, [3]int{gx, gy, gz}, [3]int{bx, by, bz}, shared, uint64(p), driver.Float(2.5), driver.Int(n))
//	card.Gather(); ...; card.Carry()           // launches and sets between them as one graph, from the second time on
//	card.Vary(0.1)                             // where launches that are gathered find a number that differs each time
//	card.Sync()                                // waits, returns what went wrong so far
//	card.Free(p); card.MemInfo(); card.Close()
//	blas, err := card.BLAS()                   // libcublas, where there is one; else ErrNoBLAS
//	c, err := driver.OpenCompiler(0)           // libnvrtc without a card: c.Compile(name, source, "sm_90", "-Xptxas=-v")
//
// # Threads and order
//
// Everything on a card happens in the order of the calls, on one stream. A
// Card is used by one goroutine at a time, but for Compile, Load and Function,
// which any number may call. No goroutine need be locked to a thread: each call
// into C sets the card's context on whatever thread it runs (a comparison, if
// it is already there), and Go does not move a goroutine within such a call.
//
// # Arguments of kernels
//
// Each is eight bytes: a Ptr, an Int, or a Float. A kernel declares them as
// pointers, long long (or int, of which the low half is read) and double.
//
// # Errors
//
// Copies, sets and launches return nothing. The first failure is kept, what
// follows is not carried out, and the next Sync or CopyOut returns it. After
// that the card goes on, unless it is lost (ErrLost): then every call fails with
// that error until Close, which resets the card. errors.Is finds ErrNoDriver,
// ErrNoDevice, ErrNoCompiler, ErrOutOfMemory and ErrLost below the messages; the
// last two wrap those of package device. Free works whatever is kept.
//
// # How it starts without a driver
//
// Package cu refers to some 160 functions of libcuda and 10 of libnvrtc, and calls
// cuInit before main, ending the program where that fails. Here these functions
// are defined as jumps through a table (trampolines.c) that Open fills with
// dlopen and dlsym. Before that cuInit says yes and all others say
// CUDA_ERROR_NOT_INITIALIZED. Two empty archives in lib satisfy cu's -lcuda and
// -lnvrtc. The table is the process's: there is one driver in it, once found.
//
// # Environment
//
//	KESTREL_CUDA_LIBRARY    path of libcuda.so.1, instead of the usual places
//	KESTREL_NVRTC_LIBRARY   path of libnvrtc, likewise
//	KESTREL_CUBLAS_LIBRARY  path of libcublas, likewise
//
// # Fake libraries
//
// Package driver/fake builds a libcuda, a libnvrtc and a libcublas that compute on
// the host. Its nvrtc compiles, with g++ -std=c++17,
//
//	#include "emulate.h"
//	<the source>
//	EMULATE_KERNEL(name)     // for every extern "C" __global__ void name(...) of the source
//
// where the macro, defined by emulate.h, defines
//
//	extern "C" void emulate_name(const unsigned grid[3], const unsigned block[3], unsigned shared, void **params)
//
// which runs the whole grid and returns; *params[i] is the eight bytes of
// argument i. "-D" and "-I" options are passed on. Pointers are host pointers.
package driver
