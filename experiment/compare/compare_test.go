package compare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// compareIn runs a comparison and returns what it said.
func compareIn(ctx context.Context, t *testing.T, c config.Config, dir string, heard func(string)) (*Comparison, []string, error) {
	t.Helper()
	var said []string
	m, err := Begin(ctx, c, dir, Options{Say: func(line string) {
		said = append(said, line)
		if heard != nil {
			heard(line)
		}
	}})
	if err != nil {
		return nil, nil, err
	}
	defer func() { must.OK(t, m.Close()) }()
	r, err := m.Run(ctx)
	return r, said, err
}

// trainings counts the lines that tell of a kernel trained alone.
func trainings(said []string) (n int) {
	for _, line := range said {
		if strings.Contains(line, ": trained ") {
			n++
		}
	}
	return n
}

func tablesOf(t *testing.T, dir string) (texts [3]string) {
	t.Helper()
	for i, name := range []string{record.MetricsFile, record.FinalsFile, record.RunTableFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		must.OK(t, err)
		texts[i] = string(text)
	}
	return texts
}

// A comparison of all methods: what its tables say is what the runs in its
// directory say, nothing is done twice, and it makes the same tables again.
func TestComparison(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	c := configtest.Compared(t)
	r, said, err := compareIn(t.Context(), t, c, dir, nil)
	must.OK(t, err)
	count := map[string]int{}
	for i := range r.Runs {
		run := &r.Runs[i]
		count[run.Method]++
		if run.Final() == nil || !(run.Final().RMSE > 0) {
			t.Fatalf("%s, run %d has predicted nothing", run.Method, run.Run)
		}
		for k, m := range run.Metrics {
			if m.Method != run.Method || k > 0 && m.Seconds < run.Metrics[k-1].Seconds {
				t.Errorf("%s, run %d: row %d is %+v", run.Method, run.Run, k, m)
			}
		}
		if (run.Method == config.MethodBO || run.Method == config.MethodCKS) && run.Trained != 6 {
			t.Errorf("%s trained %d kernels with a budget of 6", run.Method, run.Trained)
		}
	}
	if want := map[string]int{config.MethodAverage: 2, config.MethodSingle: 2, config.MethodPrune: 2, config.MethodRandom: 5,
		config.MethodBO: 2, config.MethodCKS: 2}; !reflect.DeepEqual(count, want) {
		t.Errorf("runs: %v", count)
	}
	// Kernels are trained once for all methods.
	folders, err := filepath.Glob(filepath.Join(dir, kernelsDir, "*", "*"))
	must.OK(t, err)
	if n := trainings(said); n != len(folders) || n > 2*7+2*6 {
		t.Errorf("%d trainings, %d folders", n, len(folders))
	}
	// VBKS: the last rows of the run's own metrics.csv.
	own, err := filestest.ReadTable(filepath.Join(dir, config.MethodAverage, "1", record.MetricsFile))
	must.OK(t, err)
	for i := range own.Rows {
		if m := own.Text(i, "method"); i >= len(own.Rows)-2 {
			run := r.Runs[slices.IndexFunc(r.Runs, func(x MethodRun) bool { return x.Method == m && x.Run == 1 })]
			if run.Final().RMSE.String() != own.Text(i, "rmse") || run.Final().Seconds.String() != own.Text(i, "seconds") {
				t.Errorf("%s: %+v, the run says %v", m, run.Final(), own.Rows[i])
			}
		}
	}
	// A search predicts with the best of what it trained.
	for _, run := range r.Runs {
		if run.Method != config.MethodBO {
			continue
		}
		steps, err := filestest.ReadTable(filepath.Join(dir, config.MethodBO, fmt.Sprint(run.Seed), "search.csv"))
		must.OK(t, err)
		best, sum := 0, 0.0
		for i := range steps.Rows {
			if steps.Number(i, "local_elbo") > steps.Number(best, "local_elbo") {
				best = i
			}
			sum += steps.Number(i, "choosing_seconds") + steps.Number(i, "training_seconds")
		}
		single, err := filestest.ReadTable(filepath.Join(dir, kernelsDir, fmt.Sprint(run.Seed), kernelFolder(steps.Text(best, "kernel_id")),
			record.MetricsFile))
		must.OK(t, err)
		if last := len(single.Rows) - 1; run.Kernel != steps.Text(best, "kernel_id") || run.Final().RMSE.String() != single.Text(last, "rmse") {
			t.Errorf("bo: %s with %v, the best is %s with %s", run.Kernel, run.Final().RMSE, steps.Text(best, "kernel_id"),
				single.Text(last, "rmse"))
		}
		if math.Abs(float64(run.Final().Seconds)-sum) > 1e-9 {
			t.Errorf("bo took %v s, its steps %v", run.Final().Seconds, sum)
		}
	}
	before := tablesOf(t, dir)
	for _, name := range []string{record.MetricsFile, record.FinalsFile, record.RunTableFile} {
		must.OK(t, os.Remove(filepath.Join(dir, name)))
	}
	_, said, err = compareIn(t.Context(), t, c, dir, nil)
	must.OK(t, err)
	if len(said) > 0 || tablesOf(t, dir) != before {
		t.Errorf("done again: %q, tables equal: %v", said, tablesOf(t, dir) == before)
	}
	read, err := Read(dir)
	must.OK(t, err)
	if !reflect.DeepEqual(read.Runs, r.Runs) {
		t.Error("what is read is not what was written")
	}
	checkRunTable(t, dir, r)
	for _, x := range []struct{ set, want string }{
		{"schedule.steps=7", "was begun with schedule.steps = 4, now it is 7; choose another directory"},
		{"compare.rows=21", "was begun with compare.rows = 20, now it is 21"},
		{"seed=9", "was begun with seed = 1, now it is 9"},
	} {
		if _, _, err := compareIn(t.Context(), t, configtest.Compared(t, x.set), dir, nil); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", x.set, err)
		}
	}
	// More runs and another method list go on from what is there.
	_, said, err = compareIn(t.Context(), t, configtest.Compared(t, "compare.methods=vbks,random", "compare.runs=3",
		"compare.random_runs=6"), dir, nil)
	must.OK(t, err)
	if !slices.Contains(said, "vbks, run 3, seed 3") || slices.Contains(said, "vbks, run 2, seed 2") || trainings(said) > 1 {
		t.Errorf("going on: %q", said)
	}
}

