package periods

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// closest returns the position of the peak nearest to a period and the
// relative distance.
func closest(peaks []Peak, period float64) (at int, off float64) {
	off = math.Inf(1)
	for i, p := range peaks {
		if d := math.Abs(p.Period/period - 1); d < off {
			at, off = i, d
		}
	}
	return at, off
}

func wantPeriod(t *testing.T, peaks []Peak, period, tolerance float64, among int) {
	t.Helper()
	if at, off := closest(peaks, period); off > tolerance || at >= among {
		t.Errorf("period %g: not within %g among the first %d of %v", period, tolerance, among, peaks)
	}
}

func irregular(n int, span float64, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 100 + span*rng.Float64()
	}
	return x
}

// The moments must be those of the definition, on a grid with gaps as on
// arbitrary inputs.
func TestSpectrumMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	grid := make([]float64, 0, 60)
	for i := range 80 {
		if i%80 == 0 || i == 79 || rng.Float64() < 0.7 {
			grid = append(grid, 5+0.25*float64(i))
		}
	}
	for name, x := range map[string][]float64{"grid": grid, "irregular": irregular(50, 7, rng)} {
		y := make([]float64, len(x))
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		s, ok := sampleOf(x)
		if !ok || (s.step > 0) != (name == "grid") {
			t.Fatalf("%s: sampling %+v, %v", name, s, ok)
		}
		sp := newSpectrum(x, y, s)
		for k := 0; k <= 2*sp.k; k += 1 + sp.k/40 {
			for j := range 4 {
				if j == 3 && k > sp.k {
					continue
				}
				var mask, data complex128
				for i, v := range x {
					e := complex(math.Pow(2*(v-s.lo)/s.span-1, float64(j)), 0) *
						cmplx.Exp(complex(0, -2*math.Pi*float64(k)*sp.df*(v-s.lo)))
					mask += e
					data += e * complex(y[i], 0)
				}
				if d := cmplx.Abs(mask - sp.mask[j][k]); d > 1e-4 {
					t.Fatalf("%s: mask %d at %d is off by %g", name, j, k, d)
				}
				if j < 2 && k <= sp.k {
					if d := cmplx.Abs(data - sp.data[j][k]); d > 1e-4 {
						t.Fatalf("%s: data %d at %d is off by %g", name, j, k, d)
					}
				}
			}
		}
	}
}

// What solve says is explained must be what subtracting explains, by direct
// evaluation of the residuals; and remove must leave the residuals' moments.
func TestSpectrumRemove(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	x := irregular(60, 10, rng)
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Sin(2*math.Pi*v/2.3) + 0.3*rng.NormFloat64()
	}
	s, _ := sampleOf(x)
	sp := newSpectrum(x, y, s)
	const k = 17
	l, z := sp.solve(k)
	a := coefficients(l, z)
	basis := func(v float64) [terms]float64 {
		u := 2*(v-s.lo)/s.span - 1
		sin, cos := math.Sincos(2 * math.Pi * k * sp.df * (v - s.lo))
		return [terms]float64{1, u, u * u, cos, sin, u * cos, u * sin}
	}
	res := make([]float64, len(y))
	var rr float64
	for i, v := range x {
		res[i] = y[i]
		for q, f := range basis(v) {
			res[i] -= a[q] * f
		}
		rr += res[i] * res[i]
	}
	for q := range terms {
		var dot float64
		for i, v := range x {
			dot += res[i] * basis(v)[q]
		}
		if math.Abs(dot) > 1e-4 {
			t.Errorf("residuals are not orthogonal to function %d of the basis: %g", q, dot)
		}
	}
	sp.remove(k)
	if math.Abs(sp.yy-rr) > 1e-4 {
		t.Errorf("left %g, directly %g", sp.yy, rr)
	}
	want := newSpectrum(x, res, s)
	if math.Abs(sp.t2y-want.t2y) > 1e-4 {
		t.Errorf("Σ t² y is %g, directly %g", sp.t2y, want.t2y)
	}
	for j := range sp.data {
		for i := range sp.data[j] {
			if d := cmplx.Abs(sp.data[j][i] - want.data[j][i]); d > 1e-3 {
				t.Fatalf("data %d at %d is off by %g", j, i, d)
			}
		}
	}
}

func TestPeriodsIrregularSine(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 3))
		x := irregular(300, 20, rng)
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = 40 + 3*math.Sin(2*math.Pi*v/1.7+1) + rng.NormFloat64()
		}
		wantPeriod(t, Find(x, y, Options{}), 1.7, 1e-2, 1)
	}
}

func TestPeriodsThreeAndTrend(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 3))
	x := irregular(1000, 100, rng)
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = 2*v + 0.03*v*v + 5*math.Sin(2*math.Pi*v/23) + 2*math.Cos(2*math.Pi*v/5.1) +
			0.8*math.Sin(2*math.Pi*v/0.7) + 0.5*rng.NormFloat64()
	}
	peaks := Find(x, y, Options{})
	for _, p := range []float64{23, 5.1, 0.7} {
		wantPeriod(t, peaks, p, 1e-2, 3)
	}
}

