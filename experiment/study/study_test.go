package study

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

func TestParseSeeds(t *testing.T) {
	for _, c := range []struct {
		text string
		want []uint64
	}{
		{"1..4", []uint64{1, 2, 3, 4}},
		{"1,3,5", []uint64{1, 3, 5}},
		{"7", []uint64{7}},
		{"2..3, 9,3..4", []uint64{2, 3, 9, 4}},
		{"5..5", []uint64{5}},
	} {
		got, err := ParseSeeds(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
	for _, text := range []string{"", "3..1", "a", "1..", "..3", "-1", "1.5", "1,,2", "1..99999999999"} {
		if got, err := ParseSeeds(text); err == nil {
			t.Errorf("%q gives %v", text, got)
		}
	}
}

// Every variant fits every figure, and the user's settings come after it.
func TestVariants(t *testing.T) {
	for _, figure := range []string{"fig1a", "fig1b", "fig1c", "fig1d"} {
		plain, err := config.Load(figure, nil)
		must.OK(t, err)
		for _, v := range Variants() {
			s, err := NewCase(figure, v, nil)
			must.OK(t, err)
			c := s.Config
			noise, inducing := c.Data.Noise, c.Settings.Inducing
			switch v.Name {
			case "i":
				if noise != 0.1 || inducing != 0 {
					t.Errorf("i: noise %g, M = %d", noise, inducing)
				}
			case "ii":
				if noise != 0 || inducing != 64 {
					t.Errorf("ii: noise %g, M = %d", noise, inducing)
				}
			case "iii":
				if !reflect.DeepEqual(c, plain) || noise != 0 || inducing != 0 {
					t.Error("iii is not the config as it is")
				}
			case "paper":
				if noise != 0 || inducing != 16 || c.Settings.Optimizer != "adam" || c.Settings.EvidenceScale == 1 || c.Settings.Transplants {
					t.Errorf("paper: %+v", c.Settings)
				}
			}
			if v.Doc == "" {
				t.Errorf("%s is not explained", v.Name)
			}
		}
	}
	v, err := FindVariant("i")
	must.OK(t, err)
	s, err := NewCase("fig1a", v, []config.Override{{Key: "sparse.inducing", Value: "20"}})
	must.OK(t, err)
	if s.Config.Settings.Inducing != 20 || s.Config.Data.Noise != 0.1 || s.Truth != "PER*LIN*RQ" || s.Kernels != 12 {
		t.Errorf("%+v", s)
	}
	if _, err := FindVariant("iv"); err == nil || !strings.Contains(err.Error(), "i, ii, iii, paper") {
		t.Error(err)
	}
	if s, err = NewCase("fig1c", v, nil); err != nil || len(s.pairs) != 281 {
		t.Errorf("%d nested pairs in K144, %v", len(s.pairs), err)
	}
	if _, err := NewCase("fig1a", v, []config.Override{{Key: "kernels.expressions", Value: `["SE", "LIN"]`}}); err == nil ||
		!strings.Contains(err.Error(), "PER*LIN*RQ is not among the 2") {
		t.Error(err)
	}
	if _, err := NewCase("swissgrid-small", Variant{}, nil); err == nil || !strings.Contains(err.Error(), "true kernel is known") {
		t.Error(err)
	}
}

// madeUp is a case of SE, RQ, LIN+SE and LIN+RQ, of which the last is true.
// RQ ⊃ SE, LIN+SE ⊃ SE, LIN; LIN+RQ ⊃ LIN+SE, RQ, LIN: four pairs, for LIN is
// not in the space.
func madeUp(t *testing.T) *Case {
	t.Helper()
	s, err := NewCase("quickstart", Variant{Name: "v"}, []config.Override{
		{Key: "kernels.expressions", Value: `["SE", "RQ", "LIN+SE", "LIN+RQ"]`}, {Key: "data.kernel", Value: "RQ+LIN"},
	})
	must.OK(t, err)
	if len(s.pairs) != 4 {
		t.Fatalf("%d nested pairs", len(s.pairs))
	}
	return s
}

// round makes an evaluation from the ELBOs of SE, RQ, LIN+SE and LIN+RQ; ranks
// go by them, NaN is a failed kernel. q* is 0.4, 0.3, 0.2, 0.1 by rank.
func round(proportion float64, elbo ...float64) *record.Evaluation {
	e := &record.Evaluation{Proportion: proportion}
	for i, id := range []string{"SE", "RQ", "LIN+SE", "LIN+RQ"} {
		k := record.Kernel{ID: id, Status: vbks.Failed}
		if !math.IsNaN(elbo[i]) {
			rank := 1
			for _, other := range elbo {
				if other > elbo[i] {
					rank++
				}
			}
			k.Status = vbks.Live
			k.Fit = &record.Fit{ELBO: files.Number(elbo[i]), Rank: rank, Posterior: files.Number(0.5 - 0.1*float64(rank)),
				Bayes: files.Number(1 / float64(rank)), SE: files.Number(rank - 1)}
		}
		e.Kernels = append(e.Kernels, k)
	}
	return e
}

func at(p *float64) float64 {
	if p == nil {
		return -1
	}
	return *p
}

func TestAssess(t *testing.T) {
	s := madeUp(t)
	nan := math.NaN()
	for _, c := range []struct {
		name                          string
		rounds                        []*record.Evaluation
		rank                          int
		leader                        string
		gap                           float64
		tied                          bool
		leadFrom, firstAhead, earlyQ  float64
		violations, pairs, live       int
		first, within1, within3, dead bool
	}{
		{"leads, loses, leads for good", []*record.Evaluation{
			round(.05, 0, 0, 0.5, 1), round(.5, 9, 0, 0, 1), round(.7, 0, 0, 0, 2), round(1, 0, 0, 0, 3), round(1, 0, 0, 1, 4),
		}, 1, "LIN+RQ", 0, false, .7, .05, .4, 0, 4, 4, true, true, true, false},
		{"leads a tie", []*record.Evaluation{round(.2, 0, 0, 0, 1), round(1, 1, 2, 9.5, 10)}, 1, "LIN+RQ", 0, true, .2, .2, -1, 0, 4, 4, true,
			true, true, false},
		{"within a nat at the end", []*record.Evaluation{round(.1, 0, 0, 0, 1), round(1, 1, 2, 10, 9.25)}, 2, "LIN+SE", .75, true, -1, .1, .4,
			0, 4, 4, false, true, true, false},
		// SE is 17 above LIN+SE and 5 above RQ, LIN+SE 2 below LIN+RQ, RQ 10 above LIN+RQ.
		{"behind its special cases", []*record.Evaluation{round(.1, 0, 0, 0, -1), round(1, 20, 15, 3, 5)}, 3, "SE", 15, false, -1, -1, .4, 2, 4,
			4, false, false, false, false},
		{"near", []*record.Evaluation{round(1, 3, 0, 0, 1)}, 2, "SE", 2, false, -1, -1, -1, 0, 4, 4, false, false, true, false},
		{"failed", []*record.Evaluation{round(.5, 0, 0, 0, 1), round(1, 20, 1, 30, nan)}, 0, "LIN+SE", nan, false, -1, .5, -1, 1, 2, 3, false,
			false, false, true},
		{"nothing done", nil, 0, "", nan, false, -1, -1, -1, 0, 0, 0, false, false, false, true},
	} {
		r := s.assess(c.rounds)
		if r.Rank != c.rank || r.Leader != c.leader || r.Tied != c.tied || r.Violations != c.violations || r.Pairs != c.pairs ||
			len(r.ELBOs) != c.live {
			t.Errorf("%s: %+v", c.name, r)
		}
		if g := float64(r.Gap); g != c.gap && !(math.IsNaN(g) && math.IsNaN(c.gap)) {
			t.Errorf("%s: gap %v, want %v", c.name, g, c.gap)
		}
		if at(r.LeadFrom) != c.leadFrom || at(r.FirstAhead) != c.firstAhead || at(r.EarlyMax) != c.earlyQ {
			t.Errorf("%s: lead from %v, first ahead %v, early %v", c.name, at(r.LeadFrom), at(r.FirstAhead), at(r.EarlyMax))
		}
		if (r.Rank == 1) != c.first || r.first(1) != c.within1 || r.first(3) != c.within3 {
			t.Errorf("%s: first %v, within 1 %v, within 3 %v", c.name, r.Rank == 1, r.first(1), r.first(3))
		}
		if !c.dead && (float64(r.SE) != float64(c.rank-1) || float64(r.Bayes) != 1/float64(c.rank)) {
			t.Errorf("%s: se %v, Bayes %v", c.name, r.SE, r.Bayes)
		}
	}
}

func TestSummariseStudy(t *testing.T) {
	s := madeUp(t)
	early := []float64{.2, .6, .3}
	rows := []*Row{
		{Rank: 1, Pairs: 10, EarlyMax: &early[0], Seconds: 1},
		{Rank: 2, Gap: 0.5, Pairs: 10, Violations: 3, EarlyMax: &early[1], Seconds: 5},
		{Rank: 2, Gap: 2.5, Pairs: 20, Violations: 2, EarlyMax: &early[2], Seconds: 2},
		{Rank: 4, Gap: 9, Pairs: 10, Seconds: 3, ExactGap: 1.5},
		{Rank: 0, Gap: files.Number(math.NaN()), Seconds: 4, ExactGap: -2},
	}
	got := s.Summarise(rows)
	if got.Seeds != 5 || got.First != 1 || got.FirstOrEqual != 2 || got.Near != 3 || got.Explained != 1 || at(got.EarlyMax) != .6 ||
		got.Violations != 5 || got.Pairs != 50 || got.WorstShare != .3 || got.MedianSeconds != 3 {
		t.Errorf("%+v", got)
	}
	if want := "first or within 1 nat 2, within 3 nats 3, explained by exact evidence 1;"; !strings.Contains(got.String(), want) {
		t.Error(got)
	}
}

func TestCompareStarts(t *testing.T) {
	few := &Row{Seed: 3, Starts: 2, Leader: "SE", ELBOs: []KernelELBO{{"SE", 5}, {"RQ", 1}, {"LIN", 0}, {"PER", 8}}}
	more := &Row{Seed: 3, Starts: 16, Leader: "RQ", ELBOs: []KernelELBO{{"LIN", -1}, {"RQ", 7.5}, {"SE", 5.5}}}
	c := CompareStarts(few, more) // rises SE .5, RQ 6.5, LIN −1
	if c.Kernels != 3 || c.MedianRise != .5 || c.MostRise != 6.5 || c.MostKernel != "RQ" || !c.Changed || c.Starts != 2 || c.More != 16 ||
		c.Seed != 3 {
		t.Errorf("%+v", c)
	}
	same := CompareStarts(few, few)
	if same.Changed || same.MedianRise != 0 || same.MostRise != 0 || same.Kernels != 4 {
		t.Errorf("%+v", same)
	}
	none := CompareStarts(few, &Row{})
	s := madeUp(t).SummariseStarts([]*StartsComparison{c, same, none})
	// Of −1, 0, 0, 0, 0, .5, 6.5 the middle one is 0.
	if s.Seeds != 3 || s.MedianRise != 0 || s.MostMedian != .5 || s.MostRise != 6.5 || s.LeaderChanges != 2 {
		t.Errorf("%+v", s)
	}
}

// A row says the same as the run directory of the same config.
func TestStudyRun(t *testing.T) {
	config := configtest.Small(t, "kernels.expressions=SE,PER*LIN,SE+LIN", "data.kernel=PER*LIN", "seed=4")
	s := &Case{Variant: Variant{Name: "v"}, Figure: "f", Config: config, Truth: "PER*LIN"}
	s.Config.Settings.Seed, s.Config.Data.Seed = 1, 1
	row, err := s.Run(t.Context(), 4, 1, nil)
	must.OK(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	runtest.In(t, config, dir)
	table := filestest.ReadCSV(t, filepath.Join(dir, "posterior.csv"))
	last := table[len(table)-3:]
	if len(row.ELBOs) != 3 || row.Seed != 4 || row.Evaluations != (len(table)-1)/3 || !(row.Seconds > 0) || row.Failure != "" {
		t.Fatalf("%+v", row)
	}
	best, truth := "", ""
	for i, record := range last {
		if id, elbo := record[3], record[7]; row.ELBOs[i].ID != id || files.Number(row.ELBOs[i].ELBO).String() != elbo {
			t.Errorf("%+v, want %s %s", row.ELBOs[i], id, elbo)
		}
		if record[9] == "1" {
			best = record[7]
		}
		if record[3] == "PER*LIN" {
			truth = record[7]
			if row.Posterior.String() != record[5] || row.Bayes.String() != record[6] || row.SE.String() != record[8] ||
				strconv.Itoa(row.Rank) != record[9] {
				t.Errorf("%+v, want %v", row, record)
			}
		}
	}
	if a, b := parsed(t, best), parsed(t, truth); float64(row.Gap) != a-b {
		t.Errorf("gap %v, want %v", row.Gap, a-b)
	}

	many, err := s.Run(t.Context(), 4, 3, nil)
	must.OK(t, err)
	if many.Starts != 3*row.Starts || s.Config.Settings.Starts != row.Starts {
		t.Errorf("%d and %d starts", row.Starts, many.Starts)
	}
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	must.OK(t, err)
	return f
}

// A run that is cut short is no row.
func TestStudyRunCancelled(t *testing.T) {
	s := &Case{Config: configtest.Small(t), Truth: "SE"}
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	row, err := s.Run(ctx, 1, 1, record.RecorderFunc(func(e *record.Event) error {
		if e.Type == record.EventEvaluation {
			cancel(stop)
		}
		return nil
	}))
	if row != nil || !errors.Is(err, stop) {
		t.Errorf("%+v, %v", row, err)
	}
	if row, err = s.Run(ctx, 1, 1, nil); row != nil || !errors.Is(err, stop) {
		t.Errorf("%+v, %v", row, err)
	}
}
