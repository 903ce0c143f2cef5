// Kernel matrices of a structure S, which computes one entry:
//
//	S::params, S::dynamic                         its parameters; or the most, the table saying how many
//	S::columns                                    columns of the inputs that inputs takes at a time
//	double value(t, c, x, y, same)                k(x, y)
//	void gradient(adjoint, g)                     after value: g[p] += adjoint ∂k/∂log θ_p
//	void inputs(t, c, x, y, adjoint, first, g)    after value: g[i] += adjoint ∂k/∂x_(first+i)
//
// A block of 256 threads takes 32 x 32 entries, four a thread: of a rectangle
// tile by tile; of a symmetric matrix the tiles of the lower triangle, writing
// each entry on both sides; 1024 entries of a diagonal.

enum Mode {
	rectangle,
	symmetric, // a and b are the same points
	diagonal,  // entries k(a_i, a_i)
	square,    // the same points, but all entries: b is held fixed
};

#define KERNEL_PARAMETERS                                                                                               \
	const int *sub, const int *tables, const int *starts, const double *theta, i64 st, int params, const double *xa,    \
		const int *ia, int fa, int na, const double *xb, const int *ib, int fb, int nb, int dim, int mode
#define KERNEL_ARGUMENTS sub, tables, starts, theta, st, params, xa, ia, fa, na, xb, ib, fb, nb, dim, mode
#define KERNEL_POINTS                                                                                                   \
	const Points a = {xa, ia, fa, na, dim}, b = {xb, ib, fb, nb, dim};                                                   \
	const i64 k = member(sub);                                                                                          \
	const int *table = tables + starts[k];                                                                              \
	DYNAMIC_SHARED(t);                                                                                                  \
	double *c = t + params;                                                                                             \
	coefficients(table, theta + k * st, t, c)

// coefficient stands for a parameter of a kind in formulas.
__device__ inline double coefficient(int kind, double v) { return kind == 1 ? 1 / (v * v) : kind == 2 ? 1 / v : kind == 3 ? (v - 1 / v) / 2 : v; }

// coefficients puts the parameters and what stands for them in formulas into
// shared memory.
__device__ inline void coefficients(const int *table, const double *theta, double *t, double *c) {
	const int *kinds = table + table[2];
	for (int p = threadIdx.x; p < table[1]; p += blockDim.x) {
		t[p] = theta[p];
		c[p] = coefficient(kinds[p], theta[p]);
	}
	__syncthreads();
}

// entry finds a thread's q-th entry; false where there is none.
__device__ inline bool entry(int mode, int q, int na, int nb, int &i, int &j) {
	const int tile = blockIdx.x, t = threadIdx.x;
	if (mode == diagonal) {
		i = j = tile * 1024 + q * 256 + t;
		return i < na;
	}
	int ti, tj;
	if (mode == symmetric) {
		ti = triangle_row(tile);
		tj = tile - ti * (ti + 1) / 2;
	} else {
		const int across = ceil_div(nb, 32);
		ti = tile / across, tj = tile % across;
	}
	i = ti * 32 + t / 32 + 8 * q, j = tj * 32 + t % 32;
	return i < na && (mode == symmetric ? j <= i : j < nb);
}

// The thread's entries are one point for white noise where i = j and the points are the same.
__device__ inline bool same_point(int mode, int i, int j) { return mode != rectangle && i == j; }

template <class S> __device__ void forward(S &s, KERNEL_PARAMETERS, double *out, i64 so) {
	KERNEL_POINTS;
	out += k * so;
	for (int q = 0; q < 4; q++) {
		int i, j;
		if (!entry(mode, q, na, nb, i, j))
			continue;
		const double v = s.value(t, c, a.at(i), b.at(j), same_point(mode, i, j));
		if (mode == diagonal) {
			out[i] = v;
			continue;
		}
		out[(i64)i * nb + j] = v;
		if (mode == symmetric && i != j)
			out[(i64)j * nb + i] = v;
	}
}

// backward sums every parameter's gradient over the block into partial, by
// member and tile; add_partials adds these up. With a stride sg partial is the
// gradient, to which a member's only block adds.
template <class S> __device__ void backward(S &s, KERNEL_PARAMETERS, const double *bar, i64 sb, double *partial, i64 sg) {
	KERNEL_POINTS;
	double *part = c + params; // a row for each warp
	bar += k * sb;
	double g[S::params];
#pragma unroll
	for (int p = 0; p < (S::dynamic ? table[1] : S::params); p++)
		g[p] = 0;
	for (int q = 0; q < 4; q++) {
		int i, j;
		if (!entry(mode, q, na, nb, i, j))
			continue;
		double adjoint = bar[mode == diagonal ? i : (i64)i * nb + j];
		if (mode == symmetric && i != j)
			adjoint += bar[(i64)j * nb + i];
		s.value(t, c, a.at(i), b.at(j), same_point(mode, i, j));
		s.gradient(adjoint, g);
	}
	const int n = S::dynamic ? table[1] : S::params;
#pragma unroll
	for (int p = 0; p < n; p++) {
		const double v = warp_sum(g[p]);
		if (threadIdx.x % 32 == 0)
			part[threadIdx.x / 32 * params + p] = v;
	}
	__syncthreads();
	for (int p = threadIdx.x; p < n; p += blockDim.x) {
		double v = 0;
		for (int w = 0; w < 8; w++)
			v += part[w * params + p];
		if (sg)
			partial[k * sg + p] += v;
		else
			partial[(k * gridDim.x + blockIdx.x) * params + p] = v;
	}
}

// add_partials adds the blocks' sums to the gradient, a warp a parameter.
extern "C" __global__ void add_partials(const int *sub, const int *tables, const int *starts, int tiles, int params, const double *partial,
		double *grad, i64 sg) {
	const i64 k = member(sub);
	const int n = tables[starts[k] + 1];
	for (int p = threadIdx.x / 32; p < n; p += blockDim.x / 32) {
		double v = 0;
		for (int i = threadIdx.x % 32; i < tiles; i += 32)
			v += partial[(k * tiles + i) * params + p];
		v = warp_sum(v);
		if (threadIdx.x % 32 == 0)
			grad[k * sg + p] += v;
	}
}

// along adds to grad (na x dim) Σ_j bar_ij ∂k(a_i, b_j)/∂a_i, a block a row i. S
// takes the columns in groups of S::columns from first on.
template <class S> __device__ void along(S &s, KERNEL_PARAMETERS, const double *bar, i64 sb, double *grad, i64 sg) {
	KERNEL_POINTS;
	const int i = blockIdx.x;
	bar += k * sb + (i64)i * nb;
	grad += k * sg + (i64)i * dim;
	const int reads = table[3];
	for (int first = 0; first < reads; first += S::columns) {
		double g[S::columns];
#pragma unroll
		for (int l = 0; l < S::columns; l++)
			g[l] = 0;
		for (int j = threadIdx.x; j < nb; j += blockDim.x) {
			s.value(t, c, a.at(i), b.at(j), same_point(mode, i, j));
			s.inputs(t, c, a.at(i), b.at(j), bar[j], first, g);
		}
#pragma unroll
		for (int l = 0; l < S::columns; l++) {
			const double v = block_sum(g[l]);
			if (threadIdx.x == 0 && first + l < reads)
				grad[first + l] += v;
		}
	}
}
