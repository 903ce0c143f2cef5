package vbks

import (
	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// common is what all kernels of a run share on a device.
type common struct {
	dev    device.Device
	train  device.Data   // standardised training rows in stream order
	z      device.Points // inducing inputs
	m      int           // their number
	whole  int           // rows, where these and the inducing inputs are the same; else 0
	dim    int
	jitter device.Jitter
	floor  float64   // least σ_n²
	wall   float64   // strength of the soft bounds, nats per squared log unit
	span   []float64 // range of the training inputs, per column
	tight  bool      // of Artemev's bound, not Titsias'
}

// group is the kernels that one lane works on together, with the buffers that
// every algorithm needs. It is made once for a lane and a number of kernels,
// and then loaded with one set of kernels after another.
type group struct {
	*common
	lane     device.Lane
	z        device.Points // inducing inputs: those of all, or a kernel's own
	capacity int
	programs []*kernelspace.Program
	ks       device.Kernels
	all      []int

	free, theta         device.Array // free vector and raw parameters
	gradFree, gradTheta device.Array
	value               device.Array // objective
	info                device.Array // first failure of a Cholesky factorisation
	factor              device.Array // escalation of the jitter
	kzz, l              device.Array // k(Z,Z) + εI, its factor L
	mean, prec, lo, hi  device.Array // prior and bounds of the free vector
	params, frees       int          // capacity of theta and free
}

// prior is the broad normal and the soft bounds of one kernel's free vector.
type prior struct {
	mean, prec, lo, hi []float64 // length: free parameters and ρ
}

// allocator makes arrays of a group's capacity until one fails.
type allocator struct {
	g   *group
	err error
}

func (al *allocator) array(rows, cols int) device.Array {
	if al.err != nil {
		return nil
	}
	var a device.Array
	a, al.err = al.g.lane.NewArray(al.g.capacity, rows, cols)
	return a
}

// newGroup makes a group for up to capacity kernels with at most params raw
// parameters (and the noise) each.
func newGroup(c *common, lane device.Lane, capacity, params int) (*group, error) {
	g := &group{common: c, lane: lane, z: c.z, capacity: capacity, params: params, frees: params}
	al := &allocator{g: g}
	g.free, g.theta = al.array(1, params), al.array(1, params)
	g.gradFree, g.gradTheta = al.array(1, params), al.array(1, params)
	g.value, g.info, g.factor = al.array(1, 1), al.array(1, 1), al.array(1, 1)
	g.kzz, g.l = al.array(c.m, c.m), al.array(c.m, c.m)
	g.mean, g.prec, g.lo, g.hi = al.array(1, params), al.array(1, params), al.array(1, params), al.array(1, params)
	if al.err != nil {
		return nil, al.err
	}
	return g, nil
}

// load gives the group its kernels, at most its capacity.
func (g *group) load(programs []*kernelspace.Program, priors []prior) error {
	if g.ks != nil {
		g.lane.Free(g.ks)
	}
	ks, err := g.lane.NewKernels(programs)
	if err != nil {
		return err
	}
	g.ks, g.programs = ks, programs
	g.all = g.all[:0]
	for i := range programs {
		g.all = append(g.all, i)
	}
	for _, a := range []device.Array{g.free, g.gradFree, g.mean, g.prec, g.lo, g.hi} {
		a.Reshape(1, ks.Free())
	}
	for _, a := range []device.Array{g.theta, g.gradTheta} {
		a.Reshape(1, ks.Params())
	}
	g.lane.Fill(g.all, g.factor, 1)
	for i := range programs {
		g.lane.Write(g.mean, i, g.padded(priors[i].mean, 0))
		g.lane.Write(g.prec, i, g.padded(priors[i].prec, 0))
		g.lane.Write(g.lo, i, g.padded(priors[i].lo, -1e3))
		g.lane.Write(g.hi, i, g.padded(priors[i].hi, 1e3))
	}
	return nil
}

// strides are params.Strides over the training inputs.
func (c *common) strides(p *kernelspace.Program, x []float64) []float64 {
	return params.Strides(p, x, c.span)
}

// freeLen returns the length of kernel i's free vector: its free parameters and ρ.
func (g *group) freeLen(i int) int { return len(g.programs[i].Free) + 1 }

// padded spreads a free vector of one kernel, whose last entry is that of the
// noise, to the common length of the group: the noise entry stays last.
func (g *group) padded(x []float64, fill float64) []float64 {
	n := g.ks.Free()
	if len(x) == n {
		return x
	}
	out := make([]float64, n)
	copy(out, x[:len(x)-1])
	for i := len(x) - 1; i < n-1; i++ {
		out[i] = fill
	}
	out[n-1] = x[len(x)-1]
	return out
}

// unpadded is the reverse of padded for kernel i.
func (g *group) unpadded(i int, x []float64) []float64 {
	n := g.freeLen(i)
	out := make([]float64, n)
	copy(out, x[:n-1])
	out[n-1] = x[len(x)-1]
	return out
}

// setFree sets kernel i's free vector.
func (g *group) setFree(i int, x []float64) { g.lane.Write(g.free, i, g.padded(x, 0)) }

// factorise computes θ from the free vectors, k(Z,Z) + εI and its factor L.
func (g *group) factorise(sub []int) {
	g.lane.Expand(sub, g.ks, g.floor, g.free, g.theta)
	g.factoriseAt(sub)
}

// factoriseAt is factorise for θ as it stands.
func (g *group) factoriseAt(sub []int) {
	g.lane.Fill(sub, g.info, 0)
	g.lane.Kernel(sub, g.ks, g.theta, g.z, g.z, g.kzz)
	g.lane.Copy(sub, g.l, g.kzz)
	g.lane.AddJitter(sub, g.l, g.jitter, g.factor)
	g.lane.Cholesky(sub, g.l, g.info)
}

// scalar reads a K x (1 x 1) array of member k.
func (g *group) scalar(a device.Array, k int) (float64, error) {
	var v [1]float64
	err := g.lane.Read(a, k, v[:])
	return v[0], err
}

// logPrior returns log p(θ) less the soft bounds at member k's free vector, as
// it stands in a local ELBO. It overwrites the member's objective.
func (g *group) logPrior(k int) (float64, error) {
	sub := []int{k}
	g.lane.Fill(sub, g.value, 0)
	g.lane.LogPrior(sub, g.free, g.mean, g.prec, g.lo, g.hi, g.wall, g.value, nil)
	return g.scalar(g.value, k)
}
