// Elementwise operations on batches: thread e of member blockIdx.y.

#define ENTRY(n)                                            \
	const int e = blockIdx.x * blockDim.x + threadIdx.x;     \
	if (e >= (n))                                           \
		return;                                             \
	const i64 k = member(sub)

extern "C" __global__ void copy(const int *sub, int n, double *dst, i64 sd, const double *src, i64 ss) {
	ENTRY(n);
	dst[k * sd + e] = src[k * ss + e];
}

extern "C" __global__ void fill(const int *sub, int n, double *a, i64 sa, double value) {
	ENTRY(n);
	a[k * sa + e] = value;
}

// add_scaled computes dst += alpha src; alpha is at `at` unless that is null.
extern "C" __global__ void add_scaled(const int *sub, int n, double *dst, i64 sd, double alpha, const double *at, const double *src, i64 ss) {
	ENTRY(n);
	if (at)
		alpha = *at;
	dst[k * sd + e] += alpha * src[k * ss + e];
}

extern "C" __global__ void add_diagonal(const int *sub, int n, double *a, i64 sa, double value) {
	ENTRY(n);
	a[k * sa + (i64)e * n + e] += value;
}

// triangle keeps the lower triangle of a (n x n) and multiplies its diagonal.
extern "C" __global__ void triangle(const int *sub, int n, double *a, i64 sa, double diag) {
	ENTRY(n * n);
	const int i = e / n, j = e % n;
	if (j > i)
		a[k * sa + e] = 0;
	else if (i == j)
		a[k * sa + e] *= diag;
}

// mirror copies the lower triangle of a (n x n) to the upper one: a block takes
// the tile (i, j), j <= i, of 32 x 32, to write rows as it reads them.
extern "C" __global__ void mirror(const int *sub, int n, double *a, i64 sa) {
	__shared__ double tile[32][33];
	double *m = a + member(sub) * sa;
	const int ti = triangle_row(blockIdx.x), tj = blockIdx.x - ti * (ti + 1) / 2, i0 = ti * 32, j0 = tj * 32;
	const int x = threadIdx.x % 32, y = threadIdx.x / 32;
	for (int r = y; r < 32; r += 8)
		if (i0 + r < n && j0 + x <= i0 + r)
			tile[r][x] = m[(i64)(i0 + r) * n + j0 + x];
	__syncthreads();
	for (int r = y; r < 32; r += 8)
		if (i0 + x < n && j0 + r < i0 + x)
			m[(i64)(j0 + r) * n + i0 + x] = tile[x][r];
}

// transpose stores srcᵀ in dst, in tiles of 32 x 32; 32 x 8 threads.
extern "C" __global__ void transpose(const int *sub, int rows, int cols, double *dst, i64 sd, const double *src, i64 ss) {
	__shared__ double tile[32][33];
	const i64 k = member(sub);
	const int across = ceil_div(cols, 32), i0 = blockIdx.x / across * 32, j0 = blockIdx.x % across * 32;
	const int x = threadIdx.x % 32, y = threadIdx.x / 32;
	for (int r = y; r < 32; r += 8)
		if (i0 + r < rows && j0 + x < cols)
			tile[r][x] = src[k * ss + (i64)(i0 + r) * cols + j0 + x];
	__syncthreads();
	for (int r = y; r < 32; r += 8)
		if (j0 + r < cols && i0 + x < rows)
			dst[k * sd + (i64)(j0 + r) * rows + i0 + x] = tile[x][r];
}

// transpose_square transposes a (n x n) in place: a block takes the tiles (i, j)
// and (j, i), j <= i, of 32 x 32.
extern "C" __global__ void transpose_square(const int *sub, int n, double *a, i64 sa) {
	__shared__ double low[32][33], high[32][33];
	double *m = a + member(sub) * sa;
	const int ti = triangle_row(blockIdx.x), tj = blockIdx.x - ti * (ti + 1) / 2, i0 = ti * 32, j0 = tj * 32;
	const int x = threadIdx.x % 32, y = threadIdx.x / 32;
	for (int r = y; r < 32; r += 8) {
		if (i0 + r < n && j0 + x < n)
			low[r][x] = m[(i64)(i0 + r) * n + j0 + x];
		if (j0 + r < n && i0 + x < n)
			high[r][x] = m[(i64)(j0 + r) * n + i0 + x];
	}
	__syncthreads();
	for (int r = y; r < 32; r += 8) {
		if (i0 + r < n && j0 + x < n)
			m[(i64)(i0 + r) * n + j0 + x] = high[x][r];
		if (j0 + r < n && i0 + x < n)
			m[(i64)(j0 + r) * n + i0 + x] = low[x][r];
	}
}

