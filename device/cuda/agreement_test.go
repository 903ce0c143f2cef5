//go:build cuda

package cuda_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/kernelspace"
)

// stepper makes the paper's steps of Adam on (m, C, log θ, ρ) for a batch of
// kernels: the operations of vbks's bound and step, one after the other.
type stepper struct {
	t    *testing.T
	lane device.Lane
	ks   device.Kernels
	sub  []int
	z    device.Points
	n    float64

	free, theta, gradFree, gradTheta, value, info, factor device.Array
	kzz, l, kzx, a, ca, sa, kdiag, diagBar, mu, v, r      device.Array
	qm, qc, gradM, gradC, kbar                            device.Array
	moments                                               [6]device.Array
}

const (
	stepM, stepB, stepRows = 16, 32, 300
	stepRate               = 0.01
)

// With less jitter rounding shows: at 1e-6 the gradients of smooth kernels
// differ by 5e-10 between the CPU's own instruction sets.
var stepJitter = device.Jitter{Relative: 1e-5}

func newStepper(t *testing.T, dev device.Device, programs []*kernelspace.Program, z []float64) *stepper {
	t.Helper()
	s := &stepper{t: t, lane: dev.Lane(0), n: stepRows}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	s.ks, err = s.lane.NewKernels(programs)
	check(err)
	d, err := dev.NewData(z, nil, 1)
	check(err)
	s.z = device.All(d)
	for k := range programs {
		s.sub = append(s.sub, k)
	}
	array := func(rows, cols int) device.Array {
		a, err := s.lane.NewArray(len(programs), rows, cols)
		check(err)
		return a
	}
	f, p := s.ks.Free(), s.ks.Params()
	s.free, s.gradFree, s.theta, s.gradTheta = array(1, f), array(1, f), array(1, p), array(1, p)
	s.value, s.info, s.factor = array(1, 1), array(1, 1), array(1, 1)
	for _, a := range []*device.Array{&s.kzz, &s.l, &s.qc, &s.gradC, &s.kbar} {
		*a = array(stepM, stepM)
	}
	for _, a := range []*device.Array{&s.kzx, &s.a, &s.ca, &s.sa} {
		*a = array(stepM, stepB)
	}
	for _, a := range []*device.Array{&s.kdiag, &s.diagBar, &s.mu, &s.v, &s.r} {
		*a = array(1, stepB)
	}
	s.qm, s.gradM = array(stepM, 1), array(stepM, 1)
	s.moments = [6]device.Array{array(1, f), array(1, f), array(stepM, 1), array(stepM, 1), array(stepM, stepM), array(stepM, stepM)}

	// Steps can be so sensitive to rounding that the CPU's own instruction sets end
	// 1e-8 apart (PER+PER from (3, 14)); from here they end within 3e-10.
	r := rand.New(rand.NewPCG(3, 15))
	for k := range programs {
		free, mean, chol := make([]float64, f), make([]float64, stepM), make([]float64, stepM*stepM)
		for i := range free {
			free[i] = 0.3 * r.NormFloat64()
		}
		free[f-1] = math.Log(0.1)
		for i := range stepM {
			mean[i] = 0.5 * r.NormFloat64()
			for j := range i {
				chol[i*stepM+j] = 0.1 * r.NormFloat64()
			}
			chol[i*stepM+i] = 0.5 + 0.5*r.Float64()
		}
		s.lane.Write(s.free, k, free)
		s.lane.Write(s.qm, k, mean)
		s.lane.Write(s.qc, k, chol)
		s.lane.Write(s.factor, k, []float64{1})
	}
	return s
}

