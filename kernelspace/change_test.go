package kernelspace

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestChangeForms(t *testing.T) {
	for _, c := range []struct{ in, id, text, letters string }{
		{"cp( SE , LIN+PER )", "CP(SE,PER+LIN)", "CP(SE, PER + LIN)", "cp(s,p+l)"},
		{"CHANGEPOINT(SE,LIN)[time]", "CP(SE,LIN)[time]", "CP(SE, LIN)[time]", "cp(s,l)[time]"},
		{"SE*CP(LIN,SE)+LIN", "CP(LIN,SE)*SE+LIN", "CP(LIN, SE)×SE + LIN", "cp(l,s)×s+l"},
		{"CP(CP(SE,RQ)[2],(LIN))[1]*PER", "CP(CP(SE,RQ)[2],LIN)[1]*PER", "CP(CP(SE, RQ)[2], LIN)[1]×PER", "cp(cp(s,r)[2],l)[1]×p"},
		{"(CP(SE,LIN)+PER)[2]", "CP(SE[2],LIN[2])[2]+PER[2]", "CP(SE[2], LIN[2])[2] + PER[2]", "cp(s[2],l[2])[2]+p[2]"},
		{"(CP(SE,LIN)[1]+PER)[;ard]", "CP(SE[;ard],LIN[;ard])[1]+PER[;ard]", "CP(SE[;ard], LIN[;ard])[1] + PER[;ard]",
			"cp(s[;ard],l[;ard])[1]+p[;ard]"},
	} {
		e := parse(t, c.in)
		if e.ID() != c.id || e.String() != c.text || e.Letters() != c.letters {
			t.Errorf("%s: %q, %q, %q", c.in, e.ID(), e.String(), e.Letters())
		}
		for _, s := range []string{e.ID(), e.String(), e.Letters(), e.Written()} {
			if !parse(t, s).Equal(e) {
				t.Errorf("%s: %q is another kernel", c.in, s)
			}
		}
	}
	if parse(t, "CP(SE,LIN)").Equal(parse(t, "CP(LIN,SE)")) {
		t.Error("the kernels of a change point were exchanged")
	}
}

func TestChangeErrors(t *testing.T) {
	for _, c := range []struct {
		in   string
		col  int
		want string
	}{
		{"CP", 0, "CP takes two kernels: CP(A,B)"},
		{"SE+CP*LIN", 3, "CP takes two kernels"},
		{"CP()", 3, "CP takes two kernels"},
		{"CP(SE)", 5, "CP takes two kernels"},
		{"CP(SE,)", 6, "CP takes two kernels"},
		{"CP(,SE)", 3, "CP takes two kernels"},
		{"CP(SE,LIN,PER)", 9, "CP takes two kernels"},
		{"CP(SE,LIN", 9, `expected ")" to close the "(" at column 3`},
		{"CP(SE LIN)", 6, `expected "+" or "*"`},
		{"(SE,LIN)", 3, `but found ","`},
		{"CP(SE,LIN)[1,2]", 10, "one column"},
		{"CP(SE,LIN)[;ard]", 10, "one column"},
		{"CP(SE,LIN)[1][2]", 13, "one column"},
		{strings.Repeat("CP(SE,", 101) + "SE" + strings.Repeat(")", 101), 602, `more than 100 "(" are open`},
		{"CP(" + strings.Repeat("SE+", 999) + "SE,SE)", 3 + 3*999, "more than 1000 base kernels"},
	} {
		_, err := Parse(c.in)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.30s: %v", c.in, err)
		} else if syntax.Col != c.col || !strings.Contains(syntax.Msg, c.want) {
			t.Errorf("%.30s: %q at %d, want %q at %d", c.in, syntax.Msg, syntax.Col, c.want, c.col)
		}
	}
	_, err := Compile(parse(t, "(CP(SE,LIN)+PER)[1,2]"), Options{Dim: 2})
	if err == nil || !strings.Contains(err.Error(), "a change point is along one column") {
		t.Errorf("along two columns: %v", err)
	}
}

