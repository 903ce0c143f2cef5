package vbks

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/stacking"
)

// without returns x and y but for row i.
func without(x, y []float64, i int) (ox, oy []float64) {
	return slices.Delete(slices.Clone(x), i, i+1), slices.Delete(slices.Clone(y), i, i+1)
}

// titsias is the optimal predictive density of one input with inducing inputs z, from
// dense matrices: of f*, with W = σ²k(z,z) + k(z,x)k(x,z),
//
//	mean k(*,z)W⁻¹k(z,x)y,   variance k(*,*) − k(*,z)k(z,z)⁻¹k(z,*) + σ²k(*,z)W⁻¹k(z,*)
func titsias(t *testing.T, p *kernelspace.Program, raw []float64, noise float64, z, x, y []float64, at float64) (mean, variance float64) {
	t.Helper()
	k := func(a, b []float64) *mat.Dense {
		out := mat.NewDense(len(a), len(b), nil)
		for i := range a {
			for j := range b {
				out.Set(i, j, p.Eval(raw, a[i:i+1], b[j:j+1], false))
			}
		}
		return out
	}
	kzz, kzx, ks := k(z, z), k(z, x), k(z, []float64{at})
	var w, scaled, right, solved, direct mat.Dense
	scaled.Scale(noise, kzz)
	w.Mul(kzx, kzx.T())
	w.Add(&w, &scaled)
	right.Mul(kzx, mat.NewDense(len(y), 1, slices.Clone(y)))
	must.OK(t, solved.Solve(&w, &right))
	mean = mat.Dot(ks.ColView(0), solved.ColView(0))
	var byW mat.Dense
	must.OK(t, byW.Solve(&w, ks))
	must.OK(t, direct.Solve(kzz, ks))
	one := []float64{at}
	return mean, p.Eval(raw, one, one, false) - mat.Dot(ks.ColView(0), direct.ColView(0)) + noise*mat.Dot(ks.ColView(0), byW.ColView(0))
}

// The closed form is what is predicted at each row from the others: with all rows as
// inducing inputs by exact Gaussian processes, with few by the sparse posterior of the
// other rows at the same inducing inputs. Rows that are fewer than a chunk and more.
func TestLeaveOneOutIsWhatOthersPredict(t *testing.T) {
	for _, c := range []struct{ rows, inducing int }{{30, 30}, {60, 8}, {chunkRows + 76, 6}} {
		data := trainingSeries(11, c.rows)
		s := quickSettings("collapsed")
		s.EvaluateEvery, s.Inducing, s.Jitter, s.NoiseFloor = 1, c.inducing, device.Jitter{Relative: 1e-10}, 1e-2
		tr := trainerOn(t, 2, nil, data, s, "SE", "MATERN32", "MATERN12*LIN")
		next(t, tr)
		got, err := tr.leaveOneOut(t.Context(), nil)
		must.OK(t, err)
		for _, k := range tr.kernels {
			raw, noise := params.Raw(k.program, k.state.Free, tr.floor)
			for row, y := range data.Y {
				if c.rows > 100 && row%101 != 0 {
					continue
				}
				x, ys := without(data.X, data.Y, row)
				var mean, variance float64
				if c.inducing == c.rows {
					m, v := densePrediction(k.program, raw, noise, x, ys, data.X[row:row+1])
					mean, variance = m[0], v[0]
				} else {
					mean, variance = titsias(t, k.program, raw, noise, tr.inducing, x, ys, data.X[row])
				}
				v := variance + noise
				want := -(math.Log(2*math.Pi*v) + (y-mean)*(y-mean)/v) / 2
				if g := got[k.id][row]; math.Abs(g-want) > 1e-4*(1+math.Abs(want)) {
					t.Fatalf("%s, row %d of %d, M = %d: %v, want %v", k.id, row, c.rows, c.inducing, g, want)
				}
			}
		}
	}
}

