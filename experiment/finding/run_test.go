package finding_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// world is a made table of which is known what is in it, and what may be said of it: regular
// expressions, some of which must be there and some must not.
type world struct {
	what    string
	header  string
	rows    int
	row     func(i int, rng *rand.Rand) string
	set     []string
	must    []string
	mustNot []string
}

// day is a day's date, from Monday 3 January 2022 on.
func day(i int) string {
	return time.Date(2022, 1, 3+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// found is what a run of a world has found.
func (w *world) found(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 11))
	var b strings.Builder
	b.WriteString(w.header + "\n")
	for i := range w.rows {
		b.WriteString(w.row(i, rng) + "\n")
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
	var set []config.Override
	for _, s := range slices.Concat([]string{"schedule.evaluate_every=0.5", "schedule.refine=0", "sparse.inducing=32", "optimise.starts=4",
		"schedule.steps=100", "data.transform=none", "device.lanes=1"}, w.set) {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		set = append(set, o)
	}
	c, err := library.ConfigFor(path, set)
	must.OK(t, err)
	_, _, dir := runtest.Finished(t, c)
	s, err := history.ReadSummary(dir)
	must.OK(t, err)
	return s.Finding
}

// What a run says of a table is what was put into it, and not what was not: from the data to the
// words, of the kinds of tables on which people rely.
func TestRunsSayWhatThereIs(t *testing.T) {
	thorough.Unraced(t)
	pattern := func(i int, every float64) float64 { return math.Sin(2 * math.Pi * float64(i) / every) }
	for _, w := range []world{
		{what: "noise", header: "x,y", rows: 90,
			row: func(i int, rng *rand.Rand) string { return fmt.Sprintf("%d,%.4f", i, 5+.5*rng.NormFloat64()) },
			set: []string{"kernels.expressions=SE, PER, LIN", "data.time=no", "data.target=y"},
			must: []string{`^Nothing repeats, grows or wanders: only chance about a mean of (4\.9|5)[0-9]* \(sd 0\.[45]`,
				`the mean is as good a prediction`},
			mustNot: []string{`that repeats`, `straight line`, `settled`, `Do not trust`}},
		{what: "a wave", header: "x,y", rows: 90,
			row: func(i int, rng *rand.Rand) string {
				return fmt.Sprintf("%d,%.4f", i, 3*pattern(i, 12)+.5*rng.NormFloat64())
			},
			set:     []string{"kernels.expressions=SE, PER, LIN", "data.time=no", "data.target=y"},
			must:    []string{`^A pattern that repeats every (11\.9|12|12\.1)[0-9]* `},
			mustNot: []string{`Nothing (repeats|more)`, `straight line`, `wanders`, `Do not trust`}},
		{what: "a week on a rise", header: "date,sold", rows: 140,
			row: func(i int, rng *rand.Rand) string {
				sold := 100 + .3*float64(i) + 3*rng.NormFloat64()
				if i%7 == 5 { // Saturdays
					sold += 40
				}
				return fmt.Sprintf("%s,%.2f", day(i), sold)
			},
			set: []string{"kernels.expressions=PER+LIN+CONST, LIN+CONST, RW"},
			must: []string{`repeats every (7|6\.99|7\.01) days`, `highest on Saturdays`, `straight line`, `settled among the three kernels tried`,
				`Forecasts .* better than seasonal naive`, `kestrel predict .* --horizon 2w`},
			mustNot: []string{`wanders`, `level that steps`, `Do not trust`, `(?i)not settled`, `Nothing (repeats|more)`}},
		{what: "a level that steps", header: "date,pressure", rows: 120,
			row: func(i int, rng *rand.Rand) string {
				level := 20.
				if i >= 70 { // 14 March
					level = 29
				}
				return fmt.Sprintf("%s,%.2f", day(i), level+.8*rng.NormFloat64())
			},
			set:     []string{"kernels.expressions=CP(CONST,CONST), RW, LIN+CONST"},
			must:    []string{`steps (up )?(at|by|between|about|on)?.*2022-03-1[1-6]`},
			mustNot: []string{`repeats`, `wanders`, `Nothing (repeats|more)`, `Do not trust`}},
		{what: "a level for each shop", header: "shop,distance,customers", rows: 150,
			row: func(i int, rng *rand.Rand) string {
				shop := i * 7 % 3
				return fmt.Sprintf("%s,%.2f,%.2f", []string{"Bern", "Chur", "Thun"}[shop], 30*rng.Float64(),
					[]float64{60, 60, 95}[shop]+4*rng.NormFloat64())
			},
			set: []string{`data.inputs=["shop", "distance"]`, `kernels.expressions=CAT[shop], LIN[distance], CAT[shop]+LIN[distance]`},
			must: []string{`customers: `, `a level for each value of shop`, `Thun [0-9]+ customers above (Bern|Chur)`,
				`distance seems to tell nothing more`,
				`Predicts .* better than linear least squares`},
			mustNot: []string{`repeats`, `straight line in distance`, `Nothing (repeats|more)`, `Do not trust`}},
		{what: "a week that ends where the forecast begins", header: "date,visits", rows: 150,
			row: func(i int, rng *rand.Rand) string {
				visits := 300 + 60*pattern(i, 7)
				if i >= 133 { // the last tenth is held out
					visits = 120
				}
				return fmt.Sprintf("%s,%.1f", day(i), visits+3*rng.NormFloat64())
			},
			set: []string{"kernels.expressions=PER+CONST, LIN+CONST"},
			must: []string{`repeats every (6\.9|7|7\.0)[0-9]* days`,
				`Do not trust it: .*it predicts worse than`},
			mustNot: []string{`forecasts beyond the end`}},
	} {
		t.Run(w.what, func(t *testing.T) {
			said := w.found(t)
			t.Log(said)
			for _, m := range w.must {
				if !regexp.MustCompile(m).MatchString(said) {
					t.Errorf("not said: %s", m)
				}
			}
			for _, m := range w.mustNot {
				if regexp.MustCompile(m).MatchString(said) {
					t.Errorf("said, and not so: %s", m)
				}
			}
		})
	}
}
