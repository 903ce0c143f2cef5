package study

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/internal/must"
)

// tinyGaps is quick, with few rows and three kernels.
func tinyGaps(t *testing.T, set ...string) (*Gaps, error) {
	t.Helper()
	v, err := FindVariant("iii")
	must.OK(t, err)
	var all []config.Override
	for _, s := range append([]string{"data.outputs=50", "data.test=0", "kernels.expressions=SE,PER*LIN,(PER+RQ)*LIN", "sparse.inducing=7",
		"schedule.evaluate_every=1", "schedule.steps=1", "optimise.starts=1", "schedule.refine=0", "sparse.compare_all=0"}, set...) {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		all = append(all, o)
	}
	return NewGaps("quickstart", v, 3, all)
}

// The best known is never below what is reported, nor below what the exact evidence's
// judge finds for the hyperparameters that the data were drawn with; a search of one
// step is far from its own optimum and says so.
func TestGaps(t *testing.T) {
	g, err := tinyGaps(t)
	must.OK(t, err)
	rows, err := g.Run(t.Context(), 3)
	must.OK(t, err)
	if len(rows) != 3 {
		t.Fatal(rows)
	}
	far := 0
	for _, r := range rows {
		if r.Seed != 3 || r.Figure != "quickstart" || r.Gap() < 0 || r.Missing() < -1e-9 || r.Own < -1e-9 || r.Missing() < float64(r.Own)-1e-6 ||
			math.IsNaN(float64(r.ELBO)) || r.From == "" || r.CPU < 0 || r.CPUBest < 0 {
			t.Errorf("%+v", *r)
		}
		if r.Own > 0.1 && !r.Flagged {
			t.Errorf("%s is %v nats below its own optimum, without a mark; expected %v", r.Kernel, r.Own, r.Expected)
		}
		if r.Missing() > 1 {
			far++
		}
	}
	if far == 0 {
		t.Error("one start finds every optimum")
	}
	s := g.SummariseGaps(rows)
	if s.Kernels != 3 || s.Seeds != 1 || s.Without != 0 || math.Abs(float64(s.Gap)-rows[0].Gap()-rows[1].Gap()-rows[2].Gap()) > 1e-9 ||
		s.Unflagged != 0 || s.CPU != rows[0].CPU {
		t.Errorf("%+v", s)
	}
	again, err := g.Run(t.Context(), 3)
	must.OK(t, err)
	for i, r := range again {
		r.CPU, r.CPUBest = rows[i].CPU, rows[i].CPUBest
	}
	if !reflect.DeepEqual(again, rows) {
		t.Error("not the same again")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := g.Run(ctx, 3); !errors.Is(err, cause) {
		t.Error(err)
	}
}

// What a table holds comes back, seeds that are not whole do not.
func TestGapTable(t *testing.T) {
	g := &Gaps{Case: &Case{Figure: "f", Variant: Variant{Name: "i"}, Kernels: 2}}
	row := func(seed uint64, kernel string) *GapRow {
		return &GapRow{Variant: "i", Figure: "f", Seed: seed, Kernel: kernel, ELBO: -3.5, Best: -1, Searched: -3, BestSearched: -0.25,
			From: moreStarts, Expected: -1, Own: 0.5, Flagged: true, CPU: 1.5, CPUBest: 9}
	}
	none := row(7, "LIN")
	none.ELBO, none.Searched, none.Expected, none.Own = files.Number(math.NaN()), files.Number(math.NaN()), 0, 0
	dir := t.TempDir()
	in, err := inside.Open(dir)
	must.OK(t, err)
	defer in.Close()
	table, err := OpenGaps(in, g)
	must.OK(t, err)
	first, second := []*GapRow{row(7, "=SE"), none}, []*GapRow{row(8, "=SE"), row(8, "LIN")}
	must.OK(t, table.Add(first))
	must.OK(t, table.Add(second))
	must.OK(t, table.Close())
	name := filepath.Join(dir, "study-gaps-i-f.csv")
	text, err := os.ReadFile(name)
	must.OK(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	must.OK(t, os.WriteFile(name, []byte(strings.Join(lines[:4], "")), 0o600)) // one of two kernels of seed 8
	table, err = OpenGaps(in, g)
	must.OK(t, err)
	got := table.Known(7)
	if len(got) != 2 || !reflect.DeepEqual(got[0], first[0]) || !math.IsNaN(float64(got[1].ELBO)) || table.Known(8) != nil {
		t.Errorf("%+v, %v", got, table.Known(8))
	}
	must.OK(t, table.Add(second))
	must.OK(t, table.Close())
	if after, err := os.ReadFile(name); err != nil || string(after) != string(text) {
		t.Errorf("%v\n%s\nwant\n%s", err, after, text)
	}
	s := g.SummariseGaps(append(first, second...))
	if s.Without != 1 || s.Kernels != 4 || s.Gap != 7.5 || s.Far != 3 || s.Flagged != 3 || s.CPU != 3 {
		t.Errorf("%+v", s)
	}
}

func TestGapsAreOfPointEstimates(t *testing.T) {
	for set, want := range map[string]string{
		"sparse.inducing=auto":           "state it, --set sparse.inducing=32",
		"optimise.hyperparameters=full":  "gaps are of point estimates",
		"optimise.optimizer=natural":     "gaps are of point estimates",
		"kernels.expressions=SE,LIN*LIN": "is not among the 2 of the space",
	} {
		if _, err := tinyGaps(t, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", set, err)
		}
	}
}