// checkRunTable compares table.csv with means and deviations computed anew.
func checkRunTable(t *testing.T, dir string, c *Comparison) {
	t.Helper()
	table, err := filestest.ReadTable(filepath.Join(dir, record.RunTableFile))
	must.OK(t, err)
	for _, method := range c.Config.Compare.Methods {
		sum, squares, n := 0.0, 0.0, 0.0
		for i := range table.Rows[:len(table.Rows)-2] {
			if table.Text(i, method) != "" {
				sum += table.Number(i, method)
				n++
			}
		}
		for i := range table.Rows[:len(table.Rows)-2] {
			if table.Text(i, method) != "" {
				squares += math.Pow(table.Number(i, method)-sum/n, 2)
			}
		}
		mean, sd := table.Number(len(table.Rows)-2, method), table.Number(len(table.Rows)-1, method)
		if math.Abs(mean-sum/n) > 1e-12*sum || math.Abs(sd-math.Sqrt(squares/(n-1))) > 1e-12*sum {
			t.Errorf("%s: mean %v, sd %v", method, mean, sd)
		}
	}
	must.OK(t, table.Err)
}

// Stopped at any place and continued, a comparison chooses and finds the same as
// one that was never stopped.
func TestComparisonGoesOn(t *testing.T) {
	thorough.Unraced(t)
	c := configtest.Compared(t, "compare.runs=1", "compare.random_runs=2")
	whole := filepath.Join(t.TempDir(), "whole")
	want, lines, err := compareIn(t.Context(), t, c, whole, nil)
	must.OK(t, err)
	stopped := filepath.Join(t.TempDir(), "stopped")
	over := errors.New("over")
	for try := 0; ; try++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		heard := 0
		got, _, err := compareIn(ctx, t, c, stopped, func(line string) {
			if strings.HasPrefix(line, "goes on where it was cut: ") { // before any work
				return
			}
			if heard++; heard == 2 {
				cancel(over)
			}
		})
		cancel(nil)
		if err == nil {
			if try < 2 {
				t.Errorf("it was stopped %d times only", try)
			}
			for i := range want.Runs {
				a, b := want.Runs[i], got.Runs[i]
				if a.Method != b.Method || a.Kernel != b.Kernel || a.Final().RMSE != b.Final().RMSE || len(a.Metrics) != len(b.Metrics) {
					t.Errorf("%s ended with %s, RMSE %v; in one go %s, %v", b.Method, b.Kernel, b.Final().RMSE, a.Kernel, a.Final().RMSE)
				}
			}
			break
		}
		if !errors.Is(err, over) || try > len(lines) {
			t.Fatal(err)
		}
	}
	// Times are those of the first time: another look makes the same tables.
	before := tablesOf(t, stopped)
	_, _, err = compareIn(t.Context(), t, c, stopped, nil)
	must.OK(t, err)
	if tablesOf(t, stopped) != before {
		t.Error("the tables are others")
	}
	if left, _ := filepath.Glob(filepath.Join(stopped, "*", "*", ".*partial")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Fifty draws cost at most as many trainings as there are kernels, and draw all
// kernels about equally often.
func TestRandomIsCached(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	r, said, err := compareIn(t.Context(), t, configtest.Compared(t, "compare.methods=random", "compare.random_runs=50",
		"compare.random_seeds=1"), dir, nil)
	must.OK(t, err)
	if n := trainings(said); n > 7 {
		t.Errorf("%d trainings of 7 kernels", n)
	}
	count := map[string]int{}
	for _, run := range r.Runs {
		count[run.Kernel]++
	}
	if len(r.Runs) != 50 || len(count) != 7 {
		t.Errorf("%d runs, kernels %v", len(r.Runs), count)
	}
	for id, n := range count {
		if n < 1 || n > 18 { // 7.1 ± 2.5
			t.Errorf("%s was drawn %d times of 50", id, n)
		}
	}
	if _, said, err = compareIn(t.Context(), t, configtest.Compared(t, "compare.methods=random", "compare.random_runs=4",
		"compare.random_seeds=2"), dir, nil); err != nil ||
		said[0] != "goes on where it was cut: 1 of 2 runs finished" || !strings.HasPrefix(said[1], "  seed 2: ") {
		t.Errorf("two seeds: %q, %v", said, err)
	}
}

// Kernels at random are tried on the data of all runs, as the other methods are.
func TestRandomHasTheSeedsOfOthers(t *testing.T) {
	r, _, err := compareIn(t.Context(), t, configtest.Compared(t, "compare.methods=random", "compare.runs=3", "compare.random_runs=7"),
		filepath.Join(t.TempDir(), "c"), nil)
	must.OK(t, err)
	count := map[uint64]int{}
	for _, run := range r.Runs {
		count[run.Seed]++
	}
	first := slices.Min(slices.Collect(maps.Keys(count)))
	if len(r.Runs) != 7 || len(count) != 3 || count[first] != 3 || count[first+1] != 2 || count[first+2] != 2 {
		t.Errorf("%d runs, of each seed %v", len(r.Runs), count)
	}
}

// Who goes on with a comparison so that the draws of random get other seeds is told,
// and how to keep those there are.
func TestRandomKeepsItsSeeds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	of := func(set ...string) (*Comparison, string) {
		r, said, err := compareIn(t.Context(), t, configtest.Compared(t, append(set, "compare.methods=random", "compare.random_runs=4")...),
			dir, nil)
		must.OK(t, err)
		return r, fmt.Sprint(said)
	}
	seeds := func(r *Comparison) (out []uint64) {
		for run := range 4 {
			for _, m := range r.Runs {
				if m.Run == run+1 {
					out = append(out, m.Seed-r.Config.Settings.Seed)
				}
			}
		}
		return out
	}
	const keep = "set compare.random_seeds=2 to keep them"
	r, said := of("compare.runs=2")
	if got := seeds(r); !slices.Equal(got, []uint64{0, 1, 0, 1}) || strings.Contains(said, keep) {
		t.Errorf("at first: seeds %v, %s", got, said)
	}
	if r, said = of("compare.runs=3", "compare.random_seeds=2"); !slices.Equal(seeds(r), []uint64{0, 1, 0, 1}) ||
		strings.Contains(said, "trained") || strings.Contains(said, "to keep them") {
		t.Errorf("kept: seeds %v, %s", seeds(r), said)
	}
	if r, said = of("compare.runs=3"); !slices.Equal(seeds(r), []uint64{0, 1, 2, 0}) || !strings.Contains(said, keep) {
		t.Errorf("spread: seeds %v, %s", seeds(r), said)
	}
}

