// Many steps in one launch, for matrices so small that the launches of a step take longer
// than its arithmetic: up to 32 inducing inputs and 64 rows. A block makes all steps of a
// member. What the member carries from step to step is read once, kept in shared memory and
// written once, so that no bit depends on how many steps a launch makes. Formulas are those
// of vbks/svgp.go; kernel matrices come from the interpreter.

#define SMALL_PITCH 33 // of L, and of what it is solved with on both sides
#define SMALL_THREADS 256

// The most inducing inputs and rows, and numbers of a panel of SMALL_PITCH. What takes its room
// in shared memory by these has a fixed address and needs no register.
#define SMALL_INDUCING 32
#define SMALL_ROWS 64
#define SMALL_PANEL (SMALL_INDUCING * SMALL_PITCH)

enum SmallPart { small_zz, small_zx, small_xx };

// One copy of the interpreter serves all of this file: inlined, it would take as long to compile
// as the rest of the library.
__device__ __noinline__ double small_value(Interpreter &k, const double *t, const double *c, const double *x, const double *y, bool same) {
	return k.value(t, c, x, y, same);
}
__device__ __noinline__ void small_gradient(Interpreter &k, double adjoint, double *g) { k.gradient(adjoint, g); }

// Small is a step's place in shared memory, and its stages. All threads must call each of
// them; a stage ends as its comment says.
struct Small {
	int m, b, params;                     // inducing inputs; rows; parameters, the noise with them
	int r, pitch;                         // m rounded up to 8; of m x b matrices: odd, against bank conflicts
	double *theta, *coef, *grad;          // by parameter: θ, what stands for it in formulas, its gradient
	double *l, *s, *inverse;              // L, and gradients of each warp where it has been of use; ∂𝓛/∂k(Z,Z): r x SMALL_PITCH; 1/L_ii
	double *a, *ca, *sa;                  // k(Z,X) and A; CᵀA; SA, Ā and L⁻ᵀĀ: r x pitch
	double *diag, *res;                   // k(x,x); y − μ
	int *failed;                          // the first pivot that was not positive, or −1

	__device__ static double *take(double *&at, int n) {
		double *p = at;
		at += n;
		return p;
	}

	// Small takes what it needs from at on, of sizes that are known early.
	__device__ Small(double *&at, int *failed, int m, int b, int params)
		: m(m), b(b), params(params), r(round8(m)), pitch(b | 1), failed(failed) {
		l = take(at, SMALL_PANEL), s = take(at, SMALL_PANEL), inverse = take(at, SMALL_INDUCING);
		theta = take(at, MOST_PARAMS + 1), coef = take(at, MOST_PARAMS + 1), grad = take(at, MOST_PARAMS + 1);
		diag = take(at, SMALL_ROWS), res = take(at, SMALL_ROWS);
	}

	// place takes the rest, whose size is known late, and sets what pads m to r.
	__device__ void place(double *&at) {
		static_assert(SMALL_THREADS / 32 * (MOST_PARAMS + 1) <= SMALL_PANEL, "gradients of each warp take the place of L");
		a = take(at, r * pitch), ca = take(at, r * pitch), sa = take(at, r * pitch);
		for (int e = threadIdx.x; e < r * SMALL_PITCH; e += blockDim.x) {
			const int i = e / SMALL_PITCH, j = e % SMALL_PITCH;
			l[e] = i == j, s[e] = 0;
		}
		for (int e = threadIdx.x; e < r * pitch; e += blockDim.x)
			a[e] = ca[e] = sa[e] = 0;
	}

	// entries is the number of entries of the kernel matrices, and entry the place of one
	// of them: in k(Z,Z)'s lower triangle, in k(Z,X) or in k(x,x).
	__device__ int entries() const { return m * (m + 1) / 2 + m * b + b; }
	__device__ SmallPart entry(int e, int &i, int &j) const {
		const int triangle = m * (m + 1) / 2;
		if (e < triangle) {
			i = triangle_row(e), j = e - i * (i + 1) / 2;
			return small_zz;
		}
		e -= triangle;
		if (e < m * b) {
			i = e / b, j = e % b;
			return small_zx;
		}
		i = j = e - m * b;
		return small_xx;
	}

