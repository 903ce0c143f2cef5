package record

import (
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/vbks"
)

// course are the evaluations of a run: what each took, in s, and with how many inducing inputs.
type course struct {
	train, kernels int
	took           []float64
	inducing       []int
	after          float64 // what followed the last one
}

// tell tells a run's evaluations one after the other, and after each what is left as it is
// told, and as it is.
func (c *course) tell(t *testing.T, check func(i int, told, left time.Duration)) {
	t.Helper()
	start := &Start{Name: "r", Data: &datasets.Summary{Train: c.train}, Inducing: 64, Planned: len(c.took)}
	settings := config.Default()
	settings.Name, settings.Data.Source, settings.Data.Path = "r", "csv", "r.csv"
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
	total, at := c.after, 0.0
	for _, v := range c.took {
		total += v
	}
	for i, v := range c.took {
		at += v
		e := &Evaluation{Index: i + 1, Planned: len(c.took), RowsSeen: min(c.train, ((i+1)*c.train+9)/10), Inducing: 64}
		if c.inducing[i] > 0 {
			e.Inducing = c.inducing[i]
		}
		for range c.kernels {
			e.Kernels = append(e.Kernels, Kernel{ID: "SE", Status: vbks.Live})
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
	"346 hours": {311, 36, []float64{4.7, 9.4, 12.9, 13.4, 10.7, 14.2, 9.5, 13, 13.5, 25.8, 22.2, 22.2, 195}, rungs(13, 311), 38.4},
	"200 days":  {180, 32, []float64{1.9, 4.1, 4.4, 6.3, 6.8, 6.3, 5.5, 5.2, 5.2, 8.9, 11.2, 12, 19.4}, rungs(13, 180), 7.3},
	"280 days":  {252, 32, []float64{2.4, 5, 4.3, 5.7, 6.1, 8.2, 7.7, 7.6, 9.5, 12.6, 12.4, 15.3, 49.1}, rungs(13, 252), 23.2},
}

// rungs are the inducing inputs of so many evaluations, the last ones on other rungs; 0: the first.
func rungs(n int, last ...int) []int { return append(make([]int, n-len(last)), last...) }

// What a rung of more inducing inputs takes is foreseen long before it comes: from the third
// evaluation on what is told is right within a factor of 1.5.
func TestLeftOfMeasuredRuns(t *testing.T) {
	for name, c := range measured {
		c.tell(t, func(i int, told, left time.Duration) {
			t.Logf("%s: after %d told %.0f s, true %.0f s", name, i, told.Seconds(), left.Seconds())
			if f := told.Seconds() / left.Seconds(); i >= 3 && (f > 1.5 || f < 1/1.5) {
				t.Errorf("%s: after %d %s are told, %s were left", name, i, told, left)
			}
		})
	}
}

// A ladder whose last two rungs took more than half of all time, as measured: what is told before the
// second one is over is right within a factor of about 2, and within 1.5 about a third of the time.
// That rung took longer than is foreseen.
func TestLeftOfALadder(t *testing.T) {
	c := course{362, 32, []float64{2, 6, 7, 9, 8, 9, 10, 11, 8, 12, 10, 10, 72, 70}, rungs(14, 128, 362), 4}
	const total = 248.0
	thirds := 0
	c.tell(t, func(i int, told, left time.Duration) {
		at, most := total-left.Seconds(), 2.05
		if at >= total/4 && at < 0.34*total {
			most = 1.5
			thirds++
		}
		if f := told.Seconds() / left.Seconds(); i < 13 && (f > most || f < 1/most) {
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
