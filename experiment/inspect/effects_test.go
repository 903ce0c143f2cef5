package inspect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// What a run says of sizes is what its table was made with, within the intervals that it
// gives: a week by its days, a slope, levels of a text, and a wave that has no names.
func TestEffectsAreThoseOfTheTable(t *testing.T) {
	thorough.Unraced(t)
	week := map[time.Weekday]float64{time.Saturday: 20, time.Sunday: 5, time.Monday: -15}
	kinds := []string{"sun", "rain", "sun", "fog"}
	level := map[string]float64{"rain": -6, "fog": 2}
	for _, c := range []struct {
		what, kernel string
		header       string
		row          func(i int, noise float64) string
		want         map[string]float64 // by kind and name
		set          []string
	}{
		{"a week and a slope", "PER+LIN+CONST", "day,y", func(i int, noise float64) string {
			at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)
			return fmt.Sprintf("%s,%.4f", at.Format(time.DateOnly), 100+0.2*float64(i)+week[at.Weekday()]+noise)
		}, map[string]float64{"slope": 0.2 / 86400, "part Saturday": 20 - 10./7, "part Monday": -15 - 10./7, "part Wednesday": -10. / 7,
			"swing": 17.5}, []string{`optimise.fix.PER.period[day]="7 d"`}},
		{"levels and a wave", "PER[x]+CAT[kind]+CONST", "x,kind,y", func(i int, noise float64) string {
			kind := kinds[i%4]
			return fmt.Sprintf("%.2f,%s,%.4f", 0.5*float64(i), kind, 8*math.Sin(2*math.Pi*0.5*float64(i)/11)+level[kind]+noise)
		}, map[string]float64{"swing": 8, "level rain": -6, "level fog": 2},
			[]string{`data.types={kind="levels"}`, `data.inputs=["x","kind"]`, `optimise.fix.PER.period[x]="11"`}},
		{"a hill", "SE+CONST", "x,y", func(i int, noise float64) string {
			x := 0.5 * float64(i)
			return fmt.Sprintf("%.2f,%.4f", x, 30+20*math.Exp(-(x-18)*(x-18)/72)+noise)
		}, map[string]float64{"swing": 10 * (1 - math.Exp(-(39-18)*(39-18)/72.)), "shape top": 20 * (1 - math.Exp(-(39-18)*(39-18)/72.))}, nil},
		{"a short wave in a long one", "PER*PER+CONST", "x,y", func(i int, noise float64) string {
			x := 0.5 * float64(i)
			wave := 8 * math.Sin(2*math.Pi*x/4)
			return fmt.Sprintf("%.2f,%.4f", x, (1+0.5*math.Cos(2*math.Pi*x/18))*wave+0.1*noise)
		}, map[string]float64{"swing": 8}, []string{`optimise.fix.PER#1.period[x]="4"`, `optimise.fix.PER#2.period[x]="18"`}},
		{"a step", "CP(CONST,CONST)", "day,y", func(i int, noise float64) string {
			return fmt.Sprintf("%d,%.4f", i, 50-12*float64(i/45)+noise)
		}, map[string]float64{"change": -12}, nil},
		{"a bend", "CP(LIN+CONST,LIN+CONST)", "day,y", func(i int, noise float64) string {
			return fmt.Sprintf("%d,%.4f", i, 50+0.2*float64(i)-0.5*max(0, float64(i)-47.3)+noise)
		}, map[string]float64{"bend": -0.5}, nil},
		{"two steps", "CP(CONST,CP(CONST,CONST))", "day,y", func(i int, noise float64) string {
			return fmt.Sprintf("%d,%.4f", i, 50-12*float64(i/30)+20*float64(i/60)+noise)
		}, map[string]float64{"change": -4, "step 1": -12, "step 2": 8},
			[]string{`optimise.fix.CP#1.place[day]="29.5"`, `optimise.fix.CP#2.place[day]="59.5"`}},
	} {
		rng := rand.New(rand.NewPCG(3, 8))
		var b strings.Builder
		b.WriteString(c.header + "\n")
		for i := range 80 {
			b.WriteString(c.row(i, rng.NormFloat64()) + "\n")
		}
		path := filepath.Join(t.TempDir(), "table.csv")
		must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
		_, _, dir := runtest.Finished(t, configtest.Plane(t, path, append(c.set, "kernels.expressions="+c.kernel, "data.target=y", "data.test=0",
			"sparse.inducing=40", "schedule.steps=40", "schedule.evaluate_every=1", "optimise.evidence=mode",
			"data.transform=none", "predict.theta=mode")...))
		var s record.Standing
		must.OK(t, record.Each(t.Context(), dir, s.Apply))
		if s.Effects == nil {
			t.Fatalf("%s: no effects", c.what)
		}
		found := map[string]bool{}
		for _, e := range s.Effects.All {
			name := strings.TrimSpace(e.Kind + " " + e.Name)
			if at, err := strconv.ParseFloat(e.Name, 64); e.Kind == record.EffectStep && err == nil {
				name = fmt.Sprintf("step %.0f", at/30)
			}
			want, ok := c.want[name]
			if !ok {
				continue
			}
			found[name] = true
			mean, sd := float64(e.Mean), float64(e.SD)
			if math.Abs(mean-want) > 3.5*sd || sd > 0.2*math.Abs(want) && name != "part Wednesday" || e.Known() != (math.Abs(mean) > 1.96*sd) {
				t.Errorf("%s: %s is %.4g ± %.2g, in the table %.4g", c.what, name, mean, sd, want)
			}
			if at, err := strconv.ParseFloat(e.Against, 64); e.Kind == record.EffectShape && (err != nil || math.Abs(at-18) > 0.6) {
				t.Errorf("%s: at %q", c.what, e.Against)
			}
			if p := e.Place; (p != nil) != (e.Kind == record.EffectBend) || p != nil &&
				!(math.Abs(float64(p.Middle)-47.3) < 3.5*float64(p.High-p.Low)/4 && p.High < p.Low+10) {
				t.Errorf("%s: between %+v, in the table at 47.3", c.what, p)
			}
			if e.Kind == record.EffectLevel && e.Against != "sun" {
				t.Errorf("%s: beside %q", c.what, e.Against)
			}
		}
		if len(found) != len(c.want) {
			t.Errorf("%s: %+v, want %v", c.what, s.Effects.All, c.want)
		}
	}
}
