package starts_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/periods"
	"example.com/kestrel/vbks/starts"
	"example.com/kestrel/vbks/starts/startstest"
)

// left is w.Left of covariances that are factorised entry by entry.
func left(t *testing.T, w *starts.Drawer, p *kernelspace.Program, x []float64, most int, faint bool) [][]float64 {
	t.Helper()
	out, err := w.Left(t.Context(), p, x, most, faint, startstest.Factor(t))
	must.OK(t, err)
	return out
}

// Of a solution whose periodic leaf has missed the period there are starts that have
// it, and one of them explains the data much better; kernels without PER have none.
func TestLeftHasTheMissedPeriod(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	const n, period, noise = 200, 0.37, 0.04
	var x, y []float64
	for range n {
		v := 20 * rng.Float64()
		x = append(x, v)
		y = append(y, 2*math.Sin(v/3)+0.3*math.Sin(2*math.Pi*v/period)+math.Sqrt(noise)*rng.NormFloat64())
	}
	scales := starts.Summarise(x, y, 1)
	w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: 32, Floor: 1e-6, Scales: scales, Seed: 1})
	programs, _ := compiled(t, "PER*SE+SE", "SE+SE")
	missed := params.Free(programs[0], []float64{0.1, 1, 4.1, 1, 20, 2, 3}, 0.08, 1e-6)
	all := left(t, w, programs[0], missed, 4, false)
	if len(all) == 0 {
		t.Fatal("no starts")
	}
	at := slices.IndexFunc(programs[0].Free, func(i int) bool { return programs[0].Params[i].Name == "period" })
	best, had := math.Inf(-1), evidence(t, programs[0], missed, x, y, 1e-6)
	for _, s := range all {
		if math.Abs(math.Exp(s[at])/period-1) < 0.01 {
			best = math.Max(best, evidence(t, programs[0], s, x, y, 1e-6))
		}
	}
	if !(best > had+20) {
		t.Errorf("log evidence %.1f with the period, %.1f without", best, had)
	}
	if s := left(t, w, programs[1], params.Free(programs[1], []float64{1, 3, 1, 0.5}, 0.1, 1e-6), 4, false); len(s) > 0 {
		t.Errorf("%d starts without PER", len(s))
	}
}

// A period that is told becomes that of the summands that are leaves PER, each for itself, with the mean square that it has:
// the rest of the kernel stays as it was. Factors do without, and what is known is heeded.
func TestRepeat(t *testing.T) {
	var x, y []float64
	for i := range 200 {
		x, y = append(x, float64(i)/10), append(y, math.Sin(float64(i)))
	}
	w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: 32, Floor: 1e-6, Scales: starts.Summarise(x, y, 1), Seed: 1})
	programs, _ := compiled(t, "PER+MATERN12", "PER*SE+MATERN12", "PER+PER+SE")
	raw := []float64{0.7, 0.8, 4.1, 0.9, 1.1}
	sine := []periods.Sinusoid{{Period: 0.62, Square: 0.02, Gain: 20, Harmonics: 1}}
	repeat := func(p *kernelspace.Program, raw []float64, found []periods.Sinusoid) (out [][]float64) {
		x := params.Free(p, raw, 0.1, 1e-6)
		for _, r := range w.Repeats(p, x) {
			if v, _ := params.Raw(p, r.Without, 1e-6); !slices.ContainsFunc(v, func(v float64) bool { return v < 1e-8 }) {
				t.Errorf("%s: without a summand %v", p.ID, v)
			}
			out = append(out, w.Repeat(p, x, r, found)...)
		}
		return out
	}
	all := repeat(programs[0], raw, sine)
	if len(all) != 2 {
		t.Fatalf("%d starts", len(all))
	}
	for _, s := range all {
		got, noise := params.Raw(programs[0], s, 1e-6)
		// Its first harmonic: what cos(2πr/p) has of k over a period.
		of := 0.0
		for i := range 100 {
			sin := math.Sin(math.Pi*float64(i)/100) / got[1]
			of += 2 * got[0] * math.Exp(-2*sin*sin) * math.Cos(2*math.Pi*float64(i)/100) / 100
		}
		if math.Abs(got[2]-0.62) > 1e-9 || math.Abs(of/0.02-1) > 0.2 {
			t.Errorf("%v: the first harmonic has %.4f of .02", got, of)
		}
		if math.Abs(got[3]-0.9) > 1e-9 || math.Abs(got[4]-1.1) > 1e-9 || math.Abs(noise-0.1) > 1e-9 {
			t.Errorf("%v, noise %v: the rest was changed", got, noise)
		}
	}
	comb := []periods.Sinusoid{{Period: 0.62, Square: 0.02, Gain: 20, Harmonics: 10}}
	for _, s := range repeat(programs[0], raw, comb) {
		if got, _ := params.Raw(programs[0], s, 1e-6); got[1] > 0.31 {
			t.Errorf("ten harmonics have a length of %v", got[1])
		}
	}
	if s := repeat(programs[1], []float64{0.7, 0.8, 4.1, 1, 2, 0.9, 1.1}, sine); len(s) > 0 {
		t.Errorf("%d starts of a product", len(s))
	}
	if s := repeat(programs[2], []float64{0.7, 0.8, 4.1, 0.7, 0.8, 3.3, 0.9, 1.1}, sine); len(s) != 4 {
		t.Errorf("%d starts of two summands", len(s))
	}
	for what, c := range map[string]struct {
		known kernelspace.Known
		want  int
	}{
		"fixed":     {kernelspace.Known{How: kernelspace.Fixed, Value: 4}, 0},
		"longer":    {kernelspace.Known{How: kernelspace.Bounded, Low: 0, High: 2}, 0},
		"as it may": {kernelspace.Known{How: kernelspace.Bounded, Low: -1, High: 2}, 2},
	} {
		p := know(t, programs[0], map[string]kernelspace.Known{"PER.period": c.known})
		if s := repeat(p, raw, sine); len(s) != c.want {
			t.Errorf("%s: %d starts, want %d", what, len(s), c.want)
		}
	}
	// Of a series leaves have the seasons of the calendar, where there are as many.
	for seasons, want := range map[int]int{0: 4, 1: 4, 2: 0} {
		scales := starts.Summarise(x, y, 1)
		scales.Seasons = []float64{7, 300}[:seasons]
		w = starts.NewDrawer(x, y, 1, starts.Options{Inducing: 32, Floor: 1e-6, Scales: scales, Seed: 1, Calendar: true})
		if s := repeat(programs[2], []float64{0.7, 0.8, 4.1, 0.7, 0.8, 3.3, 0.9, 1.1}, sine); len(s) != want {
			t.Errorf("%d starts of two summands where the calendar knows %d, want %d", len(s), seasons, want)
		}
	}
}

