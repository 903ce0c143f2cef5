package record

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
)

// course are the evaluations of a run: what each took, in s, and with how many inducing inputs.
type course struct {
	train, kernels int
	took           []float64
	inducing       []int
	after          float64 // what followed the last one

	// Of other runs than those of series:
	drawn   bool // integrals by draws, weights are the belief
	planned int  // evaluations, where bounds told that fewer were enough
	slack   []float64
	apart   float64 // nats between each kernel and the next; 0: one, as among the better ones of a series
}

// tell tells a run's evaluations one after the other, and after each what is left as it is
// told, and as it is.
func (c *course) tell(t *testing.T, check func(i int, told, left time.Duration)) {
	t.Helper()
	start := &Start{Name: "r", Data: &datasets.Summary{Train: c.train}, Inducing: 64, Planned: c.planned}
	settings := config.Default()
	settings.Name, settings.Data.Source, settings.Data.Path = "r", "csv", "r.csv"
	if !c.drawn {
		settings.Settings.Evidence, settings.Settings.Weights = "mode", vbks.TemperedWeights
	}
	c.planned = max(c.planned, len(c.took))
	start.Config = settings.TOML()
	for range c.kernels {
		start.Kernels = append(start.Kernels, KernelInfo{ID: "SE"})
	}
	var s Standing
	s.Apply(&Event{Type: EventStarted, Start: start})
	if !s.foresight.known {
		_, err := config.OfRun(start.Config, "r")
		t.Fatalf("nothing is foreseen: %v", err)
	}
	s.Apply(&Event{Type: EventState, State: &StateChange{From: Ready, To: Running}})
	total, at, rung := c.after, 0.0, 0
	for _, v := range c.took {
		total += v
	}
	for i, v := range c.took {
		at += v
		e := &Evaluation{Index: i + 1, Planned: c.planned, RowsSeen: min(c.train, ((i+1)*c.train+9)/10), Inducing: 64}
		if c.inducing[i] > 0 {
			e.Inducing = c.inducing[i]
		}
		slack := 300.0 // what no bound tells
		if ends := i+1 == len(c.took) || c.inducing[i+1] != c.inducing[i]; ends && len(c.slack) > rung {
			slack, rung = c.slack[rung], rung+1
		}
		for j := range c.kernels {
			behind := float64(j) * cmp.Or(c.apart, 1)
			e.Kernels = append(e.Kernels, Kernel{ID: "SE", Status: vbks.Live, Fit: &Fit{ELBO: files.Number(-behind),
				Posterior: files.Number(0.4 * math.Exp(-behind/2)), Apart: j > 0,
				Evidence: &Evidence{Lower: files.Number(-behind), Upper: files.Number(slack - behind)}}})
		}
		s.Apply(&Event{Type: EventEvaluation, Evaluation: e, Seconds: files.Number(at)})
		if told, ok := s.Left(seconds(at), 0); ok {
			check(i+1, told, seconds(total-at))
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// measured are courses of runs of made-up series on one lane.
var measured = map[string]course{
	"346 hours": {311, 36, []float64{4.7, 9.4, 12.9, 13.4, 10.7, 14.2, 9.5, 13, 13.5, 25.8, 22.2, 22.2, 195}, rungs(13, 311), 38.4,
		false, 0, nil, 0},
	"200 days": {180, 32, []float64{1.9, 4.1, 4.4, 6.3, 6.8, 6.3, 5.5, 5.2, 5.2, 8.9, 11.2, 12, 19.4}, rungs(13, 180), 7.3, false, 0, nil, 0},
	"280 days": {252, 32, []float64{2.4, 5, 4.3, 5.7, 6.1, 8.2, 7.7, 7.6, 9.5, 12.6, 12.4, 15.3, 49.1}, rungs(13, 252), 23.2,
		false, 0, nil, 0},
	// Of two lanes: a table of 900 rows, a series of 420 days, for which 128 inducing inputs were enough, and 144 kernels of
	// a function without noise, with slack of 293 nats, then 8.7, then none.
	"900 houses": {810, 35, []float64{4.5, 6, 5.3, 6.4, 9, 9.2, 9.7, 6.2, 9, 16.1, 17.5, 17.2, 225}, rungs(13, 128), 35.9,
		true, 15, []float64{0.0003, 0.007}, 0},
	"420 days": {378, 32, []float64{2, 2.8, 3.1, 2.4, 5.3, 6.1, 4.8, 4.2, 5.7, 7.7, 9.9, 8.1, 37.4}, rungs(13, 128), 23.8,
		false, 14, []float64{0.98, 0.43}, 0},
	"fig1c": {1000, 144, []float64{8.4, 13.6, 10.4, 9.5, 7, 9.2, 9.1, 15.2, 15.1, 31.7, 224.3, 33.7},
		[]int{32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 64, 128}, 3.3, true, 14, []float64{293, 8.7, 0.24}, 10},
}

// rungs are the inducing inputs of so many evaluations, the last ones on other rungs; 0: the first.
func rungs(n int, last ...int) []int { return append(make([]int, n-len(last)), last...) }

// What a rung of more inducing inputs takes is foreseen long before it comes, that it will not be needed as soon as bounds
// tell, and what follows the last one: from the third evaluation on what is told is right within a factor of 1.75.
func TestLeftOfMeasuredRuns(t *testing.T) {
	for name, c := range measured {
		c.tell(t, func(i int, told, left time.Duration) {
			t.Logf("%s: after %d told %.0f s, true %.0f s", name, i, told.Seconds(), left.Seconds())
			if f := told.Seconds() / left.Seconds(); i >= 3 && i < len(c.took) && (f > 1.75 || f < 1/1.75) {
				t.Errorf("%s: after %d %s are told, %s were left", name, i, told, left)
			}
		})
	}
}

// A ladder whose last two rungs took more than half of all time, as measured: what is told before the
// second one is over is right within a factor of about 2, and within 1.5 about a third of the time.
// That rung took longer than is foreseen.
func TestLeftOfALadder(t *testing.T) {
	c := course{362, 32, []float64{2, 6, 7, 9, 8, 9, 10, 11, 8, 12, 10, 10, 72, 70}, rungs(14, 128, 362), 4, false, 0, nil, 0}
	const total = 248.0
	thirds := 0
	c.tell(t, func(i int, told, left time.Duration) {
		at, most := total-left.Seconds(), 2.05
		if at >= total/4 && at < 0.34*total {
			most = 1.5
			thirds++
		}
		if f := told.Seconds() / left.Seconds(); i > 1 && i < 13 && (f > most || f < 1/most) {
			t.Errorf("after %d, at %.0f s, %s are told, %s were left", i, at, told, left)
		}
	})
	if thirds == 0 {
		t.Error("nothing is told about a third of the time")
	}
}

// One slow evaluation does not stretch the others, and a machine that has become twice as slow
// takes twice as long for what is left.
func TestLeftOnASlowerMachine(t *testing.T) {
	even, slow := measured["280 days"], measured["280 days"]
	slow.took = append([]float64(nil), even.took...)
	for i := 5; i < len(slow.took); i++ {
		slow.took[i] *= 2
	}
	told := map[int]time.Duration{}
	even.tell(t, func(i int, left, _ time.Duration) { told[i] = left })
	slow.tell(t, func(i int, left, _ time.Duration) {
		f := left.Seconds() / told[i].Seconds()
		if i > 5 && (f > 2.001 || f <= 1) || i == 12 && f < 1.6 {
			t.Errorf("after %d what is told is %.3g times as long", i, f)
		}
	})
}

// While an evaluation lasts longer than was foreseen what comes after it stays as it was.
func TestLeftGrowsByThePresentAlone(t *testing.T) {
	s := Standing{State: Running}
	for i := range 3 {
		s.Apply(&Event{Type: EventEvaluation, Evaluation: &Evaluation{Index: i + 1, Planned: 6}, Seconds: files.Number(10 * (i + 1))})
	}
	for worked, want := range map[time.Duration]time.Duration{30: 30, 35: 25, 40: 20, 70: 20, 300: 20} {
		if left, ok := s.Left(worked*time.Second, 0); !ok || left.Round(time.Millisecond) != want*time.Second {
			t.Errorf("%d s: %s left, want %d s", worked, left, want)
		}
	}
	if left, _ := s.Left(300*time.Second, 7*time.Second); left.Round(time.Millisecond) != 27*time.Second {
		t.Errorf("%s left", left)
	}
}

// A long series whose kernels are weighed by rolling origins: what these take is told when the last evaluation is the next,
// in words and in what is left, of at least 2,001 rows and where they are made; what that evaluation then takes with them
// is no slower pace.
func TestOriginsAreForeseen(t *testing.T) {
	run := func(rows, kernels int, weights string) (said []string, left []time.Duration, pace float64) {
		settings := config.Default()
		settings.Name, settings.Data.Source, settings.Data.Path = "r", "csv", "r.csv"
		settings.Settings.Evidence, settings.Settings.Weights, settings.Settings.Inducing = "mode", weights, 64
		start := &Start{Name: "r", Data: &datasets.Summary{Train: rows}, Inducing: 64, Planned: 3, Config: settings.TOML()}
		for range kernels {
			start.Kernels = append(start.Kernels, KernelInfo{ID: "SE"})
		}
		var s Standing
		s.Apply(&Event{Type: EventStarted, Start: start})
		s.Apply(&Event{Type: EventState, State: &StateChange{From: Ready, To: Running}})
		at := 0.0
		for i := range 3 {
			e := &Evaluation{Index: i + 1, Planned: 3, RowsSeen: rows, Inducing: 64}
			for range kernels {
				e.Kernels = append(e.Kernels, Kernel{ID: "SE", Status: vbks.Live, Fit: &Fit{Posterior: 1}})
			}
			at += 1e-9 * s.foresight.made(e) // at the pace that is foreseen
			s.Apply(&Event{Type: EventEvaluation, Evaluation: e, Seconds: files.Number(at)})
			told, _ := s.Left(seconds(at), 0)
			said, left = append(said, s.Origins()), append(left, told)
		}
		return said, left, s.tempo.seconds / s.tempo.work
	}
	said, left, pace := run(20_000, 5, vbks.OriginsWeights)
	_, without, _ := run(20_000, 5, vbks.TemperedWeights)
	if said[0] != "" || said[2] != "" || !strings.Contains(said[1], "evaluation 3 ends with forecasts of 5 kernels from 5 rolling origins") {
		t.Errorf("told %q", said)
	}
	s := config.Default().Settings
	s.Weights = vbks.OriginsWeights
	want := seconds(1e-9 * s.ForeseenOrigins(20_000, 5, 64))
	if !strings.HasSuffix(said[1], "about "+words.ShortDuration(want)) || want < time.Second {
		t.Errorf("told %q, %s are foreseen", said[1], want)
	}
	for i := range 2 {
		if more := left[i] - without[i]; more < want*9/10 || more > want*11/10 {
			t.Errorf("after %d %s are left, %s without origins, which take %s", i+1, left[i], without[i], want)
		}
	}
	if math.Abs(pace-1e-9) > 1e-12 {
		t.Errorf("the pace is %v", pace)
	}
	for _, c := range []struct {
		rows, kernels int
		weights       string
	}{{2000, 5, vbks.OriginsWeights}, {20_000, 1, vbks.OriginsWeights}, {20_000, 5, vbks.TemperedWeights}} {
		if said, _, _ := run(c.rows, c.kernels, c.weights); slices.ContainsFunc(said, func(s string) bool { return s != "" }) {
			t.Errorf("%+v: told %q", c, said)
		}
	}
}

// Where more inducing inputs come, forecasts from rolling origins have a say in which kernels go on: what they take is foreseen of
// the evaluation that follows, and counts for it once it has been made.
func TestOriginsBetweenRungsAreForeseen(t *testing.T) {
	const rows, kernels = 20_000, 12
	of := func(weights string) (next, made float64, s vbks.Settings, rungs []int) {
		settings := config.Default()
		settings.Name, settings.Data.Source, settings.Data.Path = "r", "csv", "r.csv"
		settings.Settings.Evidence, settings.Settings.Weights = "mode", weights
		start := &Start{Name: "r", Data: &datasets.Summary{Train: rows}, Inducing: 32, Planned: 9, Config: settings.TOML()}
		for range kernels {
			start.Kernels = append(start.Kernels, KernelInfo{ID: "SE"})
		}
		f := foresee(start)
		at := func(index, n, m int) *Evaluation {
			e := &Evaluation{Index: index, Planned: index + len(f.rungs) - 1 - slices.Index(f.rungs, m), RowsSeen: rows, Inducing: m}
			for range n {
				e.Kernels = append(e.Kernels, Kernel{ID: "SE", Status: vbks.Live, Fit: &Fit{Posterior: 1}})
			}
			return e
		}
		if len(f.rungs) < 3 {
			t.Fatalf("rungs %v", f.rungs)
		}
		before := at(4, kernels, f.rungs[0])
		f.made(before)
		all, _ := f.ahead(before, usualFall)
		return all[0].work, f.made(at(5, 6, f.rungs[1])), settings.Settings, f.rungs
	}
	next, made, s, rungs := of(vbks.OriginsWeights)
	plainNext, plainMade, _, _ := of(vbks.TemperedWeights)
	want := s.ForeseenOrigins(rows, kernels, rungs[0])
	if !(want > 0) || math.Abs(next-plainNext-want) > 1e-9*want || math.Abs(made-plainMade-want) > 1e-9*want {
		t.Errorf("%g more are foreseen and %g counted, want %g", next-plainNext, made-plainMade, want)
	}
}

// Of a run whose intervals are calibrated what that takes is foreseen where it ends, and counted.
func TestCalibrationIsForeseen(t *testing.T) {
	const rows, kernels, inducing = 100_000, 12, 32 // a tenth is more than weights are from
	of := func(calibrate string) (next, made float64, s vbks.Settings) {
		settings := config.Default()
		settings.Name, settings.Data.Source, settings.Data.Path = "r", "csv", "r.csv"
		settings.Settings.Evidence, settings.Settings.Weights, settings.Settings.Calibrate = "mode", "posterior", calibrate
		settings.Settings.Inducing = inducing
		start := &Start{Name: "r", Data: &datasets.Summary{Train: rows}, Inducing: inducing, Planned: 5, Config: settings.TOML()}
		for range kernels {
			start.Kernels = append(start.Kernels, KernelInfo{ID: "SE"})
		}
		f := foresee(start)
		at := func(index int) *Evaluation {
			e := &Evaluation{Index: index, Planned: 5, RowsSeen: rows, Inducing: inducing}
			for range kernels {
				e.Kernels = append(e.Kernels, Kernel{ID: "SE", Status: vbks.Live, Fit: &Fit{Posterior: 1}})
			}
			return e
		}
		all, _ := f.ahead(at(4), usualFall)
		return all[0].work, f.made(at(5)), settings.Settings
	}
	next, made, s := of("auto")
	plainNext, plainMade, _ := of("none")
	want := s.ForeseenCalibration(rows, kernels, inducing)
	s.Weights = vbks.OriginsWeights
	if least := s.ForeseenOrigins(rows, kernels, inducing); !(want > least) || !(least > 0) {
		t.Errorf("a calibration takes %g, weights from the same origins and fewer rows behind them %g", want, least)
	}
	s.Top = 1
	if one := s.ForeseenCalibration(rows, kernels, inducing); math.Abs(one*kernels-want) > 1e-9*want {
		t.Errorf("of one kernel that predicts %g, of %d %g", one, kernels, want)
	}
	if math.Abs(next-plainNext-want) > 1e-9*want || math.Abs(made-plainMade-want) > 1e-9*want {
		t.Errorf("%g more are foreseen and %g counted, want %g", next-plainNext, made-plainMade, want)
	}
}