// With its place far beyond the data a change point is the first kernel, far before
// them the second; where it is sharp there is nothing in common across it.
func TestChangeLimits(t *testing.T) {
	p := compile(t, parse(t, "CP(SE,LIN+PER)"), Options{Dim: 1})
	first, second := compile(t, parse(t, "SE"), Options{Dim: 1}), compile(t, parse(t, "LIN+PER"), Options{Dim: 1})
	r := newRand(20)
	theta, rows := randomTheta(r, p), randomRows(r, 6, 1)
	one, other := theta[2:4], theta[4:]
	for i, x := range rows {
		for j, y := range rows {
			at := func(place, width float64) float64 {
				theta[0], theta[1] = RawPlace(place), width
				return p.Eval(theta, x, y, i == j)
			}
			a, b := first.Eval(one, x, y, i == j), second.Eval(other, x, y, i == j)
			if got := at(1e4, 0.3); relative(got, a, 1e-9) > 1e-9 {
				t.Errorf("far right: %g, want %g", got, a)
			}
			if got := at(-1e4, 0.3); relative(got, b, 1e-9) > 1e-9 {
				t.Errorf("far left: %g, want %g", got, b)
			}
			want := 0.0
			switch {
			case x[0] < 0.1 && y[0] < 0.1:
				want = a
			case x[0] > 0.1 && y[0] > 0.1:
				want = b
			}
			if got := at(0.1, 1e-6); relative(got, want, 1e-9) > 1e-9 {
				t.Errorf("sharp: %g, want %g", got, want)
			}
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []float64{0, 1, -1, 1e-9, -3.7, 2024, -2024, 1e12, -1e12} {
		raw := RawPlace(c)
		if got := PlaceOf(raw); math.Abs(got-c) > 1e-12*math.Max(1, math.Abs(c)) || math.Abs(math.Log(raw)-math.Asinh(c)) > 1e-12 {
			t.Errorf("%g: %g became %g", c, raw, got)
		}
	}
	s := Scales{Span: []float64{74}, Middle: []float64{1987}, Spacing: []float64{1}}
	p := compile(t, parse(t, "CP(CONST,CONST)"), Options{Dim: 1})
	mean, sd := p.Prior(0, s)
	lo, hi := p.Bounds(0, s)
	for want, got := range map[float64]float64{1987: mean, 1987 - 0.55*74: lo, 1987 + 0.55*74: hi} {
		if math.Abs(math.Sinh(got)-want) > 1 {
			t.Errorf("%g, want %g", math.Sinh(got), want)
		}
	}
	if within := math.Sinh(mean+sd) - math.Sinh(mean); within < 20 || within > 30 {
		t.Errorf("the place is within %g", within)
	}
}

// A change point is one summand, whatever it is made of.
func TestChangeIsOneComponent(t *testing.T) {
	p := compile(t, parse(t, "(CP(SE+LIN,CP(PER,RQ)*LIN)+RQ)*SE"), Options{Dim: 2})
	components, err := p.Components()
	if err != nil || len(components) != 2 {
		t.Fatalf("%v, %v", components, err)
	}
	theta, rows := randomTheta(newRand(21), p), randomRows(newRand(22), 3, 2)
	for i := range rows {
		sum := 0.0
		for c := range components {
			sum += components[c].Program.Eval(components[c].Theta(theta), rows[0], rows[i], false)
		}
		if want := p.Eval(theta, rows[0], rows[i], false); relative(sum, want, 1e-9) > 1e-12 {
			t.Errorf("components have %g, the kernel %g", sum, want)
		}
	}
	change := compile(t, parse(t, "CP(SE+LIN,CP(PER,RQ)*LIN)"), Options{Dim: 2})
	before, after := change.Branches()
	theta = randomTheta(newRand(23), change)
	for place, branch := range map[float64]Component{1e4: before, -1e4: after} {
		theta[0] = RawPlace(place)
		got, want := branch.Program.Eval(branch.Theta(theta), rows[0], rows[1], false), change.Eval(theta, rows[0], rows[1], false)
		if relative(got, want, 1e-9) > 1e-9 {
			t.Errorf("%s has %g, want %g", branch.Expr, got, want)
		}
	}
}

func TestIsSteps(t *testing.T) {
	for text, want := range map[string]bool{"CP(CONST,CONST)": true, "CP(CP(CONST,CONST),CONST)": true, "CP(CONST,CP(CONST,CONST))": true,
		"CP(CONST,SE)": false, "CP(CONST,CP(RW,CONST))": false, "CONST": false, "CP(CONST,CONST)+SE": false, "CP(CONST+CONST,CONST)": false} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if e.IsSteps() != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
	if (Expr{}).IsSteps() {
		t.Error("no kernel has steps")
	}
}
