package transform

import (
	"math"
	"testing"
)

// Whatever the transform: it increases, leads back, and its slope is that of differences.
func FuzzTransform(f *testing.F) {
	for _, name := range []byte{0, 1, 2, 3} {
		f.Add(name, .3, 0., 1., .25, .75)
		f.Add(name, -1.5, -4., 9., 1e-3, 8.)
		f.Add(name, 0., 1e-9, 1e9, 1e-300, 1e300)
	}
	f.Fuzz(func(t *testing.T, name byte, lambda, low, high, a, b float64) {
		to := Transform{Name: Names()[int(name)%4]}
		switch to.Name {
		case BoxCox:
			to.Lambda = lambda
		case Logit:
			to.Low, to.High = low, high
		}
		if to.Check() != nil || !to.Takes(a) || !to.Takes(b) || math.Abs(to.Lambda) > 5 {
			return
		}
		if a > b {
			a, b = b, a
		}
		za, zb := to.Forward(a), to.Forward(b)
		if math.IsNaN(za) || math.IsNaN(zb) || za > zb {
			t.Fatalf("%+v: t(%v) = %v, t(%v) = %v", to, a, za, b, zb)
		}
		for _, y := range []float64{a, b} {
			z, slope := to.Forward(y), math.Exp(to.LogSlope(y))
			if math.IsInf(z, 0) || slope == 0 || math.IsInf(slope, 0) {
				continue
			}
			back := to.Back(z)
			if math.IsNaN(back) || back < a && to.Forward(back) > za+1e-9*(1+math.Abs(za)) {
				t.Fatalf("%+v: %v is led back to %v", to, y, back)
			}
			// Where t is steep a rounding of z moves y, where it is flat one of y moves z.
			near := math.Abs(back-y) <= 1e-9*(math.Abs(y)+math.Abs(to.High-to.Low))
			if !near && !(math.Abs(to.Forward(back)-z) <= 1e-9*(1+math.Abs(z))) {
				t.Errorf("%+v: %v is led back to %v", to, y, back)
			}
			if h := 1e-4 * math.Abs(y); slope*h > 1e-6*(1+math.Abs(z)) && to.Takes(y-h) && to.Takes(y+h) {
				if d := (to.Forward(y+h) - to.Forward(y-h)) / (2 * h); d > 1e3*slope+1 || slope > 1e3*d+1 {
					t.Errorf("%+v: the slope at %v is %v, differences %v", to, y, slope, d)
				}
			}
		}
	})
}
