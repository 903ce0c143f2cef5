package datasets

import (
	"cmp"
	"fmt"
	"math"

	"example.com/kestrel/datasets/transform"
)

// Scaler standardises inputs and target, column by column,
//
//	x̃ = (x − shift)/scale,   ỹ = (t(y) − shift)/scale,
//
// with the transform t of the target, and maps predictions back. It is fitted on
// the training rows, where Spec.FirstRows is set on those of these rows.
type Scaler struct {
	ModeX     string              `json:"standardise_x"`      // "full", "scale", "none"
	ModeY     string              `json:"standardise_y"`      // of t(y)
	XShift    []float64           `json:"x_shift"`            // one per input, in its unit
	XScale    []float64           `json:"x_scale"`            // one per input, positive
	YShift    float64             `json:"y_shift"`            // of t(y)
	YScale    float64             `json:"y_scale"`            // positive
	Transform transform.Transform `json:"transform,omitzero"` // t; absent: none
	Notices   []string            `json:"notices,omitempty"`  // one line each
}

// NewScaler fits the transform and the standardisation that how asks for to the
// training rows of d. The modes are
//
//	full    shift = mean, scale = standard deviation
//	scale   shift = 0, scale = standard deviation around the mean
//	none    shift = 0, scale = 1
//
// with the divisor n in the standard deviation. A constant input keeps scale
// 1, with a notice. It is an error if a mode is unknown, if a column varies so
// little that its variance is lost to rounding to 0, if the target is constant,
// unless its mode is "none", or if a training row's cannot be transformed. Of how,
// StandardiseX, StandardiseY, Transform and TransformBounds are used.
func NewScaler(d *Dataset, how Spec) (*Scaler, error) {
	modes := []string{"full", "scale", "none"}
	modeX, modeY := cmp.Or(how.StandardiseX, modes[0]), cmp.Or(how.StandardiseY, modes[0])
	if err := oneOf("standardise_x", modeX, modes); err != nil {
		return nil, err
	}
	if err := oneOf("standardise_y", modeY, modes); err != nil {
		return nil, err
	}
	s := &Scaler{ModeX: modeX, ModeY: modeY, YScale: 1}
	for j := range d.Dim {
		if err := d.checkSpread(&d.Inputs[j], d.X, d.Dim, j); err != nil {
			return nil, err
		}
		shift, scale, ok := fitColumn(modeX, d.First(), d.X, d.Dim, j)
		if !ok {
			s.Notices = append(s.Notices,
				fmt.Sprintf("the input %s is constant over the training rows and is not scaled", quoteText(d.Inputs[j].Name)))
		}
		s.XShift, s.XScale = append(s.XShift, shift), append(s.XScale, scale)
	}
	if err := d.checkSpread(&d.Target, d.Y, 1, 0); err != nil {
		return nil, err
	}
	if err := s.fitTransform(d, &how); err != nil {
		return nil, err
	}
	rows, y := d.First(), d.Y
	if !s.Transform.Identity() {
		if y = s.transformed(d, rows); !varies(y) {
			return nil, d.transformSpread(s.Transform)
		}
		rows = counted(len(y))
	}
	var ok bool
	if s.YShift, s.YScale, ok = fitColumn(modeY, rows, y, 1, 0); !ok {
		return nil, d.checkTarget()
	}
	return s, nil
}

// least is the smallest range of a column that varies: far above the root of
// the smallest positive number, so that variances keep their digits.
const least = 1e-140

// checkSpread refuses a column that varies less than can be squared.
func (d *Dataset) checkSpread(c *Column, values []float64, stride, j int) error {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, r := range d.First() {
		v := values[int(r)*stride+j]
		lo, hi = min(lo, v), max(hi, v)
	}
	if hi > lo && hi-lo < least {
		return fmt.Errorf("%s: %s goes from %v to %v only: too little to compute with; change its unit", d.file(), quoteText(c.Name), lo, hi)
	}
	return nil
}

