// The fused steps of the bounds and of the optimisers. noise[k·st] is member k's
// σ_n²: θ's last entry.

// column_sum: a block takes 32 columns, its 8 warps the rows in turn; sums of
// the warps are then added in order. f(i, j) is summed over i for column j; the
// sum comes back on the threads of the first warp.
template <class F> __device__ double column_sum(int rows, bool valid, F f) {
	__shared__ double part[8][32];
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	double s = 0;
	if (valid)
		for (int i = warp; i < rows; i += 8)
			s = f(i, s);
	__syncthreads();
	part[warp][lane] = s;
	__syncthreads();
	s = 0;
	for (int w = 0; w < 8; w++)
		s += part[w][lane];
	return s;
}

extern "C" __global__ void predict(const int *sub, int rows, int cols, const double *a, i64 sa, const double *ca, i64 sca, const double *m, i64 sm,
		const double *kdiag, i64 sk, double *mu, i64 smu, double *v, i64 sv) {
	const i64 q = member(sub);
	const int j = blockIdx.x * 32 + threadIdx.x % 32;
	const bool valid = j < cols;
	a += q * sa + j, ca += q * sca + j, m += q * sm;
	const double mean = column_sum(rows, valid, [&](int i, double s) { return fma(a[(i64)i * cols], m[i], s); });
	const double var = column_sum(rows, valid, [&](int i, double s) {
		const double x = a[(i64)i * cols], y = ca[(i64)i * cols];
		return s + (y * y - x * x);
	});
	if (valid && threadIdx.x < 32) {
		mu[q * smu + j] = mean;
		v[q * sv + j] = kdiag[q * sk + j] + var;
	}
}

// residual computes y − Kᵀβ.
extern "C" __global__ void residual(const int *sub, int rows, int cols, const double *kzx, i64 sk, const double *beta, i64 sb,
		const double *y, const int *index, double *r, i64 sr) {
	const i64 q = member(sub);
	const int j = blockIdx.x * 32 + threadIdx.x % 32;
	const bool valid = j < cols;
	kzx += q * sk + j, beta += q * sb;
	const double s = column_sum(rows, valid, [&](int i, double s) { return fma(kzx[(i64)i * cols], beta[i], s); });
	if (valid && threadIdx.x < 32)
		r[q * sr + j] = y[index ? index[j] : j] - s;
}

// likelihood: one block a member. grad, σ_n²'s entry of ∂/∂θ, may be null.
extern "C" __global__ void likelihood(const int *sub, int b, const double *noise, i64 st, double n, const double *y, const int *index,
		const double *mu, i64 smu, const double *v, i64 sv, double *r, i64 sr, double *value, i64 sval, double *grad, i64 sg) {
	const i64 q = member(sub);
	double s = 0;
	for (int j = threadIdx.x; j < b; j += blockDim.x) {
		const double d = y[index ? index[j] : j] - mu[q * smu + j];
		r[q * sr + j] = d;
		s += d * d + v[q * sv + j];
	}
	s = block_sum(s);
	if (threadIdx.x > 0)
		return;
	const double s2 = noise[q * st], scale = n / b;
	value[q * sval] += scale * (-0.5 * b * (LOG_2PI + log(s2)) - s / (2 * s2));
	if (grad)
		grad[q * sg] += scale * (s / (2 * s2 * s2) - b / (2 * s2));
}

extern "C" __global__ void row_likelihood(const int *sub, int b, const double *noise, i64 st, const double *y, const int *index,
		const double *mu, i64 smu, const double *v, i64 sv, double *out, i64 so) {
	ENTRY(b);
	const double s2 = noise[k * st], d = y[index ? index[e] : e] - mu[k * smu + e];
	out[k * so + e] = -0.5 * (LOG_2PI + log(s2)) - (d * d + v[k * sv + e]) / (2 * s2);
}

