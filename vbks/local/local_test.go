package local

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/internal/thorough"
)

// formula is the kernel as its doc comment writes it, of natural hyperparameters.
func formula(terms []Term, theta []float64, d float64) float64 {
	sum, at := 0.0, 1
	for _, t := range terms {
		r := math.Abs(d) / math.Exp(theta[at+1])
		m := math.Exp(-r)
		if t.Smooth {
			m = (1 + math.Sqrt(3)*r) * math.Exp(-math.Sqrt(3)*r)
		}
		v := math.Exp(theta[at]) * m
		if at += 2; t.Period > 0 {
			s := math.Exp(theta[at])
			v *= math.Exp(-2 * math.Pow(math.Sin(math.Pi*d/t.Period), 2) / (s * s))
			at++
		}
		sum += v
	}
	return sum
}

var (
	someTerms = []Term{{}, {Smooth: true}, {Period: 7}, {Smooth: true, Period: 3}}
	someTheta = []float64{-3, -0.5, 1.2, 0.3, 2.1, -0.2, 3, -0.7, -1, 2.5, 0.1}
)

func TestKernelIsItsFormula(t *testing.T) {
	k := Kernel{someTerms, someTheta}
	m := k.made()
	for _, d := range []float64{0, 0.3, -1, 3.5, 7, -12.25, 40} {
		if got, want := m.at(d), formula(someTerms, someTheta, d); math.Abs(got-want) > 1e-12 {
			t.Errorf("at %v: %v, want %v", d, got, want)
		}
	}
}

// rows are draws at n places: on a grid of step 1/4 with rows missing, or anywhere.
func rows(rng *rand.Rand, n int, grid bool) (x, y []float64) {
	for i := range n {
		v := float64(i) / 4
		if grid && rng.IntN(8) == 0 {
			continue
		}
		if !grid {
			v = rng.Float64() * float64(n) / 4
		}
		x = append(x, v)
	}
	sort.Float64s(x)
	level := 0.0
	for range x {
		level = 0.95*level + 0.3*rng.NormFloat64()
		y = append(y, level)
	}
	return x, y
}

// With all rows for neighbours a row is what the whole Gaussian process says of it.
func TestAllNeighboursAreTheGaussianProcess(t *testing.T) {
	for _, grid := range []bool{true, false} {
		x, y := rows(rand.New(rand.NewPCG(1, 1)), 60, grid)
		m := Model{
			X: x, Y: y, Means: Means{Cell: 1, Phases: []float64{0.7}, Waves: []Wave{{Period: 9, Cos: 0.4, Sin: -0.2}}},
			Kernel: Kernel{someTerms, someTheta}, Reach: Reach{Beside: len(x)}, Checked: Checked{Widths: []Width{{1, 1}, {3, 1.5}}},
		}
		at := []float64{-2, 0.1, 3.25, x[7], 9.9, x[len(x)-1] + 4}
		got, err := m.Predict(at)
		if err != nil {
			t.Fatal(err)
		}
		mean := func(v float64) float64 {
			return 0.7 + 0.4*math.Cos(2*math.Pi*v/9) - 0.2*math.Sin(2*math.Pi*v/9)
		}
		cov, rest := mat.NewSymDense(len(x), nil), mat.NewVecDense(len(x), nil)
		for i := range x {
			for j := range i + 1 {
				cov.SetSym(i, j, formula(someTerms, someTheta, x[i]-x[j]))
			}
			cov.SetSym(i, i, cov.At(i, i)+math.Exp(someTheta[0]))
			rest.SetVec(i, y[i]-mean(x[i]))
		}
		var chol mat.Cholesky
		if !chol.Factorize(cov) {
			t.Fatal("not positive definite")
		}
		for i, v := range at {
			k, a := mat.NewVecDense(len(x), nil), mat.NewVecDense(len(x), nil)
			away := math.Inf(1)
			for j := range x {
				k.SetVec(j, formula(someTerms, someTheta, x[j]-v))
				away = min(away, math.Abs(x[j]-v))
			}
			if err := chol.SolveVecTo(a, k); err != nil {
				t.Fatal(err)
			}
			f := 1.0
			if away > 1 {
				f = 1.5
			}
			wantMean, wantVar := mean(v)+mat.Dot(a, rest), f*f*(formula(someTerms, someTheta, 0)-mat.Dot(a, k))
			g := got[i]
			if math.Abs(g.Mean-wantMean) > 1e-9 || math.Abs(g.Variance-wantVar) > 1e-9 ||
				math.Abs(g.Noise-f*f*math.Exp(someTheta[0])) > 1e-12 || math.Abs(g.Away-away) > 1e-12 {
				t.Errorf("grid %v at %v: %+v, want mean %v, variance %v, away %v", grid, v, g, wantMean, wantVar, away)
			}
		}
	}
}

