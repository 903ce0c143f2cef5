package datasets

import (
	"math"
	"math/rand/v2"
	"testing"
)

// offsetData has a first input near 1.7e9 (seconds since 1970), a constant
// one and one around 3.
func offsetData(n int) *Dataset {
	rng := rand.New(rand.NewPCG(3, 4))
	d := &Dataset{Name: "offset", Dim: 3, Inputs: []Column{{Name: "t"}, {Name: "c"}, {Name: "z"}}, Target: Column{Name: "y"}}
	for i := range n {
		d.X = append(d.X, 1.7e9+float64(i)*.5, 42.1, 3+rng.NormFloat64())
		d.Y = append(d.Y, 100+5*rng.NormFloat64())
		if i%3 != 0 {
			d.Train = append(d.Train, int32(i))
		} else {
			d.Test = append(d.Test, int32(i))
		}
	}
	return d
}

func TestScalerModes(t *testing.T) {
	d := offsetData(3000)
	for _, mode := range []string{"full", "scale", "none"} {
		s, err := NewScaler(d, Spec{StandardiseX: mode, StandardiseY: mode})
		if err != nil {
			t.Fatal(err)
		}
		x, y := s.X(d, d.Train), s.Y(d, d.Train)
		// Moments by plain sums of shifted values.
		for j := range d.Dim {
			mean, sq := 0.0, 0.0
			for i := range d.Train {
				mean += (x[i*3+j] - x[j]) / float64(len(d.Train))
			}
			for i := range d.Train {
				e := x[i*3+j] - x[j] - mean
				sq += e * e / float64(len(d.Train))
			}
			mean += x[j]
			if mode == "full" && math.Abs(mean) > 1e-9 {
				t.Errorf("full: input %d has mean %g", j, mean)
			}
			if mode != "none" && j != 1 && math.Abs(sq-1) > 1e-6 {
				t.Errorf("%s: input %d has variance %g", mode, j, sq)
			}
		}
		if mode != "full" && (s.XShift[0] != 0 || s.YShift != 0) {
			t.Errorf("%s shifts", mode)
		}
		if s.XScale[1] != 1 || (mode != "none") != (len(s.Notices) == 1) {
			t.Errorf("%s: constant input: scale %v, %q", mode, s.XScale[1], s.Notices)
		}
		// There and back.
		back := s.InputsBack(s.Inputs(d.X))
		for i, v := range back {
			if math.Abs(v-d.X[i]) > 4e-16*math.Abs(d.X[i]) {
				t.Fatalf("%s: %v comes back as %v", mode, d.X[i], v)
			}
		}
		for i, r := range d.Train {
			if math.Abs(s.Value(y[i])-d.Y[r]) > 1e-13 {
				t.Fatalf("%s: target %v comes back as %v", mode, d.Y[r], s.Value(y[i]))
			}
		}
	}
}

// TestScalerKeepsSmallSteps checks that half-second steps at 1.7e9 s survive.
func TestScalerKeepsSmallSteps(t *testing.T) {
	d := offsetData(3000)
	s, err := NewScaler(d, Spec{StandardiseX: "full", StandardiseY: "full"})
	if err != nil {
		t.Fatal(err)
	}
	// The sd of an even grid of every row but each third is that of the grid,
	// nearly: step·n/√12.
	if want := .5 * 3000 / math.Sqrt(12); math.Abs(s.XScale[0]/want-1) > 1e-3 {
		t.Errorf("sd %v, want about %v", s.XScale[0], want)
	}
	x := s.Inputs(d.X)
	for i := 3; i < len(x); i += 3 {
		if step := (x[i] - x[i-3]) * s.XScale[0]; math.Abs(step-.5) > 1e-9 {
			t.Fatalf("a step became %v", step)
		}
	}
}

// TestScalerPredictions checks the maps of predictions by their meaning: the
// moments and the density of y = shift + scale ỹ.
func TestScalerPredictions(t *testing.T) {
	d := offsetData(300)
	s, err := NewScaler(d, Spec{StandardiseX: "full", StandardiseY: "full"})
	if err != nil {
		t.Fatal(err)
	}
	m, sd := .3, .7
	if got, want := s.Variance(sd*sd), s.SD(sd)*s.SD(sd); math.Abs(got/want-1) > 1e-14 {
		t.Errorf("variance %v, sd² %v", got, want)
	}
	if got, want := s.SD(sd), s.Value(m+sd)-s.Value(m); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("sd %v, want %v", got, want)
	}
	normal := func(y, m, sd float64) float64 {
		return -.5*math.Log(2*math.Pi) - math.Log(sd) - .5*(y-m)*(y-m)/(sd*sd)
	}
	y := 107.0
	got, want := normal(s.Target(y), m, sd)+s.LogSlope(y), normal(y, s.Value(m), s.SD(sd))
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("log density %v, want %v", got, want)
	}
	c := []float64{sd}
	if s.SDs(c); c[0] != s.SD(sd) {
		t.Error("slices differ from single values")
	}
}

func TestScalerErrors(t *testing.T) {
	d := offsetData(30)
	if _, err := NewScaler(d, Spec{StandardiseX: "fully", StandardiseY: "full"}); err == nil ||
		err.Error() != `standardise_x = "fully": allowed are "full", "scale", "none"; did you mean "full"?` {
		t.Errorf("%v", err)
	}
	// Squares that are lost to rounding: 1e-300 is neither constant nor usable.
	for i, x := range []string{"target", "input"} {
		tiny := offsetData(30)
		values, stride, want := tiny.Y, 1, `offset: "y" goes from 2e-300 to 3e-299 only: too little to compute with; change its unit`
		if x == "input" {
			values, stride, want = tiny.X, tiny.Dim, `offset: "`+tiny.Inputs[0].Name+`" goes from 2e-300 to 3e-299 only: `+
				`too little to compute with; change its unit`
		}
		for j := range 30 {
			values[j*stride] = 1e-300 * float64(1+j)
		}
		if _, err := NewScaler(tiny, Spec{StandardiseX: []string{"full", "scale"}[i], StandardiseY: "full"}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", x, err, want)
		}
	}
	for i := range d.Y {
		d.Y[i] = 7
	}
	if _, err := NewScaler(d, Spec{StandardiseX: "full", StandardiseY: "full"}); err == nil ||
		err.Error() != `offset: the target "y" is 7 in every row: there is nothing to learn` {
		t.Errorf("%v", err)
	}
}
