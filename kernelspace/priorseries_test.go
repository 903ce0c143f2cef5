package kernelspace

import (
	"math"
	"testing"
)

// atPrior are a program's raw parameters at the means of the priors of a series.
func atPrior(p *Program, s Scales) []float64 {
	raw := make([]float64, len(p.Params))
	for i := range raw {
		mean, _ := p.SeriesPrior(i, s) // 0 of fixed ones, which are 1
		raw[i] = math.Exp(mean)
	}
	return raw
}

// The priors of a series do not depend on the units: of inputs c times and targets d
// times as large the kernel at their means is d² times that at the inputs.
func TestSeriesPriorHasNoUnits(t *testing.T) {
	const c, d = 7.3, 0.21
	s := Scales{Span: []float64{3.4}, Spacing: []float64{0.05}, RMS: []float64{1}, YVar: 1.2, Seasons: []float64{0.4, 1.1, 1.7}}
	other := Scales{Span: []float64{3.4 * c}, Spacing: []float64{0.05 * c}, RMS: []float64{c}, YVar: 1.2 * d * d,
		Seasons: []float64{0.4 * c, 1.1 * c, 1.7 * c}}
	for _, set := range []string{"series", "series2", "series3"} {
		space, err := Set(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range space {
			p, err := Compile(e, Options{Dim: 1})
			if err != nil {
				t.Fatal(err)
			}
			raw, scaled := atPrior(p, s), atPrior(p, other)
			for i := range raw {
				_, sd := p.SeriesPrior(i, s)
				_, otherSD := p.SeriesPrior(i, other)
				if sd != otherSD || p.Params[i].Free && !(sd > 0 && sd < 5) {
					t.Errorf("%s: %s has sd %v and %v", e.ID(), p.Params[i].Name, sd, otherSD)
				}
			}
			for _, x := range [][2]float64{{-1.7, -1.7}, {-1.2, 0.4}, {1.1, 1.6}} {
				want := d * d * p.Eval(raw, x[:1], x[1:], false)
				got := p.Eval(scaled, []float64{c * x[0]}, []float64{c * x[1]}, false)
				if math.Abs(got-want) > 1e-9*math.Abs(want)+1e-15 {
					t.Errorf("%s at %v: %v, want %v", e.ID(), x, got, want)
				}
			}
		}
	}
}

// At the means of its prior a kernel of a series is about as large as the targets, and
// so is each level that is told by its sd: a walk's change over the range too.
func TestSeriesPriorIsOfTheDataSize(t *testing.T) {
	s := Scales{Span: []float64{3.4}, Spacing: []float64{0.05}, RMS: []float64{1}, YVar: 1}
	space, err := Set("series")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range space {
		p, err := Compile(e, Options{Dim: 1})
		if err != nil {
			t.Fatal(err)
		}
		raw := atPrior(p, s)
		first, last := []float64{-1.7}, []float64{1.7}
		// The variance of the change over the range, whatever the level.
		change := p.Eval(raw, first, first, false) + p.Eval(raw, last, last, false) - 2*p.Eval(raw, first, last, false)
		if !(change > 0.1 && change < 40) {
			t.Errorf("%s: the change over the range has sd %.3g", e.ID(), math.Sqrt(change))
		}
	}
}

// The calendar's seasons go to the leaves PER in their order; a week has its days; of
// more leaves than seasons nothing is known. A cycle comes before them, and less surely.
func TestSeasonsOfLeaves(t *testing.T) {
	day, week, year := 1., 7., 365.25
	for _, c := range []struct {
		kernel  string
		seasons []float64
		cycle   float64
		want    []float64
	}{
		{"RW+PER", []float64{day, week}, 0, []float64{week}},
		{"RW+PER", []float64{week, year}, 0, []float64{week}}, // a year is no week
		{"RW+PER", []float64{year}, 0, []float64{year}},
		{"PER*PER+RW", []float64{day, week, year}, 0, []float64{day, week}},
		{"PER*PER+PER+RW", []float64{day, week, year}, 0, []float64{day, week, year}},
		{"PER+PER+RW", []float64{year}, 0, nil},
		{"LIN+RW", []float64{year}, 0, nil},
		{"RW+PER", []float64{week}, 29.53, []float64{29.53}},
		{"PER*PER+RW", []float64{week}, 29.53, []float64{29.53, week}},
		{"PER*PER+RW", []float64{day, week}, 0.52, []float64{0.52, week}},
		{"PER*PER+PER+RW", []float64{day, week, year}, 0.52, []float64{0.52, day, week}},
		{"PER+PER+RW", nil, 29.53, nil},
	} {
		e, err := Parse(c.kernel)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(e.Canonical(), Options{Dim: 1})
		if err != nil {
			t.Fatal(err)
		}
		s := Scales{Span: []float64{2000}, Spacing: []float64{0.01}, RMS: []float64{500}, YVar: 1, Seasons: c.seasons, Cycle: c.cycle}
		got := p.Seasons(s)
		if len(got) != len(c.want) {
			t.Errorf("%s of %v: %v, want %v", c.kernel, c.seasons, got, c.want)
			continue
		}
		at := 0
		for i, q := range p.Params {
			if q.Name != namePeriod {
				continue
			}
			mean, sd := p.SeriesPrior(i, s)
			if c.want == nil {
				if sd < 1 {
					t.Errorf("%s of %v: a period is known to %v", c.kernel, c.seasons, sd)
				}
				continue
			}
			if got[at] != c.want[at] || math.Abs(math.Exp(mean)-c.want[at]) > 1e-9*c.want[at] || sd > 0.02 != (c.cycle > 0 && at == 0) {
				t.Errorf("%s of %v: %v, prior %v ± %v", c.kernel, c.seasons, got, math.Exp(mean), sd)
			}
			at++
		}
	}
}
