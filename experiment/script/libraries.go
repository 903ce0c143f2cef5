package script

import (
	"fmt"
	"slices"
	"strings"

	"example.com/kestrel/kernelspace"
)

// library is what a script is written for.
type library struct {
	name    string
	imports string
	// leaf is a base kernel as an expression; "" where the library has none.
	leaf func(l leaf) string
	// sum, product and change combine expressions; change is "" where there is none.
	sum, product func(terms []string) string
	change       func(l leaf, before, after string) string
	helpers      func(used map[string]bool) string
	predict      string
	inducing     string // predict with inducing inputs; "": it conditions on all rows
}

// Libraries lists what a script may be written for; the first has all kernels.
func Libraries() []string {
	var names []string
	for _, l := range libraries() {
		names = append(names, l.name)
	}
	return names
}

func infix(sign string) func([]string) string {
	return func(terms []string) string { return "(" + strings.Join(terms, sign) + ")" }
}

func none(leaf, string, string) string { return "" }

func noHelpers(map[string]bool) string { return "" }

func libraries() []library {
	return []library{
		{
			name: "numpy", leaf: numpyLeaf,
			sum:     func(terms []string) string { return "add(" + strings.Join(terms, ", ") + ")" },
			product: func(terms []string) string { return "mul(" + strings.Join(terms, ", ") + ")" },
			change: func(l leaf, before, after string) string {
				return fmt.Sprintf(
					"change(%s, %s, column=%d, place=%s, width=%s)",
					before,
					after,
					l.columns[0],
					num(l.place()),
					num(l.theta[1]),
				)
			},
			helpers: numpyHelpers, predict: numpyPredict, inducing: numpyInducing,
		},
		{
			name: "sklearn", leaf: sklearnLeaf, sum: infix(" + "), product: infix(" * "), change: none, helpers: sklearnHelpers,
			imports: "from sklearn.base import clone\nfrom sklearn.gaussian_process import GaussianProcessRegressor\n" +
				"from sklearn.gaussian_process.kernels import (ConstantKernel, DotProduct, Exponentiation, ExpSineSquared, Kernel, Matern,\n" +
				"                                              RationalQuadratic, RBF, WhiteKernel)\n",
			predict: sklearnPredict,
		},
		{
			name: "gpytorch", leaf: gpytorchLeaf, sum: infix(" + "), product: infix(" * "), change: none, helpers: gpytorchHelpers,
			imports: "import gpytorch\nimport torch\nfrom gpytorch.kernels import (ConstantKernel, CosineKernel, LinearKernel, " +
				"MaternKernel, PeriodicKernel,\n" +
				"                              PolynomialKernel, RBFKernel, RQKernel, ScaleKernel)\n\ntorch.set_default_dtype(torch.float64)\n",
			predict: gpytorchPredict,
		},
		{
			name: "gpflow", leaf: gpflowLeaf, sum: infix(" + "), product: infix(" * "), helpers: noHelpers,
			change: func(l leaf, before, after string) string {
				if l.dim != 1 {
					return ""
				}
				return fmt.Sprintf(
					"k.ChangePoints([%s, %s], locations=[%s], steepness=%s)",
					before,
					after,
					num(l.place()),
					num(1/l.theta[1]),
				)
			},
			imports: "import gpflow\nfrom gpflow import kernels as k\n", predict: gpflowPredict, inducing: gpflowInducing,
		},
		{
			name: "gpjax", leaf: gpjaxLeaf, sum: infix(" + "), product: infix(" * "), change: none, helpers: noHelpers,
			imports: "import jax\n\njax.config.update(\"jax_enable_x64\", True)\n\nimport gpjax\nfrom gpjax import kernels as k\n",
			predict: gpjaxPredict,
		},
	}
}

// leaf is a base kernel with its hyperparameters, standardised.
type leaf struct {
	base    string
	dim     int
	columns []int
	degree  int
	levels  []float64 // of "levels", the base of CAT with a length for each
	theta   []float64 // variance, length scales, periods, shape; of a step place and width
	scales  []float64
	periods []float64
	shape   float64
}

func newLeaf(p *kernelspace.Program, in *kernelspace.Instr, theta []float64) leaf {
	own := theta[in.Off : in.Off+in.NumParams()]
	l := leaf{base: p.Params[in.Off].Base, dim: p.Dim, columns: in.Cols, degree: in.Degree, theta: own, shape: own[len(own)-1]}
	if in.Op == kernelspace.OpLevels {
		l.base, l.levels = "levels", in.Levels
	}
	if in.Op != kernelspace.OpStep {
		l.scales, l.periods = own[1:1+in.NumScale], own[1+in.NumScale:1+in.NumScale+in.NumPeriod]
	}
	return l
}

func (l *leaf) variance() float64 { return l.theta[0] }

func (l *leaf) place() float64 { return kernelspace.PlaceOf(l.theta[0]) }

// whole reports whether the leaf is on all columns, in their order.
func (l *leaf) whole() bool {
	all := make([]int, l.dim)
	for i := range all {
		all[i] = i
	}
	return slices.Equal(l.columns, all)
}

// scale and period are those of the leaf's i-th column.
func (l *leaf) scale(i int) float64 { return l.scales[min(i, len(l.scales)-1)] }

func (l *leaf) period(i int) float64 { return l.periods[min(i, len(l.periods)-1)] }

// ard reports whether columns have length scales of their own.
func (l *leaf) ard() bool { return len(l.scales) > 1 }

// expression is a kernel in a library's terms; the error names what the library lacks.
func (lib *library) expression(p *kernelspace.Program, theta []float64, used map[string]bool) (string, error) {
	var stack []string
	var steps []leaf
	lacks := func(what string) error {
		return fmt.Errorf("%s cannot express %s in %s; --library numpy can", lib.name, what, p.ID)
	}
	for i := range p.Instrs {
		in := &p.Instrs[i]
		terms := stack[max(0, len(stack)-in.Arity):]
		var text string
		switch in.Op {
		case kernelspace.OpAdd, kernelspace.OpMul:
			combine := lib.sum
			if in.Op == kernelspace.OpMul {
				combine = lib.product
			}
			used[map[bool]string{true: "mul", false: "add"}[in.Op == kernelspace.OpMul]] = true
			text = combine(slices.Clone(terms))
		case kernelspace.OpChange:
			if text = lib.change(steps[len(steps)-1], terms[1], terms[2]); text == "" {
				return "", lacks("a change point")
			}
			used["change"], steps = true, steps[:len(steps)-1]
		case kernelspace.OpStep:
			steps, text = append(steps, newLeaf(p, in, theta)), "-"
		default:
			l := newLeaf(p, in, theta)
			if text = lib.leaf(l); text == "" {
				what := l.base
				if in.Op == kernelspace.OpLevels {
					what = "CAT with a length for each level"
				}
				if len(l.columns) > 1 {
					what += " of several columns"
				}
				return "", lacks(what)
			}
			used[l.base] = true
		}
		stack = append(stack[:len(stack)-in.Arity], text)
	}
	return stack[0], nil
}
