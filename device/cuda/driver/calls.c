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

static CUresult launch(CUstream queue, CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                       unsigned shared, const uint64_t *args, int n) {
  void *params[kestrel_most_arguments + 1];
  for (int i = 0; i < n; i++) params[i] = (void *)&args[i];
  params[n] = 0;  // the fake driver cannot know where they end
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, queue, params, 0);
}

CUresult kestrel_launch(CUcontext context, CUstream queue, CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                        unsigned bx, unsigned by, unsigned bz, unsigned shared, const uint64_t *args, int n) {
  BIND();
  return launch(queue, f, gx, gy, gz, bx, by, bz, shared, args, n);
}

CUresult kestrel_carry(CUcontext context, CUstream queue, const uint64_t *words, int n, int *failed) {
  BIND();
  *failed = 0;
  for (const uint64_t *w = words; w < words + n; ++*failed) {
    CUresult r;
    if (w[0]) {
      r = launch(queue, (CUfunction)w[0], (unsigned)w[2], (unsigned)(w[2] >> 32), (unsigned)w[3], (unsigned)(w[3] >> 32), (unsigned)w[4],
                 (unsigned)(w[4] >> 32), (unsigned)w[5], w + kestrel_call_words, (int)w[1]);
    } else {
      r = cuMemsetD8Async(w[2], (unsigned char)w[4], w[3], queue);
    }
    if (r != CUDA_SUCCESS) return r;
    w += kestrel_call_words + w[1];
  }
  return CUDA_SUCCESS;
}

CUresult kestrel_record(CUcontext context, CUstream queue, const uint64_t *words, int n, CUgraphExec *exec) {
  BIND();
  // Other threads go on with what they do on the card.
  CUresult r = cuStreamBeginCapture(queue, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  if (r != CUDA_SUCCESS) return r;
  int failed;
  CUgraph graph = 0;
  r = kestrel_carry(context, queue, words, n, &failed);
  CUresult end = cuStreamEndCapture(queue, &graph);
  if (r == CUDA_SUCCESS) r = end;
  if (r == CUDA_SUCCESS) r = cuGraphInstantiateWithFlags(exec, graph, 0);
  if (graph) cuGraphDestroy(graph);
  return r;
}

CUresult kestrel_graph_launch(CUcontext context, CUstream queue, CUgraphExec graph) {
  BIND();
  return cuGraphLaunch(graph, queue);
}

CUresult kestrel_graph_destroy(CUcontext context, CUgraphExec graph) {
  BIND();
  return cuGraphExecDestroy(graph);
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
