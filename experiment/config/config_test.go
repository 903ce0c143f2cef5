package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/configs"
	"example.com/kestrel/internal/must"
)

// load reads a config from text.
func load(t *testing.T, text string, set ...string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "my.toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var overrides []Override
	for _, s := range set {
		o, err := ParseOverride(s)
		if err != nil {
			return Config{}, err
		}
		overrides = append(overrides, o)
	}
	return Load(path, overrides)
}

const synthetic = "[data]\nsource = \"synthetic\"\nkernel = \"SE\"\n"

func TestBuiltInConfigsRoundTrip(t *testing.T) {
	for _, name := range configs.Names() {
		c, err := Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Name != name {
			t.Errorf("%s is named %s", name, c.Name)
		}
		again, err := load(t, c.TOML())
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, c.TOML())
		}
		again.Data.SearchDirs = c.Data.SearchDirs
		if !reflect.DeepEqual(c, again) {
			t.Errorf("%s changes on a round trip:\n%+v\n%+v", name, c, again)
		}
		if _, err := c.Kernels.Candidates(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every key, set to something that is not its default, survives a round trip.
func TestEveryKeyRoundTrips(t *testing.T) {
	text := `
name = "all-keys"
seed = 18
[data]
source = "csv"
name = "a \"quoted\" name\u007f"
path = "x.csv"
sha256 = "` + strings.Repeat("0a", 32) + `"
inputs = ["a", "3"]
target = "b"
header = "no"
delimiter = ";"
decimal = ","
missing = ["-99"]
types = {room = "levels"}
first_rows = 40
group = "id"
group_value = "A 1"
noise_column = "sd"
noise_by = "a"
test = 0.25
split_by = "mask"
mask = "m.csv"
mask_sha256 = "` + strings.Repeat("1b", 32) + `"
mask_column = 2
calendar = ["hour", "yearday"]
holidays = "days.csv"
holidays_sha256 = "` + strings.Repeat("2c", 32) + `"
zone = "Europe/Zurich"
order = "time"
time = "no"
season = 7
cycle = 29.53
standardise_x = "none"
standardise_y = "scale"
transform = "logit"
transform_bounds = [-1, 100]
locations = "motes.txt"
valid_rows = 17
kernel = "SE"
params = [1.5, 2.0]
noise = 0.5
support = 7
outputs = 8
low = 1.0
high = 2.0
[kernels]
base = ["SE", "PER"]
depth = 3
weights = {"SE*PER" = 2.5}
likelihood = "student"
priors = "series"
ard = true
shared_period = true
grow_live = 12
grow_leaves = 4
grow_ratio = 0.25
grow_rows = 300
grow_stated = 0.25
grow_change = true
[sparse]
inducing = 3
first_inducing = 20
compare_all = 77
own = "off"
windows = false
bound = "elbo"
most_inducing = 300
most_seconds = 60.5
most_memory = 700
placement = "grid"
jitter = 1e-3
jitter_absolute = 1e-9
[optimise]
optimizer = "adam"
hyperparameters = "full"
theta_prior = false
theta_samples = 2
starts = 9
transplants = false
noise_floor = 1e-2
learning_rate = 0.5
prior = {noise = {median = 0.1, factor = 3}}
[optimise.fix]
PER.period = "7 d"
"rbf#2.lengthscale[a b]" = 3
[optimise.bound]
"LIN.amplitude" = [0.5, "2 kW"]
[schedule]
batch = 10
evaluate_every = 0.5
steps = 11
refine = 12
budget = "1m30s"
checkpoint = 7.5
elbo_rows = 13
[posterior]
prior_variance = 2.5
evidence_scale = 3.5
samples = 14
errors = "ignore"
auto_prune = {below = 0.01, wait = 4, keep = 5}
[predict]
top = 6
theta = "laplace"
calibrate = "auto"
local = "neighbours"
weights = "bayes"
metric_rows = 15
[device]
kind = "cpu"
lanes = 1
[cluster]
lost_after = 2.5
most_lost = 4
work_here = false
[compare]
methods = ["cks", "vbks"]
runs = 2
random_runs = 3
random_seeds = 4
budget = "1m30s"
rows = 6
draws = 7
depth = 2
prune = {below = 0.02, wait = 5, keep = 6}
`
	c, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	d := Default()
	got, fresh := c.keys(), d.keys()
	// What excludes others here.
	exclusive := map[string]bool{"kernels.set": true, "kernels.expressions": true, "optimise.evidence": true, "kernels.grow": true}
	for i, k := range got {
		if !exclusive[k.path()] && k.path() != "data.source" && k.value.toml() == fresh[i].value.toml() {
			t.Errorf("%s was not set: %s", k.path(), k.value.toml())
		}
	}
	again, err := load(t, c.TOML())
	if err != nil {
		t.Fatal(err)
	}
	again.Data.SearchDirs = c.Data.SearchDirs
	if !reflect.DeepEqual(c, again) {
		t.Errorf("round trip:\n%+v\n%+v", c, again)
	}
	if c.Settings.TimeBudget != 90*time.Second || c.Evaluations != 0 || c.Data.TestRows != 0 || c.Data.TestFraction != 0.25 ||
		c.Data.Seed != 18 {
		t.Errorf("%+v", c)
	}
}

func TestConfigMessages(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{synthetic + "[schedule]\nstep = 5\n", `my.toml: line 5: unknown key "schedule.step"; did you mean "schedule.steps"?`},
		{"inducing = 5\n" + synthetic, `my.toml: line 1: unknown key "inducing"; did you mean "sparse.inducing"?`},
		{"[device]\ncolour = 5\n", `my.toml: line 2: unknown key "device.colour"; keys of [device] are kind, lanes`},
		{"\n[schedul]\nsteps = 5\n", `my.toml: line 2: unknown section [schedul]; did you mean [schedule]?`},
		{"[zzzzzzzz]\n",
			`my.toml: line 1: unknown section [zzzzzzzz]; sections are data, kernels, sparse, optimise, schedule, posterior, predict, device, ` +
				`cluster, compare`},
		{"schedule = 5\n", `my.toml: line 1: schedule is a section; write [schedule] on a line of its own`},
		{"schedule.steps = 0\n", `my.toml: line 1: schedule.steps must be a whole number, at least 1, not 0`},
		{"schedule = {steps = 1.5}\n", `my.toml: line 1: schedule.steps must be a whole number, at least 1, not 1.5`},
		{"[schedule]\n\nsteps = \"ten\"\n", `my.toml: line 3: schedule.steps must be a whole number, at least 1, not "ten"`},
		{"[schedule]\nevaluate_every = 2\n", `my.toml: line 2: schedule.evaluate_every must be a number greater than 0 and at most 1, not 2`},
		{"[schedule]\nbudget = \"soon\"\n",
			`my.toml: line 2: schedule.budget must be a number of evaluations or a time such as "90s" or "10m", not "soon"`},
		{"[posterior]\nprior_variance = nan\n", `my.toml: line 2: posterior.prior_variance must be a number greater than 0, not NaN`},
		{"[posterior]\nauto_prune = true\n",
			`my.toml: line 2: posterior.auto_prune must be false or a table {below = 0.001, wait = 3, keep = 10}, not true`},
		{"[posterior]\nauto_prune = {below = 0.1, kep = 2}\n",
			`my.toml: line 2: posterior.auto_prune has an unknown entry "kep"; entries are below, wait, keep`},
		{"[compare]\nmethods = [\"vbks\", \"cksd\"]\n",
			`my.toml: line 2: compare.methods has a wrong entry: it must be one of "vbks", "vbks-s", "vbks-prune", "random", "bo", "cks", not ` +
				`"cksd"; did you mean "cks"?`},
		{"[compare]\nmethods = []\n",
			`my.toml: line 2: compare.methods must be a list of methods (vbks, vbks-s, vbks-prune, random, bo, cks), not a list`},
		{"[compare]\nmethods = [\"bo\", \"bo\"]\n", `my.toml: line 2: compare.methods names "bo" twice`},
		{"[compare]\nbudget = 0\n",
			`my.toml: line 2: compare.budget must be "vbks" (as long as VBKS took), a time such as "90s" or "10m", or a number of kernels, not 0`},
		{"[compare]\nprune = false\n", `my.toml: line 2: compare.prune must be a table {below = 0.001, wait = 3, keep = 10}, not false`},
		{"[optimise]\noptimizer = \"adams\"\n",
			`my.toml: line 2: optimise.optimizer must be one of "auto", "collapsed", "natural", "adam", not "adams"; did you mean "adam"?`},
		{synthetic + "[optimise]\nevidence = \"laplace\"\nhyperparameters = \"full\"\n",
			`my.toml: line 5: optimise.evidence = "laplace" needs optimise.hyperparameters = "point" and theta_prior = true`},
		{synthetic + "[optimise]\ntheta_prior = false\nevidence = \"laplace\"\n",
			`my.toml: line 6: optimise.evidence = "laplace" needs optimise.hyperparameters = "point" and theta_prior = true`},
		{synthetic + "[optimise]\nevidence = \"laplace\"\noptimizer = \"natural\"\n",
			`my.toml: line 5: optimise.evidence = "laplace" needs optimise.optimizer = "collapsed" or "auto", not "natural"`},
		{"[optimise]\ntransplants = 1\n", `my.toml: line 2: optimise.transplants must be true or false, not 1`},
		{"[data]\nsource = \"csv\"\n", `my.toml: line 2: data.path is missing; source = "csv" needs the file to read`},
		{"[data]\nsource = \"synthetic\"\n",
			`my.toml: line 2: data.kernel is missing; source = "synthetic" needs a kernel to draw a function from, such as "PER*LIN"`},
		{"[data]\nkernel = \"PER*(LIN\"\n",
			`my.toml: line 2: data.kernel is wrong: kernel expression "PER*(LIN", column 9: expected ")" to close the "(" at column 5`},
		{"[kernels]\nexpressions = [\n  \"SE\", # good\n  # next\n  \"SEE\",\n]\n",
			`my.toml: line 5: kernels.expressions is wrong: kernel expression "SEE", column 1: no kernel "SEE"; did you mean SE?`},
		{"[kernels]\nset = \"K12\"\ndepth = 2\n",
			`my.toml: line 3: kernels.depth stands beside kernels.set; state one of set, expressions, or base with depth`},
		{"[schedule]\nsteps = \n", `my.toml: line 2, column 9: unexpected character U+000A at start of value`},
		{"seed = 1\nseed = 2\n", `my.toml: line 2, column 1: key seed is already defined`},
		{"name = \"a/b\"\n", `my.toml: line 1: name must consist of letters, digits, '.', '_' and '-', not "a/b"`},
	} {
		_, err := load(t, c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestOverrides(t *testing.T) {
	c, err := load(t, synthetic+"[kernels]\nset = \"K12\"\n[schedule]\nsteps = 5\n",
		"schedule.steps=7", "kernels.expressions=SE*PER,SE[a,b]", "data.target = 5", "name=12", "optimise.theta_prior=false",
		"posterior.auto_prune={below=0.1}")
	if err != nil {
		t.Fatal(err)
	}
	if c.Settings.Steps != 7 || c.Kernels.Set != "" || !reflect.DeepEqual(c.Kernels.Expressions, []string{"SE*PER", "SE[a,b]"}) ||
		c.Data.Target != "5" || c.Name != "12" || c.Settings.ThetaPrior || c.Settings.AutoPruneMass != 0.1 {
		t.Errorf("%+v", c)
	}
	for _, o := range []struct{ set, want string }{
		{"schedule.steps=ten", `--set schedule.steps=ten: schedule.steps must be a whole number, at least 1, not "ten"`},
		{"schedule.stepz=1", `--set schedule.stepz=1: unknown key "schedule.stepz"; did you mean "schedule.steps"?`},
		{"steps", `--set steps: write section.key=value, such as schedule.steps=50`},
		{"kernels.set=K145", `--set kernels.set=K145: kernels.set must be one of "auto", ` +
			`"K12", "K144", "series", "series2", "series3", "series-steps", "series2-steps", "series3-steps", not "K145"; did you mean "K144"?`},
	} {
		if _, err := load(t, synthetic, o.set); err == nil || err.Error() != o.want {
			t.Errorf("got %v\nwant %s", err, o.want)
		}
	}
}

func TestUnknownConfig(t *testing.T) {
	_, err := Load("fig1e", nil)
	want := `config "fig1e": no such file; did you mean fig1a? built-in configs are airline, elevators, fig1a, fig1a-authors, fig1b, ` +
		`fig1b-authors, fig1c, fig1c-authors, fig1d, fig1d-authors, ieq, ` +
		`ieq-authors, ieq-small, mauna-loa, quickstart, scalability, solar, swissgrid, swissgrid-authors, swissgrid-small, wheat`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestSpaceWeights(t *testing.T) {
	k := KernelSpace{Expressions: []string{"SE*PER", "PER*SE", "LIN"}, Weights: map[string]float64{"PER*SE": 3}}
	space, err := k.Candidates()
	if err != nil {
		t.Fatal(err)
	}
	if len(space) != 2 || space[0].Weight != 3 || space[1].Weight != 1 {
		t.Errorf("%+v", space)
	}
	k.Weights = map[string]float64{"RQ": 2}
	if _, err := k.Candidates(); err == nil || err.Error() != "kernels.weights: RQ is not in the kernel space of 2; add it or remove its "+
		"weight" {
		t.Error(err)
	}
	for set, want := range map[string]int{"K12": 12, "K144": 144} {
		if space, err := (KernelSpace{Set: set}).Candidates(); err != nil || len(space) != want {
			t.Errorf("%s: %d kernels, %v", set, len(space), err)
		}
	}
}

// What is wrong with an override names it, whatever the words are.
func TestOverrideError(t *testing.T) {
	for set, about := range map[string]string{
		"schedule.steps=many": "schedule.steps", "shedule.steps=3": "", "data.low=100": "data.low",
		"data.split_by=mask": "data.split_by", "kernels.set=K99": "kernels.set",
	} {
		o, err := ParseOverride(set)
		must.OK(t, err)
		_, err = Load("fig1a", []Override{{Key: "seed", Value: "3", Flag: "--seed 3"}, o})
		var wrong *OverrideError
		if !errors.As(err, &wrong) || wrong.Flag != o.Flag || wrong.Key != o.Key || wrong.About != about {
			t.Errorf("%s: %#v", set, err)
		} else if want := o.Flag + ": " + strings.TrimSpace(about+" "+wrong.Err.Error()); err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	var wrong *OverrideError
	if _, err := Default().Read([]byte("[schedule]\nsteps = \"many\"\n"), "a.toml", nil); err == nil || errors.As(err, &wrong) {
		t.Errorf("the file is to blame, not %v", err)
	}
}
