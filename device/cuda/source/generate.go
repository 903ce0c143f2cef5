//go:build cuda

package source

import (
	"fmt"
	"slices"
	"strings"

	"example.com/kestrel/kernelspace"
)

// The largest programs for which code is generated: beyond that a thread's
// registers would not hold the values and derivatives of an entry.
const (
	mostGeneratedLeaves  = 6
	mostGeneratedParams  = 24
	mostGeneratedColumns = 8
)

// PerModule is how many structures are compiled together. One launch serves all
// kernels of a module, so that few modules are good for small matrices; many are
// compiled in parallel.
const PerModule = 12

// Structure identifies the code of a program: programs of equal structure differ
// in nothing but the values of their hyperparameters. It is empty where the
// program is left to the interpreter.
func Structure(p *kernelspace.Program) string {
	leaves := 0
	var s strings.Builder
	fmt.Fprintf(&s, "%d", p.Dim)
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if in.Op >= kernelspace.OpAdd {
			fmt.Fprintf(&s, " %d:%d", in.Op, in.Arity)
			continue
		}
		leaves++
		fmt.Fprintf(&s, " %d%v%d,%d,%d", in.Op, in.Cols, in.NumScale, in.NumPeriod, in.Degree)
		if in.Levels != nil {
			fmt.Fprint(&s, in.Levels)
		}
	}
	if leaves > mostGeneratedLeaves || len(p.Params) > mostGeneratedParams || p.Dim > mostGeneratedColumns {
		return ""
	}
	return s.String()
}

// Matrices returns a source with the kernels matrix_forward, matrix_backward and,
// if along, matrix_along for the programs' structures; cases[member] says which of
// them a member has.
func Matrices(programs []*kernelspace.Program, along bool) (string, error) {
	var s strings.Builder
	s.WriteString(join("common", "leaves", "matrix"))
	for i, p := range programs {
		if err := structure(&s, i, p); err != nil {
			return "", err
		}
	}
	entry := func(name, params, args string) {
		fmt.Fprintf(&s, "\nextern \"C\" __global__ void __launch_bounds__(256, 1) matrix_%s(KERNEL_PARAMETERS, const int *cases, %s) {\n"+
			"\tswitch (cases[member(sub)]) {\n", name, params)
		for i := range programs {
			fmt.Fprintf(&s, "\tcase %d: {\n\t\tS%d s;\n\t\t%s(s, KERNEL_ARGUMENTS, %s);\n\t\tbreak;\n\t}\n", i, i, name, args)
		}
		s.WriteString("\t}\n}\n")
	}
	entry("forward", "double *out, i64 so", "out, so")
	entry("backward", "const double *bar, i64 sb, double *partial, i64 sg", "bar, sb, partial, sg")
	if along {
		entry("along", "const double *bar, i64 sb, double *grad, i64 sg", "bar, sb, grad, sg")
	}
	return s.String(), nil
}

