package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// However often points are merged, each holds the extremes and the last value
// of the evaluations that it stands for, and no evaluation is lost.
func TestNoSpikeIsLost(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 60 {
		h := &History{Capacity: 4 + rng.IntN(30)}
		n, kernels := 1+rng.IntN(900), 1+rng.IntN(4)
		raw := make([][][]float64, kernels) // by kernel and evaluation, those made of it by orders behind
		var rmse [][]float64
		for i := range n {
			values := make([]float64, kernels)
			draw := func() {
				for k := range values {
					values[k] = math.Ldexp(float64(rng.IntN(1<<20)), rng.IntN(30)-40) // exact in 32 bits
					if rng.IntN(10) == 0 {
						values[k] = math.NaN()
					}
				}
			}
			draw()
			h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(i+1, n, 1, values)})
			for k := range values {
				raw[k] = append(raw[k], []float64{values[k]})
			}
			for rng.IntN(8) == 0 { // revised, perhaps again
				draw()
				h.Apply(&record.Event{Type: record.EventPruned, Evaluation: recordtest.Evaluation(i+1, n, 1, values)})
				for k := range values {
					raw[k][i] = append(raw[k][i], values[k])
				}
			}
			rmse = append(rmse, []float64{rng.Float64()})
			h.Apply(&record.Event{Type: record.EventMetrics,
				Metrics: []record.Metric{{Evaluation: i + 1, Method: config.MethodAverage, RMSE: files.Number(rmse[i][0])}}})
			if len(h.Moments()) > h.Capacity {
				t.Fatalf("%d points of at most %d", len(h.Moments()), h.Capacity)
			}
		}
		check := func(what string, s Series, raw [][]float64) {
			t.Helper()
			next, seen := 1, 0 // seen: values of evaluation next − 1
			for i := range s.Len() {
				m := s.Moment(i)
				if m.Merged == 0 { // a point of its own for what an order made
					if m.First != next-1 || m.Index != next-1 || seen >= len(raw[next-2]) {
						t.Fatalf("trial %d: point %d revises %d to %d, after %d", trial, i, m.First, m.Index, next-1)
					}
					if v := raw[next-2][seen]; !recordtest.Same(s.Last(i), v) {
						t.Fatalf("trial %d: %s at %d: %v, want %v", trial, what, i, s.Last(i), v)
					}
					seen++
					continue
				}
				if m.First != next || m.Index < m.First || m.Merged != m.Index-m.First+1 {
					t.Fatalf("trial %d: point %d covers %d to %d (%d), after %d", trial, i, m.First, m.Index, m.Merged, next-1)
				}
				if next > 1 && seen != len(raw[next-2]) {
					t.Fatalf("trial %d: %d of the %d values of evaluation %d", trial, seen, len(raw[next-2]), next-1)
				}
				next = m.Index + 1
				part := slices.Concat(raw[m.First-1 : m.Index]...)
				seen = len(raw[m.Index-1])
				for k := i + 1; k < s.Len() && s.Moment(k).Merged == 0; k++ { // what follows is not in it
					part, seen = part[:len(part)-1], seen-1
				}
				lo, hi := s.At(i)
				wantLo, wantHi := recordtest.LeastAndGreatest(part)
				if !recordtest.Same(lo, wantLo) || !recordtest.Same(hi, wantHi) || !recordtest.Same(s.Last(i), part[len(part)-1]) {
					t.Fatalf("trial %d: %s at %d: %v, %v, last %v; want %v, %v, %v", trial, what, i, lo, hi, s.Last(i), wantLo, wantHi, part[len(part)-1])
				}
			}
			if next != n+1 {
				t.Fatalf("trial %d: %s ends at %d of %d", trial, what, next-1, n)
			}
		}
		for k := range kernels {
			check("posterior", h.Series(k, QuantityPosterior), raw[k])
			check("ELBO", h.Series(k, QuantityELBO), raw[k])
			for i, s := 0, h.Series(k, QuantityRank); i < s.Len(); i++ {
				if live := h.StatusAt(k, i) == vbks.Live; live == math.IsNaN(s.Last(i)) {
					t.Fatalf("trial %d: status %s, rank %v", trial, h.StatusAt(k, i), s.Last(i))
				}
			}
		}
		check("RMSE", h.MethodSeries(0, QuantityRMSE), rmse)
	}
}

