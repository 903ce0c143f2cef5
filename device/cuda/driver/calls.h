#ifndef KESTREL_CALLS_H
#define KESTREL_CALLS_H

#include <cuda.h>
#include <stdint.h>

// The calls that a step makes, each with the context set on the thread that it
// runs on. Go does not move a goroutine to another thread within a call.

enum { kestrel_most_arguments = 64 };

// kestrel_bind makes context current on this thread, unless it is.
CUresult kestrel_bind(CUcontext context);
// kestrel_forget makes every thread ask the driver again.
void kestrel_forget(void);

CUresult kestrel_launch(CUcontext context, CUstream queue, CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                        unsigned bx, unsigned by, unsigned bz, unsigned shared, const uint64_t *args, int n);

// Calls in a row: each is kestrel_call_words numbers and its arguments.
//
//   a launch   function, arguments, grid x | y << 32, grid z | block x << 32, block y | z << 32, shared bytes
//   a set      0, 0, address, bytes, value, 0
enum { kestrel_call_words = 6 };

// kestrel_carry makes the calls of n numbers; failed gets the place of the one that failed.
CUresult kestrel_carry(CUcontext context, CUstream queue, const uint64_t *words, int n, int *failed);
// kestrel_record makes a graph of them, which is not carried out.
CUresult kestrel_record(CUcontext context, CUstream queue, const uint64_t *words, int n, CUgraphExec *graph);
CUresult kestrel_graph_launch(CUcontext context, CUstream queue, CUgraphExec graph);
CUresult kestrel_graph_destroy(CUcontext context, CUgraphExec graph);

CUresult kestrel_copy_in(CUcontext context, CUstream queue, CUdeviceptr dst, const void *src, size_t bytes);
CUresult kestrel_copy_out(CUcontext context, CUstream queue, void *dst, CUdeviceptr src, size_t bytes);
CUresult kestrel_copy_device(CUcontext context, CUstream queue, CUdeviceptr dst, CUdeviceptr src, size_t bytes);
CUresult kestrel_memset(CUcontext context, CUstream queue, CUdeviceptr dst, unsigned char value, size_t bytes);
CUresult kestrel_alloc(CUcontext context, CUstream queue, int pools, CUdeviceptr *p, size_t bytes);
CUresult kestrel_free(CUcontext context, CUstream queue, int pools, CUdeviceptr p);

#endif
