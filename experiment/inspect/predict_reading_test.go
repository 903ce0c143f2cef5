package inspect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// A table written as Germany does, with two columns of one name, is predicted at as
// it was learned from: the predictions at its own rows have its own inputs.
func TestPredictAtTheTableLearnedFrom(t *testing.T) {
	var b strings.Builder
	b.WriteString("datum;temp;temp;last;\n")
	for n := range 40 {
		fmt.Fprintf(&b, "%d.1.2024 %d:00;%d,5;%d,25;%d,125;\n", 1+n/2, 3+9*(n%2), n, n*n%7, n%5)
	}
	table := filepath.Join(t.TempDir(), "export.csv")
	must.OK(t, os.WriteFile(table, []byte(b.String()), 0o644))
	keys := []string{"kernels.expressions=SE", "sparse.inducing=5", "schedule.budget=1", "data.test=4"}
	_, _, dir := runtest.Finished(t, tableConfig(t, table, keys...))
	p := predictor(t, dir)
	points, err := opened(t, p, table).Next(t.Context(), 100)
	must.OK(t, err)
	if len(points.Y) != 40 || points.Dim != 3 {
		t.Fatalf("%d points of %d inputs", len(points.Y), points.Dim)
	}
	for n := range 40 {
		x := points.X[3*n : 3*n+3]
		if want := 86400*float64(n/2) + 9*3600*float64(n%2); x[0] != want || x[1] != float64(n)+0.5 || x[2] != float64(n*n%7)+0.25 ||
			points.Y[n] != float64(n%5)+0.125 {
			t.Fatalf("row %d: %v, %v", n+1, x, points.Y[n])
		}
	}

	// A kernel cannot say which of the two it means by the name.
	ambiguous := tableConfig(t, table, append(keys, "kernels.expressions=SE[temp]")...)
	if j, err := prepare.Prepare(t.Context(), ambiguous); err == nil ||
		!strings.HasSuffix(err.Error(), `inputs 2 and 3 are both named "temp"; write the number`) {
		t.Errorf("%v", err)
		if err == nil {
			j.Close()
		}
	}
}
