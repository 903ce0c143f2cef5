package trial

import (
	"math"
	"math/rand/v2"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// Steps says what Agree compares: steps of Adam on (m, C, log θ, ρ) for a batch of kernels
// in one column, on made-up rows.
type Steps struct {
	Programs        []*kernelspace.Program
	Inducing, Batch int
	Rows            int // of the data
	Count           int // steps
	// Jitter is relative. With little of it rounding shows: at 1e-6 the gradients of smooth
	// kernels with 16 inducing inputs differ by 5e-10 between a CPU's own instruction sets.
	Jitter float64
}

const stepRate = 0.01

// stepper makes the steps on one device: the operations of vbks's bound and step, one after
// the other.
type stepper struct {
	*workshop
	steps  Steps
	ks     device.Kernels
	z      device.Points
	train  device.Data
	list   device.Index
	n      float64
	jitter device.Jitter

	free, theta, gradFree, gradTheta, value, info, factor device.Array
	kzz, l, kzx, a, ca, sa, kdiag, diagBar, mu, v, r      device.Array
	qm, qc, gradM, gradC, kbar                            device.Array
	moments                                               [6]device.Array
}

// start places data and kernels on a device, the same on each.
func (c *Steps) start(dev device.Device) (*stepper, error) {
	s := &stepper{workshop: newWorkshop(dev, len(c.Programs)), steps: *c, n: float64(c.Rows), jitter: device.Jitter{Relative: c.Jitter}}
	r := rand.New(rand.NewPCG(2, 71))
	x, y, z := make([]float64, c.Rows), make([]float64, c.Rows), make([]float64, c.Inducing)
	for i := range x {
		x[i] = 4*r.Float64() - 2
		y[i] = math.Sin(3*x[i]) + 0.3*x[i] + 0.3*r.NormFloat64()
	}
	for i := range z {
		z[i] = -2 + 4*(float64(i)+0.5*r.Float64())/float64(c.Inducing)
	}
	rows := make([]int32, c.Count*c.Batch)
	for i := range rows {
		rows[i] = int32(r.IntN(c.Rows))
	}
	s.ks = s.kernels(c.Programs)
	places := s.data(z, nil, 1)
	s.train, s.list = s.data(x, y, 1), s.index(rows)
	if s.err != nil {
		s.close()
		return nil, s.err
	}
	s.z = device.All(places)
	f, p, m, b := s.ks.Free(), s.ks.Params(), c.Inducing, c.Batch
	s.free, s.gradFree, s.theta, s.gradTheta = s.array(1, f), s.array(1, f), s.array(1, p), s.array(1, p)
	s.value, s.info, s.factor = s.array(1, 1), s.array(1, 1), s.array(1, 1)
	for _, a := range []*device.Array{&s.kzz, &s.l, &s.qc, &s.gradC, &s.kbar} {
		*a = s.array(m, m)
	}
	for _, a := range []*device.Array{&s.kzx, &s.a, &s.ca, &s.sa} {
		*a = s.array(m, b)
	}
	for _, a := range []*device.Array{&s.kdiag, &s.diagBar, &s.mu, &s.v, &s.r} {
		*a = s.array(1, b)
	}
	s.qm, s.gradM = s.array(m, 1), s.array(m, 1)
	s.moments = [6]device.Array{s.array(1, f), s.array(1, f), s.array(m, 1), s.array(m, 1), s.array(m, m), s.array(m, m)}
	s.begin()
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
	m := s.steps.Inducing
	for k := range s.steps.Programs {
		free, mean, chol := make([]float64, s.ks.Free()), make([]float64, m), make([]float64, m*m)
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
		s.write(s.free, k, free)
		s.write(s.qm, k, mean)
		s.write(s.qc, k, chol)
		s.write(s.factor, k, []float64{1})
	}
}

// gradient computes the local ELBO of the rows x and its gradients.
func (s *stepper) gradient(x device.Points) {
	l, sub, ks := s.lane, s.sub, s.ks
	l.Expand(sub, ks, 0, s.free, s.theta)
	l.Kernel(sub, ks, s.theta, s.z, s.z, s.kzz)
	l.Copy(sub, s.l, s.kzz)
	l.AddJitter(sub, s.l, s.jitter, s.factor)
	l.Cholesky(sub, s.l, s.info)
	l.Kernel(sub, ks, s.theta, s.z, x, s.kzx)
	l.Copy(sub, s.a, s.kzx)
	l.Solve(sub, false, s.l, s.a)
	l.MulLower(sub, true, s.qc, s.a, s.ca)
	l.KernelDiag(sub, ks, s.theta, x, s.kdiag)
	l.Predict(sub, s.a, s.ca, s.qm, s.kdiag, s.mu, s.v)
	l.Fill(sub, s.value, 0)
	l.Fill(sub, s.gradTheta, 0)
	l.Likelihood(sub, ks, s.theta, x, s.n, s.mu, s.v, s.r, s.value, s.gradTheta)
	l.MulLower(sub, false, s.qc, s.ca, s.sa)
	l.ABar(sub, ks, s.theta, s.n, s.qm, s.r, s.a, s.sa)
	l.GemmLower(sub, false, true, -0.5, s.sa, s.a, s.kbar)
	l.SolveBoth(sub, s.l, s.kbar)
	l.JitterGrad(sub, s.kbar, s.jitter, s.factor)
	l.KernelGrad(sub, ks, s.theta, s.z, s.z, s.kzz, s.kbar, s.gradTheta)
	l.Solve(sub, true, s.l, s.sa)
	l.KernelGrad(sub, ks, s.theta, s.z, x, s.kzx, s.sa, s.gradTheta)
	l.Fill(sub, s.diagBar, 1)
	l.Weight(sub, ks, s.theta, s.n, x.Len(), -0.5, s.diagBar)
	l.KernelDiagGrad(sub, ks, s.theta, x, s.diagBar, s.gradTheta)
	l.Gemm(sub, false, true, 1, s.a, s.r, 0, s.gradM)
	l.Weight(sub, ks, s.theta, s.n, x.Len(), 1, s.gradM)
	l.Weight(sub, ks, s.theta, s.n, x.Len(), 1, s.ca)
	l.GemmLower(sub, false, true, -1, s.a, s.ca, s.gradC)
	l.GaussKL(sub, s.qm, s.qc, s.value, s.gradM, s.gradC)
	l.Collect(sub, ks, 0, s.theta, s.gradTheta, s.gradFree)
}

// step makes step t, counted from 0.
func (s *stepper) step(t int) error {
	b := s.steps.Batch
	s.gradient(device.Points{Data: s.train, Index: s.list, From: t * b, To: (t + 1) * b})
	m := s.moments
	s.lane.Adam(s.sub, t+1, stepRate, nil, s.free, s.gradFree, m[0], m[1])
	s.lane.Adam(s.sub, t+1, stepRate, nil, s.qm, s.gradM, m[2], m[3])
	s.lane.AdamLower(s.sub, t+1, stepRate, s.qc, s.gradC, m[4], m[5])
	return s.lane.Sync()
}