// Weights of "loo" are those that stack the kernels' densities: no other's average is
// likelier at rows left out. A refit and a twin keep them, and where rows cannot be left
// out they are the belief's, which is told.
func TestWeightsByRowsLeftOut(t *testing.T) {
	data := trainingSeries(12, 50)
	s := quickSettings("collapsed")
	s.EvaluateEvery, s.Weights, s.PredictTheta = 1, "loo", "mode"
	o := PredictOptions{Weights: "loo"}
	tr := trainerOn(t, 1, nil, data, s, fourKernels...)
	next(t, tr)
	p, err := tr.Predict(t.Context(), []float64{0.5}, o)
	must.OK(t, err)
	densities, err := tr.leaveOneOut(t.Context(), nil)
	must.OK(t, err)
	var logp [][]float64
	for _, k := range tr.kernels {
		logp = append(logp, densities[k.id])
	}
	score := func(w []float64) (sum float64) {
		for row := range data.Y {
			one := 0.0
			for k := range w {
				one += w[k] * math.Exp(logp[k][row])
			}
			sum += math.Log(one)
		}
		return sum
	}
	own := make([]float64, len(tr.kernels))
	for j, id := range p.IDs {
		own[slices.IndexFunc(tr.kernels, func(k *kernel) bool { return k.id == id })] = p.Weights[j]
	}
	if math.Abs(score(own)-score(stacking.Weights(logp))) > 1e-6 {
		t.Errorf("weights %v", own)
	}
	for _, other := range []string{"posterior", "bayes", "tempered"} {
		q, err := tr.Predict(t.Context(), []float64{0.5}, PredictOptions{Weights: other})
		must.OK(t, err)
		w := make([]float64, len(tr.kernels))
		for j, id := range q.IDs {
			w[slices.IndexFunc(tr.kernels, func(k *kernel) bool { return k.id == id })] = q.Weights[j]
		}
		if score(w) > score(own)+1e-4 {
			t.Errorf("%s is likelier at rows left out: %v, %v", other, score(w), score(own))
		}
	}
	again, err := refitLoo(t, tr, data).Predict(t.Context(), []float64{0.5}, o)
	must.OK(t, err)
	if !slices.Equal(again.IDs, p.IDs) || !slices.Equal(again.Weights, p.Weights) {
		t.Errorf("a refit has %v of %v, not %v of %v", again.Weights, again.IDs, p.Weights, p.IDs)
	}
	s.Optimizer = "natural"
	natural := trainerOn(t, 1, nil, data, s, fourKernels...)
	e := next(t, natural)
	belief, err := natural.Predict(t.Context(), []float64{0.5}, PredictOptions{})
	must.OK(t, err)
	got, err := natural.Predict(t.Context(), []float64{0.5}, o)
	must.OK(t, err)
	if !slices.Equal(got.Weights, belief.Weights) ||
		!slices.ContainsFunc(e.Notices, func(n Notice) bool { return strings.HasPrefix(n.Text, `predict.weights = "loo"`) }) {
		t.Errorf("weights %v, %+v", got.Weights, e.Notices)
	}
}

func refitLoo(t *testing.T, tr *Trainer, data Training) *Trainer {
	t.Helper()
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	out, err := tr.Refit(t.Context(), dev, data, PredictOptions{Weights: "loo"})
	must.OK(t, err)
	return out
}

// withoutRows returns x, of dim inputs, and y but for some rows.
func withoutRows(x, y []float64, dim int, left []int) (ox, oy []float64) {
	for i := range y {
		if !slices.Contains(left, i) {
			ox, oy = append(ox, x[i*dim:(i+1)*dim]...), append(oy, y[i])
		}
	}
	return ox, oy
}