// The objective is the sum of the log densities of normals, and its derivatives are its differences.
func TestObjective(t *testing.T) {
	for _, grid := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(2, 2))
		x, y := rows(rng, 200, grid)
		s := &series{x: x, rest: y, step: stepOf(x), periods: []float64{3, 7}, reach: Reach{Beside: 3, Lags: []float64{3, 7}, AtLag: 2}}
		asked := newAsker(s, rng).ask(30)
		if len(asked) != 30 {
			t.Fatalf("%d questions", len(asked))
		}
		o := newObjective(someTerms, s, asked)
		value := func(theta []float64) float64 {
			v, err := o.value(theta, nil)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		grad := make([]float64, len(someTheta))
		got, err := o.value(someTheta, grad)
		want := 0.0
		for _, q := range asked {
			n := len(q.near)
			cov := mat.NewSymDense(n+1, nil)
			at := append(slices.Clone(q.near), int32(q.row))
			all := mat.NewVecDense(n+1, nil)
			for i, a := range at {
				all.SetVec(i, y[a])
				for j, b := range at[:i+1] {
					cov.SetSym(i, j, formula(someTerms, someTheta, x[a]-x[b]))
				}
				cov.SetSym(i, i, cov.At(i, i)+math.Exp(someTheta[0]))
			}
			density := func(n int) float64 {
				var chol mat.Cholesky
				var a mat.VecDense
				v := all.SliceVec(0, n)
				chol.Factorize(cov.SliceSym(0, n))
				if err := chol.SolveVecTo(&a, v); err != nil {
					t.Fatal(err)
				}
				return -0.5 * (mat.Dot(&a, v) + chol.LogDet() + float64(n)*math.Log(2*math.Pi))
			}
			want += density(n+1) - density(n)
		}
		if err != nil || math.Abs(got-want) > 1e-3*math.Abs(want) { // distances are rounded
			t.Errorf("grid %v: objective %v, want %v", grid, got, want)
		}
		for i, d := range fd.Gradient(nil, value, someTheta, &fd.Settings{Formula: fd.Central}) {
			if math.Abs(grad[i]-d) > 1e-5*(1+math.Abs(d)) {
				t.Errorf("grid %v: derivative %d is %v, by differences %v", grid, i, grad[i], d)
			}
		}
	}
}

// Neighbours are distinct, known, and the nearest on each side and at each lag.
func TestNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, _ := rows(rng, 400, true)
	r := Reach{Beside: 4, Lags: []float64{7, 14}, AtLag: 3}
	for range 200 {
		self := rng.IntN(len(x))
		g := gap{rng.Float64() * 3, rng.Float64() * 3}
		if rng.IntN(3) == 0 {
			g = gap{}
		}
		v := x[self]
		known := func(i int) bool { return i != self && (x[i] <= v-g.lo || x[i] >= v+g.hi) }
		got := r.neighbours(x, v, g, self, nil)
		seen := map[int32]bool{}
		for _, i := range got {
			if seen[i] || !known(int(i)) {
				t.Fatalf("row %d at %v is twice there, or in the gap %v about %v", i, x[i], g, v)
			}
			seen[i] = true
		}
		below, above := 0, 0
		for i := self; i >= 0 && below < r.Beside; i-- {
			if known(i) {
				below++
				if !seen[int32(i)] {
					t.Fatalf("row %d below %d is missing", i, self)
				}
			}
		}
		for i := self; i < len(x) && above < r.Beside; i++ {
			if known(i) {
				above++
				if !seen[int32(i)] {
					t.Fatalf("row %d above %d is missing", i, self)
				}
			}
		}
		for _, lag := range r.Lags {
			at := v + lag
			if at > x[len(x)-1] {
				continue
			}
			order := make([]int, len(x))
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(a, b int) int {
				if math.Abs(x[a]-at) < math.Abs(x[b]-at) {
					return -1
				}
				return 1
			})
			reach := math.Abs(x[order[r.AtLag-1]]-at) + 1e-9
			for _, i := range order[:r.AtLag] { // of two as near either may be
				if known(i) && !seen[int32(i)] && math.Abs(x[i]-at) < reach-2e-9 {
					t.Fatalf("row %d at lag %v of %d is missing", i, lag, self)
				}
			}
		}
	}
}

