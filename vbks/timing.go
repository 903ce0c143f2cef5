package vbks

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// BoundCost is what one evaluation of the collapsed bound takes, in seconds of
// the whole device: averaged over kernels, divided by the lanes.
type BoundCost struct {
	Fixed, FixedGrad float64 // whatever the rows
	Row, RowGrad     float64 // for each row
}

// Value is the time of the bound on so many rows.
func (c BoundCost) Value(rows int) float64 { return c.Fixed + float64(rows)*c.Row }

// Gradient is that of the bound with its gradient.
func (c BoundCost) Gradient(rows int) float64 {
	return c.Value(rows) + c.FixedGrad + float64(rows)*c.RowGrad
}

// boundProbe times the operations that an evaluation of the bound mostly consists
// of, as bound.go has them.
type boundProbe struct {
	dev      device.Device
	programs []*kernelspace.Program
	dim      int
}

// mostProbed bounds the inducing inputs that are timed. Beyond, times grow as
// M³, and with each row as M².
const mostProbed = 256

// MeasureBound times the bound for kernels over dim columns, on all lanes at once,
// for about so long, with m inducing inputs, on made-up rows.
func MeasureBound(
	ctx context.Context, dev device.Device, programs []*kernelspace.Program, dim, m int, long time.Duration,
) (BoundCost, error) {
	p := &boundProbe{dev: dev, programs: programs, dim: dim}
	return p.time(ctx, m, long)
}

func (p *boundProbe) time(ctx context.Context, m int, long time.Duration) (BoundCost, error) {
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
		return BoundCost{}, err
	}
	data, err := p.dev.NewData(x[m*p.dim:], y[m:], p.dim)
	if err != nil {
		return BoundCost{}, err
	}
	lanes := p.dev.Info().Lanes
	costs, errs := make([]BoundCost, lanes), make([]error, lanes)
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
	var rate BoundCost // of all lanes: their speeds add up
	for i := range lanes {
		if errs[i] != nil {
			return BoundCost{}, errs[i]
		}
		rate.Fixed += 1 / costs[i].Fixed
		rate.FixedGrad += 1 / costs[i].FixedGrad
		rate.Row += 1 / costs[i].Row
		rate.RowGrad += 1 / costs[i].RowGrad
	}
	cube, square := times*times*times, times*times
	return BoundCost{cube / rate.Fixed, cube / rate.FixedGrad, square / rate.Row, square / rate.RowGrad}, nil
}

// lane measures on one lane: the mean over the kernels of each one's mean time.
func (p *boundProbe) lane(ctx context.Context, ln device.Lane, z, x device.Points, long time.Duration) (BoundCost, error) {
	var sum BoundCost
	each := long / time.Duration(len(p.programs))
	for _, program := range p.programs {
		one, err := p.kernel(ctx, ln, program, z, x, each)
		if err != nil {
			return BoundCost{}, err
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
) (BoundCost, error) {
	ks, err := ln.NewKernels([]*kernelspace.Program{program})
	if err != nil {
		return BoundCost{}, err
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
		return BoundCost{}, err
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
			return BoundCost{}, context.Cause(ctx)
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
				return BoundCost{}, err
			}
		}
	}
	per := func(i int) float64 { return max(1e-9, spent[i].Seconds()/float64(times)) }
	return BoundCost{Fixed: per(0), Row: per(1) / float64(rows), FixedGrad: per(2), RowGrad: per(3) / float64(rows)}, nil
}

// leafCost is the number of multiplications that take about as long as a
// leaf's value and gradient at one entry.
func leafCost(op kernelspace.Op) float64 {
	switch op {
	case kernelspace.OpLIN, kernelspace.OpPoly, kernelspace.OpConst, kernelspace.OpWhite, kernelspace.OpCat, kernelspace.OpStep:
		return 5
	case kernelspace.OpPER, kernelspace.OpCos:
		return 60
	}
	return 25
}

// searchCost ranks kernels by what optimising them takes: an evaluation's cost,
// and as many evaluations as there are parameters.
func searchCost(p *kernelspace.Program) float64 {
	const algebra = 20 // of an entry, beside the leaves
	cost := float64(algebra)
	for _, in := range params.Leaves(p) {
		cost += leafCost(in.Op)
	}
	return cost * float64(len(p.Free)+1)
}

// costliestFirst returns the kernels in the order in which workers should take
// them: what takes long must not come last, when the other lanes are idle.
func (t *Trainer) costliestFirst(kernels []int) []int {
	out := slices.Clone(kernels)
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Compare(searchCost(t.kernels[b].program), searchCost(t.kernels[a].program))
	})
	return out
}

// pace decides after which steps the host waits for a lane that works through a
// queue: seldom enough that the lane does not run dry, often enough that a pause
// or a stop, which are looked for before each step, take effect soon after they
// are asked for. No result depends on it. The zero value is ready.
type pace struct {
	ahead int // steps that are asked for before the host waits; 0 is 1
	most  int // of them; 0 is mostAhead
	asked int
	began time.Time
	now   func() time.Time // time.Now where nil
}

const (
	mostAhead = 32 // steps; a queue holds about a thousand launches
	soonest   = 10 * time.Millisecond
	latest    = 25 * time.Millisecond

	// Of steps that a lane makes at once, the first number is such that a slow card is done
	// with them before a stop would be late.
	firstAtOnce = 16
	mostAtOnce  = 512
)

// severalAtOnce is the pace of a lane that makes several steps in one operation.
func severalAtOnce() pace { return pace{ahead: firstAtOnce, most: mostAtOnce} }

// next is how many steps to make at once where so many are left.
func (p *pace) next(left int) int { return min(max(p.ahead-p.asked, 1), left) }

// made is to be called behind every step, or several; it waits for the lane if it is
// time.
func (p *pace) made(ln device.Lane, steps int) error {
	if p.asked == 0 {
		p.began = p.time()
	}
	if p.asked += steps; p.asked < p.ahead {
		return nil
	}
	return p.wait(ln)
}

// wait waits for all steps asked for.
func (p *pace) wait(ln device.Lane) error {
	err := ln.Sync()
	p.ahead = max(p.ahead, 1)
	if p.asked == p.ahead {
		switch took := p.time().Sub(p.began); {
		case took < soonest:
			p.ahead = min(2*p.ahead, cmp.Or(p.most, mostAhead))
		case took > latest:
			p.ahead = max(p.ahead/2, 1)
		}
	}
	p.asked = 0
	return err
}

func (p *pace) time() time.Time {
	if p.now != nil {
		return p.now()
	}
	return time.Now()
}

// pauses measures for how long a gate holds those who pass it, all together.
type pauses struct {
	mu    sync.Mutex
	total time.Duration
	until time.Time // the end of the last one
}

// shortestPause is longer than a gate that is open takes.
const shortestPause = time.Millisecond

// watch measures a gate.
func (p *pauses) watch(g gate) gate {
	return func(ctx context.Context) error {
		from := time.Now()
		err := g(ctx)
		p.add(from, time.Now())
		return err
	}
}

func (p *pauses) add(from, to time.Time) {
	if to.Sub(from) < shortestPause {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if from.Before(p.until) {
		from = p.until
	}
	if to.After(from) {
		p.total += to.Sub(from)
		p.until = to
	}
}

// length is that of all pauses so far.
func (p *pauses) length() time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}