	// value computes an entry's kernel by the structure k.
	__device__ double value(Interpreter &k, SmallPart part, int i, int j, const Points &z, const Points &x) const {
		const Points &first = part == small_xx ? x : z, &second = part == small_zz ? z : x;
		return small_value(k, theta, coef, first.at(i), second.at(j), part != small_zx && i == j);
	}

	// coefficients computes what stands for θ in formulas. A barrier must follow.
	__device__ void coefficients(const int *table) const {
		const int *kinds = table + table[2];
		for (int p = threadIdx.x; p < table[1]; p += blockDim.x)
			coef[p] = coefficient(kinds[p], theta[p]);
	}

	// matrices computes entries from..to−1 of k(Z,Z), k(Z,X) and k(x,x), and with the first of them what pads m to r
	// below k(Z,Z), where gradients may have been. A barrier must follow.
	__device__ void matrices(Interpreter &k, const Points &z, const Points &x, int from, int to) const {
		if (from == 0)
			for (int e = m * SMALL_PITCH + threadIdx.x; e < r * SMALL_PITCH; e += blockDim.x)
				l[e] = e / SMALL_PITCH == e % SMALL_PITCH;
		for (int e = from + threadIdx.x; e < to; e += blockDim.x) {
			int i, j;
			const SmallPart part = entry(e, i, j);
			const double v = value(k, part, i, j, z, x);
			if (part == small_zz)
				l[i * SMALL_PITCH + j] = v;
			else if (part == small_zx)
				a[i * pitch + j] = v;
			else
				diag[j] = v;
		}
	}

	// factorise replaces the lower triangle c, r x SMALL_PITCH, by its Cholesky factor, or by
	// the identity where a pivot is not positive: what follows stays finite. It returns what
	// Cholesky tells, 1 plus the pivot's index or 0, and ends at a barrier.
	__device__ int factorise(double *c, double *inverse) const {
		__syncthreads();
		factor<SMALL_PITCH>(c, m, failed);
		const int pivot = *failed;
		if (pivot >= 0)
			for (int e = threadIdx.x; e < m * m; e += blockDim.x)
				if (e % m <= e / m)
					c[e / m * SMALL_PITCH + e % m] = e / m == e % m;
		__syncthreads();
		invert_diagonal<SMALL_PITCH>(inverse, c, m);
		__syncthreads();
		return pivot + 1;
	}

	// corrections computes 1 − β^t of Adam's step t. A barrier must follow.
	__device__ static void corrections(double *c, int t) {
		if (threadIdx.x == SMALL_THREADS - 1)
			c[0] = 1 - pow(0.9, double(t));
		if (threadIdx.x == SMALL_THREADS - 33) // of another warp
			c[1] = 1 - pow(0.999, double(t));
	}

	// residuals leaves y − μ in res and returns Σ_j (y_j − μ_j)² + v_j, at a barrier.
	__device__ double residuals(const double *mean, const double *y, const Points &x) const {
		double sum = 0;
		if ((int)threadIdx.x < b) {
			const int j = threadIdx.x;
			double mu = 0, v = 0;
			for (int i = 0; i < m; i++) {
				const double u = a[i * pitch + j], s = ca[i * pitch + j];
				mu = fma(u, mean[i], mu);
				v += s * s - u * u;
			}
			const double r = y[x.row(j)] - mu;
			res[j] = r;
			sum = r * r + (diag[j] + v);
		}
		return block_sum(sum);
	}

