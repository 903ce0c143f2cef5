package configtest

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/internal/must"
)

// BadData is a table that is hard on arithmetic.
type BadData struct {
	What    string
	Rows    func(rng *rand.Rand) [][]float64 // inputs, then the target
	set     []string
	Refused string // what the error of a table that cannot be computed with says; "" for one that runs
	Fails   string // a kernel that must fail; "" for none
}

// Wave is a clean series of n rows over [0, 10).
func Wave(n int, change func(i int, row []float64)) func(*rand.Rand) [][]float64 {
	return func(rng *rand.Rand) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			x := 10 * float64(i) / float64(n)
			rows[i] = []float64{x, math.Sin(x) + 0.1*rng.NormFloat64()}
			if change != nil {
				change(i, rows[i])
			}
		}
		return rows
	}
}

// BadTables are tables that are hard on arithmetic.
func BadTables() []BadData {
	scaled := func(x, y float64) func(*rand.Rand) [][]float64 {
		return Wave(40, func(_ int, row []float64) { row[0] *= x; row[1] *= y })
	}
	const raw = "data.standardise_x=none"
	return []BadData{
		{What: "clean", Rows: Wave(40, nil)},
		{What: "x of 1e300", Rows: scaled(1e299, 1), Refused: "too large"},
		{What: "x of 1e-300", Rows: scaled(1e-301, 1), Refused: "too little to compute with"},
		{What: "y of 1e300", Rows: scaled(1, 1e300), Refused: "too large"},
		{What: "y of 1e-300", Rows: scaled(1, 1e-300), Refused: "too little to compute with"},
		{What: "x of 1e139", Rows: scaled(1e138, 1)},
		{What: "x of 1e-138", Rows: scaled(1e-139, 1)},
		{What: "y of 1e139", Rows: scaled(1, 1e139)},
		{What: "y of 1e-138", Rows: scaled(1, 1e-138)},
		{What: "x of 1e100, as it is", Rows: scaled(1e99, 1), set: []string{raw}, Fails: "POLY4"},
		{What: "x of 1e-100, as it is", Rows: scaled(1e-101, 1), set: []string{raw}},
		{What: "both as they are, 1e60", Rows: scaled(1e60, 1e60), set: []string{raw, "data.standardise_y=none"}, Fails: "POLY4"},
		{What: "a constant target", Rows: Wave(40, func(_ int, row []float64) { row[1] = 7 }), Refused: "there is nothing to learn"},
		{What: "a target that varies in its last digit", Rows: Wave(40, func(i int, row []float64) { row[1] = 1e6 + float64(i%2)*1e-9 })},
		{What: "a constant input", Rows: Wave(40, func(_ int, row []float64) { row[0] = 3 })},
		{What: "a constant input as it is", Rows: Wave(40, func(_ int, row []float64) { row[0] = 1e6 }), set: []string{raw}},
		{What: "two equal inputs, one constant", Rows: func(rng *rand.Rand) [][]float64 {
			rows := Wave(40, nil)(rng)
			for i, r := range rows {
				rows[i] = []float64{r[0], r[0], -1, r[1]}
			}
			return rows
		}},
		{What: "a thousand rows of each of two points", Rows: Wave(2000,
			func(i int, row []float64) { row[0], row[1] = float64(i%2), float64(i%2)+1e-9*float64(i%3) })},
		{What: "duplicates without noise", Rows: Wave(60, func(i int, row []float64) { row[0] = float64(i % 3); row[1] = math.Sin(row[0]) })},
		{What: "one outlier of 1e12", Rows: Wave(40, func(i int, row []float64) {
			if i == 17 {
				row[1] = 1e12
			}
		})},
		{What: "one input far off", Rows: Wave(40, func(i int, row []float64) {
			if i == 17 {
				row[0] = 1e12
			}
		})},
		{What: "a period far below the spacing", Rows: Wave(40, func(i int, row []float64) { row[1] = math.Sin(2 * math.Pi * row[0] / 1e-7) })},
		{What: "alternating signs", Rows: Wave(40, func(i int, row []float64) { row[1] = float64(1 - i%2*2) })},
		{What: "two rows", Rows: Wave(3, nil)},
	}
}

// Config is a config of a run on the table.
func (b *BadData) Config(t *testing.T, kernels string, set ...string) config.Config {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	var text strings.Builder
	for _, row := range b.Rows(rng) {
		for i, v := range row {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(files.FormatFloat(v))
		}
		text.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "bad.csv")
	must.OK(t, os.WriteFile(path, []byte(text.String()), 0o644))
	var overrides []config.Override
	for _, s := range append(append([]string{
		"data.header=no", "kernels.expressions=" + kernels, "sparse.inducing=6", "optimise.starts=1", "optimise.transplants=false",
		"schedule.steps=5", "schedule.evaluate_every=0.5", "schedule.refine=0", "data.test=0.2", "device.lanes=1",
	}, b.set...), set...) {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		overrides = append(overrides, o)
	}
	c, err := config.ForTable(path, "", overrides)
	must.OK(t, err)
	return c
}
