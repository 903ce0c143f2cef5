package config

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/kernelspace"
)

// Kernels with steps are tried where the level of a series changes for good, and nobody has
// said which kernels are.
func TestStepsAreTried(t *testing.T) {
	for _, c := range []struct {
		what, column string
		set          string
		at           int // where the level changes by 40 noises
		want, told   string
	}{
		{"a step", "month", "", 70, "series-steps", " at 70: kernels with steps are tried"},
		{"none", "month", "", 1000, "series", ""},
		{"a step among the rows that are held out", "month", "", 115, "series", ""},
		{"a step where kernels are stated", "month", "series", 70, "series", ""},
		{"a step along metres", "metres", "", 70, "", ""},
	} {
		rng, b := rand.New(rand.NewPCG(4, 2)), strings.Builder{}
		fmt.Fprintf(&b, "%s,y\n", c.column)
		for i := range 120 {
			y := rng.NormFloat64()
			if i >= c.at {
				y += 40
			}
			fmt.Fprintf(&b, "%d,%.4f\n", i, y)
		}
		cfg, _, told := settled(t, b.String(), "kernels.set", c.set)
		if cfg.Kernels.Set != c.want || strings.Contains(told, "steps") != (c.told != "") || !strings.Contains(told, c.told) {
			t.Errorf("%s: kernels.set %q, told %q", c.what, cfg.Kernels.Set, told)
		}
	}
}

// Of a table the products of those columns are tried that say more together than their sum, and a notice
// says which; where there are none, those of the first columns, and nothing is said.
func TestPairsAreTried(t *testing.T) {
	for _, c := range []struct {
		together float64
		want     []string
		told     string
	}{
		{6, []string{"SE[a]*SE[b]+SE[a]+SE[b]+SE[c]+SE[d]+CAT[kind]", "SE[a]*SE[b]+SE[c]*CAT[kind]+SE[a]+SE[b]+SE[c]+SE[d]+CAT[kind]"},
			"what one column does to y seems to depend on another: products are tried of a and b; kind and c"},
		{0, []string{"SE[c]*SE[d]+SE[c]+SE[d]+CAT[kind]", "SE[c]+SE[d]+CAT[kind]", "SE[c]+SE[d]+CAT[kind;ard]",
			"SE[a,b,c,d;ard]*CAT[kind;ard]"}, ""},
	} {
		rng, b := rand.New(rand.NewPCG(4, 6)), strings.Builder{}
		b.WriteString("a,b,c,d,kind,y\n")
		for range 500 {
			var x [4]float64
			for i := range x {
				x[i] = 2*rng.Float64() - 1
			}
			kind := rng.IntN(3)
			y := c.together*x[0]*x[1] + 3*x[2] + 2*math.Sin(3*x[3]) + float64(kind) + 0.5*rng.NormFloat64()
			if kind == 2 && c.together > 0 {
				y -= 6 * x[2]
			}
			fmt.Fprintf(&b, "%.4f,%.4f,%.4f,%.4f,k%d,%.4f\n", x[0], x[1], x[2], x[3], kind, y)
		}
		cfg, _, told := settled(t, b.String(), "", "")
		for _, id := range c.want {
			if e, err := kernelspace.Parse(id); err != nil || !slices.Contains(cfg.Kernels.Expressions, e.Canonical().ID()) {
				t.Errorf("%v: no %s in %q", c.together, id, cfg.Kernels.Expressions)
			}
		}
		if told != c.told {
			t.Errorf("%v: told %q", c.together, told)
		}
	}
}