// A pattern and waves with little noise are found.
func TestMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var x, y, want []float64
	for i := range 40 * 24 {
		v := float64(i)
		x = append(x, v)
		want = append(want, math.Pow(float64(i%24)-10, 2)/50+2*math.Cos(2*math.Pi*v/400)-math.Sin(4*math.Pi*v/400))
		y = append(y, want[i]+0.1*rng.NormFloat64())
	}
	m := newMeans(x, y, 1, 24, []float64{400})
	sum := 0.0
	for i := range x {
		d := m.at(x[i]) - want[i]
		sum += d * d / float64(len(x))
	}
	// Of 28 numbers estimated from 960 rows.
	if expected := 0.1 * math.Sqrt(28.0/960); math.Sqrt(sum) > 2*expected {
		t.Errorf("RMSE of the means %v, expected %v", math.Sqrt(sum), expected)
	}
	if m.phase(-1) != 23 || m.phase(24.2) != 0 {
		t.Errorf("phases %d, %d", m.phase(-1), m.phase(24.2))
	}
}

// Phases that differ by no more than noise are drawn together.
func TestMeansShrink(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var x, y []float64
	for i := range 25 * 48 {
		x, y = append(x, float64(i)), append(y, rng.NormFloat64())
	}
	m := newMeans(x, y, 1, 48, nil)
	sum := 0.0
	for _, p := range m.Phases {
		sum += p * p / 48
	}
	if sum > 0.5/25 {
		t.Errorf("mean square of phases %v; without a variance of their own %v", sum, 1.0/25)
	}
}

// made is a series of which some rows are held out: a daily pattern that changes, a rough
// function, and noise.
func madeSeries(seed uint64, held func(rng *rand.Rand, i int) bool) (x, y, atX, atY []float64) {
	rng := rand.New(rand.NewPCG(seed, 6))
	level, slow := 0.0, 0.0
	for i := range 24 * 60 {
		v := float64(i) / 24
		level = 0.9*level + 0.3*rng.NormFloat64()
		slow = 0.999*slow + 0.05*rng.NormFloat64()
		target := level + (1.5+slow)*math.Sin(2*math.Pi*v) + math.Cos(6*math.Pi*v) + 0.1*rng.NormFloat64()
		if held(rng, i) {
			atX, atY = append(atX, v), append(atY, target)
		} else {
			x, y = append(x, v), append(y, target)
		}
	}
	return x, y, atX, atY
}