// A row of a block is predicted, by itself, as by the rows that are not in the block: q(v) fitted to them by
// dense matrices, with few inducing inputs and all, in blocks that go into a chunk evenly and that do not. Blocks
// are successive rows in the order of the input, whatever order they come in.
func TestBlocksAreWhatOthersPredict(t *testing.T) {
	thorough.Unraced(t)
	for _, c := range []struct{ rows, inducing, block int }{{30, 30, 4}, {60, 8, 12}, {60, 8, 7}, {2*chunkRows + 76, 6, 100}} {
		data := trainingSeries(11, c.rows)
		s := quickSettings("collapsed")
		s.EvaluateEvery, s.Inducing, s.Jitter, s.NoiseFloor = 1, c.inducing, device.Jitter{Relative: 1e-10}, 1e-2
		tr := trainerOn(t, 2, nil, data, s, "SE", "MATERN32", "MATERN12*LIN")
		next(t, tr)
		got, err := tr.leaveOut(t.Context(), nil, c.block)
		must.OK(t, err)
		order := make([]int, c.rows)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(data.X[a], data.X[b]) })
		blocks := (c.rows + c.block - 1) / c.block
		for _, k := range tr.kernels {
			raw, noise := params.Raw(k.program, k.state.Free, tr.floor)
			for b := range blocks {
				rows := order[c.rows*b/blocks : c.rows*(b+1)/blocks]
				if c.rows > 100 && b%7 != 3 {
					continue
				}
				x, ys := withoutRows(data.X, data.Y, 1, rows)
				for j, row := range rows {
					if c.rows > 100 && j%31 != 0 {
						continue
					}
					var mean, variance float64
					if c.inducing == c.rows {
						m, v := densePrediction(k.program, raw, noise, x, ys, data.X[row:row+1])
						mean, variance = m[0], v[0]
					} else {
						z := tr.inducing
						if k.state.Z != nil {
							z = k.state.Z
						}
						mean, variance = titsias(t, k.program, raw, noise, z, x, ys, data.X[row])
					}
					v, y := variance+noise, data.Y[row]
					want := -(math.Log(2*math.Pi*v) + (y-mean)*(y-mean)/v) / 2
					if g := got[k.id][row]; math.Abs(g-want) > 1e-4*(1+math.Abs(want)) {
						t.Fatalf("%s, row %d of %d, M = %d, blocks of %d: %v, want %v", k.id, row, c.rows, c.inducing, c.block, g, want)
					}
				}
			}
		}
	}
}

// So it is of rows with weights and of two inputs, of which the first orders them.
func TestBlocksOfWeightedRows(t *testing.T) {
	const n, block = 40, 5
	rng := rand.New(rand.NewPCG(8, 2))
	d := Training{Dim: 2, Gap: block}
	for _, r := range rng.Perm(n) {
		x := 4*float64(r)/n - 2
		d.X, d.Y = append(d.X, x, float64(r%4)), append(d.Y, math.Sin(3*x)+0.2*rng.NormFloat64())
		d.NoiseSD = append(d.NoiseSD, 1+float64(r%3))
	}
	s := quickSettings("collapsed")
	s.EvaluateEvery, s.Inducing, s.Jitter, s.NoiseFloor, s.Likelihood = 1, n, device.Jitter{Relative: 1e-10}, 1e-2, gaussianLikelihood
	tr, err := New(t.Context(), onCPU(1), d, candidates(t, "SE[x1]+SE[x2]"), []string{"x1", "x2"}, s)
	must.OK(t, err)
	next(t, tr)
	got, err := tr.leaveOut(t.Context(), nil, block)
	must.OK(t, err)
	k := tr.kernels[0]
	raw, noise := params.Raw(k.program, k.state.Free, tr.floor)
	in := func(row int) int { return int(math.Round((d.X[2*row]+2)/4*n)) / block }
	for row := range n {
		var others []int
		for i := range n {
			if in(i) != in(row) {
				others = append(others, i)
			}
		}
		at := func(i int) []float64 { return d.X[2*i : 2*i+2] }
		cov, cross, y := mat.NewSymDense(len(others), nil), mat.NewVecDense(len(others), nil), mat.NewVecDense(len(others), nil)
		for a, i := range others {
			for b := a; b < len(others); b++ {
				cov.SetSym(a, b, k.program.Eval(raw, at(i), at(others[b]), a == b))
			}
			cov.SetSym(a, a, cov.At(a, a)+noise/tr.weighing.of(i))
			cross.SetVec(a, k.program.Eval(raw, at(row), at(i), false))
			y.SetVec(a, d.Y[i])
		}
		var ch mat.Cholesky
		ch.Factorize(cov)
		var solved mat.VecDense
		must.OK(t, ch.SolveVecTo(&solved, cross))
		mean := mat.Dot(&solved, y)
		v := k.program.Eval(raw, at(row), at(row), true) - mat.Dot(&solved, cross) + noise/tr.weighing.of(row)
		want := -(math.Log(2*math.Pi*v) + (d.Y[row]-mean)*(d.Y[row]-mean)/v) / 2
		if g := got[k.id][row]; math.Abs(g-want) > 1e-4 {
			t.Errorf("row %d: %.6f, %.6f by dense matrices", row, g, want)
		}
	}
}

