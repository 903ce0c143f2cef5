package prepare

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
)

// What is per unit of an input has the target's square in it, by the target's name where it has no
// unit.
func TestUnitsWithoutOneOfTheTarget(t *testing.T) {
	for head, want := range map[string]string{"level": "level²/h", "level (K)": "K²/h", "a very long name of a column": "target²/h"} {
		text := "x [h]," + head + "\n"
		for i := range 40 {
			text += strconv.Itoa(i) + "," + strconv.FormatFloat(math.Sin(float64(i)), 'g', 4, 64) + "\n"
		}
		path := filepath.Join(t.TempDir(), "data.csv")
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		var set []config.Override
		for _, s := range []string{"kernels.expressions=RW", "sparse.inducing=4", "data.transform=none"} {
			o, err := config.ParseOverride(s)
			must.OK(t, err)
			set = append(set, o)
		}
		c, err := config.ForTable(path, "", set)
		must.OK(t, err)
		j, err := Prepare(t.Context(), c)
		must.OK(t, err)
		p := j.Start.Kernels[0].Params[0]
		if !strings.HasSuffix(p.Name, ".variance") || p.Unit != want {
			t.Errorf("%s of %q has the unit %q, want %q", p.Name, head, p.Unit, want)
		}
		must.OK(t, j.Close())
	}
}