// gradient computes the local ELBO of the rows x and its gradients.
func (s *stepper) gradient(x device.Points) {
	l, sub, ks := s.lane, s.sub, s.ks
	l.Expand(sub, ks, 0, s.free, s.theta)
	l.Kernel(sub, ks, s.theta, s.z, s.z, s.kzz)
	l.Copy(sub, s.l, s.kzz)
	l.AddJitter(sub, s.l, stepJitter, s.factor)
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
	l.JitterGrad(sub, s.kbar, stepJitter, s.factor)
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

func (s *stepper) step(x device.Points, t int) {
	s.gradient(x)
	m := s.moments
	s.lane.Adam(s.sub, t, stepRate, nil, s.free, s.gradFree, m[0], m[1])
	s.lane.Adam(s.sub, t, stepRate, nil, s.qm, s.gradM, m[2], m[3])
	s.lane.AdamLower(s.sub, t, stepRate, s.qc, s.gradC, m[4], m[5])
	if err := s.lane.Sync(); err != nil {
		s.t.Fatal(err)
	}
}

// agree compares arrays member by member, relative to the member's largest entry.
func agree(t *testing.T, what string, programs []*kernelspace.Program, tol float64, got, want *stepper, pick func(*stepper) device.Array) {
	t.Helper()
	_, rows, cols := pick(want).Shape()
	x, y := make([]float64, rows*cols), make([]float64, rows*cols)
	worst := 0.0
	for _, k := range got.sub {
		p := programs[k]
		if err := got.lane.Read(pick(got), k, x); err != nil {
			t.Fatal(err)
		}
		if err := want.lane.Read(pick(want), k, y); err != nil {
			t.Fatal(err)
		}
		size, diff := 0.0, 0.0
		for i := range y {
			size = math.Max(size, math.Abs(y[i]))
			diff = math.Max(diff, math.Abs(x[i]-y[i]))
			if math.IsNaN(x[i]) {
				diff = math.Inf(1)
			}
		}
		if !(diff <= tol*size) {
			t.Errorf("%s of %s differs by %.2g of %.3g, want at most %.0e of it", what, p.ID, diff, size, tol)
		}
		if size > 0 {
			worst = math.Max(worst, diff/size)
		}
	}
	t.Logf("%s: at most %.1e apart", what, worst)
}

// TestAgreesWithCPU compares objective, gradients and 50 steps of Adam of
// every kernel of K144 with those of the CPU.
func TestAgreesWithCPU(t *testing.T) {
	pretend(t, fake.Options{})
	agreesWithCPU(t, cuda.GenerateNever)
}

func agreesWithCPU(t *testing.T, g cuda.Generate) {
	exprs, err := kernelspace.Set("K144")
	if err != nil {
		t.Fatal(err)
	}
	var programs []*kernelspace.Program
	for _, e := range exprs {
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p)
	}
	r := rand.New(rand.NewPCG(2, 71))
	x, y, z := make([]float64, stepRows), make([]float64, stepRows), make([]float64, stepM)
	for i := range x {
		x[i] = 4*r.Float64() - 2
		y[i] = math.Sin(3*x[i]) + 0.3*x[i] + 0.3*r.NormFloat64()
	}
	for i := range z {
		z[i] = -2 + 4*(float64(i)+0.5*r.Float64())/stepM
	}
	const steps = 50
	rows := make([]int32, steps*stepB)
	for i := range rows {
		rows[i] = int32(r.IntN(stepRows))
	}
	var steppers [2]*stepper
	var points [2]func(step int) device.Points
	for i, dev := range []device.Device{open(t, cuda.Options{Generate: g}), cpu.New(cpu.Options{Lanes: 1})} {
		steppers[i] = newStepper(t, dev, programs, z)
		d, err := dev.NewData(x, y, 1)
		if err != nil {
			t.Fatal(err)
		}
		ix, err := steppers[i].lane.NewIndex(rows)
		if err != nil {
			t.Fatal(err)
		}
		points[i] = func(step int) device.Points {
			return device.Points{Data: d, Index: ix, From: step * stepB, To: (step + 1) * stepB}
		}
	}
	same := func(what string, tol float64, pick func(*stepper) device.Array) {
		t.Helper()
		agree(t, what, programs, tol, steppers[0], steppers[1], pick)
	}
	for step := range steps {
		for i, s := range steppers {
			s.step(points[i](step), step+1)
		}
		if step > 0 {
			continue
		}
		// A step leaves objective and gradients of where it began.
		same("info", 0, func(s *stepper) device.Array { return s.info })
		same("objective", 1e-10, func(s *stepper) device.Array { return s.value })
		same("gradient by log θ", 1e-10, func(s *stepper) device.Array { return s.gradFree })
		same("gradient by m", 1e-10, func(s *stepper) device.Array { return s.gradM })
		same("gradient by C", 1e-10, func(s *stepper) device.Array { return s.gradC })
		if testing.Short() {
			// Host threads are slow: a few kernels go on.
			for _, s := range steppers {
				s.sub = []int{0, 1, 2, 3, 50, 90, 143}
			}
		}
	}
	same("log θ after 50 steps", 1e-8, func(s *stepper) device.Array { return s.free })
	same("m after 50 steps", 1e-8, func(s *stepper) device.Array { return s.qm })
	same("C after 50 steps", 1e-8, func(s *stepper) device.Array { return s.qc })
	same("objective after 50 steps", 1e-8, func(s *stepper) device.Array { return s.value })
}
