package starts_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device/cpu"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/covariance"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
)

// Where one leaf PER explains by short details what a product of two was drawn as, one of the starts has both periods, is better
// as it is and among the best of them, also where that leaf stands beside the product, whose function it has then, and where
// another pair has been found.
func TestPairHasBothPeriods(t *testing.T) {
	const n, noise = 400, 0.02
	dev := cpu.New(cpu.Options{Lanes: 1})
	onDevice := func(x []float64, p *kernelspace.Program, raw []float64, noise float64) (*mat.TriDense, error) {
		return covariance.Factor(dev, dev.Lane(0), x, p, raw, noise)
	}
	const longer, shorter = 1.8, 1.8 / 13
	for _, c := range []struct {
		kernel   string
		of, with []float64 // drawn from, and a solution with one leaf
		at       int       // of the product's first length
	}{
		{"PER*PER+SE", []float64{1, 0.7, longer, 1, 0.8, shorter, 0.5, 4}, []float64{1, 20, 9, 1, 0.05, longer, 0.5, 4}, 1},
		{"PER*PER*MATERN32+SE", []float64{1, 0.7, longer, 1, 0.8, shorter, 1, 8, 0.5, 4}, []float64{1, 0.05, longer, 1, 11, 7, 1, 8, 0.5, 4}, 1},
		{
			"PER*PER+PER+SE", []float64{1, 0.7, longer, 1, 0.8, shorter, 0.8, 1, 0.47, 0.5, 4},
			[]float64{0.8, 1, 0.47, 1, 20, 5, 1, 0.05, longer, 0.5, 4}, 1,
		},
		{"PER*PER+SE", []float64{1, 0.7, longer, 1, 0.8, shorter, 0.5, 4}, []float64{1, 0.7, longer, 1, 0.8, longer / 12, 0.5, 4}, 1},
		{ // half of what both repeat within, a multiple of neither
			"PER*PER+SE", []float64{1, 0.3, longer, 1, 0.8, 3 * longer / 29, 0.5, 4}, []float64{1, 20, 9, 1, 0.03, 1.5 * longer, 0.5, 4}, 1,
		},
	} {
		rng := rand.New(rand.NewPCG(9, 1))
		programs, _ := compiled(t, c.kernel)
		p := programs[0]
		for trial := range 2 {
			x, y := drawn(t, rng, p, c.of, n, noise)
			w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: n, Floor: 1e-6, Scales: starts.Summarise(x, y, 1), Seed: 1})
			single := params.Free(p, c.with, noise, 1e-6)
			out, err := w.Pair(t.Context(), p, single, 24, onDevice)
			must.OK(t, err)
			had := evidence(t, p, single, x, y, 1e-6)
			right, above := math.Inf(-1), 0 // the best with both periods, and how many of others are better
			var values []float64
			for _, s := range out {
				v := evidence(t, p, s, x, y, 1e-6)
				raw, _ := params.Raw(p, s, 1e-6)
				if math.Abs(raw[c.at+1]/longer-1) < 0.02 && math.Abs(raw[c.at+4]/c.of[c.at+4]-1) < 0.02 {
					right = math.Max(right, v)
				} else {
					values = append(values, v)
				}
			}
			for _, v := range values {
				if v > right {
					above++
				}
			}
			text := fmt.Sprintf("%s, trial %d: of %d starts that with both periods has %.1f nats, %d above it, %.1f before",
				c.kernel, trial, len(out), right, above, had)
			t.Log(text)
			if !(right > had) || above > 3 { // four are followed
				t.Error(text)
			}
		}
	}
}
