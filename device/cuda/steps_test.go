//go:build cuda

package cuda_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// counts is what the fake driver has been asked for on its first card.
func counts(t *testing.T) fake.Counts {
	t.Helper()
	dir, err := libraries()
	must.OK(t, err)
	return fake.Count(t, dir, 0)
}

// TestStepGraphs: steps on larger matrices than are stepped in one launch lead to the same bits as graphs
// and launch by launch; a step takes three calls of the driver as a graph (copies of the rows' numbers and of Adam's corrections
// or a natural step's size, and the graph), whatever its launches.
func TestStepGraphs(t *testing.T) {
	const m, batch, steps = 40, 24, 12
	r := rand.New(rand.NewPCG(5, 5))
	setup := vbks.StepSetup{Programs: compile(t, 1, "SE", "PER*LIN", "RQ"), Noise: 0.1, X: normal(r, 300), Y: normal(r, 300), Dim: 1,
		Z: normal(r, m), Mean: make([]float64, m), Chol: make([]float64, m*m), Batch: batch, Jitter: device.Jitter{Relative: 1e-4},
		Rate: 0.01, Seed: 1}
	for i := range m {
		setup.Chol[(m+1)*i] = 1
	}
	for _, p := range setup.Programs {
		setup.Theta = append(setup.Theta, slices.Repeat([]float64{1}, len(p.Params)))
	}
	for _, c := range []struct {
		name    string
		kind    vbks.StepKind
		kernels int // of a step
	}{{"adam", vbks.StepAdam, 39}, {"theta", vbks.StepTheta, 49}, {"frozen", vbks.StepFrozen, 11}} {
		t.Run(c.name, func(t *testing.T) {
			setup.Kind = c.kind
			var elbo []float64
			for graphs := range 2 {
				pretend(t, fake.Options{Graphs: 1 - graphs})
				dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
				b, err := vbks.NewStepBench(dev, setup)
				must.OK(t, err)
				defer b.Close()
				must.OK(t, b.Steps(15)) // natural ones change their size meanwhile
				before := counts(t)
				must.OK(t, b.Steps(steps))
				after := counts(t)
				calls, kernels := after.Calls-before.Calls, after.Kernels-before.Kernels
				launched := after.Graphs - before.Graphs
				t.Logf("graphs: %v: %d steps are %d kernels in %d calls of the driver, %d of graphs", graphs == 1, steps, kernels, calls, launched)
				if kernels != c.kernels*steps || launched != graphs*steps {
					t.Errorf("%d kernels, %d graphs, want %d and %d", kernels, launched, c.kernels*steps, graphs*steps)
				}
				want := c.kernels * steps
				if graphs == 1 {
					want = 3 * steps
				}
				if waits := calls - want; waits < 1 || waits > steps+1 {
					t.Errorf("%d calls of the driver, want %d and waiting", calls, want)
				}
				e, err := b.ELBO(300)
				must.OK(t, err)
				elbo = append(elbo, e)
			}
			if elbo[0] != elbo[1] {
				t.Errorf("ELBO %v launch by launch, %v as graphs", elbo[0], elbo[1])
			}
		})
	}
}

// evaluated makes a trainer's planned evaluations.
func evaluated(t *testing.T, tr *vbks.Trainer) (out []vbks.Evaluation) {
	t.Helper()
	for !tr.Done() {
		e, err := tr.Next(context.Background())
		must.OK(t, err)
		out = append(out, *e)
	}
	return out
}

// TestTrainingByGraphs: whole evaluations are the same bit for bit whether the driver records steps, or has
// no memory for it, or is too old; with point estimates and with q(log θ), whose samples come from the
// host within a step; and where a card is lost in the middle of one.
func TestTrainingByGraphs(t *testing.T) {
	for _, optimizer := range []string{"adam", "natural"} {
		for _, belief := range []string{"point", "diagonal"} {
			if testing.Short() && (optimizer != "adam" || belief != "point") {
				continue
			}
			var reference []vbks.Evaluation
			for _, c := range []struct {
				name string
				o    fake.Options
			}{{"too old", fake.Options{Graphs: 1}}, {"graphs", fake.Options{}}, {"no memory", fake.Options{Graphs: 2}},
				{"lost", fake.Options{Cards: 2, FailAt: 4000, FailCard: 2}}} {
				t.Run(fmt.Sprint(optimizer, " ", belief, " ", c.name), func(t *testing.T) {
					pretend(t, c.o)
					dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
					got := evaluated(t, trainer(t, dev, optimizer, func(s *vbks.Settings) {
						s.Inducing, s.Steps, s.Hyperparameters = 36, 24, belief
					}))
					n := counts(t)
					if (n.Graphs > 0) != (c.o.Graphs == 0) {
						t.Errorf("%d launches of graphs", n.Graphs)
					}
					t.Logf("%d kernels, %d calls of the driver, %d graphs recorded and launched %d times", n.Kernels, n.Calls, n.Captures, n.Graphs)
					notices := told(got)
					if c.o.FailAt > 0 && (len(notices) != 1 || !strings.Contains(notices[0], "lane 2 of 2 is lost")) {
						t.Errorf("notices %q", notices)
					}
					if reference == nil {
						reference = got
					} else if !reflect.DeepEqual(got, reference) {
						t.Error("other evaluations")
					}
				})
			}
		}
	}
}

// TestRepeatsRows: within a step that repeats, rows of its minibatch are those of the list, also some of
// them; rows of other lists and other rows are what they are.
func TestRepeatsRows(t *testing.T) {
	pretend(t, fake.Options{})
	dev := open(t, cuda.Options{Generate: cuda.GenerateNever})
	l := dev.Lane(0)
	y := make([]float64, 50)
	for i := range y {
		y[i] = float64(i)
	}
	d, err := dev.NewData(y, y, 1)
	must.OK(t, err)
	rows := []int32{3, 14, 15, 9, 26, 5, 35, 8, 41, 7}
	first, err := l.NewIndex(rows)
	must.OK(t, err)
	second, err := l.NewIndex(rows[5:])
	must.OK(t, err)
	a, err := l.NewArray(1, 1, 2)
	must.OK(t, err)
	out, err := l.NewArray(1, 1, 1)
	must.OK(t, err)
	l.Write(a, 0, []float64{1, 100})
	for range 3 { // the third is a graph
		for from := range 5 {
			end := device.Repeats(l, device.Points{Data: d, Index: first, From: from, To: from + 4})
			for _, c := range []struct {
				list device.Index
				at   int
			}{{first, from}, {first, from + 2}, {second, 1}, {first, from + 5}, {nil, 7}} {
				if c.at+2 > len(rows) {
					continue
				}
				l.MulTargets([]int{0}, 1, a, device.Points{Data: d, Index: c.list, From: c.at, To: c.at + 2}, 0, out)
				for range 4 {
					l.Fill([]int{0}, a, 1)
				}
				l.Write(a, 0, []float64{1, 100})
				want := float64(c.at) + 100*float64(c.at+1)
				switch c.list {
				case first:
					want = float64(rows[c.at]) + 100*float64(rows[c.at+1])
				case second:
					want = float64(rows[5+c.at]) + 100*float64(rows[6+c.at])
				}
				var got [1]float64
				must.OK(t, l.Read(out, 0, got[:]))
				if got[0] != want {
					t.Errorf("minibatch from %d, rows from %d: %v, want %v", from, c.at, got[0], want)
				}
			}
			end()
		}
	}
	if n := counts(t); n.Graphs == 0 {
		t.Error("no graph was launched")
	}
}
