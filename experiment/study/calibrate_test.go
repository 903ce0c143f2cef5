package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/internal/must"
)

// tinyCalibration has three kernels, few rows and a quick fit.
func tinyCalibration(t *testing.T, prior string) *Calibration {
	t.Helper()
	var set []config.Override
	for _, s := range []string{"optimise.starts=1", "schedule.steps=5", "schedule.refine=0", "posterior.samples=200"} {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		set = append(set, o)
	}
	c, err := NewCalibration("K12", prior, Range{30, 40}, set)
	must.OK(t, err)
	c.Config.Kernels = config.KernelSpace{Expressions: []string{"SE", "LIN", "PER+LIN"}}
	c.candidates, err = c.Config.Kernels.Candidates()
	must.OK(t, err)
	return c
}

// Draws are taken by the variance of y alone, have the noise asked for and every
// kernel; they are the same for the same seed, and others with another prior.
func TestCalibrationDraws(t *testing.T) {
	c := tinyCalibration(t, "same")
	const sets = 150
	seen := map[int]int{}
	logNoise, draws := 0.0, 0
	for seed := range uint64(sets) {
		s, err := c.draw(t.Context(), seed)
		must.OK(t, err)
		seen[s.truth]++
		draws += s.draws
		logNoise += math.Log(s.noise) / sets
		if v := variance(s.y); v < leastYVar || v > mostYVar || s.noise < leastNoise || s.noise > mostNoise || len(s.x) != len(s.y) ||
			len(s.y) < 30 || len(s.y) > 40 {
			t.Fatalf("seed %d: %d rows, variance %v, noise %v", seed, len(s.y), v, s.noise)
		}
		for _, x := range s.x {
			if math.Abs(x) > halfRange {
				t.Fatalf("x = %v", x)
			}
		}
	}
	// The middle of a log-uniform variable, within 4 standard errors.
	if want := (math.Log(leastNoise) + math.Log(mostNoise)) / 2; math.Abs(logNoise-want) > 4*math.Log(10)/math.Sqrt(12*sets) {
		t.Errorf("mean of log noise %v, want %v", logNoise, want)
	}
	if len(seen) != 3 || draws < 3*sets || draws > 100*sets {
		t.Errorf("kernels %v, %d draws for %d sets", seen, draws, sets)
	}
	a, err := c.draw(t.Context(), 7)
	must.OK(t, err)
	b, err := c.draw(t.Context(), 7)
	must.OK(t, err)
	other, err := tinyCalibration(t, "other").draw(t.Context(), 7)
	must.OK(t, err)
	if fmt.Sprint(a) != fmt.Sprint(b) || fmt.Sprint(a.y) == fmt.Sprint(other.y) {
		t.Error("a data set does not depend on seed and prior alone")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	if _, err := c.Run(ctx, 1, 1); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// From one end to the other: what is believed of classes is a probability, the same
// with any number of lanes.
func TestCalibrationRun(t *testing.T) {
	for _, variable := range []string{"TMPDIR", "TMP"} { // Windows' is the second
		t.Setenv(variable, t.TempDir())
	}
	c := tinyCalibration(t, "same")
	var rows []*CalibrationRow
	for seed := range uint64(4) {
		r, err := c.Run(t.Context(), seed, 1)
		must.OK(t, err)
		if r.Failure != "" || r.Fitted != 3 || r.ClassSize < 1 || r.ClassSize > 3 ||
			r.Leader == "" || r.Generator == "" || r.Draws < 1 || !(r.Seconds > 0) {
			t.Errorf("%+v", r)
		}
		for _, b := range []files.Number{r.Bayes, r.Posterior, r.PointBayes, r.OwnBayes, r.OwnPosterior, r.OwnPointBayes} {
			if !(b >= 0 && b <= 1+1e-9) {
				t.Errorf("belief %v in %+v", b, r)
			}
		}
		if hit := math.Abs(float64(r.ExactGap)) <= 1; hit != r.Hit {
			t.Errorf("hit %v at a gap of %v", r.Hit, r.ExactGap)
		}
		rows = append(rows, r)
	}
	again, err := c.Run(t.Context(), 3, 2)
	must.OK(t, err)
	again.Seconds = rows[3].Seconds
	if *again != *rows[3] {
		t.Errorf("%+v\nwith two lanes\n%+v", rows[3], again)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "kestrel-calibrate-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestCalibrationIsRefused(t *testing.T) {
	for _, c := range []struct{ space, prior, set, want string }{
		{"K13", "same", "", `--spaces K13: kernels.set`},
		{"K12", "new", "", `there is no prior "new"; priors are same, other`},
		{"K12", "same", "data.noise=1", "a calibration draws its data and its kernels itself"},
		{"K12", "same", "seed=1", "a calibration draws its data and its kernels itself"},
		{"K12", "same", "schedule.step=1", `did you mean "schedule.steps"?`},
	} {
		var set []config.Override
		if c.set != "" {
			o, err := config.ParseOverride(c.set)
			must.OK(t, err)
			set = append(set, o)
		}
		if _, err := NewCalibration(c.space, c.prior, Range{300, 1000}, set); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, text := range []string{"", "300", "1000..300", "1..20", "a..b", "10..20000"} {
		if r, err := ParseRowRange(text); err == nil {
			t.Errorf("%q is %v", text, r)
		}
	}
}

func TestClasses(t *testing.T) {
	nan := math.NaN()
	nats := []float64{10, 9.2, 8.5, nan, 7.9, 2}
	for kernel, want := range []string{"110000", "110000", "001010", "000100", "001010", "000001"} {
		got := ""
		for _, in := range classOf(nats, kernel) {
			got += map[bool]string{true: "1", false: "0"}[in]
		}
		if got != want {
			t.Errorf("class of %d: %s, want %s", kernel, got, want)
		}
	}
}

// Cut off at any byte, the table knows the rows before, as they were, and is filled
// up to what it was.
func TestCalibrationThatWasCut(t *testing.T) {
	nan := files.Number(math.NaN())
	rows := []*CalibrationRow{
		{Space: "K12", Seed: 3, Rows: 300, Noise: 0.1, Draws: 7, Generator: "LIN", Leader: "SE", Fitted: 12, ClassSize: 2, Hit: true,
			Bayes: 1.0 / 3, Posterior: 0.25, PointBayes: 1e-300, OwnBayes: 0.5, OwnPosterior: 1, ExactGap: -0.5, Seconds: 1.5},
		{Space: "K12", Seed: 1, Rows: 301, Noise: 0.1, Draws: 1, Generator: "LIN", ExactGap: nan, Failure: "=1, torn\nand \"so\" on"},
		{Space: "K144", Seed: 3, Rows: 302, Noise: 0.3, Draws: 2, Generator: "-SE", Leader: "SE", Fitted: 2, ClassSize: 1,
			Bayes: 1, ExactGap: nan},
	}
	fill := func(dir string) (known int, err error) {
		table, err := OpenCalibration(opened(t, dir))
		if err != nil {
			return 0, err
		}
		for i, r := range rows {
			if k := table.Known(r.Space, r.Seed); k != nil {
				if known++; known != i+1 || fmt.Sprint(*k) != fmt.Sprint(*r) {
					t.Fatalf("row %d is\n%+v, was\n%+v", i, k, r)
				}
			}
		}
		for range 2 { // the second time they are there
			for _, r := range rows {
				must.OK(t, table.Add(r))
			}
		}
		return known, table.Close()
	}
	dir := t.TempDir()
	known, err := fill(dir)
	must.OK(t, err)
	path := filepath.Join(dir, calibrationName)
	want, err := os.ReadFile(path)
	if must.OK(t, err); known != 0 {
		t.Fatalf("%d rows are known of nothing", known)
	}
	for cut := strings.IndexByte(string(want), '\n') + 1; cut <= len(want); cut++ {
		must.OK(t, os.WriteFile(path, want[:cut], 0o644))
		known, err := fill(dir)
		if err != nil || (known == len(rows)) != (cut == len(want)) {
			t.Fatalf("%d bytes: %d rows, %v", cut, known, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Fatalf("%d bytes: filled up to\n%s\nwas\n%s", cut, got, want)
		}
	}
	must.OK(t, os.WriteFile(path, []byte(strings.Replace(string(want), "K12,3,", "K12,x,", 1)), 0o644))
	if _, err := fill(dir); err == nil || !strings.Contains(err.Error(), "line 2: ") {
		t.Error(err)
	}
}