// Merging keeps at least a quarter of the points that there is room for, and
// what comes in last is not merged.
func TestHistoryStaysFine(t *testing.T) {
	h := &History{Capacity: 64}
	for i := range 20_000 {
		h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(i+1, 20_000, 1, []float64{1})})
		m := h.Moments()
		if m[len(m)-1].Merged != 1 {
			t.Fatalf("evaluation %d was merged at once", i+1)
		}
		if i+1 > 64 && len(m) < 16 {
			t.Fatalf("%d points of %d evaluations", len(m), i+1)
		}
	}
	widest := slices.MaxFunc(h.Moments(), func(a, b Moment) int { return a.Merged - b.Merged }).Merged
	if widest > 20_000/16 {
		t.Errorf("a point holds %d of 20000 evaluations", widest)
	}
}

// 10,000 evaluations of 144 kernels, and many more, take about what 2,048 do, which are all that is kept one by one.
func TestHistoryMemory(t *testing.T) {
	thorough.Unraced(t)
	values := make([]float64, 144)
	for k := range values {
		values[k] = float64(k)
	}
	e := &record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(1, 20_000, 1, values)}
	before := heap()
	h := &History{}
	for i := range 20_000 {
		e.Evaluation.Index = i + 1
		next := *e.Evaluation
		h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: &next})
		if i+1 == 2048 || i+1 == 10_000 || i+1 == 20_000 {
			if used := heap() - before; used > 20 {
				t.Errorf("%d evaluations take %.0f MB", i+1, used)
			} else {
				t.Logf("%d evaluations take %.0f MB in %d points", i+1, used, len(h.Moments()))
			}
		}
	}
	s := h.Series(143, QuantityELBO)
	if n := testing.AllocsPerRun(10, func() {
		s = h.Series(7, QuantityGap)
		sum := 0.0
		for i := range s.Len() {
			lo, hi := s.At(i)
			sum += lo + hi + s.X(i, AxisSeconds)
		}
		values[0] = sum
	}); n != 0 {
		t.Errorf("drawing a series allocates %v times", n)
	}
}

// Kernels come to a space that grows, and go, at any time and more than once: whatever is
// merged, each point of a kernel holds what it had in the evaluations of that point.
func TestKernelsComeAndGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for trial := range 60 {
		h := &History{Capacity: 4 + rng.IntN(30)}
		n, kernels := 1+rng.IntN(400), 1+rng.IntN(12)
		often := rng.Float64() / 10
		there := make([]bool, kernels)
		raw := make([][]float64, kernels) // by kernel and evaluation, NaN where it was not there
		for i := range n {
			e := recordtest.Evaluation(i+1, n, 1, []float64{1}) // one stays
			e.Kernels[0].ID = "stays"
			for k := range kernels {
				if rng.Float64() < often {
					there[k] = !there[k]
				}
				v := math.NaN()
				if there[k] {
					v = float64(rng.IntN(1000))
					one := recordtest.Evaluation(i+1, n, 1, []float64{v}).Kernels[0]
					one.ID = fmt.Sprint(k)
					e.Kernels = append(e.Kernels, one)
				}
				raw[k] = append(raw[k], v)
			}
			h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: e})
		}
		for k := range kernels {
			at := h.Index(fmt.Sprint(k))
			if at < 0 {
				continue // it never came
			}
			for _, q := range []Quantity{QuantityPosterior, QuantityELBO} {
				s := h.Series(at, q)
				for i := range s.Len() {
					part := raw[k][s.Moment(i).First-1 : s.Moment(i).Index]
					lo, hi := s.At(i)
					wantLo, wantHi := recordtest.LeastAndGreatest(part)
					last := part[len(part)-1]
					if !recordtest.Same(lo, wantLo) || !recordtest.Same(hi, wantHi) || !recordtest.Same(s.Last(i), last) {
						t.Fatalf("trial %d, kernel %d, point %d: %v, %v, last %v; want those of %v", trial, k, i, lo, hi, s.Last(i), part)
					}
					if status := h.StatusAt(at, i); (status == "") != math.IsNaN(last) {
						t.Fatalf("trial %d, kernel %d, point %d: %q of %v", trial, k, i, status, part)
					}
				}
			}
		}
	}
}

