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

// Matrices is what Bits compares: how large the matrices are.
type Matrices struct {
	Programs   []*kernelspace.Program
	Rows, Cols int  // of k(a,b); k(a,a) is of Rows
	Inputs     bool // also gradients by the inputs
}

// Bits compares what two devices compute of the same kernels bit by bit: symmetric and
// rectangular matrices, diagonals, gradients by the hyperparameters and by the inputs. It is
// for a device that computes them in two ways, of which either may run. The error wraps
// ErrWrong where they differ.
func Bits(a, b device.Device, m Matrices) error {
	x, err := m.compute(a)
	if err != nil {
		return err
	}
	y, err := m.compute(b)
	if err != nil {
		return err
	}
	for i := range x {
		if math.Float64bits(x[i].value) != math.Float64bits(y[i].value) {
			return fmt.Errorf("%w: %s of %s is %.17g and %.17g, which should be the same", ErrWrong, x[i].what, x[i].kernel,
				x[i].value, y[i].value)
		}
	}
	return nil
}

// number is one that was computed, and what it is of.
type number struct {
	value        float64
	what, kernel string
}

// compute returns all numbers, those of members that are not finite included.
func (m *Matrices) compute(dev device.Device) ([]number, error) {
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
	var out []number
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
				for _, v := range w.read(x.a, k) {
					out = append(out, number{v, x.what, p.ID})
				}
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