	// pull computes the gradient by θ, the noise's too, from SA in sa, m and what residuals
	// returned. It leaves no L, and ends at a barrier.
	__device__ void pull(Interpreter &k, const Points &z, const Points &x, const double *mean, double sum, double n, double relative,
			double f) const {
		const double s2 = theta[params - 1], scale = n / b, weight = scale / s2;
		for (int e = threadIdx.x; e < m * b; e += blockDim.x) { // Ā
			const int i = e / b, at = i * pitch + e % b;
			sa[at] = weight * (mean[i] * res[e % b] + a[at] - sa[at]);
		}
		__syncthreads();
		for (int e = threadIdx.x; e < m * (m + 1) / 2; e += blockDim.x) { // the lower triangle of −½ĀAᵀ, on both sides
			const int i = triangle_row(e), j = e - i * (i + 1) / 2;
			s[i * SMALL_PITCH + j] = s[j * SMALL_PITCH + i] = -0.5 * dot_rows(sa, i, a, j);
		}
		__syncthreads();
		solve();
		add_jitter(s, m, SMALL_PITCH, relative, 0, f);
		__syncthreads();
		gradients(k, z, x, -0.5 * weight);
		if (threadIdx.x == SMALL_THREADS - 1)
			grad[params - 1] = scale * (sum / (2 * s2 * s2) - b / (2 * s2));
		__syncthreads();
	}

	// dot_rows is the product of two rows of m x b matrices.
	__device__ double dot_rows(const double *p, int i, const double *q, int j) const {
		double v = 0;
		for (int l = 0; l < b; l++)
			v = fma(p[i * pitch + l], q[j * pitch + l], v);
		return v;
	}

	// gradients adds up ∂𝓛/∂log θ from s, sa and weight, which is ∂𝓛/∂k(x,x). It writes over L. A barrier must follow.
	__device__ void gradients(Interpreter &k, const Points &z, const Points &x, double weight) const {
		const int n = k.table[1];
		double g[Interpreter::params];
		for (int p = 0; p < n; p++)
			g[p] = 0;
		for (int e = threadIdx.x; e < entries(); e += blockDim.x) {
			int i, j;
			const SmallPart part = entry(e, i, j);
			double adjoint = weight;
			if (part == small_zz)
				adjoint = (i == j ? 1 : 2) * s[i * SMALL_PITCH + j];
			else if (part == small_zx)
				adjoint = sa[i * pitch + j];
			value(k, part, i, j, z, x);
			small_gradient(k, adjoint, g);
		}
		for (int p = 0; p < n; p++) {
			const double v = warp_sum(g[p]);
			if (threadIdx.x % 32 == 0)
				l[threadIdx.x / 32 * n + p] = v;
		}
		__syncthreads();
		for (int p = threadIdx.x; p < n; p += blockDim.x) {
			double v = 0;
			for (int w = 0; w < SMALL_THREADS / 32; w++)
				v += l[w * n + p];
			grad[p] = v;
		}
	}

	// solve replaces the columns of s, symmetric, and of sa: L⁻ᵀ s L⁻¹ and L⁻ᵀ sa. It ends at
	// a barrier.
	__device__ void solve() const {
		const int t = threadIdx.x;
		if (t < m)
			substitute<true, SMALL_PITCH>(s + t, SMALL_PITCH, l, inverse, r);
		else if (t >= 64 && t - 64 < b)
			substitute<true, SMALL_PITCH>(sa + t - 64, pitch, l, inverse, r);
		__syncthreads();
		if (t < m) // a row of L⁻ᵀs is a column of its transpose
			substitute<true, SMALL_PITCH>(s + t * SMALL_PITCH, 1, l, inverse, r);
		__syncthreads();
	}
};

// State is what a member carries of one kind: x and Adam's two moments, n numbers each, in
// shared memory from at on.
struct State {
	double *at;
	int n;
	__device__ State(double *&from, int n, const double *x, const double *first, const double *second) : at(Small::take(from, 3 * n)), n(n) {
		for (int e = threadIdx.x; e < n; e += blockDim.x)
			at[e] = x[e], at[n + e] = first[e], at[2 * n + e] = second[e];
	}
	__device__ void store(double *x, double *first, double *second) const {
		for (int e = threadIdx.x; e < n; e += blockDim.x)
			x[e] = at[e], first[e] = at[n + e], second[e] = at[2 * n + e];
	}
	__device__ double operator[](int e) const { return at[e]; }
	// climb is a step of Adam on entry e.
	__device__ void climb(int e, double g, double rate, const double *c, double stride) const {
		at[e] += adam_step(g, rate, c[0], c[1], at[n + e], at[2 * n + e]) * stride;
	}
};

