package starts_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/starts"
	"example.com/kestrel/vbks/starts/startstest"
)

// know states something of parameters by their base kernel and name, and of the noise.
func know(t *testing.T, p *kernelspace.Program, known map[string]kernelspace.Known) *kernelspace.Program {
	t.Helper()
	all := make([]kernelspace.Known, len(p.Params)+1)
	for i, q := range p.Params {
		if q.Free {
			all[i] = known[q.Base+"."+q.Name]
		}
	}
	all[len(p.Params)] = known["noise"]
	out, err := p.Know(all)
	must.OK(t, err)
	return out
}

// Starts of every kind, of kernels and their relatives, agree with what is known, and are
// not all at the edge of it.
func TestStartsAgreeWithWhatIsKnown(t *testing.T) {
	g := startstest.NewGraft(t, 2, 1)
	known := map[string]kernelspace.Known{
		"PER.period":      {How: kernelspace.Bounded, Low: math.Log(0.8), High: math.Log(1.2)},
		"PER.lengthscale": {How: kernelspace.Fixed, Value: 0.9},
		"RQ.alpha":        {How: kernelspace.Expected, Mean: math.Log(3), SD: 0.01},
		"SE.lengthscale":  {How: kernelspace.Bounded, Low: 3, High: 4},
		"noise":           {How: kernelspace.Bounded, Low: -4, High: -3},
	}
	for i, p := range g.Programs {
		g.Programs[i] = know(t, p, known)
	}
	kinds := map[string]map[int]bool{} // of the bounded ones, where between their bounds
	look := func(what string, k int, x []float64) {
		t.Helper()
		p := g.Programs[k]
		raw, noise := params.Raw(p, x, g.Floor)
		if l := math.Log(noise); l < -4 || l > -3 {
			t.Errorf("%s of %s: noise %v", what, p.ID, noise)
		}
		for i, q := range p.Params {
			name, v := q.Base+"."+q.Name, raw[i]
			kn := known[name]
			switch {
			case !q.Free:
			case kn.How == kernelspace.Fixed && v != kn.Value,
				what == "fresh" && kn.How == kernelspace.Expected && math.Abs(math.Log(v)-kn.Mean) > 0.1,
				kn.How == kernelspace.Bounded && (math.Log(v) < kn.Low || math.Log(v) > kn.High):
				t.Errorf("%s of %s: %s is %v", what, p.ID, name, v)
			case kn.How == kernelspace.Bounded:
				if kinds[name] == nil {
					kinds[name] = map[int]bool{}
				}
				kinds[name][int(5*(math.Log(v)-kn.Low)/(kn.High-kn.Low))] = true
			}
		}
	}
	rng := rand.New(rand.NewPCG(3, 3))
	var donors []starts.Donor
	for k, p := range g.Programs {
		for number := range 4 {
			x := g.Draw(p, rng, number)
			look("fresh", k, x)
			look("shaken", k, g.Shake(p, x, rng))
			for _, y := range g.Roughen(p, x) {
				look("rougher", k, y)
			}
			for _, y := range g.Wrap(p, x) {
				look("wrapped", k, y)
			}
			for _, y := range g.Fold(p, x) {
				look("folded", k, y)
			}
			for _, y := range left(t, g.Drawer, p, x, 4, false) {
				look("left", k, y)
			}
			raw, noise := params.Raw(p, x, g.Floor)
			donors = append(donors, starts.Donor{Program: p, Raw: raw, Noise: noise})
		}
	}
	for k, p := range g.Programs {
		look("recombined", k, g.Recombine(p, donors, rng))
		for _, r := range g.Kin[k] {
			for _, x := range g.Transplant(r, g.Programs[r.From], p, g.Draw(g.Programs[r.From], rng, 0), nil, rng) {
				look("transplanted", k, x)
			}
		}
	}
	for name, where := range kinds {
		if len(where) < 4 {
			t.Errorf("%s has been tried in %d fifths of its range", name, len(where))
		}
	}
}

// The first start of a bounded period is a candidate between the bounds, and what one leaf
// is fixed at is left to it.
func TestCandidatesBetweenBounds(t *testing.T) {
	const weekly, monthly = 0.7, 3.1
	rng := rand.New(rand.NewPCG(2, 9))
	var x, y []float64
	for i := range 400 {
		v := 31 * float64(i) / 400
		x = append(x, v)
		y = append(y, math.Sin(2*math.Pi*v/weekly)+2*math.Sin(2*math.Pi*v/monthly)+0.1*rng.NormFloat64())
	}
	w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: 64, Floor: 1e-6, Scales: starts.Summarise(x, y, 1), Seed: 1})
	programs, _ := compiled(t, "PER", "PER+PER")
	near := func(a, b float64) bool { return math.Abs(math.Log(a/b)) < 0.05 }
	p := know(t, programs[0], map[string]kernelspace.Known{
		"PER.period": {How: kernelspace.Bounded, Low: math.Log(0.5), High: math.Log(1)}})
	raw, _ := params.Raw(p, w.Draw(p, rng, 0), 1e-6)
	if !near(raw[2], weekly) {
		t.Errorf("between .5 and 1 the first start has the period %v, not %v", raw[2], weekly)
	}
	both := programs[1]
	known := make([]kernelspace.Known, len(both.Params)+1)
	at := slices.IndexFunc(both.Params, func(q kernelspace.Param) bool { return q.Name == "period" })
	known[at] = kernelspace.Known{How: kernelspace.Fixed, Value: monthly} // the strongest
	q, err := both.Know(known)
	must.OK(t, err)
	raw, _ = params.Raw(q, w.Draw(q, rng, 0), 1e-6)
	if raw[at] != monthly || !near(raw[at+3], weekly) {
		t.Errorf("beside a period fixed at %v the first start has %v, not %v", raw[at], raw[at+3], weekly)
	}
}
