package kernelspace

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// four is Options of two columns, the second with four levels.
func four() Options {
	return Options{Columns: []string{"x", "kind"}, Levels: func(column int) []float64 {
		if column == 1 {
			return []float64{-1, 0, 1, 2}
		}
		return nil
	}}
}

func TestLevelsWithLengths(t *testing.T) {
	p := compile(t, parse(t, "CAT[kind;ard]"), four())
	var names []string
	for i, q := range p.Params {
		names = append(names, fmt.Sprintf("%s %d %d %v", q.Name, q.Column, q.Level, q.Free))
		if q.Level > 0 && p.Level(i) != float64(q.Level-2) {
			t.Errorf("parameter %d is of level %v", i, p.Level(i))
		}
	}
	want := []string{"variance -1 0 true", "lengthscale 1 1 true", "lengthscale 1 2 true", "lengthscale 1 3 true", "lengthscale 1 4 true"}
	if !slices.Equal(names, want) {
		t.Errorf("parameters %q", names)
	}
	theta := []float64{1.7, 0.5, 1, 2, 1e-3}
	for _, c := range []struct{ a, b, want float64 }{
		{-1, -1, 1.7},
		{-1, 0, 1.7 * math.Exp(-0.5/0.25-0.5)},
		{1, -1, 1.7 * math.Exp(-0.5/4-0.5/0.25)},
		{1, 0, 1.7 * math.Exp(-0.5/4-0.5)},
		{2, 1, 0}, // of a vanishing length
		{7, 1, 0}, // of no length
		{7, 8, 0}, // nor are two of these near
		{7, 7, 1.7},
	} {
		if got := p.Eval(theta, []float64{0, c.a}, []float64{3, c.b}, false); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("levels %v and %v: %v, not %v", c.a, c.b, got, c.want)
		}
	}
	for i := range p.Params {
		if unit := p.Unit(i, []string{"m", "kg"}, "s"); i > 0 && unit != "" {
			t.Errorf("parameter %d has the unit %q", i, unit)
		}
		lo, hi := p.Bounds(i, Scales{})
		if mean, sd := p.Prior(i, Scales{}); i > 0 && (mean != 0 || sd != 1.5 || lo != math.Log(0.1) || hi != math.Log(100)) {
			t.Errorf("parameter %d: %v ± %v from %v to %v", i, mean, sd, lo, hi)
		}
	}
	if at, _ := p.Find(ParamName{Base: "CAT", Name: "lengthscale", Column: "kind"}, 1); !slices.Equal(at, []int{1, 2, 3, 4}) {
		t.Errorf("CAT.lengthscale[kind] is %v", at)
	}
}

// Lengths for levels are those of SE over a column of 0 and 1 for each level.
func TestLevelsAsIndicators(t *testing.T) {
	r := newRand(3)
	for _, e := range []string{"CAT[kind;ard]", "SE[x]*CAT[kind;ard]+CAT[kind;ard]", "CP(CAT[kind;ard],LIN[x])[x]"} {
		p := compile(t, parse(t, e), four())
		indicators := strings.ReplaceAll(e, "CAT[kind;ard]", "SE[a,b,c,d;ard]")
		q := compile(t, parse(t, indicators), Options{Columns: []string{"x", "a", "b", "c", "d"}})
		theta := randomTheta(r, p)
		if len(theta) != len(q.Params) {
			t.Fatalf("%s has %d parameters, %s %d", e, len(theta), indicators, len(q.Params))
		}
		x, with := randomRows(r, 20, 2), make([][]float64, 20)
		for i := range x {
			level := r.IntN(4)
			x[i][1] = float64(level - 1)
			with[i] = make([]float64, 5)
			with[i][0], with[i][1+level] = x[i][0], 1
		}
		a, b := p.Matrix(theta, x, nil), q.Matrix(theta, with, nil)
		for i := range a {
			for j := range a[i] {
				if math.Abs(a[i][j]-b[i][j]) > 1e-14*math.Abs(a[i][i]+a[j][j]) {
					t.Fatalf("%s: %v, by indicators %v", e, a[i][j], b[i][j])
				}
			}
		}
		if e[0] != 'C' || e[1] != 'P' { // of which rounding is not symmetric
			positiveSemidefinite(t, e, a)
		}
	}
}

func TestLevelsAsWritten(t *testing.T) {
	e := parse(t, "SE[x]*cat[ kind ; ARD ]+LEVELS[2;ard]")
	if e.ID() != "SE[x]*CAT[kind;ard]+CAT[2;ard]" || e.String() != "SE[x]×CAT[kind;ard] + CAT[2;ard]" {
		t.Errorf("read as %s, %s", e.ID(), e)
	}
	if parse(t, "CAT[kind]").Equal(parse(t, "CAT[kind;ard]")) {
		t.Error("with lengths and without is one kernel")
	}
	plain := compile(t, parse(t, "CAT[kind]"), Options{Columns: []string{"x", "kind"}, ARD: true})
	if plain.Instrs[0].Op != OpCat || len(plain.Params) != 1 {
		t.Error("lengths of columns have become those of levels")
	}
	two := four()
	two.Columns = []string{"kind"}
	two.Levels = func(int) []float64 { return []float64{0, 1} }
	if p := compile(t, parse(t, "CAT[;ard]"), two); len(p.Params) != 3 {
		t.Errorf("two levels have %d parameters", len(p.Params))
	}
	many := four()
	many.Levels = func(int) []float64 { return make([]float64, MaxLevels+1) }
	for _, c := range []struct {
		expr, message string
		o             Options
	}{
		{"CAT[x,kind;ard]", "2 columns; a length for each level is of one column", four()},
		{"CAT[;ard]", "2 columns; a length for each level is of one column", four()},
		{"CAT[x;ard]", "the levels of the column are not known", four()},
		{"CAT[2;ard]", "the levels of the column are not known", Options{Dim: 2}},
		{"CAT[kind;ard]", "more than 100 levels", many},
	} {
		if _, err := Compile(parse(t, c.expr), c.o); err == nil || !strings.Contains(err.Error(), c.message) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.expr, err)
		}
	}
}

// Parts of a sum keep the levels of their leaves.
func TestLevelsOfComponents(t *testing.T) {
	p := compile(t, parse(t, "(SE[x]+CAT[kind;ard])*LIN[x]"), four())
	theta := randomTheta(newRand(5), p)
	components, err := p.Components()
	if err != nil {
		t.Fatal(err)
	}
	x, y := []float64{0.5, 1}, []float64{-2, 2}
	sum := 0.0
	for i := range components {
		sum += components[i].Program.Eval(components[i].Theta(theta), x, y, false)
	}
	if whole := p.Eval(theta, x, y, false); math.Abs(sum-whole) > 1e-14 {
		t.Errorf("parts sum to %v, not %v", sum, whole)
	}
}
