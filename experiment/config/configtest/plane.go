package configtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
)

// PlaneFile writes 80 rows of two inputs on unequal scales, with a jump.
func PlaneFile(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString("hour,height,level\n")
	for range 80 {
		x, h := 24*rng.Float64(), 2000+500*rng.NormFloat64()
		fmt.Fprintf(&b, "%g,%g,%g\n", x, h, 300+20*math.Sin(x/3)+0.01*h+rng.NormFloat64())
	}
	path := filepath.Join(t.TempDir(), "plane.csv")
	must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
	return path
}

// Plane is a config for it.
func Plane(t *testing.T, path string, set ...string) config.Config {
	t.Helper()
	var overrides []config.Override
	for _, s := range append([]string{
		"kernels.expressions=SE[hour]+LIN[height],PER[hour]*SE[height],RQ", "sparse.inducing=10", "optimise.starts=1",
		"schedule.steps=10", "schedule.evaluate_every=0.5", "schedule.refine=0", "data.test=20",
		"optimise.evidence=mode", "posterior.errors=ignore", // see Integrated
	}, set...) {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		overrides = append(overrides, o)
	}
	c, err := config.ForTable(path, "", overrides)
	must.OK(t, err)
	return c
}
