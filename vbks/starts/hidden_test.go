package starts_test

import (
	"math"
	"slices"
	"testing"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
)

// With a part hidden a kernel is what it is without, and so for every part; what else was there
// stays, what is hidden is where the prior expects it.
func TestHidden(t *testing.T) {
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
	for text, want := range map[string][]string{ // the kernels that are left
		"SE":         nil,
		"LIN*LIN":    nil,
		"PER+SE":     {"PER", "SE"},
		"PER*SE":     {"PER", "SE"},
		"LIN*SE":     {"LIN"},
		"LIN*SE+PER": {"LIN*SE", "PER", "LIN+PER", "LIN"},
		"PER*SE+RQ":  {"PER*SE", "RQ", "PER+RQ", "SE+RQ"}, // of many parts one at a time
	} {
		p := compiled(text)
		f := len(p.Free) + 1
		x, mean, prec := make([]float64, f), make([]float64, f), make([]float64, f)
		for i := range f { // amplitudes of 1, lengths and periods of 2 and more
			mean[i], prec[i] = 0.3, 1.0/9
			if i < len(p.Free) && p.Params[p.Free[i]].Name != "variance" {
				x[i] = math.Log(2) + 0.2*float64(i)
			}
		}
		all := starts.Hidden(p, x, mean, prec)
		var got []string
		for _, y := range all {
			raw, _ := params.Raw(p, y, 0)
			matched := ""
			for _, rest := range want {
				q := compiled(rest)
				for _, of := range laid(p, q, x) {
					if near(p, raw, q, of) {
						matched = rest
					}
				}
			}
			got = append(got, matched)
			if y[f-1] != x[f-1] {
				t.Errorf("%s: the noise moves", text)
			}
			for i := range p.Free {
				if y[i] != x[i] && y[i] != mean[i] && math.Abs(math.Abs(y[i]-mean[i])-7.5) > 1e-12 {
					t.Errorf("%s: entry %d from %v to %v", text, i, x[i], y[i])
				}
			}
		}
		slices.Sort(got)
		sorted := slices.Sorted(slices.Values(want))
		if !slices.Equal(got, sorted) {
			t.Errorf("%s: what is left is %q, want %q", text, got, sorted)
		}
	}
	// What is known beforehand is not hidden.
	p := compiled("PER+SE")
	if got := starts.Hidden(p, make([]float64, len(p.Free)+1), make([]float64, len(p.Free)+1), make([]float64, len(p.Free)+1)); got != nil {
		t.Errorf("without priors: %d", len(got))
	}
}

// laid are the ways in which leaves of a kernel may be those of a smaller one.
func laid(p, q *kernelspace.Program, x []float64) (out [][]float64) {
	raw, _ := params.Raw(p, x, 0)
	ours, theirs := params.Leaves(q), params.Leaves(p)
	var place func(at int, so []float64, used []int)
	place = func(at int, so []float64, used []int) {
		if at == len(ours) {
			out = append(out, so)
			return
		}
		for i, in := range theirs {
			if in.Op == ours[at].Op && !slices.Contains(used, i) {
				place(at+1, append(slices.Clone(so), raw[in.Off:in.Off+in.NumParams()]...), append(slices.Clone(used), i))
			}
		}
	}
	place(0, nil, nil)
	return out
}

// near reports whether two kernels agree within a hundredth, but for an amplitude where that of a product was
// another factor's.
func near(p *kernelspace.Program, a []float64, q *kernelspace.Program, b []float64) bool {
	if len(b) != len(q.Params) {
		return false
	}
	for _, x := range []float64{-1, 0.3, 2} {
		for _, y := range []float64{-1.7, 0, 1} {
			v, w := p.Eval(a, []float64{x}, []float64{y}, false), q.Eval(b, []float64{x}, []float64{y}, false)
			if math.Abs(v-w) > 0.01*(1+math.Abs(w)) {
				return false
			}
		}
	}
	return true
}