extern "C" __global__ void abar(const int *sub, int rows, int cols, const double *noise, i64 st, double n, const double *m, i64 sm,
		const double *r, i64 sr, const double *a, i64 sa, double *s, i64 ss) {
	ENTRY(rows * cols);
	const double w = n / (cols * noise[k * st]);
	double *at = s + k * ss + e;
	*at = w * (m[k * sm + e / cols] * r[k * sr + e % cols] + a[k * sa + e] - *at);
}

// weight multiplies by scale/σ_n².
extern "C" __global__ void weight(const int *sub, int n, const double *noise, i64 st, double scale, double *a, i64 sa) {
	ENTRY(n);
	a[k * sa + e] *= scale / noise[k * st];
}

// gauss_kl takes KL[N(m, CCᵀ) ‖ N(0, I)] from value and its gradients from gm and
// gc, which may be null; one block a member.
extern "C" __global__ void gauss_kl(const int *sub, int n, const double *m, i64 sm, const double *c, i64 sc, double *value, i64 sv,
		double *gm, i64 sgm, double *gc, i64 sgc) {
	const i64 q = member(sub);
	m += q * sm, c += q * sc;
	double s = 0;
	for (int i = threadIdx.x / 32; i < n; i += blockDim.x / 32)
		for (int j = threadIdx.x % 32; j <= i; j += 32) {
			const double x = c[(i64)i * n + j];
			s += x * x;
			double g = x;
			if (i == j) {
				s += m[i] * m[i] - 1 - 2 * log(fabs(x));
				g -= 1 / x; // C⁻ᵀ is upper triangular
				if (gm)
					gm[q * sgm + i] -= m[i];
			}
			if (gc)
				gc[q * sgc + (i64)i * n + j] -= g;
		}
	s = block_sum(s);
	if (threadIdx.x == 0)
		value[q * sv] -= s / 2;
}

extern "C" __global__ void precision(const int *sub, int n, const double *noise, i64 st, double w, const double *x, i64 sx, double *out, i64 so) {
	ENTRY(n * n);
	out[k * so + e] = w / noise[k * st] * x[k * sx + e] + (e / n == e % n);
}

extern "C" __global__ void bound(const int *sub, int m, const double *noise, i64 st, double n, double yy, const double *lb, i64 sl,
		const double *solved, i64 ss, const double *x, i64 sx, const double *sum_diag, i64 sd, double *value, i64 sv) {
	const i64 q = member(sub);
	double logs = 0, trace = 0, square = 0;
	for (int i = threadIdx.x; i < m; i += blockDim.x) {
		const i64 at = (i64)i * m + i;
		const double u = solved[q * ss + i];
		logs += log(lb[q * sl + at]);
		trace += x[q * sx + at];
		square += u * u;
	}
	logs = block_sum(logs), trace = block_sum(trace), square = block_sum(square);
	if (threadIdx.x > 0)
		return;
	const double s2 = noise[q * st];
	value[q * sv] += -n / 2 * (LOG_2PI + log(s2)) - logs - yy / (2 * s2) + square / (2 * s2 * s2) - (sum_diag[q * sd] - trace) / (2 * s2);
}

extern "C" __global__ void bar_kzx(const int *sub, int rows, int cols, const double *noise, i64 st, const double *beta, i64 sb,
		const double *r, i64 sr, double *out, i64 so) {
	ENTRY(rows * cols);
	double *at = out + k * so + e;
	*at = 1 / noise[k * st] * (beta[k * sb + e / cols] * r[k * sr + e % cols] + *at);
}

// dot adds Σ a∘b to out; without b, Σ a.
extern "C" __global__ void dot(const int *sub, int n, const double *a, i64 sa, const double *b, i64 sb, double *out, i64 so) {
	const i64 q = member(sub);
	double s = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		s = b ? fma(a[q * sa + i], b[q * sb + i], s) : s + a[q * sa + i];
	s = block_sum(s);
	if (threadIdx.x == 0)
		out[q * so] += s;
}

extern "C" __global__ void noise_grad(const int *sub, int one, const double *noise, i64 st, double n, const double *r2, i64 sr, const double *v, i64 sv,
		double *grad, i64 sg) {
	ENTRY(one);
	const double s2 = noise[k * st];
	grad[k * sg] += (r2[k * sr] + v[k * sv]) / (2 * s2 * s2) - n / (2 * s2);
}

