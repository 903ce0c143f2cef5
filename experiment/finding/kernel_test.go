package finding

import (
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
)

// Kernels in words, with hyperparameters chosen by hand.
func TestKernelSentences(t *testing.T) {
	first := "2024-01-01T00:00:00Z"
	one := []datasets.ColumnSummary{{Name: "x", Unit: "m", Role: "input"}, {Name: "y", Unit: "K", Role: "target"}}
	clock := []datasets.ColumnSummary{{Name: "when", Unit: "d", Role: "input", First: first, Max: 400}, {Name: "y", Role: "target"}}
	two := []datasets.ColumnSummary{{Name: "x", Unit: "m", Role: "input"}, {Name: "w", Role: "input"}, {Name: "y", Unit: "K", Role: "target"}}
	for _, c := range []struct {
		kernel  string
		columns []datasets.ColumnSummary
		ard     bool
		values  []files.Number // raw parameters, then the noise variance
		fixed   []record.Fixed
		want    string
	}{
		{"SE", one, false, []files.Number{4, 2.5, 0.25}, nil,
			"It is a smooth variation with a length scale of 2.5 m (standard deviation 2 K). Observations scatter about it with a standard " +
				"deviation of 0.5 K."},
		{"PER*SE+LIN", clock, false, []files.Number{9, 1, 1, 1, 50, 1, 1, 0.01}, []record.Fixed{{Name: "LIN.centre", Column: "when", Value: 1.5}},
			"It is the sum of 2 parts: a pattern that repeats every 24 h, changing over about 50 days (standard deviation 3); and a straight " +
				"line, 0 at when = 2024-01-02 12:00. " +
				"Observations scatter about it with a standard deviation of 0.1."},
		{"LIN*LIN*PER", one, false, []files.Number{1, 1, 7, 1, 1, 1, 1, 0}, nil,
			"It is a pattern that repeats every 7 m, growing with the square of the distance from x = 0. Observations scatter about it with a " +
				"standard deviation of 0 K."},
		{"LIN*LIN", one, false, []files.Number{1, 1, 1, 1, 1}, nil,
			"It is a product of 2 straight lines. Observations scatter about it with a standard deviation of 1 K."},
		{"(RQ+M32)*LIN", one, false, []files.Number{4, 2, 1, 1, 0.5, 1, 1, 1}, nil,
			"It is the sum of 2 parts: a variation on many length scales about 2 m, growing in proportion to the distance from x = 0; " +
				"and a fairly rough variation with a length scale of 0.5 m, growing in proportion to the distance from x = 0. Observations scatter " +
				"about it with a standard deviation of 1 K."},
		{"SE[x]+WHITE+CONST", two, false, []files.Number{9, 1, 5, 4, 1}, nil,
			"It is the sum of 3 parts: a smooth variation in x with a length scale of 1 m (standard deviation 3 K); a constant (standard " +
				"deviation 2.24 K); " +
				"and noise that no other row shares (standard deviation 2 K). Observations scatter about it with a standard deviation of 1 K."},
		{"SE", two, true, []files.Number{4, 2, 3000, 1}, nil,
			"It is a smooth variation in all inputs with a length scale of 2 m in x and 3000 in w (standard deviation 2 K). Observations scatter " +
				"about it with a standard deviation of 1 K."},
		{"RW*PER+RW+IRW", clock, false, []files.Number{4, 1, 7, 1, 500, 0.01, 500, 0.0000000075, 500, 1}, nil,
			"It is the sum of 3 parts: a pattern that repeats every 7 days, its size wandering; a level that wanders (over all 400 days by a " +
				"standard deviation of 2 from where it began); and a slope that wanders (over all 400 days by a standard deviation of 0.4 from " +
				"the line that it began with). Observations scatter about it with a standard deviation of 1."},
		{"CP(PER,CP(SE+RW,CONST))+LIN*CP(SE,SE)", clock, false,
			[]files.Number{100, 2, 16, 1, 7, 300, 10, 9, 30, 0.01, 500, 4, 50, 1, 1, 1, 1, 1, 1, 1, 1}, nil,
			"It is the sum of 2 parts: a change at when = 2024-04-10 00:00, over about 2 days, from a pattern that repeats every 7 days " +
				"(standard deviation 4) to a change at when = 2024-10-27 00:00, over about 10 days, from a smooth variation with a length scale " +
				"of 30 days (standard deviation 3) plus a level that wanders (over all 400 days by a standard deviation of 2 from where it began) " +
				"to a constant (standard deviation 2); and the product CP(SE, SE)×LIN. Observations scatter about it with a standard deviation of 1."},
		{"CAT[w]+SE[x]*(CAT[w]+CONST)", two, false, []files.Number{16, 4, 1, 5, 9, 1}, nil,
			"It is the sum of 3 parts: a smooth variation in x with a length scale of 5 m, another one for each value of w (standard deviation " +
				"4 K); a smooth variation in x with a length scale of 5 m (standard deviation 2 K); and a level of its own for each value of w " +
				"(standard deviation 3 K). Observations scatter about it with a standard deviation of 1 K."},
		{"CAT[w;ard]+SE[x]*CAT[w;ard]", two, false, []files.Number{16, 5, 1, 1, 2, 9, 1, 2, 1}, nil,
			"It is the sum of 2 parts: a smooth variation in x with a length scale of 5 m, another one for each value of w, some alike " +
				"(standard deviation 4 K); and a level of its own for each value of w, some alike (standard deviation 3 K). Observations " +
				"scatter about it with a standard deviation of 1 K."},
		{"PER[w]*LIN[x]", two, false, []files.Number{1, 1, 12, 1, 1, 1}, []record.Fixed{{Name: "LIN.centre", Column: "x", Value: 10}},
			"It is a pattern in w that repeats every 12, growing in proportion to the distance from x = 10 m. Observations scatter about it with " +
				"a standard deviation of 1 K."},
	} {
		s := &record.Start{Data: &datasets.Summary{Columns: c.columns}}
		info, o := describe(t, s, c.kernel, c.ard, c.fixed)
		if got := Kernel(s, o, info, c.values); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.kernel, got, c.want)
		}
		if got := Kernel(s, o, info, c.values[1:]); got != "" {
			t.Errorf("%s without a value: %s", c.kernel, got)
		}
	}
}

