package starts_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts/startstest"
)

// Of a solution that is flat along some columns each start is as long as the range of one of them, or
// a few times that, in all leaves that are flat along it, and as it was in everything else.
func TestReturn(t *testing.T) {
	g := startstest.NewGraft(t, 2, 2)
	const noise, far, near = 0.4, 5e3, 0.8
	for i, p := range g.Programs {
		for _, flat := range [][]int{nil, {0}, {1}, {0, 1}} {
			raw, want := make([]float64, len(p.Params)), map[int]bool{}
			for j, q := range p.Params {
				if raw[j] = 0.7; q.Name == "lengthscale" {
					raw[j] = near
				}
			}
			params.Settle(p, raw)
			for _, in := range params.Leaves(p) {
				for d := range in.NumScale {
					for _, c := range flat {
						if in.NumScale == 2 && in.Cols[d] == c {
							raw[in.Off+1+d] = far
							want[c] = want[c] || radial(in)
						}
					}
				}
			}
			got := g.Return(p, params.Free(p, raw, noise, g.Floor))
			columns := 0
			for c := range 2 {
				if want[c] {
					columns++
				}
			}
			if len(got) != 2*columns {
				t.Fatalf("%d, %s, flat along %v: %d starts", i, p.ID, flat, len(got))
			}
			for _, x := range got {
				v, left := params.Raw(p, x, g.Floor)
				if math.Abs(left-noise) > 1e-9 {
					t.Errorf("%s: noise %g", p.ID, left)
				}
				back := map[int]bool{}
				for _, in := range params.Leaves(p) {
					for d := range in.NumScale {
						if at := in.Off + 1 + d; math.Abs(v[at]/raw[at]-1) > 1e-9 {
							back[in.Cols[d]] = true
							if raw[at] != far || v[at] > far/100 || !radial(in) {
								t.Errorf("%s: a length of %g became %g", p.ID, raw[at], v[at])
							}
							v[at] = raw[at]
						} else if raw[at] == far && radial(in) && back[in.Cols[d]] {
							t.Errorf("%s: another leaf stays flat along %d", p.ID, in.Cols[d])
						}
					}
				}
				if len(back) != 1 {
					t.Errorf("%s: columns %v came back at once", p.ID, back)
				}
				for j := range v {
					if math.Abs(v[j]/raw[j]-1) > 1e-9 {
						t.Errorf("%s: %s became %g, was %g", p.ID, p.Params[j].Name, v[j], raw[j])
					}
				}
			}
		}
	}
}

// A length that is known stays, and one that is bounded does not come back beyond its bounds.
func TestReturnWithinBounds(t *testing.T) {
	g := startstest.NewGraft(t, 2, 2)
	const far = 5e3
	for what, c := range map[string]struct {
		known kernelspace.Known
		want  int
	}{
		"fixed":        {kernelspace.Known{How: kernelspace.Fixed, Value: far}, 0},
		"always long":  {kernelspace.Known{How: kernelspace.Bounded, Low: math.Log(100), High: math.Log(1e4)}, 0},
		"longer, too":  {kernelspace.Known{How: kernelspace.Bounded, Low: math.Log(10), High: math.Log(1e4)}, 2},
		"as it may be": {kernelspace.Known{How: kernelspace.Bounded, Low: math.Log(0.1), High: math.Log(1e4)}, 4},
	} {
		at := slices.IndexFunc(g.Programs, func(p *kernelspace.Program) bool {
			return strings.HasPrefix(p.ID, "SE") && len(params.Leaves(p)) == 1
		})
		p := know(t, g.Programs[at], map[string]kernelspace.Known{"SE.lengthscale": c.known})
		raw := make([]float64, len(p.Params))
		for j, q := range p.Params {
			if raw[j] = 0.7; q.Name == "lengthscale" {
				raw[j] = far
			}
		}
		if got := g.Return(p, params.Free(p, raw, 0.4, g.Floor)); len(got) != c.want {
			t.Errorf("%s, %s: %d starts, want %d", p.ID, what, len(got), c.want)
		}
	}
}
