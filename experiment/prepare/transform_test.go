package prepare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/thorough"
)

// The logarithm is taken where a series grows by shares, left where its noise is as
// large near zero as elsewhere, and not asked for where there are few rows or no time.
func TestLogarithmIsDecided(t *testing.T) {
	thorough.Unraced(t)
	rng := rand.New(rand.NewPCG(1, 2))
	growing := func(i int) float64 {
		season := 1 + 0.3*math.Sin(2*math.Pi*float64(i)/12)
		return 100 * math.Exp(0.012*float64(i)) * season * math.Exp(0.04*rng.NormFloat64())
	}
	falling := func(i int) float64 {
		return math.Max(0.05, 30*math.Exp(-float64(i)/40)+4*math.Sin(2*math.Pi*float64(i)/12)+1.2*rng.NormFloat64())
	}
	for _, c := range []struct {
		what, name string
		rows       int
		of         func(int) float64
		want, told string
	}{
		{"grows by shares", "month", 72, growing, "log", "likelier"},
		{"comes near zero", "month", 72, falling, "none", "less likely"},
		{"is short", "month", 50, growing, "none", ""},
		{"is no series", "metres", 96, growing, "none", ""},
	} {
		var b strings.Builder
		fmt.Fprintf(&b, "%s,y\n", c.name)
		for i := range c.rows {
			fmt.Fprintf(&b, "%d,%.6g\n", i, c.of(i))
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.ForTable(path, "y", nil)
		if err != nil {
			t.Fatal(err)
		}
		d, s, err := LoadSettled(t.Context(), &cfg)
		if err != nil {
			t.Fatal(err)
		}
		notices := strings.Join(d.Notices, "\n")
		if cfg.Data.Transform != c.want || s.Transform.Identity() != (c.want == "none") ||
			strings.Contains(notices, "transform") != (c.told != "") || !strings.Contains(notices, c.told) {
			t.Errorf("what %s: %s, %+v, %s", c.what, cfg.Data.Transform, s.Transform, notices)
		}
	}
}

// What is tried is compared as in the run that it is for: integrals over hyperparameters, which
// a run of series does not make, take as long as all the rest.
func TestTrialsAreLikeTheirRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	var b strings.Builder
	b.WriteString("month,y\n")
	for i := range 80 {
		fmt.Fprintf(&b, "%d,%d\n", i, 100+i*i%7)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.ForTable(path, "y", []config.Override{{Key: "data.transform", Value: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := LoadSettled(t.Context(), &cfg); err != nil {
		t.Fatal(err)
	}
	run, trial := cfg.Settings, trialSettings(&cfg.Settings)
	if trial.Integrates() != run.Integrates() || trial.Priors != run.Priors || trial.Seed != run.Seed || trial.NoiseFloor != run.NoiseFloor {
		t.Errorf("trials have evidence %q, priors %q, seed %d, noise floor %v; the run %q, %q, %d, %v", trial.Evidence, trial.Priors, trial.Seed,
			trial.NoiseFloor, run.Evidence, run.Priors, run.Seed, run.NoiseFloor)
	}
}
