package vbks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
)

// bench is a learner with kernels on random data.
type bench struct {
	*learner
	x, y, z  []float64
	programs []*kernelspace.Program
	priors   []prior
}

// testData draws n noisy values of a sine and m inducing inputs.
func testData(seed uint64, n, m, dim int) (x, y, z []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, z = randomPoints(rng, n, dim), randomPoints(rng, m, dim)
	y = make([]float64, n)
	for i := range y {
		y[i] = math.Sin(x[i*dim]) + 0.2*rng.NormFloat64()
	}
	return x, y, z
}

// broad returns a normal prior on every entry of a kernel's free vector.
func broad(p *kernelspace.Program) prior {
	var out prior
	for i := range len(p.Free) + 1 {
		out.mean = append(out.mean, 0.1*float64(i))
		out.prec = append(out.prec, 1/(1+0.5*float64(i)))
		out.lo, out.hi = append(out.lo, -20), append(out.hi, 20)
	}
	return out
}

// newBench makes a learner for kernels, each of which starts at free vector 0
// with noise variance .1.
func newBench(t testing.TB, x, y, z []float64, dim int, s Settings, exprs ...string) *bench {
	t.Helper()
	b := &bench{x: x, y: y, z: z}
	for _, e := range exprs {
		p := kernelspacetest.Program(t, e, kernelspace.Options{Dim: dim, ARD: dim > 1})
		b.programs = append(b.programs, p)
		b.priors = append(b.priors, broad(p))
	}
	bound, _ := testBound(t, b.programs, x, y, z, dim, s.Jitter, 1e-6)
	if err := bound.group.load(b.programs, b.priors); err != nil {
		t.Fatal(err)
	}
	l, err := newLearner(bound.group, s.Batch, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.adopt(b.priors); err != nil {
		t.Fatal(err)
	}
	b.learner = l
	for k, p := range b.programs {
		if err := l.begin(k, &State{Free: b.start(k)}, p.ID); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func (b *bench) start(k int) []float64 {
	free := make([]float64, len(b.programs[k].Free)+1)
	free[len(free)-1] = math.Log(0.1)
	return free
}

func (b *bench) rows() device.Points { return device.All(b.common.train) }

func testSettings(optimizer, hyperparameters string, batch int) Settings {
	s := DefaultSettings()
	s.Optimizer, s.Hyperparameters, s.Batch = optimizer, hyperparameters, batch
	s.Jitter = device.Jitter{Relative: 1e-3}
	return s
}

// randomState is a state with a q(v) away from the prior.
func (b *bench) randomState(k int, rng *rand.Rand) *State {
	m := b.svgp.group.m
	st := &State{Free: b.start(k), Mean: make([]float64, m), Chol: make([]float64, m*m)}
	for i := range st.Free {
		st.Free[i] += 0.4 * rng.NormFloat64()
	}
	for i := range m {
		st.Mean[i] = rng.NormFloat64()
		for j := range i {
			st.Chol[i*m+j] = 0.2 * rng.NormFloat64()
		}
		st.Chol[i*m+i] = 0.3 + rng.Float64()
	}
	return st
}

// at evaluates the local ELBO of member 0 at a state.
func (b *bench) at(t testing.TB, st *State, x device.Points, n float64, grad bool) float64 {
	t.Helper()
	if err := b.begin(0, st.clone(), "k"); err != nil { // which callers change
		t.Fatal(err)
	}
	b.evaluate([]int{0}, x, n, grad)
	v, err := b.scalar(b.value, 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// All gradients against central differences, with the relative jitter, whose
// size depends on θ, and the prior.
func TestELBOGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, dim := range []int{1, 2} {
		x, y, z := testData(3, 30, 7, dim)
		for _, expr := range []string{"SE", "LIN*RQ+PER", "(PER+RQ)*LIN", "MATERN32*SE+LIN"} {
			b := newBench(t, x, y, z, dim, testSettings("adam", "point", 30), expr)
			st := b.randomState(0, rng)
			batch := b.rows()
			batch.To = 19
			b.at(t, st, batch, 30, true)
			check := func(what string, param []float64, grad []float64, skip func(i int) bool) {
				for i := range param {
					if skip != nil && skip(i) {
						if grad[i] != 0 {
							t.Errorf("%s, dim %d: ∂/∂%s[%d] = %g above the diagonal", expr, dim, what, i, grad[i])
						}
						continue
					}
					const h = 1e-5
					was := param[i]
					param[i] = was + h
					up := b.at(t, st, batch, 30, false)
					param[i] = was - h
					down := b.at(t, st, batch, 30, false)
					param[i] = was
					if fd := (up - down) / (2 * h); math.Abs(fd-grad[i]) > 2e-6*(1+math.Abs(fd)) {
						t.Errorf("%s, dim %d: ∂/∂%s[%d] = %.9g, differences %.9g", expr, dim, what, i, grad[i], fd)
					}
				}
			}
			m := len(st.Mean)
			free := readArray(t, b.lane, b.gradFree, 0)
			gm, gc := readArray(t, b.lane, b.gradM, 0), readArray(t, b.lane, b.gradC, 0)
			check("free", st.Free, free, nil)
			check("m", st.Mean, gm, nil)
			check("C", st.Chol, gc, func(i int) bool { return i%m > i/m })
		}
	}
}

// The mean of value and gradient over the batches of a partition of the rows
// is that of all rows.
func TestMinibatchesAreUnbiased(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	x, y, z := testData(4, 40, 6, 1)
	b := newBench(t, x, y, z, 1, testSettings("adam", "point", 40), "PER*SE+LIN")
	st := b.randomState(0, rng)
	gather := func(x device.Points) []float64 {
		v := b.at(t, st, x, 40, true)
		return slices.Concat([]float64{v}, readArray(t, b.lane, b.gradFree, 0),
			readArray(t, b.lane, b.gradM, 0), readArray(t, b.lane, b.gradC, 0))
	}
	full := gather(b.rows())
	order := make([]int32, 40)
	for i, p := range rng.Perm(40) {
		order[i] = int32(p)
	}
	index, err := b.lane.NewIndex(order)
	if err != nil {
		t.Fatal(err)
	}
	mean := make([]float64, len(full))
	for i := range 5 {
		for j, v := range gather(device.Points{Data: b.common.train, Index: index, From: 8 * i, To: 8*i + 8}) {
			mean[j] += v / 5
		}
	}
	near(t, "mean over batches", mean, full, 1e-11)
}

// clone copies a state.
func (s *State) clone() *State {
	c := *s
	for _, p := range []*[]float64{&c.Free, &c.Mode, &c.Z, &c.Mean, &c.Chol, &c.ThetaChol, &c.FreeM1, &c.FreeM2,
		&c.MeanM1, &c.MeanM2, &c.CholM1, &c.CholM2, &c.ThetaCholM1, &c.ThetaCholM2} {
		*p = slices.Clone(*p)
	}
	return &c
}
