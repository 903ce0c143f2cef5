package kernelspace

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// goldenFiles reads the golden files of a schema.
func goldenFiles(t *testing.T, schema string) map[string][]byte {
	t.Helper()
	folder := os.Getenv("KESTREL_GOLDEN")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "golden")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var head struct{ Schema string }
		if err := json.Unmarshal(data, &head); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if head.Schema == schema {
			files[filepath.Base(path)] = data
		}
	}
	if len(files) == 0 {
		t.Skipf("no golden file of schema %s in %s; set KESTREL_GOLDEN", schema, folder)
	}
	return files
}

// readSeries reads columns x and y of a data set of the shared folder.
func readSeries(t *testing.T, name string) (x, y []float64) {
	t.Helper()
	folder := os.Getenv("KESTREL_DATA")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(folder, filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		t.Skipf("no data set %s in %s; set KESTREL_DATA", name, folder)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records[1:] {
		a, errA := strconv.ParseFloat(r[0], 64)
		b, errB := strconv.ParseFloat(r[1], 64)
		if errA != nil || errB != nil {
			t.Fatalf("%s: %v", name, r)
		}
		x, y = append(x, a), append(y, b)
	}
	return x, y
}

// goldenKernel is a tree of the golden file, a leaf or a sum or product.
type goldenKernel struct {
	Op             string         `json:"op"`
	Terms          []goldenKernel `json:"terms"`
	K              string         `json:"k"`
	Variance       float64        `json:"variance"`
	Lengthscale    float64        `json:"lengthscale"`
	Alpha          float64        `json:"alpha"`
	Period         float64        `json:"period"`
	Location       float64        `json:"location"`
	BiasVariance   float64        `json:"bias_variance"`
	WeightVariance float64        `json:"weight_variance"`
}

// translation builds the expression of a golden kernel. Column 1 is x; every
// LIN gets its own column, x less its location.
type translation struct {
	theta     []float64
	locations []float64
}

func (tr *translation) leaf(t *testing.T, name string, theta ...float64) Expr {
	tr.theta = append(tr.theta, theta...)
	return parse(t, name)
}

func (tr *translation) lin(t *testing.T, variance, location float64) Expr {
	tr.locations = append(tr.locations, location)
	return tr.leaf(t, fmt.Sprintf("LIN[%d]", 1+len(tr.locations)), variance, 1)
}

func (tr *translation) expr(t *testing.T, g goldenKernel) Expr {
	switch g.Op {
	case "sum", "product":
		var terms []Expr
		for _, term := range g.Terms {
			terms = append(terms, tr.expr(t, term))
		}
		if g.Op == "sum" {
			return Sum(terms...)
		}
		return Product(terms...)
	}
	switch g.K {
	case "WN":
		return tr.leaf(t, "WN", g.Variance)
	case "C":
		return tr.leaf(t, "CONST", g.Variance)
	case "SE":
		return tr.leaf(t, "SE[1]", g.Variance, g.Lengthscale)
	case "RQ":
		return tr.leaf(t, "RQ[1]", g.Variance, g.Lengthscale, g.Alpha)
	case "PER":
		return tr.leaf(t, "PER[1]", g.Variance, g.Lengthscale, g.Period)
	case "PER_zeroDC":
		// PER = (1−m) PER_zeroDC + m C, m = I0(k) exp(−k), at equal variance.
		m := scaledBesselI0(1 / (g.Lengthscale * g.Lengthscale))
		return Sum(
			tr.leaf(t, "PER[1]", g.Variance/(1-m), g.Lengthscale, g.Period),
			tr.leaf(t, "CONST", -g.Variance*m/(1-m)))
	case "LIN":
		return tr.lin(t, g.Variance, g.Location)
	case "LIN_bias":
		return Sum(tr.leaf(t, "CONST", g.BiasVariance), tr.lin(t, g.WeightVariance, g.Location))
	}
	t.Fatalf("golden leaf %q is not known", g.K)
	return Expr{}
}

// scaledBesselI0 is I0(k) exp(−k) = (1/π) ∫ exp(k(cos φ − 1)) dφ over [0, π],
// by the trapezoidal rule, which converges geometrically for periodic smooth
// integrands.
func scaledBesselI0(k float64) float64 {
	const n = 4096
	sum := 0.0
	for i := range n {
		sum += math.Exp(k * (math.Cos(2*math.Pi*float64(i)/n) - 1))
	}
	return sum / n
}

func TestGoldenLML(t *testing.T) {
	for name, data := range goldenFiles(t, "vbks-lml/1") {
		var file struct {
			Cases []struct {
				Dataset, Source, Expr string
				N                     int
				Mean, NLL, Tolerance  float64
				Kernel                goldenKernel
				NoiseVariance         float64 `json:"noise_variance"`
			}
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		if len(file.Cases) == 0 {
			t.Fatalf("%s has no cases", name)
		}
		for i, c := range file.Cases {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				t.Parallel()
				x, y := readSeries(t, c.Dataset)
				if len(x) != c.N {
					t.Fatalf("%s has %d rows, want %d", c.Dataset, len(x), c.N)
				}
				var tr translation
				e := tr.expr(t, c.Kernel)
				p := compile(t, e, Options{Dim: 1 + len(tr.locations)})
				rows := make([][]float64, len(x))
				for k := range x {
					rows[k] = []float64{x[k]}
					for _, l := range tr.locations {
						rows[k] = append(rows[k], x[k]-l)
					}
					y[k] -= c.Mean
				}
				if got := negativeLogLikelihood(t, p, tr.theta, rows, y, c.NoiseVariance); !(math.Abs(got-c.NLL) <= c.Tolerance) {
					t.Errorf("%s on %s: nll %.9f, want %.9f ± %g", c.Expr, c.Dataset, got, c.NLL, c.Tolerance)
				}
			})
		}
	}
}