// A block of one row is that row left out; what shares all of its rows, or no number, ends in nothing but numbers
// that say so.
func TestBlocksAtTheEdges(t *testing.T) {
	const noise, y, mu, v = 0.3, 1.2, 0.7, 0.25
	b := []float64{0.2, -0.3, 0.1}
	s := 0.2*0.2 + 0.3*0.3 + 0.1*0.1
	h := s / noise
	mean, variance := []float64{mu}, []float64{v}
	withoutBlock(blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: b}, noise, []float64{y}, mean, variance)
	if m, w := (mu-h*y)/(1-h), s/(1-h)+v-s; math.Abs(mean[0]-m) > 1e-14 || math.Abs(variance[0]-w) > 1e-14 {
		t.Errorf("%v and %v, alone %v and %v", mean[0], variance[0], m, w)
	}
	one := math.Sqrt(noise) * (1 + 1e-15)
	mean, variance = []float64{mu, mu}, []float64{v, v}
	withoutBlock(blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{one, 0, 0, one}}, noise, []float64{y, y}, mean, variance)
	if !finite(mean) || !finite(variance) {
		t.Errorf("without noise %v and %v", mean, variance)
	}
	withoutBlock(blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{math.NaN(), 0, 0, 1}}, noise, []float64{y, y}, mean, variance)
	if !math.IsNaN(mean[0]) || !math.IsNaN(variance[1]) {
		t.Errorf("of no numbers %v and %v", mean, variance)
	}
}

// How long blocks are: as the gaps, of a part of the rows as many fewer unless these come in their order, no more
// than a fifth of them.
func TestLengthOfBlocks(t *testing.T) {
	shuffled := trainingSeries(12, 200)
	sorted := shuffled
	sorted.X = slices.Sorted(slices.Values(shuffled.X))
	for _, c := range []struct {
		data            Training
		gap, seen, want int
	}{
		{shuffled, 0, 200, 1}, {shuffled, 1, 200, 1}, {shuffled, 24, 200, 24}, {shuffled, 24, 100, 12}, {shuffled, 24, 3, 1},
		{sorted, 24, 200, 24}, {sorted, 24, 150, 24}, {sorted, 24, 100, 20}, {shuffled, 90, 200, 40},
	} {
		c.data.Dim, c.data.Gap = 1, c.gap
		tr := &Trainer{data: c.data, common: common{dim: 1}}
		if got := tr.block(c.seen); got != c.want {
			t.Errorf("gaps of %d, %d rows of 200: blocks of %d, want %d", c.gap, c.seen, got, c.want)
		}
	}
}