// bounded reports whether a range, from log θ to log θ, is one.
__device__ __forceinline__ bool bounded(const double *range) { return range[1] > range[0]; }

// log_at is log θ at entry x of a free vector.
__device__ __forceinline__ double log_at(double x, const double *range) {
	return bounded(range) ? fmin(range[0] + (range[1] - range[0]) / (1 + exp(-x)), range[1]) : x;
}

// slope_at is its derivative by x, at a bounded θ.
__device__ __forceinline__ double slope_at(double theta, const double *range) {
	const double width = range[1] - range[0], s = (log(theta) - range[0]) / width;
	return width * fmax(s * (1 - s), 0.0);
}

// What is known of a member, see expand: value of its parameters, then the ranges of its
// free vector's entries.
struct Known {
	const int *list;
	const double *value, *ranges;
	int params, frees;
	double floor;
	__device__ Known(i64 k, const int *lists, int width, const double *known, int params, int frees, double floor)
		: list(lists + k * width), value(known + k * (params + 2 * frees)), ranges(value + params), params(params), frees(frees), floor(floor) {}

	// expand is for one member, by a block.
	__device__ void expand(const double *f, double *t) const {
		for (int p = threadIdx.x; p < params; p += blockDim.x) {
			t[p] = value[p];
			if (p == params - 1 && !(value[p] > 0)) {
				const double *range = ranges + 2 * (frees - 1);
				const double e = exp(log_at(f[frees - 1], range));
				t[p] = bounded(range) ? e : floor + e;
			}
		}
		__syncthreads();
		for (int i = threadIdx.x; i < list[0]; i += blockDim.x)
			t[list[1 + i]] = exp(log_at(f[i], ranges + 2 * i));
	}

	// collect is entry i of its chain rule.
	__device__ double collect(int i, const double *theta, const double *grad) const {
		const double *range = ranges + 2 * i;
		double v = 0;
		if (i < list[0]) {
			v = grad[list[1 + i]];
			if (bounded(range))
				v *= slope_at(theta[list[1 + i]], range);
		}
		if (i == frees - 1) {
			const double noise = theta[params - 1];
			double slope = noise - floor;
			if (value[params - 1] > 0)
				slope = 0;
			else if (bounded(range))
				slope = noise * slope_at(noise, range);
			v = grad[params - 1] * slope;
		}
		return v;
	}
};

// expand computes θ from free vectors: exp of log_at at the free places, which list gives
// per member behind their number, what known has elsewhere, floor + exp(ρ) last. known
// is per member, of every parameter what it is where it is not free (1, or what it is
// fixed at; of the noise 0 where it is not fixed) and of every entry of a free vector
// its range, of ρ last. One block a member.
extern "C" __global__ void expand(const int *sub, const int *lists, int width, const double *known, int params, int frees,
		double floor, const double *free, i64 sf, double *theta, i64 st) {
	const i64 k = member(sub);
	Known(k, lists, width, known, params, frees, floor).expand(free + k * sf, theta + k * st);
}

// collect is expand's chain rule.
extern "C" __global__ void collect(const int *sub, const int *lists, int width, const double *known, int params, int frees,
		double floor, const double *theta, i64 st, const double *grad, i64 sg, double *out, i64 so) {
	const i64 k = member(sub);
	const Known of(k, lists, width, known, params, frees, floor);
	for (int i = threadIdx.x; i < frees; i += blockDim.x)
		out[k * so + i] = of.collect(i, theta + k * st, grad + k * sg);
}
