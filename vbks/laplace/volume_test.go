package laplace

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
)

// normals are the gradients of normal densities about some points.
func normals(at [][]float64, prec []*mat.SymDense) Gradients {
	return func(sub []int, xs [][]float64) ([][]float64, error) {
		out := make([][]float64, len(sub))
		for j, i := range sub {
			d, g := mat.NewVecDense(len(at[i]), nil), mat.NewVecDense(len(at[i]), nil)
			for p, v := range xs[j] {
				d.SetVec(p, at[i][p]-v)
			}
			g.MulVec(prec[i], d)
			out[j] = g.RawVector().Data
		}
		return out, nil
	}
}

func ones(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func mode(t *testing.T, expr string, x []float64, prec float64) Mode {
	p := kernelspacetest.Program(t, expr, kernelspace.Options{Dim: 1})
	if len(x) != len(p.Free)+1 {
		t.Fatalf("%s has %d free parameters and ρ, not %d", expr, len(p.Free), len(x))
	}
	return Mode{Program: p, X: x, Prec: ones(len(x), prec), Scale: ones(len(x), 1)}
}

// Of a normal density the volume is that of the density, whatever its widths, and
// members of several lengths do not disturb each other.
func TestVolumesOfNormals(t *testing.T) {
	modes := []Mode{mode(t, "SE", []float64{0.3, -1, 2}, 0.1), mode(t, "LIN", []float64{1, -4}, 0.1)}
	prec := []*mat.SymDense{
		mat.NewSymDense(3, []float64{400, 3, 0, 3, 0.5, 0.2, 0, 0.2, 7}),
		mat.NewSymDense(2, []float64{0.11, 0, 0, 1e8}),
	}
	modes[1].Scale[1] = 0.01
	got, err := Volumes(modes, normals([][]float64{modes[0].X, modes[1].X}, prec))
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range prec {
		n := float64(h.SymmetricDim())
		want := n/2*math.Log(2*math.Pi) - math.Log(mat.Det(h))/2
		if !got[i].Known || math.Abs(got[i].Nats-want) > 1e-6 {
			t.Errorf("%d: volume %v, want %v", i, got[i], want)
		}
	}
}

// How fast a density falls along each entry is the diagonal of its precision. Where that is known beforehand, if by half or twice,
// no gradients are computed twice, and the volume is the same.
func TestVolumesWhereFallsAreKnown(t *testing.T) {
	m := mode(t, "SE", []float64{0.3, -1, 2}, 0.1)
	h := mat.NewSymDense(3, []float64{400, 3, 0, 3, 0.5, 0.2, 0, 0.2, 7})
	count := func(m Mode) (v Volume, gradients int) {
		of := normals([][]float64{m.X}, []*mat.SymDense{h})
		all, err := Volumes([]Mode{m}, func(sub []int, xs [][]float64) ([][]float64, error) {
			gradients++
			return of(sub, xs)
		})
		if err != nil {
			t.Fatal(err)
		}
		return all[0], gradients
	}
	plain, often := count(m)
	for i, fall := range plain.Falls() {
		if math.Abs(fall-h.At(i, i)) > 1e-6*h.At(i, i) {
			t.Errorf("entry %d falls by %v, not %v", i, fall, h.At(i, i))
		}
	}
	for _, off := range []float64{.5, 1, 2} {
		m.Falls = nil
		for i := range 3 {
			m.Falls = append(m.Falls, off*h.At(i, i))
		}
		if known, once := count(m); once != 6 || often <= once || math.Abs(known.Nats-plain.Nats) > 1e-6 {
			t.Errorf("known but for a factor of %v: %d gradients for %d, %v for %v", off, once, often, known.Nats, plain.Nats)
		}
	}
	if (&Volume{}).Falls() != nil {
		t.Error("what is not known falls")
	}
}

// No direction is wider than the prior, however the density is curved; and a mode of
// which nothing is known has the prior's volume.
func TestVolumesEndAtThePrior(t *testing.T) {
	modes := []Mode{mode(t, "LIN", []float64{0, 0}, 0.25), mode(t, "LIN", []float64{0, 0}, 0.25)}
	modes[0].Prec[0] = 4
	prec := mat.NewSymDense(2, []float64{-3, 0, 0, 100})
	from := normals([][]float64{modes[0].X, modes[1].X}, []*mat.SymDense{prec, prec})
	got, err := Volumes(modes, func(sub []int, xs [][]float64) ([][]float64, error) {
		out, err := from(sub, xs)
		for j, i := range sub {
			if i == 1 && xs[j][1] != 0 {
				out[j] = nil
			}
		}
		return out, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Log(2*math.Pi) - math.Log(4.0*100)/2; !got[0].Known || math.Abs(got[0].Nats-want) > 1e-9 {
		t.Errorf("curved upwards: %v, want %v", got[0], want)
	}
	if want := math.Log(2*math.Pi) - math.Log(0.25); got[1].Known || math.Abs(got[1].Nats-want) > 1e-9 {
		t.Errorf("not to be evaluated: %v, want %v", got[1], want)
	}
}

// Equal terms can be exchanged, unless nothing changes by it.
func TestArrangements(t *testing.T) {
	for _, c := range []struct {
		expr string
		x    []float64
		want float64
	}{
		{"SE", []float64{0, 0, 0}, 1},
		{"PER+SE", []float64{0, 1, 2, 3, 4, 5}, 1},
		{"PER+PER", []float64{0, 1, 2, 0, 1, -4, 0}, 2},
		{"PER+PER", []float64{0, 1, 2, 0, 1, 2.01, 0}, 1},
		{"PER*PER", []float64{0, 1, 2, 1, -4, 0}, 2},
		{"PER*PER", []float64{0, 1, 2, 1, 2, 0}, 1},
		{"SE+SE+SE", []float64{0, 0, 9, 9, -9, -9, 0}, 6},
		{"SE+SE+SE", []float64{0, 0, 0, 0, -9, -9, 0}, 3},
		{"LIN*LIN", []float64{2, 0}, 1},
		{"LIN*LIN*SE", []float64{2, 7, 0}, 1},
		{"(PER+SE)*(PER+SE)", []float64{0, 1, 2, 3, 4, 9, 9, 9, 9, 0}, 2},
		{"(SE+SE)*LIN", []float64{0, 1, 5, 6, 0}, 2},
		{"CP(SE,SE)", []float64{0, 0, 0, 1, 9, 9, 0}, 1},
		{"CP(SE+SE,LIN)+RQ", []float64{0, 0, 0, 1, 9, 9, 0, 0, 0, 0, 0}, 2},
		{"CP(LIN,SE+SE)+RQ", []float64{0, 0, 0, 0, 1, 9, 9, 0, 0, 0, 0}, 2},
		{"CP(LIN,SE)+CP(LIN,SE)", []float64{0, 0, 0, 0, 1, 5, 0, 0, 0, 1, 0}, 2},
	} {
		m := mode(t, c.expr, c.x, 1)
		h := mat.NewDiagDense(len(c.x), ones(len(c.x), 1))
		if got := newCurvature(&m).arrangements(h); got != c.want {
			t.Errorf("%s at %v: %v, want %v", c.expr, c.x, got, c.want)
		}
	}
}
