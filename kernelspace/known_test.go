package kernelspace

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func compiled(t *testing.T, expr string, o Options) *Program {
	t.Helper()
	e, err := Parse(expr)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(e.Canonical(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A bounded entry goes from one bound to the other, steadily, and Slope and Entry agree
// with Log.
func TestBoundedEntries(t *testing.T) {
	k := Known{How: Bounded, Low: -1, High: 0.5}
	last := math.Inf(-1)
	for _, x := range []float64{-60, -4, -1, 0, 0.3, 2, 4, 60, 800} {
		log, slope := k.Log(x)
		if log < k.Low || log > k.High || log < last {
			t.Errorf("at %v: %v", x, log)
		}
		last = log
		up, _ := k.Log(x + 1e-6)
		down, _ := k.Log(x - 1e-6)
		if d := (up - down) / 2e-6; math.Abs(d-slope) > 1e-8 || math.Abs(k.Slope(log)-slope) > 1e-12 {
			t.Errorf("at %v: slope %v, from the value %v, by differences %v", x, slope, k.Slope(log), d)
		}
		if math.Abs(x) <= 4 && math.Abs(k.Entry(log)-x) > 1e-9 {
			t.Errorf("entry of %v: %v, not %v", log, k.Entry(log), x)
		}
	}
	if a, b := k.Entry(-7), k.Entry(7); math.Abs(a+b) > 1e-9 || a > -4 || a < -6 {
		t.Errorf("entries beyond the bounds: %v, %v", a, b)
	}
	for _, k := range []Known{{}, {How: Expected, Mean: 3, SD: 1}} {
		if log, slope := k.Log(1.25); log != 1.25 || slope != 1 || k.Entry(1.25) != 1.25 || k.Slope(2) != 1 {
			t.Errorf("%v: its entry is not its logarithm", k)
		}
	}
}

func TestKnowRefuses(t *testing.T) {
	p := compiled(t, "PER*SE", Options{Dim: 1})
	for _, c := range []struct {
		at    int
		known Known
		want  string
	}{
		{3, Known{How: Fixed, Value: 2}, "relative to another amplitude"}, // the variance of SE
		{0, Known{How: Fixed, Value: -1}, "fixed at -1"},
		{0, Known{How: Fixed, Value: math.Inf(1)}, "fixed at"},
		{1, Known{How: Bounded, Low: 1, High: 1}, "between"},
		{5, Known{How: Expected, Mean: math.NaN(), SD: 1}, "noise"},
		{2, Known{How: Expected}, "±"},
	} {
		known := make([]Known, len(p.Params)+1)
		known[c.at] = c.known
		if _, err := p.Know(known); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v at %d: %v", c.known, c.at, err)
		}
	}
	if _, err := p.Know(nil); err == nil {
		t.Error("nothing is taken for what is known of all")
	}
	known := make([]Known, len(p.Params)+1)
	known[2] = Known{How: Fixed, Value: 7}
	q, err := p.Know(known)
	if err != nil || slices.Contains(q.Free, 2) || len(q.Free) != len(p.Free)-1 || !slices.Contains(p.Free, 2) {
		t.Errorf("free: %v of %v (%v)", q.Free, p.Free, err)
	}
}

func TestParamNames(t *testing.T) {
	for text, want := range map[string]string{
		"PER.period": "PER.period", " per . PERIOD ": "PER.period", "rbf#2.lengthscale[ a b ]": "SE#2.lengthscale[a b]",
		`SE.lengthscale["x[1]"]`: "SE.lengthscale[x[1]]", "noise": "noise", "Noise_Variance": "noise_variance", "lin.amplitude": "LIN.amplitude",
		"CP.place[1]": "CP.place[1]", "IRW.origin": "IRW.origin",
	} {
		n, err := ParseParamName(text)
		if err != nil || n.String() != want {
			t.Errorf("%q: %v (%v), want %s", text, n, err, want)
			continue
		}
		if again, err := ParseParamName(n.String()); err != nil || again != n {
			t.Errorf("%s read again: %+v (%v), was %+v", n, again, err, n)
		}
	}
	for text, want := range map[string]string{
		"PER.perod": "no hyperparameter PER.perod: did you mean PER.period?", "period": "did you mean PER.period?",
		"SE.period": "SE has amplitude, variance, lengthscale", "XYZQQ.foo": "write BASE.name", "PER#0.period": "counted from 1",
		"SE.lengthscale[x": "in brackets", "SE.lengthscale[]": "no column", "noise[x]": "no column", "": "write BASE.name",
	} {
		if n, err := ParseParamName(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v (%v), want %q", text, n, err, want)
		}
	}
	for _, name := range ParamNames() {
		if _, err := ParseParamName(name); err != nil {
			t.Errorf("%s is listed: %v", name, err)
		}
	}
}

func TestNamesMeanParameters(t *testing.T) {
	two := Options{Columns: []string{"date", "t"}}
	for _, c := range []struct {
		expr, name string
		column     int
		want       []int
		why        Miss
	}{
		// PER[date] has variance, length scale and period; then SE its variance and length scale.
		{"PER[date]+SE", "PER.period", -1, []int{2}, 0},
		{"PER[date]+SE", "PER.period", 0, []int{2}, 0},
		{"PER[date]+SE", "PER.variance", 0, []int{0}, 0}, // the leaf acts on that column alone
		{"PER[date]+SE", "PER.period", 1, nil, OtherColumn},
		{"PER[date]+SE", "SE.lengthscale", 1, nil, OtherColumn}, // one for both
		{"PER[date]+SE", "noise", -1, []int{5}, 0},
		{"PER[date]*SE", "SE.variance", -1, nil, CarriedByRest},
		{"SE", "PER.period", -1, nil, NoSuchLeaf},
		{"PER[date]+PER[date]", "PER.period", -1, []int{2, 5}, 0},
		{"PER[date]+PER[date]", "PER#2.period", -1, []int{5}, 0},
		{"PER[date]+PER[date]", "PER#3.period", -1, nil, NoSuchNumber},
		{"LIN[date]", "LIN.lengthscale", -1, nil, CarriedByRest},
	} {
		n, err := ParseParamName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []*Line{nil, {Columns: []int{0, 1}, Slopes: []float64{1, 2}, Constant: 3}} {
			o := two
			o.Line = line
			p := compiled(t, c.expr, o)
			want := slices.Clone(c.want)
			if len(want) > 0 && n.Base == "" {
				want = []int{len(p.Params)}
			}
			got, why := p.Find(n, c.column)
			if !slices.Equal(got, want) || len(got) == 0 && why != c.why {
				t.Errorf("%s in %s: %v, %v; want %v, %v", c.name, c.expr, got, why, want, c.why)
			}
		}
	}
}

// A kernel with a line has the covariance of itself and of a line with normal
// coefficients, and what is optimised is its own.
func TestLine(t *testing.T) {
	for _, c := range []struct {
		expr string
		o    Options
		l    Line
	}{
		{"PER*SE", Options{Dim: 1}, Line{[]int{0}, []float64{0.3}, 2}},
		{"SE+LIN", Options{Dim: 1, ARD: true}, Line{[]int{0}, []float64{0.3}, 2}},
		{"SE+LIN*RQ", Options{Columns: []string{"a", "b b", "c"}}, Line{[]int{0, 2}, []float64{0.3, 4}, 5}},
		{"CP(SE,PER)[2]", Options{Dim: 3}, Line{[]int{0, 1, 2}, []float64{0.3, 4, 1}, 5}},
		{"LIN", Options{Dim: 2}, Line{[]int{1}, []float64{7}, 0.1}},
	} {
		with := c.o
		with.Line = &c.l
		p, q := compiled(t, c.expr, c.o), compiled(t, c.expr, with)
		if q.ID != p.ID || !slices.Equal(q.Free, p.Free) || q.Own().Expr.ID() != p.Expr.ID() || !slices.Equal(q.LineColumns(), c.l.Columns) {
			t.Errorf("%s: %s, free %v and not %v, own %s, columns %v", c.expr, q.ID, q.Free, p.Free, q.Own().Expr.ID(), q.LineColumns())
		}
		theta := make([]float64, len(q.Params))
		for i := range theta {
			theta[i] = 0.5 + 0.1*float64(i)
			if k := q.Params[i].Known; k.How == Fixed {
				theta[i] = k.Value
			} else if !q.Params[i].Free {
				theta[i] = 1
			}
		}
		x, y := []float64{0.3, -1.2, 2}[:q.Dim], []float64{-0.8, 0.4, 1.1}[:q.Dim]
		want := p.Eval(theta[:len(p.Params)], x, y, false) + c.l.Constant
		for i, d := range c.l.Columns {
			want += c.l.Slopes[i] * x[d] * y[d]
		}
		if got := q.Eval(theta, x, y, false); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s with a line: %v, want %v", c.expr, got, want)
		}
		s := Scales{Span: []float64{2, 3, 4}[:q.Dim], Spacing: []float64{0.1, 0.1, 0.1}[:q.Dim], YVar: 2}
		for _, i := range p.Free {
			m, w := p.Prior(i, s)
			n, v := q.Prior(i, s)
			if m != n || w != v {
				t.Errorf("%s: the prior of %s is %v, %v with a line, %v, %v without", c.expr, p.Params[i].Name, n, v, m, w)
			}
		}
	}
}
