// The interpreter: a structure that reads its instructions from a table, for
// where there is no compiler, for expressions too large to be compiled, and for
// matrices so small that a launch for every module would cost more.
//
// A member's table: number of instructions, number of parameters, where their
// kinds begin, number of columns read, then eight integers an instruction: of a
// leaf as Dynamic reads them, of a sum, product or change point op, arity, 0, where its
// operands' numbers begin.

#define MOST_NODES 64
#define MOST_PARAMS 128
#define MOST_COLUMNS 64

struct Interpreter {
	enum { params = MOST_PARAMS, dynamic = 1, columns = 1 };
	const int *table;
	double v[MOST_NODES], adj[MOST_NODES], d[MOST_PARAMS];
	double weight[MOST_NODES]; // of A, in the place of the step, and of B, in that of the change point

	__device__ const int *node(int i) const { return table + 4 + 8 * i; }

	__device__ double value(const double *t, const double *c, const double *x, const double *y, bool same) {
		const int n = table[0];
		for (int i = 0; i < n; i++) {
			const int *in = node(i);
			if (in[0] < op_add) {
				v[i] = leaf(Dynamic{in, table}, t, c, x, y, same, d + in[1]);
				continue;
			}
			const int *kids = table + in[3];
			if (in[0] == op_change) { // the step gets its slope
				const int *step = node(kids[0]);
				v[i] = change(Dynamic{step, table}, t, c, x, y, v[kids[1]], v[kids[2]], weight[kids[0]], weight[i], v[kids[0]], d + step[1]);
				continue;
			}
			double s = v[kids[0]];
			for (int j = 1; j < in[1]; j++)
				s = in[0] == op_add ? s + v[kids[j]] : s * v[kids[j]];
			v[i] = s;
		}
		return v[n - 1];
	}

	// spread takes the adjoint from the root to the leaves. A factor gets the
	// product of the others: dividing would fail at the zeros of LIN.
	__device__ void spread(double adjoint) {
		const int n = table[0];
		adj[n - 1] = adjoint;
		for (int i = n - 1; i >= 0; i--) {
			const int *in = node(i);
			if (in[0] < op_add)
				continue;
			const int *kids = table + in[3];
			if (in[0] == op_change) {
				adj[kids[0]] = adj[i];
				adj[kids[1]] = adj[i] * weight[kids[0]];
				adj[kids[2]] = adj[i] * weight[i];
				continue;
			}
			for (int j = 0; j < in[1]; j++) {
				double s = adj[i];
				if (in[0] == op_mul)
					for (int l = 0; l < in[1]; l++)
						if (l != j)
							s *= v[kids[l]];
				adj[kids[j]] = s;
			}
		}
	}

	__device__ void gradient(double adjoint, double *g) {
		spread(adjoint);
		for (int i = 0; i < table[0]; i++) {
			const int *in = node(i);
			if (in[0] >= op_add)
				continue;
			const int shapes = has_shape(in[0]);
			for (int p = in[1]; p < in[1] + 1 + in[4] + in[5] + shapes; p++)
				g[p] = fma(adj[i], d[p], g[p]);
		}
	}

	__device__ void inputs(const double *t, const double *c, const double *x, const double *y, double adjoint, int first, double *g) {
		double s[MOST_COLUMNS];
		spread(adjoint);
		for (int i = 0; i < table[0]; i++) {
			const Dynamic in = {node(i), table};
			if (in.op() >= op_add)
				continue;
			slopes(in, t, c, x, y, s);
			if (in.op() == op_step)
				s[0] = v[i];
			for (int j = 0; j < in.columns(); j++)
				if (in.column(j) == first)
					g[0] = fma(adj[i], s[j], g[0]);
		}
	}
};

#define INTERPRETER           \
	Interpreter s;            \
	s.table = tables + starts[member(sub)]

extern "C" __global__ void __launch_bounds__(256, 1) interpret_forward(KERNEL_PARAMETERS, double *out, i64 so) {
	INTERPRETER;
	forward(s, KERNEL_ARGUMENTS, out, so);
}

extern "C" __global__ void __launch_bounds__(256, 1) interpret_backward(KERNEL_PARAMETERS, const double *bar, i64 sb, double *partial, i64 sg) {
	INTERPRETER;
	backward(s, KERNEL_ARGUMENTS, bar, sb, partial, sg);
}

extern "C" __global__ void __launch_bounds__(256, 1) interpret_along(KERNEL_PARAMETERS, const double *bar, i64 sb, double *grad, i64 sg) {
	INTERPRETER;
	along(s, KERNEL_ARGUMENTS, bar, sb, grad, sg);
}
