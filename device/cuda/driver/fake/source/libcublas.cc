// The few functions of libcublas that package driver calls, by their
// definitions, on the memory of the fake libcuda.

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

namespace {

struct Handle {
  void *stream = nullptr;
  int (*wait)(void *) = nullptr;
};

// ready waits for what was asked for before.
bool ready(Handle *h) { return h->wait(h->stream) == 0; }

double at(const double *a, int ld, bool trans, int i, int j) { return trans ? a[j + i * ld] : a[i + j * ld]; }

void gemm(bool ta, bool tb, int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c,
          int ldc) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double s = 0;
      for (int l = 0; l < k; l++) s += at(a, lda, ta, i, l) * at(b, ldb, tb, l, j);
      c[i + j * ldc] = alpha * s + (beta == 0 ? 0 : beta * c[i + j * ldc]);
    }
}

// One column or row x of a right-hand side, by substitution.
void solve(bool upper, bool trans, int n, const double *a, int lda, std::vector<double> &x) {
  const bool down = upper == trans;
  for (int s = 0; s < n; s++) {
    int i = down ? s : n - 1 - s;
    for (int j = down ? 0 : i + 1; j < (down ? i : n); j++) x[i] -= at(a, lda, trans, i, j) * x[j];
    x[i] /= at(a, lda, trans, i, i);
  }
}

}  // namespace

API int cublasCreate_v2(Handle **h) {
  const char *path = getenv("KESTREL_CUDA_LIBRARY");
  void *cuda = path ? dlopen(path, RTLD_NOW) : nullptr;
  if (!cuda) return 1;
  *h = new Handle;
  (*h)->wait = reinterpret_cast<int (*)(void *)>(dlsym(cuda, "cuStreamSynchronize"));
  return 0;
}

API int cublasDestroy_v2(Handle *h) {
  delete h;
  return 0;
}

API int cublasSetStream_v2(Handle *h, void *stream) {
  h->stream = stream;
  return 0;
}

API int cublasSetWorkspace_v2(Handle *, void *, size_t) { return 0; }

API int cublasGetVersion_v2(Handle *, int *version) {
  *version = 120400;
  return 0;
}

API int cublasDgemmStridedBatched(Handle *h, int ta, int tb, int m, int n, int k, const double *alpha, const double *a, int lda,
                                  long long sa, const double *b, int ldb, long long sb, const double *beta, double *c, int ldc,
                                  long long sc, int count) {
  if (!ready(h)) return 13;
  for (int i = 0; i < count; i++) gemm(ta, tb, m, n, k, *alpha, a + i * sa, lda, b + i * sb, ldb, *beta, c + i * sc, ldc);
  return 0;
}

API int cublasDgemmBatched(Handle *h, int ta, int tb, int m, int n, int k, const double *alpha, const double *const *a, int lda,
                           const double *const *b, int ldb, const double *beta, double *const *c, int ldc, int count) {
  if (!ready(h)) return 13;
  for (int i = 0; i < count; i++) gemm(ta, tb, m, n, k, *alpha, a[i], lda, b[i], ldb, *beta, c[i], ldc);
  return 0;
}

API int cublasDtrsmBatched(Handle *h, int right, int upper, int trans, int, int m, int n, const double *alpha, const double *const *a,
                           int lda, double *const *b, int ldb, int count) {
  if (!ready(h)) return 13;
  for (int i = 0; i < count; i++)
    for (int v = 0; v < (right ? m : n); v++) {
      const int size = right ? n : m;
      std::vector<double> x(static_cast<size_t>(size));
      auto entry = [&](int e) -> double & { return right ? b[i][v + e * ldb] : b[i][e + v * ldb]; };
      for (int e = 0; e < size; e++) x[e] = *alpha * entry(e);
      // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
      solve(upper, right ? !trans : trans, size, a[i], lda, x);
      for (int e = 0; e < size; e++) entry(e) = x[e];
    }
  return 0;
}