// A cycle that the calendar does not know gives kernels its period, in the place of seasons that do not show or
// beside them, where nobody has said what there is.
func TestCyclesAreTried(t *testing.T) {
	for _, c := range []struct {
		what         string
		cycle, week  float64 // sizes
		key, value   string
		want         string
		period, told string
	}{
		{"a cycle", 3, 0, "", "", "series", "29", "which do not show"},
		{"a cycle and a week", 3, 2, "", "", "series2", "29", "beside its seasons"},
		{"a week", 0, 3, "", "", "series", "", ""},
		{"none", 0, 0, "", "", "series", "", ""},
		{"a cycle that nobody wants", 3, 0, "data.cycle", "0", "series", "", ""},
		{"one that is stated", 0, 0, "data.cycle", "12.5", "series2", "12.5", ""},
		{"a cycle where the season is stated", 3, 0, "data.season", "7", "series", "", ""},
		{"a cycle where kernels are stated", 3, 0, "kernels.set", "series2", "series2", "", ""},
	} {
		rng, b := rand.New(rand.NewPCG(4, 9)), strings.Builder{}
		fmt.Fprintf(&b, "day,y\n")
		for i := range 240 {
			if i%50 == 3 { // a gap
				continue
			}
			at := time.Date(2023, 1, 1+i, 0, 0, 0, 0, time.UTC)
			y := rng.NormFloat64() + c.cycle*math.Sin(2*math.Pi*float64(i)/29.5) + c.week*math.Sin(2*math.Pi*float64(i)/7)
			fmt.Fprintf(&b, "%s,%.4f\n", at.Format(time.DateOnly), y)
		}
		cfg, d, told := settled(t, b.String(), c.key, c.value)
		if cfg.Kernels.Set != c.want || strings.Contains(told, "to repeat every") != (c.told != "") || !strings.Contains(told, c.told) {
			t.Errorf("%s: kernels.set %q, told %q", c.what, cfg.Kernels.Set, told)
		}
		steps := d.Series.Cycle / d.Series.Step
		if got := fmt.Sprintf("%.4g", steps); c.period == "" && steps != 0 ||
			!strings.HasPrefix(got, c.period) || math.Abs(cfg.Data.Cycle-steps) > 1e-9*steps {
			t.Errorf("%s: %s steps, in the config %v", c.what, got, cfg.Data.Cycle)
		}
		// What the run is begun again from says the same.
		again := cfg
		d, err := datasets.Load(t.Context(), again.Data)
		if err != nil {
			t.Fatal(err)
		}
		again.SettleData(d)
		if again.Data.Cycle != cfg.Data.Cycle || again.Kernels.Set != cfg.Kernels.Set ||
			math.Abs(d.Series.Cycle-steps*d.Series.Step) > 1e-9*d.Series.Cycle {
			t.Errorf("%s: settled again %v, %q", c.what, again.Data.Cycle, again.Kernels.Set)
		}
	}
}

// Densities at the mode weigh the kernels of a series, but where the space grows, in which kernels have few hyperparameters or
// many, evidence is integrated. What is stated is left.
func TestEvidenceOfSeries(t *testing.T) {
	var b strings.Builder
	b.WriteString("month,y\n")
	rng := rand.New(rand.NewPCG(4, 12))
	for i := range 120 {
		fmt.Fprintf(&b, "%d,%.4f\n", i, rng.NormFloat64())
	}
	for _, c := range []struct {
		key, value, priors string
		integrates         bool
	}{
		{"", "", "series", false},
		{"kernels.grow", "true", "series", true},
		{"kernels.grow_live", "50", "series", false},
		{"kernels.priors", "broad", "broad", true},
		{"kernels.base", "SE,PER", "broad", true},
		{"optimise.evidence", "draws", "series", true},
		{"optimise.evidence", "laplace", "series", false},
	} {
		cfg, _, _ := settled(t, b.String(), c.key, c.value)
		if s := &cfg.Settings; s.Priors != c.priors || s.Integrates() != c.integrates {
			t.Errorf("%s=%s: priors %q, evidence %q integrates %v", c.key, c.value, s.Priors, s.Evidence, s.Integrates())
		}
	}
}

// settled is the config of a table, with a key as it is stated (no value: not at all), once its data have decided
// what is left to them, and what is told of that.
func settled(t *testing.T, table, key, value string) (c Config, d *datasets.Dataset, told string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	var own []Override
	if value != "" {
		own = []Override{{Key: key, Value: value}}
	}
	c, err := ForTable(path, "y", own)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = datasets.Load(t.Context(), c.Data); err != nil {
		t.Fatal(err)
	}
	before := len(d.Notices)
	c.SettleData(d)
	return c, d, strings.Join(d.Notices[before:], "\n")
}

// Kernels that are stated, by a list or for a series, have half of the prior of a space that grows, those of a list that the program has
// made for a table none; what is said of it stays.
func TestShareOfWhatIsStated(t *testing.T) {
	rng, table, series := rand.New(rand.NewPCG(6, 2)), &strings.Builder{}, &strings.Builder{}
	table.WriteString("a,b,y\n")
	series.WriteString("month,y\n")
	for i := range 60 {
		fmt.Fprintf(table, "%.4f,%.4f,%.4f\n", rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64())
		fmt.Fprintf(series, "%d,%.4f\n", i, rng.NormFloat64())
	}
	for _, c := range []struct {
		csv, key, value string
		want            float64
	}{
		{table.String(), "kernels.grow_stated", "", 0},
		{table.String(), "kernels.grow_stated", "0.3", 0.3},
		{table.String(), "kernels.expressions", "SE[a]+SE[b],LIN[a]", 0.5},
		{series.String(), "kernels.grow_stated", "", 0.5},
		{series.String(), "kernels.grow_stated", "0", 0},
	} {
		if cfg, _, _ := settled(t, c.csv, c.key, c.value); cfg.Settings.Growth.Stated != c.want {
			columns, _, _ := strings.Cut(c.csv, "\n")
			t.Errorf("%s, %s = %q: %v", columns, c.key, c.value, cfg.Settings.Growth.Stated)
		}
	}
}
