package modelfile_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/must"
)

// naive reads a model file by another library and predicts with dense inverses, from
// what docs/format.md says alone.
type naive struct {
	file  *npz.Reader
	about map[string]any
	read  map[string][]float64
	t     *testing.T
}

func openNaive(t *testing.T, path string) *naive {
	t.Helper()
	f, err := npz.Open(path)
	must.OK(t, err)
	t.Cleanup(func() { f.Close() })
	n := &naive{file: f, read: map[string][]float64{}, t: t}
	var text []byte
	for _, v := range n.array("about") {
		text = append(text, byte(v))
	}
	must.OK(t, json.Unmarshal(text, &n.about))
	return n
}

func (n *naive) array(name string) []float64 {
	if _, known := n.read[name]; !known {
		var out []float64
		must.OK(n.t, n.file.Read(name+".npy", &out))
		n.read[name] = out
	}
	return n.read[name]
}

func (n *naive) has(name string) bool { return slices.Contains(n.file.Keys(), name+".npy") }

func (n *naive) floats(of map[string]any, key string) (out []float64) {
	for _, v := range of[key].([]any) {
		out = append(out, v.(float64))
	}
	return out
}

// rows cuts an array into rows.
func rows(x []float64, dim int) [][]float64 { return slices.Collect(slices.Chunk(x, dim)) }

// covariance is k(x, y) of a program in postfix form.
func covariance(program []any, theta, x, y []float64, same bool) float64 {
	type step struct{ u, v, value float64 }
	var stack []step
	for _, p := range program {
		in := p.(map[string]any)
		whole := func(key string) int { v, _ := in[key].(float64); return int(v) }
		do, at, count := in["do"].(string), whole("at"), whole("count")
		last := stack[max(0, len(stack)-count):]
		switch do {
		case "+", "*":
			v := last[0].value
			for _, s := range last[1:] {
				if do == "+" {
					v += s.value
				} else {
					v *= s.value
				}
			}
			stack = append(stack[:len(stack)-count], step{value: v})
			continue
		case "change":
			s := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
			u, v := last[0].u, last[0].v
			stack = append(stack[:len(stack)-3], step{value: (1-s(u))*last[1].value*(1-s(v)) + s(u)*last[2].value*s(v)})
			continue
		}
		var columns []int
		for _, c := range in["columns"].([]any) {
			columns = append(columns, int(c.(float64)))
		}
		if do == "step" {
			c, w := (theta[at]-1/theta[at])/2, theta[at+1]
			stack = append(stack, step{u: (x[columns[0]] - c) / w, v: (y[columns[0]] - c) / w})
			continue
		}
		scales, periods := theta[at+1:at+1+whole("scales")], theta[at+1+whole("scales"):][:whole("periods")]
		shape := func() float64 { return theta[at+1+len(scales)+len(periods)] }
		of := func(values []float64, i int) float64 { return values[min(i, len(values)-1)] }
		sum := func(f func(i int, a, b float64) float64) (s float64) {
			for i, c := range columns {
				s += f(i, x[c], y[c])
			}
			return s
		}
		distance := func() float64 {
			return math.Sqrt(sum(func(i int, a, b float64) float64 { return math.Pow((a-b)/of(scales, i), 2) }))
		}
		product := func() float64 {
			return sum(func(i int, a, b float64) float64 { return a * b / (of(scales, i) * of(scales, i)) })
		}
		var k float64
		switch do {
		case "SE":
			k = math.Exp(-distance() * distance() / 2)
		case "RQ":
			k = math.Pow(1+distance()*distance()/(2*shape()), -shape())
		case "MATERN12":
			k = math.Exp(-distance())
		case "MATERN32":
			k = (1 + math.Sqrt(3)*distance()) * math.Exp(-math.Sqrt(3)*distance())
		case "MATERN52":
			k = (1 + math.Sqrt(5)*distance() + 5*distance()*distance()/3) * math.Exp(-math.Sqrt(5)*distance())
		case "PER":
			k = math.Exp(-2 * sum(func(i int, a, b float64) float64 {
				return math.Pow(math.Sin(math.Pi*(a-b)/of(periods, i))/of(scales, i), 2)
			}))
		case "COS":
			k = math.Cos(2 * math.Pi * sum(func(i int, a, b float64) float64 { return (a - b) / of(periods, i) }))
		case "LIN":
			k = product()
		case "POLY2", "POLY3", "POLY4":
			k = math.Pow(product()+shape(), float64(whole("degree")))
		case "RW", "IRW":
			k = sum(func(_ int, a, b float64) float64 {
				a, b = a+shape(), b+shape()
				if a*b <= 0 {
					return 0
				}
				m, most := min(math.Abs(a), math.Abs(b)), max(math.Abs(a), math.Abs(b))
				if do == "RW" {
					return m
				}
				return m * m * (3*most - m) / 6
			})
		case "CAT", "levels":
			k = 1
			if x[columns[0]] != y[columns[0]] { // the columns of texts alone
				k = 0
			}
			if do == "levels" && k == 0 {
				c := func(v float64) float64 {
					for i, l := range in["levels"].([]any) {
						if l.(float64) == v {
							return math.Exp(-1 / (2 * scales[i] * scales[i]))
						}
					}
					return 0
				}
				k = c(x[columns[0]]) * c(y[columns[0]])
			}
		case "CONST":
			k = 1
		case "WN":
			if same {
				k = 1
			}
		default:
			panic("unknown kernel " + do)
		}
		stack = append(stack, step{value: theta[at] * k})
	}
	return stack[0].value
}

