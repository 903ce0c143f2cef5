package vbks

import (
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/golden"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// goldenFile is a file of schema vbks-golden/1; its README says what the
// numbers are.
type goldenFile struct {
	Schema string      `json:"schema"`
	Jitter float64     `json:"jitter"`
	Noise  float64     `json:"noise_variance"`
	Batch  int         `json:"batch"`
	QMean  []float64   `json:"q_mean"`
	QChol  [][]float64 `json:"q_chol"`
	Data   map[string]struct {
		X     [][]float64
		Y     []float64 `json:"y"`
		Z     [][]float64
		XTest [][]float64 `json:"X_test"`
	} `json:"data"`
	Cases []goldenCase `json:"cases"`
}

type goldenCase struct {
	Name      string       `json:"name"`
	Kernel    string       `json:"kernel"`
	Data      string       `json:"data"`
	Leaves    []goldenLeaf `json:"leaves"`
	Full      goldenELBO   `json:"full"`
	Minibatch goldenELBO   `json:"minibatch"`
	Predict   struct {
		FMean []float64 `json:"f_mean"`
		FVar  []float64 `json:"f_var"`
		YVar  []float64 `json:"y_var"`
	} `json:"predict"`
	Collapsed *float64    `json:"collapsed_titsias"`
	Exact     *float64    `json:"exact_lml"`
	Kuu       [][]float64 `json:"Kuu_nojitter"`
	Kuf       [][]float64 `json:"Kuf_first8"`
	Kff       []float64   `json:"Kff_diag"`
}

type goldenLeaf struct {
	Type        string    `json:"type"`
	Variance    float64   `json:"variance"`
	Lengthscale []float64 `json:"lengthscale"`
	Period      goldenPeriod
}

// goldenPeriod is one period for all columns, or one per column.
type goldenPeriod []float64

func (p *goldenPeriod) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]float64)(p))
	}
	*p = make(goldenPeriod, 1)
	return json.Unmarshal(b, &(*p)[0])
}

type goldenELBO struct {
	ELBO      float64 `json:"elbo"`
	KL        float64 `json:"kl"`
	Expected  float64 `json:"scaled_expected_loglik"`
	Gradients struct {
		Leaves []goldenLeaf `json:"leaves"`
		Noise  float64      `json:"noise_variance"`
		QMean  []float64    `json:"q_mean"`
		QChol  [][]float64  `json:"q_chol"`
		Z      [][]float64  `json:"Z"`
	} `json:"gradients"`
}

func flatten(rows [][]float64) []float64 {
	var out []float64
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}

// compileGolden compiles a case's kernel with its leaves in the order written
// and the parameters that the file gives, and returns its raw parameters.
func (c *goldenCase) compileGolden(t *testing.T, dim int) (*kernelspace.Program, []float64) {
	t.Helper()
	e, err := kernelspace.Parse(c.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	shared := false
	for _, l := range c.Leaves {
		shared = shared || dim > 1 && len(l.Period) == 1
	}
	p, err := kernelspace.Compile(e, kernelspace.Options{Dim: dim, ARD: dim > 1, SharedPeriod: shared})
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]float64, len(p.Params))
	for i := range raw {
		raw[i] = 1
	}
	ins := params.Leaves(p)
	if len(ins) != len(c.Leaves) {
		t.Fatalf("%s: %d leaves compiled, %d in the file", c.Name, len(ins), len(c.Leaves))
	}
	for i, in := range ins {
		l := c.Leaves[i]
		if in.NumScale != len(l.Lengthscale) || in.NumPeriod != len(l.Period) {
			t.Fatalf("%s: leaf %d has %d length scales and %d periods, the file %d and %d", c.Name, i,
				in.NumScale, in.NumPeriod, len(l.Lengthscale), len(l.Period))
		}
		raw[in.Off] = l.Variance
		copy(raw[in.Off+1:], l.Lengthscale)
		copy(raw[in.Off+1+in.NumScale:], l.Period)
	}
	return p, raw
}

// goldenBench is a case on the device.
type goldenBench struct {
	*svgp
	program       *kernelspace.Program
	raw           []float64
	x, y, z, test []float64
	dim           int
	testData      device.Data
}

