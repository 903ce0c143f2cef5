//go:build cuda

package cuda_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/vbks"
)

// TestSmallBelief: steps of q(log θ) made at once lead where the operations one by one lead, evaluation after
// evaluation, from the same draws: local ELBOs, means of hyperparameters and their deviations; by Adam and natural
// steps, with a diagonal and a full covariance, on two cards as on one. Several draws a step are left to the operations.
func TestSmallBelief(t *testing.T) {
	const steps = 60 // of each of two evaluations
	pretend(t, fake.Options{Cards: 2})
	one := func() *cuda.Device { return open(t, cuda.Options{Cards: []int{0}, Generate: cuda.GenerateNever}) }
	for _, optimizer := range []string{"natural", "adam"} {
		for _, belief := range []string{"diagonal", "full"} {
			if testing.Short() && (optimizer != "natural" || belief != "full") {
				continue
			}
			name := fmt.Sprint(optimizer, " ", belief)
			launched := func(dev device.Device, lane device.Lane, samples int) ([]vbks.Evaluation, int) {
				before := cuda.Launches(lane)
				es := evaluated(t, trainer(t, dev, optimizer, func(s *vbks.Settings) {
					s.Steps, s.Hyperparameters, s.ThetaSamples = steps, belief, samples
				}))
				return es, cuda.Launches(lane) - before
			}
			d := one()
			atOnce, few := launched(d, d.Lane(0), 1)
			oneByOne, many := launched(oneByOne{d}, d.Lane(0), 1)
			// A natural step is 11 launches, 47 and more where it moves θ; one of Adam is more than 37.
			if saved := many - few; saved < 2*steps*19 {
				t.Errorf("%s: %d launches, one by one %d", name, few, many)
			}
			worst := 0.0
			for i := range oneByOne {
				for k := range oneByOne[i].Kernels {
					g, w := atOnce[i].Kernels[k], oneByOne[i].Kernels[k]
					x, y := []float64{g.ELBO}, []float64{w.ELBO}
					for j, p := range w.Params {
						x, y = append(x, g.Params[j].Value, g.Params[j].SD), append(y, p.Value, p.SD)
						if p.Free && !(p.SD > 0) {
							t.Errorf("%s: %s has no deviation of %s", name, w.ID, p.Name)
						}
					}
					for j := range y {
						worst = math.Max(worst, math.Abs(x[j]-y[j])/math.Max(1, math.Abs(y[j])))
					}
				}
			}
			t.Logf("%s: %d launches, one by one %d, %.1e apart", name, few, many, worst)
			if !(worst < 1e-8) {
				t.Errorf("%s: %.1e apart", name, worst)
			}
			if testing.Short() {
				continue
			}
			_, left := launched(d, d.Lane(0), 2)
			if left < many {
				t.Errorf("%s: two draws a step are %d launches, one draw by operations %d", name, left, many)
			}
			both := open(t, cuda.Options{Generate: cuda.GenerateNever})
			two, _ := launched(both, both.Lane(0), 1)
			if !reflect.DeepEqual(two, atOnce) {
				t.Errorf("%s: other evaluations on two cards", name)
			}
		}
	}
}
