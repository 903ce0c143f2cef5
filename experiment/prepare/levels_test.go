package prepare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
)

// Levels of a column that is a number are refused before anything is learned; between
// levels there is no median.
func TestLevelsOfColumns(t *testing.T) {
	text := "u,v,kind,y\n"
	for i := range 120 {
		text += fmt.Sprintf("%g,%d,%s,%d\n", float64(i*i)/7, i%9, []string{"a", "b", "b", "c"}[i%4], i%11)
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
	j, err := prepared("SE[u]*CAT[kind]+CAT[v]")
	must.OK(t, err)
	defer j.Close()
	if m := j.Subject.Ranges()[2].Median; m != 1 {
		t.Errorf("the middle of kinds is %v, not b", m)
	}
}
