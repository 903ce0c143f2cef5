// Package distance measures how far kernels are from each other before any target is
// seen.
package distance

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/random"
)

// squaredHellinger returns the squared Hellinger distance of two normals of
// mean zero,
//
//	d² = 1 − |Σ₁|^¼ |Σ₂|^¼ / |½(Σ₁ + Σ₂)|^½,
//
// from the logarithms of the three determinants, that of ½(Σ₁ + Σ₂) last.
func squaredHellinger(logDet1, logDet2, logDetMean float64) float64 {
	// log det is concave: the exponent is above 0 by rounding only.
	return -math.Expm1(min(0, (logDet1+logDet2)/4-logDetMean/2))
}

// Prior measures how far kernels are from each other before any target
// is seen: the expected squared Hellinger distance between the normals that
// their GP priors, with observation noise, give the targets at some inputs,
//
//	d̄²(i, j) = E_θ d²(N(0, K_i(θ) + σ_n² I), N(0, K_j(θ) + σ_n² I))
//
// (Malkomes, Schaff and Garnett 2016, "Bayesian optimization for automated
// model selection"). The expectation is over the broad prior of the
// hyperparameters (kernelspace.Program.Prior) and a noise variance about a
// tenth of the targets' (its logarithm's sd is 1), by a Latin hypercube that all
// kernels share: leaves that two kernels have in common have the same values in
// both, so that only what differs counts, and a kernel is at distance 0 from
// itself. As an average of squared distances in a Hilbert space it may stand in
// the exponent of a covariance function.
//
// It is not safe for concurrent use.
type Prior struct {
	dev      device.Device
	x        device.Data
	programs []*kernelspace.Program
	theta    [][][]float64 // [draw][kernel]: raw parameters
	noise    []float64     // [draw]: σ_n²
	logDets  [][]float64   // [kernel][draw], NaN where not positive definite; nil until needed
}

// NewPrior prepares the distances between kernels at the rows of x
// (row-major, standardised), which are some of the training rows that scales
// describe. Errors: no rows, kernels or draws; a device without room.
func NewPrior(
	dev device.Device, x []float64, scales kernelspace.Scales, programs []*kernelspace.Program, draws int, seed uint64,
) (*Prior, error) {
	if len(programs) == 0 || draws < 1 || len(x) == 0 {
		return nil, errors.New("distances between kernels need kernels, rows and draws")
	}
	data, err := dev.NewData(x, nil, programs[0].Dim)
	if err != nil {
		return nil, err
	}
	d := &Prior{dev: dev, x: data, programs: programs, theta: make([][][]float64, draws), noise: make([]float64, draws)}
	cube := &latinCube{draws: draws, seed: seed, axes: map[string][]float64{}}
	for s := range draws {
		d.noise[s] = noiseDraw(programs[0], scales, cube.at("noise", s))
		d.theta[s] = make([][]float64, len(programs))
		for i, p := range programs {
			d.theta[s][i] = priorDraw(p, scales, cube, s)
		}
	}
	return d, nil
}

// noiseDraw is a noise variance; the same is known of it whatever the kernel.
func noiseDraw(p *kernelspace.Program, scales kernelspace.Scales, z float64) float64 {
	mean, sd, _, _ := params.Known(p.Noise, math.Log(0.1*scales.YVar), 1, 0, 0)
	return p.NoiseAt(mean+sd*z, 0)
}

// latinCube holds standard normals, stratified along every axis. An axis is
// known by its name.
type latinCube struct {
	draws int
	seed  uint64
	axes  map[string][]float64
}

func (c *latinCube) at(axis string, draw int) float64 {
	z, ok := c.axes[axis]
	if !ok {
		rng := random.Stream(c.seed, "prior distance "+axis, 0)
		for _, stratum := range rng.Perm(c.draws) {
			z = append(z, distuv.UnitNormal.Quantile((float64(stratum)+rng.Float64())/float64(c.draws)))
		}
		c.axes[axis] = z
	}
	return z[draw]
}

// priorDraw draws raw parameters from the prior, within their bounds. Equal
// leaves are told apart by their order.
func priorDraw(p *kernelspace.Program, scales kernelspace.Scales, cube *latinCube, draw int) []float64 {
	var names []string
	count := map[string]int{}
	for _, l := range p.Expr.Leaves() {
		count[l.ID()]++
		names = append(names, fmt.Sprintf("%s %d", l.ID(), count[l.ID()]))
	}
	theta := make([]float64, len(p.Params))
	for i, q := range p.Params {
		theta[i] = 1
		if q.Known.How == kernelspace.Fixed {
			theta[i] = q.Known.Value
			continue
		}
		if !q.Free {
			continue
		}
		mean, sd := p.Prior(i, scales)
		lo, hi := p.Bounds(i, scales)
		mean, sd, lo, hi = params.Known(q.Known, mean, sd, lo, hi)
		z := cube.at(fmt.Sprintf("%s %s %d", names[q.Leaf], q.Name, q.Column), draw)
		log, _ := q.Known.Log(min(max(mean+sd*z, lo), hi))
		theta[i] = math.Exp(log)
	}
	return theta
}

