//go:build cuda

#include "calls.h"

#include <stdatomic.h>

static atomic_ulong generation = 1;
static _Thread_local CUcontext bound;
static _Thread_local unsigned long bound_in;

void kestrel_forget(void) { atomic_fetch_add(&generation, 1); }

CUresult kestrel_bind(CUcontext context) {
  unsigned long now = atomic_load_explicit(&generation, memory_order_acquire);
  if (bound == context && bound_in == now) return CUDA_SUCCESS;
  CUresult r = cuCtxSetCurrent(context);
  if (r == CUDA_SUCCESS) {
    bound = context;
    bound_in = now;
  }
  return r;
}

#define BIND()                             \
  do {                                     \
    CUresult r = kestrel_bind(context);    \
    if (r != CUDA_SUCCESS) return r;       \
  } while (0)

CUresult kestrel_launch(CUcontext context, CUstream queue, CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                        unsigned bx, unsigned by, unsigned bz, unsigned shared, const uint64_t *args, int n) {
  BIND();
  void *params[kestrel_most_arguments + 1];
  for (int i = 0; i < n; i++) params[i] = (void *)&args[i];
  params[n] = 0;  // the fake driver cannot know where they end
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, queue, params, 0);
}

CUresult kestrel_copy_in(CUcontext context, CUstream queue, CUdeviceptr dst, const void *src, size_t bytes) {
  BIND();
  return cuMemcpyHtoDAsync(dst, src, bytes, queue);
}

CUresult kestrel_copy_out(CUcontext context, CUstream queue, void *dst, CUdeviceptr src, size_t bytes) {
  BIND();
  return cuMemcpyDtoHAsync(dst, src, bytes, queue);
}

CUresult kestrel_copy_device(CUcontext context, CUstream queue, CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  BIND();
  return cuMemcpyDtoDAsync(dst, src, bytes, queue);
}

CUresult kestrel_memset(CUcontext context, CUstream queue, CUdeviceptr dst, unsigned char value, size_t bytes) {
  BIND();
  return cuMemsetD8Async(dst, value, bytes, queue);
}

CUresult kestrel_alloc(CUcontext context, CUstream queue, int pools, CUdeviceptr *p, size_t bytes) {
  BIND();
  return pools ? cuMemAllocAsync(p, bytes, queue) : cuMemAlloc(p, bytes);
}

CUresult kestrel_free(CUcontext context, CUstream queue, int pools, CUdeviceptr p) {
  BIND();
  return pools ? cuMemFreeAsync(p, queue) : cuMemFree(p);
}
