package trial

import (
	"math"
	"math/rand/v2"
	"slices"

	"example.com/kestrel/device"
)

// Natural steps: θ moves every other one, once q(v) rests on minibatches enough for some
// steps to go before, and q(v) averages over a few of them.
const (
	naturalEvery = 2
	naturalWarm  = 3 // minibatches
	naturalMean  = 5
)

// naturalStepper is what a stepper needs for natural steps.
type naturalStepper struct {
	lambda, lambdaM          device.Array // Λ, Λm
	root, mean, target, work device.Array // its factor and m, of moving θ; scratch
	seen                     []float64    // by kernel, see device.NaturalRun
}

// beginNatural draws q(v) where natural steps begin.
func (s *stepper) beginNatural() {
	n, m := &s.natural, s.steps.Inducing
	n.lambda, n.root, n.work = s.array(m, m), s.array(m, m), s.array(m, m)
	n.lambdaM, n.mean, n.target = s.array(m, 1), s.array(m, 1), s.array(m, 1)
	n.seen = make([]float64, s.count)
	r := rand.New(rand.NewPCG(3, 17))
	for k := range s.count {
		c := normal(r, m*m)
		lambda := make([]float64, m*m)
		for i := range m {
			for j := range m {
				for l := range m {
					lambda[i*m+j] += c[i*m+l] * c[j*m+l]
				}
			}
			lambda[i*m+i] += 1
		}
		s.write(n.lambda, k, lambda)
		s.write(n.lambdaM, k, normal(r, m))
		n.seen[k] = float64(k % 3 * s.steps.Batch)
	}
}

func (s *stepper) warm() float64 { return math.Min(s.run.N, float64(naturalWarm*s.steps.Batch)) }

func (s *stepper) least() float64 {
	b := float64(s.steps.Batch)
	return math.Min(1, b/math.Min(s.run.N, naturalMean*b))
}

// moves reports whether step t of a kernel moves θ.
func (s *stepper) moves(t int, seen float64) bool { return (t+1)%naturalEvery == 0 && seen >= s.warm() }

// naturalStep makes step t, counted from 0: vbks's, operation by operation.
func (s *stepper) naturalStep(t int) {
	l, run, n, x := s.lane, &s.run, &s.natural, s.rows(t)
	b := float64(x.Len())
	s.project(x)
	var moving []int
	for _, k := range s.sub {
		if s.moves(t, n.seen[k]) {
			moving = append(moving, k)
		}
	}
	if len(moving) > 0 {
		l.Copy(moving, n.root, n.lambda)
		l.Fill(moving, s.info, 0)
		l.Cholesky(moving, n.root, s.info)
		l.AddScaled(moving, run.Failed, 1, s.info)
		l.Copy(moving, n.mean, n.lambdaM)
		l.Solve(moving, false, n.root, n.mean)
		l.Solve(moving, true, n.root, n.mean)
		l.Copy(moving, s.ca, s.a)
		l.Solve(moving, false, n.root, s.ca)
		s.expected(moving, x, n.mean)
		l.Copy(moving, s.sa, s.ca)
		l.Solve(moving, true, n.root, s.sa)
		s.pull(moving, x, n.mean)
		s.prior(moving)
	}
	l.Syrk(s.sub, 1, s.a, 0, n.work)
	l.Precision(s.sub, run.Kernels, s.theta, run.N/b, n.work, s.kbar)
	l.MulTargets(s.sub, 1, s.a, x, 0, n.target)
	l.Weight(s.sub, run.Kernels, s.theta, run.N, x.Len(), 1, n.target)
	for i, k := range s.sub {
		one := []int{k}
		gamma := math.Max(b/(n.seen[k]+b), s.least())
		l.AddScaled(one, s.kbar, -1, n.lambda)
		l.AddScaled(one, n.lambda, gamma, s.kbar)
		l.AddScaled(one, n.target, -1, n.lambdaM)
		l.AddScaled(one, n.lambdaM, gamma, n.target)
		n.seen[k] = math.Min(n.seen[k]+b, run.N)
		if slices.Contains(moving, k) {
			run.Taken[i]++
			l.Adam(one, run.Taken[i], run.Rate, run.Stride, run.Free, s.gradFree, run.FreeM1, run.FreeM2)
		}
	}
}

// naturalLeap makes the steps of a run, of which from is the first's number, at once.
func (s *stepper) naturalLeap(lane device.SmallSteps, run device.SmallRun, from int) bool {
	n := &s.natural
	if !lane.NaturalSteps(s.sub, &device.NaturalRun{SmallRun: run, Lambda: n.lambda, LambdaM: n.lambdaM, Seen: n.seen,
		First: from, Every: naturalEvery, Warm: s.warm(), Least: s.least()}) {
		return false
	}
	for i, k := range s.sub {
		for t := from; t < from+run.Steps; t++ {
			if s.moves(t, n.seen[k]) {
				s.run.Taken[i]++
			}
			n.seen[k] = math.Min(n.seen[k]+float64(s.steps.Batch), run.N)
		}
	}
	return true
}
