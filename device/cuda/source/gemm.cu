// Matrix products.
//
// A block computes a tile of TM x TN by warps of WM x WN each, taking the inner
// dimension in slices of 16 through two or three buffers in shared memory: the next
// slices are on their way while one is worked on. A thread holds the entries of the
// accumulator that the tensor cores' FP64 instructions give it: in every 8 x 8
// piece row lane/4, columns 2(lane%4) and the next. Every entry is summed in the
// order of the inner dimension, from zero on, so that its bits do not depend on the tiles.

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define ASYNC_COPY
#define TENSOR
#if __CUDA_ARCH__ >= 900
#define TENSOR_WIDE
#endif
#elif defined(EMULATE_TENSOR)
#define TENSOR
#endif

// fetch copies a number to shared memory, or 0 where it is not valid.
__device__ inline void fetch(double *to, const double *from, bool valid) {
#ifdef ASYNC_COPY
	const unsigned at = (unsigned)__cvta_generic_to_shared(to);
	const int bytes = valid ? 8 : 0; // the rest is filled with zeros
	asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
#else
	*to = valid ? *from : 0;
#endif
}

// fetch_pair copies the first of two numbers to shared memory, 0 to 2 of them, and zeros in place of
// the others. Both addresses are multiples of 16.
__device__ inline void fetch_pair(double *to, const double *from, int valid) {
#ifdef ASYNC_COPY
	const unsigned at = (unsigned)__cvta_generic_to_shared(to);
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(8 * valid) : "memory");
#else
#ifdef EMULATE
	if (((uintptr_t)to | (uintptr_t)from) % 16)
		fprintf(stderr, "emulate.h: a pair of numbers is not aligned\n"), abort();
#endif
	if (valid == 2) {
		*(double2 *)to = *(const double2 *)from;
	} else {
		to[0] = valid ? from[0] : 0;
		to[1] = 0;
	}
#endif
}

