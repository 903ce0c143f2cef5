package starts_test

import (
	"math"
	"testing"

	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
)

// In a product the shorter of two periods moves by one or two lines of the longer one, 1/p ± h/P, and all else stays; there is nothing to
// move where periods are summands, or one stands alone.
func TestShiftMovesThePeriodByALine(t *testing.T) {
	programs, _ := compiled(t, "PER*PER*LIN+SE", "PER*LIN+PER")
	x, y := make([]float64, 50), make([]float64, 50)
	for i := range x {
		x[i] = float64(i)/2.5 - 10
	}
	w := starts.NewDrawer(x, y, 1, starts.Options{Floor: 1e-6, Scales: starts.Summarise(x, y, 1), Seed: 1})
	const longer, shorter, noise = 1.7, 0.2, 0.1
	raw := []float64{0.03, 0.1, longer, 1, 0.4, shorter, 1, 1, 0.5, 4}
	out := w.Shift(programs[0], params.Free(programs[0], raw, noise, 1e-6))
	if len(out) != 4 {
		t.Fatalf("%d starts", len(out))
	}
	seen := map[float64]bool{}
	for _, s := range out {
		v, s2 := params.Raw(programs[0], s, 1e-6)
		lines := (1/v[5] - 1/shorter) * longer
		if math.Abs(lines-math.Round(lines)) > 1e-9 || math.Abs(lines) < 0.5 || math.Abs(lines) > 2.5 || seen[math.Round(lines)] {
			t.Errorf("the period is %.4f, %.3g lines from %.1f", v[5], lines, shorter)
		}
		seen[math.Round(lines)] = true
		for i, was := range raw {
			if i != 5 && math.Abs(v[i]/was-1) > 1e-9 {
				t.Errorf("parameter %d is %g, was %g", i, v[i], was)
			}
		}
		if math.Abs(s2/noise-1) > 1e-9 {
			t.Errorf("the noise is %g", s2)
		}
	}
	alone := []float64{1, 0.4, shorter, 1, 1, 1, 0.4, longer}
	if out := w.Shift(programs[1], params.Free(programs[1], alone, noise, 1e-6)); len(out) > 0 {
		t.Errorf("%d starts of periods that are not factors", len(out))
	}
}