// A factor that changes another period a little leaves what repeats with sums and
// differences of both frequencies: there are starts that have its own.
func TestLeftHasTheFactorsPeriod(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	const n, noise, first, second = 240, 0.01, 0.3, 1.15
	var x, y []float64
	for range n {
		v := 20 * rng.Float64()
		x = append(x, v)
		y = append(y, math.Sin(2*math.Pi*v/first)*(1+0.3*math.Sin(2*math.Pi*v/second))+math.Sqrt(noise)*rng.NormFloat64())
	}
	scales := starts.Summarise(x, y, 1)
	w := starts.NewDrawer(x, y, 1, starts.Options{Inducing: 32, Floor: 1e-6, Scales: scales, Seed: 1})
	programs, _ := compiled(t, "PER*PER")
	missed := params.Free(programs[0], []float64{0.5, 1, first, 1, 40, 0.29}, 0.05, 1e-6)
	best, had := math.Inf(-1), evidence(t, programs[0], missed, x, y, 1e-6)
	for _, s := range left(t, w, programs[0], missed, 4, false) {
		raw, _ := params.Raw(programs[0], s, 1e-6)
		if math.Abs(raw[5]/second-1) < 0.01 {
			best = math.Max(best, evidence(t, programs[0], s, x, y, 1e-6))
		}
	}
	if !(best > had+20) {
		t.Errorf("log evidence %.1f with the factor's period, %.1f without", best, had)
	}
}

// A cousin's solution is taken over for what both have, and what the taker has besides
// changes little at first.
func TestCousins(t *testing.T) {
	g := startstest.NewGraft(t, 1, 1)
	programs, kin := compiled(t, "LIN*RQ+LIN", "PER*LIN*RQ", "SE", "PER+LIN*RQ+SE")
	for taker, parts := range map[int]map[int]string{
		0: {1: "LIN*RQ"},
		1: {0: "LIN*RQ"},
		2: {},
	} {
		got := map[int]string{}
		for _, r := range kin[taker] {
			if r.Kind == starts.Cousin {
				got[r.From] = r.Part
			}
		}
		for from, part := range parts {
			if got[from] != part {
				t.Errorf("%s of %s: %q", programs[taker].ID, programs[from].ID, got[from])
			}
		}
		if len(got) != len(parts) {
			t.Errorf("cousins of %s: %v", programs[taker].ID, got)
		}
	}
	at := slices.IndexFunc(kin[1], func(r starts.Relation) bool { return r.Kind == starts.Cousin && r.From == 0 })
	r := kin[1][at]
	raw := []float64{0.7, 1, 1, 1.3, 0.4, 1e-6, 1} // of LIN, RQ and a second LIN that is nearly nothing
	x := params.Free(programs[0], raw, 0.1, g.Floor)
	out := g.Transplant(r, programs[0], programs[1], x, nil, rand.New(rand.NewPCG(1, 1)))
	if len(out) < 2 {
		t.Fatalf("%d starts", len(out))
	}
	from, _ := params.Raw(programs[0], x, g.Floor)
	to, _ := params.Raw(programs[1], out[0], g.Floor)
	for i := 0; i < 100; i += 9 {
		for j := 0; j < 100; j += 11 {
			a := programs[0].Eval(from, g.Row(i), g.Row(j), false)
			b := programs[1].Eval(to, g.Row(i), g.Row(j), false)
			if math.Abs(a-b) > 0.01*(math.Abs(a)+0.1) {
				t.Fatalf("covariance of rows %d and %d: %.4g, then %.4g", i, j, a, b)
			}
		}
	}
}
