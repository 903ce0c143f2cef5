// Cholesky factors and triangular solves, in panels of 64.

#define PANEL 64
#define PITCH 65 // of a panel in shared memory: odd, so that columns lie in different banks

// substitute replaces the n numbers c[0], c[step], … by L⁻¹c, or by L⁻ᵀc if
// back, on one thread. n is a multiple of 8; inverse holds 1/L_ii; rows of L are pitch apart.
template <bool back, int pitch = PITCH> __device__ void substitute(double *c, int step, const double *l, const double *inverse, int n) {
	for (int s = 0; s < n; s += 8) {
		const int i0 = back ? n - 8 - s : s;
		double x[8];
#pragma unroll
		for (int i = 0; i < 8; i++)
			x[i] = c[(i0 + i) * step];
		// More of it at once is no room for where much else is in registers.
#pragma unroll (pitch == PITCH ? 4 : 2)
		for (int j = back ? i0 + 8 : 0; j < (back ? n : i0); j++) {
			const double y = c[j * step];
#pragma unroll
			for (int i = 0; i < 8; i++)
				x[i] = fma(-(back ? l[j * pitch + i0 + i] : l[(i0 + i) * pitch + j]), y, x[i]);
		}
#pragma unroll
		for (int r = 0; r < 8; r++) {
			const int i = back ? 7 - r : r;
			x[i] *= inverse[i0 + i];
#pragma unroll
			for (int u = 0; u < 8; u++)
				if (back ? u < i : u > i)
					x[u] = fma(-(back ? l[(i0 + i) * pitch + i0 + u] : l[(i0 + u) * pitch + i0 + i]), x[i], x[u]);
		}
#pragma unroll
		for (int i = 0; i < 8; i++)
			c[(i0 + i) * step] = x[i];
	}
}

__device__ inline int round8(int n) { return (n + 7) / 8 * 8; }

// load_triangle loads an h x h lower triangle, extended by ones on the diagonal
// to a multiple of 8, with zeros above. All threads must call.
__device__ inline void load_triangle(double *l, const double *from, i64 ld, int h) {
	const int r = round8(h);
	for (int e = threadIdx.x; e < r * r; e += blockDim.x) {
		const int i = e / r, j = e % r;
		l[i * PITCH + j] = i < h && j <= i ? from[i * ld + j] : i == j;
	}
}

// invert_diagonal sets inverse to 1/L_ii.
template <int pitch = PITCH> __device__ inline void invert_diagonal(double *inverse, const double *l, int h) {
	for (int i = threadIdx.x; i < round8(h); i += blockDim.x)
		inverse[i] = 1 / l[i * pitch + i];
}

#define SOLVE_PARAMETERS const int *sub, int n, int cols, const double *l, i64 sl, double *b, i64 sb, int lower
#define SOLVE_ARGUMENTS sub, n, cols, l, sl, b, sb, lower

// solve replaces b (n x cols) by L⁻¹b, or L⁻ᵀb if trans. A block takes TN columns
// from one end to the other: what earlier panels contribute by a product, then
// the panel's own triangle by substitution. With lower, only entries on and
// below the diagonal are wanted of a square b (and trans): the rest is garbage.
template <int TN, bool trans> __device__ void solve(SOLVE_PARAMETERS) {
	typedef Tile<PANEL, TN, 32, TN / 2, trans, false> T;
	const int pitch = TN + 1;
	DYNAMIC_SHARED(shared);
	double *c = shared, *tri = c + PANEL * pitch; // take the place of the product's buffers
	__shared__ double inverse[PANEL];
	const i64 q = member(sub);
	const int j0 = blockIdx.x * TN;
	l += q * sl;
	b += q * sb + j0;
	const int panels = ceil_div(n, PANEL);
	for (int s = 0; s < panels; s++) {
		const int p = (trans ? panels - 1 - s : s) * PANEL, h = min(PANEL, n - p);
		if (lower && p + h <= j0)
			break;
		T tile;
		tile.clear();
		if (trans)
			tile.multiply(shared, l + p, n, h, b, cols, cols - j0, p + PANEL, n);
		else
			tile.multiply(shared, l + (i64)p * n, n, h, b, cols, cols - j0, 0, p);
		tile.each([&](int i, int j, double v) {
			c[i * pitch + j] = i < h && j < cols - j0 ? b[(i64)(p + i) * cols + j] - v : 0;
		});
		load_triangle(tri, l + (i64)p * n + p, n, h);
		__syncthreads();
		invert_diagonal(inverse, tri, h);
		__syncthreads();
		if (threadIdx.x < TN)
			substitute<trans>(c + threadIdx.x, pitch, tri, inverse, round8(h));
		__syncthreads();
		for (int e = threadIdx.x; e < h * TN; e += blockDim.x) {
			const int i = e / TN, j = e % TN;
			if (j < cols - j0)
				b[(i64)(p + i) * cols + j] = c[i * pitch + j];
		}
		__syncthreads();
	}
}