// fetched waits for all fetches but those of the last `left` commits.
template <int left> __device__ inline void fetched() {
#ifdef ASYNC_COPY
	asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

__device__ inline void commit() {
#ifdef ASYNC_COPY
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

#ifdef TENSOR
// mma adds the product of an 8 x 4 and a 4 x 8 matrix; the lane holds entry
// (lane/4, lane%4) of the one and (lane%4, lane/4) of the other.
__device__ inline void mma(double c[2], double a, double b) {
#ifdef EMULATE
	memcpy(&emulate::slots[emulate::current], &a, 8);
	memcpy(&emulate::slots2[emulate::current], &b, 8);
	__syncwarp();
	const unsigned base = emulate::current & ~31u, lane = emulate::current & 31u;
	for (unsigned x = 0; x < 2; x++)
		for (unsigned l = 0; l < 4; l++) {
			double u, v;
			memcpy(&u, &emulate::slots[base + lane / 4 * 4 + l], 8);
			memcpy(&v, &emulate::slots2[base + (2 * (lane % 4) + x) * 4 + l], 8);
			c[x] = fma(u, v, c[x]);
		}
	__syncwarp();
#else
	asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
				 : "+d"(c[0]), "+d"(c[1])
				 : "d"(a), "d"(b));
#endif
}
#endif

#ifdef TENSOR_WIDE
// mma_wide adds the product of a 16 x 8 and an 8 x 8 matrix, Hopper's own size: as
// four of mma, for rows 0 to 7 (c, a0, a2) and 8 to 15 (d, a1, a3), inner
// index 0 to 3 (a0, a1, b0) and 4 to 7 (a2, a3, b1).
__device__ inline void mma_wide(double c[2], double d[2], double a0, double a1, double a2, double a3, double b0, double b1) {
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
				 : "+d"(c[0]), "+d"(c[1]), "+d"(d[0]), "+d"(d[1])
				 : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
}
#endif

// Tile is such a block's work, with the inner dimension through so many stages of shared memory. With
// pairs, two numbers are copied at a time: matrices begin at multiples of 16 bytes and rows have
// an even pitch.
template <int TM, int TN, int WM, int WN, bool TA, bool TB, int stages = 2, bool pairs = false> struct Tile {
	static const int rows = TM, cols = TN;
	static const bool trans_a = TA, trans_b = TB;
	static const int depth = 16, threads = TM / WM * (TN / WN) * 32;
	// Leading dimensions are 4 modulo 16 doubles: the lanes of a half-warp then
	// read from different banks.
	static const int lda = TA ? TM + 4 : depth + 4, ldb = TB ? depth + 4 : TN + 4;
	static const int size_a = (TA ? depth : TM) * lda, size_b = (TB ? TN : depth) * ldb;
	static const int doubles = stages * (size_a + size_b); // of shared memory

	double acc[WM / 8][WN / 8][2];

	__device__ void clear() {
#pragma unroll
		for (int i = 0; i < WM / 8; i++)
#pragma unroll
			for (int j = 0; j < WN / 8; j++)
				acc[i][j][0] = acc[i][j][1] = 0;
	}

	// load asks for a slice: a is op(a)'s first row and b op(b)'s first column of the tile, of which
	// so many are valid.
	__device__ static void load(double *sa, double *sb, const double *a, int la, int valid_a, const double *b, int lb, int valid_b,
			int from, int to) {
		load_side<TM, TA, lda>(sa, a, la, valid_a, from, to);
		load_side<TN, !TB, ldb>(sb, b, lb, valid_b, from, to);
	}

	// load_side does so for an operand of T rows or columns, which lie one beside the other where along is
	// set, else the entries of the inner dimension do. No matrix has 2^31 entries.
	template <int T, bool along, int ld> __device__ static void load_side(double *s, const double *x, int lx, int valid, int from, int to) {
		const int step = pairs ? 2 : 1, across = (along ? T : depth) / step;
#pragma unroll
		for (int u = 0; u < T * depth / step / threads; u++) {
			const int e = threadIdx.x + u * threads, first = e % across * step, line = e / across;
			const int i = along ? first : line, l = along ? line : first;
			double *at = s + (along ? l * ld + i : i * ld + l);
			if (pairs) {
				const int n = i >= valid || from + l >= to ? 0 : min(2, along ? valid - i : to - from - l);
				fetch_pair(at, n ? x + (along ? (from + l) * lx + i : i * lx + from + l) : x, n);
			} else {
				const bool here = i < valid && from + l < to;
				fetch(at, here ? x + (along ? (from + l) * lx + i : i * lx + from + l) : x, here);
			}
		}
	}

	__device__ static double at_a(const double *s, int i, int l) { return s[TA ? l * lda + i : i * lda + l]; }
	__device__ static double at_b(const double *s, int l, int j) { return s[TB ? j * ldb + l : l * ldb + j]; }
	__device__ static int row0() { return threadIdx.x / 32 % (TM / WM) * WM + threadIdx.x % 32 / 4; }
	__device__ static int col0() { return threadIdx.x / 32 / (TM / WM) * WN; }

	__device__ void slice(const double *sa, const double *sb) {
		const int lane = threadIdx.x % 32, i0 = row0(), j0 = col0();
#if defined(TENSOR_WIDE)
// Tiles of 128 rows have 128 registers a thread, which is enough for one step of the loop at a time.
#pragma unroll (threads > 128 ? 1 : 2)
		for (int l = 0; l < depth; l += 8) {
			double x[WM / 8][2], y[WN / 8][2];
#pragma unroll
			for (int u = 0; u < 2; u++) {
#pragma unroll
				for (int i = 0; i < WM / 8; i++)
					x[i][u] = at_a(sa, i0 + 8 * i, l + 4 * u + lane % 4);
#pragma unroll
				for (int j = 0; j < WN / 8; j++)
					y[j][u] = at_b(sb, l + 4 * u + lane % 4, j0 + 8 * j + lane / 4);
			}
#pragma unroll
			for (int i = 0; i < WM / 8; i += 2)
#pragma unroll
				for (int j = 0; j < WN / 8; j++)
					mma_wide(acc[i][j], acc[i + 1][j], x[i][0], x[i + 1][0], x[i][1], x[i + 1][1], y[j][0], y[j][1]);
		}
#elif defined(TENSOR)
#pragma unroll
		for (int l = 0; l < depth; l += 4) {
			double x[WM / 8], y[WN / 8];
#pragma unroll
			for (int i = 0; i < WM / 8; i++)
				x[i] = at_a(sa, i0 + 8 * i, l + lane % 4);
#pragma unroll
			for (int j = 0; j < WN / 8; j++)
				y[j] = at_b(sb, l + lane % 4, j0 + 8 * j + lane / 4);
#pragma unroll
			for (int i = 0; i < WM / 8; i++)
#pragma unroll
				for (int j = 0; j < WN / 8; j++)
					mma(acc[i][j], x[i], y[j]);
		}
#else
		for (int l = 0; l < depth; l++) {
			double y[WN / 8][2];
#pragma unroll
			for (int j = 0; j < WN / 8; j++)
				for (int c = 0; c < 2; c++)
					y[j][c] = at_b(sb, l, j0 + 8 * j + 2 * (lane % 4) + c);
#pragma unroll
			for (int i = 0; i < WM / 8; i++) {
				const double x = at_a(sa, i0 + 8 * i, l);
#pragma unroll
				for (int j = 0; j < WN / 8; j++)
					for (int c = 0; c < 2; c++)
						acc[i][j][c] = fma(x, y[j][c], acc[i][j][c]);
			}
		}
#endif
	}

	// multiply adds the product over from <= l < to. All threads must call; the
	// shared memory is free again when it returns.
	__device__ void multiply(double *shared, const double *a, int la, int valid_a, const double *b, int lb, int valid_b, int from,
			int to) {
		double *sa = shared, *sb = shared + stages * size_a; // so many buffers each
#pragma unroll
		for (int s = 0; s < stages - 1; s++) {
			if (from + s * depth < to)
				load(sa + s * size_a, sb + s * size_b, a, la, valid_a, b, lb, valid_b, from + s * depth, to);
			commit();
		}
		for (int l = from, s = 0, next = stages - 1; l < to; l += depth) {
			fetched<stages - 2>();
			__syncthreads(); // the slice is there for all, and nobody works on the one before
			if (l + (stages - 1) * depth < to)
				load(sa + next * size_a, sb + next * size_b, a, la, valid_a, b, lb, valid_b, l + (stages - 1) * depth, to);
			commit();
			slice(sa + s * size_a, sb + s * size_b);
			s = s + 1 == stages ? 0 : s + 1;
			next = next + 1 == stages ? 0 : next + 1;
		}
		__syncthreads();
	}

	// each calls f(row, column, value) for the thread's entries of the tile.
	template <class F> __device__ void each(F f) const {
		const int i0 = row0(), j0 = col0() + 2 * (threadIdx.x % 4);
#pragma unroll
		for (int i = 0; i < WM / 8; i++)
#pragma unroll
			for (int j = 0; j < WN / 8; j++) {
				f(i0 + 8 * i, j0 + 8 * j, acc[i][j][0]);
				f(i0 + 8 * i, j0 + 8 * j + 1, acc[i][j][1]);
			}
	}
};

// RESIDENT is how many blocks of products and solves in tiles of 64 a multiprocessor
// is to hold at least, which bounds their registers. Three make one wave of the solves with 128 columns
// of 144 matrices: .88 ms where two took 1.34, on an H100 with M = 800.
#ifndef RESIDENT
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define RESIDENT 3
#else
#define RESIDENT 2
#endif
#endif

// RESIDENT_TALL is the same for those in tiles of 128 x 64, of which Hopper has shared memory for two.
#ifndef RESIDENT_TALL
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define RESIDENT_TALL 2
#else
#define RESIDENT_TALL 1
#endif
#endif

// What of a product is wanted or known, as bits.
enum Part {
	whole = 0,
	lower_c = 1,  // c is square; above its diagonal come zeros
	mirrored = 2, // c is symmetric: the lower triangle is computed and copied
	lower_a = 4,  // op(a) is lower triangular
	upper_a = 8,  // op(a) is upper triangular
	lower_b = 16, // op(b) is lower triangular
};

#define PRODUCT_PARAMETERS                                                                                              \
	const int *sub, int m, int n, int k, double alpha, const double *a, i64 sa, int lda, const double *b, i64 sb,       \
		int ldb, double beta, double *c, i64 sc, int ldc, int part
#define PRODUCT_ARGUMENTS sub, m, n, k, alpha, a, sa, lda, b, sb, ldb, beta, c, sc, ldc, part

// gemm computes c = alpha op(a) op(b) + beta c for m x n matrices c; blockIdx.x
// counts tiles row by row.
template <class T> __device__ void gemm(double *shared, PRODUCT_PARAMETERS) {
	const bool TA = T::trans_a, TB = T::trans_b;
	const i64 q = member(sub);
	const int across = ceil_div(n, T::cols), i0 = blockIdx.x / across * T::rows, j0 = blockIdx.x % across * T::cols;
	double *out = c + q * sc;
	const bool above = part & (lower_c | mirrored) && j0 > i0 + T::rows - 1;
	if (i0 >= m || (above && part & mirrored))
		return;
	T tile;
	tile.clear();
	if (!above) {
		const int from = max(part & upper_a ? i0 : 0, part & lower_b ? j0 : 0), to = part & lower_a ? min(k, i0 + T::rows) : k;
		tile.multiply(shared, a + q * sa + (TA ? (i64)i0 : (i64)i0 * lda), lda, m - i0,
			b + q * sb + (TB ? (i64)j0 * ldb : (i64)j0), ldb, n - j0, from, to);
	}
	tile.each([&](int i, int j, double v) {
		i += i0, j += j0;
		if (i >= m || j >= n)
			return;
		double *at = out + (i64)i * ldc + j;
		if (part & lower_c) {
			*at = j > i ? 0 : alpha * v;
		} else if (part & mirrored) {
			if (j > i)
				return;
			v = beta == 0 ? alpha * v : alpha * v + beta * *at;
			*at = v;
			out[(i64)j * ldc + i] = v;
		} else {
			*at = beta == 0 ? alpha * v : alpha * v + beta * *at;
		}
	});
}

// gemm_here is gemm with shared memory of its own.
template <class T> __device__ void gemm_here(PRODUCT_PARAMETERS) {
	__shared__ double shared[T::doubles];
	gemm<T>(shared, PRODUCT_ARGUMENTS);
}

template <bool TA, bool TB> using Tile64 = Tile<64, 64, 32, 32, TA, TB>;
template <bool TA, bool TB> using Tile32 = Tile<32, 32, 16, 16, TA, TB>;
template <bool TA, bool TB> using Tile128 = Tile<128, 64, 32, 32, TA, TB, 3, true>;

extern "C" __global__ void __launch_bounds__(128, RESIDENT) gemm64_nn(PRODUCT_PARAMETERS) {
	gemm_here<Tile64<false, false>>(PRODUCT_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(128, RESIDENT) gemm64_nt(PRODUCT_PARAMETERS) {
	gemm_here<Tile64<false, true>>(PRODUCT_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(128, RESIDENT) gemm64_tn(PRODUCT_PARAMETERS) {
	gemm_here<Tile64<true, false>>(PRODUCT_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(128, RESIDENT) gemm64_tt(PRODUCT_PARAMETERS) {
	gemm_here<Tile64<true, true>>(PRODUCT_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(128, 2) gemm32_nn(PRODUCT_PARAMETERS) {
	gemm_here<Tile32<false, false>>(PRODUCT_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(128, 2) gemm32_nt(PRODUCT_PARAMETERS) {
	gemm_here<Tile32<false, true>>(PRODUCT_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(128, 2) gemm32_tn(PRODUCT_PARAMETERS) {
	gemm_here<Tile32<true, false>>(PRODUCT_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(128, 2) gemm32_tt(PRODUCT_PARAMETERS) {
	gemm_here<Tile32<true, true>>(PRODUCT_ARGUMENTS);
}

// In tiles of 128 x 64: three quarters of the traffic that tiles of 64 have for an operation, and half of
// the instructions that copy. Nothing multiplies two transposed matrices of such sizes.
extern "C" __global__ void __launch_bounds__(256, RESIDENT_TALL) gemm128_nn(PRODUCT_PARAMETERS) {
	DYNAMIC_SHARED(shared);
	gemm<Tile128<false, false>>(shared, PRODUCT_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(256, RESIDENT_TALL) gemm128_nt(PRODUCT_PARAMETERS) {
	DYNAMIC_SHARED(shared);
	gemm<Tile128<false, true>>(shared, PRODUCT_ARGUMENTS);
}
extern "C" __global__ void __launch_bounds__(256, RESIDENT_TALL) gemm128_tn(PRODUCT_PARAMETERS) {
	DYNAMIC_SHARED(shared);
	gemm<Tile128<true, false>>(shared, PRODUCT_ARGUMENTS);
}

// gemm64_pairs computes c = alpha a b for the pairs of diagonal blocks of h rows of n x n
// matrices, blockIdx.z counting them: a, b and c begin in the first pair and lie 2h rows and
// columns further in the next. A product has h columns and as many rows as the second block of
// its pair, h or what is left; the inner dimension is the rows with lower_a, else h.
extern "C" __global__ void __launch_bounds__(128, RESIDENT) gemm64_pairs(const int *sub, int n, int h, double alpha, const double *a, i64 sa,
		const double *b, i64 sb, double *c, i64 sc, int part) {
	const int p = 2 * h * blockIdx.z, rows = min(h, n - p - h);
	const i64 at = (i64)p * (n + 1);
	gemm_here<Tile64<false, false>>(sub, rows, h, part & lower_a ? rows : h, alpha, a + at, sa, n, b + at, sb, n, 0, c + at, sc, n, part);
}

// row_sum is Σ_j a_j x_j over n entries, by a warp; x_j is x[index[j]] with an index.
__device__ inline double row_sum(const double *a, const double *x, const int *index, int n) {
	double s = 0;
	for (int j = threadIdx.x % 32; j < n; j += 32)
		s = fma(a[j], x[index ? index[j] : j], s);
	return warp_sum(s);
}

// gemv computes c = alpha a x + beta c for a (m x n), a warp a row. x is the
// member's own with a stride, or common (sx = 0), perhaps gathered.
extern "C" __global__ void gemv(const int *sub, int m, int n, double alpha, const double *a, i64 sa, const double *x, i64 sx,
		const int *index, double beta, double *c, i64 sc) {
	const i64 q = member(sub);
	const int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
	if (i >= m)
		return;
	const double s = row_sum(a + q * sa + (i64)i * n, x + q * sx, index, n);
	if (threadIdx.x % 32 == 0) {
		double *at = c + q * sc + i;
		*at = beta == 0 ? alpha * s : alpha * s + beta * *at;
	}
}