func newGoldenBench(t *testing.T, f *goldenFile, c *goldenCase) *goldenBench {
	t.Helper()
	d := f.Data[c.Data]
	b := &goldenBench{dim: len(d.X[0]), x: flatten(d.X), y: d.Y, z: flatten(d.Z), test: flatten(d.XTest)}
	b.program, b.raw = c.compileGolden(t, b.dim)
	bound, _ := testBound(t, []*kernelspace.Program{b.program}, b.x, b.y, b.z, b.dim, device.Jitter{Absolute: f.Jitter}, 0)
	s, err := newSVGP(bound.group, len(b.y))
	if err != nil {
		t.Fatal(err)
	}
	if s.gradZ, err = s.lane.NewArray(1, s.m, b.dim); err != nil {
		t.Fatal(err)
	}
	b.svgp = s
	if b.testData, err = s.dev.NewData(b.test, nil, b.dim); err != nil {
		t.Fatal(err)
	}
	one := []int{0}
	ln := s.lane
	// The raw parameters include ones that a run keeps at 1, so they are
	// written directly and not expanded from a free vector.
	ln.Write(s.theta, 0, append(append([]float64(nil), b.raw...), f.Noise))
	ln.Write(s.qm, 0, f.QMean)
	ln.Write(s.qc, 0, flatten(f.QChol))
	ln.Fill(one, s.info, 0)
	ln.Kernel(one, s.ks, s.theta, s.z, s.z, s.kzz)
	ln.Copy(one, s.l, s.kzz)
	ln.AddJitter(one, s.l, s.jitter, s.factor)
	ln.Cholesky(one, s.l, s.info)
	if info, err := s.scalar(s.info, 0); err != nil || info != 0 {
		t.Fatalf("factorisation: info %v, %v", info, err)
	}
	return b
}

// near compares a block: max |difference| / max |reference|.
func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	var worst, scale float64
	for i := range want {
		d := math.Abs(got[i] - want[i])
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		worst, scale = math.Max(worst, d), math.Max(scale, math.Abs(want[i]))
	}
	if worst > tolerance*scale {
		t.Errorf("%s: off by %.3g relative, tolerance %.0e\n got %v\nwant %v", what, worst/scale, tolerance, got, want)
	}
}

func readArray(t testing.TB, ln device.Lane, a device.Array, k int) []float64 {
	t.Helper()
	_, rows, cols := a.Shape()
	out := make([]float64, rows*cols)
	if err := ln.Read(a, k, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGoldenSVGP(t *testing.T) {
	for name, f := range golden.Read[goldenFile](t, "vbks-golden/1") {
		for i := range f.Cases {
			c := &f.Cases[i]
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				value, gradient := 1e-10, 1e-7
				if c.Kernel == "LIN" { // k(Z,Z) has rank 1
					value, gradient = 1e-8, 1e-8
				}
				b := newGoldenBench(t, f, c)
				b.matrices(t, c, f.Batch)
				all := device.All(b.train)
				b.check(t, "full", all, &c.Full, value, gradient)
				all.To = f.Batch
				b.check(t, "minibatch", all, &c.Minibatch, value, gradient)
				b.project([]int{0}, device.All(b.testData))
				b.marginals([]int{0}, device.All(b.testData))
				near(t, "f_mean", readArray(t, b.lane, b.mu, 0), c.Predict.FMean, value)
				v := readArray(t, b.lane, b.v, 0)
				near(t, "f_var", v, c.Predict.FVar, value)
				for i := range v {
					v[i] += f.Noise
				}
				near(t, "y_var", v, c.Predict.YVar, value)
			})
		}
	}
}

// matrices compares the kernel matrices themselves.
func (b *goldenBench) matrices(t *testing.T, c *goldenCase, batch int) {
	t.Helper()
	one := []int{0}
	near(t, "Kuu", readArray(t, b.lane, b.kzz, 0), flatten(c.Kuu), 1e-13)
	x := device.All(b.train)
	b.lane.KernelDiag(one, b.ks, b.theta, x, b.kdiag)
	near(t, "Kff", readArray(t, b.lane, b.kdiag, 0), c.Kff, 1e-13)
	x.To = batch
	b.lane.Kernel(one, b.ks, b.theta, b.svgp.z, x, b.kzx)
	near(t, "Kuf", readArray(t, b.lane, b.kzx, 0), flatten(c.Kuf), 1e-13)
}

