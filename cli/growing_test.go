package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
)

// Who reads a run whose kernels have come and gone knows those that there are in the end, and the tables those that
// there were: the report, the figures, exported tables, its model file and what that predicts.
func TestGrownRunIsRead(t *testing.T) {
	thorough.Unraced(t)
	t.Chdir(t.TempDir())
	var table strings.Builder
	table.WriteString("x,y\n")
	for i := range 60 {
		table.WriteString(strings.Join([]string{strconv.Itoa(i), strconv.Itoa((i*i)%17 + i)}, ",") + "\n")
	}
	write(t, "t.csv", table.String())
	said := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := kestrel(t, args...)
		if code != 0 {
			t.Fatalf("%q: code %d: %s", args, code, stderr)
		}
		return stdout
	}
	said("run", "t.csv", "--target", "y", "--set", "data.inputs=x", "--set", "data.time=no", "--set", "kernels.expressions=SE,LIN,PER",
		"--grow", "--set", "kernels.grow_leaves=2", "--set", "kernels.grow_live=4", "--set", "sparse.inducing=10",
		"--set", "schedule.evaluate_every=0.5", "--set", "schedule.refine=0", "--set", "optimise.starts=1", "--set", "optimise.evidence=mode",
		"--headless", "--quiet", "--out", "r")
	rows := records(t, filepath.Join("r", "posterior.csv"))
	id, at := slices.Index(rows[0], "kernel_id"), slices.Index(rows[0], "evaluation")
	last := rows[len(rows)-1][at]
	ever, there := map[string]bool{}, map[string]bool{}
	for _, r := range rows[1:] {
		ever[r[id]] = true
		if r[at] == last {
			there[r[id]] = true
		}
	}
	if len(ever) <= len(there) || len(there) > 4 || len(ever) < 8 {
		t.Fatalf("%d kernels in the end of %d", len(there), len(ever))
	}
	leader := ""
	said("report", "r", "-o", "report.html")
	page, err := os.ReadFile("report.html")
	must.OK(t, err)
	summary := said("open", "r", "--summary")
	for k := range ever {
		expr, err := kernelspace.Parse(k)
		must.OK(t, err)
		if in := strings.Contains(summary, "  "+k+" "); in && !there[k] {
			t.Errorf("the summary lists %s, which has gone", k)
		}
		if in := strings.Contains(string(page), ">"+expr.String()+"<"); there[k] && !in {
			t.Errorf("the report does not have %s", k)
		}
		if !there[k] {
			continue
		}
		if strings.Contains(summary, "   1  "+k+" ") {
			leader = k
		}
	}
	if leader == "" {
		t.Fatalf("no leader in\n%s", summary)
	}
	said("figures", "r", "-o", "f")
	if pages, err := filepath.Glob(filepath.Join("f", "*")); err != nil || len(pages) == 0 {
		t.Errorf("figures: %v, %v", pages, err)
	}
	said("export", "r", "-o", "e")
	if got := records(t, filepath.Join("e", "posterior.csv")); len(got) != len(rows) {
		t.Errorf("%d rows are exported of %d", len(got), len(rows))
	}
	said("model", "r", "-o", "m.kestrel")
	write(t, "new.csv", "x\n20\n70\n")
	of, by := said("predict", "r", "--data", "new.csv"), said("predict", "m.kestrel", "--data", "new.csv")
	if of != by || strings.Count(of, "\n") != 3 {
		t.Errorf("the run predicts\n%sits model\n%s", of, by)
	}
}

// --grow has its say both ways, whatever the config says; with --set of the same key it must not be at odds.
func TestGrowFlagDecides(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "grow.toml", "[data]\nsource = \"synthetic\"\nkernel = \"SE\"\n[kernels]\ngrow = true\n")
	write(t, "plain.toml", "[data]\nsource = \"synthetic\"\nkernel = \"SE\"\n")
	for _, c := range []struct {
		name, args string
		grows      bool
		wrong      string
	}{
		{"grow.toml", "", true, ""},
		{"grow.toml", "--grow=false", false, ""},
		{"plain.toml", "--grow=false", false, ""},
		{"plain.toml", "--grow", true, ""},
		{"grow.toml", "--set kernels.grow=false", false, ""},
		{"grow.toml", "--set kernels.grow=false --grow=false", false, ""},
		{"plain.toml", "--set kernels.grow=true --grow=false", false,
			"--grow=false and --set kernels.grow=true contradict each other; leave one out"},
		{"plain.toml", "--grow --set kernels.grow=false", false, "--grow and --set kernels.grow=false contradict each other; leave one out"},
		{"plain.toml", "--grow --set kernels.grow=false --set kernels.grow=true", true, ""}, // of several the last counts
		{"plain.toml", "--seed 2 --set seed=3", false, "--seed 2 and --set seed=3 contradict each other; leave one out"},
		{"plain.toml", `--device cpu --set device.kind="cpu"`, false, ""},
	} {
		var f runFlags
		cmd := &cobra.Command{}
		f.register(cmd)
		must.OK(t, cmd.ParseFlags(strings.Fields(c.args)))
		got, err := f.config(cmd, c.name)
		if c.wrong != "" {
			if err == nil || err.Error() != c.wrong {
				t.Errorf("%s %s: %v, not %s", c.name, c.args, err, c.wrong)
			}
		} else if err != nil || got.Settings.Growth.On != c.grows {
			t.Errorf("%s %s: grows %v: %v", c.name, c.args, got.Settings.Growth.On, err)
		}
	}
}
