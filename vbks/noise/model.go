// Package noise has how the noise of rows differs: variances known beforehand, one for
// each level of an input, and Student's t as a scale mixture of normals, which outliers
// speak for. All three are one thing, a weight w_i of each row, with which it has the
// noise variance σ_n²/w_i; given the weights the noise is normal.
package noise

import (
	"errors"
	"fmt"
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
// Unit; where it has a Tail, that is the square of
// its scale. The zero value but for Factor 1 is normal noise, equal in
// all rows.
type Model struct {
	Tail     `json:"tail,omitzero"` // absent: it is normal
	Factor   float64                `json:"factor"`             // above 0
	Outliers float64                `json:"outliers,omitempty"` // share of the rows fitted that count for less than OutlierWeight
	Column   int                    `json:"column,omitempty"`   // the input that Levels are of, from 0
	Levels   []Level                `json:"levels,omitempty"`   // ascending by value; nil: none
	Unit     float64                `json:"unit,omitempty"`     // geometric mean of the variances known of training rows; 0: none are
}

// OutlierWeight is the part of the largest weight below which a row is called an outlier.
const OutlierWeight = 0.2

// Plain reports whether all rows are alike and their noise is normal.
func (m *Model) Plain() bool { return m == nil || m.Normal() && m.Levels == nil && m.Unit == 0 }

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
	p.NoiseScale, p.Tails = m.Scales(x, known, dim), m.Parts()
}

// Scales are what σ_n² is multiplied by at the rows x, as Put has it; nil: by 1.
func (m *Model) Scales(x, known []float64, dim int) []float64 {
	if m.Plain() {
		return nil
	}
	scales := make([]float64, len(x)/dim)
	for i := range scales {
		v := 0.0
		if known != nil {
			v = known[i]
		}
		scales[i], _ = m.ScaleAt(x[i*dim:(i+1)*dim], v)
	}
	return scales
}

// String says what the tail is and what becomes of outliers.
func (m *Model) String() string {
	few := fmt.Sprintf("%.2g %% of the rows count for less than a fifth", 100*m.Outliers)
	switch {
	case m.Nu > 0:
		return fmt.Sprintf("Student's t of %.1f degrees of freedom, %s", m.Nu, few)
	case m.Ratio > 0:
		return fmt.Sprintf("%.2g %% of outliers with %.2g times the standard deviation, %s", 100*m.Share, math.Sqrt(m.Ratio), few)
	}
	return "normal"
}

// Check returns an error where numbers are impossible, as those of a file may be.
func (m *Model) Check(dim int) error {
	switch {
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
	return m.check()
}
