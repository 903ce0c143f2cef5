package bench

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/files/filestest"
	"example.com/kestrel/internal/must"
)

// learnCase traces PER*SE+SE for one step of each kind.
func learnCase(t *testing.T, set ...string) LearnCase {
	t.Helper()
	return LearnCase{
		Config: configtest.Small(t, append([]string{"sparse.inducing=5", "schedule.batch=7"}, set...)...),
		Kernel: "PER*SE+SE", Steps: []string{"theta", "adam"}, Rates: []float64{0.01, 0.1}, Seconds: 1e-9, Threads: 1, Device: "cpu",
	}
}

// readStart reads what a Learning leaves for others.
func readStart(t *testing.T, dir string) (start learnStart, x, y, z []float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "start.json"))
	must.OK(t, err)
	must.OK(t, json.Unmarshal(text, &start))
	rows, err := filestest.ReadTable(filepath.Join(dir, start.Files["rows"]))
	must.OK(t, err)
	for i := range rows.Rows {
		x, y = append(x, rows.Number(i, "x")), append(y, rows.Number(i, "y"))
	}
	inducing, err := filestest.ReadTable(filepath.Join(dir, start.Files["inducing"]))
	must.OK(t, err)
	for i := range inducing.Rows {
		z = append(z, inducing.Number(i, "x"))
	}
	for _, table := range []*files.Table{rows, inducing} {
		must.OK(t, table.Err)
	}
	return start, x, y, z
}

// startELBO is the local ELBO per row where q(v) = p(v) = N(0, I): μ = 0, the
// divergence is 0, and v = k(x,x) − colsum A² + colsum A² = k(x,x), so that
//
//	𝓛/n = −½ log 2πσ² − (mean of y² + k(x,x)) / 2σ²
//
// whatever Z is. For PER*SE+SE, k(x,x) is the product of two variances and a third.
func startELBO(t *testing.T, s *learnStart, y []float64) float64 {
	t.Helper()
	var variance []float64 // by leaf, as written
	for _, p := range s.Parameters {
		if p.Name == "variance" {
			if want := []string{"PER", "SE", "SE"}[p.Leaf]; p.Leaf != len(variance) || p.Base != want {
				t.Fatalf("leaf %d is %s, want %s: %+v", p.Leaf, p.Base, want, s.Parameters)
			}
			variance = append(variance, p.Value)
		}
	}
	if len(variance) != 3 {
		t.Fatalf("%d variances: %+v", len(variance), s.Parameters)
	}
	k := variance[0]*variance[1] + variance[2]
	sum := 0.0
	for _, v := range y {
		sum += -0.5*math.Log(2*math.Pi*s.Noise) - (v*v+k)/(2*s.Noise)
	}
	return sum / float64(len(y))
}

// All steps begin at one place, which is written down before the first step, and
// whose local ELBO is that of the formula.
func TestLearning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "learn")
	work, err := PrepareLearn(t.Context(), learnCase(t))
	must.OK(t, err)
	defer func() { must.OK(t, work.Close()) }()
	var points []LearnPoint
	must.OK(t, work.Run(t.Context(), dir, func(p LearnPoint) error {
		if len(points) == 0 {
			if start, _, _, _ := readStart(t, dir); p.Steps != 0 || start.ELBO != p.ELBO {
				t.Errorf("before the first step start.json says %v, the trace %v after %d steps", start.ELBO, p.ELBO, p.Steps)
			}
		}
		points = append(points, p)
		return nil
	}))
	start, x, y, z := readStart(t, dir)
	if len(z) != 5 || len(x) == 0 || start.Rows != len(x) || start.Batch != 7 {
		t.Fatalf("%d inducing inputs, %d rows, %+v", len(z), len(x), start)
	}
	want := startELBO(t, &start, y)
	if len(points) != 8 { // the start and one step, for two kinds of steps with two rates
		t.Fatalf("%d points: %+v", len(points), points)
	}
	for i, p := range points {
		if p.Steps != i%2 {
			t.Errorf("point %d is after %d steps", i, p.Steps)
		}
		if off := math.Abs(float64(p.ELBO) - want); p.Steps == 0 && !(off < 1e-9*math.Abs(want)) {
			t.Errorf("%s at rate %v begins with %v, want %v", p.Step, p.Rate, p.ELBO, want)
		} else if p.Steps > 0 && !(off > 1e-9*math.Abs(want)) {
			t.Errorf("%s at rate %v has not moved", p.Step, p.Rate)
		}
	}
}

func TestLearningErrors(t *testing.T) {
	for _, x := range []struct {
		change func(*LearnCase)
		want   string
	}{
		{func(c *LearnCase) { c.Kernel = "SE+" }, `kernel expression "SE+"`},
		{func(c *LearnCase) { c.Device = "moon" }, `unknown device "moon"`},
		{func(c *LearnCase) { c.Config.Settings.Batch = 1000 }, "schedule.batch = 1000 is not less than the "},
	} {
		c := learnCase(t)
		x.change(&c)
		if _, err := PrepareLearn(t.Context(), c); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %s", err, x.want)
		}
	}
	// Where the start cannot be written, no step is made.
	file := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	work, err := PrepareLearn(t.Context(), learnCase(t))
	must.OK(t, err)
	defer func() { must.OK(t, work.Close()) }()
	told := errors.New("told of a point")
	err = work.Run(t.Context(), file, func(LearnPoint) error { return told })
	if err == nil || errors.Is(err, told) || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("%v", err)
	}
}
