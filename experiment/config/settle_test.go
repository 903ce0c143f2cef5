package config

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
)

// Kernels with steps are tried where the level of a series changes for good, and nobody has
// said which kernels are.
func TestStepsAreTried(t *testing.T) {
	for _, c := range []struct {
		what, column string
		set          string
		at           int // where the level changes by 40 noises
		want, told   string
	}{
		{"a step", "month", "", 70, "series-steps", " at 70: kernels with steps are tried"},
		{"none", "month", "", 1000, "series", ""},
		{"a step among the rows that are held out", "month", "", 115, "series", ""},
		{"a step where kernels are stated", "month", "series", 70, "series", ""},
		{"a step along metres", "metres", "", 70, "", ""},
	} {
		rng, b := rand.New(rand.NewPCG(4, 2)), strings.Builder{}
		fmt.Fprintf(&b, "%s,y\n", c.column)
		for i := range 120 {
			y := rng.NormFloat64()
			if i >= c.at {
				y += 40
			}
			fmt.Fprintf(&b, "%d,%.4f\n", i, y)
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		var own []Override
		if c.set != "" {
			own = []Override{{Key: "kernels.set", Value: c.set}}
		}
		cfg, err := ForTable(path, "y", own)
		if err != nil {
			t.Fatal(err)
		}
		d, err := datasets.Load(t.Context(), cfg.Data)
		if err != nil {
			t.Fatal(err)
		}
		before := len(d.Notices)
		cfg.SettleData(d)
		told := strings.Join(d.Notices[before:], "\n")
		if cfg.Kernels.Set != c.want || strings.Contains(told, "steps") != (c.told != "") || !strings.Contains(told, c.told) {
			t.Errorf("%s: kernels.set %q, told %q", c.what, cfg.Kernels.Set, told)
		}
	}
}
