package compare

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/series/seriestest"
	"example.com/kestrel/internal/must"
)

// A comparison whose runs another machine makes, all steps at once, comes to the same, and no
// kernel is trained twice.
func TestComparisonMadeElsewhere(t *testing.T) {
	c := configtest.Compared(t, "kernels.expressions=SE,LIN,PER",
		"compare.methods=vbks,random,bo", "compare.budget=2", "compare.random_runs=3")
	here, there := filepath.Join(t.TempDir(), "c"), filepath.Join(t.TempDir(), "c")
	_, _, err := compareIn(t.Context(), t, c, here, nil)
	must.OK(t, err)
	m, err := Begin(t.Context(), c, there, Options{})
	must.OK(t, err)
	crew := seriestest.New(t, map[string]func(context.Context, *series.Order) (series.Result, error){series.RunTask: series.DoRun})
	m.By(crew)
	_, err = m.Run(t.Context())
	must.OK(t, err)
	must.OK(t, m.Close())
	runs := func(dir string) int {
		var all []string
		for _, pattern := range []string{"vbks/*", kernelsDir + "/*/*"} {
			some, err := filepath.Glob(filepath.Join(dir, pattern))
			must.OK(t, err)
			all = append(all, some...)
		}
		return len(all)
	}
	if n := crew.Done[series.RunTask]; n != runs(there) || n != runs(here) {
		t.Errorf("%d runs made elsewhere, %d are there, want %d", n, runs(there), runs(here))
	}
	for name, time := range map[string]int{record.MetricsFile: 3, record.FinalsFile: 5, record.RunTableFile: -1} {
		a, b := filestest.ReadCSV(t, filepath.Join(here, name)), filestest.ReadCSV(t, filepath.Join(there, name))
		for i := range a {
			if time >= 0 && i < len(b) {
				a[i][time], b[i][time] = "", ""
			}
			if i >= len(b) || strings.Join(a[i], ",") != strings.Join(b[i], ",") {
				t.Errorf("%s, line %d: %v, want %v", name, i+1, b[min(i, len(b)-1)], a[i])
			}
		}
	}
}