// From returns the expected squared distances of all kernels from kernel i.
// Draws with which one of two matrices is not positive definite are left out;
// where none is left the distance is 1. All lanes of the device are used.
func (d *Prior) From(ctx context.Context, i int) ([]float64, error) {
	if d.logDets == nil {
		if err := d.determinants(ctx); err != nil {
			return nil, err
		}
	}
	n := d.x.Rows()
	reference, err := d.covariances(i)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(d.programs))
	err = d.each(ctx, func(l *priorLane, j int) error {
		if j == i {
			return nil
		}
		sum, count := 0.0, 0
		for s := range d.noise {
			l.covariance(s)
			l.lane.Write(l.other, 0, reference[s])
			l.lane.AddScaled(l.sub, l.k, 1, l.other)
			both, err := l.logDet()
			if err != nil {
				return err
			}
			distance := squaredHellinger(d.logDets[i][s], d.logDets[j][s], both-float64(n)*math.Ln2)
			if !math.IsNaN(distance) {
				sum += distance
				count++
			}
		}
		out[j] = 1
		if count > 0 {
			out[j] = sum / float64(count)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// determinants computes log |K_i(θ) + σ_n² I| for all kernels and draws.
func (d *Prior) determinants(ctx context.Context) error {
	logDets := make([][]float64, len(d.programs))
	err := d.each(ctx, func(l *priorLane, i int) error {
		logDets[i] = make([]float64, len(d.noise))
		for s := range d.noise {
			l.covariance(s)
			var err error
			if logDets[i][s], err = l.logDet(); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		d.logDets = logDets
	}
	return err
}

// covariances returns K_i(θ) + σ_n² I for every draw.
func (d *Prior) covariances(i int) ([][]float64, error) {
	l, err := d.newLane(d.dev.Lane(0))
	if err != nil {
		return nil, err
	}
	defer l.close()
	if err := l.load(i); err != nil {
		return nil, err
	}
	out := make([][]float64, len(d.noise))
	for s := range out {
		l.covariance(s)
		out[s] = make([]float64, d.x.Rows()*d.x.Rows())
		if err := l.lane.Read(l.k, 0, out[s]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// each hands the kernels to the lanes, one at a time.
func (d *Prior) each(ctx context.Context, work func(l *priorLane, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	kernels := make(chan int)
	var lanes sync.WaitGroup
	for i := range d.dev.Info().Lanes {
		lanes.Go(func() {
			err := guard.Do(func() error {
				l, err := d.newLane(d.dev.Lane(i))
				if err != nil {
					return err
				}
				defer l.close()
				for k := range kernels {
					if err := l.load(k); err != nil {
						return err
					}
					if err := work(l, k); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				cancel(err)
			}
		})
	}
	for k := range d.programs {
		select {
		case kernels <- k:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(kernels)
	lanes.Wait()
	return context.Cause(ctx)
}

// priorLane is a lane with the buffers for one kernel.
type priorLane struct {
	d                            *Prior
	lane                         device.Lane
	sub                          []int
	kernel                       int
	ks                           device.Kernels
	theta, k, other, info, value device.Array
}

func (d *Prior) newLane(lane device.Lane) (*priorLane, error) {
	l := &priorLane{d: d, lane: lane, sub: []int{0}}
	params := 1
	for _, p := range d.programs {
		params = max(params, len(p.Params)+1)
	}
	n := d.x.Rows()
	for _, a := range []struct {
		array      *device.Array
		rows, cols int
	}{{&l.theta, 1, params}, {&l.k, n, n}, {&l.other, n, n}, {&l.info, 1, 1}, {&l.value, 1, 1}} {
		var err error
		if *a.array, err = lane.NewArray(1, a.rows, a.cols); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

func (l *priorLane) close() {
	for _, a := range []device.Array{l.theta, l.k, l.other, l.info, l.value} {
		if a != nil {
			l.lane.Free(a)
		}
	}
	if l.ks != nil {
		l.lane.Free(l.ks)
	}
}

// load gives the lane its kernel.
func (l *priorLane) load(kernel int) error {
	ks, err := l.lane.NewKernels(l.d.programs[kernel : kernel+1])
	if err != nil {
		return err
	}
	if l.ks != nil {
		l.lane.Free(l.ks)
	}
	l.kernel, l.ks = kernel, ks
	l.theta.Reshape(1, ks.Params())
	return nil
}

// covariance computes K(θ) + σ_n² I of a draw into k.
func (l *priorLane) covariance(draw int) {
	theta := make([]float64, l.ks.Params())
	copy(theta, l.d.theta[draw][l.kernel])
	noise := l.d.noise[draw]
	theta[len(theta)-1] = noise
	l.lane.Write(l.theta, 0, theta)
	all := device.All(l.d.x)
	l.lane.Kernel(l.sub, l.ks, l.theta, all, all, l.k)
	l.lane.AddDiagonal(l.sub, l.k, noise)
}

// logDet destroys k and returns the logarithm of its determinant, NaN if it is
// not positive definite.
func (l *priorLane) logDet() (float64, error) {
	l.lane.Fill(l.sub, l.info, 0)
	l.lane.Cholesky(l.sub, l.k, l.info)
	l.lane.LogDiag(l.sub, l.k, l.value)
	var info, value [1]float64
	if err := l.lane.Read(l.info, 0, info[:]); err != nil {
		return 0, err
	}
	if err := l.lane.Read(l.value, 0, value[:]); err != nil {
		return 0, err
	}
	if info[0] != 0 {
		return math.NaN(), nil
	}
	return 2 * value[0], nil
}
