package finding

import (
	"math"

	"example.com/kestrel/datasets"
	"example.com/kestrel/kernelspace"
)

const (
	sizePoints  = 64   // on which the size of a part is taken
	sizeParts   = 30   // of more parts, of large spaces, the sizes are not taken
	smallPart   = 0.1  // of the largest part's size, below which a part is small
	nothingPart = 0.01 // of the noise's variance, below which a part is nothing
)

// sizes are how much the components of a kernel vary over the data, the variance that
// is expected of a function among its values at points x₁ … xₙ of the inputs,
//
//	(1/n) Σᵢ k(xᵢ,xᵢ) − (1/n²) Σᵢⱼ k(xᵢ,xⱼ),
//
// standardised, and the variance of the noise. A level is 0, however far it is from 0,
// and what varies over far longer than the data next to it. They are nil where they
// cannot be taken.
func (w *speller) sizes(components []kernelspace.Component) (sizes []float64, noise float64) {
	if len(components) > sizeParts {
		return nil, 0
	}
	raw := make([]float64, len(w.values))
	for i, v := range w.values {
		raw[i] = w.info.Params[i].Standardised(float64(v))
	}
	points := spread(w.start.Inputs())
	for i := range components {
		c := &components[i]
		size, theta := 0.0, c.Theta(raw[:len(raw)-1])
		for a, x := range points {
			size += c.Program.Eval(theta, x, x, true) * (1 - 1.0/sizePoints)
			for _, y := range points[:a] {
				size -= c.Program.Eval(theta, x, y, false) * (2.0 / sizePoints)
			}
		}
		if math.IsNaN(size) || math.IsInf(size, 0) {
			return nil, 0
		}
		sizes = append(sizes, max(0, size/sizePoints))
	}
	return sizes, raw[len(raw)-1]
}

// spread returns points that fill the inputs, standardised: uniform within √3 standard
// deviations of each one's mean, as far as it reaches, without the steps of a grid, which
// a period may share. They are multiples, modulo 1, of powers of the root of
// x^(d+1) = x + 1 (Roberts, The unreasonable effectiveness of quasirandom sequences, 2018).
func spread(inputs []datasets.ColumnSummary) [][]float64 {
	root := 2.0
	for range 60 {
		root = math.Pow(1+root, 1/float64(len(inputs)+1))
	}
	points := make([][]float64, sizePoints)
	for i := range points {
		for j := range inputs {
			share := math.Mod(0.5+float64(i+1)*math.Pow(root, -float64(j+1)), 1)
			points[i] = append(points[i], within(&inputs[j], share))
		}
	}
	return points
}

// within is the standardised value of an input at a share, below 1, of the way through
// it, among as many values as there are where these are few.
func within(c *datasets.ColumnSummary, share float64) float64 {
	low, high := c.Min, c.Max
	switch {
	case c.Distinct > 1 && c.Distinct <= sizePoints/2:
		share = math.Floor(share*float64(c.Distinct)) / float64(c.Distinct-1)
	case c.SD > 0:
		low, high = max(low, c.Mean-math.Sqrt(3)*c.SD), min(high, c.Mean+math.Sqrt(3)*c.SD)
	}
	v := low + share*(high-low) - c.Shift
	if c.Scale > 0 {
		v /= c.Scale
	}
	return v
}
