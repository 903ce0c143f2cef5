#ifndef KESTREL_BLAS_H
#define KESTREL_BLAS_H

#include <cuda.h>

// The few functions of libcublas that are used, by its prototypes (cublas_api.h
// is not needed to build). Matrices are column-major; scalars are on the host.

// kestrel_load_cublas finds the functions in the library at path; it returns 0
// or dlerror's words.
const char *kestrel_load_cublas(const char *path);

int kestrel_cublas_create(CUcontext context, CUstream queue, void **handle);
int kestrel_cublas_destroy(CUcontext context, void *handle);
int kestrel_cublas_workspace(CUcontext context, void *handle, CUdeviceptr p, size_t bytes);
int kestrel_cublas_version(void *handle);
int kestrel_dgemm_strided(CUcontext context, void *handle, int ta, int tb, int m, int n, int k, double alpha, CUdeviceptr a, int lda,
                          long long sa, CUdeviceptr b, int ldb, long long sb, double beta, CUdeviceptr c, int ldc, long long sc,
                          int count);
int kestrel_dgemm_batched(CUcontext context, void *handle, int ta, int tb, int m, int n, int k, double alpha, CUdeviceptr a, int lda,
                          CUdeviceptr b, int ldb, double beta, CUdeviceptr c, int ldc, int count);
int kestrel_dtrsm_batched(CUcontext context, void *handle, int right, int upper, int trans, int m, int n, double alpha, CUdeviceptr a,
                          int lda, CUdeviceptr b, int ldb, int count);

#endif