// What is kept of a kernel that has gone is the time that it was there.
func TestHistoryMemoryOfKernelsThatWent(t *testing.T) {
	thorough.Unraced(t)
	const evaluations, stay = 10_000, 5
	began := heap()
	h := &History{}
	for i := range evaluations {
		e := recordtest.Evaluation(i+1, evaluations, 1, make([]float64, stay))
		for k := range e.Kernels { // one comes and one goes each time
			e.Kernels[k].ID = fmt.Sprint(i + k)
		}
		h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: e})
	}
	// Some hundred bytes of names and tracks, some of points; with all points it would be gigabytes.
	if used := heap() - began; used > evaluations*2e-3 {
		t.Errorf("%d kernels that came and went take %.0f MB", len(h.IDs()), used)
	} else {
		t.Logf("%d kernels that came and went take %.1f MB", len(h.IDs()), used)
	}
	runtime.KeepAlive(h)
}

// heap is what is in use, in MB.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// The axes, marks and log lines of a run in which everything happens.
func TestHistoryOfARun(t *testing.T) {
	nan := math.NaN()
	start := &record.Start{Name: "r", Data: &datasets.Summary{}, Kernels: []record.KernelInfo{{ID: "k0"}, {ID: "k1"}, {ID: "k2"}}}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var h History
	seconds := 0.0
	tell := func(e record.Event) {
		seconds++
		e.Seconds, e.Time = files.Number(seconds), began.Add(time.Duration(seconds)*time.Second)
		h.Apply(&e)
	}
	state := func(from, to record.State) {
		tell(record.Event{Type: record.EventState, State: &record.StateChange{From: from, To: to, Reason: "because"}})
	}
	metric := func(index int, rmse float64) {
		tell(record.Event{Type: record.EventMetrics, Metrics: []record.Metric{
			{Evaluation: index, Method: config.MethodAverage, RMSE: files.Number(rmse), Seconds: files.Number(seconds + 1)},
			{Evaluation: index, Method: config.MethodSingle, RMSE: files.Number(2 * rmse), Coverage95: 0.9},
		}})
	}
	tell(record.Event{Type: record.EventStarted, Start: start})
	if h.State != record.Ready || h.Rate() != 0 {
		t.Errorf("%s, %s each", h.State, h.Rate())
	}
	state(record.Ready, record.Running)
	tell(record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(1, 4, 0.5, []float64{3, 5, 4})}) // 3 s
	metric(1, 8)
	state(record.Running, record.Paused)
	state(record.Paused, record.Running)
	tell(record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(2, 4, 1, []float64{1, 2, 7})}) // 7 s
	// Two are left, the last one took 4 s, the one before 3. What is left becomes less with the time;
	// where one takes longer than was expected it stays what those behind it will take.
	for _, c := range []struct{ worked, within, want time.Duration }{{7, 0, 7}, {9, 0, 5}, {11, 0, 4}, {13, 0, 4}, {9, 5, 9}, {11, 2, 6}} {
		left, ok := h.Left(c.worked*time.Second, c.within*time.Second)
		if !ok || h.Rate() != 3500*time.Millisecond || left.Round(time.Second) != c.want*time.Second {
			t.Errorf("%d s worked: %s each, %s left, want %d s", c.worked, h.Rate(), left, c.want)
		}
	}
	metric(2, 6)
	tell(record.Event{Type: record.EventPruned, Evaluation: recordtest.Evaluation(2, 4, 1, []float64{1, nan, 7}), Kernels: []string{"k1"}})
	metric(2, 5)
	tell(record.Event{Type: record.EventReoptimised, Change: &vbks.Change{Rounds: 1}})
	tell(record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(3, 4, 1, []float64{9, nan, 8})})
	e := recordtest.Evaluation(4, 4, 1, []float64{nan, nan, 8})
	e.Kernels[0].Status, e.Kernels[0].Reason = vbks.Failed, "not positive definite"
	tell(record.Event{Type: record.EventEvaluation, Evaluation: e})
	tell(record.Event{Type: record.EventNotice, Notice: "kernel k0 failed: not positive definite", Kernel: "k0"})
	tell(record.Event{Type: record.EventNotice, Notice: "kernel choice is difficult"})
	state(record.Running, record.Failed)

	values := func(s Series) (out []float64) {
		for i := range s.Len() {
			lo, hi := s.At(i)
			if !recordtest.Same(lo, hi) || !recordtest.Same(lo, s.Last(i)) {
				t.Errorf("a single evaluation has %v to %v, last %v", lo, hi, s.Last(i))
			}
			out = append(out, lo)
		}
		return out
	}
	for _, c := range []struct {
		what string
		got  Series
		want []float64
	}{
		{"k1's posterior", h.Series(1, QuantityPosterior), []float64{5, 2, nan, nan, nan}},
		{"k1's gap", h.Series(1, QuantityGap), []float64{0, -5, nan, nan, nan}},
		{"k0's gap", h.Series(0, QuantityGap), []float64{-2, -6, -6, 0, nan}},
		{"k2's ELBO", h.Series(2, QuantityELBO), []float64{4, 7, 7, 8, 8}},
		{"k2's Bayes", h.Series(2, QuantityBayes), []float64{2, 3.5, 3.5, 4, 4}},
		{"k2's rank", h.Series(2, QuantityRank), []float64{2, 1, 1, 2, 1}},
		{"RMSE", h.MethodSeries(0, QuantityRMSE), []float64{8, 5}},
		{"RMSE of the best", h.MethodSeries(1, QuantityRMSE), []float64{16, 10}},
		{"coverage", h.MethodSeries(1, QuantityCoverage), []float64{0.9, 0.9}},
		{"no such", h.Series(0, QuantityRMSE), nil},
	} {
		if got := values(c.got); !slices.EqualFunc(got, c.want, recordtest.Same) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	s := h.Series(0, QuantityELBO)
	// What the pruning made of the second evaluation stands at its place.
	for i, want := range [][3]float64{{0.5, 3, 1}, {1, 7, 2}, {1, 9, 2}, {1.5, 12, 3}, {2, 13, 4}} {
		if got := [3]float64{s.X(i, AxisData), s.X(i, AxisSeconds), s.X(i, AxisEvaluation)}; got != want {
			t.Errorf("point %d stands at %v, want %v", i+1, got, want)
		}
	}
	if m := h.MethodSeries(0, QuantityRMSE); m.X(1, AxisData) != 1 || m.X(1, AxisSeconds) != 8 || m.Moment(1).Rows != 20 {
		t.Errorf("the last metric stands at %+v", m.Moment(1))
	}
	for label, got := range map[string]string{
		"50 %": h.Label(AxisData, 0.5), "100 %": h.Label(AxisData, 1), "+2": h.Label(AxisData, 2), "12.5 %": h.Label(AxisData, 0.125),
		"1m20s": h.Label(AxisSeconds, 80), "3": h.Label(AxisEvaluation, 3),
	} {
		if got != label {
			t.Errorf("label %q, want %q", got, label)
		}
	}
	var marks []string
	for _, m := range h.Marks() {
		marks = append(marks, fmt.Sprintf("%d %g %g %s", m.Index, m.Data, m.Seconds, m.Text))
	}
	if want := []string{"1 0.5 5 paused", "1 0.5 6 resumed", "2 1 9 pruned 1", "2 1 11 re-optimised", "4 2 16 failed"}; !slices.Equal(marks,
		want) {
		t.Errorf("marks %q", marks)
	}
	lines, dropped := h.Lines()
	var levels []string
	for _, l := range lines {
		levels = append(levels, string(l.Level)[:2])
	}
	if got := strings.Join(levels, " "); got != "st st ev ev st st ev ev ev ev st ev ev er no er" || dropped != 0 {
		t.Errorf("levels %s, %d dropped", got, dropped)
	}
	if lines[0].Time != began.Add(time.Second) || lines[15].Text != "failed: because" || lines[15].Seconds != 16 {
		t.Errorf("%+v ... %+v", lines[0], lines[15])
	}
	if got, want := h.Kernel(0), (KernelState{vbks.Failed, "not positive definite", 4}); got != want {
		t.Errorf("%+v", got)
	}
	if got, want := h.Kernel(1), (KernelState{vbks.Pruned, "asked for", 2}); got != want {
		t.Errorf("%+v", got)
	}
	if h.State != record.Failed || h.Reason != "because" || h.Made != 4 || h.Evaluation != e ||
		!reflect.DeepEqual(h.IDs(), []string{"k0", "k1", "k2"}) {
		t.Errorf("%+v", &h)
	}
	if _, ok := h.Left(0, time.Second); ok {
		t.Error("a failed run has time left")
	}
	if h.Index("k2") != 2 || h.Index("k9") != -1 {
		t.Error("Index")
	}
}

