package kernelspace

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Kernels of series are on time, those with terms of the calendar have every level,
// have at most six leaves, or nine with steps, and all compile; a column's name may be any.
func TestOnCalendar(t *testing.T) {
	names := []string{"a,b", "hour", "weekday"}
	for set, seasons := range map[string]int{
		"series": 1, "series2": 2, "series3": 2, "series-steps": 1, "series2-steps": 2, "series3-steps": 2,
	} {
		leaves := 6
		if strings.HasSuffix(set, Steps) { // two steps are leaves, too, between three constants in the place of one
			leaves = 9
		}
		plain, err := Set(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, terms := range []bool{false, true} {
			texts, err := OnCalendar(set, names[0], names[1:], terms)
			if err != nil {
				t.Fatal(err)
			}
			with, most := 0, 0
			for i, text := range texts {
				e, err := Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				p, err := Compile(e.Canonical(), Options{Columns: names})
				if err != nil {
					t.Fatal(err)
				}
				seasonal := 0
				for _, in := range p.leafInstrs() {
					if in.Seasonal() {
						seasonal++
					}
					if !in.onTime() && !(terms && slices.Equal(in.Cols, []int{1, 2}) && in.Op == OpSE && in.NumScale == 2) {
						t.Errorf("%s acts on %v", text, in.Cols)
					}
				}
				most = max(most, seasonal)
				if strings.Contains(text, "weekday") {
					with++
				}
				if terms && e.NumLeaves() > leaves || slices.Contains(texts[:i], text) {
					t.Errorf("%s has %d leaves, or is there twice", text, e.NumLeaves())
				}
				if !terms && !e.Equal(plain[i].On(names[0])) {
					t.Errorf("%s is not %s on time", text, plain[i])
				}
			}
			if n := len(texts); terms && (n < 20 || n > 65 || with == 0 || with == n || most < seasons) || !terms && n != len(plain) {
				t.Errorf("%s: %d kernels, %d with the calendar", set, n, with)
			}
		}
	}
	e, err := Parse("CP(SE,LIN[1])+PER[;ard]")
	if err != nil {
		t.Fatal(err)
	}
	if got := e.On("t").ID(); got != "CP(SE[t],LIN[1])[t]+PER[t;ard]" {
		t.Error(got)
	}
}

// Of a leaf on another column than time the informed priors say nothing; a PER there is
// no season.
func TestPriorsOfTheCalendar(t *testing.T) {
	e, err := Parse("PER[2]*SE[2]+PER[1]*SE[1]+RW[1]")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(e, Options{Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	s := Scales{Span: []float64{100, 3}, Spacing: []float64{1, 1}, RMS: []float64{50, 1}, YVar: 1, Seasons: []float64{7}}
	if got := p.Seasons(s); !slices.Equal(got, []float64{7}) {
		t.Errorf("seasons %v", got)
	}
	for i, q := range p.Params {
		in, _ := p.leafOf(i)
		mean, sd := p.SeriesPrior(i, s)
		broad, broadSD := p.Prior(i, s)
		if !in.onTime() && (mean != broad || sd != broadSD) {
			t.Errorf("%s of column 2 has N(%v, %v²)", q.Name, mean, sd)
		}
		if in.onTime() && q.Name == namePeriod && math.Abs(mean-math.Log(7)) > 1e-12 {
			t.Errorf("the period of time is %v", math.Exp(mean))
		}
	}
}
