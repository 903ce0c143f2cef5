package known

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/kernelspace"
)

// unitWords are the units of time that values are written in.
var unitWords = []string{"s", "min", "h", "d", "week", "month", "year"}

// amount is a quantity read: a number with what stands behind it.
type amount struct {
	value float64
	unit  string
}

// read splits a quantity into its number and its unit; ok is false if it does not begin
// with a number.
func read(q config.Quantity) (a amount, ok bool) {
	text := strings.TrimSpace(string(q))
	for end := len(text); end > 0; end-- {
		if v, err := strconv.ParseFloat(text[:end], 64); err == nil && strings.ContainsRune("+-.0123456789", rune(text[0])) {
			return amount{v, strings.TrimSpace(text[end:])}, !math.IsInf(v, 0)
		}
	}
	return a, false
}

// days is how many days a unit of time has, of those that datasets know and of others
// that people write.
func days(unit string) float64 {
	switch strings.ToLower(unit) {
	case "sec", "secs":
		unit = "s"
	case "mins":
		unit = "min"
	case "hr", "hrs":
		unit = "h"
	case "w":
		unit = "week"
	case "y", "yrs":
		unit = "year"
	}
	return datasets.DaysOf(unit)
}

// raw returns the raw parameter that a quantity means at a place of a program, the noise's
// being len(p.Params); root: the quantity is its root. The error completes a sentence
// that begins with the quantity.
func (s *space) raw(p *kernelspace.Program, i int, root bool, q config.Quantity) (float64, error) {
	if i == len(p.Params) {
		v, err := s.number(q, s.unit(root))
		if err != nil {
			return 0, err
		}
		if !root {
			v = math.Sqrt(v)
		}
		v /= s.scaler.YScale
		if v*v < leastNoise {
			return 0, fmt.Errorf("is too little noise to compute with: at least %.3g is needed", math.Sqrt(leastNoise)*s.scaler.YScale)
		}
		return v * v, nil
	}
	name := p.Params[i].Name
	shift, scale := p.Affine(i, s.scaler.XShift, s.scaler.XScale, s.scaler.YScale)
	if math.IsNaN(scale) || p.Unit(i, s.units, s.target) == kernelspace.Standardised {
		return 0, fmt.Errorf("has no meaning for %s, which acts on columns of different scales; name one, as in %s.%s[%s]",
			p.ID, p.Params[i].Base, name, s.columns[0])
	}
	var v float64
	var err error
	switch name {
	case "place", "origin":
		v, err = s.place(q, p.Params[i].Column)
	case "period", "width", "lengthscale":
		if p.Unit(i, placeholders(len(s.units)), "") == "" {
			v, err = s.number(q, "")
		} else {
			v, err = s.length(q, p, i)
		}
	default:
		unit := p.Unit(i, s.units, s.target)
		if root && unit != "" {
			unit = s.unit(true)
			if strings.ContainsAny(p.Unit(i, placeholders(len(s.units)), ""), "/") {
				unit = ""
			}
		}
		v, err = s.number(q, unit)
	}
	if err != nil {
		return 0, err
	}
	if root {
		v *= v
	}
	v = (v - shift) / scale
	if name == "place" {
		return kernelspace.RawPlace(v), nil
	}
	if !(v > 0) {
		if name == "origin" {
			return 0, fmt.Errorf("is no origin: it lies before all data, below %.6g", shift)
		}
		return 0, fmt.Errorf("must be greater than 0")
	}
	return v, nil
}

// leastNoise is the least noise variance, of targets of variance 1.
const leastNoise = 1e-10

func placeholders(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "x"
	}
	return out
}

// unit is that of the target, or of its square.
func (s *space) unit(root bool) string {
	if root || s.target == "" {
		return s.target
	}
	return s.target + "²"
}

// number reads what has a unit that is not of time, or none.
func (s *space) number(q config.Quantity, unit string) (float64, error) {
	a, ok := read(q)
	switch {
	case !ok:
		return 0, fmt.Errorf("is no number")
	case a.unit != "" && a.unit != unit && unit == "":
		return 0, fmt.Errorf("has a unit, but this has none; write %v", a.value)
	case a.unit != "" && a.unit != unit:
		return 0, fmt.Errorf("must be in %s", unit)
	case !(a.value > 0):
		return 0, fmt.Errorf("must be greater than 0")
	}
	return a.value, nil
}

// length reads a length along the columns of a parameter.
func (s *space) length(q config.Quantity, p *kernelspace.Program, i int) (float64, error) {
	column := p.Params[i].Column
	if column < 0 { // of several of one unit
		column = p.Columns(i)[0]
	}
	return s.along(q, column)
}

// along reads a length along a column.
func (s *space) along(q config.Quantity, column int) (float64, error) {
	a, ok := read(q)
	own, own1, name := s.data.Days(column), s.units[column], s.columns[column]
	switch {
	case !ok:
		return 0, fmt.Errorf("is no number")
	case !(a.value > 0):
		return 0, fmt.Errorf("must be greater than 0")
	case a.unit == "" && s.data.Inputs[column].Time:
		return 0, fmt.Errorf("has no unit, but %s holds time stamps; write one, as in \"%v d\"", name, a.value)
	case a.unit == "" || a.unit == own1:
		return a.value, nil
	case days(a.unit) == 0 && own > 0:
		near := config.Nearest(a.unit, unitWords)
		if near != "" {
			return 0, fmt.Errorf("has an unknown unit %s: did you mean %s?", a.unit, near)
		}
		return 0, fmt.Errorf("has an unknown unit %s; units of time are %s", a.unit, strings.Join(unitWords, ", "))
	case own == 0 && own1 != "":
		return 0, fmt.Errorf("must be in %s, the unit of %s", own1, name)
	case own == 0:
		return 0, fmt.Errorf("has a unit, but that of %s is not known; write a number in it", name)
	}
	return a.value * days(a.unit) / own, nil
}

// place reads where along a column something is.
func (s *space) place(q config.Quantity, column int) (float64, error) {
	in := &s.data.Inputs[column]
	if in.Time {
		v, ok := in.Instant(string(q))
		if !ok {
			return 0, fmt.Errorf("is no time stamp, but %s holds some; write it as 2024-12-31 or 2024-12-31 18:00", in.Name)
		}
		return v, nil
	}
	a, ok := read(q)
	switch {
	case !ok:
		return 0, fmt.Errorf("is no number")
	case a.unit != "" && a.unit != in.Unit:
		return 0, fmt.Errorf("must be a number in the unit of %s", in.Name)
	}
	return a.value, nil
}
