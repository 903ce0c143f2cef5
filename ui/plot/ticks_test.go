package plot

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTicksKnown(t *testing.T) {
	for _, k := range []struct {
		lo, hi float64
		n      int
		want   []float64
	}{
		{0, 1, 6, []float64{0, .2, .4, .6, .8, 1}},
		{0, 1, 5, []float64{0, .5, 1}},
		{0, 1, 11, []float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1}},
		{-10, 10, 5, []float64{-10, -5, 0, 5, 10}},
		{3, 97, 5, []float64{20, 40, 60, 80}},
		{1.3e-5, 4.2e-5, 4, []float64{2e-5, 3e-5, 4e-5}},
		{0, 60, 4, []float64{0, 20, 40, 60}},
		{1, 1, 5, nil}, {2, 1, 5, nil}, {0, 1, 0, nil}, {math.NaN(), 1, 5, nil}, {0, math.Inf(1), 5, nil},
	} {
		if got, _ := linearTicks(k.lo, k.hi, k.n); !slices.Equal(got, k.want) {
			t.Errorf("linearTicks(%v, %v, %d) = %v, want %v", k.lo, k.hi, k.n, got, k.want)
		}
	}
}

func TestLogTicksKnown(t *testing.T) {
	for _, k := range []struct {
		lo, hi float64
		n      int
		want   []float64
	}{
		{1, 1000, 8, []float64{1, 10, 100, 1000}},
		{0.03, 5, 8, []float64{.05, .1, .2, .5, 1, 2, 5}},
		{1e-6, 1e6, 7, []float64{1e-6, 1e-4, 1e-2, 1, 1e2, 1e4, 1e6}},
		{2, 30, 6, []float64{2, 5, 10, 20}},
		{3.1, 3.3, 5, []float64{3.1, 3.15, 3.2, 3.25, 3.3}},
		{0, 1, 5, nil}, {-1, 1, 5, nil},
	} {
		got, _ := logTicks(k.lo, k.hi, k.n)
		if k.lo == 3.1 { // only: within, increasing, more than one
			if len(got) < 2 || len(got) > k.n || got[0] < 3.1 || got[len(got)-1] > 3.3+1e-9 {
				t.Errorf("logTicks(%v, %v, %d) = %v", k.lo, k.hi, k.n, got)
			}
			continue
		}
		if !slices.Equal(got, k.want) {
			t.Errorf("logTicks(%v, %v, %d) = %v, want %v", k.lo, k.hi, k.n, got, k.want)
		}
	}
}

// TestTicksLaws: within the limits, evenly spaced, as many as there is room
// for, and with labels that read back as increasing numbers.
func TestTicksLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		width := math.Pow(10, rng.Float64()*24-12)
		lo := (rng.Float64()*2 - 1) * width * math.Pow(10, rng.Float64()*4-1)
		hi := lo + width
		n := 3 + rng.IntN(9)
		ticks, step := linearTicks(lo, hi, n)
		if len(ticks) > n || n >= 8 && len(ticks) < 3 {
			t.Fatalf("linearTicks(%v, %v, %d): %d ticks", lo, hi, n, len(ticks))
		}
		a := Axis{}
		labels := a.ticks(nil, lo, hi, n)
		before := math.Inf(-1)
		for i, v := range ticks {
			if v < lo-1e-9*width || v > hi+1e-9*width {
				t.Fatalf("linearTicks(%v, %v, %d): %v is outside", lo, hi, n, v)
			}
			if i > 0 && math.Abs(v-ticks[i-1]-step) > 1e-6*step {
				t.Fatalf("linearTicks(%v, %v, %d) = %v: not every %v", lo, hi, n, ticks, step)
			}
			shown := readNumber(t, labels[i].Text)
			if math.Abs(shown-v) > 1e-3*step || shown <= before {
				t.Fatalf("linearTicks(%v, %v, %d): %v is labelled %q, after %v", lo, hi, n, v, labels[i].Text, before)
			}
			before = shown
		}
	}
}

func TestLogTicksLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		lo := math.Pow(10, rng.Float64()*40-20)
		hi := lo * math.Pow(10, 0.1+rng.Float64()*rng.Float64()*20)
		n := 3 + rng.IntN(8)
		a := Axis{Log: true}
		before := 0.0
		labels := a.ticks(nil, lo, hi, n)
		if len(labels) > n || len(labels) == 0 {
			t.Fatalf("%v..%v, %d: %d ticks", lo, hi, n, len(labels))
		}
		for _, l := range labels {
			shown := readNumber(t, l.Text)
			if l.At < lo*(1-1e-6) || l.At > hi*(1+1e-6) || math.Abs(shown-l.At) > 1e-3*l.At || shown <= before {
				t.Fatalf("%v..%v, %d: %v is labelled %q, after %v", lo, hi, n, l.At, l.Text, before)
			}
			before = shown
		}
	}
}

// readNumber reads a label back.
func readNumber(t *testing.T, text string) float64 {
	t.Helper()
	for suffix, power := range map[string]string{"k": "e3", "M": "e6", "G": "e9", "T": "e12"} {
		if s, ok := strings.CutSuffix(text, suffix); ok {
			text = s + power
		}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "−", "-"), 64)
	if err != nil {
		t.Fatalf("label %q is no number", text)
	}
	return v
}

func TestNumber(t *testing.T) {
	for _, k := range []struct {
		v, step float64
		want    string
	}{
		{0.2, 0.2, "0.2"}, {0, 0.2, "0.0"}, {1, 0.2, "1.0"}, {15, 5, "15"}, {-0.04, 0.5, "0.0"},
		{1500, 500, "1500"}, {15000, 5000, "15k"}, {12500, 500, "12.5k"}, {2e6, 1e6, "2M"}, {123456, 1, "123456"},
		{3e-5, 1e-5, "3e−5"}, {1.5e-5, 5e-6, "1.5e−5"}, {3e20, 1e20, "3e20"}, {-2e-7, 1e-7, "−2e−7"},
		{0.03126, 0, "0.0313"}, {31.26, 0, "31.3"}, {0, 0, "0"}, {312600, 0, "313k"},
		{math.NaN(), 1, "·"}, {math.Inf(1), 1, "∞"}, {math.Inf(-1), 1, "−∞"},
	} {
		if got := Number(k.v, k.step); got != k.want {
			t.Errorf("Number(%v, %v) = %q, want %q", k.v, k.step, got, k.want)
		}
	}
}