// predict returns mean and sd of y at inputs in the data's units, of a target that is
// not transformed.
func (n *naive) predict(x [][]float64) (mean, sd []float64) {
	kernels, scaler := n.about["kernels"].([]any), n.about["scaler"].(map[string]any)
	shift, scale := n.floats(scaler, "x_shift"), n.floats(scaler, "x_scale")
	at := make([][]float64, len(x))
	for i := range x {
		for j := range x[i] {
			at[i] = append(at[i], (x[i][j]-shift[j])/scale[j])
		}
	}
	var weights []float64
	key := n.about["weights"].(string)
	if key == "auto" {
		key = "posterior"
	}
	best, total := math.Inf(-1), 0.0
	for _, k := range kernels {
		best = max(best, k.(map[string]any)["worth"].(float64))
	}
	for _, k := range kernels {
		w, _ := k.(map[string]any)[key].(float64)
		if key == "tempered" {
			w = math.Exp((k.(map[string]any)["worth"].(float64) - best) / n.about["tempering"].(float64))
		}
		weights = append(weights, w)
	}
	if top := int(n.about["top"].(float64)); top > 0 {
		sorted := slices.SortedFunc(slices.Values(weights), func(a, b float64) int { return cmp.Compare(b, a) })
		for i, w := range weights {
			if len(sorted) > top && w <= sorted[top] {
				weights[i] = 0
			}
		}
	}
	for _, w := range weights {
		total += w
	}
	mean, sd = make([]float64, len(x)), make([]float64, len(x))
	for i, w := range weights {
		if w /= total; w < n.about["least"].(float64) {
			continue
		}
		mu, square := n.kernel(i, w, at)
		for r := range x {
			mean[r] += w * mu[r]
			sd[r] += w * square[r]
		}
	}
	ys, y0 := scaler["y_scale"].(float64), scaler["y_shift"].(float64)
	factor := 1.0
	if c, ok := n.about["calibration"].(map[string]any); ok {
		factor = c["factor"].(float64)
	}
	for r := range x {
		sd[r] = factor * math.Sqrt(sd[r]-mean[r]*mean[r]) * ys
		mean[r] = mean[r]*ys + y0
	}
	return mean, sd
}

// kernel returns the mean and the mean square of y under a kernel.
func (n *naive) kernel(i int, weight float64, x [][]float64) (mean, square []float64) {
	name := func(s string) string { return fmt.Sprintf("kernel/%d/%s", i, s) }
	k := n.about["kernels"].([]any)[i].(map[string]any)
	program, share, noise := k["program"].([]any), n.array(name("share")), n.array(name("noise"))
	theta := rows(n.array(name("theta")), len(n.array(name("theta")))/len(share))
	z := rows(n.array("z"), len(x[0]))
	if n.has(name("z")) {
		z = rows(n.array(name("z")), len(x[0]))
	}
	mean, square = make([]float64, len(x)), make([]float64, len(x))
	for s := range share {
		w := share[s]
		if share[0] == 0 && weight < n.about["averaged"].(float64) {
			w = map[bool]float64{true: 1}[s == 0]
		}
		if w == 0 {
			continue
		}
		// With q = Bk(Z,x): mean q·b, variance k(x,x) − qᵀPq.
		b, p, to := n.solved(i, s, program, theta[s], noise[s], z)
		for r := range x {
			kzx := mat.NewVecDense(len(z), nil)
			for a := range z {
				kzx.SetVec(a, covariance(program, theta[s], z[a], x[r], false))
			}
			q := mat.NewVecDense(b.Len(), nil)
			q.MulVec(to, kzx)
			mu := mat.Dot(q, b)
			v := covariance(program, theta[s], x[r], x[r], true) - mat.Inner(q, p, q)
			mean[r] += w * mu
			square[r] += w * (v + noise[s] + mu*mu)
		}
	}
	return mean, square
}