// Intervals hold as often as they say, and no other guess of a moment is as good.
func TestMadeSeries(t *testing.T) {
	thorough.Unraced(t)
	away := false
	for name, held := range map[string]func(rng *rand.Rand, i int) bool{
		"random": func(rng *rand.Rand, _ int) bool { return rng.IntN(8) == 0 },
		"blocks": func(rng *rand.Rand, i int) bool {
			if i%12 == 0 {
				away = rng.IntN(8) == 0
			}
			return away
		},
	} {
		in, of, se, sl := 0.0, 0.0, 0.0, 0.0
		for seed := range uint64(2) {
			x, y, atX, atY := madeSeries(seed, held)
			rng := rand.New(rand.NewPCG(seed, 7))
			m, err := Fit(t.Context(), x, y, []float64{1}, rng)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.Predict(atX)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range got {
				e := atY[i] - p.Mean
				of++
				se += e * e
				if math.Abs(e) < normal95*math.Sqrt(p.Variance+p.Noise) {
					in++
				}
				j := min(max(sort.SearchFloat64s(x, atX[i]), 1), len(x)-1)
				w := (atX[i] - x[j-1]) / (x[j] - x[j-1])
				line := atY[i] - (1-w)*y[j-1] - w*y[j]
				sl += line * line
			}
		}
		if c := in / of; c < 0.9 || c > 0.98 { // rows of a block err together
			t.Errorf("%s: coverage %.3f of %v rows", name, c, of)
		}
		// The innovations' own noise cannot be known: interpolation of a day's wave is far worse.
		if se > 0.8*sl {
			t.Errorf("%s: RMSE %.3f, by linear interpolation %.3f", name, math.Sqrt(se/of), math.Sqrt(sl/of))
		}
		t.Logf("%s: RMSE %.3f, by linear interpolation %.3f, coverage %.3f", name, math.Sqrt(se/of), math.Sqrt(sl/of), in/of)
	}
}

// Neither the number of cores nor the order of the rows decides anything.
func TestFitIsDeterministic(t *testing.T) {
	thorough.Unraced(t) // what is done at once is one value of the objective, with its slope, which others ask for
	x, y, at, _ := madeSeries(9, func(rng *rand.Rand, _ int) bool { return rng.IntN(2) == 0 })
	fit := func() []Prediction {
		m, err := Fit(t.Context(), x, y, []float64{1}, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Predict(at)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := fit()
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(x), func(i, j int) { x[i], x[j], y[i], y[j] = x[j], x[i], y[j], y[i] })
	if !slices.Equal(fit(), want) {
		t.Error("predictions differ")
	}
}

func TestFitRefuses(t *testing.T) {
	many := make([]float64, Fewest)
	ascending := make([]float64, Fewest)
	for i := range ascending {
		ascending[i] = float64(i)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string][2][]float64{
		"few rows":  {many[1:], many[1:]},
		"one place": {many, ascending},
		"no spread": {ascending, many},
	} {
		if _, err := Fit(t.Context(), c[0], c[1], nil, rng); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, ascending, ascending, nil, rng); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What is said of a row does not depend on which others are asked for with it, also where
// rows lie only about on a grid.
func TestPredictionsOfRowsAreTheirOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	x, y := rows(rng, 200, true)
	for i := range x {
		x[i] += 1e-5 * rng.Float64()
	}
	m := Model{
		X: x, Y: y, Means: Means{Cell: 1, Phases: []float64{0}}, Kernel: Kernel{someTerms, someTheta},
		Reach: Reach{Beside: 4, Lags: []float64{7}, AtLag: 3}, Checked: Checked{Widths: []Width{{1, 1}}},
	}
	var at []float64
	for i := range 40 {
		at = append(at, float64(i)+1e-5*rng.Float64())
	}
	all, err := m.Predict(at)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range at {
		alone, err := m.Predict([]float64{v})
		if err != nil {
			t.Fatal(err)
		}
		if alone[0] != all[i] {
			t.Fatalf("row %d: %+v alone, %+v among others", i, alone[0], all[i])
		}
	}
}

// A file cannot ask for so many neighbours that a row takes gigabytes.
func TestReachIsBounded(t *testing.T) {
	p := Part{Within: 1, Model: &Model{
		X: []float64{0, 1}, Y: []float64{0, 1}, Means: Means{Cell: 1, Phases: []float64{0}}, Kernel: Kernel{someTerms, someTheta},
		Checked: Checked{Widths: []Width{{1, 1}}}, Reach: Reach{Beside: beside, AtLag: atLag, Lags: make([]float64, 2*cycles)},
	}}
	if err := p.Check(1); err != nil {
		t.Error(err)
	}
	p.Model.Reach = Reach{Beside: 1, AtLag: mostReach, Lags: make([]float64, mostReach)}
	if err := p.Check(1); err == nil {
		t.Error("20,000 neighbours are taken")
	}
}
