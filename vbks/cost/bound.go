// Package cost knows what the search for hyperparameters takes: measured, for telling how
// long a run will be, and by counting, for the order in which lanes take kernels.
package cost

import (
	"context"
	"math"
	"sync"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/kernelspace"
)

// Bound is what one evaluation of the collapsed bound takes, in seconds of
// the whole device: averaged over kernels, divided by the lanes.
type Bound struct {
	Fixed, FixedGrad float64 // whatever the rows
	Row, RowGrad     float64 // for each row
}

// Value is the time of the bound on so many rows.
func (c Bound) Value(rows int) float64 { return c.Fixed + float64(rows)*c.Row }

// Gradient is that of the bound with its gradient.
func (c Bound) Gradient(rows int) float64 {
	return c.Value(rows) + c.FixedGrad + float64(rows)*c.RowGrad
}

// boundProbe times the operations that an evaluation of the bound mostly consists
// of, as vbks has them.
type boundProbe struct {
	dev      device.Device
	programs []*kernelspace.Program
	dim      int
}

// mostProbed bounds the inducing inputs that are timed. Beyond, times grow as
// M³, and with each row as M².
const mostProbed = 256

// Measure times the bound for kernels over dim columns, on all lanes at once,
// for about so long, with m inducing inputs, on made-up rows.
func Measure(
	ctx context.Context, dev device.Device, programs []*kernelspace.Program, dim, m int, long time.Duration,
) (Bound, error) {
	p := &boundProbe{dev: dev, programs: programs, dim: dim}
	return p.time(ctx, m, long)
}

func (p *boundProbe) time(ctx context.Context, m int, long time.Duration) (Bound, error) {
	times := max(1, float64(m)/mostProbed)
	m = min(m, mostProbed)
	// Rows enough to see what one costs, few enough to be quick.
	rows := min(1024, max(64, int(2e7/float64(m*m))))
	x := make([]float64, (m+rows)*p.dim)
	y := make([]float64, m+rows)
	for i := range x {
		x[i] = math.Mod(float64(i)*0.6180339887498949, 1)*6 - 3
	}
	z, err := p.dev.NewData(x[:m*p.dim], nil, p.dim)
	if err != nil {
		return Bound{}, err
	}
	data, err := p.dev.NewData(x[m*p.dim:], y[m:], p.dim)
	if err != nil {
		return Bound{}, err
	}
	lanes := p.dev.Info().Lanes
	costs, errs := make([]Bound, lanes), make([]error, lanes)
	var wg sync.WaitGroup
	for i := range lanes {
		wg.Go(func() {
			errs[i] = guard.Do(func() (err error) {
				costs[i], err = p.lane(ctx, p.dev.Lane(i), device.All(z), device.All(data), long)
				return err
			})
		})
	}
	wg.Wait()
	var rate Bound // of all lanes: their speeds add up
	for i := range lanes {
		if errs[i] != nil {
			return Bound{}, errs[i]
		}
		rate.Fixed += 1 / costs[i].Fixed
		rate.FixedGrad += 1 / costs[i].FixedGrad
		rate.Row += 1 / costs[i].Row
		rate.RowGrad += 1 / costs[i].RowGrad
	}
	cube, square := times*times*times, times*times
	return Bound{cube / rate.Fixed, cube / rate.FixedGrad, square / rate.Row, square / rate.RowGrad}, nil
}

// lane measures on one lane: the mean over the kernels of each one's mean time.
func (p *boundProbe) lane(ctx context.Context, ln device.Lane, z, x device.Points, long time.Duration) (Bound, error) {
	var sum Bound
	each := long / time.Duration(len(p.programs))
	for _, program := range p.programs {
		one, err := p.kernel(ctx, ln, program, z, x, each)
		if err != nil {
			return Bound{}, err
		}
		n := float64(len(p.programs))
		sum.Fixed += one.Fixed / n
		sum.FixedGrad += one.FixedGrad / n
		sum.Row += one.Row / n
		sum.RowGrad += one.RowGrad / n
	}
	return sum, nil
}

// kernel measures one kernel.
func (p *boundProbe) kernel(
	ctx context.Context, ln device.Lane, program *kernelspace.Program, z, x device.Points, long time.Duration,
) (Bound, error) {
	ks, err := ln.NewKernels([]*kernelspace.Program{program})
	if err != nil {
		return Bound{}, err
	}
	defer ln.Free(ks)
	m, rows := z.Len(), x.Len()
	var arrays []device.Array
	array := func(r, c int) device.Array {
		if err != nil {
			return nil
		}
		var a device.Array
		if a, err = ln.NewArray(1, r, c); err == nil {
			arrays = append(arrays, a)
		}
		return a
	}
	theta, grad, info, factor := array(1, ks.Params()), array(1, ks.Params()), array(1, 1), array(1, 1)
	kzz, l, q, work := array(m, m), array(m, m), array(m, m), array(m, m)
	kzx, a, bar := array(m, rows), array(m, rows), array(m, rows)
	defer func() {
		for _, a := range arrays {
			ln.Free(a)
		}
	}()
	if err != nil {
		return Bound{}, err
	}
	sub := []int{0}
	ln.Fill(sub, theta, 1)
	ln.Fill(sub, factor, 1)
	var spent [4]time.Duration
	part := func(i int, work func()) error {
		at := time.Now()
		work()
		err := ln.Sync()
		spent[i] += time.Since(at)
		return err
	}
	times := -1 // the first one finds nothing in the caches
	for began := time.Now(); times < 1 || time.Since(began) < long; times++ {
		if times == 0 {
			spent = [4]time.Duration{}
		}
		if ctx.Err() != nil {
			return Bound{}, context.Cause(ctx)
		}
		for i, do := range [...]func(){
			func() { // L, and the factor of I + Q/σ²
				ln.Kernel(sub, ks, theta, z, z, kzz)
				ln.Copy(sub, l, kzz)
				ln.AddJitter(sub, l, device.Jitter{Relative: 1e-2}, factor)
				ln.Cholesky(sub, l, info)
				ln.Copy(sub, work, l)
				ln.Cholesky(sub, work, info)
			},
			func() { // A and Q
				ln.Kernel(sub, ks, theta, z, x, kzx)
				ln.Copy(sub, a, kzx)
				ln.Solve(sub, false, l, a)
				ln.Syrk(sub, 1, a, 0, q)
			},
			func() { // S, two products with L⁻¹ from both sides, ∂k(Z,Z)
				ln.Solve(sub, false, l, work)
				ln.Gemm(sub, true, false, 1, work, work, 0, q)
				for range 4 {
					ln.Solve(sub, true, l, q)
				}
				ln.KernelGrad(sub, ks, theta, z, z, kzz, q, grad)
			},
			func() { // ∂k(Z,X)
				ln.Gemm(sub, false, false, 1, q, kzx, 0, bar)
				ln.KernelGrad(sub, ks, theta, z, x, kzx, bar, grad)
			},
		} {
			if err := part(i, do); err != nil {
				return Bound{}, err
			}
		}
	}
	per := func(i int) float64 { return max(1e-9, spent[i].Seconds()/float64(times)) }
	return Bound{Fixed: per(0), Row: per(1) / float64(rows), FixedGrad: per(2), RowGrad: per(3) / float64(rows)}, nil
}