// adam_step is a step of Adam along g; c1 and c2 are 1 − β^t.
__device__ inline double adam_step(double g, double rate, double c1, double c2, double &m1, double &m2) {
	const double m = 0.9 * m1 + (1 - 0.9) * g, v = 0.999 * m2 + (1 - 0.999) * g * g;
	m1 = m, m2 = v;
	return rate * (m / c1) / (sqrt(v / c2) + 1e-8);
}

// adam makes a step of Adam. lower > 0: the matrices are lower triangular with so many
// columns, and nothing above is touched. c1 and c2 are at c unless it is null; stride may be null.
extern "C" __global__ void adam(const int *sub, int n, int lower, double rate, double c1, double c2, const double *c, const double *stride,
		i64 ss, double *x, i64 sx, const double *grad, i64 sg, double *m1, i64 s1, double *m2, i64 s2) {
	ENTRY(n);
	if (c)
		c1 = c[0], c2 = c[1];
	if (lower && e % lower > e / lower)
		return;
	double step = adam_step(grad[k * sg + e], rate, c1, c2, m1[k * s1 + e], m2[k * s2 + e]);
	if (stride)
		step *= stride[k * ss + e];
	x[k * sx + e] += step;
}

// prior is the log density of an entry v of a free vector, by a normal of mean and
// precision p (0: none), less wall·(excess)²/2 beyond lo and hi, and its slope.
__device__ inline double prior(double v, double mean, double p, double lo, double hi, double wall, double &slope) {
	double s = 0;
	slope = 0;
	if (p > 0) {
		const double d = v - mean;
		s += 0.5 * (log(p) - LOG_2PI - p * d * d);
		slope -= p * d;
	}
	const double e = v < lo ? v - lo : v > hi ? v - hi : 0;
	if (e != 0) {
		s -= wall * e * e / 2;
		slope -= wall * e;
	}
	return s;
}

// log_prior adds up in order, so that entries that pad a shorter vector change
// nothing; one block of 256 a member.
extern "C" __global__ void log_prior(const int *sub, int n, const double *x, i64 sx, const double *mean, i64 sm, const double *prec, i64 sp,
		const double *lo, i64 slo, const double *hi, i64 shi, double wall, double *value, i64 sv, double *grad, i64 sg) {
	__shared__ double terms[256];
	const i64 q = member(sub);
	double sum = 0;
	for (int from = 0; from < n; from += 256) {
		const int i = from + threadIdx.x;
		double s = 0;
		if (i < n) {
			double slope;
			s = prior(x[q * sx + i], mean[q * sm + i], prec[q * sp + i], lo[q * slo + i], hi[q * shi + i], wall, slope);
			if (grad)
				grad[q * sg + i] += slope;
		}
		terms[threadIdx.x] = s;
		__syncthreads();
		if (threadIdx.x == 0)
			for (int i = 0; i < min(256, n - from); i++)
				sum += terms[i];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		value[q * sv] += sum;
}

// sample adds in order, so that zeros that pad a shorter vector change nothing.
extern "C" __global__ void sample(const int *sub, int n, const double *mean, i64 sm, const double *c, i64 sc, const double *eta, i64 se, double *x, i64 sx) {
	ENTRY(n);
	double v = mean[k * sm + e];
	for (int j = 0; j <= e; j++)
		v += c[k * sc + (i64)e * n + j] * eta[k * se + j];
	x[k * sx + e] = v;
}

extern "C" __global__ void sample_grad(const int *sub, int n, const double *grad, i64 sg, const double *eta, i64 se, double *gm, i64 sm, double *gc, i64 sc) {
	ENTRY(n * n);
	const int i = e / n, j = e % n;
	const double g = grad[k * sg + i];
	if (j == 0)
		gm[k * sm + i] += g;
	if (j <= i)
		gc[k * sc + e] += g * eta[k * se + j];
}
