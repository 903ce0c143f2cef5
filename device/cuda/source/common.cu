// What all kernels share.
//
// A batch of matrices is one allocation, member k at k·stride; sub lists the
// members that a launch concerns, and blockIdx.y is a place in that list.
// Nothing that a block leaves in a member depends on the list's length.

typedef long long i64;

#ifdef EMULATE
#define DYNAMIC_SHARED(name) double *name = emulate::dynamic.data()
#else
#define DYNAMIC_SHARED(name) extern __shared__ __align__(16) double name[]
#endif

#define LOG_2PI 1.8378770664093454835606594728112353

// member is the member that this block works on.
__device__ inline int member(const int *sub) { return sub[blockIdx.y]; }

__device__ inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

// warp_sum adds over a warp, in the same order each time; all lanes get the sum.
__device__ inline double warp_sum(double v) {
	for (int d = 16; d > 0; d >>= 1)
		v += __shfl_xor_sync(~0u, v, d);
	return v;
}

// block_sum adds over a block of whole warps; all threads get the sum and must call.
__device__ inline double block_sum(double v) {
	__shared__ double part[32];
	v = warp_sum(v);
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	double s = 0;
	for (int w = 0; w < (int)blockDim.x / 32; w++)
		s += part[w];
	return s;
}

// Points are rows index[from..] of x, or from.. where there is no index.
struct Points {
	const double *x;
	const int *index;
	int from, n, dim;
	__device__ int row(int i) const { return index ? index[from + i] : from + i; }
	__device__ const double *at(int i) const { return x + (i64)row(i) * dim; }
};

// triangle finds the row of entry e of a lower triangle packed row by row.
__device__ inline int triangle_row(int e) {
	int i = (int)((sqrt(8.0 * e + 1) - 1) / 2);
	while ((i64)(i + 1) * (i + 2) / 2 <= e)
		i++;
	while ((i64)i * (i + 1) / 2 > e)
		i--;
	return i;
}
