package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/vbks"
)

// The ELBO at the start is that of independent programs (PyTorch and GPflow)
// for the same data, kernels and starting values: for every kernel list and
// size, and from either form of q(v).
func TestBenchELBO(t *testing.T) {
	for _, c := range []struct {
		work, kernels, step string
		want, tolerance     float64
		long                bool
	}{
		{"a", "one", "adam", -13941.377664995, 1e-9, false},
		{"a", "k12", "adam", -123564.742517819, 1e-9, false},
		{"a", "k144", "adam", -2544867.407127, 1e-9, false},
		{"a", "k144", "theta", -2544867.407127, 1e-9, false},
		{"b", "one", "adam", -114892.437385, 1e-9, false},
		{"b", "one", "frozen", -114892.437385, 1e-9, false},
		{"c", "one", "adam", -114933.12796, 1e-9, true},
	} {
		if c.long && testing.Short() {
			continue
		}
		w, err := findBenchWork(c.work)
		if err != nil {
			t.Fatal(err)
		}
		exprs, err := w.kernels(c.kernels)
		if err != nil {
			t.Fatal(err)
		}
		setup, err := w.setup(stepKind(c.step), exprs)
		if err != nil {
			t.Fatal(err)
		}
		dev, err := prepare.OpenDevice(config.DeviceChoice{Lanes: 2})
		if err != nil {
			t.Fatal(err)
		}
		b, err := vbks.NewStepBench(dev, setup)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.ELBO(w.b)
		b.Close()
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(got-c.want) <= c.tolerance*math.Abs(c.want)) {
			t.Errorf("%+v: ELBO %.12g", c, got)
		}
	}
}

// A row has what is promised of it, under those names.
func TestBenchRow(t *testing.T) {
	for _, c := range []Case{
		{"a", "one", "adam", 1}, {"a", "SE;PER*LIN", "theta", 2}, {"a", "K12", "frozen", 1}, {"a", "one", "predict", 1},
		{"a", "SE;LIN;RQ", "posterior", 1}, {"a", "SE;LIN", "bound", 2},
	} {
		row, err := Run(t.Context(), c, Options{Seconds: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		names := []string{"work", "kernels", "step", "device", "level", "threads", "K", "ms_min", "ms_median", "steps", "allocs", "finite",
			"versions"}
		if c.Step != "posterior" {
			names = append(names, "M", "N", "gflops", "elbo_start", "elbo_end")
		}
		if c.Step != "posterior" && c.Step != "bound" {
			names = append(names, "B")
		}
		for _, n := range names {
			if _, ok := got[n]; !ok {
				t.Errorf("%+v: no %q in %s", c, n, text)
			}
		}
		if !(row.MsMin > 0 && row.MsMedian >= row.MsMin) || row.Steps < 3 || !row.Finite {
			t.Errorf("%+v: %s", c, text)
		}
		if f := row.PeakFraction; f != nil && !(*f > 0 && *f < 1.2) {
			t.Errorf("%+v: %v of the peak", c, *f)
		}
		still := c.Step == "predict" || c.Step == "posterior" || c.Step == "bound"
		if moved := row.ELBOStart != nil && *row.ELBOStart != *row.ELBOEnd; moved == still {
			t.Errorf("%+v: ELBO from %v to %v", c, row.ELBOStart, row.ELBOEnd)
		}
	}
}

func TestBenchStops(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := Run(ctx, Case{"a", "one", "adam", 1}, Options{Seconds: 100}); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

// The programs take turns, each beginning every other round; the ratio is that
// of the least times, whatever the rounds in which they fell.
func TestCompare(t *testing.T) {
	elbo := func(v float64) *files.Number { n := files.Number(v); return &n }
	var order strings.Builder
	figures := func(name string, e *files.Number, ms ...float64) func() (*Figure, error) {
		return func() (*Figure, error) {
			order.WriteString(name)
			f := &Figure{MsMin: ms[0], ELBOStart: e}
			ms = ms[1:]
			return f, nil
		}
	}
	c, err := Compare("peer", 3, figures("o", elbo(-1000), 4, 2, 3), figures("p", elbo(-1000.0005), 10, 12, 20))
	if err != nil {
		t.Fatal(err)
	}
	if order.String() != "oppoop" || c.Ratio != 5 || c.OursSpread != 1 || c.PeerSpread != 1 || c.Warning != "" {
		t.Errorf("order %s, %+v", &order, c)
	}
	for _, other := range []float64{-1000.002, math.NaN()} {
		c, err = Compare("peer", 1, figures("o", elbo(-1000), 4), figures("p", elbo(other), 10))
		if err != nil || !strings.Contains(c.Warning, "do not do the same work") {
			t.Errorf("%v: %+v", err, c)
		}
	}
	broken := errors.New("broken")
	if _, err := Compare("peer", 1, figures("o", nil, 1), func() (*Figure, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// What a program prints last counts; where it fails, what it said last.
func TestReadFigure(t *testing.T) {
	f, err := ReadFigure(ShellCommand(t.Context(), `echo warming up && echo {"ms_min":2.5,"elbo_start":-7}`), "peer")
	if err != nil && strings.Contains(err.Error(), "not a JSON object") { // a shell that takes quotes away
		f, err = ReadFigure(ShellCommand(t.Context(), `echo warming up && echo '{"ms_min":2.5,"elbo_start":-7}'`), "peer")
	}
	if err != nil || f.MsMin != 2.5 || *f.ELBOStart != -7 {
		t.Fatal(f, err)
	}
	for command, want := range map[string]string{
		"echo one 1>&2 && echo two 1>&2 && exit 3": "peer failed (exit status 3): two",
		"exit 3":  "peer failed: exit status 3",
		"echo 5":  `peer: its last line "5" is not a JSON object with ms_min`,
		"echo {}": `peer: its last line "{}" is not a JSON object with ms_min`,
		"cd . ":   `peer: its last line "" is not a JSON object with ms_min`,
	} {
		if _, err := ReadFigure(ShellCommand(t.Context(), command), "peer"); fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", command, err, want)
		}
	}
}