// gapped is a series of 280 rows, a wave under swings that neighbouring rows share, of which four gaps of 20 rows are held out.
func gapped(seed uint64) (train Training, gapX, gapY []float64) {
	const n, gap = 280, 20
	rng := rand.New(rand.NewPCG(seed, 77))
	swing := 0.0
	for i := range n {
		x := 4*float64(i)/n - 2
		swing = 0.9*swing + 0.1*rng.NormFloat64()
		y := math.Sin(2*math.Pi*float64(i)/40) + swing + 0.02*rng.NormFloat64()
		if at := i % 70; at >= 25 && at < 25+gap {
			gapX, gapY = append(gapX, x), append(gapY, y)
		} else {
			train.X, train.Y = append(train.X, x), append(train.Y, y)
		}
	}
	train.Dim = 1
	rng.Shuffle(len(train.Y), func(i, j int) {
		train.X[i], train.X[j], train.Y[i], train.Y[j] = train.X[j], train.X[i], train.Y[j], train.Y[i]
	})
	return train, gapX, gapY
}

// Of a rough kernel, which follows the swings that neighbours share and goes back to the mean in a gap, and of a wave that takes
// them for noise, single rows left out prefer the first one, and blocks as long as the gaps the second, which fills the gaps
// better. The kernels have the hyperparameters of what the rows are made of: it shows what blocks are for where no
// kernel has both parts. Where one has, or hyperparameters make up for the other part, both ways may agree.
func TestBlocksPreferWhatFillsGaps(t *testing.T) {
	thorough.Unraced(t)
	const step = 4. / 280
	for seed := range uint64(5) {
		data, x, y := gapped(seed)
		s := quickSettings("collapsed")
		s.EvaluateEvery, s.Refine, s.Inducing, s.Weights, s.PredictTheta, s.Steps, s.Starts = 1, 0, 200, looWeights, "mode", 1, 1
		s.Evidence = modeEvidence
		var rough, wave, byRough, byWave float64
		for _, gap := range []int{1, 20} {
			data.Gap = gap
			tr := trainerOn(t, 2, nil, data, s, "MATERN12", "PER")
			e := next(t, tr)
			for _, k := range tr.kernels {
				raw, noise := slices.Repeat([]float64{1}, len(k.program.Params)), 0.002
				for i, q := range k.program.Params {
					switch {
					case q.Name == "period":
						raw[i] = 40 * step
					case q.Name == "lengthscale" && k.id == "MATERN12":
						raw[i] = 20 * step
					case q.Name == "variance":
						raw[i] = 0.6
					}
				}
				if k.id == "PER" {
					noise = 0.06
				}
				k.state.Free = params.Free(k.program, raw, noise, tr.floor)
			}
			of := func(id string) (weight, density float64) {
				p, err := tr.Predict(t.Context(), x, PredictOptions{Weights: looWeights})
				must.OK(t, err)
				if i := slices.Index(p.IDs, id); i >= 0 {
					weight = p.Weights[i]
				}
				p, err = tr.Predict(t.Context(), x, PredictOptions{IDs: []string{id}})
				must.OK(t, err)
				for i := range y {
					density += p.LogDensity(i, y[i]) / float64(len(y))
				}
				return weight, density
			}
			w, byR := of("MATERN12")
			if byRough = byR; gap == 1 {
				rough = w
			}
			wave, byWave = of("PER")
			if said := slices.ContainsFunc(e.Notices, func(n Notice) bool {
				return n.Text == `predict.weights = "loo": rows are left out in blocks of 20, as long as the gaps`
			}); said != (gap == 20) {
				t.Errorf("gaps of %d: told %+v", gap, e.Notices)
			}
		}
		if rough < 0.8 || wave < 0.8 || byWave < byRough+0.2 {
			t.Errorf("seed %d: the rough kernel has %.2f by single rows, the wave %.2f by blocks; gaps %.2f and %.2f nats a row", seed, rough, wave,
				byRough, byWave)
		}
	}
}
