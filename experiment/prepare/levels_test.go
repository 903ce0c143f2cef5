package prepare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
)

// Levels of a column that is a number are refused before anything is learned; between
// levels there is no median.
func TestLevelsOfColumns(t *testing.T) {
	text := "u,v,kind,w,y\n"
	for i := range 120 {
		text += fmt.Sprintf("%g,%d,%s,%d,%d\n", float64(i*i)/7, i%9, []string{"a", "b", "b", "c"}[i%4], i%60, i%11)
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	prepared := func(kernel string) (*Job, error) {
		var set []config.Override
		for _, s := range []string{"kernels.expressions=" + kernel, "sparse.inducing=4"} {
			o, err := config.ParseOverride(s)
			must.OK(t, err)
			set = append(set, o)
		}
		c, err := config.ForTable(path, "", set)
		must.OK(t, err)
		return Prepare(t.Context(), c)
	}
	_, err := prepared("SE[v]+CAT[u]")
	if err == nil || !strings.Contains(err.Error(), "kernel SE[v]+CAT[u]: u has 108 different values in 108 training rows") {
		t.Errorf("levels of a number: %v", err)
	}
	for kernel, message := range map[string]string{
		"SE[v]+CAT[u;ard]":    "more than 100 levels",
		"SE[v]+CAT[w;ard]":    "w has 60 levels in 108 training rows, too few rows each to know their lengths",
		"CAT[kind,v;ard]":     "2 columns; a length for each level is of one column",
		"SE[u]+CAT[late;ard]": "there is no column",
	} {
		if _, err := prepared(kernel); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v", kernel, err)
		}
	}
	j, err := prepared("SE[u]*CAT[kind;ard]+CAT[v]")
	must.OK(t, err)
	info, err := j.kernelInfo(j.Subject)(j.Subject.Space[0])
	must.OK(t, err)
	var names []string
	for _, p := range info.Params {
		names = append(names, p.Name+p.Column+p.Unit)
	}
	want := "CAT#1.lengthscale(a)kind,CAT#1.lengthscale(b)kind,CAT#1.lengthscale(c)kind"
	if got := strings.Join(names, ","); !strings.Contains(got, want) {
		t.Errorf("hyperparameters %s", got)
	}
	start := &record.Start{Data: datasets.Describe(j.Data, j.Scaler), Kernels: []record.KernelInfo{info}}
	if len(start.Levels(2)) != 3 || start.Levels(0) != nil {
		t.Errorf("of the record kinds have %v levels", start.Levels(2))
	}
	must.OK(t, j.Close())
	j, err = prepared("SE[u]*CAT[kind]+CAT[v]")
	must.OK(t, err)
	defer j.Close()
	if m := j.Subject.Ranges()[2].Median; m != 1 {
		t.Errorf("the middle of kinds is %v, not b", m)
	}
}