func TestPeriodsFundamentalBehindHarmonics(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	x := irregular(500, 60, rng)
	for _, f := range map[string]func(u float64) float64{
		"strong second harmonic": func(u float64) float64 { return 0.4*math.Sin(u) + 2*math.Sin(2*u+1) },
		"second and third only":  func(u float64) float64 { return math.Sin(2*u) + 0.7*math.Sin(3*u) },
	} {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = f(2*math.Pi*v/4) + 0.3*rng.NormFloat64()
		}
		peaks := Find(x, y, Options{})
		wantPeriod(t, peaks, 4, 1e-2, 1)
		wantPeriod(t, peaks, 2, 1e-2, len(peaks))
	}
}

// LIN × PER changes its sign at 0, which splits the line of an ordinary
// periodogram in two.
func TestPeriodsChangingAmplitude(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	x := make([]float64, 400)
	y := make([]float64, len(x))
	for i := range x {
		x[i] = 20*rng.Float64() - 10
		y[i] = x[i]*math.Sin(x[i]+0.4) + 0.3*rng.NormFloat64()
	}
	wantPeriod(t, Find(x, y, Options{}), 2*math.Pi, 2e-2, 1)
}

func TestPeriodsNoise(t *testing.T) {
	alarms := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		x := irregular(150, 10, rng)
		y := make([]float64, len(x))
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		if len(Find(x, y, Options{})) > 0 {
			alarms++
		}
		if seed == 0 && len(Find(x, y, Options{FalseAlarm: 1})) == 0 {
			t.Error("no insignificant peaks with FalseAlarm 1")
		}
	}
	if alarms > 4 {
		t.Errorf("%d of 60 series of white noise have a period, less than 1 expected", alarms)
	}
}

func TestPeriodsDegenerate(t *testing.T) {
	ramp := make([]float64, 200)
	few := make([]float64, 200)
	constant := make([]float64, 200)
	bad := make([]float64, 200)
	wave := make([]float64, 200)
	for i := range ramp {
		ramp[i] = float64(i)
		few[i] = float64(i % 5)
		bad[i] = math.NaN()
		wave[i] = math.Sin(float64(i))
	}
	for name, c := range map[string][2][]float64{
		"empty": {nil, nil}, "short": {ramp[:5], wave[:5]}, "constant x": {constant, wave}, "few values": {few, wave},
		"constant y": {ramp, constant}, "quadratic": {ramp, ramp}, "not a number": {ramp, bad},
	} {
		if p := Find(c[0], c[1], Options{}); len(p) != 0 {
			t.Errorf("%s: %v", name, p)
		}
	}
	wave[3] = math.NaN()
	wantPeriod(t, Find(ramp, wave, Options{}), 2*math.Pi, 1e-2, 1)
}

func TestColumnPeriods(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	x := make([]float64, 3*3000)
	y := make([]float64, 3000)
	for i := range y {
		a, b, c := 50*rng.Float64(), rng.Float64(), float64(rng.IntN(4))
		copy(x[3*i:], []float64{a, b, c})
		y[i] = math.Sin(2*math.Pi*a/3) + math.Sin(2*math.Pi*b/0.13) + c
	}
	got := Columns(x, y, 3, Options{Rows: 1500})
	wantPeriod(t, got[0], 3, 1e-2, 1)
	wantPeriod(t, got[1], 0.13, 1e-2, 1)
	if len(got[2]) != 0 {
		t.Errorf("four distinct values have periods %v", got[2])
	}
}

// sharedData opens a file of the shared data, or skips the test.
func sharedData(t *testing.T, path string) io.Reader {
	t.Helper()
	root := os.Getenv("KESTREL_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(root, path))
	if err != nil {
		t.Skipf("shared data absent: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func readSeries(t *testing.T, r io.Reader, column int, keep func(i int) bool) (x, y []float64) {
	t.Helper()
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows[1:] {
		if !keep(i) {
			continue
		}
		v, err := strconv.ParseFloat(row[0], 64)
		if err != nil { // a time stamp of a grid of quarter hours
			v = float64(i) / 96
		}
		w, err := strconv.ParseFloat(row[column], 64)
		if err != nil {
			t.Fatal(err)
		}
		x, y = append(x, v), append(y, w)
	}
	return x, y
}

func TestPeriodsOfRealSeries(t *testing.T) {
	for _, name := range []string{"01-airline.csv", "03-mauna.csv"} {
		x, y := readSeries(t, sharedData(t, filepath.Join("series", name)), 1, func(int) bool { return true })
		peaks := Find(x, y, Options{})
		t.Log(name, peaks)
		wantPeriod(t, peaks, 1, 1e-2, 1)
	}
}

func BenchmarkPeriods(b *testing.B) {
	rng := rand.New(rand.NewPCG(4, 3))
	for _, n := range []int{1000, 190336} {
		x := irregular(n, 100, rng)
		y := make([]float64, n)
		for i, v := range x {
			if n > 1000 {
				x[i] = float64(i)
			}
			y[i] = math.Sin(v) + 0.5*rng.NormFloat64()
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Find(x, y, Options{})
			}
		})
	}
}
