//go:build cuda

#include "blas.h"

#include <dlfcn.h>

#include "calls.h"

static int (*create)(void **);
static int (*destroy)(void *);
static int (*set_stream)(void *, CUstream);
static int (*set_workspace)(void *, void *, size_t);
static int (*version)(void *, int *);
static int (*gemm_strided)(void *, int, int, int, int, int, const double *, const double *, int, long long, const double *, int, long long,
                           const double *, double *, int, long long, int);
static int (*gemm_batched)(void *, int, int, int, int, int, const double *, const double *const *, int, const double *const *, int,
                           const double *, double *const *, int, int);
static int (*trsm_batched)(void *, int, int, int, int, int, int, const double *, const double *const *, int, double *const *, int, int);

const char *kestrel_load_cublas(const char *path) {
  static const struct {
    const char *name;
    void **to;
  } wanted[] = {
      {"cublasCreate_v2", (void **)&create},
      {"cublasDestroy_v2", (void **)&destroy},
      {"cublasSetStream_v2", (void **)&set_stream},
      {"cublasSetWorkspace_v2", (void **)&set_workspace},
      {"cublasGetVersion_v2", (void **)&version},
      {"cublasDgemmStridedBatched", (void **)&gemm_strided},
      {"cublasDgemmBatched", (void **)&gemm_batched},
      {"cublasDtrsmBatched", (void **)&trsm_batched},
  };
  void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!h) return dlerror();
  for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
    if (!(*wanted[i].to = dlsym(h, wanted[i].name))) return dlerror();
  return 0;
}

enum { not_initialized = 1 };  // CUBLAS_STATUS_NOT_INITIALIZED

#define BIND() \
  if (kestrel_bind(context) != CUDA_SUCCESS) return not_initialized

int kestrel_cublas_create(CUcontext context, CUstream queue, void **handle) {
  BIND();
  int r = create(handle);
  return r ? r : set_stream(*handle, queue);
}

int kestrel_cublas_destroy(CUcontext context, void *handle) {
  BIND();
  return destroy(handle);
}

int kestrel_cublas_workspace(CUcontext context, void *handle, CUdeviceptr p, size_t bytes) {
  BIND();
  return set_workspace(handle, (void *)p, bytes);
}

int kestrel_cublas_version(void *handle) {
  int v = 0;
  version(handle, &v);
  return v;
}

int kestrel_dgemm_strided(CUcontext context, void *handle, int ta, int tb, int m, int n, int k, double alpha, CUdeviceptr a, int lda,
                          long long sa, CUdeviceptr b, int ldb, long long sb, double beta, CUdeviceptr c, int ldc, long long sc,
                          int count) {
  BIND();
  return gemm_strided(handle, ta, tb, m, n, k, &alpha, (const double *)a, lda, sa, (const double *)b, ldb, sb, &beta, (double *)c, ldc, sc,
                      count);
}

int kestrel_dgemm_batched(CUcontext context, void *handle, int ta, int tb, int m, int n, int k, double alpha, CUdeviceptr a, int lda,
                          CUdeviceptr b, int ldb, double beta, CUdeviceptr c, int ldc, int count) {
  BIND();
  return gemm_batched(handle, ta, tb, m, n, k, &alpha, (const double *const *)a, lda, (const double *const *)b, ldb, &beta,
                      (double *const *)c, ldc, count);
}

// CUBLAS_DIAG_NON_UNIT is 0.
int kestrel_dtrsm_batched(CUcontext context, void *handle, int right, int upper, int trans, int m, int n, double alpha, CUdeviceptr a,
                          int lda, CUdeviceptr b, int ldb, int count) {
  BIND();
  return trsm_batched(handle, right, upper, trans, 0, m, n, &alpha, (const double *const *)a, lda, (double *const *)b, ldb, count);
}