// Rows of a search by hand: two kernels, the second better.
func TestSearchMetrics(t *testing.T) {
	run := func(seconds float64, rmse ...float64) *finishedRun {
		r := &finishedRun{Seconds: seconds}
		for i, v := range rmse {
			at := files.Number(seconds * float64(i+1) / float64(len(rmse)))
			r.Metrics = append(r.Metrics, record.Metric{Evaluation: i + 1, Method: config.MethodAverage, RMSE: 99, Seconds: at},
				record.Metric{Evaluation: i + 1, Method: config.MethodSingle, RMSE: files.Number(v), Seconds: at})
		}
		return r
	}
	steps := []searchStep{
		{ID: "a", Choosing: 1, Run: run(4, 9, 8), Score: 10},
		{ID: "b", Choosing: 1, Run: run(4, 7, 6), Score: math.NaN()},
		{ID: "c", Choosing: 0, Run: run(2, 5, 4), Score: 20},
		{ID: "d", Choosing: 0, Run: run(2, 3), Score: 15},
	}
	for _, c := range []struct {
		limit  float64
		want   [][3]float64 // seconds, evaluation, RMSE
		kernel string
	}{
		{2, nil, ""},
		{3, [][3]float64{{3, 1, 9}}, "a"},
		{11.9, [][3]float64{{3, 1, 9}, {5, 1, 8}, {10, 2, 8}}, "a"},
		{math.Inf(1), [][3]float64{{3, 1, 9}, {5, 1, 8}, {10, 2, 8}, {12, 3, 4}, {14, 4, 4}}, "c"},
	} {
		rows, kernel := searchMetrics(steps, c.limit)
		var got [][3]float64
		for _, m := range rows {
			got = append(got, [3]float64{float64(m.Seconds), float64(m.Evaluation), float64(m.RMSE)})
		}
		if !reflect.DeepEqual(got, c.want) || kernel != c.kernel {
			t.Errorf("limit %v: %v by %q", c.limit, got, kernel)
		}
	}
}

