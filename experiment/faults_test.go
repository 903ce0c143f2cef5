package experiment_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// hardKernels overflow, do not vary, or vary faster than the data.
const hardKernels = "SE, POLY4, LIN*RQ, PER, COS+WN, CONST"

// Whatever the numbers in a table are, it is refused with a reason, or the run
// ends; its tables hold finite numbers, and kernels that failed are named.
func TestFaultsInNumbers(t *testing.T) {
	for _, b := range configtest.BadTables() {
		for _, optimizer := range []string{"collapsed", "natural", "adam"} {
			t.Run(b.What+"/"+optimizer, func(t *testing.T) {
				t.Parallel()
				c := b.Config(t, hardKernels, "optimise.optimizer="+optimizer)
				j, err := prepare.Prepare(t.Context(), c)
				if b.Refused != "" {
					if err == nil || !strings.Contains(err.Error(), b.Refused) || strings.Contains(err.Error(), "\n") {
						t.Errorf("error %v, want %q", err, b.Refused)
					}
					return
				}
				must.OK(t, err)
				must.OK(t, j.Close())
				dir := filepath.Join(t.TempDir(), "run")
				_, end := runtest.In(t, c, dir)
				if end.State != record.Finished {
					t.Fatalf("%s: %s", end.State, end.Reason)
				}
				failed := checkFaults(t, dir)
				if b.Fails != "" && failed[b.Fails] == "" {
					t.Errorf("%s did not fail; failed: %v", b.Fails, failed)
				}
			})
		}
	}
}

// checkFaults looks through the files of a run and returns the kernels that
// have failed, with their reasons.
func checkFaults(t *testing.T, dir string) map[string]string {
	t.Helper()
	for _, name := range []string{record.PosteriorFile, record.MetricsFile, record.KernelsFile} {
		for n, row := range filestest.ReadCSV(t, filepath.Join(dir, name)) {
			for i, cell := range row {
				if v, err := strconv.ParseFloat(cell, 64); err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
					t.Errorf("%s, row %d, column %d: %s in %v", name, n, i+1, cell, row)
				}
			}
		}
	}
	events, err := recordtest.Read(dir)
	must.OK(t, err)
	s := historytest.Summarise(events)
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
	thorough.Unraced(t)
	for _, b := range configtest.BadTables() {
		if b.Fails == "" {
			continue
		}
		for _, optimizer := range []string{"collapsed", "natural", "adam"} {
			values := func(kernels string) map[string]string {
				dir := filepath.Join(t.TempDir(), "run")
				runtest.In(t, b.Config(t, kernels, "optimise.optimizer="+optimizer), dir)
				out := map[string]string{}
				for _, row := range filestest.ReadCSV(t, filepath.Join(dir, record.PosteriorFile))[1:] {
					out[row[0]+" "+row[3]] = row[7]
				}
				return out
			}
			with, without := values("SE, "+b.Fails+", PER"), values("SE, PER")
			for at, elbo := range without {
				if with[at] != elbo {
					t.Errorf("%s, %s: evaluation and kernel %s: %s beside %s, %s without", b.What, optimizer, at, with[at], b.Fails, elbo)
				}
			}
		}
	}
}
