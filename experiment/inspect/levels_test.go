package inspect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// Effects of levels are those of a dense Gaussian process with the kernel that the run has
// found, and the true ones are within three standard deviations.
func TestLevelEffects(t *testing.T) {
	thorough.Unraced(t)
	rng := rand.New(rand.NewPCG(12, 4))
	truth := map[string]float64{"mid": 0, "low": -9, "top": 4}
	var b strings.Builder
	b.WriteString("x,u,kind,y\n")
	for i := range 90 {
		kind := []string{"mid", "low", "mid", "top"}[i%4]
		x := 10 * rng.Float64()
		fmt.Fprintf(&b, "%.4f,%.3f,%s,%.4f\n", x, rng.Float64(), kind, 3*math.Sin(x)+truth[kind]+0.5*rng.NormFloat64())
	}
	path := filepath.Join(t.TempDir(), "kinds.csv")
	must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
	var set []config.Override
	for _, s := range []string{
		"kernels.expressions=SE[x]+CAT[kind]", "sparse.inducing=90", "optimise.optimizer=collapsed", "optimise.evidence=mode",
		"schedule.evaluate_every=1", "schedule.refine=0", "data.test=0", "optimise.starts=3",
	} {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		set = append(set, o)
	}
	c, err := config.ForTable(path, "", set)
	must.OK(t, err)
	_, r, _ := runtest.Finished(t, c)
	i := runtest.Inspect(t, r)
	all, err := i.LevelEffects(t.Context())
	must.OK(t, err)
	if len(all) != 1 || all[0].Against != "mid" || all[0].Rows != 45 || len(all[0].Levels) != 2 || all[0].Column != 2 {
		t.Fatalf("%+v", all)
	}
	p, theta, noise, err := i.Trainer().Solution(i.Trainer().Last().Kernels[0].ID)
	must.OK(t, err)
	d, s := i.OfData(), i.OfScaler()
	x, y := s.X(d, d.Train), s.Y(d, d.Train)
	n, dim := len(y), d.Dim
	row := func(k int) []float64 { return x[k*dim : (k+1)*dim] }
	k := mat.NewSymDense(n, nil)
	for a := range n {
		for b := range a + 1 {
			k.SetSym(a, b, p.Eval(theta, row(a), row(b), a == b))
		}
		k.SetSym(a, a, k.At(a, a)+noise)
	}
	var chol mat.Cholesky
	chol.Factorize(k)
	at := func(level float64) []float64 { // any x: the rest of the kernel takes no part in the difference
		v := append([]float64(nil), row(0)...)
		v[2] = s.Input(2, level)
		return v
	}
	// Levels are numbered as they come in the file: mid, low, top.
	for _, e := range all[0].Levels {
		level := map[string]float64{"low": 1, "top": 2}[e.Level]
		one, base := at(level), at(0)
		c := mat.NewVecDense(n, nil)
		for a := range n {
			c.SetVec(a, p.Eval(theta, one, row(a), false)-p.Eval(theta, base, row(a), false))
		}
		var w mat.VecDense
		must.OK(t, chol.SolveVecTo(&w, c))
		mean := mat.Dot(&w, mat.NewVecDense(n, y)) * s.YScale
		prior := p.Eval(theta, one, one, false) + p.Eval(theta, base, base, false) - 2*p.Eval(theta, one, base, false)
		sd := math.Sqrt(prior-mat.Dot(&w, c)) * s.YScale
		// That hyperparameters are not known adds a little to what is known of effects.
		if math.Abs(e.Mean-mean) > 1e-3*math.Abs(mean) || e.SD < 0.999*sd || e.SD > 1.05*sd {
			t.Errorf("%s: %v ± %v, a dense Gaussian process says %v ± %v", e.Level, e.Mean, e.SD, mean, sd)
		}
		if off := math.Abs(e.Mean - truth[e.Level]); off > 3*e.SD || e.SD > 0.4 {
			t.Errorf("%s: %v ± %v, the truth is %v", e.Level, e.Mean, e.SD, truth[e.Level])
		}
	}

	// Along the column there is nothing between two levels, nor beyond the last.
	q := inspect.FitQuery{Column: 2, Low: -0.5, High: 2.5, Points: 31}
	curve, err := i.Curve(t.Context(), q)
	must.OK(t, err)
	for k, x := range curve.X {
		if exact := 10 * int(max(0, min(math.Round(x), 2))); math.Abs(curve.Mean[k]-curve.Mean[5+exact]) > 1e-12 {
			t.Errorf("at %v: %v, at its level %v", x, curve.Mean[k], curve.Mean[5+exact])
		}
	}
	if curve.Mean[5] == curve.Mean[15] || curve.Mean[15] == curve.Mean[25] {
		t.Errorf("the levels are alike: %v", curve.Mean)
	}
	id := i.Trainer().Last().Kernels[0].ID
	cov, err := i.Covariance(id, 2, 31, false)
	must.OK(t, err)
	if cov.About != 0 || cov.Lag[0] != -0.5 || cov.Lag[30] != 2.5 || cov.Value[0] != cov.Value[8] || cov.Value[8] <= cov.Value[16] {
		t.Errorf("covariance about %v: %v at %v", cov.About, cov.Value, cov.Lag)
	}
	draws, err := i.PriorDraws(id, 2, 31, 1, false)
	must.OK(t, err)
	if d := draws.Draws[0]; math.Abs(d[0]-d[8]) > 1e-2*math.Abs(d[0]-d[16]) {
		t.Errorf("within a level a draw goes from %v to %v, to the next one to %v", d[0], d[8], d[16])
	}
}
