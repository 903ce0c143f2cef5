package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"kestrel/vbks"
)

// badData is a table that is hard on arithmetic.
type badData struct {
	what    string
	rows    func(rng *rand.Rand) [][]float64 // inputs, then the target
	set     []string
	refused string // what the error of a table that cannot be computed with says; "" for one that runs
	fails   string // a kernel that must fail; "" for none
}

// wave is a clean series of n rows over [0, 10).
func wave(n int, change func(i int, row []float64)) func(*rand.Rand) [][]float64 {
	return func(rng *rand.Rand) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			x := 10 * float64(i) / float64(n)
			rows[i] = []float64{x, math.Sin(x) + 0.1*rng.NormFloat64()}
			if change != nil {
				change(i, rows[i])
			}
		}
		return rows
	}
}

func badTables() []badData {
	scaled := func(x, y float64) func(*rand.Rand) [][]float64 {
		return wave(40, func(_ int, row []float64) { row[0] *= x; row[1] *= y })
	}
	const raw = "data.standardise_x=none"
	return []badData{
		{what: "clean", rows: wave(40, nil)},
		{what: "x of 1e300", rows: scaled(1e299, 1), refused: "too large"},
		{what: "x of 1e-300", rows: scaled(1e-301, 1), refused: "too little to compute with"},
		{what: "y of 1e300", rows: scaled(1, 1e300), refused: "too large"},
		{what: "y of 1e-300", rows: scaled(1, 1e-300), refused: "too little to compute with"},
		{what: "x of 1e139", rows: scaled(1e138, 1)},
		{what: "x of 1e-138", rows: scaled(1e-139, 1)},
		{what: "y of 1e139", rows: scaled(1, 1e139)},
		{what: "y of 1e-138", rows: scaled(1, 1e-138)},
		{what: "x of 1e100, as it is", rows: scaled(1e99, 1), set: []string{raw}, fails: "POLY4"},
		{what: "x of 1e-100, as it is", rows: scaled(1e-101, 1), set: []string{raw}},
		{what: "both as they are, 1e60", rows: scaled(1e60, 1e60), set: []string{raw, "data.standardise_y=none"}, fails: "POLY4"},
		{what: "a constant target", rows: wave(40, func(_ int, row []float64) { row[1] = 7 }), refused: "there is nothing to learn"},
		{what: "a target that varies in its last digit", rows: wave(40, func(i int, row []float64) { row[1] = 1e6 + float64(i%2)*1e-9 })},
		{what: "a constant input", rows: wave(40, func(_ int, row []float64) { row[0] = 3 })},
		{what: "a constant input as it is", rows: wave(40, func(_ int, row []float64) { row[0] = 1e6 }), set: []string{raw}},
		{what: "two equal inputs, one constant", rows: func(rng *rand.Rand) [][]float64 {
			rows := wave(40, nil)(rng)
			for i, r := range rows {
				rows[i] = []float64{r[0], r[0], -1, r[1]}
			}
			return rows
		}},
		{what: "a thousand rows of each of two points", rows: wave(2000, func(i int, row []float64) { row[0], row[1] = float64(i%2), float64(i%2)+1e-9*float64(i%3) })},
		{what: "duplicates without noise", rows: wave(60, func(i int, row []float64) { row[0] = float64(i % 3); row[1] = math.Sin(row[0]) })},
		{what: "one outlier of 1e12", rows: wave(40, func(i int, row []float64) {
			if i == 17 {
				row[1] = 1e12
			}
		})},
		{what: "one input far off", rows: wave(40, func(i int, row []float64) {
			if i == 17 {
				row[0] = 1e12
			}
		})},
		{what: "a period far below the spacing", rows: wave(40, func(i int, row []float64) { row[1] = math.Sin(2 * math.Pi * row[0] / 1e-7) })},
		{what: "alternating signs", rows: wave(40, func(i int, row []float64) { row[1] = float64(1 - i%2*2) })},
		{what: "two rows", rows: wave(3, nil)},
	}
}

