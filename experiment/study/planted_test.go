package study

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/random"
)

// tinyPlanted grows from two bases up to three leaves, on few rows.
func tinyPlanted(t *testing.T, set ...string) (*Planted, error) {
	t.Helper()
	var all []config.Override
	for _, s := range append([]string{"kernels.grow_leaves=3", "kernels.grow_live=6", "sparse.inducing=12", "schedule.evaluate_every=0.5",
		"schedule.refine=0", "optimise.starts=2", "posterior.samples=200"}, set...) {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		all = append(all, o)
	}
	return NewPlanted([]string{"SE", "LIN"}, Range{2, 3}, Range{40, 50}, all)
}

// The planted kernel is needed as it is, others train no more than they may, and what came
// is the same again.
func TestPlanted(t *testing.T) {
	thorough.Unraced(t)
	p, err := tinyPlanted(t)
	must.OK(t, err)
	row, err := p.Run(t.Context(), 3, 1)
	must.OK(t, err)
	e, err := kernelspace.Parse(row.Planted)
	must.OK(t, err)
	if n := e.NumLeaves(); n < 2 || n > 3 || row.Rows < 40 || row.Rows > 50 || row.Drawn < 1 || !(row.Needed >= nearNats) ||
		row.Failure != "" || row.Seed != 3 || row.Bases != "SE,LIN" {
		t.Errorf("%+v", *row)
	}
	leader, err := kernelspace.Parse(row.Leader)
	must.OK(t, err)
	if leader.NumLeaves() != row.LeaderLeaves || row.TriedThen < 1 || row.TriedThen > row.Tried ||
		int64(row.Tried) > p.grammar.Count().Int64() ||
		math.IsNaN(float64(row.Gap)) || row.Planted == row.Leader && (!row.Met || math.Abs(float64(row.Gap)) > 0.5) {
		t.Errorf("%+v", *row)
	}
	if row.Found() && (row.AsGood == "" || row.AsGoodThen < 1 || row.AsGoodThen > row.Tried) || !row.Found() && row.Met && row.AsGood == "" {
		t.Errorf("%q as good with kernel %d: %+v", row.AsGood, row.AsGoodThen, *row)
	}
	prior := p.grammar.LogPrior(e) - p.grammar.LogPrior(leader)
	if math.Abs(float64(row.PriorGap-row.Gap)-prior) > 1e-9 {
		t.Errorf("with the prior %v, without %v, and that is %v", row.PriorGap, row.Gap, prior)
	}
	var names []string
	for _, o := range row.Others {
		names = append(names, o.Name)
		if o.Trained < 1 || o.Trained > rivalShare*row.Then() {
			t.Errorf("%+v where growth tried %d", o, row.Then())
		}
	}
	if !reflect.DeepEqual(names, RivalNames()) {
		t.Errorf("others are %v", names)
	}
	again, err := p.Run(t.Context(), 3, 2)
	must.OK(t, err)
	again.CPU, again.CPUOthers = row.CPU, row.CPUOthers
	if !reflect.DeepEqual(again, row) {
		t.Errorf("not the same again: %+v, %+v", *again, *row)
	}
	p.Alone = true
	alone, err := p.Run(t.Context(), 3, 1)
	must.OK(t, err)
	if len(alone.Others) > 0 || alone.Gap != row.Gap || alone.Tried != row.Tried {
		t.Errorf("alone %+v", *alone)
	}
	p.Alone, p.most = false, 0
	if none, err := p.Run(t.Context(), 3, 1); err != nil || none.Failure != "of 0 kernels none is needed as it is" || none.Found() {
		t.Errorf("%+v, %v", none, err)
	}
	p.most = mostPlanted
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := p.Run(ctx, 3, 1); !errors.Is(err, cause) {
		t.Error(err)
	}
}

