package record

import (
	"math"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// Places are told in data units and read back; what an sd of the logarithm amounts to is
// the slope of the place by it.
func TestPlacesAreTold(t *testing.T) {
	for _, p := range []ParamInfo{
		{Name: "RW.origin", Shift: 1987.5, Scale: -11}, {Name: "CP#2.place", Shift: 1987.5, Scale: 11}, {Name: "CP.place", Scale: 0.3},
	} {
		for _, raw := range []float64{0.2, 1, 5.5} {
			v := p.InUnits(raw)
			if back := p.Standardised(v); math.Abs(back-raw) > 1e-12*raw {
				t.Errorf("%s: %g became %g", p.Name, raw, back)
			}
			const h, sd = 1e-5, 0.3
			slope := math.Abs(p.InUnits(raw*math.Exp(h))-p.InUnits(raw*math.Exp(-h))) / (2 * h)
			if factor, amount := p.Spread(v, sd); factor != 0 || math.Abs(amount-sd*slope) > 1e-6*slope {
				t.Errorf("%s at %g: ± %g, slope %g", p.Name, v, amount, slope)
			}
		}
	}
	length := ParamInfo{Name: "SE.lengthscale", Scale: 2}
	if factor, amount := length.Spread(3, 0.5); amount != 0 || factor != math.Exp(0.5) || length.Place() {
		t.Errorf("a length has %g, %g", factor, amount)
	}
}

// Intervals are told in data units, the lower end first: of an origin, which lies before the data, the ends change
// places. Of what is fixed there is none.
func TestIntervalsAreTold(t *testing.T) {
	s := &Start{Kernels: []KernelInfo{{ID: "RW+SE", Params: []ParamInfo{
		{Name: "RW.origin", Shift: 100, Scale: -10}, {Name: "SE.lengthscale", Scale: 2, Fixed: true}, {Name: "noise_variance", Scale: 4},
	}}}}
	e := s.Evaluation(&vbks.Evaluation{Kernels: []vbks.KernelResult{{ID: "RW+SE", Status: vbks.Live, Noise: 1, NoiseBetween: [2]float64{.5, 3},
		Params: []vbks.ParamValue{{Value: 2, Between: [2]float64{1, 5}}, {Value: 3}}}}}, 1)
	f := e.Kernels[0].Fit
	for i, want := range [][2]float64{{50, 90}, {math.NaN(), math.NaN()}, {2, 12}} {
		low, high, ok := f.Between(i)
		if known := !math.IsNaN(want[0]); ok != known || known && (low != want[0] || high != want[1]) {
			t.Errorf("%s between %g and %g (%v), want %v", s.Kernels[0].Params[i].Name, low, high, ok, want)
		}
	}
	if _, _, ok := f.Between(3); ok {
		t.Error("a fourth of three has an interval")
	}
	fixed := s.Evaluation(&vbks.Evaluation{Kernels: []vbks.KernelResult{{ID: "RW+SE", Status: vbks.Live, Noise: 1,
		NoiseBetween: [2]float64{1, 1}, Params: []vbks.ParamValue{{Value: 2, Between: [2]float64{1, 5}}, {Value: 3}}}}}, 1).Kernels[0].Fit
	if low, high, ok := fixed.Between(2); ok {
		t.Errorf("a noise that is fixed between %g and %g", low, high)
	}
	if _, _, ok := fixed.Between(0); !ok {
		t.Error("with a noise that is fixed nothing else has an interval")
	}
	none := s.Evaluation(&vbks.Evaluation{Kernels: []vbks.KernelResult{{ID: "RW+SE", Status: vbks.Live, Noise: 1,
		Params: []vbks.ParamValue{{Value: 2}, {Value: 3}}}}}, 1).Kernels[0].Fit
	if none.Low != nil || none.High != nil {
		t.Errorf("without draws: %v, %v", none.Low, none.High)
	}
}

func TestPlacesInWords(t *testing.T) {
	s := &Start{Data: &datasets.Summary{Columns: []datasets.ColumnSummary{
		{Name: "when", Unit: "d", Role: "input", First: "2024-01-01T00:00:00Z", Max: 400}, {Name: "y", Role: "target"},
	}}}
	p := &ParamInfo{Name: "CP.place", Column: "when", Unit: "d", Shift: 60, Scale: 100}
	v := p.InUnits(kernelspace.RawPlace(0.4))
	if got := s.InWords(p, v); got != "2024-04-10 00:00" {
		t.Errorf("%g is %q", v, got)
	}
	if got := s.InWords(&ParamInfo{Name: "CP.width", Unit: "d"}, 3); got != "3 days" {
		t.Errorf("a width is %q", got)
	}
}
