/* CUDA 13 gave these names other arguments. Package cu calls them with the old
 * ones, which the driver still exports; so they get their old declarations.
 * Stands before CUDA's own headers on the include path. */
#include_next <cuda.h>

#if CUDA_VERSION >= 13000 && !defined(KESTREL_COMPAT_CUDA_H)
#define KESTREL_COMPAT_CUDA_H

#ifdef __cplusplus
extern "C" {
#endif

#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#undef cuEventElapsedTime

CUresult cuCtxCreate_v2(CUcontext *, unsigned int, CUdevice);
#define cuCtxCreate cuCtxCreate_v2
CUresult cuMemAdvise(CUdeviceptr, size_t, CUmem_advise, CUdevice);
CUresult cuMemPrefetchAsync(CUdeviceptr, size_t, CUdevice, CUstream);
CUresult cuGraphAddDependencies(CUgraph, const CUgraphNode *, const CUgraphNode *, size_t);
CUresult cuGraphGetEdges(CUgraph, CUgraphNode *, CUgraphNode *, size_t *);
CUresult cuEventElapsedTime(float *, CUevent, CUevent);

#ifdef __cplusplus
}
#endif
#endif