// No row of any method is later than the budget, be it a time or that of VBKS.
func TestBudgetOfComparison(t *testing.T) {
	thorough.Unraced(t)
	dir := filepath.Join(t.TempDir(), "c")
	r, _, err := compareIn(t.Context(), t, configtest.Compared(t, "compare.budget=vbks", "compare.runs=1"), dir, nil)
	must.OK(t, err)
	limit := r.Runs[0].Final().Seconds
	vbks, err := readFinished(filepath.Join(dir, config.MethodAverage, "1"))
	must.OK(t, err)
	for _, run := range r.Runs {
		for _, m := range run.Metrics {
			if run.Method != config.MethodPrune && float64(m.Seconds) > vbks.Seconds {
				t.Errorf("%s: a row at %v s, VBKS took %v", run.Method, m.Seconds, vbks.Seconds)
			}
		}
	}
	half := time.Duration(float64(limit) / 2 * float64(time.Second))
	r, _, err = compareIn(t.Context(), t, configtest.Compared(t, "compare.budget="+half.String(), "compare.runs=1"), dir, nil)
	must.OK(t, err)
	for _, run := range r.Runs {
		for _, m := range run.Metrics {
			if float64(m.Seconds) > half.Seconds() {
				t.Errorf("%s: a row at %v s, the budget is %v", run.Method, m.Seconds, half)
			}
		}
	}
	for _, c := range []struct{ set, want string }{
		{"compare.methods=bo", `compare.budget = "vbks" needs the method vbks or vbks-s`},
		{"data.test=0", "needs held-out rows"},
		{"compare.random_seeds=3", "compare.random_seeds = 3 is more than compare.runs = 2"},
	} {
		if _, _, err := compareIn(t.Context(), t, configtest.Compared(t, "compare.budget=vbks", c.set), filepath.Join(t.TempDir(), "x"),
			nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.set, err)
		}
	}
}

// A kernel that cannot be trained is passed over.
func TestKernelThatFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	// So many starts that no evaluation is over before its time is, however busy the machine.
	c := configtest.Compared(t, "compare.methods=bo,random", "compare.runs=1", "schedule.budget=1ns", "optimise.starts=1000")
	r, said, err := compareIn(t.Context(), t, c, dir, nil)
	must.OK(t, err)
	if !strings.Contains(said[1], "; failed: the time budget of 1ns is used up before the first evaluation") {
		t.Errorf("%q", said)
	}
	for _, run := range r.Runs {
		if run.Final() != nil || run.Method == config.MethodBO && run.Trained != 6 {
			t.Errorf("%+v", run)
		}
	}
	if text := tablesOf(t, dir); strings.Contains(text[0]+text[1]+text[2], "NaN") {
		t.Errorf("numbers that are none:\n%v", text)
	}
}