// small_sample draws a free vector x = mean + Cη of q(log θ). A barrier must follow.
__device__ __noinline__ void small_sample(double *x, const double *mean, const double *c, const double *eta, int n) {
	for (int i = threadIdx.x; i < n; i += blockDim.x) {
		double v = mean[i];
		for (int j = 0; j <= i; j++)
			v += c[i * n + j] * eta[j];
		x[i] = v;
	}
}

// Believed is a member's q(log θ), which stays in global memory: N(mean, CCᵀ), the moments of C, Adam's strides, the
// prior's mean and the roots of its precisions. What threads write is there for others behind a barrier.
struct Believed {
	double *mean, *c, *c1, *c2;
	const double *stride, *strides, *prior, *scale;
	int n;
	bool diagonal; // C is
};

// small_follow is a step of Adam on it along the gradient g by x = mean + Cη, less that of
// KL[q(log θ) ‖ p(log θ)]. A barrier must follow.
__device__ __noinline__ void small_follow(const Believed &q, const double *g, const double *eta, double *m1, double *m2, double rate,
		const double *corrections) {
	const int n = q.n;
	for (int e = threadIdx.x; e < n * n + n; e += blockDim.x) {
		if (e >= n * n) {
			const int i = e - n * n;
			const double d = q.scale[i * n + i], v = g[i] - d * (d * (q.mean[i] - q.prior[i]));
			q.mean[i] += adam_step(v, rate, corrections[0], corrections[1], m1[i], m2[i]) * q.stride[i];
			continue;
		}
		const int i = e / n, j = e % n;
		if (j > i || (q.diagonal && j < i))
			continue;
		const double d = q.scale[i * n + i], was = q.c[e];
		double v = g[i] * eta[j] - d * (d * was);
		if (i == j)
			v += d / (d * was);
		q.c[e] += adam_step(v, rate, corrections[0], corrections[1], q.c1[e], q.c2[e]) * q.strides[e];
	}
}

// What launches of small steps are told. Minibatches are b rows each, skip places apart;
// taken, by place in sub, counts the steps of Adam that were made before. What Cholesky tells of
// each factorisation is added to failed. Vectors of one kind are the same number of entries
// apart.
#define SMALL_PARAMETERS                                                                                                \
	const int *sub, const int *tables, const int *starts, int params, const double *zx, const int *zi, int zf, int m,    \
		const double *xx, const int *xi, int xf, int b, int skip, int dim, const double *y, const int *lists, int width, \
		const double *known, int frees, double floor, double n, double relative, double absolute, const double *factors, \
		i64 sfactor, double rate, double wall, const int *taken, int steps, double *free, double *free1, double *free2,  \
		const double *stride, const double *pmean, const double *prec, const double *lo, const double *hi, i64 sfree,    \
		double *failed, i64 sfailed

// What they are told of q(log θ): where chol is not null, free holds samples, and prec are 0. etas has
// a vector for each step and member, those that are drawn; fresh says by place in sub whether the first step draws in any case.
#define SMALL_BELIEF                                                                                                          \
	double *centre, double *chol, double *chol1, double *chol2, const double *strides, const double *roots, i64 schol,       \
		const double *etas, const int *fresh, int diagonal
#define SMALL_BELIEVED                                                                                                        \
	{centre + kf, chol + k * schol, chol1 + k * schol, chol2 + k * schol, stride + kf, strides + k * schol, pmean + kf,      \
		roots + k * schol, frees, diagonal != 0}

