// Package noise has how the noise of rows differs: variances known beforehand, one for
// each level of an input, and Student's t as a scale mixture of normals, which outliers
// speak for. All three are one thing, a weight w_i of each row, with which it has the
// noise variance σ_n²/w_i; given the weights the noise is normal.
package noise

import (
	"errors"
	"math"
	"slices"

	"example.com/kestrel/vbks/mixture"
)

// Rows are what is known of the noise of rows before any is fitted.
type Rows struct {
	Known []float64 // variances over Model.Unit; nil: none are known
	Level []int     // place in Model.Levels; nil: there are none
}

// Level is a value of an input whose rows have a noise of their own.
type Level struct {
	Value  float64 `json:"value"`  // of the input, standardised
	Factor float64 `json:"factor"` // of the variance, beside Model.Factor
}

// Model is what is known of the noise of rows besides σ_n², and of rows to come: noise of
// variance σ_n²·Factor, times that of its level, times a variance known beforehand over
// Unit; where Nu is not 0 that is the square
// of the scale of Student's t. The zero value but for Factor 1 is normal noise, equal in
// all rows.
type Model struct {
	Nu       float64 `json:"nu,omitempty"`       // degrees of freedom; 0: it is normal
	Factor   float64 `json:"factor"`             // above 0
	Outliers float64 `json:"outliers,omitempty"` // share of the rows fitted whose weight is below OutlierWeight of the full one
	Column   int     `json:"column,omitempty"`   // the input that Levels are of, from 0
	Levels   []Level `json:"levels,omitempty"`   // ascending by value; nil: none
	Unit     float64 `json:"unit,omitempty"`     // geometric mean of the variances known of training rows; 0: none are
}

// Heaviest and Lightest are the degrees of freedom between which Nu lies: of 2 there is no
// variance, of 2.5 it is five times the square of the scale.
const Heaviest, Lightest = 2.5, 200

// OutlierWeight is the part of the largest weight below which a row is called an outlier.
const OutlierWeight = 0.2

// Plain reports whether all rows are alike and their noise is normal.
func (m *Model) Plain() bool { return m == nil || m.Nu == 0 && m.Levels == nil && m.Unit == 0 }

// base is the noise variance of row i relative to the others', but for its tail.
func (m *Model) base(r *Rows, i int) float64 {
	b := 1.0
	if r.Known != nil {
		b = r.Known[i]
	}
	if r.Level != nil {
		b *= m.Levels[r.Level[i]].Factor
	}
	return b
}

// Find makes the levels of an input of its values in the rows, and places the rows.
func (m *Model) Find(column int, values []float64) (places []int) {
	different := slices.Compact(slices.Sorted(slices.Values(values)))
	m.Column, m.Levels = column, nil
	for _, v := range different {
		m.Levels = append(m.Levels, Level{v, 1})
	}
	places = make([]int, len(values))
	for i, v := range values {
		places[i], _ = slices.BinarySearch(different, v)
	}
	return places
}

// ScaleAt is what σ_n² is multiplied by in a row of inputs x and of a variance known
// beforehand (0: it is not), and whether the row is of a level that there was, or there are
// none.
func (m *Model) ScaleAt(x []float64, variance float64) (scale float64, known bool) {
	scale = m.Factor
	if m.Unit > 0 && variance > 0 {
		scale *= variance / m.Unit
	}
	if m.Levels == nil {
		return scale, true
	}
	i, ok := slices.BinarySearchFunc(m.Levels, x[m.Column], func(l Level, v float64) int {
		switch {
		case l.Value < v:
			return -1
		case l.Value > v:
			return 1
		}
		return 0
	})
	if !ok {
		return scale, false
	}
	return scale * m.Levels[i].Factor, true
}

// Put gives a prediction at the rows x, which has σ_n² of each kernel, the noise of the
// model. known are the variances of rows where these are known, in the unit of those of
// the training rows; nil, or 0: they are not, and the noise is as large as is usual.
func (m *Model) Put(p *mixture.Prediction, x, known []float64, dim int) {
	if m.Plain() {
		return
	}
	p.NoiseScale, p.Tails = make([]float64, p.Rows()), m.Tails()
	for i := range p.NoiseScale {
		v := 0.0
		if known != nil {
			v = known[i]
		}
		p.NoiseScale[i], _ = m.ScaleAt(x[i*dim:(i+1)*dim], v)
	}
}

// nodeStep is the distance of the nodes of Tails in standard deviations of log w, and
// nodeEdge how unlikely the outermost ones are beside the likeliest.
const nodeStep, nodeEdge = 1.25, 1e-6

// Tails are the normals that the noise is a mixture of, nil where it is one: Student's
// t is
//
//	∫ N(0, σ²/w) Gamma(w; ν/2, ν/2) dw,
//
// by the trapezoidal rule over log w: its distribution function is right within 0.001.
func (m *Model) Tails() []mixture.Part {
	if m == nil || m.Nu == 0 {
		return nil
	}
	half := m.Nu / 2
	step := nodeStep / math.Sqrt(half)
	density := func(u float64) float64 { return math.Exp(half * (u + 1 - math.Exp(u))) } // 1 at its top, u = 0
	var parts []mixture.Part
	sum := 0.0
	add := func(u float64) bool {
		d := density(u)
		if d < nodeEdge {
			return false
		}
		parts = append(parts, mixture.Part{Share: d, Factor: math.Exp(-u)})
		sum += d
		return true
	}
	for u := 0.0; add(u); u += step {
	}
	slices.Reverse(parts)
	for u := -step; add(u); u -= step {
	}
	for i := range parts {
		parts[i].Share /= sum
	}
	return parts
}

// Check returns an error where numbers are impossible, as those of a file may be.
func (m *Model) Check(dim int) error {
	switch {
	case m.Nu != 0 && !(m.Nu >= Heaviest && m.Nu <= Lightest):
		return errors.New("noise of degrees of freedom that none can have")
	case !(m.Factor > 0) || math.IsInf(m.Factor, 0) || !(m.Outliers >= 0 && m.Outliers <= 1):
		return errors.New("noise of a factor that is no number above 0")
	case !(m.Unit >= 0) || math.IsInf(m.Unit, 0):
		return errors.New("noise known beforehand in a unit that is none")
	case m.Levels != nil && (m.Column < 0 || m.Column >= dim):
		return errors.New("noise by an input that there is not")
	}
	for i, l := range m.Levels {
		if !(l.Factor > 0) || math.IsInf(l.Factor, 0) || math.IsNaN(l.Value) || i > 0 && !(l.Value > m.Levels[i-1].Value) {
			return errors.New("noise by levels that are none")
		}
	}
	return nil
}
