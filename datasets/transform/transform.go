// Package transform has monotone transforms of a target, z = t(y), for data whose
// scatter grows with their level or that cannot leave an interval: the model is
// then of z, and what it predicts of z is mapped back to y. It is pure maths.
package transform

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// The transforms by name.
const (
	None   = "none"
	Log    = "log"
	BoxCox = "boxcox"
	Logit  = "logit"

	// Auto is decided on before a target is transformed; until then it is None.
	Auto = "auto"
)

// Names lists the transforms that a config may name; the first is the default where
// none is.
func Names() []string { return []string{None, Log, BoxCox, Logit, Auto} }

// Transform is an increasing function of the target,
//
//	none    t(y) = y
//	log     t(y) = log y                          y > 0
//	boxcox  t(y) = (y^λ − 1)/λ, log y for λ = 0   y > 0
//	logit   t(y) = log (y − low)/(high − y)       low < y < high
//
// (Box and Cox, An analysis of transformations, 1964). The zero value is none.
type Transform struct {
	Name   string  `json:"name"`             // one of Names but for Auto; "": none
	Lambda float64 `json:"lambda,omitempty"` // boxcox
	Low    float64 `json:"low,omitempty"`    // logit
	High   float64 `json:"high,omitempty"`   // logit
}

// Identity reports whether the targets are left as they are.
func (t Transform) Identity() bool { return t.Name == "" || t.Name == None }

// shape is the name, with log for the Box–Cox transform that is one.
func (t Transform) shape() string {
	switch {
	case t.Identity():
		return None
	case t.Name == BoxCox && t.Lambda == 0:
		return Log
	}
	return t.Name
}

// Takes reports whether a target can be transformed.
func (t Transform) Takes(y float64) bool {
	low, high := t.domain()
	return y > low && y < high
}

// domain are the ends of the open interval of targets.
func (t Transform) domain() (low, high float64) {
	switch t.shape() {
	case None:
		return math.Inf(-1), math.Inf(1)
	case Logit:
		return t.Low, t.High
	}
	return 0, math.Inf(1)
}

// Domain says in words which targets can be transformed.
func (t Transform) Domain() string {
	if t.Name == Logit {
		return fmt.Sprintf("between %v and %v", t.Low, t.High)
	}
	return "above 0"
}

// Forward returns t(y). Of a y that cannot be transformed it is the limit of t
// towards the end of the domain that y lies at or beyond, −∞ or +∞ but for
// Box–Cox transforms: −1/λ for λ > 0 at y = 0.
func (t Transform) Forward(y float64) float64 {
	shape := t.shape()
	low, high := t.domain()
	switch {
	case shape == None || math.IsNaN(y):
		return y
	case y < low:
		return math.Inf(-1)
	case y > high:
		return math.Inf(1)
	case shape == Log:
		return math.Log(y)
	case shape == Logit:
		return math.Log((y - low) / (high - y))
	}
	return math.Expm1(t.Lambda*math.Log(y)) / t.Lambda
}

// Back returns the y with t(y) = z. A Box–Cox transform with λ > 0 has no values
// below −1/λ, one with λ < 0 none above: there y is 0, or +∞.
func (t Transform) Back(z float64) float64 {
	switch t.shape() {
	case None:
		return z
	case Log:
		return math.Exp(z)
	case Logit:
		if z < 0 {
			e := math.Exp(z)
			return t.Low + (t.High-t.Low)*(e/(1+e))
		}
		return t.High - (t.High-t.Low)*(math.Exp(-z)/(1+math.Exp(-z)))
	}
	if u := t.Lambda * z; u > -1 {
		return math.Exp(math.Log1p(u) / t.Lambda)
	}
	if t.Lambda > 0 {
		return 0
	}
	return math.Inf(1)
}

// LogSlope returns log t′(y), what the log density of y has on top of that of
// t(y); −∞ where y cannot be transformed, whose density is 0.
func (t Transform) LogSlope(y float64) float64 {
	shape := t.shape()
	switch {
	case shape == None:
		return 0
	case !t.Takes(y):
		return math.Inf(-1)
	case shape == Log:
		return -math.Log(y)
	case shape == Logit:
		return math.Log(t.High-t.Low) - math.Log(y-t.Low) - math.Log(t.High-y)
	}
	return (t.Lambda - 1) * math.Log(y)
}

// edge is the value of t at the end of the domain that it has a finite one at, 1/|λ|
// from 0; NaN if it has none.
func (t Transform) edge() float64 {
	if t.shape() == BoxCox {
		return -1 / t.Lambda
	}
	return math.NaN()
}

// Of names the transform of a target of a name: "log passengers". It is the name
// where the transform is none.
func (t Transform) Of(name string) string {
	switch t.shape() {
	case None:
		return name
	case BoxCox:
		return fmt.Sprintf("Box–Cox %s, λ = %s", name, strconv.FormatFloat(t.Lambda, 'g', 4, 64))
	}
	return t.shape() + " " + name
}

// Unit is that of the transformed target, given that of the target.
func (t Transform) Unit(unit string) string {
	switch t.shape() {
	case None:
		return unit
	case BoxCox:
		return "(Box–Cox y)"
	}
	return "(" + t.shape() + " y)"
}

// New makes the transform of a name, one of Names. bounds are the ends of logit's
// interval, nil for 0 and 1. λ of a Box–Cox transform is 1; see Lambda.
func New(name string, bounds []float64) (Transform, error) {
	t := Transform{Name: name}
	switch {
	case t.Identity() || name == Auto:
		return Transform{}, nil
	case !slices.Contains(Names(), name):
		return t, fmt.Errorf("transform = %q is none of %q", name, Names())
	case name == BoxCox:
		t.Lambda = 1
	case name == Logit:
		t.High = 1
		if bounds != nil {
			if len(bounds) != 2 || !(bounds[0] < bounds[1]) || math.IsInf(bounds[1]-bounds[0], 0) {
				return t, fmt.Errorf("transform_bounds = %v: must be two numbers, the lower one first", bounds)
			}
			t.Low, t.High = bounds[0], bounds[1]
		}
	}
	return t, nil
}

// Check returns an error if a transform that was read is none that there is.
func (t Transform) Check() error {
	fits := t.Identity() || t.Name == Log || t.Name == BoxCox || t.Name == Logit && t.Low < t.High
	for _, v := range []float64{t.Lambda, t.Low, t.High} {
		fits = fits && !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	if !fits {
		return fmt.Errorf("the transform %q of the target is none of %q", t.Name, Names())
	}
	return nil
}
