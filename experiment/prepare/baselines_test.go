package prepare

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/baseline"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// baselinesOf prepares a table of numbers, the target last, and returns its baselines.
func baselinesOf(t *testing.T, header string, rows [][]float64, set ...string) (*Job, *record.Baselines) {
	t.Helper()
	text := header + "\n"
	for _, row := range rows {
		text += strings.Trim(strings.ReplaceAll(fmt.Sprint(row), " ", ","), "[]") + "\n"
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	var overrides []config.Override
	for _, s := range append(set, "kernels.expressions=SE", "sparse.inducing=4") {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		overrides = append(overrides, o)
	}
	c, err := config.ForTable(path, "", overrides)
	must.OK(t, err)
	j, err := Prepare(t.Context(), c)
	must.OK(t, err)
	t.Cleanup(func() { j.Close() })
	return j, j.Start.Baselines
}

// monthly is three years of months with a trend and a season.
func monthly() (rows [][]float64) {
	for i := range 40 {
		rows = append(rows, []float64{float64(i), 100 + float64(i) + 10*math.Sin(math.Pi*float64(i)/6) + 3*math.Cos(float64(i*i))})
	}
	return rows
}

func methodsOf(b *record.Baselines, had bool) (names []string) {
	for _, m := range b.Methods {
		if (m.Score != nil) == had {
			names = append(names, m.Method)
		}
	}
	return names
}

// Of a series in time with its end held out the scores are those of package baseline, in
// the units of the data whatever the target is transformed to, in whatever order the rows
// stand.
func TestBaselinesOfForecasts(t *testing.T) {
	rows := monthly()
	mixed := slices.Clone(rows)
	for i := range 20 {
		mixed[i], mixed[39-i] = mixed[39-i], mixed[i]
	}
	for name, x := range map[string][][]float64{"in order": rows, "backwards": mixed} {
		j, b := baselinesOf(t, "month,y", x, "data.time=yes", "data.season=12", "data.test=6", "data.split_by=x", "data.transform=log")
		if b == nil || b.Task != record.TaskForecast || b.Rows != 6 || b.Season != 12 || !j.Test.Percent {
			t.Fatalf("%s: %+v", name, b)
		}
		var at, y, past, values []float64
		for i, row := range rows {
			if i < 34 {
				past, values = append(past, row[0]), append(values, row[1])
			} else {
				at, y = append(at, row[0]), append(y, row[1])
			}
		}
		s, err := baseline.NewSeries(past, values)
		must.OK(t, err)
		for i, m := range baseline.Forecasts() {
			p, err := m.Predict(s, 12, at)
			must.OK(t, err)
			want, err := baseline.Scored(p, y)
			must.OK(t, err)
			got := b.Methods[i]
			if got.Method != m.Name || math.Abs(float64(got.Score.CRPS)/want.CRPS-1) > 1e-9 ||
				math.Abs(float64(got.Score.RMSE)/want.RMSE-1) > 1e-9 || math.Abs(float64(got.Score.NLPD)-want.NLPD) > 1e-9 {
				t.Errorf("%s: %s: %+v, want %+v", name, m.Name, got.Score, want)
			}
		}
		// By hand: naive repeats the last training value, MASE divides by the seasonal differences.
		off, percent, scale := 0.0, 0.0, 0.0
		for _, v := range y {
			off += math.Abs(v-values[33]) / 6
			percent += 200 * math.Abs(v-values[33]) / (v + values[33]) / 6
		}
		for i := 12; i < 34; i++ {
			scale += math.Abs(values[i]-values[i-12]) / 22
		}
		naive := b.Methods[0].Score
		if math.Abs(float64(naive.MAE)-off) > 1e-9 || math.Abs(float64(*naive.SMAPE)-percent) > 1e-9 || math.Abs(float64(b.Scale)-scale) > 1e-9 {
			t.Errorf("%s: MAE %v, sMAPE %v, scale %v; want %v, %v, %v", name, naive.MAE, *naive.SMAPE, b.Scale, off, percent, scale)
		}
	}
}

// A series of which a week and a year are known has the means by both beside the others.
func TestBaselinesOfSeveralSeasons(t *testing.T) {
	var rows [][]float64
	for i := range 1200 {
		rows = append(rows, []float64{float64(i), 50 + 3*float64(i%7) + 8*math.Sin(2*math.Pi*float64(i)/365.25) + math.Cos(float64(i*i))})
	}
	_, b := baselinesOf(t, "day,y", rows, "data.time=yes", "data.test=100", "data.split_by=x", "data.transform=none")
	last := b.Methods[len(b.Methods)-1]
	if got := methodsOf(b, true); last.Method != "means" || last.Score == nil {
		t.Fatalf("%q; the last %+v", got, last)
	}
	var x, y, at, want []float64
	for i, row := range rows {
		if i < 1100 {
			x, y = append(x, row[0]), append(y, row[1])
		} else {
			at, want = append(at, row[0]), append(want, row[1])
		}
	}
	s, err := baseline.NewSeries(x, y)
	must.OK(t, err)
	p, err := baseline.Means(s, 7, 365.25, at)
	must.OK(t, err)
	score, err := baseline.Scored(p, want)
	must.OK(t, err)
	if math.Abs(float64(last.Score.CRPS)/score.CRPS-1) > 1e-9 || score.RMSE > 1 { // the rest is of sd .71
		t.Errorf("%+v, want %+v", last.Score, score)
	}
}

// What else there is: gaps, a line without time, several inputs, none.
func TestBaselinesOfOtherTasks(t *testing.T) {
	rows := monthly()
	_, gaps := baselinesOf(t, "month,y", rows, "data.time=yes", "data.season=12", "data.test=6", "data.split_by=random")
	if got := methodsOf(gaps, true); gaps.Task != record.TaskGaps || !slices.Equal(got, []string{"linear", "phase"}) || gaps.Scale != 0 ||
		!strings.Contains(gaps.Unscaled, "6 steps have no training row") || gaps.Methods[0].Score.SMAPE != nil {
		t.Errorf("gaps: %q, %+v", got, gaps)
	}
	_, line := baselinesOf(t, "metres,y", rows, "data.test=6", "data.split_by=random")
	if got := methodsOf(line, true); line.Task != record.TaskGaps || !slices.Equal(got, []string{"linear", "mean", "lsq"}) ||
		!slices.Equal(methodsOf(line, false), []string{"phase"}) || line.Methods[1].Reason != "no season is known" {
		t.Errorf("metres: %q, %+v", got, line)
	}
	_, beyond := baselinesOf(t, "metres,y", rows, "data.test=6", "data.split_by=x")
	if got := methodsOf(beyond, false); beyond.Task != record.TaskForecast || !slices.Equal(got, []string{"snaive"}) || beyond.Scale != 0 {
		t.Errorf("beyond the end: %q left out, %+v", got, beyond)
	}
	var plane [][]float64
	for i, row := range rows {
		plane = append(plane, []float64{row[0], float64(i % 7), 2*row[0] - 5*float64(i%7)})
	}
	_, several := baselinesOf(t, "u,v,y", plane, "data.test=6")
	if got := methodsOf(several, true); several.Task != record.TaskRegression || !slices.Equal(got, []string{"mean", "lsq", "ridge"}) ||
		several.Methods[1].Score.RMSE > 1e-9 {
		t.Errorf("a plane: %q, %+v", got, several)
	}
	if _, none := baselinesOf(t, "u,v,y", plane, "data.test=0"); none != nil {
		t.Errorf("without test rows: %+v", none)
	}
}

// The run's own sMAPE is that of its means, where targets are not transformed.
func TestOwnPercentages(t *testing.T) {
	j, _ := baselinesOf(t, "month,y", monthly(), "data.time=yes", "data.test=6", "data.split_by=x", "schedule.evaluate_every=1",
		"schedule.refine=0", "predict.weights=posterior")
	_, err := j.Trainer.Next(t.Context())
	must.OK(t, err)
	ms, err := j.Test.Score(t.Context(), j.Trainer, 0, "posterior", true)
	must.OK(t, err)
	p, err := j.Trainer.Predict(t.Context(), j.Test.X, vbks.PredictOptions{Weights: "posterior"})
	must.OK(t, err)
	want := 0.0
	for i, y := range j.Test.Y {
		z := 0.0
		for k, w := range p.Weights {
			z += w * p.Mean[k][i]
		}
		f := j.Scaler.Value(z)
		want += 200 * math.Abs(y-f) / (math.Abs(y) + math.Abs(f)) / 6
	}
	if len(ms) != 2 || ms[0].SMAPE == nil || math.Abs(float64(*ms[0].SMAPE)-want) > 1e-9 {
		t.Errorf("%+v, want %v", ms, want)
	}
}

// A table of days: along time, by levels and by the calendar, which are all that the target
// is made of.
func TestBaselinesOfATable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "days.csv")
	text := "date,x,shop,y\n"
	for i := range 400 {
		day := time.Date(2023, 1, 2, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		shop, v := []string{"a", "b", "c"}[i*i%7%3], float64(i*37%100)
		y := 3*v + map[string]float64{"a": 0, "b": 500, "c": -90}[shop] + 40*float64(day.Weekday()%3) + 200*math.Sin(2*math.Pi*float64(i)/365.25)
		text += fmt.Sprintf("%s,%v,%s,%.9g\n", day.Format(time.DateOnly), v, shop, y)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Data.Path, c.Data.TestRows, c.Data.TestFraction = path, 40, 0
	d, _, err := LoadSettled(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	b := baselines(d)
	if got := methodsOf(b, true); b.Task != record.TaskRegression || !slices.Equal(got, []string{"linear", "mean", "lsq", "ridge"}) {
		t.Fatalf("%q, %+v", got, b)
	}
	if ridge, lsq := b.Methods[3].Score, b.Methods[2].Score; ridge.RMSE > 1 || lsq.RMSE < 50 {
		t.Errorf("ridge %v, least squares without levels and calendar %v", ridge.RMSE, lsq.RMSE)
	}
}

// A ridge regression is said to see levels or the calendar where its table has them.
func TestRidgeSaysWhatItSees(t *testing.T) {
	for header, want := range map[string]string{
		"x,z,y":         "ridge regression",
		"x,z,shop,y":    "ridge regression with levels",
		"date,x,y":      "ridge regression with the calendar",
		"date,x,shop,y": "ridge regression with levels and the calendar",
	} {
		path := filepath.Join(t.TempDir(), "table.csv")
		text := header + "\n"
		for i := range 60 {
			value := map[string]string{
				"x": fmt.Sprint(i * 37 % 101), "z": fmt.Sprint(i * 53 % 97), "shop": []string{"a", "b", "c"}[i%7%3], "y": fmt.Sprint(i * i % 13),
				"date": time.Date(2023, 1, 2, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i).Format(time.DateOnly),
			}
			var row []string
			for column := range strings.SplitSeq(header, ",") {
				row = append(row, value[column])
			}
			text += strings.Join(row, ",") + "\n"
		}
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		c := config.Default()
		c.Data.Path, c.Data.TestRows, c.Data.TestFraction, c.Data.SplitBy = path, 6, 0, "random"
		d, _, err := LoadSettled(t.Context(), &c)
		must.OK(t, err)
		if got := newFeatures(d).name(); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
}