// small_adam makes steps of Adam on (m, C, log θ, ρ): vbks's adamStep. value is the objective at
// which the last step began.
extern "C" __global__ void __launch_bounds__(SMALL_THREADS, 2) small_adam(SMALL_PARAMETERS, double *mean, double *mean1, double *mean2,
		i64 smean, double *root, double *root1, double *root2, i64 sroot, double *value, i64 svalue, SMALL_BELIEF) {
	DYNAMIC_SHARED(shared);
	__shared__ int pivot;
	__shared__ double corrections[2]; // 1 − β^t
	const i64 k = member(sub);
	const Known of(k, lists, width, known, params, frees, floor);
	const Points z = {zx, zi, zf, m, dim};
	Interpreter kernel;
	kernel.table = tables + starts[k];
	double *at = shared;
	Small w(at, &pivot, m, b, params);
	w.place(at);
	const i64 kf = k * sfree, km = k * smean, kr = k * sroot;
	const State f(at, frees, free + kf, free1 + kf, free2 + kf), q(at, m, mean + km, mean1 + km, mean2 + km),
		c(at, m * m, root + kr, root1 + kr, root2 + kr);
#ifdef EMULATE
	if (at != shared + emulate::dynamic.size())
		abort();
#endif
	const int before = taken[blockIdx.y], triangle = m * (m + 1) / 2;
	int fails = 0;
	__syncthreads();
	for (int t = 0; t < steps; t++) {
		const Points x = {xx, xi, xf + t * skip, b, dim};
		const double *const eta = etas + ((i64)t * gridDim.y + blockIdx.y) * frees;
		if (chol) {
			small_sample(f.at, centre + kf, chol + k * schol, eta, frees);
			__syncthreads();
		}
		of.expand(f.at, w.theta);
		w.corrections(corrections, before + t + 1);
		__syncthreads();
		w.coefficients(kernel.table);
		__syncthreads();
		w.matrices(kernel, z, x, 0, w.entries());
		__syncthreads();
		add_jitter(w.l, m, SMALL_PITCH, relative, absolute, factors[k * sfactor]);
		__syncthreads();
		fails += w.factorise(w.l, w.inverse);
		if ((int)threadIdx.x < b) // A
			substitute<false, SMALL_PITCH>(w.a + threadIdx.x, w.pitch, w.l, w.inverse, w.r);
		__syncthreads();
		for (int e = threadIdx.x; e < m * b; e += blockDim.x) { // CᵀA
			const int i = e / b, j = e % b;
			double v = 0;
			for (int l = i; l < m; l++)
				v = fma(c[l * m + i], w.a[l * w.pitch + j], v);
			w.ca[i * w.pitch + j] = v;
		}
		__syncthreads();
		const double sum = w.residuals(q.at, y, x), s2 = w.theta[params - 1], scale = n / b, weight = scale / s2;
		for (int e = threadIdx.x; e < m * b; e += blockDim.x) { // SA
			const int i = e / b, j = e % b;
			double v = 0;
			for (int l = 0; l <= i; l++)
				v = fma(c[i * m + l], w.ca[l * w.pitch + j], v);
			w.sa[i * w.pitch + j] = v;
		}
		__syncthreads();
		w.pull(kernel, z, x, q.at, sum, n, relative, factors[k * sfactor]);
		if (t + 1 == steps) {
			double kl = 0;
			for (int e = threadIdx.x; e < triangle; e += blockDim.x) {
				const int i = triangle_row(e), j = e - i * (i + 1) / 2;
				const double v = c[i * m + j];
				kl += v * v;
				if (i == j)
					kl += q[i] * q[i] - 1 - 2 * log(fabs(v));
			}
			kl = block_sum(kl);
			if (threadIdx.x == 0) {
				double v = scale * (-0.5 * b * (LOG_2PI + log(s2)) - sum / (2 * s2)) - kl / 2, slope;
				for (int i = 0; i < frees; i++) // in order: entries that pad a shorter vector change nothing
					v += prior(f[i], pmean[kf + i], prec[kf + i], lo[kf + i], hi[kf + i], wall, slope);
				value[k * svalue] = v;
			}
			__syncthreads();
		}
		for (int i = threadIdx.x; i < frees; i += blockDim.x) {
			double slope;
			prior(f[i], pmean[kf + i], prec[kf + i], lo[kf + i], hi[kf + i], wall, slope);
			const double g = of.collect(i, w.theta, w.grad) + slope;
			if (chol)
				w.coef[i] = g;
			else
				f.climb(i, g, rate, corrections, stride[kf + i]);
		}
		for (int e = threadIdx.x; e < triangle + m; e += blockDim.x) {
			if (e >= triangle) {
				const int i = e - triangle;
				double v = 0;
				for (int l = 0; l < b; l++)
					v = fma(w.a[i * w.pitch + l], w.res[l], v);
				q.climb(i, weight * v - q[i], rate, corrections, 1);
				continue;
			}
			const int i = triangle_row(e), j = e - i * (i + 1) / 2;
			const double was = c[i * m + j];
			double g = -weight * w.dot_rows(w.a, i, w.ca, j) - was;
			if (i == j)
				g += 1 / was;
			c.climb(i * m + j, g, rate, corrections, 1);
		}
		__syncthreads();
		if (chol) {
			const Believed belief = SMALL_BELIEVED;
			small_follow(belief, w.coef, eta, f.at + frees, f.at + 2 * frees, rate, corrections);
			__syncthreads();
		}
	}
	f.store(free + kf, free1 + kf, free2 + kf);
	q.store(mean + km, mean1 + km, mean2 + km);
	c.store(root + kr, root1 + kr, root2 + kr);
	if (threadIdx.x == 0)
		failed[k * sfailed] += fails;
}

