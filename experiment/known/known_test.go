package known

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// loaded reads a table of so many days with a temperature and a load, and a config of it.
func loaded(t *testing.T, set ...string) (config.Config, *datasets.Dataset, *datasets.Scaler) {
	t.Helper()
	var b strings.Builder
	b.WriteString("date,temperature,t (h),load\n")
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 60 {
		fmt.Fprintf(&b, "%s,%g,%d,%g\n", at.AddDate(0, 0, i).Format("2006-01-02"), 10+3*math.Sin(float64(i)), 3*i+i%2,
			40+float64(i%7)+0.1*float64(i))
	}
	file := filepath.Join(t.TempDir(), "days.csv")
	must.OK(t, os.WriteFile(file, []byte(b.String()), 0o600))
	var o []config.Override
	for _, s := range set {
		one, err := config.ParseOverride(s)
		must.OK(t, err)
		o = append(o, one)
	}
	c, err := config.ForTable(file, "load", o)
	must.OK(t, err)
	d, err := datasets.Load(context.Background(), c.Data)
	must.OK(t, err)
	s, err := datasets.NewScaler(d, c.Data)
	must.OK(t, err)
	return c, d, s
}

func kernels(t *testing.T, exprs ...string) []vbks.Candidate {
	t.Helper()
	var out []vbks.Candidate
	for _, text := range exprs {
		e, err := kernelspace.Parse(text)
		must.OK(t, err)
		out = append(out, vbks.Candidate{Expr: e, Weight: 1})
	}
	return out
}

func options(d *datasets.Dataset) kernelspace.Options {
	var o kernelspace.Options
	for _, in := range d.Inputs {
		o.Columns = append(o.Columns, in.Name)
	}
	return o
}

// Values in the units of the data, and in words, become those of the standardised kernel:
// the factor is worked out here from the column's standard deviation in its own unit.
func TestValuesInDataUnits(t *testing.T) {
	_, d, s := loaded(t)
	const day = 86400.0
	dateSD, tempSD, hourSD, loadSD := s.XScale[0], s.XScale[1], s.XScale[2], s.YScale
	place := func(data float64, column int) float64 {
		return math.Exp(math.Asinh((data - s.XShift[column]) / s.XScale[column]))
	}
	for _, c := range []struct {
		kernel, name, value string
		at                  int // in the kernel's parameters
		want                float64
	}{
		{"PER[date]", "PER.period", `"7 d"`, 2, 7 * day / dateSD},
		{"PER[date]", "PER.period[date]", `"1 week"`, 2, 7 * day / dateSD},
		{"PER[date]", "PER.period", `"1w"`, 2, 7 * day / dateSD},
		{"PER[date]", "PER.period", `"12 h"`, 2, day / 2 / dateSD},
		{"PER[date]", "PER.period", `"90min"`, 2, 5400 / dateSD},
		{"PER[date]", "PER.period", `"604800 s"`, 2, 7 * day / dateSD},
		{"PER[date]", "PER.period", `"1e-1 years"`, 2, 36.525 * day / dateSD},
		{"PER[date]", "PER.period", `"2 months"`, 2, 60.875 * day / dateSD},
		{"PER[date]", "PER.lengthscale", "0.8", 1, 0.8},
		{"PER[date]", "PER.variance", "9", 0, 9 / loadSD / loadSD},
		{"PER[date]", "PER.amplitude", "3", 0, 9 / loadSD / loadSD},
		{"SE[temperature]", "SE.lengthscale", "2.5", 1, 2.5 / tempSD},
		{`SE["t (h)"]`, "SE.lengthscale[t (h)]", "5", 1, 5 / hourSD},
		{`SE["t (h)"]`, "SE.lengthscale", `"1 d"`, 1, 24 / hourSD},
		{"LIN[temperature]", "LIN.amplitude", "2", 0, 4 * tempSD * tempSD / loadSD / loadSD},
		{"RQ[temperature]", "RQ.alpha", "3", 2, 3},
		{"RW[temperature]", "RW.variance", "2", 0, 2 * tempSD / loadSD / loadSD},
		{"RW[temperature]", "RW.origin", "-50", 1, (s.XShift[1] + 50) / tempSD},
		{"CP(SE,LIN)[date]", "CP.place", `"2024-01-21 06:00"`, 0, place(20.25*day, 0)},
		{"CP(SE,LIN)[temperature]", "CP.place", "11.5", 0, place(11.5, 1)},
		{"CP(SE,LIN)[temperature]", "CP.place", "-3", 0, place(-3, 1)},
		{"CP(SE,LIN)[date]", "CP.width", `"36 h"`, 1, 1.5 * day / dateSD},
		{"SE", "noise", "0.5", -1, 0.25 / loadSD / loadSD},
		{"SE", "noise_variance", "0.5", -1, 0.5 / loadSD / loadSD},
	} {
		c2, _, _ := loaded(t, fmt.Sprintf("optimise.fix.%s=%s", c.name, c.value))
		got, err := Apply(&c2, d, s, kernels(t, c.kernel), options(d))
		if err != nil {
			t.Errorf("%s = %s: %v", c.name, c.value, err)
			continue
		}
		k := got[0].Known
		at := c.at
		if at < 0 {
			at = len(k) - 1
		}
		if k[at].How != kernelspace.Fixed || math.Abs(k[at].Value/c.want-1) > 1e-12 {
			t.Errorf("%s, %s = %s: %+v, want %v", c.kernel, c.name, c.value, k[at], c.want)
		}
		for i := range k {
			if i != at && k[i] != (kernelspace.Known{}) {
				t.Errorf("%s, %s: something is known of parameter %d, too", c.kernel, c.name, i)
			}
		}
	}
}

