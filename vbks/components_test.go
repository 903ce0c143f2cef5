package vbks

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
)

// denseComponent is the posterior of one component of an exact GP at x, by the
// textbook's formulas.
func denseComponent(
	whole *kernelspace.Program, c *kernelspace.Component, theta []float64, noise float64, d Training, x []float64,
) (mean, variance float64) {
	n := d.Rows()
	k := mat.NewSymDense(n, nil)
	cross, y := mat.NewVecDense(n, nil), mat.NewVecDense(n, d.Y)
	row := func(i int) []float64 { return d.X[i*d.Dim : (i+1)*d.Dim] }
	own := c.Theta(theta)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, whole.Eval(theta, row(i), row(j), i == j))
		}
		k.SetSym(i, i, k.At(i, i)+noise)
		cross.SetVec(i, c.Program.Eval(own, x, row(i), false))
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		panic("not positive definite")
	}
	var alpha, beta mat.VecDense
	if chol.SolveVecTo(&alpha, y) != nil || chol.SolveVecTo(&beta, cross) != nil {
		panic("singular")
	}
	return mat.Dot(cross, &alpha), c.Program.Eval(own, x, x, true) - mat.Dot(cross, &beta)
}

// With an inducing input at every row the components are those of the exact GP.
func TestComponentsOfTheExactGP(t *testing.T) {
	one := trainingSeries(21, 40)
	two := Training{X: make([]float64, 0, 80), Y: one.Y, Dim: 2}
	for i, x := range one.X {
		two.X = append(two.X, x, math.Cos(3*float64(i)))
	}
	for _, c := range []struct {
		data  Training
		exprs []string
	}{
		{one, []string{"PER+SE", "(PER+RQ)*LIN", "LIN+SE*PER+SE"}},
		{two, []string{"SE[1]+LIN[2]", "SE[1]*(SE[2]+LIN[1])"}},
	} {
		for _, optimizer := range []string{"collapsed", "natural"} {
			s := quickSettings(optimizer)
			s.PredictTheta = "mode"
			s.Inducing, s.EvaluateEvery, s.Jitter.Relative, s.Placement = 40, 1, 1e-11, "random"
			s.NoiseFloor = 0.01
			tr := trainerOn(t, 1, nil, c.data, s, c.exprs...)
			next(t, tr)
			x := []float64{-3.2, 0.4, 1.1, -0.7, 3.9, 0.1}
			for _, id := range c.exprs {
				e, err := kernelspace.Parse(id)
				if err != nil {
					t.Fatal(err)
				}
				p, theta, noise, err := tr.Solution(e.ID())
				if err != nil {
					t.Fatal(err)
				}
				components, err := p.Components()
				if err != nil {
					t.Fatal(err)
				}
				got, err := tr.Components(context.Background(), e.ID(), x)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(components) || len(got) < 2 {
					t.Fatalf("%s: %d components, want %d", id, len(got), len(components))
				}
				for i := range components {
					if got[i].ID != components[i].Expr.ID() {
						t.Errorf("%s: component %d is called %s", id, i, got[i].ID)
					}
					for row := range len(x) / c.data.Dim {
						mean, variance := denseComponent(p, &components[i], theta, noise, c.data, x[row*c.data.Dim:(row+1)*c.data.Dim])
						at := x[row*c.data.Dim : (row+1)*c.data.Dim]
						scale := components[i].Program.Eval(components[i].Theta(theta), at, at, true)
						if d := math.Abs(got[i].Mean[row] - mean); d > 1e-4*(1+math.Sqrt(scale)) {
							t.Errorf("%s %s, %s at row %d: mean %v, the exact GP's is %v", optimizer, id, got[i].ID, row, got[i].Mean[row], mean)
						}
						if d := math.Abs(got[i].Var[row] - variance); d > 1e-4*(1+scale) {
							t.Errorf("%s %s, %s at row %d: variance %v, the exact GP's is %v", optimizer, id, got[i].ID, row, got[i].Var[row], variance)
						}
					}
				}
			}
		}
	}
}

// Whatever the optimiser and the form of q(log θ), the means add up to that of
// the whole, and the only component of a product is the whole.
func TestComponentsAddUp(t *testing.T) {
	data := trainingSeries(22, 90)
	x := make([]float64, 600) // more than a chunk of the stochastic optimisers
	for i := range x {
		x[i] = -5 + 10*float64(i)/600
	}
	for _, optimizer := range optimizers {
		for _, hyper := range []string{"point", "diagonal", "full"} {
			s := quickSettings(optimizer)
			s.PredictTheta = "mode"
			s.Hyperparameters, s.Steps = hyper, 4
			tr := trainerOn(t, 2, nil, data, s, "LIN+PER+SE", "LIN*SE", "SE+WN")
			next(t, tr)
			for _, id := range []string{"PER+LIN+SE", "LIN*SE", "SE+WN"} {
				p, err := tr.Predict(context.Background(), x, PredictOptions{IDs: []string{id}})
				if err != nil {
					t.Fatal(err)
				}
				got, err := tr.Components(context.Background(), id, x)
				if err != nil {
					t.Fatal(err)
				}
				for row := range x {
					var sum float64
					for _, c := range got {
						sum += c.Mean[row]
						if !(c.Var[row] > -1e-9) {
							t.Fatalf("%s %s: variance of %s is %v", optimizer, hyper, c.ID, c.Var[row])
						}
					}
					if math.Abs(sum-p.Mean[0][row]) > 1e-9 {
						t.Fatalf("%s %s: components of %s at %g add up to %v, not %v", optimizer, hyper, id, x[row], sum, p.Mean[0][row])
					}
					if len(got) == 1 && math.Abs(got[0].Var[row]-p.Var[0][row]) > 1e-12 {
						t.Fatalf("%s %s: variance of %s is %v, not %v", optimizer, hyper, id, got[0].Var[row], p.Var[0][row])
					}
				}
			}
			if optimizer == "collapsed" && hyper == "point" {
				// White noise at other inputs is as before the data.
				_, theta, _, _ := tr.Solution("SE+WN")
				got, _ := tr.Components(context.Background(), "SE+WN", x[:1])
				if got[1].Mean[0] != 0 || math.Abs(got[1].Var[0]-theta[2]) > 1e-12 {
					t.Errorf("white noise: mean %v, variance %v, want 0 and %v", got[1].Mean[0], got[1].Var[0], theta[2])
				}
			}
			// Asking for components leaves predictions as they are.
			a, _ := tr.Predict(context.Background(), x[:5], PredictOptions{})
			b, _ := tr.Predict(context.Background(), x[:5], PredictOptions{})
			near(t, "prediction after components", a.Mean[0], b.Mean[0], 0)
		}
	}
}