// small_natural makes natural steps of q(v), held by Λ and Λm: vbks's naturalStep. Steps whose
// number, first + 1 and so on, is a multiple of every (0: none) also move (log θ, ρ) by Adam, once
// q(v) rests on warm rows; seen, by place in sub, is on how many it does. least is the least
// size of a step of q(v).
extern "C" __global__ void __launch_bounds__(SMALL_THREADS, 2) small_natural(SMALL_PARAMETERS, const double *seen, int first, int every,
		double warm, double least, double *lambda, i64 slambda, double *lambdam, i64 slambdam, SMALL_BELIEF) {
	DYNAMIC_SHARED(shared);
	__shared__ int pivot;
	__shared__ double corrections[2]; // 1 − β^t
	const i64 k = member(sub);
	const Points z = {zx, zi, zf, m, dim};
	Interpreter kernel;
	kernel.table = tables + starts[k];
	double *at = shared;
	Small w(at, &pivot, m, b, params);
	double *const root = Small::take(at, SMALL_PANEL), *const inverse = Small::take(at, SMALL_INDUCING); // F, 1/F_ii
	double *const mean = Small::take(at, SMALL_INDUCING), *const targets = Small::take(at, SMALL_ROWS);   // m, y
	double *const big = Small::take(at, SMALL_INDUCING * SMALL_INDUCING), *const vector = Small::take(at, SMALL_INDUCING); // Λ, Λm
	w.place(at);
	const i64 kf = k * sfree;
	const State f(at, frees, free + kf, free1 + kf, free2 + kf);
#ifdef EMULATE
	if (at != shared + emulate::dynamic.size())
		abort();
#endif
	for (int e = threadIdx.x; e < m * m; e += blockDim.x)
		big[e] = lambda[k * slambda + e];
	for (int e = threadIdx.x; e < w.r * SMALL_PITCH; e += blockDim.x)
		root[e] = e / SMALL_PITCH == e % SMALL_PITCH;
	for (int i = threadIdx.x; i < w.r; i += blockDim.x) {
		mean[i] = 0;
		if (i < m)
			vector[i] = lambdam[k * slambdam + i];
	}
	const int triangle = m * (m + 1) / 2;
	int moved = taken[blockIdx.y], fails = 0;

	bool stale = true; // θ and L
	__syncthreads();
	for (int t = 0; t < steps; t++) {
		const double rows = fmin(seen[blockIdx.y] + double(t) * b, n); // whole numbers
		const bool move = every > 0 && (first + t + 1) % every == 0 && rows >= warm;
		const Points x = {xx, xi, xf + t * skip, b, dim};
		const double *const eta = etas + ((i64)t * gridDim.y + blockIdx.y) * frees;
		if (chol && (move || (t == 0 && fresh[blockIdx.y]))) {
			small_sample(f.at, centre + kf, chol + k * schol, eta, frees);
			stale = true;
			__syncthreads();
		}
		if (stale) {
			Known(k, lists, width, known, params, frees, floor).expand(f.at, w.theta);
			__syncthreads();
			w.coefficients(kernel.table);
			__syncthreads();
		}
		if (move) {
			moved++;
			w.corrections(corrections, moved);
			for (int e = threadIdx.x; e < triangle; e += blockDim.x) {
				const int i = triangle_row(e), j = e - i * (i + 1) / 2;
				root[i * SMALL_PITCH + j] = big[i * m + j];
			}
			if ((int)threadIdx.x < m)
				mean[threadIdx.x] = vector[threadIdx.x];
		}
		if ((int)threadIdx.x < b)
			targets[threadIdx.x] = y[x.row(threadIdx.x)];
		w.matrices(kernel, z, x, stale ? 0 : triangle, triangle + m * b + (move ? b : 0));
		__syncthreads();
		if (stale) {
			add_jitter(w.l, m, SMALL_PITCH, relative, absolute, factors[k * sfactor]);
			__syncthreads();
			fails += w.factorise(w.l, w.inverse);
		}
		stale = move;
		if ((int)threadIdx.x < b) // A
			substitute<false, SMALL_PITCH>(w.a + threadIdx.x, w.pitch, w.l, w.inverse, w.r);
		__syncthreads();
		const double s2 = w.theta[params - 1], weight = n / b / s2;
		if (move) {
			fails += w.factorise(root, inverse);
			if ((int)threadIdx.x < b) { // F⁻¹A and F⁻ᵀF⁻¹A
				for (int i = 0; i < m; i++)
					w.ca[i * w.pitch + threadIdx.x] = w.a[i * w.pitch + threadIdx.x];
				substitute<false, SMALL_PITCH>(w.ca + threadIdx.x, w.pitch, root, inverse, w.r);
				for (int i = 0; i < m; i++)
					w.sa[i * w.pitch + threadIdx.x] = w.ca[i * w.pitch + threadIdx.x];
				substitute<true, SMALL_PITCH>(w.sa + threadIdx.x, w.pitch, root, inverse, w.r);
			} else if (threadIdx.x == SMALL_THREADS - 1) {
				substitute<false, SMALL_PITCH>(mean, 1, root, inverse, w.r);
				substitute<true, SMALL_PITCH>(mean, 1, root, inverse, w.r);
			}
			__syncthreads();
			const double sum = w.residuals(mean, y, x);
			w.pull(kernel, z, x, mean, sum, n, relative, factors[k * sfactor]);
		}
		const double gamma = fmax(b / (rows + b), least);
		for (int e = threadIdx.x; e < triangle + m; e += blockDim.x) {
			if (e >= triangle) {
				const int i = e - triangle;
				double v = 0;
				for (int l = 0; l < b; l++)
					v = fma(w.a[i * w.pitch + l], targets[l], v);
				v *= weight;
				vector[i] = gamma == 1 ? v : vector[i] + gamma * (v - vector[i]);
				continue;
			}
			const int i = triangle_row(e), j = e - i * (i + 1) / 2;
			const double v = weight * w.dot_rows(w.a, i, w.a, j) + (i == j), was = big[i * m + j];
			big[i * m + j] = big[j * m + i] = gamma == 1 ? v : was + gamma * (v - was);
		}
		const Known of(k, lists, width, known, params, frees, floor);
		if (move)
			for (int i = threadIdx.x; i < frees; i += blockDim.x) {
				double slope;
				prior(f[i], pmean[kf + i], prec[kf + i], lo[kf + i], hi[kf + i], wall, slope);
				const double g = of.collect(i, w.theta, w.grad) + slope;
				if (chol)
					w.coef[i] = g;
				else
					f.climb(i, g, rate, corrections, stride[kf + i]);
			}
		__syncthreads();
		if (chol && move) {
			const Believed belief = SMALL_BELIEVED;
			small_follow(belief, w.coef, eta, f.at + frees, f.at + 2 * frees, rate, corrections);
			__syncthreads();
		}
	}
	f.store(free + kf, free1 + kf, free2 + kf);
	for (int e = threadIdx.x; e < m * m; e += blockDim.x)
		lambda[k * slambda + e] = big[e];
	for (int i = threadIdx.x; i < m; i += blockDim.x)
		lambdam[k * slambdam + i] = vector[i];
	if (threadIdx.x == 0)
		failed[k * sfailed] += fails;
}