func fitColumn(mode string, rows []int32, values []float64, stride, j int) (shift, scale float64, ok bool) {
	if mode == "none" {
		return 0, 1, true
	}
	mean, sd := meanSD(rows, values, stride, j)
	if mode == "full" {
		shift = mean
	}
	if sd == 0 {
		return shift, 1, false
	}
	return shift, sd, true
}

// meanSD computes mean and standard deviation (divisor n) of column j over
// rows in three passes: deviations are taken from a first mean, which is
// itself taken from the first value, so that an offset far larger than the
// spread costs no digits and a constant column has a deviation of exactly 0.
func meanSD(rows []int32, values []float64, stride, j int) (mean, sd float64) {
	if len(rows) == 0 {
		return 0, 0
	}
	n := float64(len(rows))
	first := values[int(rows[0])*stride+j]
	sum := 0.0
	for _, r := range rows {
		sum += values[int(r)*stride+j] - first
	}
	mean = first + sum/n
	rest, squares := 0.0, 0.0
	for _, r := range rows {
		e := values[int(r)*stride+j] - mean
		rest += e
		squares += e * e
	}
	mean += rest / n
	return mean, math.Sqrt(max(0, squares/n-(rest/n)*(rest/n)))
}

// X returns the standardised inputs of some rows of d, len(rows) x d.Dim.
func (s *Scaler) X(d *Dataset, rows []int32) []float64 {
	out := make([]float64, 0, len(rows)*d.Dim)
	for _, r := range rows {
		for j, v := range d.Row(int(r)) {
			out = append(out, (v-s.XShift[j])/s.XScale[j])
		}
	}
	return out
}

// Y returns the transformed and standardised targets of some rows of d.
func (s *Scaler) Y(d *Dataset, rows []int32) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = s.Target(d.Y[r])
	}
	return out
}

// Inputs standardises points, row-major, in data units.
func (s *Scaler) Inputs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = s.Input(i%len(s.XScale), v)
	}
	return out
}

// InputsBack maps standardised points back to data units.
func (s *Scaler) InputsBack(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = s.InputBack(i%len(s.XScale), v)
	}
	return out
}

// Input standardises a value of input j.
func (s *Scaler) Input(j int, v float64) float64 { return (v - s.XShift[j]) / s.XScale[j] }

// InputBack maps a standardised value of input j to data units.
func (s *Scaler) InputBack(j int, v float64) float64 { return v*s.XScale[j] + s.XShift[j] }

// Target transforms and standardises a target; ±∞ for one that cannot be
// transformed, see transform.Transform.Forward.
func (s *Scaler) Target(y float64) float64 { return (s.Transform.Forward(y) - s.YShift) / s.YScale }

// Value maps a standardised target, or a quantile of it, to data units. It is that
// of Target's inverse, and of a mean only where Linear says so.
func (s *Scaler) Value(z float64) float64 { return s.Transform.Back(z*s.YScale + s.YShift) }

// Linear returns the scale of the target and whether there is no transform, so that
// y = shift + scale·ỹ.
func (s *Scaler) Linear() (scale float64, ok bool) { return s.YScale, s.Transform.Identity() }

// LogSlope returns log dỹ/dy, with which the density of the standardised target
// becomes that of the target in data units:
//
//	log p(y) = log p̃(ỹ) + log t′(y) − log scale,
//
// −∞ where y cannot be transformed.
func (s *Scaler) LogSlope(y float64) float64 { return s.Transform.LogSlope(y) - math.Log(s.YScale) }

// Moments returns mean and variance in data units of a target that is normal with
// these when standardised.
func (s *Scaler) Moments(mean, variance float64) (m, v float64) {
	return s.Transform.Moments(mean*s.YScale+s.YShift, s.Variance(variance))
}

// Variance maps a variance, or covariance, of the standardised target to the units
// of t(y), which are the data's where there is no transform.
func (s *Scaler) Variance(v float64) float64 { return v * s.YScale * s.YScale }

// SD maps the standard deviation of a standardised target, or a part of it, to the
// units of t(y).
func (s *Scaler) SD(sd float64) float64 { return sd * s.YScale }

// SDs is SD of several, in place.
func (s *Scaler) SDs(sd []float64) {
	for i := range sd {
		sd[i] = s.SD(sd[i])
	}
}
