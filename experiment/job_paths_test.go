package experiment_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/compare"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// Whatever files a run's data are in, and wherever it was begun, it is resumed,
// predicted with and compared from any working directory.
func TestRunsKnowTheirFilesFromAnywhere(t *testing.T) {
	thorough.Unraced(t)
	var table, mask, lab strings.Builder
	table.WriteString("x,y\n")
	for i := range 60 {
		fmt.Fprintf(&table, "%d,%g\n", i, math.Sin(float64(i)/5))
		fmt.Fprintf(&mask, "0,%d\n", i/5%2)
		fmt.Fprintf(&lab, "2004-02-28 01:%02d:16 %d %d %g 38 45 2.6\n", i, i, 1+i%2, 20+math.Sin(float64(i)/5))
	}
	const quick = "[kernels]\nexpressions = [\"SE\"]\n[sparse]\ninducing = 6\n[optimise]\nstarts = 1\n[schedule]\nsteps = " +
		"4\nevaluate_every = 0.5\nrefine = 0\n"
	for name, data := range map[string]string{
		"a table with a mask": "path = \"data/table.csv\"\nsplit_by = \"mask\"\nmask = \"data/mask.csv\"\nmask_column = 2\n",
		"the lab with places": "source = \"ieq\"\npath = \"data/lab.txt\"\nlocations = \"data/places.txt\"\nvalid_rows = 0\ntest = 10\n",
		"the lab, masked": "source = \"ieq\"\npath = \"data/lab.txt\"\nlocations = \"data/places.txt\"\nvalid_rows = 0\nsplit_by = " +
			"\"mask\"\nmask = \"data/mask.csv\"\nmask_column = 2\n",
		"the lab, places beside it": "source = \"ieq\"\npath = \"data/beside/lab.txt\"\nvalid_rows = 0\ntest = 10\n",
	} {
		for _, from := range []string{"config", "directory", "environment"} {
			t.Run(name+", found by "+from, func(t *testing.T) {
				base, elsewhere := t.TempDir(), t.TempDir()
				must.OK(t, os.MkdirAll(filepath.Join(base, "data", "beside"), 0o755))
				file := filepath.Join(base, "c.toml")
				t.Chdir(elsewhere)
				switch from {
				case "directory": // the paths are against the working directory
					file = filepath.Join(elsewhere, "c.toml")
					t.Chdir(base)
				case "environment":
					file = filepath.Join(elsewhere, "c.toml")
					t.Setenv("KESTREL_DATA", base)
				}
				for path, text := range map[string]string{
					filepath.Join(base, "data/table.csv"): table.String(), filepath.Join(base, "data/mask.csv"): mask.String(),
					filepath.Join(base, "data/lab.txt"): lab.String(), filepath.Join(base, "data/places.txt"): "1 21.5 23\n2 24.5 20\n",
					filepath.Join(base, "data/beside/lab.txt"): lab.String(), filepath.Join(base, "data/beside/mote_locs.txt"): "1 21.5 23\n2 24.5 20\n",
					file: "[data]\n" + data + quick,
				} {
					must.OK(t, os.WriteFile(path, []byte(text), 0o644))
				}
				c, err := config.Load(file, nil)
				must.OK(t, err)
				run := filepath.Join(t.TempDir(), "run")
				if _, end := runtest.In(t, c, run); end.State != record.Finished {
					t.Fatal(end.State, end.Reason)
				}
				must.OK(t, os.Remove(file))
				t.Setenv("KESTREL_DATA", "")
				t.Chdir(t.TempDir())

				p, err := inspect.OpenPredictor(t.Context(), run)
				must.OK(t, err)
				must.OK(t, p.Close())
				again := filepath.Join(t.TempDir(), "again")
				runtest.CopyRun(t, run, again)
				if _, err := runtest.TakeUp(t, again, experiment.ResumeOptions{FromStart: true}); err != nil {
					t.Fatal(err)
				}
				runtest.SameResults(t, name, again, run, again)
				c, err = config.Load(filepath.Join(run, record.ConfigFile), nil)
				must.OK(t, err)
				for _, path := range []string{c.Data.Path, c.Data.Mask, c.Data.Locations} {
					if path != "" && !filepath.IsAbs(path) {
						t.Errorf("the run's config has the path %q", path)
					}
				}
				c.Compare.Methods, c.Compare.Runs = []string{config.MethodAverage}, 1
				m, err := compare.Begin(t.Context(), c, filepath.Join(t.TempDir(), "comparison"), compare.Options{})
				must.OK(t, err)
				must.OK(t, m.Close())
			})
		}
	}
}
