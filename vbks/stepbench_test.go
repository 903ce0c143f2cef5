package vbks

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/random"
)

// stepSetup is a setup on random data, with a q(v) away from the prior.
func stepSetup(t testing.TB, kind StepKind, n, m, batch int, exprs ...string) StepSetup {
	t.Helper()
	x, y, _ := testData(21, n, m, 1)
	s := StepSetup{Kind: kind, X: x, Y: y, Dim: 1, Batch: batch, Noise: 0.1, Jitter: device.Jitter{Absolute: 1e-6}, Rate: 0.01, Seed: 5,
		Mean: make([]float64, m), Chol: make([]float64, m*m)}
	rng := rand.New(rand.NewPCG(3, 4))
	s.Test = randomPoints(rng, passRows+30, 1)
	for i := range m {
		s.Z = append(s.Z, 6*float64(i)/float64(m)-3)
		s.Mean[i] = rng.NormFloat64()
		for j := range i {
			s.Chol[i*m+j] = 0.1 * rng.NormFloat64()
		}
		s.Chol[i*m+i] = 0.5 + rng.Float64()
	}
	for _, e := range exprs {
		p := kernelspacetest.Program(t, e, kernelspace.Options{Dim: 1})
		raw := make([]float64, len(p.Params))
		for i := range raw {
			raw[i] = 1
			if p.Params[i].Free {
				raw[i] = 0.5 + rng.Float64()
			}
		}
		s.Programs, s.Theta = append(s.Programs, p), append(s.Theta, raw)
	}
	return s
}