func (b *badData) config(t *testing.T, kernels string, set ...string) Config {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	var text strings.Builder
	for _, row := range b.rows(rng) {
		for i, v := range row {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(formatFloat(v))
		}
		text.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "bad.csv")
	must(t, os.WriteFile(path, []byte(text.String()), 0o644))
	var overrides []Override
	for _, s := range append(append([]string{
		"data.header=no", "kernels.expressions=" + kernels, "sparse.inducing=6", "optimise.starts=1", "optimise.transplants=false",
		"schedule.steps=5", "schedule.evaluate_every=0.5", "schedule.refine=0", "data.test=0.2", "device.lanes=1",
	}, b.set...), set...) {
		o, err := ParseOverride(s)
		must(t, err)
		overrides = append(overrides, o)
	}
	c, err := FileConfig(path, "", overrides)
	must(t, err)
	return c
}

// hardKernels overflow, do not vary, or vary faster than the data.
const hardKernels = "SE, POLY4, LIN*RQ, PER, COS+WN, CONST"

// Whatever the numbers in a table are, it is refused with a reason, or the run
// ends; its tables hold finite numbers, and kernels that failed are named.
func TestFaultsInNumbers(t *testing.T) {
	for _, b := range badTables() {
		for _, optimizer := range []string{"collapsed", "natural", "adam"} {
			t.Run(b.what+"/"+optimizer, func(t *testing.T) {
				t.Parallel()
				c := b.config(t, hardKernels, "optimise.optimizer="+optimizer)
				j, err := Prepare(t.Context(), c)
				if b.refused != "" {
					if err == nil || !strings.Contains(err.Error(), b.refused) || strings.Contains(err.Error(), "\n") {
						t.Errorf("error %v, want %q", err, b.refused)
					}
					return
				}
				must(t, err)
				must(t, j.Close())
				dir := filepath.Join(t.TempDir(), "run")
				_, end := runIn(t, c, dir)
				if end.State != Finished {
					t.Fatalf("%s: %s", end.State, end.Reason)
				}
				failed := checkFaults(t, dir)
				if b.fails != "" && failed[b.fails] == "" {
					t.Errorf("%s did not fail; failed: %v", b.fails, failed)
				}
			})
		}
	}
}

// checkFaults looks through the files of a run and returns the kernels that
// have failed, with their reasons.
func checkFaults(t *testing.T, dir string) map[string]string {
	t.Helper()
	for _, name := range []string{posteriorFile, metricsFile, kernelsFile} {
		for n, row := range readCSV(t, filepath.Join(dir, name)) {
			for i, cell := range row {
				if v, err := strconv.ParseFloat(cell, 64); err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
					t.Errorf("%s, row %d, column %d: %s in %v", name, n, i+1, cell, row)
				}
			}
		}
	}
	events, err := ReadEvents(dir)
	must(t, err)
	s := Summarise(events)
	failed := map[string]string{}
	sum := 0.0
	for _, k := range s.Evaluation.Kernels {
		if k.Status == vbks.Failed {
			if k.Reason == "" {
				t.Errorf("%s failed without a reason", k.ID)
			}
			failed[k.ID] = k.Reason
		} else if k.Fit != nil {
			sum += float64(k.Fit.Posterior)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("posteriors add up to %v", sum)
	}
	for id := range failed {
		told := false
		for i := range events {
			e := &events[i]
			told = told || e.Kernel == id && strings.HasPrefix(e.Notice, fmt.Sprintf("kernel %s failed: ", id))
		}
		if !told {
			t.Errorf("no notice of %s, only %q", id, s.Notices)
		}
	}
	return failed
}

// Beside a kernel that fails the others end as they do without it.
func TestFailedKernelHarmsNoOther(t *testing.T) {
	for _, b := range badTables() {
		if b.fails == "" {
			continue
		}
		for _, optimizer := range []string{"collapsed", "natural", "adam"} {
			values := func(kernels string) map[string]string {
				dir := filepath.Join(t.TempDir(), "run")
				runIn(t, b.config(t, kernels, "optimise.optimizer="+optimizer), dir)
				out := map[string]string{}
				for _, row := range readCSV(t, filepath.Join(dir, posteriorFile))[1:] {
					out[row[0]+" "+row[3]] = row[7]
				}
				return out
			}
			with, without := values("SE, "+b.fails+", PER"), values("SE, PER")
			for at, elbo := range without {
				if with[at] != elbo {
					t.Errorf("%s, %s: evaluation and kernel %s: %s beside %s, %s without", b.what, optimizer, at, with[at], b.fails, elbo)
				}
			}
		}
	}
}