// check compares the ELBO of the rows x and all its gradients.
func (b *goldenBench) check(t *testing.T, what string, x device.Points, want *goldenELBO, value, gradient float64) {
	t.Helper()
	one := []int{0}
	b.bound(one, x, float64(b.train.Rows()), true)
	near(t, what+" elbo", readArray(t, b.lane, b.value, 0), []float64{want.ELBO}, value)
	near(t, what+" ∂/∂m", readArray(t, b.lane, b.gradM, 0), want.Gradients.QMean, gradient)
	near(t, what+" ∂/∂C", readArray(t, b.lane, b.gradC, 0), flatten(want.Gradients.QChol), gradient)
	near(t, what+" ∂/∂Z", readArray(t, b.lane, b.gradZ, 0), flatten(want.Gradients.Z), gradient)
	g := readArray(t, b.lane, b.gradTheta, 0)
	near(t, what+" ∂/∂σ_n²", g[len(g)-1:], []float64{want.Gradients.Noise}, gradient)
	for i := range b.raw {
		g[i] /= b.raw[i] // ∂/∂θ from ∂/∂log θ
	}
	for i, in := range params.Leaves(b.program) {
		l := want.Gradients.Leaves[i]
		near(t, what+" ∂/∂variance of "+l.Type, g[in.Off:in.Off+1], []float64{l.Variance}, gradient)
		near(t, what+" ∂/∂lengthscale of "+l.Type, g[in.Off+1:in.Off+1+in.NumScale], l.Lengthscale, gradient)
		near(t, what+" ∂/∂period of "+l.Type, g[in.Off+1+in.NumScale:in.Off+1+in.NumScale+in.NumPeriod], l.Period, gradient)
	}
	// The same bound, KL apart.
	b.expected(one, x, float64(b.train.Rows()), false)
	near(t, what+" expected log likelihood", readArray(t, b.lane, b.value, 0), []float64{want.Expected}, value)
	b.lane.Fill(one, b.value, 0)
	b.subtractKL(one)
	near(t, what+" −KL", readArray(t, b.lane, b.value, 0), []float64{-want.KL}, value)
}

// The bounds above the ELBO: Titsias' and the exact log marginal likelihood,
// at the same hyperparameters with the fixed ones moved into the free.
func TestGoldenBounds(t *testing.T) {
	for name, f := range golden.Read[goldenFile](t, "vbks-golden/1") {
		for i := range f.Cases {
			c := &f.Cases[i]
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				tolerance := 1e-10
				if c.Kernel == "LIN" {
					tolerance = 1e-8
				}
				d := f.Data[c.Data]
				dim := len(d.X[0])
				p, raw := c.compileGolden(t, dim)
				params.Settle(p, raw)
				x, z := flatten(d.X), flatten(d.Z)
				if c.Exact != nil {
					near(t, "exact", []float64{naiveExact(p, raw, f.Noise, x, d.Y, dim)}, []float64{*c.Exact}, tolerance)
					near(t, "exact, on a device", []float64{exactAt(t, p, raw, f.Noise, x, d.Y, dim)}, []float64{*c.Exact}, tolerance)
				}
				if c.Collapsed == nil {
					return
				}
				b, rows := testBound(t, []*kernelspace.Program{p}, x, d.Y, z, dim, device.Jitter{Absolute: f.Jitter}, 0)
				obj := b.boundValue(rows, sumSquares(d.Y), nil)
				free := params.Free(p, raw, f.Noise, 0)
				if err := obj.eval([]int{0}, [][]float64{free}); err != nil {
					t.Fatal(err)
				}
				got, ok, err := obj.result(0, nil)
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				near(t, "collapsed", []float64{got}, []float64{*c.Collapsed}, tolerance)
			})
		}
	}
}

// naiveExact is log N(y | 0, K + σ²I).
func naiveExact(p *kernelspace.Program, raw []float64, noise float64, x, y []float64, dim int) float64 {
	n := len(y)
	row := func(i int) []float64 { return x[i*dim : (i+1)*dim] }
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			cov.SetSym(i, j, p.Eval(raw, row(i), row(j), i == j))
		}
		cov.SetSym(i, i, cov.At(i, i)+noise)
	}
	var ch mat.Cholesky
	ch.Factorize(cov)
	var w mat.VecDense
	yv := mat.NewVecDense(n, append([]float64(nil), y...))
	ch.SolveVecTo(&w, yv)
	return -0.5*mat.Dot(yv, &w) - 0.5*ch.LogDet() - 0.5*float64(n)*math.Log(2*math.Pi)
}
