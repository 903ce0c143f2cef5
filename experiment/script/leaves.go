package script

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// num writes a number for Python.
func num(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func list(values []float64) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = num(v)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func ints(values []int) string { return strings.ReplaceAll(fmt.Sprint(values), " ", ", ") }

// each joins an expression for each of the leaf's columns.
func (l *leaf) each(sign string, of func(i, column int) string) string {
	var terms []string
	for i, c := range l.columns {
		terms = append(terms, of(i, c))
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return "(" + strings.Join(terms, sign) + ")"
}

func numpyLeaf(l leaf) string {
	args := []string{ints(l.columns)}
	if len(l.levels) > 0 {
		args = append(args, list(l.levels))
	}
	if len(l.scales) > 0 {
		args = append(args, list(l.scales))
	}
	if len(l.periods) > 0 {
		args = append(args, list(l.periods))
	}
	switch l.base {
	case "POLY2", "POLY3", "POLY4":
		return fmt.Sprintf("poly(%s, %s, %s, %d)", num(l.variance()), strings.Join(args, ", "), num(l.shape), l.degree)
	case "RQ", "RW", "IRW":
		args = append(args, num(l.shape))
	case "CONST", "WN":
		args = nil
	}
	return fmt.Sprintf("%s(%s)", strings.ToLower(l.base), strings.Join(append([]string{num(l.variance())}, args...), ", "))
}

// sklearnLeaf divides columns by their length scales in a wrapper, On, where the leaf is not
// on all columns with one for all.
func sklearnLeaf(l leaf) string {
	plain := l.whole() && !l.ard()
	on := func(kernel string, scales []float64) string {
		if plain {
			return kernel
		}
		return fmt.Sprintf("On(%s, %s, %s)", kernel, ints(l.columns), list(scales))
	}
	scale := 1.0
	if plain && len(l.scales) > 0 {
		scale = l.scales[0]
	}
	var k string
	switch l.base {
	case "SE":
		k = on(fmt.Sprintf("RBF(%s)", num(scale)), l.scales)
	case "RQ":
		k = on(fmt.Sprintf("RationalQuadratic(%s, %s)", num(scale), num(l.shape)), l.scales)
	case "MATERN12", "MATERN32", "MATERN52":
		nu := map[string]string{"MATERN12": "0.5", "MATERN32": "1.5", "MATERN52": "2.5"}[l.base]
		k = on(fmt.Sprintf("Matern(%s, nu=%s)", num(scale), nu), l.scales)
	case "LIN":
		plain = false
		k = on("DotProduct(0)", l.scales)
	case "POLY2", "POLY3", "POLY4":
		plain = false
		k = on(fmt.Sprintf("Exponentiation(DotProduct(%s), %d)", num(math.Sqrt(l.shape)), l.degree), l.scales)
	case "PER": // of the distance along one column
		k = l.each(" * ", func(i, c int) string {
			text := fmt.Sprintf("ExpSineSquared(%s, %s)", num(l.scale(i)), num(l.period(i)))
			if l.dim == 1 {
				return text
			}
			return fmt.Sprintf("On(%s, [%d], [1])", text, c)
		})
	case "CONST":
		return fmt.Sprintf("ConstantKernel(%s)", num(l.variance()))
	case "WN":
		return fmt.Sprintf("WhiteKernel(%s)", num(l.variance()))
	default:
		return ""
	}
	return fmt.Sprintf("ConstantKernel(%s) * %s", num(l.variance()), k)
}

func gpytorchLeaf(l leaf) string {
	at := fmt.Sprintf("active_dims=%s", ints(l.columns))
	stationary := func(kernel, more string) string {
		if l.ard() {
			more += fmt.Sprintf(", ard_num_dims=%d", len(l.scales))
		}
		return fmt.Sprintf("having(%s(%s%s), lengthscale=%s)", kernel, at, more, list(l.scales))
	}
	var k string
	switch l.base {
	case "SE":
		k = stationary("RBFKernel", "")
	case "RQ":
		k = strings.TrimSuffix(stationary("RQKernel", ""), ")") + fmt.Sprintf(", alpha=%s)", num(l.shape))
	case "MATERN12", "MATERN32", "MATERN52":
		k = stationary("MaternKernel", map[string]string{"MATERN12": ", nu=0.5", "MATERN32": ", nu=1.5", "MATERN52": ", nu=2.5"}[l.base])
	case "PER": // its length scale is the square of ours
		k = l.each(" * ", func(i, c int) string {
			return fmt.Sprintf("having(PeriodicKernel(active_dims=[%d]), lengthscale=%s, period_length=%s)", c,
				num(l.scale(i)*l.scale(i)), num(l.period(i)))
		})
	case "COS": // of π r/p
		if len(l.columns) > 1 {
			return ""
		}
		k = fmt.Sprintf("having(CosineKernel(%s), period_length=%s)", at, num(l.period(0)/2))
	case "LIN":
		k = l.each(" + ", func(i, c int) string {
			return fmt.Sprintf("having(LinearKernel(active_dims=[%d]), variance=%s)", c, num(1/(l.scale(i)*l.scale(i))))
		})
	case "POLY2", "POLY3", "POLY4":
		if l.ard() {
			return ""
		}
		s := l.scale(0) * l.scale(0)
		return fmt.Sprintf("scaled(%s, having(PolynomialKernel(%d, %s), offset=%s))", num(l.variance()/math.Pow(s, float64(l.degree))),
			l.degree, at, num(l.shape*s))
	case "CONST":
		return fmt.Sprintf("having(ConstantKernel(), constant=%s)", num(l.variance()))
	default:
		return ""
	}
	return fmt.Sprintf("scaled(%s, %s)", num(l.variance()), k)
}

func gpflowLeaf(l leaf) string {
	at := fmt.Sprintf("active_dims=%s", ints(l.columns))
	scales := func() string {
		if l.ard() {
			return list(l.scales)
		}
		return num(l.scales[0])
	}
	switch l.base {
	case "SE":
		return fmt.Sprintf("k.SquaredExponential(%s, %s, %s)", num(l.variance()), scales(), at)
	case "RQ":
		return fmt.Sprintf("k.RationalQuadratic(%s, %s, %s, %s)", num(l.variance()), scales(), num(l.shape), at)
	case "MATERN12", "MATERN32", "MATERN52":
		return fmt.Sprintf("k.Matern%s(%s, %s, %s)", strings.TrimPrefix(l.base, "MATERN"), num(l.variance()), scales(), at)
	case "PER": // exp(−½ sin²/ℓ²)
		variance := l.variance()
		return l.each(" * ", func(i, c int) string {
			v := variance
			variance = 1
			return fmt.Sprintf(
				"k.Periodic(k.SquaredExponential(%s, %s, active_dims=[%d]), period=%s)",
				num(v),
				num(l.scale(i)/2),
				c,
				num(l.period(i)),
			)
		})
	case "COS":
		periods := num(l.periods[0])
		if len(l.periods) > 1 {
			periods = list(l.periods)
		}
		return fmt.Sprintf("k.Cosine(%s, %s, %s)", num(l.variance()), periods, at)
	case "LIN":
		return l.each(" + ", func(i, c int) string {
			return fmt.Sprintf("k.Linear(%s, active_dims=[%d])", num(l.variance()/(l.scale(i)*l.scale(i))), c)
		})
	case "POLY2", "POLY3", "POLY4":
		if l.ard() {
			return ""
		}
		v := math.Pow(l.variance(), 1/float64(l.degree))
		return fmt.Sprintf("k.Polynomial(%d, %s, %s, %s)", l.degree, num(v/(l.scale(0)*l.scale(0))), num(v*l.shape), at)
	case "CONST":
		return fmt.Sprintf("k.Constant(%s)", num(l.variance()))
	case "WN":
		return fmt.Sprintf("k.White(%s)", num(l.variance()))
	}
	return ""
}

func gpjaxLeaf(l leaf) string {
	at := fmt.Sprintf("active_dims=%s", ints(l.columns))
	scales := func() string {
		if l.ard() {
			return fmt.Sprintf("jax.numpy.array(%s)", list(l.scales))
		}
		return num(l.scales[0])
	}
	switch l.base {
	case "SE":
		return fmt.Sprintf("k.RBF(%s, lengthscale=%s, variance=%s)", at, scales(), num(l.variance()))
	case "RQ":
		return fmt.Sprintf("k.RationalQuadratic(%s, lengthscale=%s, variance=%s, alpha=%s)", at, scales(), num(l.variance()), num(l.shape))
	case "MATERN12", "MATERN32", "MATERN52":
		return fmt.Sprintf(
			"k.Matern%s(%s, lengthscale=%s, variance=%s)",
			strings.TrimPrefix(l.base, "MATERN"),
			at,
			scales(),
			num(l.variance()),
		)
	case "PER": // exp(−½ sin²/ℓ²)
		variance := l.variance()
		return l.each(" * ", func(i, c int) string {
			v := variance
			variance = 1
			return fmt.Sprintf(
				"k.Periodic(active_dims=[%d], lengthscale=%s, variance=%s, period=%s)",
				c,
				num(l.scale(i)/2),
				num(v),
				num(l.period(i)),
			)
		})
	case "LIN":
		return l.each(" + ", func(i, c int) string {
			return fmt.Sprintf("k.Linear(active_dims=[%d], variance=%s)", c, num(l.variance()/(l.scale(i)*l.scale(i))))
		})
	case "POLY2", "POLY3", "POLY4":
		if l.ard() {
			return ""
		}
		v := math.Pow(l.variance(), 1/float64(l.degree))
		return fmt.Sprintf(
			"k.Polynomial(%s, degree=%d, shift=%s, variance=%s)",
			at,
			l.degree,
			num(v*l.shape),
			num(v/(l.scale(0)*l.scale(0))),
		)
	case "CONST":
		return fmt.Sprintf("k.Constant(constant=%s)", num(l.variance()))
	case "WN":
		return fmt.Sprintf("k.White(variance=%s)", num(l.variance()))
	}
	return ""
}
