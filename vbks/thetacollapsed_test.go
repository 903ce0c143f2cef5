package vbks

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/params"
)

// thetaBench makes the objective of some kernels with broad priors; Z may be X.
func thetaBench(t testing.TB, x, y, z []float64, diagonal bool, exprs ...string) *thetaObjective {
	t.Helper()
	var programs []*kernelspace.Program
	var priors []prior
	for _, e := range exprs {
		p := kernelspacetest.Program(t, e, kernelspace.Options{Dim: 1})
		programs, priors = append(programs, p), append(priors, broad(p))
	}
	c, rows := testBound(t, programs, x, y, z, 1, device.Jitter{Relative: 1e-6}, 1e-6)
	if err := c.group.load(programs, priors); err != nil {
		t.Fatal(err)
	}
	o, err := newThetaObjective(c, rows, sumSquares(y), diagonal, 1, exprs, priors, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// at evaluates member k.
func (o *thetaObjective) at(t testing.TB, k int, x, grad []float64) float64 {
	t.Helper()
	obj := o.objective()
	if err := obj.eval([]int{k}, [][]float64{x}); err != nil {
		t.Fatal(err)
	}
	v, ok, err := obj.result(k, grad)
	if err != nil || !ok {
		t.Fatalf("member %d cannot be evaluated: %v", k, err)
	}
	return v
}

// fit maximises the objective of all members from free vector 0 with noise .1.
func (o *thetaObjective) fit(t testing.TB) []*ascent {
	t.Helper()
	runs := make([]*ascent, len(o.priors))
	for k := range runs {
		point := make([]float64, o.bound.freeLen(k))
		point[len(point)-1] = math.Log(0.1)
		runs[k] = &ascent{start: o.start(point, thetaStart)}
	}
	if err := ascend(context.Background(), nil, o.bound.all, runs, 200, o.objective()); err != nil {
		t.Fatal(err)
	}
	for _, a := range runs {
		if a.x == nil {
			t.Fatal("no point could be evaluated")
		}
	}
	return runs
}

// start returns the variables of a q(log θ) around a free vector, with
// independent entries of standard deviation sd.
func (o *thetaObjective) start(point []float64, sd float64) []float64 {
	return o.pack(point, orIdentity(nil, len(point), sd))
}

// someBelief is a q(log θ) with entries of every kind.
func someBelief(rng *rand.Rand, f int) (mean, chol []float64) {
	mean, chol = make([]float64, f), make([]float64, f*f)
	for i := range f {
		mean[i] = 0.4 * rng.NormFloat64()
		for j := range i {
			chol[i*f+j] = 0.2 * rng.NormFloat64()
		}
		chol[i*f+i] = 0.1 + 0.2*rng.Float64()
	}
	return mean, chol
}

func TestMatchedDraws(t *testing.T) {
	const f, pairs = 5, 7
	draws := matchedDraws(3, "SE", f, pairs)
	if len(draws) != 2*pairs {
		t.Fatalf("%d draws", len(draws))
	}
	for i := range f {
		for j := range f {
			var first, second float64
			for _, eta := range draws {
				first += eta[i] / (2 * pairs)
				second += eta[i] * eta[j] / (2 * pairs)
			}
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(first) > 1e-14 || math.Abs(second-want) > 1e-12 {
				t.Errorf("moments %d, %d: %g, %g", i, j, first, second)
			}
		}
	}
	if slices.Equal(draws[0], matchedDraws(3, "RQ", f, pairs)[0]) || slices.Equal(draws[0], matchedDraws(4, "SE", f, pairs)[0]) {
		t.Error("draws do not depend on the kernel or the seed")
	}
}

// Pack and unpack are each other's reverse, but for the sign of columns of C.
func TestThetaVariables(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	for f := 1; f < 6; f++ {
		mean, chol := someBelief(rng, f)
		full, diagonal := &thetaObjective{}, &thetaObjective{diagonal: true}
		flipped := slices.Clone(chol)
		for i := range f {
			flipped[i*f] *= -1
		}
		for _, c := range [][]float64{chol, flipped} {
			gm, gc := full.unpack(full.pack(mean, c))
			near(t, "mean", gm, mean, 0)
			near(t, "C", gc, chol, 1e-15)
		}
		_, gc := diagonal.unpack(diagonal.pack(mean, chol))
		for i := range f {
			for j := range f {
				want := 0.0
				if i == j {
					want = chol[i*f+i]
				}
				if math.Abs(gc[i*f+j]-want) > 1e-15 {
					t.Errorf("diagonal C[%d, %d] = %g, want %g", i, j, gc[i*f+j], want)
				}
			}
		}
		gm, gc := full.unpack(full.start(mean, 0.3))
		near(t, "mean of the start", gm, mean, 0)
		near(t, "C of the start", gc, orIdentity(nil, f, 0.3), 1e-15)
	}
}

// Gradients against central differences, in a group where the kernel is padded,
// with draws beyond the soft bounds of one entry.
func TestThetaObjectiveGradient(t *testing.T) {
	x, y, z := testData(31, 24, 5, 1)
	rng := rand.New(rand.NewPCG(2, 12))
	for _, diagonal := range []bool{true, false} {
		o := thetaBench(t, x, y, z, diagonal, "SE+LIN", "SE+PER*RQ+LIN")
		for k := range o.priors {
			f := o.bound.freeLen(k)
			hi := slices.Clone(o.priors[k].hi)
			hi[1] = 0.1
			o.bound.lane.Write(o.bound.hi, k, o.bound.padded(hi, 1e3))
			mean, chol := someBelief(rng, f)
			v := o.pack(mean, chol)
			if want := map[bool]int{true: 2 * f, false: 2*f + f*(f-1)/2}[diagonal]; len(v) != want {
				t.Fatalf("%d variables, want %d", len(v), want)
			}
			grad := make([]float64, len(v))
			o.at(t, k, v, grad)
			for i := range v {
				const h = 1e-5
				w := slices.Clone(v)
				w[i] += h
				up := o.at(t, k, w, nil)
				w[i] -= 2 * h
				fd := (up - o.at(t, k, w, nil)) / (2 * h)
				if math.Abs(fd-grad[i]) > 1e-5*(1+math.Abs(fd)) {
					t.Errorf("diagonal %v, member %d: ∂/∂x[%d] = %.9g, differences %.9g", diagonal, k, i, grad[i], fd)
				}
			}
		}
	}
}

// As C shrinks the average is the bound at the mean, without log p(θ), and the
// evaluation leaves the group's own log p(θ) as it was.
func TestNarrowThetaObjectiveIsThePoint(t *testing.T) {
	x, y, z := testData(32, 30, 6, 1)
	for _, diagonal := range []bool{true, false} {
		o := thetaBench(t, x, y, z, diagonal, "SE+LIN", "RQ")
		c := o.bound
		for k, p := range o.priors {
			f := c.freeLen(k)
			mean, _ := someBelief(rand.New(rand.NewPCG(3, 12)), f)
			narrow := o.start(mean, 1e-7)
			grad := make([]float64, len(narrow))
			got := o.at(t, k, narrow, grad)

			point := c.boundObjective(o.rows, o.yy, nil)
			if err := point.eval([]int{k}, [][]float64{mean}); err != nil {
				t.Fatal(err)
			}
			pointGrad := make([]float64, f)
			value, ok, err := point.result(k, pointGrad)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			// The KL of a narrow normal is −log p(mean) less its own entropy; the
			// point objective holds log p(mean).
			want := value + float64(f)*(0.5*math.Log(2*math.Pi*math.E)+math.Log(1e-7))
			if math.Abs(got-want) > 1e-5*math.Abs(want) {
				t.Errorf("%s: objective %.10g, point and entropy %.10g", c.programs[k].ID, got, want)
			}
			near(t, "gradient by the mean", grad[:f], pointGrad, 1e-5)

			_, chol := o.unpack(narrow)
			at := device.Points{Data: o.rows.Data, To: 7}
			gm, gv, gn, err := o.predict([]int{k}, [][]float64{mean}, [][]float64{chol}, at)
			if err != nil {
				t.Fatal(err)
			}
			c.setFree(k, mean)
			if err := c.statistics([]int{k}, o.rows, false, nil); err != nil {
				t.Fatal(err)
			}
			c.optimum([]int{k}, float64(o.rows.Len()), o.yy)
			c.belief([]int{k})
			wm, wv, err := c.predict([]int{k}, at, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, noise := params.Raw(c.programs[k], mean, c.floor)
			near(t, "mean", gm[0], wm[0], 1e-5)
			near(t, "variance", gv[0], wv[0], 1e-5)
			near(t, "noise", gn, []float64{noise}, 1e-5)
			near(t, "loaded prior", c.unpadded(k, readArray(t, c.lane, c.group.prec, k)), p.prec, 0)
		}
	}
}

// A kernel's fit and prediction are the same alone and in a group with one that
// is longer and has more draws.
func TestThetaObjectiveAloneAndTogether(t *testing.T) {
	x, y, z := testData(34, 30, 6, 1)
	const short, long = "SE", "SE+PER*RQ+LIN+MATERN32*LIN"
	for _, diagonal := range []bool{true, false} {
		together := thetaBench(t, x, y, z, diagonal, short, long)
		if len(together.draws[1]) <= len(together.draws[0]) {
			t.Fatal("the kernels have equally many draws")
		}
		sub := []int{0, 1}
		var means, chols [][]float64
		var xs [][]float64
		for k := range sub {
			mean, chol := someBelief(rand.New(rand.NewPCG(5, uint64(k))), together.bound.freeLen(k))
			means, chols = append(means, mean), append(chols, chol)
			xs = append(xs, together.pack(mean, chol))
		}
		if err := together.eval(sub, xs); err != nil {
			t.Fatal(err)
		}
		mean, variance, noise, err := together.predict(sub, means, chols, together.rows)
		if err != nil {
			t.Fatal(err)
		}
		for k, e := range []string{short, long} {
			alone := thetaBench(t, x, y, z, diagonal, e)
			grad := make([]float64, len(xs[k]))
			v := alone.at(t, 0, xs[k], grad)
			near(t, "value", []float64{together.results[k].value}, []float64{v}, 0)
			near(t, "gradient", together.results[k].grad, grad, 0)
			m, s, w, err := alone.predict([]int{0}, means[k:k+1], chols[k:k+1], alone.rows)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "mean", mean[k], m[0], 0)
			near(t, "variance", variance[k], s[0], 0)
			near(t, "noise", noise[k:k+1], w, 0)
		}
	}
}

// The prediction has the moments of the mixture of exact GPs over the draws,
// each by dense formulas.
func TestThetaPredictMixes(t *testing.T) {
	x, y, _ := testData(35, 15, 1, 1)
	o := thetaBench(t, x, y, x, false, "SE")
	p := o.bound.programs[0]
	mean, chol := someBelief(rand.New(rand.NewPCG(6, 12)), o.bound.freeLen(0))
	f := len(mean)
	xs := []float64{-2.5, 0.1, 4}
	data, err := o.bound.dev.NewData(xs, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	gm, gv, gn, err := o.predict([]int{0}, [][]float64{mean}, [][]float64{chol}, device.All(data))
	if err != nil {
		t.Fatal(err)
	}
	first, second := make([]float64, len(xs)), make([]float64, len(xs))
	noise := 0.0
	s := float64(len(o.draws[0]))
	for _, eta := range o.draws[0] {
		free := slices.Clone(mean)
		for i := range f {
			for j := range f {
				free[i] += chol[i*f+j] * eta[j]
			}
		}
		raw, s2 := params.Raw(p, free, o.bound.floor)
		noise += s2 / s
		mu, v := densePrediction(p, raw, s2, x, y, xs)
		for b, m := range mu {
			first[b] += m / s
			second[b] += (v[b] + m*m) / s
		}
	}
	for b := range second {
		second[b] -= first[b] * first[b]
	}
	near(t, "mean", gm[0], first, 1e-4)
	near(t, "variance", gv[0], second, 1e-4)
	near(t, "noise", gn, []float64{noise}, 1e-12)
}

// A member that cannot be evaluated says so, and the others do not notice.
func TestThetaObjectiveFailure(t *testing.T) {
	x, y, z := testData(36, 20, 5, 1)
	o := thetaBench(t, x, y, z, false, "SE", "LIN")
	good := o.start([]float64{0, math.Log(0.1)}, 0.1)
	want := o.at(t, 1, good, nil)
	bad := o.start([]float64{math.NaN(), 0, math.Log(0.1)}, 0.1)
	if err := o.eval([]int{0, 1}, [][]float64{bad, good}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := o.result(0, nil); ok || err != nil {
		t.Errorf("not a number: ok %v, error %v", ok, err)
	}
	if v, ok, err := o.result(1, nil); !ok || err != nil || v != want {
		t.Errorf("beside a failure %g (%v, %v), alone %g", v, ok, err, want)
	}
	mean, chol := o.unpack(bad)
	if _, _, _, err := o.predict([]int{0}, [][]float64{mean}, [][]float64{chol}, o.rows); err == nil {
		t.Error("a prediction from what is not a number")
	}

	quit := errors.New("quit")
	o.stop = func() error { return quit }
	if err := o.eval([]int{1}, [][]float64{good}); !errors.Is(err, quit) {
		t.Errorf("stop: %v", err)
	}
	near(t, "prior after a stop", o.bound.unpadded(1, readArray(t, o.bound.lane, o.bound.group.prec, 1)), o.priors[1].prec, 0)

	flat := broad(o.bound.programs[1])
	flat.prec[1] = 0
	if _, err := newThetaObjective(o.bound, o.rows, o.yy, true, 1, []string{"SE", "LIN"}, []prior{o.priors[0], flat}, nil); err == nil {
		t.Error("no error for a prior of precision 0")
	}
}
