// Base kernels: value, derivatives by the logarithms of the parameters, slopes
// along the first point. They are written once, for an instruction I that is
// known when the code is compiled (generated structures) or read from a table
// (the interpreter); with contraction off both give the same bits.
//
// An instruction has op(), off() (place of its first parameter), columns(),
// column(i), scales(), periods(), degree(), level(i), as kernelspace.Instr. t are its
// kernel's parameters, c the same but 1/ℓ² for length scales, 1/p for periods and the
// places of change points.

enum Op { op_se, op_rq, op_lin, op_per, op_matern12, op_matern32, op_matern52, op_white, op_const, op_poly, op_cos, op_rw, op_irw, op_cat, op_levels, op_step, op_add, op_mul, op_change };

// Dynamic is an instruction in a table.
struct Dynamic {
	const int *n, *table;
	__device__ int op() const { return n[0]; }
	__device__ int off() const { return n[1]; }
	__device__ int columns() const { return n[2]; }
	__device__ int column(int i) const { return table[n[3] + i]; }
	__device__ int scales() const { return n[4]; }
	__device__ int periods() const { return n[5]; }
	__device__ int degree() const { return n[6]; }
	__device__ double level(int i) const { return __hiloint2double(table[n[7] + 2 * i], table[n[7] + 2 * i + 1]); }
};

template <class I> __device__ inline int scale_at(I in, int i) { return in.off() + 1 + (in.scales() > 1 ? i : 0); }
template <class I> __device__ inline int period_at(I in, int i) { return in.off() + 1 + in.scales() + (in.periods() > 1 ? i : 0); }
template <class I> __device__ inline int shape_at(I in) { return in.off() + 1 + in.scales(); } // α of RQ, c of POLY, h of RW and IRW
__device__ inline bool has_shape(int op) { return op == op_rq || op == op_poly || op == op_rw || op == op_irw || op == op_step; } // op_step: its width

// distance is ρ = Σ_i δ_i²/ℓ_i².
template <class I> __device__ inline double distance(I in, const double *c, const double *x, const double *y) {
	double s = 0;
#pragma unroll
	for (int i = 0; i < in.columns(); i++) {
		const double d = x[in.column(i)] - y[in.column(i)];
		s = in.scales() > 1 ? fma(c[scale_at(in, i)], d * d, s) : fma(d, d, s);
	}
	return in.scales() > 1 ? s : s * c[in.off() + 1];
}

// product is Σ_i x_i y_i/ℓ_i².
template <class I> __device__ inline double product(I in, const double *c, const double *x, const double *y) {
	double s = 0;
#pragma unroll
	for (int i = 0; i < in.columns(); i++) {
		const double u = x[in.column(i)], v = y[in.column(i)];
		s = in.scales() > 1 ? fma(c[scale_at(in, i)], u * v, s) : fma(u, v, s);
	}
	return in.scales() > 1 ? s : s * c[in.off() + 1];
}

// radial is a leaf that is a function of ρ; h = −2 dk/dρ, so that ∂k/∂log ℓ_i =
// h δ_i²/ℓ_i², and ∂k/∂x_i = −h δ_i/ℓ_i². MATERN12's slope at distance 0 is taken
// as 0. shape is RQ's derivative by log α.
__device__ inline double radial(int op, double s2, double alpha, double rho, double &h, double &shape) {
	shape = 0;
	switch (op) {
	case op_se:
		return h = s2 * exp(-0.5 * rho);
	case op_rq: {
		const double q = rho / (2 * alpha), w = 1 + q, l = log1p(q), v = s2 * exp(-alpha * l);
		h = v / w;
		shape = v * (alpha * (q / w - l));
		return v;
	}
	case op_matern12: {
		const double r = sqrt(rho), v = s2 * exp(-r);
		h = r > 0 ? v / r : 0;
		return v;
	}
	case op_matern32: {
		const double s = sqrt(3 * rho), e = s2 * exp(-s);
		h = 3 * e;
		return (1 + s) * e;
	}
	}
	const double s = sqrt(5 * rho), e = s2 * exp(-s);
	h = 5.0 / 3 * (1 + s) * e;
	return (1 + s + s * s / 3) * e;
}

// reduced is δ/p less the nearest whole number, the multiple of p subtracted
// without rounding.
__device__ inline double reduced(double delta, double p, double inverse) {
	return fma(-rint(delta * inverse), p, delta) * inverse;
}

// periodic is one column of PER: sin²(πu)/ℓ² and sin(πu)cos(πu)/ℓ², u = δ/p.
__device__ inline void periodic(double delta, double p, double inverse, double scale, double &square, double &slope) {
	double s, c;
	sincospi(reduced(delta, p, inverse), &s, &c);
	square = s * s * scale;
	slope = s * c * scale;
}

// power computes base^(n−1).
__device__ inline double power(double base, int n) {
	double v = 1;
	for (int i = 1; i < n; i++)
		v *= base;
	return v;
}

