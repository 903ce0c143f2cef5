package distance

import (
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/random"
	"example.com/kestrel/vbks/starts"
)

// The distance of two normals in one dimension, against its definition
// ½∫(√p − √q)² by the rectangle rule.
func TestSquaredHellinger(t *testing.T) {
	density := func(x, variance float64) float64 {
		return math.Exp(-x*x/(2*variance)) / math.Sqrt(2*math.Pi*variance)
	}
	for _, c := range [][2]float64{{1, 1}, {1, 2}, {0.3, 4}, {1e-2, 1}} {
		const step = 1e-3
		want := 0.0
		for x := -40.0; x < 40; x += step {
			d := math.Sqrt(density(x, c[0])) - math.Sqrt(density(x, c[1]))
			want += d * d / 2 * step
		}
		got := squaredHellinger(math.Log(c[0]), math.Log(c[1]), math.Log((c[0]+c[1])/2))
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("variances %v: %v, by integration %v", c, got, want)
		}
	}
	if d := squaredHellinger(-700, -700, -700); d != 0 {
		t.Errorf("equal normals: %v", d)
	}
	if d := squaredHellinger(math.Log(1e-300), math.Log(1e300), math.Log(5e299)); !(d > 1-1e-9 && d <= 1) {
		t.Errorf("normals far from each other: %v", d)
	}
	if d := squaredHellinger(1, 1, 1-1e-13); d != 0 {
		t.Errorf("rounding makes it %v", d)
	}
}

func compiled(t *testing.T, texts ...string) (programs []*kernelspace.Program) {
	t.Helper()
	for _, text := range texts {
		programs = append(programs, kernelspacetest.Program(t, text, kernelspace.Options{Columns: []string{"a", "b"}, Dim: 2}))
	}
	return programs
}

// Expected distances against naive matrices and determinants, with the same
// draws.
func TestPrior(t *testing.T) {
	const n, draws = 12, 5
	rng := random.Stream(1, "test", 0)
	var x []float64
	var rows [][]float64
	for range n {
		row := []float64{rng.NormFloat64(), rng.NormFloat64()}
		x, rows = append(x, row...), append(rows, row)
	}
	scales := starts.Summarise(x, []float64{1, -1, 2, -2}, 2)
	programs := compiled(t, "SE", "SE+LIN", "PER*RQ", "SE+SE", "WN")
	level, err := simd.Choose(os.Getenv(simd.Variable))
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewPrior(cpu.New(cpu.Options{Lanes: 2, Level: level}), x, scales, programs, draws, 3)
	if err != nil {
		t.Fatal(err)
	}
	covariance := func(i, s int) *mat.SymDense {
		k := programs[i].Matrix(d.theta[s][i], rows, nil)
		c := mat.NewSymDense(n, nil)
		for a := range n {
			for b := range a + 1 {
				c.SetSym(a, b, k[a][b])
			}
			c.SetSym(a, a, k[a][a]+d.noise[s])
		}
		return c
	}
	logDet := func(c *mat.SymDense) float64 {
		v, sign := mat.LogDet(c)
		if sign <= 0 {
			t.Fatal("not positive definite")
		}
		return v
	}
	var all [][]float64
	for i := range programs {
		got, err := d.From(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got)
		for j := range programs {
			want := 0.0
			for s := range draws {
				a, b := covariance(i, s), covariance(j, s)
				var sum mat.SymDense
				sum.AddSym(a, b)
				sum.ScaleSym(0.5, &sum)
				want += (1 - math.Exp(logDet(a)/4+logDet(b)/4-logDet(&sum)/2)) / draws
			}
			if math.Abs(got[j]-want) > 1e-9 {
				t.Errorf("%s and %s: %v, naively %v", programs[i].ID, programs[j].ID, got[j], want)
			}
		}
	}
	for i := range all {
		if all[i][i] != 0 {
			t.Errorf("%s is at distance %v from itself", programs[i].ID, all[i][i])
		}
		for j := range all {
			if math.Abs(all[i][j]-all[j][i]) > 1e-12 || all[i][j] < 0 || all[i][j] > 1 {
				t.Errorf("%s and %s: %v and back %v", programs[i].ID, programs[j].ID, all[i][j], all[j][i])
			}
		}
	}
	// What kernels have in common has the same values in both.
	for s := range draws {
		scale := func(i int, name string) float64 {
			k := slices.IndexFunc(programs[i].Params, func(p kernelspace.Param) bool { return p.Base == "SE" && p.Name == name })
			return d.theta[s][i][k]
		}
		if a, b := scale(0, "lengthscale"), scale(1, "lengthscale"); a != b {
			t.Errorf("draw %d: the length scale of SE is %v alone and %v beside LIN", s, a, b)
		}
	}
}

// Along every axis of the cube each stratum is met once.
func TestLatinCube(t *testing.T) {
	const draws = 8
	c := &latinCube{draws: draws, seed: 1, axes: map[string][]float64{}}
	var met [draws]int
	for s := range draws {
		met[int(draws*distuv.UnitNormal.CDF(c.at("axis", s)))]++
	}
	if met != [draws]int{1, 1, 1, 1, 1, 1, 1, 1} {
		t.Errorf("strata were met so often: %v", met)
	}
	if c.at("axis", 0) == c.at("other", 0) {
		t.Error("two axes have the same values")
	}
}
