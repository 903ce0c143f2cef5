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

extern "C" __global__ void add_scaled(const int *sub, int n, double *dst, i64 sd, double alpha, const double *src, i64 ss) {
	ENTRY(n);
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

// expand computes θ from free vectors: exp at the free places, which list gives
// per member behind their number, 1 elsewhere, floor + exp(ρ) last. One block a
// member.
extern "C" __global__ void expand(const int *sub, const int *lists, int width, int params, int frees, double floor,
		const double *free, i64 sf, double *theta, i64 st) {
	const i64 k = member(sub);
	const int *list = lists + k * width;
	const double *f = free + k * sf;
	double *t = theta + k * st;
	for (int p = threadIdx.x; p < params; p += blockDim.x)
		t[p] = p == params - 1 ? floor + exp(f[frees - 1]) : 1;
	__syncthreads();
	for (int i = threadIdx.x; i < list[0]; i += blockDim.x)
		t[list[1 + i]] = exp(f[i]);
}

// collect is expand's chain rule.
extern "C" __global__ void collect(const int *sub, const int *lists, int width, int params, int frees, double floor,
		const double *theta, i64 st, const double *grad, i64 sg, double *out, i64 so) {
	const i64 k = member(sub);
	const int *list = lists + k * width;
	for (int i = threadIdx.x; i < frees; i += blockDim.x) {
		double v = 0;
		if (i < list[0])
			v = grad[k * sg + list[1 + i]];
		if (i == frees - 1)
			v = grad[k * sg + params - 1] * (theta[k * st + params - 1] - floor);
		out[k * so + i] = v;
	}
}