// A log without its beginning, and events without their content, are taken.
func TestHistoryOfAStrangeLog(t *testing.T) {
	h := &History{Capacity: 4}
	for _, what := range []record.EventType{record.EventStarted, record.EventState, record.EventNotice, record.EventEvaluation,
		record.EventMetrics, record.EventPruned, record.EventRestored, record.EventReoptimised, record.EventFinished, "future"} {
		h.Apply(&record.Event{Type: what})
	}
	if len(h.Moments()) != 0 {
		t.Errorf("%d points", len(h.Moments()))
	}
	for i := range 10 {
		h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(i+1, 20, 0.05, []float64{1, 2})})
	}
	h.Apply(&record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(11, 20, 0.05, []float64{1, 2, 3})})
	s := h.Series(2, QuantityPosterior)
	if s.Len() != len(h.Moments()) || s.Last(s.Len()-1) != 3 || !math.IsNaN(s.Last(0)) || h.StatusAt(2, 0) != "" {
		t.Errorf("a kernel that came late: %d points", s.Len())
	}
}

func TestJournalIsBounded(t *testing.T) {
	thorough.Unraced(t)
	var h History
	for i := range 11_000 {
		h.Apply(&record.Event{Type: record.EventNotice, Notice: fmt.Sprint(i) + strings.Repeat("é", i)})
	}
	lines, dropped := h.Lines()
	if len(lines) != 2000 || dropped != 9000 || !strings.HasPrefix(lines[0].Text, "9000é") || len(lines[0].Text) > 4200 ||
		len(h.lines.kept) > 4000 {
		t.Errorf("%d lines, %d dropped, the first is %.20s", len(lines), dropped, lines[0].Text)
	}
}

// The second evaluation of progress_test.go: 2m5s each.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		made    int
		each    time.Duration
	}{{250, 2, 125 * time.Second}, {0, 0, 0}, {3, 0, 0}, {4, 4, time.Second}} {
		if each := record.Pace(c.seconds, c.made); each != c.each {
			t.Errorf("%+v: %s", c, each)
		}
	}
}