// describe is a kernel as a run's start has it.
func describe(t *testing.T, s *record.Start, kernel string, ard bool, fixed []record.Fixed) (*record.KernelInfo, kernelspace.Options) {
	t.Helper()
	o := kernelspace.Options{ARD: ard, Levels: func(int) []float64 { return []float64{0, 1} }}
	var units []string
	for _, in := range s.Inputs() {
		o.Columns, units = append(o.Columns, in.Name), append(units, in.Unit)
	}
	o.Dim = len(units)
	e, err := kernelspace.Parse(kernel)
	must.OK(t, err)
	p, err := kernelspace.Compile(e.Canonical(), o)
	must.OK(t, err)
	info := &record.KernelInfo{ID: p.ID, Name: e.Canonical().String(), Fixed: fixed}
	names := p.LeafNames()
	for i, q := range p.Params {
		pi := record.ParamInfo{Name: names[q.Leaf] + "." + q.Name, Scale: 1, Unit: p.Unit(i, units, s.Target().Unit),
			Fixed: !q.Free}
		if q.Column >= 0 {
			pi.Column = o.Columns[q.Column]
		}
		info.Params = append(info.Params, pi)
	}
	info.Params = append(info.Params, record.ParamInfo{Name: "noise_variance", Scale: 1})
	return info, o
}

// Which columns a kernel with a length for each varies along is a matter of where it goes
// farthest, not of how far that is: longer by the same factor, lengths tell the same.
func TestLongLengthsTellOfTheSameColumns(t *testing.T) {
	plane := []datasets.ColumnSummary{{Name: "u", Role: "input", Max: 1}, {Name: "v", Role: "input", Max: 1}, {Name: "y", Role: "target"}}
	for _, factor := range []files.Number{1, 30} {
		for v, want := range map[files.Number]string{9: "y: a smooth variation in u and v over", 100: "y: a smooth variation in u over"} {
			c := scene{plane, "SE[u,v;ard]", []files.Number{4, 2 * factor, v * factor, 1}, 300, 400, nil, nil}
			if got := Of(c.standing(t), "runs/a").What; !strings.HasPrefix(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}
