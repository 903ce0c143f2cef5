package starts_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
)

// Every period of one to eight cycles is tried, with the leaf as it was, smooth and sharp, and
// with another summand rough; what is known beforehand is left alone.
func TestScan(t *testing.T) {
	const n, span = 200, 10.0
	rng := rand.New(rand.NewPCG(5, 6))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = span * float64(i) / (n - 1)
		y[i] = rng.NormFloat64()
	}
	o := starts.Options{Inducing: 16, Floor: 1e-6, Scales: starts.Summarise(x, y, 1), Seed: 1}
	w := starts.NewDrawer(x, y, 1, o)
	compiled := func(text string) *kernelspace.Program {
		e, err := kernelspace.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := kernelspace.Compile(e.Canonical(), kernelspace.Options{Dim: 1})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if got := w.Scan(compiled("SE+LIN"), []float64{0, 0, 0, 0}); got != nil {
		t.Errorf("of a kernel without PER: %d starts", len(got))
	}
	for text, ways := range map[string]int{"PER": 3, "PER*LIN": 3, "PER*LIN+SE": 4, "PER+SE*RQ": 4} {
		p := compiled(text)
		free := w.Draw(p, rng, 1)
		had := 0.0 // cycles
		raw, _ := params.Raw(p, free, 1e-6)
		for i, in := range p.Params {
			if in.Name == "period" {
				had = span / raw[i]
			}
		}
		tried := map[int]int{} // by quarter cycles
		for _, v := range w.Scan(p, free) {
			raw, noise := params.Raw(p, v, 1e-6)
			for i, in := range p.Params {
				if !(raw[i] > 0) || math.IsInf(raw[i], 0) || !(noise > 0) {
					t.Fatalf("%s: %s.%s = %v, noise %v", text, in.Base, in.Name, raw[i], noise)
				}
				if in.Name == "period" {
					quarters := 4 * span / raw[i]
					if math.Abs(quarters-math.Round(quarters)) > 1e-6 {
						t.Errorf("%s: a period of %v", text, raw[i])
					}
					tried[int(math.Round(quarters))]++
				}
			}
		}
		for quarters := 4; quarters <= 32; quarters++ {
			want := ways
			if math.Abs(float64(quarters)/4-had) < 0.25 {
				want-- // with all else as it was it is what was there
			}
			if tried[quarters] != want {
				t.Errorf("%s: %g cycles tried %d times, want %d", text, float64(quarters)/4, tried[quarters], want)
			}
		}
		if len(tried) != 29 {
			t.Errorf("%s: %d periods", text, len(tried))
		}
	}
}
