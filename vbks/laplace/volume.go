// Package laplace estimates how much of a density lies about a mode of it: by the
// normal density with the same curvature there (MacKay 2003, chapter 27).
package laplace

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
)

// Mode is a mode of a log density over the free vector of a kernel.
type Mode struct {
	Program *kernelspace.Program
	X       []float64 // free vector
	Prec    []float64 // of the prior, which is part of the density; all positive
	Mean    []float64 // of the prior; nil: that of equal terms is the same
	Scale   []float64 // how far entries may sensibly move
	// About how fast the density falls along each entry, −∂²/∂x_j², where that is known; nil: it is found out.
	Falls []float64
}

// Volume is what a mode's density is to be multiplied by, as a logarithm, for its
// integral, that of its equivalents included.
type Volume struct {
	Nats  float64
	Known bool // false: no curvature could be had, and the volume is the prior's
	// Chol is C, F x F row-major lower, of the normal density N(X, CCᵀ) with the same
	// curvature, nowhere wider than the prior; nil where none is known.
	Chol []float64
	Low  []float64 // see Integral; nil where nothing was drawn
	High []float64
}

// Falls are how fast the normal density that has the same curvature falls along each entry; nil where none is known.
func (v *Volume) Falls() []float64 {
	if v.Chol == nil {
		return nil
	}
	n := int(math.Sqrt(float64(len(v.Chol))))
	inverse := mat.NewTriDense(n, mat.Lower, nil)
	if inverse.InverseTri(mat.NewTriDense(n, mat.Lower, v.Chol)) != nil {
		return nil
	}
	out := make([]float64, n)
	for i := range n {
		for j := range i + 1 {
			out[j] += inverse.At(i, j) * inverse.At(i, j)
		}
	}
	return out
}

// Gradients evaluates the gradients of the log densities of some modes, by their
// places, at a point each; nil where one cannot be evaluated.
type Gradients func(sub []int, xs [][]float64) ([][]float64, error)

const (
	// A first step is firstStep of what is sensible. Where another one is better by a
	// factor of stepSlack, the second is secondStep of the width that curvature shows,
	// at most leastStep to mostStep of the first: the density of a period is narrow, but
	// as smooth as its phase, and wide directions drown in rounding.
	firstStep           = 0.02
	secondStep          = 0.2
	stepSlack           = 2
	leastStep, mostStep = 0.25, 15
)

// Volumes estimates the volumes of modes. What can be evaluated at a time is.
func Volumes(modes []Mode, gradients Gradients) ([]Volume, error) {
	curved := make([]*curvature, len(modes))
	for i := range modes {
		curved[i] = newCurvature(&modes[i])
	}
	if err := differences(curved, gradients); err != nil {
		return nil, err
	}
	for _, c := range curved {
		c.adapt()
	}
	if err := differences(curved, gradients); err != nil {
		return nil, err
	}
	out := make([]Volume, len(modes))
	for i, c := range curved {
		out[i] = c.volume()
	}
	return out, nil
}

// differences finds all columns that are lacking.
func differences(curved []*curvature, gradients Gradients) error {
	for j, some := 0, true; some; j++ {
		var err error
		if some, err = differ(curved, j, gradients); err != nil {
			return err
		}
	}
	return nil
}

// differ finds column j of the second derivatives of all that have so many and lack
// it; some is false where none has so many.
func differ(curved []*curvature, j int, gradients Gradients) (some bool, err error) {
	var sub []int
	for i, c := range curved {
		if j < len(c.X) {
			some = true
			if !c.broken && c.columns[j] == nil {
				sub = append(sub, i)
			}
		}
	}
	if len(sub) == 0 {
		return some, nil
	}
	var sides [2][][]float64
	for s, sign := range []float64{1, -1} {
		xs := make([][]float64, len(sub))
		for at, i := range sub {
			xs[at] = append([]float64(nil), curved[i].X...)
			xs[at][j] += sign * curved[i].step[j]
		}
		if sides[s], err = gradients(sub, xs); err != nil {
			return false, err
		}
	}
	for at, i := range sub {
		curved[i].take(j, sides[0][at], sides[1][at])
	}
	return some, nil
}

// curvature is a mode with minus the second derivatives there as far as they are known.
type curvature struct {
	*Mode
	step    []float64
	columns [][]float64
	broken  bool
}

func newCurvature(m *Mode) *curvature {
	c := &curvature{Mode: m, step: make([]float64, len(m.X)), columns: make([][]float64, len(m.X))}
	for j, s := range m.Scale {
		if c.step[j] = firstStep * s; m.Falls != nil {
			c.step[j] = c.better(j, m.Falls[j])
		}
	}
	return c
}

// better is the step that a curvature of so much along entry j asks for, from the one that there is.
func (c *curvature) better(j int, fall float64) float64 {
	step := secondStep / math.Sqrt(math.Max(fall, c.Prec[j]))
	return math.Min(mostStep*c.step[j], math.Max(leastStep*c.step[j], step))
}

// take makes column j of the gradients a step up and down.
func (c *curvature) take(j int, up, down []float64) {
	if up == nil || down == nil {
		c.broken = true
		return
	}
	column := make([]float64, len(c.X))
	floats.SubTo(column, down, up)
	floats.Scale(1/(2*c.step[j]), column)
	c.columns[j] = column
	for _, v := range column {
		c.broken = c.broken || math.IsNaN(v) || math.IsInf(v, 0)
	}
}

// adapt drops the columns for which another step is better.
func (c *curvature) adapt() {
	if c.broken {
		return
	}
	for j, column := range c.columns {
		better := c.better(j, column[j])
		if better > stepSlack*c.step[j] || better < c.step[j]/stepSlack {
			c.step[j], c.columns[j] = better, nil
		}
	}
}

// unit is what entry j is multiplied by in units of the prior's standard deviations.
func (c *curvature) unit(j int) float64 { return math.Sqrt(c.Prec[j]) }

// volume is computed in units of the prior's standard deviations, where no direction
// can be wider than 1: what looks wider, or curved upwards, has not converged, or a
// soft bound stands behind it.
func (c *curvature) volume() Volume {
	n := len(c.X)
	prior := float64(n) / 2 * math.Log(2*math.Pi)
	for j := range n {
		prior -= math.Log(c.unit(j))
	}
	if c.broken {
		return Volume{Nats: prior}
	}
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			h.SetSym(i, j, (c.columns[i][j]+c.columns[j][i])/2/(c.unit(i)*c.unit(j)))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(h, true) {
		return Volume{Nats: prior}
	}
	nats := prior + math.Log(c.arrangements(h))
	values := eigen.Values(nil)
	for i, v := range values {
		values[i] = math.Max(1, v)
		nats -= math.Log(values[i]) / 2
	}
	if math.IsNaN(nats) || math.IsInf(nats, 0) {
		return Volume{Nats: prior}
	}
	return Volume{Nats: nats, Known: true, Chol: c.factor(&eigen, values)}
}

// factor returns the Cholesky factor of U·V·diag(1/values)·Vᵀ·U, V the eigenvectors
// and U the prior's standard deviations.
func (c *curvature) factor(eigen *mat.EigenSym, values []float64) []float64 {
	n := len(c.X)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	covariance := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sum := 0.0
			for k, v := range values {
				sum += vectors.At(i, k) * vectors.At(j, k) / v
			}
			covariance.SetSym(i, j, sum/(c.unit(i)*c.unit(j)))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(covariance) {
		return nil
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	out := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			out[i*n+j] = lower.At(i, j)
		}
	}
	return out
}