extern "C" __global__ void __launch_bounds__(128, RESIDENT) solve64(SOLVE_PARAMETERS) {
	solve<64, false>(SOLVE_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(128, RESIDENT) solve64_back(SOLVE_PARAMETERS) {
	solve<64, true>(SOLVE_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(128, 2) solve32(SOLVE_PARAMETERS) {
	solve<32, false>(SOLVE_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(128, 2) solve32_back(SOLVE_PARAMETERS) {
	solve<32, true>(SOLVE_ARGUMENTS);
}

// substitute_warp is substitute for one column of up to 64, by a warp: every lane
// keeps two entries.
template <bool back> __device__ void substitute_warp(double *c, const double *l, const double *inverse, int n) {
	const int lane = threadIdx.x % 32;
	double x[2] = {lane < n ? c[lane] : 0, lane + 32 < n ? c[lane + 32] : 0};
	for (int s = 0; s < n; s++) {
		const int i = back ? n - 1 - s : s;
		const double y = __shfl_sync(~0u, i < 32 ? x[0] : x[1], i % 32) * inverse[i];
#pragma unroll
		for (int u = 0; u < 2; u++) {
			const int r = lane + 32 * u;
			if (r == i)
				x[u] = y;
			else if (r < n && (back ? r < i : r > i))
				x[u] = fma(-(back ? l[i * PITCH + r] : l[r * PITCH + i]), y, x[u]);
		}
	}
#pragma unroll
	for (int u = 0; u < 2; u++)
		if (lane + 32 * u < n)
			c[lane + 32 * u] = x[u];
}

// solve_vector solves with one right-hand side, a block a member of one warp per
// 8 rows of a panel.
template <bool trans> __device__ void solve_vector(const int *sub, int n, const double *l, i64 sl, double *b, i64 sb) {
	DYNAMIC_SHARED(tri);
	__shared__ double inverse[PANEL], c[PANEL], part[8][32];
	const i64 q = member(sub);
	l += q * sl;
	b += q * sb;
	const int panels = ceil_div(n, PANEL), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	for (int s = 0; s < panels; s++) {
		const int p = (trans ? panels - 1 - s : s) * PANEL, h = min(PANEL, n - p);
		load_triangle(tri, l + (i64)p * n + p, n, h);
		if (!trans) {
			for (int i = warp; i < PANEL; i += 8) {
				const double v = i < h ? row_sum(l + (i64)(p + i) * n, b, nullptr, p) : 0;
				if (lane == 0)
					c[i] = i < h ? b[p + i] - v : 0;
			}
		} else {
			// Columns p.. of the rows below: a lane a column, the warps take rows in turn.
			for (int i0 = 0; i0 < PANEL; i0 += 32) {
				double v = 0;
				if (i0 + lane < h)
					for (int r = p + PANEL + warp; r < n; r += 8)
						v = fma(l[(i64)r * n + p + i0 + lane], b[r], v);
				part[warp][lane] = v;
				__syncthreads();
				if (warp == 0) {
					v = 0;
					for (int w = 0; w < 8; w++)
						v += part[w][lane];
					c[i0 + lane] = i0 + lane < h ? b[p + i0 + lane] - v : 0;
				}
				__syncthreads();
			}
		}
		__syncthreads();
		invert_diagonal(inverse, tri, h);
		__syncthreads();
		if (warp == 0)
			substitute_warp<trans>(c, tri, inverse, h);
		__syncthreads();
		if ((int)threadIdx.x < h)
			b[p + threadIdx.x] = c[threadIdx.x];
		__syncthreads();
	}
}

extern "C" __global__ void __launch_bounds__(256, 1) solve1(const int *sub, int n, const double *l, i64 sl, double *b, i64 sb) {
	solve_vector<false>(sub, n, l, sl, b, sb);
}

extern "C" __global__ void __launch_bounds__(256, 1) solve1_back(const int *sub, int n, const double *l, i64 sl, double *b, i64 sb) {
	solve_vector<true>(sub, n, l, sl, b, sb);
}

// solve_both replaces a symmetric s, of which the lower triangle is read, by
// L⁻ᵀ s L⁻¹ for n up to 64, a block a member: L⁻ᵀs, transposed, L⁻ᵀ again.
extern "C" __global__ void __launch_bounds__(64, 1) solve_both(const int *sub, int n, const double *l, i64 sl, double *s, i64 ss) {
	DYNAMIC_SHARED(shared);
	__shared__ double inverse[PANEL];
	double *c = shared, *tri = shared + PANEL * PITCH;
	const i64 q = member(sub);
	s += q * ss;
	const int r = round8(n), t = threadIdx.x;
	load_triangle(tri, l + q * sl, n, n);
	for (int e = t; e < r * r; e += blockDim.x) {
		const int i = e / r, j = e % r;
		c[i * PITCH + j] = i < n && j < n ? (j <= i ? s[i * n + j] : s[j * n + i]) : 0;
	}
	__syncthreads();
	invert_diagonal(inverse, tri, n);
	__syncthreads();
	if (t < n)
		substitute<true>(c + t, PITCH, tri, inverse, r);
	__syncthreads();
	for (int e = t; e < r * r; e += blockDim.x) {
		const int i = e / r, j = e % r;
		if (j < i) {
			const double v = c[i * PITCH + j];
			c[i * PITCH + j] = c[j * PITCH + i];
			c[j * PITCH + i] = v;
		}
	}
	__syncthreads();
	if (t < n)
		substitute<true>(c + t, PITCH, tri, inverse, r);
	__syncthreads();
	for (int e = t; e < n * n; e += blockDim.x) {
		const int i = e / n, j = e % n;
		s[e] = j <= i ? c[i * PITCH + j] : c[j * PITCH + i];
	}
}

// invert_triangles sets the diagonal blocks of 64 rows of w to the inverses of L's, and what is
// above the diagonal in them and in the blocks to their right to zeros. A block takes 32 columns.
extern "C" __global__ void __launch_bounds__(128, 2) invert_triangles(const int *sub, int n, const double *l, i64 sl, double *w, i64 sw) {
	DYNAMIC_SHARED(shared);
	__shared__ double inverse[PANEL];
	double *tri = shared, *c = shared + PANEL * PITCH;
	const i64 q = member(sub);
	const int p = blockIdx.x / 2 * PANEL, j0 = blockIdx.x % 2 * 32, h = min(PANEL, n - p), r = round8(h);
	l += q * sl + (i64)p * n + p;
	w += q * sw + (i64)p * n + p;
	load_triangle(tri, l, n, h);
	for (int e = threadIdx.x; e < r * 32; e += blockDim.x)
		c[e / 32 * 33 + e % 32] = e / 32 == j0 + e % 32;
	__syncthreads();
	invert_diagonal(inverse, tri, h);
	__syncthreads();
	if (threadIdx.x < 32)
		substitute<false>(c + threadIdx.x, 33, tri, inverse, r);
	__syncthreads();
	for (int e = threadIdx.x; e < h * 32; e += blockDim.x) {
		const int i = e / 32, j = j0 + e % 32;
		if (j < h)
			w[(i64)i * n + j] = c[i * 33 + e % 32];
		if (p + PANEL + j < n)
			w[(i64)i * n + PANEL + j] = 0;
	}
}

// factor replaces an h x h lower triangle in shared memory by its Cholesky
// factor. failed gets the index of the first pivot that is not positive and finite, −1 where all
// are. All threads must call; they may read the factor and failed on return.
template <int pitch = PITCH> __device__ inline void factor(double *a, int h, int *failed) {
	const int rows = pitch - 1; // the most there are
	const int i = threadIdx.x % rows, step = blockDim.x / rows;
	int bad = -1; // all threads see the same pivots
	for (int j = 0; j < h; j++) {
		double d = a[j * pitch + j];
		if (!(d > 0 && isfinite(d))) {
			bad = bad < 0 ? j : bad;
			d = 1;
		}
		if (i > j && i < h) {
			const double v = a[i * pitch + j] / d;
			for (int k = j + 1 + threadIdx.x / rows; k <= i; k += step)
				a[i * pitch + k] = fma(-v, a[k * pitch + j], a[i * pitch + k]);
		}
		__syncthreads();
	}
	// The columns still lack the division by the root of their pivot.
	for (int e = threadIdx.x; e < h * h; e += blockDim.x) {
		const int r = e / h, j = e % h;
		if (j < r)
			a[r * pitch + j] /= sqrt(a[j * pitch + j]);
	}
	__syncthreads();
	for (int r = threadIdx.x; r < h; r += blockDim.x)
		a[r * pitch + r] = sqrt(a[r * pitch + r]);
	if (threadIdx.x == 0)
		*failed = bad;
	__syncthreads();
}

// cholesky factors matrices of up to 64 rows, a block a member. info may be null.
extern "C" __global__ void __launch_bounds__(256, 1) cholesky(const int *sub, int n, double *a, i64 sa, double *info, i64 si) {
	DYNAMIC_SHARED(tri);
	__shared__ int failed;
	const i64 q = member(sub);
	a += q * sa;
	load_triangle(tri, a, n, n);
	__syncthreads();
	factor(tri, n, &failed);
	for (int e = threadIdx.x; e < n * n; e += blockDim.x) {
		const int i = e / n, j = e % n;
		a[e] = failed >= 0 ? i == j : j <= i ? tri[i * PITCH + j] : 0;
	}
	if (threadIdx.x == 0 && failed >= 0 && info && info[q * si] == 0)
		info[q * si] = failed + 1;
}

// A panel is the columns p.. of matrices that lack nothing from the columns before: a
// triangle of h rows, kept in diag (by place in sub, n x 64) since others still read the
// matrix, and the rows below, of which a block takes ROWS_BELOW, as many as 64 KiB of shared
// memory hold beside the triangle. status, by place in sub, gets 1 plus the first pivot that
// failed.
#define ROWS_BELOW 56

// panel_triangle factors the triangle in shared memory; keep: it goes to diag and status.
__device__ inline void panel_triangle(double *tri, int n, int p, const double *a, double *diag, int *status, bool keep) {
	__shared__ int failed;
	const int h = min(PANEL, n - p);
	load_triangle(tri, a + (i64)p * n + p, n, h);
	__syncthreads();
	factor(tri, h, &failed);
	if (!keep)
		return;
	for (int e = threadIdx.x; e < h * PANEL; e += blockDim.x) {
		const int i = e / PANEL, j = e % PANEL;
		diag[((i64)blockIdx.y * n + p + i) * PANEL + j] = j <= i ? tri[i * PITCH + j] : 0;
	}
	if (threadIdx.x == 0 && failed >= 0 && status[blockIdx.y] == 0)
		status[blockIdx.y] = p + failed + 1;
}

// panel_below solves the block's rows below with the triangle; c is memory for them.
__device__ inline void panel_below(const double *tri, double *c, int n, int p, double *a) {
	__shared__ double inverse[PANEL];
	const int i0 = p + PANEL + blockIdx.x * ROWS_BELOW, rows = min(ROWS_BELOW, n - i0);
	for (int e = threadIdx.x; e < rows * PANEL; e += blockDim.x)
		c[e / PANEL * PITCH + e % PANEL] = a[(i64)(i0 + e / PANEL) * n + p + e % PANEL];
	invert_diagonal(inverse, tri, min(PANEL, n - p));
	__syncthreads();
	if ((int)threadIdx.x < rows)
		substitute<false>(c + threadIdx.x * PITCH, 1, tri, inverse, PANEL);
	__syncthreads();
	for (int e = threadIdx.x; e < rows * PANEL; e += blockDim.x)
		a[(i64)(i0 + e / PANEL) * n + p + e % PANEL] = c[e / PANEL * PITCH + e % PANEL];
}

// cholesky_panel factors a panel. Every block factors the triangle for itself, the first
// keeps it: one launch, where there are places for all blocks at once.
extern "C" __global__ void __launch_bounds__(256, 1) cholesky_panel(const int *sub, int n, int p, double *a, i64 sa, double *diag, int *status) {
	DYNAMIC_SHARED(shared);
	a += member(sub) * sa;
	panel_triangle(shared, n, p, a, diag, status, blockIdx.x == 0);
	panel_below(shared, shared + PANEL * PITCH, n, p, a);
}

// cholesky_triangle and cholesky_below do so in two launches, of which the first has one block a
// member. The numbers are the same.
extern "C" __global__ void __launch_bounds__(256, 1) cholesky_triangle(const int *sub, int n, int p, double *a, i64 sa, double *diag, int *status) {
	DYNAMIC_SHARED(shared);
	panel_triangle(shared, n, p, a + member(sub) * sa, diag, status, true);
}

extern "C" __global__ void __launch_bounds__(256, 1) cholesky_below(const int *sub, int n, int p, double *a, i64 sa, const double *diag) {
	DYNAMIC_SHARED(shared);
	load_triangle(shared, diag + ((i64)blockIdx.y * n + p) * PANEL, PANEL, PANEL); // where there are rows below, it is whole
	__syncthreads();
	panel_below(shared, shared + PANEL * PITCH, n, p, a + member(sub) * sa);
}

// cholesky_end puts the panels' triangles and the zeros above into place, or the
// identity where a pivot failed.
extern "C" __global__ void cholesky_end(const int *sub, int n, double *a, i64 sa, const double *diag, const int *status, double *info,
		i64 si) {
	const int e = blockIdx.x * blockDim.x + threadIdx.x;
	if (e >= n * n)
		return;
	const i64 q = member(sub);
	const int i = e / n, j = e % n, failed = status[blockIdx.y];
	double *at = a + q * sa + e;
	if (failed)
		*at = i == j;
	else if (j > i)
		*at = 0;
	else if (i / PANEL == j / PANEL)
		*at = diag[((i64)blockIdx.y * n + i) * PANEL + j % PANEL];
	if (e == 0 && failed && info && info[q * si] == 0)
		info[q * si] = failed;
}

// log_diag sums the logarithms of a diagonal.
extern "C" __global__ void log_diag(const int *sub, int n, const double *a, i64 sa, double *out, i64 so) {
	const i64 q = member(sub);
	double s = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		s += log(a[q * sa + (i64)i * n + i]);
	s = block_sum(s);
	if (threadIdx.x == 0)
		out[q * so] = s;
}

// add_jitter adds to the diagonal of a matrix whose rows are pitch apart
// factor·(relative·mean of it + absolute), by a block.
__device__ inline void add_jitter(double *a, int n, int pitch, double relative, double absolute, double factor) {
	double s = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		s += a[(i64)i * pitch + i];
	s = factor * (relative * (block_sum(s) / n) + absolute);
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		a[(i64)i * pitch + i] += s;
}

extern "C" __global__ void jitter(const int *sub, int n, double *a, i64 sa, double relative, double absolute, const double *f, i64 sf) {
	const i64 q = member(sub);
	add_jitter(a + q * sa, n, n, relative, absolute, f[q * sf]);
}
