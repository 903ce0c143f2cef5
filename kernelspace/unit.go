package kernelspace

import (
	"math"
	"strings"
)

// Standardised is what Unit returns for a parameter that has no single unit,
// as it acts on columns of different units.
const Standardised = "standardised"

// Unit returns the unit of raw parameter i in data units, "" if it has none,
// from the units of the columns and of the target ("" where unknown).
//
// Kernels are optimised on inputs x_d/xScale_d and targets y/yScale. Unit and
// Scale turn their parameters into those of the same kernel on the data's own
// inputs and targets, so that its formula holds for them as it stands:
//
//	variance     ·yScale²; LIN with one length scale ·yScale²/xScale², RW /xScale, IRW /xScale³
//	lengthscale  ·xScale; of PER, of levels, and of LIN with a single one, unchanged
//	period       ·xScale
//	alpha        unchanged
//	offset       unchanged (POLY's x·x′/ℓ² has no unit)
//	origin       ·xScale, a distance (see Affine)
//	place        of what PlaceOf makes of it, ·xScale (see Affine)
//	width        ·xScale
//
// Where an amplitude is relative to another one, as in a normalised factor,
// yScale does not enter. A fixed parameter is scaled like a free one: the
// fixed variance of a normalised LIN becomes 1/xScale².
//
// A single length scale or period for several columns has a unit only if all
// these columns have the same one, and a scale only if they have the same one;
// otherwise Unit is Standardised and Scale is NaN: report the value as it is.
func (p *Program) Unit(i int, xUnits []string, yUnit string) string {
	y, x := p.exponents(i)
	_, columns := p.leafOf(i)
	if y == 0 && x == 0 {
		return ""
	}
	unit := ""
	if x != 0 {
		for k, c := range columns {
			u := ""
			if c < len(xUnits) {
				u = xUnits[c]
			}
			if k > 0 && u != unit {
				return Standardised
			}
			unit = u
		}
	}
	top, bottom := "", ""
	if y == 2 {
		top = power(yUnit, 2)
	}
	switch {
	case x > 0:
		top += power(unit, x)
	case x < 0:
		bottom = power(unit, -x)
		if x == -1 && strings.ContainsAny(unit, " /*·") {
			bottom = "(" + unit + ")"
		}
	}
	if bottom == "" {
		return top
	}
	if top == "" {
		top = "1"
	}
	return top + "/" + bottom
}

// Scale returns the factor that turns the value of raw parameter i into data
// units, from the divisors of the columns and of the target.
func (p *Program) Scale(i int, xScale []float64, yScale float64) float64 {
	y, x := p.exponents(i)
	_, columns := p.leafOf(i)
	factor := math.Pow(yScale, float64(y))
	if x == 0 {
		return factor
	}
	scale := xScale[columns[0]]
	for _, c := range columns[1:] {
		if xScale[c] != scale {
			return math.NaN()
		}
	}
	return factor * math.Pow(scale, float64(x))
}

// Affine returns how the value of raw parameter i is told in data units: as shift +
// scale·value, of a place as shift + scale·PlaceOf(value). The scale is that of Scale
// but for an origin, which is told as a place and not as a distance before 0. It is
// NaN where Scale is, or where the columns' shifts differ.
func (p *Program) Affine(i int, xShift, xScale []float64, yScale float64) (shift, scale float64) {
	scale = p.Scale(i, xScale, yScale)
	switch p.Params[i].Name {
	case namePlace:
		return xShift[p.Params[i].Column], scale
	case nameOrigin:
	default:
		return 0, scale
	}
	in, _ := p.leafOf(i)
	for _, c := range in.Cols[1:] {
		if xShift[c] != xShift[in.Cols[0]] {
			return 0, math.NaN()
		}
	}
	return xShift[in.Cols[0]], -scale
}

// exponents returns the powers of the target's and of the inputs' scale with
// which raw parameter i scales.
func (p *Program) exponents(i int) (y, x int) {
	in, _ := p.leafOf(i)
	info := in.base.info()
	// Without an offset, a variance says the same as a length scale.
	singleLIN := info.scale == scaleAmplitude && info.shape == "" && in.NumScale == 1
	switch p.Params[i].Name {
	case nameVariance:
		if p.amplitudes()[p.Params[i].Leaf].total {
			y = 2
		}
		if x = -info.power; singleLIN {
			x = -2
		}
	case nameLengthscale:
		if info.scale != scalePhase && info.scale != scaleLevel && !singleLIN {
			x = 1
		}
	case namePeriod, nameOrigin, namePlace, nameWidth:
		x = 1
	}
	return y, x
}

// Unitless reports whether a length scale, by the name of its hyperparameter such as PER#2.lengthscale,
// is none in the unit of a column: that of a periodic kernel, of a phase, a level's, and a linear one's.
func Unitless(name string) bool {
	leaf, param, _ := strings.Cut(strings.TrimPrefix(name, "mean "), ".")
	leaf, _, _ = strings.Cut(leaf, "#")
	b, ok := baseNamed(leaf)
	if param, _, _ = strings.Cut(param, "("); !ok || param != nameLengthscale {
		return false
	}
	info := b.info()
	return info.scale == scalePhase || info.scale == scaleLevel || info.scale == scaleAmplitude && info.shape == ""
}

// power writes a unit to the power 1, 2 or 3.
func power(unit string, exponent int) string {
	if unit == "" || exponent == 1 {
		return unit
	}
	sign := map[int]string{2: "²", 3: "³"}[exponent]
	whole := strings.HasPrefix(unit, "(") && strings.IndexByte(unit, ')') == len(unit)-1 // "(log y)"
	if strings.ContainsAny(unit, " /*·²³") && !whole {
		return "(" + unit + ")" + sign
	}
	return unit + sign
}