// structure writes struct S<number>, as matrix.cu wants it.
func structure(s *strings.Builder, number int, p *kernelspace.Program) error {
	nodes, err := tree(p)
	if err != nil {
		return err
	}
	fmt.Fprintf(s, "\n// %s\n", strings.ReplaceAll(p.ID, "\n", " "))
	for i := range nodes {
		if nodes[i].leaf() {
			instruction(s, fmt.Sprintf("S%dL%d", number, i), nodes[i].Instr)
		}
	}
	fmt.Fprintf(s, "struct S%d {\n\tenum { params = %d, dynamic = 0, columns = %d };\n\tdouble v[%d], d[%d]%s;\n\n",
		number, len(p.Params), p.Dim, len(nodes), len(p.Params), weights(nodes))

	s.WriteString("\t__device__ inline double value(const double *t, const double *c, const double *x, const double *y, bool same) {\n")
	for i, n := range nodes {
		if n.leaf() {
			fmt.Fprintf(s, "\t\tv[%d] = leaf(S%dL%d(), t, c, x, y, same, d + %d);\n", i, number, i, n.Off)
			continue
		}
		if n.Op == kernelspace.OpChange {
			step := n.kids[0]
			fmt.Fprintf(s, "\t\tv[%d] = change(S%dL%d(), t, c, x, y, v[%d], v[%d], w[%d], w[%d], v[%d], d + %d);\n",
				i, number, step, n.kids[1], n.kids[2], step, i, step, nodes[step].Off)
			continue
		}
		sign := " + "
		if n.Op == kernelspace.OpMul {
			sign = " * "
		}
		fmt.Fprintf(s, "\t\tv[%d] = %s;\n", i, values(n.kids, -1, sign))
	}
	fmt.Fprintf(s, "\t\treturn v[%d];\n\t}\n\n", len(nodes)-1)

	s.WriteString("\t__device__ inline void gradient(double adjoint, double *g) {\n")
	adjoints(s, nodes)
	for i := range nodes {
		if n := &nodes[i]; n.leaf() {
			for q := n.Off; q < n.Off+n.NumParams(); q++ {
				fmt.Fprintf(s, "\t\tg[%d] = fma(a%d, d[%d], g[%d]);\n", q, i, q, q)
			}
		}
	}
	s.WriteString("\t}\n\n")

	s.WriteString("\t__device__ inline void inputs(const double *t, const double *c, const double *x, const double *y, " +
		"double adjoint, int, double *g) {\n")
	adjoints(s, nodes)
	for i, n := range nodes {
		if !n.leaf() || len(n.Cols) == 0 {
			continue
		}
		if n.Op == kernelspace.OpStep {
			fmt.Fprintf(s, "\t\tg[%d] = fma(a%d, v[%d], g[%d]);\n", n.Cols[0], i, i, n.Cols[0])
			continue
		}
		fmt.Fprintf(s, "\t\tdouble s%d[%d];\n\t\tslopes(S%dL%d(), t, c, x, y, s%d);\n", i, len(n.Cols), number, i, i)
		for j, col := range n.Cols {
			fmt.Fprintf(s, "\t\tg[%d] = fma(a%d, s%d[%d], g[%d]);\n", col, i, i, j, col)
		}
	}
	s.WriteString("\t}\n};\n")
	return nil
}

// weights declares the weights of change points' kernels, of A in the place of the step
// and of B in that of the change point, where there are some.
func weights(nodes []node) string {
	if !slices.ContainsFunc(nodes, func(n node) bool { return n.Op == kernelspace.OpChange }) {
		return ""
	}
	return fmt.Sprintf(", w[%d]", len(nodes))
}

// adjoints writes the adjoints of all nodes, root first. A factor gets the
// product of the others.
func adjoints(s *strings.Builder, nodes []node) {
	root := len(nodes) - 1
	fmt.Fprintf(s, "\t\tconst double a%d = adjoint;\n", root)
	for i := root; i >= 0; i-- {
		for j, k := range nodes[i].kids {
			others := ""
			if nodes[i].Op == kernelspace.OpChange && j > 0 {
				others = fmt.Sprintf(" * w[%d]", []int{nodes[i].kids[0], i}[j-1])
			}
			if nodes[i].Op == kernelspace.OpMul && len(nodes[i].kids) > 1 {
				others = " * " + values(nodes[i].kids, k, " * ")
			}
			fmt.Fprintf(s, "\t\tconst double a%d = a%d%s;\n", k, i, others)
		}
	}
}

// values joins the values of nodes but one.
func values(nodes []int, but int, sign string) string {
	var list []string
	for _, k := range nodes {
		if k != but {
			list = append(list, fmt.Sprintf("v[%d]", k))
		}
	}
	return strings.Join(list, sign)
}

// instruction writes a leaf's instruction as a type whose answers are constants.
func instruction(s *strings.Builder, name string, in *kernelspace.Instr) {
	fmt.Fprintf(s, "struct %s {\n", name)
	for _, f := range []struct {
		name  string
		value int
	}{{"op", number(in.Op)}, {"off", in.Off}, {"columns", len(in.Cols)}, {"scales", in.NumScale}, {"periods", in.NumPeriod},
		{"degree", in.Degree}} {
		fmt.Fprintf(s, "\t__device__ static constexpr int %s() { return %d; }\n", f.name, f.value)
	}
	choice(s, "int", "column", in.Cols)
	choice(s, "double", "level", in.Levels)
	s.WriteString("};\n")
}

// choice writes a function that returns one of some constants by its place, the last for any other.
func choice[T int | float64](s *strings.Builder, kind, name string, values []T) {
	fmt.Fprintf(s, "\t__device__ static constexpr %s %s(int i) { return ", kind, name)
	last := T(0)
	for i, v := range values {
		if last = v; i < len(values)-1 {
			fmt.Fprintf(s, "i == %d ? %v : ", i, v)
		}
	}
	fmt.Fprintf(s, "%v; }\n", last)
}