// A function that few inducing inputs do not resolve costs no kernel of another search its evidence: what it is
// searched to is its mode.
func TestRivalsResolveRoughFunctions(t *testing.T) {
	thorough.Unraced(t)
	p, err := NewPlanted([]string{"SE", "LIN"}, Range{2, 2}, Range{400, 400}, nil)
	must.OK(t, err)
	const n, waves = 400, 150
	rng := random.Stream(1, "rough", 0)
	e, err := kernelspace.Parse("SE")
	must.OK(t, err)
	s := &drawnSet{x: make([]float64, n), y: make([]float64, n), kernel: e}
	for i := range n {
		s.x[i] = halfRange * (2*float64(i)/(n-1) - 1)
		s.y[i] = 0.05 * rng.NormFloat64()
	}
	for range 60 {
		turns, phase := waves*rng.Float64(), rng.Float64()
		for i := range n {
			s.y[i] += math.Sin(2*math.Pi*(turns*float64(i)/(n-1)+phase)) / 5
		}
	}
	pl, err := p.plant(t.Context(), s, 1, 1)
	must.OK(t, err)
	defer pl.close()
	found, err := pl.search(t.Context(), []kernelspace.Expr{s.kernel}, nil)
	must.OK(t, err)
	before := found[0].nats
	must.OK(t, pl.climb(t.Context(), found[0]))
	if !(before > found[0].nats-1) {
		t.Errorf("SE was searched to %.1f nats, its mode has %.1f", before, found[0].nats)
	}
}

// Of more rows than growth has at first others' kernels are searched on as many as it is, and each has an evidence of all rows,
// which is that of its mode where it is not far behind.
func TestRivalsLearnOfSomeRows(t *testing.T) {
	thorough.Unraced(t)
	p, err := tinyPlanted(t, "sparse.inducing=auto", "sparse.compare_all=40", "kernels.grow_rows=25")
	must.OK(t, err)
	rng := random.Stream(1, "some rows", 0)
	s := &drawnSet{kernel: kernelspace.Sum(p.Bases...).Canonical()}
	for range 70 {
		x := halfRange * (2*rng.Float64() - 1)
		s.x, s.y = append(s.x, x), append(s.y, 2*math.Sin(4*x/halfRange)+x/halfRange+0.05*rng.NormFloat64())
	}
	pl, err := p.plant(t.Context(), s, 1, 1)
	must.OK(t, err)
	defer pl.close()
	if on := pl.subject.Settings.GrowRows(70); on != 25 {
		t.Fatalf("%d rows at first", on)
	}
	var space []kernelspace.Expr
	for _, text := range []string{"SE", "LIN", "LIN+SE", "LIN*SE", "LIN*LIN"} {
		e, err := kernelspace.Parse(text)
		must.OK(t, err)
		space = append(space, e.Canonical())
	}
	found, err := pl.train(t.Context(), space, nil)
	must.OK(t, err)
	best, climbed := math.Inf(-1), 0
	for _, k := range found {
		if math.IsNaN(k.nats) {
			t.Errorf("%s has no evidence", k.id)
		}
		best = math.Max(best, k.nats)
	}
	for _, k := range found {
		if k.climbed {
			climbed++
		} else if k.nats >= best-vbks.FarNats {
			t.Errorf("%s, %.1f nats behind, is as some rows have shown it", k.id, best-k.nats)
		}
		was := k.nats
		k.climbed = false
		must.OK(t, pl.climb(t.Context(), k))
		if k.nats > was+0.01 && was >= best-vbks.FarNats {
			t.Errorf("%s of all rows gains %.3f nats more", k.id, k.nats-was)
		}
	}
	if climbed < 2 || climbed == len(found) {
		t.Errorf("%d of %d are climbed on all rows", climbed, len(found))
	}
}

