package conformance

import (
	"fmt"
	"math"
	"math/rand/v2"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

func testKernelSpace(h *harness) {
	exprs, err := kernelspace.Set("K144")
	h.check(err)
	programs := make([]*kernelspace.Program, len(exprs))
	for i, e := range exprs {
		programs[i], err = kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		h.check(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	bt := h.batch(r, programs)
	c := h.cloud(r, 30, 1)
	h.verifyKernels(bt, c.rows(0, 6), c.rows(6, 17), false)
	h.verifyKernels(bt, c.rows(3, 12), c.rows(3, 12), true)
}

func testKernel3D(h *harness) {
	r := rand.New(rand.NewPCG(2, 1))
	bt := h.batch(r, h.expressions())
	c := h.cloud(r, 40, 3)
	h.verifyKernels(bt, c.rows(0, 17), c.rows(15, 31), false)
	h.verifyKernels(bt, c.rows(5, 20), c.rows(5, 20), true)
	h.verifyKernels(bt, c.rows(39, 40), c.rows(0, 1), false)
}

// testKernelLevels has points of which many share a level, and numbers beside it.
func testKernelLevels(h *harness) {
	r := rand.New(rand.NewPCG(4, 1))
	level := func(i int) float64 { return (float64(i) - 1.7) / 1.3 } // standardised
	o := kernelspace.Options{Dim: 3, Levels: func(column int) []float64 {
		if column == 1 {
			return []float64{level(0), level(1), level(2), level(3)}
		}
		return []float64{level(1), level(3), level(5)} // 0 and 2 have no length, and of 5 there is no row
	}}
	var programs []*kernelspace.Program
	for _, e := range []string{"CAT[2]", "CAT[2,3]+SE[1]", "SE[1]*CAT[3]", "(CAT[2]+CONST)*PER[1]*LIN[1]", "CP(CAT[3],SE[1]+CAT[2])[1]",
		"CAT[2;ard]", "SE[1]*CAT[3;ard]+LIN[1]", "CAT[2;ard]*CAT[3;ard]", "CP(CAT[3;ard],SE[1]+CAT[2;ard]*PER[1])[1]"} {
		programs = append(programs, h.compile(e, o))
	}
	bt := h.batch(r, programs)
	flat := make([]float64, 3*60)
	for i := range flat {
		if flat[i] = r.NormFloat64(); i%3 > 0 {
			flat[i] = level(r.IntN(4))
		}
	}
	c := h.cloudOf(flat, 3)
	h.verifyKernels(bt, c.rows(0, 23), c.rows(20, 60), false)
	h.verifyKernels(bt, c.rows(5, 40), c.rows(5, 40), true)
}

// testKernelPoints checks what counts as the same rows, and gathered points.
func testKernelPoints(h *harness) {
	r := rand.New(rand.NewPCG(3, 1))
	var programs []*kernelspace.Program
	for _, e := range []string{"WN", "PER*LIN*RQ", "WN*LIN+SE", "MATERN32[;ard]"} {
		programs = append(programs, h.compile(e, kernelspace.Options{Dim: 2}))
	}
	line := &kernelspace.Line{Columns: []int{0, 1}, Slopes: []float64{0.5, 2}, Constant: 3}
	for _, e := range []string{"PER*SE", "RQ+LIN"} {
		programs = append(programs, h.compile(e, kernelspace.Options{Dim: 2, Line: line}))
	}
	bt := h.batch(r, programs)
	c, d := h.cloud(r, 30, 2), h.cloud(r, 20, 2)
	rows := []int32{7, 2, 2, 29, 11, 0, 7, 5, 19, 20, 3}
	x := h.index(rows...)
	p := func(from, to int) points { return c.pick(x, rows, from, to) }
	cases := []struct {
		name string
		a, b points
		same bool
	}{
		{"index and range", p(0, 11), c.rows(4, 20), false},
		{"range and index", c.rows(0, 5), p(2, 9), false},
		{"the same part of an index", p(1, 10), p(1, 10), true},
		{"different parts of an index", p(0, 5), p(1, 6), false},
		{"overlapping ranges", c.rows(0, 10), c.rows(1, 11), false},
		{"different data", c.rows(0, 10), d.rows(0, 10), false},
	}
	for _, t := range cases {
		sub := *h
		h.Run(t.name, func(tt T) {
			sub.T = tt
			sub.verifyKernels(bt, t.a, t.b, t.same)
		})
	}
}

// testKernelWide has more columns than any tile.
func testKernelWide(h *harness) {
	r := rand.New(rand.NewPCG(4, 1))
	for dim, list := range map[int][]string{
		1: {"PER*LIN*RQ", "(PER+RQ)*LIN", "SE+WN"},
		3: {"PER[1]*LIN*RQ[2,3]", "MATERN12[;ard]+WN", "POLY2+LIN"},
	} {
		var programs []*kernelspace.Program
		for _, e := range list {
			programs = append(programs, h.compile(e, kernelspace.Options{Dim: dim}))
		}
		bt := h.batch(r, programs)
		c := h.cloud(r, 1100, dim)
		h.verifyMatrix(bt, c.rows(0, 2), c.rows(0, 1025), false)
		h.verifyMatrix(bt, c.rows(0, 2), c.rows(2, 515), false)
		one := h.batch(r, programs[:1]) // the naive differences are slow
		h.verifyMatrix(one, c.rows(0, 260), c.rows(0, 260), true)
		h.verifyDiagonal(bt, c.rows(3, 803))
	}
}

// testFarPeriods checks that periodic kernels keep their accuracy 1e8 periods
// away, against the exact remainder. Differences of the points are exact, too: whether those are
// taken first, or each point's remainder, is left to the device.
func testFarPeriods(h *harness) {
	p := h.compile("PER", kernelspace.Options{Dim: 1})
	x := []float64{-999.25, 0, 1e3 / 3, 998.123456789, 0.1}
	const fraction = 1 << 40
	for i, v := range x {
		x[i] = math.Round(v*fraction) / fraction
	}
	c := h.cloudOf(x, 1)
	const variance, scale, period = 1.5, 0.7, 1e-5
	theta := h.upload([][]float64{{variance, scale, period, 0.1}}, 1, 4)
	k := h.array(1, len(x), len(x))
	h.lane.Kernel([]int{0}, h.kernels(p), theta, c.rows(0, 5).Points, c.rows(0, 5).Points, k)
	want := make([]float64, 0, len(x)*len(x))
	for _, a := range x {
		for _, b := range x {
			s := math.Sin(math.Pi * math.Remainder(a-b, period) / period)
			want = append(want, variance*math.Exp(-2*s*s/(scale*scale)))
		}
	}
	h.near("PER far away", h.read(k, 0), want, 1e-13)
}

// testKernelSubset checks that members not named stay as they are and that a
// kernel's results are the same bits in any batch.
func testKernelSubset(h *harness) {
	r := rand.New(rand.NewPCG(5, 1))
	programs := h.expressions()
	bt := h.batch(r, programs)
	c := h.cloud(r, 60, 3)
	a, b := c.rows(0, 19).Points, c.rows(19, 60).Points
	run := func(bt *batch, sub []int, a, b device.Points, content []float64) [4]device.Array {
		n, rows, cols := len(bt.programs), a.Len(), b.Len()
		k, d := h.array(n, rows, cols), h.array(n, 1, rows)
		g, gx := h.array(n, 1, bt.ks.Params()), h.array(n, rows, 3)
		bar, bard := h.array(n, rows, cols), h.array(n, 1, rows)
		for i := range n {
			h.lane.Write(bar, i, content)
			h.lane.Write(bard, i, content[:rows])
		}
		for _, x := range []device.Array{k, d, g, gx} {
			h.lane.Fill(all(n), x, 0.25)
		}
		h.lane.Kernel(sub, bt.ks, bt.dtheta, a, b, k)
		h.lane.KernelDiag(sub, bt.ks, bt.dtheta, a, d)
		h.lane.KernelGrad(sub, bt.ks, bt.dtheta, a, b, k, bar, g)
		h.lane.KernelDiagGrad(sub, bt.ks, bt.dtheta, a, bard, g)
		h.lane.KernelInputGrad(sub, bt.ks, bt.dtheta, a, b, bar, gx)
		return [4]device.Array{k, d, g, gx}
	}
	for _, q := range []device.Points{b, a} {
		content := normal(r, a.Len(), q.Len())
		sub := []int{0, 3, 4, 9, 26, len(programs) / 2, len(programs) - 1}
		got := run(bt, sub, a, q, content)
		named := map[int]bool{}
		for _, k := range sub {
			named[k] = true
			one := &batch{programs: programs[k : k+1], ks: h.kernels(programs[k])}
			params := len(programs[k].Params)
			one.dtheta = h.upload([][]float64{pad(bt.theta[k], 0.1, params+1)}, 1, params+1)
			alone := run(one, []int{0}, a, q, content)
			for i := range got {
				x, y := h.read(got[i], k), h.read(alone[i], 0)
				if i == 2 {
					x, y = x[:params], y[:params]
				}
				h.equal(fmt.Sprintf("%s alone and in a batch (%d)", programs[k].ID, i), x, y)
			}
		}
		for k := range programs {
			for i := range got {
				if named[k] {
					continue
				}
				for _, v := range h.read(got[i], k) {
					if v != 0.25 {
						h.Fatalf("%s was not named but changed", programs[k].ID)
					}
				}
			}
		}
	}
}

// testKernelNotFinite checks that hyperparameters that are not finite do no
// harm to others and are found by Cholesky.
func testKernelNotFinite(h *harness) {
	r := rand.New(rand.NewPCG(6, 1))
	var programs []*kernelspace.Program
	for _, e := range []string{"PER*LIN*RQ", "PER*LIN*RQ", "PER+SE+COS", "SE+WN"} {
		programs = append(programs, h.compile(e, kernelspace.Options{Dim: 1}))
	}
	bt := h.batch(r, programs)
	for k, v := range []float64{math.NaN(), math.Inf(1), 0} {
		bad := pad(bt.theta[k], 0.1, bt.ks.Params())
		for i := range len(programs[k].Params) {
			bad[i] = v
		}
		h.lane.Write(bt.dtheta, k, bad)
	}
	c := h.cloud(r, 20, 1)
	p := c.rows(0, 20).Points
	k, info, grad := h.array(4, 20, 20), h.array(4, 1, 1), h.array(4, 1, bt.ks.Params())
	h.lane.Kernel(bt.sub, bt.ks, bt.dtheta, p, p, k)
	h.lane.KernelGrad(bt.sub, bt.ks, bt.dtheta, p, p, k, k, grad)
	h.lane.Cholesky(bt.sub, k, info)
	h.lane.Solve(bt.sub, true, k, h.array(4, 20, 3))
	for i := range 3 {
		if h.read(info, i)[0] == 0 {
			h.Errorf("member %d has a factor", i)
		}
	}
	if v := h.read(info, 3)[0]; v != 0 {
		h.Errorf("the sound member failed at pivot %v", v)
	}
	for _, v := range h.read(grad, 3) {
		if math.IsNaN(v) {
			h.Errorf("the sound member's gradient is %v", v)
		}
	}
}