// negativeLogLikelihood is −log N(y | 0, K + σ_n² I).
func negativeLogLikelihood(t *testing.T, p *Program, theta []float64, rows [][]float64, y []float64, noise float64) float64 {
	t.Helper()
	n := len(y)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, p.Eval(theta, rows[i], rows[j], i == j))
		}
		k.SetSym(i, i, k.At(i, i)+noise)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		t.Fatal("the covariance is not positive definite")
	}
	target := mat.NewVecDense(n, y)
	var solved mat.VecDense
	if err := chol.SolveVecTo(&solved, target); err != nil {
		if _, conditioned := err.(mat.Condition); !conditioned {
			t.Fatal(err)
		}
	}
	return 0.5*mat.Dot(target, &solved) + 0.5*chol.LogDet() + 0.5*float64(n)*math.Log(2*math.Pi)
}

// The kernel matrices of the sparse golden cases, computed to 60 digits.
func TestGoldenKernelMatrices(t *testing.T) {
	type leaf struct {
		Type            string
		Variance, Alpha float64
		Lengthscale     []float64
		Period          float64
	}
	for name, data := range goldenFiles(t, "vbks-golden/1") {
		var file struct {
			Data  map[string]struct{ X, Z [][]float64 }
			Cases []struct {
				Name, Kernel, Data string
				Leaves             []leaf
				Kuu                [][]float64 `json:"Kuu_nojitter"`
				Kuf                [][]float64 `json:"Kuf_first8"`
				Kff                []float64   `json:"Kff_diag"`
			}
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		if len(file.Cases) == 0 {
			t.Fatalf("%s has no cases", name)
		}
		for _, c := range file.Cases {
			d := file.Data[c.Data]
			p := compile(t, parse(t, c.Kernel), Options{Dim: len(d.X[0]), ARD: true})
			var theta []float64
			for _, l := range c.Leaves {
				theta = append(append(theta, l.Variance), l.Lengthscale...)
				switch l.Type {
				case "RQ":
					theta = append(theta, l.Alpha)
				case "PER":
					for range d.X[0] {
						theta = append(theta, l.Period)
					}
				}
			}
			compare := func(what string, got, want float64) {
				t.Helper()
				if relative(got, want, 1e-300) > 1e-12 {
					t.Errorf("%s, %s, %s: %g, want %g", name, c.Name, what, got, want)
				}
			}
			kuu := p.Matrix(theta, d.Z, nil)
			kuf := p.Matrix(theta, d.Z, d.X[:8])
			for i := range c.Kuu {
				for j := range c.Kuu[i] {
					compare("Kuu", kuu[i][j], c.Kuu[i][j])
				}
				for j := range c.Kuf[i] {
					compare("Kuf", kuf[i][j], c.Kuf[i][j])
				}
			}
			for i, want := range c.Kff {
				compare("Kff", p.Eval(theta, d.X[i], d.X[i], true), want)
			}
		}
	}
}