func newStepBench(t testing.TB, s StepSetup, lanes int) *StepBench {
	t.Helper()
	b, err := NewStepBench(onCPU(lanes), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// alone is a learner that has kernel k of a setup to itself.
func alone(t testing.TB, s StepSetup, k int) *learner {
	t.Helper()
	s.Programs, s.Theta = s.Programs[k:k+1], s.Theta[k:k+1]
	return newStepBench(t, s, 1).lanes[0].units[0]
}

var stepBenchKernels = []string{"PER*RQ+SE", "LIN", "(PER+RQ)*LIN", "SE+RQ+PER", "LIN*SE"}

// The steps are those of training: bit for bit the same states, for kernels
// that share memory and lanes as for each one alone, beyond the end of a list
// of minibatches.
func TestStepsAreThoseOfTraining(t *testing.T) {
	const n, m, batch, more = 60, 5, 4, 3
	for _, kind := range []StepKind{StepAdam, StepTheta, StepFrozen} {
		s := stepSetup(t, kind, n, m, batch, stepBenchKernels...)
		b := newStepBench(t, s, 2)
		for _, steps := range []int{1, 7, stepsAhead - 8 + 1, more - 1} {
			if err := b.Steps(steps); err != nil {
				t.Fatal(err)
			}
		}
		seen := 0
		for _, ln := range b.lanes {
			for i, l := range ln.units {
				for j, k := range ln.kernels[i] {
					seen++
					got, err := l.end(j)
					if err != nil {
						t.Fatal(err)
					}
					lone := alone(t, s, k)
					lone.every = 1 // every step moves θ, if it may
					for number, count := range []int{stepsAhead, more} {
						batches := drawMinibatches(s.Seed, number+1, n, batch, stepsAhead)
						batches.steps = count
						if err := lone.train([]int{0}, batches, nil); err != nil {
							t.Fatal(err)
						}
					}
					want, err := lone.end(0)
					if err != nil {
						t.Fatal(err)
					}
					if err := lone.err(0); err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(got, want) {
						t.Errorf("kind %d, %s: state %+v, trained %+v", kind, stepBenchKernels[k], got, want)
					}
				}
			}
		}
		if seen != len(s.Programs) {
			t.Errorf("kind %d: %d kernels of %d", kind, seen, len(s.Programs))
		}
		if ok, err := b.Finite(); !ok || err != nil {
			t.Errorf("kind %d: not finite, %v", kind, err)
		}
	}
}

// Predictions of kernels that share memory are those of each one alone.
func TestStepBenchPredicts(t *testing.T) {
	s := stepSetup(t, StepPredict, 60, 5, 4, stepBenchKernels...)
	b := newStepBench(t, s, 2)
	if err := b.Steps(2); err != nil {
		t.Fatal(err)
	}
	for _, ln := range b.lanes {
		for i, l := range ln.units {
			for j := range l.members {
				l.members[j].current = false
			}
			mean, variance, _, err := l.predict(l.all, b.test, nil)
			if err != nil {
				t.Fatal(err)
			}
			for j, k := range ln.kernels[i] {
				lone := alone(t, s, k)
				wantMean, wantVar, _, err := lone.predict([]int{0}, b.test, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(mean[j], wantMean[0]) || !slices.Equal(variance[j], wantVar[0]) {
					t.Errorf("%s predicts otherwise beside others", stepBenchKernels[k])
				}
			}
		}
	}
}

// The local ELBO at the start does not depend on the form of q(v), and is
// that of a dense computation: at the optimal q(v) of all rows it is Titsias'
// bound.
func TestStepBenchELBO(t *testing.T) {
	s := stepSetup(t, StepAdam, 60, 5, 4, stepBenchKernels...)
	at := func(kind StepKind) float64 {
		s := s
		s.Kind = kind
		v, err := newStepBench(t, s, 1).ELBO(40)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	near(t, "ELBO from the precision", []float64{at(StepTheta)}, []float64{at(StepAdam)}, 1e-10)

	s = stepSetup(t, StepTheta, 60, 5, 4, "SE+LIN")
	b := newStepBench(t, s, 1)
	l := b.lanes[0].units[0]
	if err := l.exact([]int{0}, device.Points{Data: b.common.train, To: 60}, sumSquares(s.Y[:60]), nil); err != nil {
		t.Fatal(err)
	}
	got, err := b.ELBO(60)
	if err != nil {
		t.Fatal(err)
	}
	want := naiveCollapsed(s.Programs[0], s.Theta[0], s.Noise, s.X, s.Y, s.Z, 1, s.Jitter)
	near(t, "ELBO at the optimal q(v)", []float64{got}, []float64{want}, 1e-9)
}

// A step allocates nothing, but for the list of minibatches every 512 steps.
func TestStepsAllocateNothing(t *testing.T) {
	for _, kind := range []StepKind{StepAdam, StepTheta, StepFrozen} {
		for _, size := range [][3]int{{1000, 16, 32}, {1000, 200, 128}} {
			b := newStepBench(t, stepSetup(t, kind, size[0], size[1], size[2], "PER*RQ+SE", "(PER+RQ)*LIN"), 1)
			step := func() {
				if err := b.Steps(1); err != nil {
					t.Fatal(err)
				}
			}
			step()
			if got := testing.AllocsPerRun(3, step); got != 0 {
				t.Errorf("kind %d, M = %d, B = %d: a step allocates %v times", kind, size[1], size[2], got)
			}
		}
	}
}

// The list of minibatches, drawn in parts, is that of training.
func TestBatchDrawer(t *testing.T) {
	d := newBatchDrawer(8, 1, 50, 7, 20)
	d.batch = math.MaxUint32 - 3 // the numbers of batches come round
	for number := 1; number <= 3; number++ {
		for _, part := range []int{1, 0, 12, 7} {
			d.draw(part)
		}
		// Floyd's algorithm with a set.
		rng := random.Stream(8, "minibatches", number)
		var want []int32
		for range 20 {
			batch := map[int32]bool{}
			for j := 50 - 7; j < 50; j++ {
				r := int32(rng.IntN(j + 1))
				if batch[r] {
					r = int32(j)
				}
				batch[r] = true
				want = append(want, r)
			}
		}
		if !slices.Equal(want, drawMinibatches(8, number, 50, 7, 20).rows) {
			t.Fatalf("list %d of training is another", number)
		}
		if !slices.Equal(d.rows, want) {
			t.Errorf("list %d: %v, want %v", number, d.rows, want)
		}
		d.next()
	}
}

// Every task is given to one lane, and the largest load is at most 4/3 of the
// least possible (Graham 1969), found by trying all divisions.
func TestShareOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		costs := make([]float64, 1+rng.IntN(8))
		for i := range costs {
			costs[i] = 1 + math.Floor(20*rng.Float64())
		}
		lanes := 1 + rng.IntN(3)
		best := math.Inf(1)
		load := make([]float64, lanes)
		var try func(i int)
		try = func(i int) {
			if i == len(costs) {
				best = min(best, slices.Max(load))
				return
			}
			for l := range load {
				load[l] += costs[i]
				try(i + 1)
				load[l] -= costs[i]
			}
		}
		try(0)
		var all []int
		worst := 0.0
		for _, share := range shareOut(costs, lanes) {
			sum := 0.0
			for _, task := range share {
				sum += costs[task]
			}
			worst = max(worst, sum)
			all = append(all, share...)
		}
		slices.Sort(all)
		for i, task := range all {
			if i != task {
				t.Fatalf("%d tasks are divided into %v", len(costs), all)
			}
		}
		if len(all) != len(costs) || worst > best*4/3 {
			t.Errorf("costs %v on %d lanes: largest load %v, possible %v", costs, lanes, worst, best)
		}
	}
}

// counted counts the operations of textbook loops: a multiplication and an
// addition for each turn of the innermost.
type counted struct{ operations float64 }

func (c *counted) multiplyAdd(times int) { c.operations += 2 * float64(times) }

// cholesky counts L_ij = (a_ij − Σ_k L_ik L_jk)/L_jj for i ≥ j.
func (c *counted) cholesky(m int) {
	for i := range m {
		for j := range i + 1 {
			c.multiplyAdd(j)
		}
	}
}

// triangular counts a product with, or a solve by, a triangle, of n columns.
func (c *counted) triangular(m, n int) {
	for i := range m {
		c.multiplyAdd(i * n)
	}
}

// half counts the lower triangle of a product M x n by n x M.
func (c *counted) half(m, n int) {
	for i := range m {
		c.multiplyAdd((i + 1) * n)
	}
}

// sandwich counts L⁻ᵀSL⁻¹ of a symmetric S: a whole solve, then one whose
// result is needed on and below the diagonal, which backward substitution
// finds without what is above.
func (c *counted) sandwich(m int) {
	c.triangular(m, m)
	for column := range m {
		c.triangular(m-column, 1)
	}
}

// inverse counts L⁻ᵀL⁻¹: L⁻¹ column by column, from its diagonal down, and the lower half of the product.
func (c *counted) inverse(m int) {
	for column := range m {
		c.triangular(m-column, 1)
	}
	for i := range m {
		c.multiplyAdd((m - i) * (i + 1))
	}
}

// The formulas for operations are what loops over the entries that the table
// lists come to, but for terms of lower order.
func TestOperations(t *testing.T) {
	const m, b = 400, 250
	gradient := func(c *counted) { // from A on
		for range 4 { // A, CᵀA, SA, L⁻ᵀĀ
			c.triangular(m, b)
		}
		c.multiplyAdd(2 * m * b) // Aᵀm, Ar
		c.half(m, b)             // ĀAᵀ
		c.sandwich(m)
		c.half(m, b) // ∂/∂C, or AAᵀ
	}
	for kind, count := range map[StepKind]func(*counted){
		StepAdam: func(c *counted) {
			c.cholesky(m)
			gradient(c)
		},
		StepTheta: func(c *counted) {
			c.cholesky(m)
			c.cholesky(m)
			c.triangular(m, 1)
			c.triangular(m, 1)
			gradient(c)
		},
		StepFrozen: func(c *counted) {
			c.triangular(m, b)
			c.half(m, b)
			c.multiplyAdd(m * b)
		},
		StepPredict: func(c *counted) {
			c.cholesky(m)
			c.cholesky(m)
			c.triangular(m, 2)
			c.triangular(m, b)
			c.triangular(m, b)
			c.multiplyAdd(m * b)
		},
		StepBound: func(c *counted) {
			c.cholesky(m)
			c.cholesky(m)
			c.inverse(m)
			c.sandwich(m)
			c.sandwich(m)
			c.triangular(m, b)       // A
			c.half(m, b)             // AAᵀ
			c.multiplyAdd(m * m * b) // P k(Z,X)
			c.multiplyAdd(2 * m * b) // Ay, k(X,Z)β
		},
	} {
		c := &counted{}
		count(c)
		if got := kind.Operations(m, b); math.Abs(got-c.operations) > 0.005*c.operations {
			t.Errorf("kind %d: %.6g operations, loops make %.6g", kind, got, c.operations)
		}
	}
	whole := &counted{}
	whole.cholesky(m)
	whole.inverse(m)
	if got := StepBound.Operations(m, m); math.Abs(got-whole.operations) > 0.015*whole.operations { // 4M² are more than are counted
		t.Errorf("all rows: %.6g operations, loops make %.6g", got, whole.operations)
	}
}

func TestStepBenchErrors(t *testing.T) {
	good := stepSetup(t, StepAdam, 20, 3, 4, "SE")
	for name, spoil := range map[string]func(s *StepSetup){
		"no kernels":      func(s *StepSetup) { s.Programs = nil },
		"no parameters":   func(s *StepSetup) { s.Theta = nil },
		"inducing inputs": func(s *StepSetup) { s.Z = s.Z[1:] },
		"factor":          func(s *StepSetup) { s.Chol = s.Chol[1:] },
		"batch":           func(s *StepSetup) { s.Batch = 20 },
		"no test rows":    func(s *StepSetup) { s.Kind, s.Test = StepPredict, nil },
	} {
		s := good
		spoil(&s)
		if b, err := NewStepBench(onCPU(1), s); err == nil {
			b.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkSteps(b *testing.B) {
	s := stepSetup(b, StepAdam, 1000, 16, 32, stepBenchKernels...)
	bench := newStepBench(b, s, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := bench.Steps(1); err != nil {
			b.Fatal(err)
		}
	}
}
