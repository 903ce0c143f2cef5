package trial

import (
	"fmt"
	"math"
	"math/rand/v2"

	"example.com/kestrel/device"
	"example.com/kestrel/kernelspace"
)

// Forms are kernels in three columns that have every base kernel, and sums, products and
// change points of them.
var Forms = []string{
	"PER*LIN*RQ", "(PER[1]+RQ[2,3;ard])*LIN[;ard]+POLY2[2]", "MATERN12[;ard]+WN", "MATERN32*COS[2]", "MATERN52[1]*POLY3[;ard]+CONST",
	"SE[;ard]", "RW[1]+IRW[2]*CAT[3]", "CP(SE,PER*LIN)[2]+RW", "CP(CP(SE[1],LIN),CONST)[3]*PER",
}

// Matrices says what is computed of kernels: how large the matrices are.
type Matrices struct {
	Programs   []*kernelspace.Program
	Rows, Cols int  // of k(a,b); k(a,a) is of Rows
	Inputs     bool // also gradients by the inputs
}

// Computed are the numbers that a device has computed.
type Computed struct{ list []vector }

// vector is what was computed of one kernel.
type vector struct {
	values       []float64
	what, kernel string
}

// Same compares the numbers of the same matrices bit by bit. It is for a device that computes
// them in two ways, of which either may run. The error wraps ErrWrong where they differ.
func (c *Computed) Same(other *Computed) error {
	for i := range c.list {
		x, y := &c.list[i], &other.list[i]
		for j, v := range x.values {
			if math.Float64bits(v) != math.Float64bits(y.values[j]) {
				return fmt.Errorf("%w: %s of %s is %.17g and %.17g, which should be the same", ErrWrong, x.what, x.kernel, v, y.values[j])
			}
		}
	}
	return nil
}

// Compute computes symmetric and rectangular matrices, diagonals, gradients by the
// hyperparameters and by the inputs, on made-up rows.
func (m *Matrices) Compute(dev device.Device) (*Computed, error) {
	dim := 1
	for _, p := range m.Programs {
		dim = max(dim, p.Dim)
	}
	w := newWorkshop(dev, len(m.Programs))
	defer w.close()
	r := rand.New(rand.NewPCG(5, 5))
	ks := w.kernels(m.Programs)
	d := w.data(normal(r, (m.Rows+m.Cols)*dim), nil, dim)
	if w.err != nil {
		return nil, w.err
	}
	theta := w.array(1, ks.Params())
	for k, p := range m.Programs {
		full := make([]float64, ks.Params())
		for i := range p.Params {
			full[i] = 0.5 + r.Float64()
		}
		w.write(theta, k, full)
	}
	out := &Computed{}
	rows := device.Points{Data: d, To: m.Rows}
	for _, cols := range []device.Points{rows, {Data: d, From: m.Rows, To: m.Rows + m.Cols}} {
		n := cols.Len()
		matrix, bar, grad, diag := w.array(m.Rows, n), w.array(m.Rows, n), w.array(1, ks.Params()), w.array(1, m.Rows)
		inputs := w.array(m.Rows, dim)
		if w.err != nil {
			return nil, w.err
		}
		for k := range m.Programs {
			w.write(bar, k, normal(r, m.Rows*n))
		}
		l := w.lane
		l.Kernel(w.sub, ks, theta, rows, cols, matrix)
		l.KernelGrad(w.sub, ks, theta, rows, cols, matrix, bar, grad)
		l.KernelDiag(w.sub, ks, theta, rows, diag)
		if m.Inputs {
			l.KernelInputGrad(w.sub, ks, theta, rows, cols, bar, inputs)
		}
		for _, x := range []struct {
			what string
			a    device.Array
		}{{"an entry", matrix}, {"a gradient", grad}, {"an entry of the diagonal", diag}, {"a gradient by an input", inputs}} {
			for k, p := range m.Programs {
				out.list = append(out.list, vector{w.read(x.a, k), x.what, p.ID})
			}
		}
		if w.err != nil {
			return nil, w.err
		}
		for _, a := range []device.Array{matrix, bar, grad, diag, inputs} {
			w.free(a)
		}
	}
	return out, nil
}

func normal(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}