func TestComponentsErrors(t *testing.T) {
	tr := trainerOn(t, 1, nil, trainingSeries(23, 40), quickSettings("collapsed"), "SE", "LIN+SE")
	for _, c := range []struct{ id, want string }{{"SE", "no solution yet"}, {"nosuch", "not in the space"}} {
		if _, err := tr.Components(context.Background(), c.id, []float64{0}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.id, err, c.want)
		}
	}
	next(t, tr)
	if _, err := tr.Prune([]string{"LIN+SE"}); err != nil {
		t.Fatal(err)
	}
	if got, err := tr.Components(context.Background(), "LIN+SE", []float64{0}); err != nil || len(got) != 2 {
		t.Errorf("a pruned kernel: %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tr.Components(ctx, "SE", []float64{0}); err == nil {
		t.Error("components although the context is over")
	}
}

// What is believed of a component at several points together has the means and variances
// of its prediction, by point estimates and averaged over hyperparameters, and with an
// inducing input at every row the covariances of an exact Gaussian process.
func TestComponentsTogether(t *testing.T) {
	data, points := trainingSeries(21, 30), []float64{-3.2, 0.4, 1.1}
	for _, theta := range []string{"mode", "laplace"} {
		s := quickSettings("collapsed")
		s.PredictTheta, s.Inducing, s.EvaluateEvery, s.Jitter.Relative, s.NoiseFloor = theta, 30, 1, 1e-11, 0.01
		tr := trainerOn(t, 1, nil, data, s, "SE+LIN")
		next(t, tr)
		f, err := tr.Freeze(t.Context(), FreezeOptions{MostFactors: MostFactors})
		must.OK(t, err)
		out := thawed(t, f)
		alone, err := out.Components(t.Context(), tr.leader, points)
		must.OK(t, err)
		joint, err := out.JointComponents(t.Context(), tr.leader, [][]float64{points, nil})
		must.OK(t, err)
		if len(joint) != 2 || joint[0] == nil || joint[1] != nil {
			t.Fatalf("%s: %v", theta, joint)
		}
		b := len(points)
		for i := range points {
			if far(joint[0].Mean[i], alone[0].Mean[i]) || math.Abs(joint[0].Covariance[i*b+i]-alone[0].Var[i]) > 1e-9*(1+alone[0].Var[i]) {
				t.Errorf("%s at %v: %v ± %v, alone %v ± %v", theta, points[i], joint[0].Mean[i], joint[0].Covariance[i*b+i], alone[0].Mean[i],
					alone[0].Var[i])
			}
		}
		if theta != "mode" {
			continue
		}
		p, values, noise, err := tr.Solution(tr.leader)
		must.OK(t, err)
		parts, err := p.Components()
		must.OK(t, err)
		n, own := data.Rows(), parts[0].Theta(values)
		k := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				k.SetSym(i, j, p.Eval(values, data.X[i:i+1], data.X[j:j+1], i == j))
			}
			k.SetSym(i, i, k.At(i, i)+noise)
		}
		var chol mat.Cholesky
		if !chol.Factorize(k) {
			t.Fatal("not positive definite")
		}
		cross := mat.NewDense(n, b, nil)
		for i := range n {
			for j := range points {
				cross.Set(i, j, parts[0].Program.Eval(own, points[j:j+1], data.X[i:i+1], false))
			}
		}
		var solved, less mat.Dense
		must.OK(t, chol.SolveTo(&solved, cross))
		less.Mul(cross.T(), &solved)
		for i := range points {
			for j := range points {
				want := parts[0].Program.Eval(own, points[i:i+1], points[j:j+1], i == j) - less.At(i, j)
				if got := joint[0].Covariance[i*b+j]; math.Abs(got-want) > 1e-4 {
					t.Errorf("between %v and %v: %v, an exact Gaussian process has %v", points[i], points[j], got, want)
				}
			}
		}
	}
	if _, err := (&Thawed{of: &Frozen{}}).JointComponents(t.Context(), "SE", nil); err == nil {
		t.Error("a kernel that the model has not")
	}
}