// What is known of a data set that was cut anywhere is not made again, and the row is the same.
func TestPlantedCourse(t *testing.T) {
	thorough.Unraced(t)
	p, err := tinyPlanted(t)
	must.OK(t, err)
	plain, err := p.Run(t.Context(), 3, 1)
	must.OK(t, err)
	same := func(row *PlantedRow) bool {
		with := *row
		with.CPU, with.CPUOthers = plain.CPU, plain.CPUOthers
		return reflect.DeepEqual(&with, plain)
	}
	dir := t.TempDir()
	in, err := inside.Open(dir)
	must.OK(t, err)
	defer in.Close()
	p.Table, err = OpenPlanted(in)
	must.OK(t, err)
	defer func() { must.OK(t, p.Table.Close()) }()
	row, err := p.Run(t.Context(), 3, 1)
	must.OK(t, err)
	name := filepath.Join(dir, "study-planted-3.csv")
	whole, err := os.ReadFile(name)
	must.OK(t, err)
	if !same(row) || bytes.Count(whole, []byte("\ntrained,")) < 2 || bytes.Count(whole, []byte(`""kernel""`)) < 4 {
		t.Fatalf("%+v, %s", *row, whole)
	}
	// What is trained is what is written behind what was there.
	steps := func(text []byte) (all []string) {
		for line := range strings.Lines(string(text)) {
			cpu := strings.Index(line, `""cpu""`)
			all = append(all, line[:max(cpu, 0)])
		}
		return all
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	state := filepath.Join(dir, "study-planted-3.npz")
	grown := 1 + slices.IndexFunc(lines, func(l []byte) bool { return bytes.HasPrefix(l, []byte("growth,")) })
	for _, keep := range []int{2, grown - 1, grown, grown + 2, len(lines) - 1} { // the second one: growth has ended, and its line is not there
		at := bytes.Join(lines[:keep], nil)
		if keep == 2 {
			must.OK(t, os.Remove(state))
		}
		must.OK(t, os.WriteFile(name, append(bytes.Clone(at), "trained,\"{torn"...), 0o644))
		if keep == len(lines)-1 {
			must.OK(t, os.WriteFile(name, at, 0o644))
		}
		row, err := p.Run(t.Context(), 3, 1)
		must.OK(t, err)
		after, err := os.ReadFile(name)
		must.OK(t, err)
		if !same(row) || !bytes.HasPrefix(after, at) || !slices.Equal(steps(after), steps(whole)) {
			t.Errorf("cut behind %d of %d lines: %+v, not %+v; %s", keep, len(lines)-1, *row, *plain, after)
		}
	}
	// Growth goes on behind the last evaluation that was kept, whose line may be there before what the trainer has learned.
	for _, torn := range []bool{false, true} {
		must.OK(t, os.Remove(state))
		must.OK(t, os.WriteFile(name, bytes.Join(lines[:2], nil), 0o644))
		var before []byte
		ctx, cancel := context.WithCancel(t.Context())
		p.Watch = func(_ uint64, s *GrownStep, _ int) {
			if s.Evaluation == 3 {
				before, err = os.ReadFile(state)
				must.OK(t, err)
				cancel()
			}
		}
		if _, err := p.Run(ctx, 3, 1); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if torn {
			must.OK(t, os.WriteFile(state, before, 0o644))
		}
		first := 0
		p.Watch = func(_ uint64, s *GrownStep, _ int) { first = cmp.Or(first, s.Evaluation) }
		row, err := p.Run(t.Context(), 3, 1)
		must.OK(t, err)
		if want := map[bool]int{false: 4, true: 3}[torn]; !same(row) || first != want {
			t.Errorf("goes on with evaluation %d, not %d: %+v, not %+v", first, want, *row, *plain)
		}
	}
	must.OK(t, os.WriteFile(name, bytes.Join(lines[:2], nil), 0o644))
	const other = "is of an evaluation that study-planted-3.csv does not have; remove "
	if _, err := p.Run(t.Context(), 3, 1); err == nil || !strings.Contains(err.Error(), other) {
		t.Error(err)
	}
	must.OK(t, os.WriteFile(state, []byte("torn"), 0o644))
	if _, err := p.Run(t.Context(), 3, 1); err == nil || !strings.Contains(err.Error(), "study-planted-3.npz") {
		t.Error(err)
	}
	must.OK(t, p.Table.Add(row))
	for _, kept := range []string{name, state} {
		if _, err := os.Stat(kept); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", kept, err)
		}
	}
	must.OK(t, os.WriteFile(name, []byte("step,value\nsung,{}\n"), 0o644))
	_, err = p.Run(t.Context(), 3, 1)
	if err == nil || !strings.Contains(err.Error(), "study-planted-3.csv is damaged: line 2: a step \"sung\" is not known") {
		t.Error(err)
	}
}