// solved returns b, P and B of a state: m, I − S and L⁻¹; or, from the rows with
// C = k(Z,X) and Q = Cᵀ(K + εI)⁻¹C, (Q + σ²I)⁻¹y, (Q + σ²I)⁻¹ and Cᵀ(K + εI)⁻¹, which
// is the same by Woodbury's identity.
func (n *naive) solved(i, s int, program []any, theta []float64, noise float64, z [][]float64) (b *mat.VecDense, p, to *mat.Dense) {
	m := len(z)
	name := func(s string) string { return fmt.Sprintf("kernel/%d/%s", i, s) }
	if !n.has(name("l")) {
		k := n.about["kernels"].([]any)[i].(map[string]any)
		jitter := n.about["jitter"].(map[string]any)
		x, y := rows(n.array("rows/x"), len(z[0])), n.array("rows/y")
		kzz, c := mat.NewSymDense(m, nil), mat.NewDense(m, len(x), nil)
		trace := 0.0
		for a := range z {
			for e := range a + 1 {
				kzz.SetSym(a, e, covariance(program, theta, z[a], z[e], a == e))
			}
			for e := range x {
				c.Set(a, e, covariance(program, theta, z[a], x[e], false))
			}
			trace += kzz.At(a, a)
		}
		epsilon := k["jitter_factor"].(float64) * (jitter["relative"].(float64)*trace/float64(m) + jitter["absolute"].(float64))
		for a := range z {
			kzz.SetSym(a, a, kzz.At(a, a)+epsilon)
		}
		var cholesky mat.Cholesky
		if !cholesky.Factorize(kzz) {
			n.t.Fatal("k(Z,Z) is not positive definite")
		}
		var solved, q, inverse mat.Dense
		if err := cholesky.SolveTo(&solved, c); err != nil {
			n.t.Log(err)
		}
		q.Mul(c.T(), &solved)
		for e := range x {
			q.Set(e, e, q.At(e, e)+noise)
		}
		inverseOf(n.t, &inverse, &q)
		b = mat.NewVecDense(len(y), nil)
		b.MulVec(&inverse, mat.NewVecDense(len(y), y))
		return b, &inverse, mat.DenseCopyOf(solved.T())
	}
	mean := rows(n.array(name("mean")), m)
	roots := rows(n.array(name("root")), m*m)
	l := mat.NewDense(m, m, slices.Clone(n.array(name("l"))[s*m*m:(s+1)*m*m]))
	root := mat.NewDense(m, m, slices.Clone(roots[min(s, len(roots)-1)]))
	var linv, spread mat.Dense
	inverseOf(n.t, &linv, l)
	spread.Mul(root, root.T())
	if n.about["root"] == "precision" {
		inverseOf(n.t, &spread, mat.DenseCopyOf(&spread))
	}
	rest := mat.NewDense(m, m, nil)
	for a := range m {
		for e := range m {
			rest.Set(a, e, -spread.At(a, e))
		}
		rest.Set(a, a, 1-spread.At(a, a))
	}
	return mat.NewVecDense(m, slices.Clone(mean[min(s, len(mean)-1)])), rest, &linv
}

func inverseOf(t *testing.T, to, of *mat.Dense) {
	t.Helper()
	if err := to.Inverse(of); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			t.Fatal(err)
		}
	}
}

// numbers reads columns of a table of predictions.
func numbers(t *testing.T, path string, names ...string) [][]float64 {
	t.Helper()
	text, err := os.ReadFile(path)
	must.OK(t, err)
	table, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	must.OK(t, err)
	out := make([][]float64, len(names))
	for i, name := range names {
		at := slices.Index(table[0], name)
		for _, row := range table[1:] {
			v, err := strconv.ParseFloat(row[at], 64)
			must.OK(t, err)
			out[i] = append(out[i], v)
		}
	}
	return out
}

// tableOf writes points as a table.
func tableOf(t *testing.T, names string, x [][]float64) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(names + "\n")
	for _, row := range x {
		for j, v := range row {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "points.csv")
	must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
	return path
}