// cosine is COS with its derivative by u = Σ δ/p.
template <class I>
__device__ inline double cosine(I in, const double *t, const double *c, const double *x, const double *y, double &slope) {
	double u = 0, s, v;
#pragma unroll
	for (int i = 0; i < in.columns(); i++) {
		const int p = period_at(in, i);
		u += reduced(x[in.column(i)] - y[in.column(i)], t[p], c[p]);
	}
	sincospi(2 * u, &s, &v);
	slope = -2 * 3.141592653589793 * t[in.off()] * s;
	return t[in.off()] * v;
}

// from_origin finds how far x and y are from −h, u and v, and the side that they are
// on: 1 or −1, 0 where −h lies between them.
__device__ inline double from_origin(double x, double y, double h, double &u, double &v) {
	u = x + h, v = y + h;
	const double side = u > 0 && v > 0 ? 1 : u <= 0 && v <= 0 ? -1 : 0;
	u = fabs(u), v = fabs(v);
	return side;
}

// walk is RW and IRW with their derivative by h.
template <class I>
__device__ inline double walk(I in, const double *t, const double *x, const double *y, double &slope) {
	const double s2 = t[in.off()];
	double sum = 0;
	slope = 0;
#pragma unroll
	for (int i = 0; i < in.columns(); i++) {
		double u, v;
		const double side = from_origin(x[in.column(i)], y[in.column(i)], t[shape_at(in)], u, v);
		const double m = fmin(u, v);
		const double value = in.op() == op_rw ? m : m * m * (3 * fmax(u, v) - m) / 6;
		sum += side == 0 ? 0 : value;
		slope += side * (in.op() == op_rw ? 1 : u * v);
	}
	slope *= s2;
	return s2 * sum;
}

// walk_slope is its derivative by x, of one column; of RW at x = y the mean of both sides'.
__device__ inline double walk_slope(int op, double s2, double x, double y, double h) {
	double u, v;
	const double side = from_origin(x, y, h, u, v), m = fmin(u, v);
	return side * s2 * (op == op_irw ? m * v - m * m / 2 : u < v ? 1 : u > v ? 0 : 0.5);
}

// change is k = before A + after B of a change point with the step in,
//
//	before = (1−s)(1−s′), after = s s′, s = 1/(1 + exp(−z)), z = (x − place)/width
//
// with d, its derivatives by the logarithms of the step's parameters, and slope, that
// by x as far as it is the step's. a and b are A(x, y) and B(x, y).
template <class I>
__device__ inline double change(I in, const double *t, const double *c, const double *x, const double *y, double a, double b,
		double &before, double &after, double &slope, double *d) {
	const double place = c[in.off()], width = t[in.off() + 1];
	const double z = (x[in.column(0)] - place) / width, w = (y[in.column(0)] - place) / width;
	const double s = 1 / (1 + exp(-z)), r = 1 / (1 + exp(z)), p = 1 / (1 + exp(-w)), q = 1 / (1 + exp(w));
	before = r * q, after = s * p;
	const double first = before * a, second = after * b;
	slope = (second * r - first * s) / width;
	d[0] = (first * (s + p) - second * (r + q)) / width * sqrt(1 + place * place);
	d[1] = first == 0 && second == 0 ? 0 : first * (s * z + p * w) - second * (r * z + q * w); // far away z may be infinite
	return first + second;
}

__device__ inline bool is_radial(int op) {
	return op == op_se || op == op_rq || op == op_matern12 || op == op_matern32 || op == op_matern52;
}

