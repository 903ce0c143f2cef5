package figures

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// Runs that differ in one size only come in the figure of that size, and a run
// that they all have in common in every one.
func TestScalabilityBySize(t *testing.T) {
	thorough.Unraced(t)
	dir := t.TempDir()
	var paths []string
	for i, set := range [][]string{
		{}, {"kernels.expressions=SE,LIN,PER,RQ,SE+LIN"}, {"data.outputs=90"}, {"schedule.batch=30"},
		{"schedule.batch=30", "data.outputs=90", "kernels.expressions=SE"}, // differs from each of them in two
	} {
		c := configtest.Small(t, append([]string{"optimise.optimizer=natural", "optimise.transplants=false", "schedule.batch=10"}, set...)...)
		paths = append(paths, repeated(t, filepath.Join(dir, fmt.Sprint(i)), 1, c)...)
	}
	names := saveFigures(t, paths, filepath.Join(dir, "out"), Options{})
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.Contains(n, "scalability") })
	if want := []string{"quickstart-scalability", "quickstart-scalability-kernels", "quickstart-scalability-rows"}; !slices.Equal(names,
		want) {
		t.Fatal(names)
	}
	for _, c := range []struct {
		name, column, label string
		sizes               []int
	}{
		{"quickstart-scalability", "batch", "B", []int{10, 30}},
		{"quickstart-scalability-kernels", "kernels", "K", []int{3, 5}},
		{"quickstart-scalability-rows", "rows", "N", []int{60, 90}},
	} {
		fit, err := filestest.ReadTable(filepath.Join(dir, "out", c.name+"-fit.csv"))
		must.OK(t, err)
		var got []int
		for i := range fit.Rows {
			got = append(got, fit.Whole(i, c.column))
			if fit.Whole(i, "runs") != 1 || !(fit.Number(i, "seconds_per_iteration") > 0) {
				t.Errorf("%s: %q", c.name, fit.Rows[i])
			}
		}
		must.OK(t, fit.Err)
		if !slices.Equal(got, c.sizes) {
			t.Errorf("%s: %v", c.name, got)
		}
		for _, size := range c.sizes {
			if rows := drawnRows(t, filepath.Join(dir, "out", c.name+".csv"), "line", fmt.Sprintf("%s = %d", c.label, size)); len(rows) != 3 {
				t.Errorf("%s: %d evaluations drawn of %d", c.name, len(rows), size)
			}
		}
	}
}
