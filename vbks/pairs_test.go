package vbks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks/params"
)

// pairUnit is a unit of a kernel PER*PER+SE, all rows inducing inputs, on what it makes of raw parameters with noise, and its objectives.
func pairUnit(
	t *testing.T, n int, of []float64, noise float64, o order,
) (u *unit, onRows, plain objective, free func(raw []float64) []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 3))
	d := Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		d.X[i], d.Y[i] = 20*rng.Float64()-10, rng.NormFloat64()
	}
	s := quickSettings("collapsed")
	s.Inducing, s.Steps, s.AllRows = n, 60, n
	p := trainerOn(t, 1, nil, d, s, "PER*PER+SE").kernels[0].program
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			cov.SetSym(i, j, p.Eval(of, d.X[i:i+1], d.X[j:j+1], i == j))
		}
		cov.SetSym(i, i, cov.At(i, i)+noise)
	}
	var chol mat.Cholesky
	var lower mat.TriDense
	if !chol.Factorize(cov) {
		t.Fatal("not positive definite")
	}
	chol.LTo(&lower)
	var y mat.VecDense
	y.MulVec(&lower, mat.NewVecDense(n, d.Y))
	d.Y = y.RawVector().Data
	tr := trainerOn(t, 1, nil, d, s, "PER*PER+SE")
	must.OK(t, tr.prepareSearch())
	o.Phase, o.Number, o.Rows, o.Screen, o.Compared = phaseSearch, 1, n, tr.spreadRows(n, 30), tr.spreadRows(n, n)
	u = newUnit(t.Context(), tr.site(), &o, tr.workers[0], []task{{Kernel: 0, Known: outcome{Factor: 1}}})
	must.OK(t, u.load(tr.workers[0].bound.group))
	rows, yy := device.Points{Data: u.train, To: n}, sumSquares(d.Y)
	bound := tr.workers[0].bound
	return u, bound.boundObjective(rows, yy, u.stop), bound.boundValue(rows, yy, u.stop),
		func(raw []float64) []float64 { return params.Free(p, raw, noise, tr.floor) }
}

// shorterOf is the shorter period of a unit's product, and the longer one.
func shorterOf(u *unit) (shorter, longer float64) {
	raw, _ := params.Raw(u.model(0).program, u.outcomes[0].Best.X, u.floor)
	return min(raw[2], raw[5]), max(raw[2], raw[5])
}

// Where a solution is taken up with all rows, the shorter period of a product moves to the line beside it that is right for these,
// where no ascent leads.
func TestTakenUpOnTheNextLine(t *testing.T) {
	const longer, shorter, noise = 1.7, 0.29, 0.02
	of := []float64{1, 0.8, longer, 1, 0.8, shorter, 0.3, 4}
	for _, rough := range []bool{false, true} {
		u, onRows, plain, free := pairUnit(t, 150, of, noise, order{Rough: rough})
		beside := slices.Clone(of)
		beside[5] = 1 / (1/shorter - 1/longer)
		u.tasks[0].Last = &State{Free: free(beside)}
		must.OK(t, u.resume(t.Context(), onRows, plain))
		got, _ := shorterOf(u)
		if right := math.Abs(got/shorter-1) < 0.005; right != rough {
			t.Errorf("lines tried: %v; taken up at %.4f with a period of %.4f, drawn with %.4f", rough, beside[5], got, shorter)
		}
	}
}

// From a product that explains nothing one period with short details is found first, and then the two that it stands for.
func TestSiftedThenPaired(t *testing.T) {
	const longer, shorter, noise = 1.8, 1.8 / 13, 0.02
	u, onRows, plain, free := pairUnit(t, 300, []float64{1, 0.7, longer, 1, 0.8, shorter, 0.5, 4}, noise, order{Thorough: true})
	a := &ascent{start: free([]float64{1e-3, 20, 9, 1, 20, 5, 0.5, 4})}
	must.OK(t, value([]int{0}, []*ascent{a}, plain))
	u.outcomes[0].offer(a, "last")
	before := u.outcomes[0].value()
	must.OK(t, u.sift(t.Context(), onRows, plain))
	short, long := shorterOf(u)
	t.Logf("%.4f and %.4f from %q, %.1f nats, %.1f before", long, short, u.outcomes[0].Best.Source, u.outcomes[0].value(), before)
	if math.Abs(short/shorter-1) > 0.005 || math.Abs(long/longer-1) > 0.005 {
		t.Errorf("periods of %.4f and %.4f, drawn with %.4f and %.4f", long, short, longer, shorter)
	}
}
