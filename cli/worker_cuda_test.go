//go:build cuda && unix

package cli

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/cluster"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// fakes are fake libraries, and the folder of the sources for their card.
func fakes(t *testing.T) (libraries, include string) {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++, which the fake card's kernels are compiled with")
	}
	libraries = t.TempDir()
	must.OK(t, fake.Build(libraries))
	include, err := filepath.Abs("../device/cuda/source")
	must.OK(t, err)
	return libraries, include
}

// machines lets processes be begun on machines with a fake card, each with what it knows of
// that; what one has compiled serves all.
func machines(t *testing.T) (use func()) {
	t.Helper()
	libraries, include := fakes(t)
	compiled := t.TempDir()
	return func() {
		known := t.TempDir()
		must.OK(t, errors.Join(os.Mkdir(filepath.Join(known, "kestrel"), 0o755),
			os.Symlink(compiled, filepath.Join(known, "kestrel", "cuda"))))
		fake.Use(t, libraries, fake.Options{Include: include, Cache: known})
		t.Setenv("KESTREL_FAKE_CXXFLAGS", "-O1 -ffp-contract=off")
	}
}

// A run on a card with two workers, each with a card of its own, has the results of the run on
// one card; a worker whose card was never checked says what came of it; one without is refused,
// and so is one with a card by a run without.
func TestRunWithCards(t *testing.T) {
	machine := machines(t)
	t.Chdir(t.TempDir())
	const small = " quickstart --quiet --headless --set schedule.refine=3 --set schedule.evaluate_every=0.5 --set data.outputs=40 " +
		"--set data.test=4 --set kernels.expressions=SE,LIN,PER,RQ,PER+SE --set sparse.inducing=6 --set optimise.optimizer=natural " +
		"--set schedule.batch=16 --set schedule.steps=4 --set optimise.starts=1 --set cluster.work_here=false "
	const config = "run" + small + "--set device.kind=cuda --out "
	ended := func(cmd *exec.Cmd, said *strings.Builder) {
		t.Helper()
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	machine()
	ended(beginning(t, config+"want"))
	run, runSaid := beginning(t, config+"d --cluster 127.0.0.1:0")
	ticket := filepath.Join("d", ticketFile)
	waitFor(t, "a ticket", whole(ticket))
	refused := func(args, want string) {
		t.Helper()
		w, said := beginning(t, args)
		if err := w.Wait(); err == nil || w.ProcessState.ExitCode() != exitUsage || !strings.Contains(said.String(), want) {
			t.Errorf("%s: %v: %s", args, err, said)
		}
	}
	refused("worker --device cpu --ticket "+ticket, "it computes on the device cpu, the run on cuda, and results would depend on "+
		"who computes: start it with --device cuda")
	before := os.Getenv("XDG_CACHE_HOME")
	machine()
	fresh, freshSaid := beginning(t, "worker --device cuda --ticket "+ticket)
	waitFor(t, "the worker whose card is checked", inLog("d", joined, 1))
	t.Setenv("XDG_CACHE_HOME", before)
	known, knownSaid := beginning(t, "worker --device cuda --ticket "+ticket)
	id, err := served("d")
	must.OK(t, err)
	units, over := map[string]int{}, make(chan error, 1)
	go func() { over <- run.Wait() }()
	for working := true; working; {
		select {
		case err := <-over:
			if working = false; err != nil {
				t.Fatalf("%v: %s", err, runSaid)
			}
		case <-time.After(20 * time.Millisecond):
		}
		if s, err := cluster.How(id.OwnTicket()); err == nil && s != nil {
			for _, w := range s.Workers {
				units[w.Name] = max(units[w.Name], w.Units)
			}
		}
	}
	ended(known, knownSaid)
	ended(fresh, freshSaid)
	runtest.SameResults(t, "with workers on cards", "d", "want", "want")
	const checked = "was checked before its first use and gives the CPU's numbers"
	if !strings.Contains(freshSaid.String(), checked) || strings.Contains(knownSaid.String(), checked) {
		t.Errorf("the card that was never checked: %s, the other: %s", freshSaid, knownSaid)
	}
	if len(units) != 2 || slices.Min(slices.Collect(maps.Values(units))) == 0 {
		t.Errorf("units of kernels that the workers have done: %v", units)
	}

	run, _ = beginning(t, "run"+small+"--set device.kind=cpu --out e --cluster 127.0.0.1:0")
	ticket = filepath.Join("e", ticketFile)
	waitFor(t, "a ticket", whole(ticket))
	refused("worker --ticket "+ticket, "it computes on the device cuda, the run on cpu, and results would depend on who computes: "+
		"start it with --device cpu")
	must.OK(t, run.Process.Kill())
	run.Wait()
}