// leaf computes k(x, y) and d, its derivatives by the logarithms of the leaf's
// parameters. same says that x and y are one row of one set of points.
template <class I>
__device__ inline double leaf(I in, const double *t, const double *c, const double *x, const double *y, bool same, double *d) {
	const double s2 = t[in.off()];
	if (is_radial(in.op())) {
		const double rho = distance(in, c, x, y);
		double h, shape;
		const double v = radial(in.op(), s2, in.op() == op_rq ? t[shape_at(in)] : 1, rho, h, shape);
		d[0] = v;
		if (in.scales() > 1) {
#pragma unroll
			for (int i = 0; i < in.columns(); i++) {
				const double e = x[in.column(i)] - y[in.column(i)];
				d[1 + i] = h * (c[scale_at(in, i)] * (e * e));
			}
		} else {
			d[1] = h * rho;
		}
		if (in.op() == op_rq)
			d[1 + in.scales()] = shape;
		return v;
	}
	switch (in.op()) {
	case op_lin: {
		const double v = s2 * product(in, c, x, y);
		d[0] = v;
		if (in.scales() > 1) {
#pragma unroll
			for (int i = 0; i < in.columns(); i++)
				d[1 + i] = -2 * s2 * (c[scale_at(in, i)] * (x[in.column(i)] * y[in.column(i)]));
		} else {
			d[1] = -2 * v;
		}
		return v;
	}
	case op_poly: {
		const double dot = product(in, c, x, y), base = dot + t[shape_at(in)], rest = s2 * power(base, in.degree());
		const double v = rest * base, w = in.degree() * rest;
		d[0] = v;
		if (in.scales() > 1) {
#pragma unroll
			for (int i = 0; i < in.columns(); i++)
				d[1 + i] = -2 * w * (c[scale_at(in, i)] * (x[in.column(i)] * y[in.column(i)]));
		} else {
			d[1] = -2 * w * dot;
		}
		d[1 + in.scales()] = w * t[shape_at(in)];
		return v;
	}
	case op_per: {
		double sum = 0;
#pragma unroll
		for (int i = 1; i < 1 + in.scales() + in.periods(); i++)
			d[i] = 0;
#pragma unroll
		for (int i = 0; i < in.columns(); i++) {
			const int p = period_at(in, i);
			const double delta = x[in.column(i)] - y[in.column(i)];
			double square, slope;
			periodic(delta, t[p], c[p], c[scale_at(in, i)], square, slope);
			sum += square;
			d[scale_at(in, i) - in.off()] += square;
			d[p - in.off()] += slope * (delta * c[p]);
		}
		const double v = s2 * exp(-2 * sum);
		d[0] = v;
#pragma unroll
		for (int i = 1; i < 1 + in.scales(); i++)
			d[i] *= 4 * v;
#pragma unroll
		for (int i = 1 + in.scales(); i < 1 + in.scales() + in.periods(); i++)
			d[i] *= 4 * 3.141592653589793 * v;
		return v;
	}
	case op_cos: {
		double slope;
		const double v = cosine(in, t, c, x, y, slope);
		d[0] = v;
#pragma unroll
		for (int i = 1; i < 1 + in.periods(); i++)
			d[i] = 0;
#pragma unroll
		for (int i = 0; i < in.columns(); i++) {
			const int p = period_at(in, i);
			d[p - in.off()] -= slope * ((x[in.column(i)] - y[in.column(i)]) * c[p]);
		}
		return v;
	}
	case op_rw:
	case op_irw: {
		double slope;
		const double v = walk(in, t, x, y, slope);
		d[0] = v;
		d[1] = t[shape_at(in)] * slope;
		return v;
	}
	case op_cat: {
		bool equal = true;
#pragma unroll
		for (int i = 0; i < in.columns(); i++)
			equal = equal && x[in.column(i)] == y[in.column(i)];
		return d[0] = equal ? s2 : 0;
	}
	case op_levels: {
		const double a = x[in.column(0)], b = y[in.column(0)];
		bool one = false, other = false; // have a length
		double sum = 0;
#pragma unroll
		for (int i = 0; i < in.scales(); i++) {
			const bool is = a == in.level(i), was = b == in.level(i);
			const double e = is != was ? c[scale_at(in, i)] : 0;
			one = one || is, other = other || was;
			sum += d[1 + i] = e;
		}
		const double v = a == b ? s2 : one && other ? s2 * exp(-0.5 * sum) : 0, slope = a == b ? 0 : v;
#pragma unroll
		for (int i = 0; i < in.scales(); i++)
			d[1 + i] *= slope;
		return d[0] = v;
	}
	case op_step:
		return 0; // change has what there is
	case op_white:
		return d[0] = same ? s2 : 0;
	}
	return d[0] = s2; // CONST
}

// slopes computes ∂k(x, y)/∂x_i for the leaf's columns, y held fixed.
template <class I>
__device__ inline void slopes(I in, const double *t, const double *c, const double *x, const double *y, double *d) {
	const double s2 = t[in.off()];
	double w = 0;
	if (is_radial(in.op())) {
		double shape;
		radial(in.op(), s2, in.op() == op_rq ? t[shape_at(in)] : 1, distance(in, c, x, y), w, shape);
	} else if (in.op() == op_lin) {
		w = s2;
	} else if (in.op() == op_poly) {
		w = in.degree() * s2 * power(product(in, c, x, y) + t[shape_at(in)], in.degree());
	} else if (in.op() == op_cos) {
		cosine(in, t, c, x, y, w);
	} else if (in.op() == op_per) {
		double sum = 0;
#pragma unroll
		for (int i = 0; i < in.columns(); i++) {
			const int p = period_at(in, i);
			double square;
			periodic(x[in.column(i)] - y[in.column(i)], t[p], c[p], c[scale_at(in, i)], square, d[i]);
			sum += square;
		}
		w = s2 * exp(-2 * sum);
	}
#pragma unroll
	for (int i = 0; i < in.columns(); i++) {
		const double delta = x[in.column(i)] - y[in.column(i)];
		if (is_radial(in.op()))
			d[i] = -c[scale_at(in, i)] * w * delta;
		else if (in.op() == op_lin || in.op() == op_poly)
			d[i] = c[scale_at(in, i)] * w * y[in.column(i)];
		else if (in.op() == op_per)
			d[i] *= -4 * 3.141592653589793 * c[period_at(in, i)] * w;
		else if (in.op() == op_cos)
			d[i] = c[period_at(in, i)] * w;
		else if (in.op() == op_rw || in.op() == op_irw)
			d[i] = walk_slope(in.op(), s2, x[in.column(i)], y[in.column(i)], t[shape_at(in)]);
		else
			d[i] = 0;
	}
}