// A data set on which LIN is all that there is to know, with what others make of it.
func TestRivals(t *testing.T) {
	p, err := tinyPlanted(t)
	must.OK(t, err)
	of := plantingOf(t, p, func(x float64) float64 { return x/6 + math.Sin(x*x*7)/9 })
	lin, err := of.train(t.Context(), exprsOf(t, "LIN"), nil)
	must.OK(t, err)
	all := int(p.grammar.Count().Int64())
	for _, r := range of.rivals() {
		// Nothing is as good as a nat more than LIN: all that there is is tried, or all around the best.
		of.truth = lin[0].nats + 1000
		row, err := of.compete(t.Context(), r, 2*all)
		must.OK(t, err)
		if row.Found || row.Trained > all || r.name() != "cks" && row.Trained < all {
			t.Errorf("%+v of %d kernels", *row, all)
		}
	}
	// Distances are those of what has been chosen since, too.
	bo := of.rivals()[2].(*boRival)
	e := exprsOf(t, "SE", "LIN", "SE*SE")
	must.OK(t, bo.measure(t.Context(), e))
	bo.order = exprsOf(t, "LIN+LIN")
	must.OK(t, bo.measure(t.Context(), e[:1]))
	if d := bo.from(e[0]); len(d) != 1 || !(d[0] > 0) {
		t.Errorf("%v of SE from LIN+LIN", d)
	}
	for _, r := range of.rivals() {
		of.truth = lin[0].nats
		row, err := of.compete(t.Context(), r, 2*all)
		must.OK(t, err)
		if !row.Found || row.Trained > all {
			t.Errorf("%+v", *row)
		}
		if row, err = of.compete(t.Context(), &randomRival{of, random.Stream(1, "none", 0)}, 0); err != nil || row.Trained != 0 {
			t.Errorf("%+v, %v", *row, err)
		}
	}
	// Evidence is climbed: nothing near it is better.
	k := lin[0]
	must.OK(t, of.climb(t.Context(), k))
	for i := range k.free {
		for _, d := range []float64{-.05, .05} {
			at := append([]float64(nil), k.free...)
			at[i] += d
			if v, ok, err := k.kernel.At(at); err != nil || ok && v+k.volume > k.nats+1e-3 {
				t.Errorf("%v where %v is the top, %v", v+k.volume, k.nats, err)
			}
		}
	}
}

// What is climbed to from elsewhere has the volume of its own mode, not of that which had been searched:
//
//	log p(y,θ) + F/2 log 2π − ½ log|H|
func TestModesHaveTheirVolumes(t *testing.T) {
	p, err := tinyPlanted(t)
	must.OK(t, err)
	of := plantingOf(t, p, func(x float64) float64 { return math.Sin(x) + math.Sin(37*x*x)/9 })
	k := &trained{id: "SE", expr: exprsOf(t, "SE")[0], nats: -1e9, volume: 50, climbed: true}
	k.kernel, _, err = of.exact(k.expr)
	must.OK(t, err)
	must.OK(t, of.climbFrom(t.Context(), k, k.kernel.Free([]float64{1, 1}, 0.02)))
	const step = 1e-3
	f := len(k.free)
	at := func(i, j int, di, dj float64) float64 {
		x := slices.Clone(k.free)
		x[i] += di * step
		x[j] += dj * step
		v, ok, err := k.kernel.At(x)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return v
	}
	h := mat.NewSymDense(f, nil)
	for i := range f {
		for j := i; j < f; j++ {
			h.SetSym(i, j, -(at(i, j, 1, 1)-at(i, j, 1, -1)-at(i, j, -1, 1)+at(i, j, -1, -1))/(4*step*step))
		}
	}
	logDet, sign := mat.LogDet(h)
	want := at(0, 0, 0, 0) + float64(f)/2*math.Log(2*math.Pi) - logDet/2
	if sign != 1 || math.Abs(k.nats-want) > 0.02 {
		t.Errorf("%v with a volume of %v, want %v", k.nats, k.volume, want)
	}
	// Of modes, as searched, there is none.
	of.subject.Settings.Evidence = "mode"
	k.nats, k.volume = -1e9, 0
	must.OK(t, of.climbFrom(t.Context(), k, k.free))
	if k.volume != 0 || k.nats < at(0, 0, 0, 0) {
		t.Errorf("%v with a volume of %v where evidence is that of modes", k.nats, k.volume)
	}
}

// plantingOf is a data set of 40 values of a function.
func plantingOf(t *testing.T, p *Planted, f func(x float64) float64) *planting {
	t.Helper()
	s := &drawnSet{kernel: p.Bases[0]}
	for i := range 40 {
		x := float64(i-20) / 2
		s.x, s.y = append(s.x, x), append(s.y, f(x))
	}
	job, err := s.prepare(t.Context(), &p.Config, 1, 1)
	must.OK(t, err)
	t.Cleanup(func() { job.Close() })
	of := &planting{Planted: p, job: job, subject: job.Subject, seed: 1, trained: map[string]*trained{}, course: &course{}}
	of.judge, err = newJudge(&made{job: job})
	must.OK(t, err)
	return of
}

func exprsOf(t *testing.T, texts ...string) []kernelspace.Expr {
	t.Helper()
	all, err := config.ParseAll(texts)
	must.OK(t, err)
	for i := range all {
		all[i] = all[i].Canonical()
	}
	return all
}

