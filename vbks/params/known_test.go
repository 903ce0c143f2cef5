package params

import (
	"math"
	"testing"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
)

// Free and Raw are each other's reverse where something is known, and what is fixed has
// no entry; priors are those that are stated, strides as long as without bounds.
func TestKnownInFreeVectors(t *testing.T) {
	// PER has variance, length scale and period, SE variance and length scale, then PER again.
	p := kernelspacetest.Program(t, "PER*SE+PER", kernelspace.Options{Dim: 1})
	known := make([]kernelspace.Known, len(p.Params)+1)
	known[1] = kernelspace.Known{How: kernelspace.Fixed, Value: 0.7}
	known[2] = kernelspace.Known{How: kernelspace.Bounded, Low: math.Log(0.2), High: math.Log(0.4)}
	known[4] = kernelspace.Known{How: kernelspace.Expected, Mean: 1, SD: 0.2}
	for _, noise := range []kernelspace.Known{{}, {How: kernelspace.Fixed, Value: 0.3}, {How: kernelspace.Bounded, Low: -3, High: -0.5}} {
		known[len(p.Params)] = noise
		q, err := p.Know(known)
		if err != nil {
			t.Fatal(err)
		}
		if len(q.Free) != len(p.Free)-1 {
			t.Fatalf("%d entries, %d where nothing is known", len(q.Free), len(p.Free))
		}
		raw := []float64{2, 5, 0.25, 1, 3, 1.5, 0.8, 0.25}
		x := Free(q, raw, 0.3, 1e-6)
		back, s2 := Raw(q, x, 1e-6)
		want := append([]float64(nil), raw...)
		want[1] = 0.7
		for i := range want {
			if math.Abs(back[i]-want[i]) > 1e-12*want[i] {
				t.Errorf("noise %v: parameter %d is %v, want %v", noise.How, i, back[i], want[i])
			}
		}
		if math.Abs(s2-0.3) > 1e-12 {
			t.Errorf("noise %v: %v, want 0.3", noise.How, s2)
		}
		s := kernelspace.Scales{Span: []float64{10}, Spacing: []float64{0.1}, YVar: 1}
		mean, sd, lo, hi := Prior(q, s, 1e-6)
		was, wide, _, _ := Prior(p, s, 1e-6)
		if mean[2] != 1 || sd[2] != 0.2 || lo[2] > -0.5 || hi[2] < 2.5 {
			t.Errorf("the stated prior is %v ± %v in %v to %v", mean[2], sd[2], lo[2], hi[2])
		}
		if mean[0] != was[0] || sd[0] != wide[0] || mean[3] != was[4] || sd[3] != wide[4] {
			t.Error("what nothing is known of has another prior")
		}
		// Half a cycle over the range, as a step of log p and as one of the entry.
		free := Free(p, raw, 0.3, 1e-6)
		plain, strides := Strides(p, free, s.Span), Strides(q, x, s.Span)
		_, slope := q.Params[2].Known.Log(x[1])
		if math.Abs(strides[1]*slope-plain[2]) > 1e-12 || strides[len(strides)-2] != plain[len(plain)-2] {
			t.Errorf("strides %v (slope %v), where nothing is known %v", strides, slope, plain)
		}
	}
}
