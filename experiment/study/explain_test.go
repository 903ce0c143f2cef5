package study

import (
	"math"
	"testing"

	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/exact"
)

// smallRun is a run of three kernels on data of the second.
func smallRun(t *testing.T, set ...string) *made {
	t.Helper()
	set = append([]string{"kernels.expressions=SE,PER*LIN,SE+LIN", "data.kernel=LIN*PER", "seed=4"}, set...)
	m, err := makeRun(t.Context(), configtest.Small(t, set...), nil)
	must.OK(t, err)
	return m
}

// The exact gap is that of the leader to the truth: below 0 where the data prefer
// the truth, and there is none where that leads.
func TestExplain(t *testing.T) {
	m := smallRun(t)
	nan := files.Number(math.NaN())
	for _, c := range []struct {
		truth, leader string
		rank          int
		gap           files.Number
		want          func(gap float64) bool
	}{
		{"PER*LIN", "SE", 2, 8, func(gap float64) bool { return gap < -1 }},
		{"SE", "PER*LIN", 3, 8, func(gap float64) bool { return gap > 1 }},
		{"SE", "PER*LIN", 0, nan, func(gap float64) bool { return gap > 1 }},
		{"SE", "PER*LIN", 2, 0.5, math.IsNaN},
		{"SE", "SE", 1, 0, math.IsNaN},
		{"SE", "", 0, nan, math.IsNaN},
	} {
		s, r := &Case{Truth: c.truth}, &Row{Truth: c.truth, Leader: c.leader, Rank: c.rank, Gap: c.gap, ExactGap: nan}
		must.OK(t, s.explain(t.Context(), m, r))
		if gap := float64(r.ExactGap); !c.want(gap) || r.explained() != (gap > 1) {
			t.Errorf("%+v: exact gap %v, explained %v", c, gap, r.explained())
		}
	}
}

// What the data were drawn with is the same kernel in the standardised units.
func TestGenerating(t *testing.T) {
	for _, standardise := range []string{"none", "scale"} {
		m := smallRun(t, "data.standardise_x="+standardise, "data.standardise_y="+standardise, "optimise.theta_prior=false")
		d, s := m.job.Data, m.job.Scaler
		j, err := newJudge(m)
		must.OK(t, err)
		k, p, err := j.kernel(1)
		must.OK(t, err)
		free := j.generating(k, p)
		got, ok, err := k.At(free)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		// In the data's units, as the config writes it.
		e, err := kernelspace.Parse("LIN*PER")
		must.OK(t, err)
		written, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		must.OK(t, err)
		var x, y []float64
		for _, r := range d.Train {
			x, y = append(x, d.X[r]), append(y, d.Y[r])
		}
		rows, err := exact.New(cpu.New(cpu.Options{Lanes: 1}), x, y, 1, exact.Options{})
		must.OK(t, err)
		plain, err := rows.Kernel(written)
		must.OK(t, err)
		noise := math.Exp(free[len(free)-1]) * s.YScale * s.YScale
		want, ok, err := plain.At(plain.Free(d.Params, noise))
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		want += float64(len(y)) * math.Log(s.YScale)
		if math.Abs(got-want) > 1e-2 {
			t.Errorf("%s: %v, in the data's units %v", standardise, got, want)
		}
	}
}

// Leaves that the canonical order moves take their hyperparameters with them, and
// other kernels are not taken for the same.
func TestRelaid(t *testing.T) {
	compile := func(text string, canonical bool) *kernelspace.Program {
		e, err := kernelspace.Parse(text)
		must.OK(t, err)
		if canonical {
			e = e.Canonical()
		}
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		must.OK(t, err)
		return p
	}
	for _, text := range []string{"SE+PER", "SE*LIN+PER", "SE+SE*PER", "LIN*(SE+PER+RQ)", "PER*SE+PER"} {
		from, to := compile(text, false), compile(text, true)
		raw := make([]float64, len(from.Params))
		for i := range raw {
			raw[i] = 0.7 + 0.31*float64(i)
		}
		if got := relaid(from, raw, to); got == nil || !alike(from, raw, to, got) {
			t.Errorf("%s: %v", text, got)
		}
	}
	from := compile("SE+PER", false)
	for _, text := range []string{"SE*PER", "SE", "SE+LIN"} {
		if got := relaid(from, []float64{1, 2, 3, 4, 5}, compile(text, true)); got != nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// A true kernel that was left out has the gap of when it was last compared.
func TestLeftOut(t *testing.T) {
	s := madeUp(t)
	nan := math.NaN()
	out := func(e *record.Evaluation, status vbks.Status, reason string) *record.Evaluation {
		e.Kernels[3].Status, e.Kernels[3].Reason = status, reason
		return e
	}
	before := []*record.Evaluation{round(.5, 20, 0, 0, 1), round(1, 3, 0, 0, 2.5)}
	for _, c := range []struct {
		last          *record.Evaluation
		gap           float64
		within1, dead bool
	}{
		{out(round(1, 9, 0, 0, nan), vbks.Pruned, "left out at M = 128, where 3 are compared"), 0.5, true, false},
		{out(round(1, 9, 0, 0, nan), vbks.Failed, "broken"), nan, false, true},
		{out(round(1, 9, 0, 0, nan), vbks.Pruned, ""), nan, false, true},
	} {
		r := s.assess(append(before, c.last))
		if g := float64(r.Gap); g != c.gap && !(math.IsNaN(g) && math.IsNaN(c.gap)) || r.Rank != 0 || r.first(1) != c.within1 || r.first(0.1) ||
			!math.IsNaN(float64(r.ExactGap)) {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}