// What a table holds comes back.
func TestPlantedTable(t *testing.T) {
	row := &PlantedRow{Bases: "=SE,LIN", Seed: 7, Rows: 600, Noise: .125, Drawn: 3, Needed: 4.5, Planted: "SE*LIN+SE",
		Leader: "SE+LIN", LeaderLeaves: 2, Gap: -.5, PriorGap: -3, Tried: 90, TriedThen: 40, AsGood: "SE*LIN", AsGoodThen: 35, Met: true, CPU: 12,
		CPUOthers: 90,
		Others:    []RivalRow{{"random", 70, false}, {"cks", 60, true}, {"bo", 70, true}}}
	nan := files.Number(math.NaN())
	broken := &PlantedRow{Bases: "=SE,LIN", Seed: 8, Planted: "SE", Gap: nan, PriorGap: nan, Failure: "no room"}
	dir := t.TempDir()
	in, err := inside.Open(dir)
	must.OK(t, err)
	defer in.Close()
	table, err := OpenPlanted(in)
	must.OK(t, err)
	must.OK(t, table.Add(row))
	must.OK(t, table.Add(broken))
	must.OK(t, table.Add(row))
	alone := *row
	alone.Seed, alone.Others, alone.CPUOthers = 9, nil, 0
	must.OK(t, table.Add(&alone))
	must.OK(t, table.Close())
	text, err := os.ReadFile(filepath.Join(dir, "study-planted.csv"))
	must.OK(t, err)
	if strings.Count(string(text), "\n") != 4 {
		t.Errorf("%s", text)
	}
	table, err = OpenPlanted(in)
	must.OK(t, err)
	defer table.Close()
	if got := table.Known(7); !reflect.DeepEqual(got, row) {
		t.Errorf("%+v", got)
	}
	if got := table.Known(8); got == nil || got.Failure != "no room" || !math.IsNaN(float64(got.Gap)) || table.Known(10) != nil {
		t.Errorf("%+v", got)
	}
	if got := table.Known(9); !reflect.DeepEqual(got, &alone) {
		t.Errorf("%+v", got)
	}
	s := SummarisePlanted("x", []*PlantedRow{row, broken})
	if s.Sets != 1 || s.Found != 1 || s.WithPrior != 1 || s.Met != 1 || s.Reached != 1 || s.Tried != 90 || s.TriedThen != 40 ||
		!reflect.DeepEqual(s.Others, []RivalSum{{"random", 0, 1}, {"cks", 1, 0}, {"bo", 1, 1}}) {
		t.Errorf("%+v", s)
	}
	if s.Listed != 1 || s.Leading != 1 { // SE*LIN+SE and SE+LIN, written in another order than K144 has them
		t.Errorf("%d planted kernels and %d leaders are in K144", s.Listed, s.Leading)
	}
	missed := *row
	missed.Gap = 1.5
	if s := SummarisePlanted("x", []*PlantedRow{&missed}); s.Found != 0 || s.Reached != 1 || missed.Then() != 35 { // tried, and another led
		t.Errorf("%+v", s)
	}
	missed.AsGood = ""
	if s := SummarisePlanted("x", []*PlantedRow{&missed}); s.Found != 0 || s.Others[0].Twice != 0 || s.WithPrior != 1 {
		t.Errorf("%+v", s)
	}
	if missed.Leader = missed.Planted; !missed.Found() {
		t.Error("the planted kernel leads, and is not found")
	}
	if broken.Found() {
		t.Errorf("%+v is found", *broken)
	}
}

func TestPlantedRefuses(t *testing.T) {
	for set, want := range map[string]string{
		"data.test=.1": "kernels are planted in data that are drawn", "kernels.set=K12": "kernels are planted", "seed=3": "kernels are planted",
		`optimise.fix={"SE.lengthscale"=1}`: "does not go with optimise.fix",
		"kernels.grow_leaves=2":             "kernels of 3 leaves where the space grows up to 2",
	} {
		if _, err := tinyPlanted(t, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", set, err)
		}
	}
	_, err := NewPlanted([]string{"SE"}, Range{2, 3}, Range{40, 2001}, nil)
	if err == nil || !strings.Contains(err.Error(), "of at most 2000") {
		t.Error(err)
	}
	_, err = NewPlanted([]string{"SE+LIN"}, Range{2, 3}, Range{40, 50}, nil)
	if err == nil || !strings.Contains(err.Error(), "is not a base kernel") {
		t.Error(err)
	}
	for _, text := range []string{"", "4", "0..3", "5..4", "1..13", "a..b"} {
		if _, err := ParseLeafRange(text); err == nil || !strings.Contains(err.Error(), "such as 4..6") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