// Of two names the one that says more counts; bounds and priors are on logarithms.
func TestWhichNameCounts(t *testing.T) {
	c, d, s := loaded(t, `optimise.fix.PER.period="7 d"`, `optimise.bound.PER#2.period=["20 d","40 d"]`,
		`optimise.prior.PER#3.period[date]={median="365 d",factor=1.5}`, "optimise.prior.noise={median=0.5,factor=2}",
		"optimise.bound.RW.origin=[-100,-50]")
	got, err := Apply(&c, d, s, kernels(t, "PER[date]+PER[date]+PER[date]", "PER[date]", "RW[temperature]"), options(d))
	must.OK(t, err)
	day := 86400 / s.XScale[0]
	log := math.Log
	near := func(what string, got, want kernelspace.Known) {
		t.Helper()
		for _, v := range [][2]float64{
			{got.Value, want.Value}, {got.Low, want.Low}, {got.High, want.High}, {got.Mean, want.Mean}, {got.SD, want.SD},
		} {
			if got.How != want.How || math.Abs(v[0]-v[1]) > 1e-9 {
				t.Errorf("%s: %+v, want %+v", what, got, want)
				return
			}
		}
	}
	week := kernelspace.Known{How: kernelspace.Fixed, Value: 7 * day}
	near("the first", got[0].Known[2], week)
	near("the second", got[0].Known[5], kernelspace.Known{How: kernelspace.Bounded, Low: log(20 * day), High: log(40 * day)})
	near("the third", got[0].Known[8], kernelspace.Known{How: kernelspace.Expected, Mean: log(365 * day), SD: log(1.5)})
	near("one alone", got[1].Known[2], week)
	// The noise's variance: squared, and so is the factor.
	near("noise", got[0].Known[9], kernelspace.Known{How: kernelspace.Expected, Mean: 2 * log(0.5/s.YScale), SD: 2 * log(2)})
	far, close := (s.XShift[1]+100)/s.XScale[1], (s.XShift[1]+50)/s.XScale[1]
	near("origin", got[2].Known[1], kernelspace.Known{How: kernelspace.Bounded, Low: log(close), High: log(far)})
}

func TestWrongStatements(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{`optimise.fix.PER.period[dat]="7 d"`, "optimise.fix: PER.period[dat] names no input: did you mean date?"},
		{`optimise.fix.PER.period=7`, `has no unit, but date holds time stamps; write one, as in "7 d"`},
		{`optimise.fix.PER.period="7 dd"`, "unknown unit dd: did you mean d?"},
		{`optimise.fix.PER.period="7 parsec"`, "units of time are s, min, h, d, week, month, year"},
		{`optimise.fix.PER.period="-7 d"`, "must be greater than 0"},
		{`optimise.fix.PER.period="d"`, "is no number"},
		{`optimise.fix.PER.lengthscale="7 d"`, "has a unit, but this has none"},
		{`optimise.fix.SE.lengthscale="7 d"`, "that of temperature is not known"},
		{`optimise.fix.SE.lengthscale[date]="7 d"`, "in no kernel of the space has SE one of its own for date"},
		{`optimise.fix.RQ.lengthscale=7`, "which acts on columns of different scales"},
		{`optimise.fix.LIN.lengthscale=7`, "another amplitude stands for it"},
		{`optimise.fix.MATERN32.lengthscale=7`, "no kernel of the space has MATERN32"},
		{`optimise.fix.PER#2.period="7 d"`, "has PER 2 times"},
		{`optimise.fix.noise=0`, "must be greater than 0"},
		{`optimise.fix.noise=1e-9`, "too little noise"},
		{`optimise.fix.CP.place="soon"`, "is no time stamp, but date holds some"},
		{`optimise.fix.RW.origin=30`, "lies before all data"},
		{`optimise.bound.noise=[2,1]`, "the lower bound comes first"},
		{`optimise.bound.noise=[1,1]`, "the lower bound comes first"},
		{`optimise.prior.CP.place={median="2024-01-20",factor=2}`, "use optimise.bound"},
		{`optimise.bound.noise_variance=[1,2];optimise.fix.noise=1`, "mean the same hyperparameter"},
		{`optimise.fix.PER.period[date]="7 d";optimise.fix.PER.period[1]="8 d"`, "mean the same hyperparameter"},
	} {
		set := strings.Split(c.set, ";")
		conf, d, s := loaded(t, set...)
		all := kernels(t, "PER[date]", "SE[temperature]", "RQ", "LIN[temperature]", "CP(SE,LIN)[date]", "RW[temperature]")
		_, err := Apply(&conf, d, s, all, options(d))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.set, err, c.want)
		}
	}
}

// What is stated of one kernel is what means something in it.
func TestWithin(t *testing.T) {
	c, d, _ := loaded(t, `optimise.fix.PER.period="7 d"`, "optimise.bound.SE.lengthscale=[1,2]", "optimise.prior.noise={median=1,factor=2}",
		"optimise.fix.PER#2.variance=2")
	for expr, want := range map[string]string{
		"SE[temperature]": "SE.lengthscale noise", "PER[date]": "PER.period noise", "LIN": "noise",
		"PER[date]+PER[date]": "PER#2.variance PER.period noise",
	} {
		e, err := kernelspace.Parse(expr)
		must.OK(t, err)
		got, err := Within(c.Stated, e, options(d))
		must.OK(t, err)
		var names []string
		for _, n := range []string{"PER#2.variance", "PER.period", "SE.lengthscale", "noise"} {
			if got.Names()[n] != "" {
				names = append(names, n)
			}
		}
		if strings.Join(names, " ") != want {
			t.Errorf("%s: %v, want %s", expr, names, want)
		}
	}
}
