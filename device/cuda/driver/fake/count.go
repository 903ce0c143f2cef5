//go:build cuda

package fake

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

static long count(const char *path, int card, int what) {
  void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (!library) return -1;
  long (*f)(int, int) = (long (*)(int, int))dlsym(library, "kestrel_fake_count");
  long n = f ? f(card, what) : -1;
  dlclose(library);
  return n;
}

static long launched(const char *path, int card, const char *name) {
  void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (!library) return -1;
  long (*f)(int, const char *) = (long (*)(int, const char *))dlsym(library, "kestrel_fake_launched");
  long n = f ? f(card, name) : -1;
  dlclose(library);
  return n;
}
*/
import "C"

import (
	"path/filepath"
	"testing"
	"unsafe"
)

// Counts is what a card has been asked for since it was opened.
type Counts struct {
	Calls    int // of the driver, that concern the card's context
	Kernels  int // that were to run, one by one or as part of a graph
	Graphs   int // launches of graphs
	Captures int
	In, Out  int // bytes copied to the card and from it
	Used     int // bytes that are allocated
}

// Count asks the libcuda in a folder that Build filled, and that is open, about a card.
func Count(t testing.TB, dir string, card int) Counts {
	t.Helper()
	path := C.CString(filepath.Join(dir, "libcuda.so"))
	defer C.free(unsafe.Pointer(path))
	var out Counts
	for what, to := range []*int{&out.Calls, &out.Kernels, &out.Graphs, &out.Captures, &out.In, &out.Out, &out.Used} {
		if *to = int(C.count(path, C.int(card), C.int(what))); *to < 0 {
			t.Fatalf("no fake libcuda of %s is open", dir)
		}
	}
	return out
}

// Launched asks it for how many launches of kernels of these names a card has carried out.
func Launched(t testing.TB, dir string, card int, names ...string) (total int) {
	t.Helper()
	path := C.CString(filepath.Join(dir, "libcuda.so"))
	defer C.free(unsafe.Pointer(path))
	for _, name := range names {
		of := C.CString(name)
		n := int(C.launched(path, C.int(card), of))
		C.free(unsafe.Pointer(of))
		if n < 0 {
			t.Fatalf("no fake libcuda of %s is open", dir)
		}
		total += n
	}
	return total
}
