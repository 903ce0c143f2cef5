package config

import (
	"reflect"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// Names may stand in a section of their own, with or without quotes, in a table on a line
// and in overrides, which replace what the file says of the name.
func TestStatedByName(t *testing.T) {
	want := Stated{
		Fix:   map[string]Quantity{"PER.period": "7 d", "PER#2.period[day of year]": "365.25 d", "noise": "0.5"},
		Bound: map[string][2]Quantity{"SE.lengthscale[t]": {"2", "10"}},
		Prior: map[string]Likely{"RQ.alpha": {"1", 3}},
	}
	section := synthetic + `
[optimise.fix]
PER.period = "7 d"
"per#2.period[day of year]" = "365.25 d"
noise = 0.5
[optimise.bound]
"SE.lengthscale[t]" = [2, 10.0]
[optimise.prior]
RQ.alpha = {median = 1, factor = 3}
`
	line := synthetic + `
[optimise]
fix = {"PER.period" = "7 d", "PER#2.period[day of year]" = "365.25 d", noise = 0.5}
bound = {"RBF.lengthscale[t]" = [2, 10]}
prior = {RQ.alpha.median = 1, RQ.alpha.factor = 3}
`
	sets := []string{`optimise.fix.PER.period="7 d"`, "optimise.fix.PER#2.period[day of year]=365.25 d", "optimise.fix.noise=0.5",
		"optimise.bound.SE.lengthscale[t]=[2,10]", "optimise.prior.RQ.alpha={median=1,factor=3}"}
	table := []string{`optimise.fix={"PER.period"="7 d", "PER#2.period[day of year]"="365.25 d", noise=0.5}`,
		`optimise.bound={"SE.lengthscale[t]"=[2,10]}`, `optimise.prior={RQ.alpha={median=1,factor=3}}`}
	other := synthetic + "[optimise.fix]\nSE.lengthscale = 3\n"
	for what, c := range map[string]struct {
		text string
		set  []string
	}{
		"a section": {section, nil}, "a line": {line, nil}, "overrides": {synthetic, sets}, "overrides of tables": {other, table},
		"overrides of names": {strings.Replace(section, "noise = 0.5", "noise = 9", 1) + "SE.variance = {median = 1, factor = 3}\n",
			[]string{"optimise.fix.noise=0.5", "optimise.prior={RQ.alpha={median=1,factor=3}}"}},
		"another table": {section, []string{"optimise.bound.noise=[1,2]", "optimise.fix.noise=0.5"}},
	} {
		if what == "another table" { // two overrides say two things of one name
			if _, err := load(t, c.text, c.set...); err == nil || !strings.Contains(err.Error(), "stands beside optimise.bound.noise") {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		got, err := load(t, c.text, c.set...)
		if err != nil || !reflect.DeepEqual(got.Stated, want) {
			t.Errorf("%s: %+v (%v), want %+v", what, got.Stated, err, want)
			continue
		}
		again, err := load(t, got.TOML())
		if err != nil || !reflect.DeepEqual(again.Stated, want) {
			t.Errorf("%s, written and read: %+v (%v)", what, again.Stated, err)
		}
	}
	moved, err := load(t, section, "optimise.bound.PER.period=[6 d, 8 d]")
	if err == nil {
		t.Errorf("a list without quotes: %+v", moved.Stated)
	}
	moved, err = load(t, section, `optimise.bound.PER.period=["6 d","8 d"]`)
	must.OK(t, err)
	if _, still := moved.Stated.Fix["PER.period"]; still || moved.Stated.Bound["PER.period"] != [2]Quantity{"6 d", "8 d"} {
		t.Errorf("an override of another table: %+v", moved.Stated)
	}
	if whole, err := load(t, section, "optimise.fix={}"); err != nil || len(whole.Stated.Fix) > 0 {
		t.Errorf("an empty table: %+v (%v)", whole.Stated.Fix, err)
	}
	first, err := load(t, section)
	must.OK(t, err)
	second := first.Clone()
	second.Stated.Fix["noise"] = "7"
	if first.Stated.Fix["noise"] != "0.5" {
		t.Error("a clone shares what is stated")
	}
}

func TestWrongStated(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"[optimise.fix]\nnoise = 1\n\nPER.perod = 7\n",
			"my.toml: line 7: optimise.fix is wrong: no hyperparameter PER.perod: did you mean PER.period?"},
		{"[optimise.fix]\nnoise = true\n",
			"my.toml: line 5: optimise.fix.noise must be a number or a text such as \"7 d\", not true"},
		{"[optimise]\nfix = 3\n",
			"my.toml: line 5: optimise.fix must be a table with names of hyperparameters, such as PER.period, not 3"},
		{"[optimise.bound]\nnoise = 3\n",
			"my.toml: line 5: optimise.bound.noise must be a list of two"},
		{"[optimise.prior]\nnoise = {median = 3}\n",
			"my.toml: line 5: optimise.prior.noise must be a table with both, as in {median = \"7 d\", factor = 1.5}"},
		{"[optimise.prior]\nnoise = {median = 3, factor = 1}\n",
			"must be a number greater than 1"},
		{"[optimise.fix]\nSE.variance = 1\nrbf.variance = 2\n",
			"my.toml: line 6: optimise.fix.SE.variance stands beside optimise.fix.SE.variance"},
		{"[optimise.fix]\nnoise=1\n[optimise.bound]\nnoise=[1,2]",
			"my.toml: line 7: optimise.bound.noise stands beside optimise.fix.noise; leave one out"},
		{"[optimise]\ntheta_prior=false\nprior={noise={median=1,factor=2}}",
			"optimise.prior needs optimise.theta_prior = true"},
	} {
		if _, err := load(t, synthetic+c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// kernels.mean and data.standardise_y say the same; what is stated decides, and an
// override before a file.
func TestMeanAndStandardisation(t *testing.T) {
	for _, c := range []struct{ text, set, mean, standardise string }{
		{"", "", "constant", "full"},
		{"[kernels]\nmean = \"none\"\n", "", "none", "scale"},
		{"[kernels]\nmean = \"linear\"\n", "", "linear", "full"},
		{"[kernels]\nmean = \"linear\"\n", "data.standardise_y=none", "linear", "none"},
		{"", "data.standardise_y=scale", "none", "scale"},
		{"", "data.standardise_y=none", "none", "none"},
		{"[kernels]\nmean = \"none\"\n", "data.standardise_y=full", "constant", "full"},
		{"[kernels]\nmean = \"constant\"\n", "data.standardise_y=none", "none", "none"},
		{"", "kernels.mean=none", "none", "scale"},
	} {
		var set []string
		if c.set != "" {
			set = []string{c.set}
		}
		got, err := load(t, synthetic+c.text, set...)
		if err != nil || got.Mean != c.mean || got.Data.StandardiseY != c.standardise {
			t.Errorf("%+v: %s, %s (%v)", c, got.Mean, got.Data.StandardiseY, err)
			continue
		}
		for set, want := range map[string]string{"kernels.mean=none": "none", "kernels.mean=constant": "constant"} {
			again, err := load(t, got.TOML(), set) // over what a run has written
			if err != nil || again.Mean != want || (want == "none") == (again.Data.StandardiseY == "full") {
				t.Errorf("%+v with %s: %s, %s (%v)", c, set, again.Mean, again.Data.StandardiseY, err)
			}
		}
	}
	_, err := load(t, "data.source = \"synthetic\"\ndata.kernel = \"SE\"\ndata.standardise_y = \"full\"\nkernels.mean = \"none\"\n")
	if err == nil || !strings.Contains(err.Error(), `kernels.mean = "none" needs data.standardise_y = "scale" or "none", not "full"`) {
		t.Errorf("two things at a time: %v", err)
	}
}
