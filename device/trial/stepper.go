package trial

import (
	"math"
	"math/rand/v2"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// Steps says what Agree compares: steps of Adam on (m, C, log θ, ρ) for a batch of kernels,
// on made-up rows.
type Steps struct {
	Programs        []*kernelspace.Program
	Inducing, Batch int
	Rows            int // of the data
	Count           int // steps
	// Jitter is relative. With little of it rounding shows: at 1e-6 the gradients of smooth
	// kernels with 16 inducing inputs differ by 5e-10 between a CPU's own instruction sets.
	Jitter float64
	// Priors has all that a run may bring: priors on θ, limits that some are beyond, strides,
	// a floor of the noise, and steps that some kernels have made before.
	Priors bool
	// Natural has natural steps of q(v), every other one of which moves θ, for steps of Adam.
	Natural bool
}

const stepRate = 0.01

// stepper makes the steps on one device: the operations of vbks's bound and step, one after
// the other, or as many at once as the device can.
type stepper struct {
	*workshop
	steps Steps
	run   device.AdamRun // from the first minibatch on
	parts [][]int        // of the kernels, those that have made equally many steps before

	theta, gradFree, gradTheta, info                 device.Array
	kzz, l, kzx, a, ca, sa, kdiag, diagBar, mu, v, r device.Array
	gradM, gradC, kbar                               device.Array

	natural naturalStepper
}

// start places data and kernels on a device, the same on each.
func (c *Steps) start(dev device.Device) (*stepper, error) {
	s := &stepper{workshop: newWorkshop(dev, len(c.Programs)), steps: *c}
	r := rand.New(rand.NewPCG(2, 71))
	dim := 1
	for _, p := range c.Programs {
		dim = max(dim, p.Dim)
	}
	x, y, z := make([]float64, c.Rows*dim), make([]float64, c.Rows), make([]float64, c.Inducing*dim)
	for i := range y {
		for j := range dim {
			x[i*dim+j] = 4*r.Float64() - 2
		}
		y[i] = math.Sin(3*x[i*dim]) + 0.3*x[i*dim] + 0.3*r.NormFloat64()
	}
	for i := range c.Inducing {
		z[i*dim] = -2 + 4*(float64(i)+0.5*r.Float64())/float64(c.Inducing)
		for j := 1; j < dim; j++ {
			z[i*dim+j] = 4*r.Float64() - 2
		}
	}
	rows := make([]int32, c.Count*c.Batch)
	for i := range rows {
		rows[i] = int32(r.IntN(c.Rows))
	}
	ks := s.kernels(c.Programs)
	places := s.data(z, nil, dim)
	train, list := s.data(x, y, dim), s.index(rows)
	if s.err != nil {
		s.close()
		return nil, s.err
	}
	f, p, m, b := ks.Free(), ks.Params(), c.Inducing, c.Batch
	s.gradFree, s.theta, s.gradTheta, s.info = s.array(1, f), s.array(1, p), s.array(1, p), s.array(1, 1)
	for _, a := range []*device.Array{&s.kzz, &s.l, &s.gradC, &s.kbar} {
		*a = s.array(m, m)
	}
	for _, a := range []*device.Array{&s.kzx, &s.a, &s.ca, &s.sa} {
		*a = s.array(m, b)
	}
	for _, a := range []*device.Array{&s.kdiag, &s.diagBar, &s.mu, &s.v, &s.r} {
		*a = s.array(1, b)
	}
	s.gradM = s.array(m, 1)
	s.run = device.AdamRun{SmallRun: device.SmallRun{
		Kernels: ks, Z: device.All(places), X: device.Points{Data: train, Index: list, To: b}, Skip: b, N: float64(c.Rows), Rate: stepRate,
		Jitter: device.Jitter{Relative: c.Jitter}, Factor: s.array(1, 1),
		Free: s.array(1, f), FreeM1: s.array(1, f), FreeM2: s.array(1, f), Stride: s.array(1, f),
		PriorMean: s.array(1, f), PriorPrec: s.array(1, f), Lo: s.array(1, f), Hi: s.array(1, f),
		Failed: s.array(1, 1),
	},
		Mean: s.array(m, 1), MeanM1: s.array(m, 1), MeanM2: s.array(m, 1),
		Chol: s.array(m, m), CholM1: s.array(m, m), CholM2: s.array(m, m),
		Value: s.array(1, 1),
	}
	s.begin()
	if c.Natural {
		s.beginNatural()
	}
	if s.err != nil {
		s.close()
		return nil, s.err
	}
	return s, nil
}

// begin draws where the kernels begin. Steps can be so sensitive to rounding that a CPU's own
// instruction sets end 1e-8 apart (PER+PER from the seed 3, 14); from here they end within 3e-10.
func (s *stepper) begin() {
	r := rand.New(rand.NewPCG(3, 15))
	m, run := s.steps.Inducing, &s.run
	f := run.Kernels.Free()
	for k := range s.steps.Programs {
		free, mean, chol := make([]float64, f), make([]float64, m), make([]float64, m*m)
		for i := range free {
			free[i] = 0.3 * r.NormFloat64()
		}
		free[len(free)-1] = math.Log(0.1)
		for i := range m {
			mean[i] = 0.5 * r.NormFloat64()
			for j := range i {
				chol[i*m+j] = 0.1 * r.NormFloat64()
			}
			chol[i*m+i] = 0.5 + 0.5*r.Float64()
		}
		s.write(run.Free, k, free)
		s.write(run.Mean, k, mean)
		s.write(run.Chol, k, chol)
		s.write(run.Factor, k, []float64{1})
	}
	s.parts, run.Taken = [][]int{s.sub}, make([]int, len(s.sub))
	if s.steps.Priors {
		s.burden(rand.New(rand.NewPCG(3, 16)))
		return
	}
	for _, k := range s.sub {
		s.write(run.Stride, k, slices.Repeat([]float64{1}, f))
		s.write(run.Lo, k, slices.Repeat([]float64{math.Inf(-1)}, f))
		s.write(run.Hi, k, slices.Repeat([]float64{math.Inf(1)}, f))
	}
}

// burden is what Priors promises.
func (s *stepper) burden(r *rand.Rand) {
	run := &s.run
	f := run.Kernels.Free()
	run.NoiseFloor, run.Wall, run.Jitter.Absolute = 1e-3, 3, 1e-7
	drawn := func(least, most float64) []float64 {
		x := make([]float64, f)
		for i := range x {
			x[i] = least + (most-least)*r.Float64()
		}
		return x
	}
	s.parts = make([][]int, 2)
	for _, k := range s.sub {
		prec := drawn(0.5, 2)
		prec[k%f] = 0 // none on this one
		for _, w := range []struct {
			to     device.Array
			values []float64
		}{
			{run.Stride, drawn(0.5, 1.5)}, {run.PriorMean, drawn(-1, 1)}, {run.PriorPrec, prec}, {run.Lo, drawn(-0.5, 0)}, {run.Hi, drawn(0, 0.5)},
			{run.FreeM1, drawn(-1, 1)}, {run.FreeM2, drawn(1, 2)}, {run.Factor, []float64{1 + float64(k)}},
		} {
			s.write(w.to, k, w.values)
		}
		run.Taken[k] = 7 * (k % 2)
		s.parts[k%2] = append(s.parts[k%2], k)
	}
}

// project computes θ, L and A = L⁻¹k(Z,X).
func (s *stepper) project(x device.Points) {
	l, sub, run := s.lane, s.sub, &s.run
	l.Expand(sub, run.Kernels, run.NoiseFloor, run.Free, s.theta)
	l.Fill(sub, s.info, 0)
	l.Kernel(sub, run.Kernels, s.theta, run.Z, run.Z, s.kzz)
	l.Copy(sub, s.l, s.kzz)
	l.AddJitter(sub, s.l, run.Jitter, run.Factor)
	l.Cholesky(sub, s.l, s.info)
	l.AddScaled(sub, run.Failed, 1, s.info)
	l.Kernel(sub, run.Kernels, s.theta, run.Z, x, s.kzx)
	l.Copy(sub, s.a, s.kzx)
	l.Solve(sub, false, s.l, s.a)
}

// expected computes the expected log likelihood, from CᵀA in ca.
func (s *stepper) expected(sub []int, x device.Points, mean device.Array) {
	l, run := s.lane, &s.run
	l.KernelDiag(sub, run.Kernels, s.theta, x, s.kdiag)
	l.Predict(sub, s.a, s.ca, mean, s.kdiag, s.mu, s.v)
	l.Fill(sub, run.Value, 0)
	l.Fill(sub, s.gradTheta, 0)
	l.Likelihood(sub, run.Kernels, s.theta, x, run.N, s.mu, s.v, s.r, run.Value, s.gradTheta)
}

// pull computes the gradient by the free vector, from SA in sa.
func (s *stepper) pull(sub []int, x device.Points, mean device.Array) {
	l, run := s.lane, &s.run
	ks, n := run.Kernels, run.N
	l.ABar(sub, ks, s.theta, n, mean, s.r, s.a, s.sa)
	l.GemmLower(sub, false, true, -0.5, s.sa, s.a, s.kbar)
	l.SolveBoth(sub, s.l, s.kbar)
	l.JitterGrad(sub, s.kbar, run.Jitter, run.Factor)
	l.KernelGrad(sub, ks, s.theta, run.Z, run.Z, s.kzz, s.kbar, s.gradTheta)
	l.Solve(sub, true, s.l, s.sa)
	l.KernelGrad(sub, ks, s.theta, run.Z, x, s.kzx, s.sa, s.gradTheta)
	l.Fill(sub, s.diagBar, 1)
	l.Weight(sub, ks, s.theta, n, x.Len(), -0.5, s.diagBar)
	l.KernelDiagGrad(sub, ks, s.theta, x, s.diagBar, s.gradTheta)
	l.Collect(sub, ks, run.NoiseFloor, s.theta, s.gradTheta, s.gradFree)
}

// prior adds that of θ.
func (s *stepper) prior(sub []int) {
	run := &s.run
	s.lane.LogPrior(sub, run.Free, run.PriorMean, run.PriorPrec, run.Lo, run.Hi, run.Wall, run.Value, s.gradFree)
}

// gradient computes the local ELBO of the rows x and its gradients.
func (s *stepper) gradient(x device.Points) {
	l, sub, run := s.lane, s.sub, &s.run
	ks, n := run.Kernels, run.N
	s.project(x)
	l.MulLower(sub, true, run.Chol, s.a, s.ca)
	s.expected(sub, x, run.Mean)
	l.MulLower(sub, false, run.Chol, s.ca, s.sa)
	s.pull(sub, x, run.Mean)
	l.Gemm(sub, false, true, 1, s.a, s.r, 0, s.gradM)
	l.Weight(sub, ks, s.theta, n, x.Len(), 1, s.gradM)
	l.Weight(sub, ks, s.theta, n, x.Len(), 1, s.ca)
	l.GemmLower(sub, false, true, -1, s.a, s.ca, s.gradC)
	l.GaussKL(sub, run.Mean, run.Chol, run.Value, s.gradM, s.gradC)
	s.prior(sub)
}

// rows are those of minibatch t, from 0.
func (s *stepper) rows(t int) device.Points {
	x := s.run.X
	x.From, x.To = t*s.run.Skip, t*s.run.Skip+s.steps.Batch
	return x
}

// step makes step t, counted from 0.
func (s *stepper) step(t int) error {
	end := device.Repeats(s.lane, s.rows(t))
	if s.steps.Natural {
		s.naturalStep(t)
	} else {
		s.adamStep(t)
	}
	end()
	return s.lane.Sync()
}

// adamStep makes step t of Adam: vbks's, operation by operation.
func (s *stepper) adamStep(t int) {
	s.gradient(s.rows(t))
	run := &s.run
	for _, same := range s.parts {
		if len(same) == 0 {
			continue
		}
		number := run.Taken[same[0]] + t + 1
		s.lane.Adam(same, number, run.Rate, run.Stride, run.Free, s.gradFree, run.FreeM1, run.FreeM2)
		s.lane.Adam(same, number, run.Rate, nil, run.Mean, s.gradM, run.MeanM1, run.MeanM2)
		s.lane.AdamLower(same, number, run.Rate, run.Chol, s.gradC, run.CholM1, run.CholM2)
	}
}

// leap makes all steps, the first by itself and the others at once. It reports false, with
// nothing done, where the lane makes steps one by one.
func (s *stepper) leap() (bool, error) {
	lane, ok := s.lane.(device.SmallSteps)
	if !ok {
		return false, nil
	}
	for from, steps := 0, 1; from < s.steps.Count; from, steps = from+steps, s.steps.Count-1 {
		run := s.run
		run.X, run.Steps = s.rows(from), steps
		made := false
		if s.steps.Natural {
			made = s.naturalLeap(lane, run.SmallRun, from)
		} else {
			run.Taken = slices.Clone(run.Taken)
			for i := range run.Taken {
				run.Taken[i] += from
			}
			made = lane.AdamSteps(s.sub, &run)
		}
		if !made {
			return false, nil
		}
		if err := s.lane.Sync(); err != nil {
			return true, err
		}
	}
	return true, nil
}
