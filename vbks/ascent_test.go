package vbks

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"
)

// testFunction is a function to maximise, with its gradient; ok is false where
// it cannot be evaluated.
type testFunction func(x, grad []float64) (value float64, ok bool)

// quadratic is −½ Σ c_i (x_i − at_i)² with curvatures 1, 10, 100, ...
func quadratic(at ...float64) testFunction {
	return func(x, grad []float64) (value float64, ok bool) {
		c := 1.0
		for i := range x {
			d := x[i] - at[i]
			value -= c * d * d / 2
			grad[i] = -c * d
			c *= 10
		}
		return value, true
	}
}

// rosenbrock is −Σ [100 (x_{i+1} − x_i²)² + (1 − x_i)²], greatest at (1, ..., 1).
func rosenbrock(x, grad []float64) (value float64, ok bool) {
	clear(grad)
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		value -= 100*a*a + b*b
		grad[i] += 400*a*x[i] + 2*b
		grad[i+1] -= 200 * a
	}
	return value, true
}

// walled is a function that cannot be evaluated where beyond says so.
func walled(f testFunction, beyond func(x []float64) bool) testFunction {
	return func(x, grad []float64) (float64, bool) {
		if beyond(x) {
			return math.NaN(), false
		}
		return f(x, grad)
	}
}

// testObjective evaluates functions, one per member, and notes its batches.
type testObjective struct {
	functions []testFunction
	values    []float64
	oks       []bool
	grads     [][]float64
	batches   [][]int
	failAt    int // the batch, from 1, at which the device fails; 0: never
}

var errDevice = errors.New("the device is gone")

func (o *testObjective) objective() objective {
	n := len(o.functions)
	o.values, o.oks, o.grads = make([]float64, n), make([]bool, n), make([][]float64, n)
	return objective{
		eval: func(sub []int, xs [][]float64) error {
			o.batches = append(o.batches, slices.Clone(sub))
			if len(o.batches) == o.failAt {
				return errDevice
			}
			for i, k := range sub {
				o.grads[k] = make([]float64, len(xs[i]))
				o.values[k], o.oks[k] = o.functions[k](xs[i], o.grads[k])
			}
			return nil
		},
		result: func(k int, grad []float64) (float64, bool, error) {
			copy(grad, o.grads[k])
			return o.values[k], o.oks[k], nil
		},
	}
}

// goroutinesEnd waits until no more goroutines run than before.
func goroutinesEnd(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

// Several members of different dimension climb to their maxima in one set of
// batches, each as it does alone.
func TestAscendFindsMaxima(t *testing.T) {
	functions := []testFunction{quadratic(3, -2, 0.5), rosenbrock, quadratic(-7), rosenbrock}
	starts := [][]float64{{0, 0, 0}, {-1.2, 1}, {4}, {0, 0, 0}}
	maxima := [][]float64{{3, -2, 0.5}, {1, 1}, {-7}, {1, 1, 1}}
	before := runtime.NumGoroutine()
	climb := func(sub []int) ([]*ascent, *testObjective) {
		var runs []*ascent
		for _, k := range sub {
			runs = append(runs, &ascent{start: slices.Clone(starts[k])})
		}
		o := &testObjective{functions: functions}
		if err := ascend(context.Background(), nil, sub, runs, 200, o.objective()); err != nil {
			t.Fatal(err)
		}
		return runs, o
	}
	together, o := climb([]int{0, 1, 2, 3})
	for k, a := range together {
		if !slices.Equal(a.start, starts[k]) {
			t.Errorf("member %d: the start was changed", k)
		}
		// Ascents end when they gain less than .01 nats.
		if a.x == nil || a.value < -0.01 || a.value > 0 {
			t.Fatalf("member %d: %g at %v, the maximum is 0 at %v", k, a.value, a.x, maxima[k])
		}
		if v, _ := functions[k](a.x, make([]float64, len(a.x))); v != a.value {
			t.Errorf("member %d: reported %g, the function is %g there", k, a.value, v)
		}
		alone, _ := climb([]int{k})
		if !reflect.DeepEqual(alone[0], a) {
			t.Errorf("member %d ends elsewhere alone: %+v and %+v", k, alone[0], a)
		}
	}
	most, evaluations := 0, 0
	for _, a := range together {
		most = max(most, a.evals)
		evaluations += a.evals
	}
	asked := 0
	for _, sub := range o.batches {
		if !slices.IsSorted(sub) || len(slices.Compact(slices.Clone(sub))) != len(sub) {
			t.Errorf("batch of %v: not ascending without repetition", sub)
		}
		asked += len(sub)
	}
	if len(o.batches) != most || asked != evaluations {
		t.Errorf("%d batches of %d evaluations; the longest ascent made %d, all together %d", len(o.batches), asked, most, evaluations)
	}
	goroutinesEnd(t, before)
}

// The best point seen counts, and few iterations are few evaluations.
func TestAscendStopsAfterItsIterations(t *testing.T) {
	o := &testObjective{functions: []testFunction{rosenbrock}}
	a := &ascent{start: []float64{-1.2, 1}}
	if err := ascend(context.Background(), nil, []int{0}, []*ascent{a}, 3, o.objective()); err != nil {
		t.Fatal(err)
	}
	if a.evals > 25 || a.value <= -24.2 || a.value > -1 {
		t.Errorf("%g after %d evaluations of 3 iterations; the start has −24.2", a.value, a.evals)
	}
	if best := slices.Max(a.trail); best != a.value || !slices.IsSorted(a.trail) {
		t.Errorf("value %g, the best seen %g, trail %v", a.value, best, a.trail)
	}
}

// Members meet regions where they cannot be evaluated and turn back; one that
// cannot be evaluated at its start ends with no point; the others do not notice.
// A start that has been valued before, and better by rounding, is where an ascent is that gets no further: what
// it would still gain is what the gradient there says, though the start comes back from its scale in another bit.
func TestAscendKnowsItsStart(t *testing.T) {
	start := []float64{0.1, 0.7}
	o := &testObjective{functions: []testFunction{quadratic(3, 0.7)}}
	a := &ascent{start: start, scale: []float64{0.3, 3}, x: start, value: 0}
	for start[0]/a.scale[0]*a.scale[0] == start[0] {
		a.scale[0] += 0.1
	}
	if err := ascend(t.Context(), nil, []int{0}, []*ascent{a}, 1, o.objective()); err != nil {
		t.Fatal(err)
	}
	if !(a.further() > 0) {
		t.Errorf("nothing to gain at %v", a.x)
	}
}

func TestAscendWithFailingMembers(t *testing.T) {
	before := runtime.NumGoroutine()
	var walls [2]int
	hit := func(count *int, beyond func([]float64) bool) func([]float64) bool {
		return func(x []float64) bool {
			if beyond(x) {
				*count++
				return true
			}
			return false
		}
	}
	nowhere := walled(rosenbrock, func([]float64) bool { return true })
	functions := []testFunction{
		quadratic(3, -2),
		// The wall crosses the valley's edge on the way to the maximum.
		walled(rosenbrock, hit(&walls[0], func(x []float64) bool { return x[1] > 1.05 || x[0]*x[0] > 1.2+x[1] })),
		nowhere,
		// The unconstrained maximum lies beyond the wall.
		walled(quadratic(5), hit(&walls[1], func(x []float64) bool { return x[0] > 2 })),
	}
	o := &testObjective{functions: functions}
	var runs []*ascent
	for _, start := range [][]float64{{0, 0}, {-1.2, 0.8}, {0.5, 0.5}, {0}} {
		runs = append(runs, &ascent{start: start})
	}
	if err := ascend(context.Background(), nil, []int{0, 1, 2, 3}, runs, 200, o.objective()); err != nil {
		t.Fatal(err)
	}
	if walls[0] == 0 || walls[1] == 0 {
		t.Errorf("walls were met %v times: the test shows nothing", walls)
	}
	if runs[0].value < -0.01 || runs[1].value < -0.01 {
		t.Errorf("values %g and %g, both maxima are 0", runs[0].value, runs[1].value)
	}
	if runs[2].x != nil || runs[2].evals != 1 {
		t.Errorf("a member without any value: %+v", runs[2])
	}
	// −9/2 at the wall, −25/2 at the start.
	if a := runs[3]; a.x == nil || a.x[0] > 2 || a.value < -8 || a.value > -4.5 {
		t.Errorf("a member with a wall before its maximum: %g at %v", a.value, a.x)
	}
	goroutinesEnd(t, before)
}

// However an ascent is ended, ascend says why, asks for nothing more, and all
// its goroutines end.
func TestAscendEnds(t *testing.T) {
	errGate := errors.New("stopped by the gate")
	before := runtime.NumGoroutine()
	for _, at := range []int{1, 2, 7} {
		for _, way := range []string{"context", "gate", "device"} {
			ctx, cancel := context.WithCancel(context.Background())
			o := &testObjective{functions: []testFunction{rosenbrock, quadratic(2, 2), rosenbrock}}
			asked := 0
			g := func(context.Context) error {
				asked++
				if asked == at && way == "gate" {
					return errGate
				}
				if asked == at-1 && way == "context" {
					cancel()
				}
				return nil
			}
			want := errGate
			switch way {
			case "context":
				want = context.Canceled
				if at == 1 {
					cancel()
				}
			case "device":
				o.failAt, want = at, errDevice
			}
			var runs []*ascent
			for _, start := range [][]float64{{-1.2, 1}, {0, 0}, {0, 0, 0, 0}} {
				runs = append(runs, &ascent{start: start})
			}
			if err := ascend(ctx, g, []int{0, 1, 2}, runs, 100, o.objective()); !errors.Is(err, want) {
				t.Errorf("%s at batch %d: error %v", way, at, err)
			}
			// The call that cancels lets its own batch pass.
			if made := len(o.batches); made > at {
				t.Errorf("%s at batch %d: %d batches were evaluated", way, at, made)
			}
			cancel()
		}
	}
	goroutinesEnd(t, before)
}

// An ascent that will not reach its rival's value is given up early; one that
// will, or has no rival, is not.
func TestHopelessAscents(t *testing.T) {
	climb := func(rivalled bool, target float64) *ascent {
		o := &testObjective{functions: []testFunction{rosenbrock}}
		a := &ascent{start: []float64{-1.2, 1}, rivalled: rivalled, target: target}
		if err := ascend(context.Background(), nil, []int{0}, []*ascent{a}, 200, o.objective()); err != nil {
			t.Fatal(err)
		}
		return a
	}
	free := climb(false, 0)
	if given := climb(true, 1e6); !given.hopeless() || given.evals > hopelessWindow+2 {
		t.Errorf("%d evaluations towards a value out of reach", given.evals)
	}
	if reached := climb(true, -1); reached.value < -0.01 || reached.evals != free.evals {
		t.Errorf("value %g after %d evaluations with a rival within reach, %d without one", reached.value, reached.evals, free.evals)
	}
	if none := climb(true, math.Inf(-1)); none.value != free.value {
		t.Errorf("value %g with a rival that has none, %g without", none.value, free.value)
	}
}

// value gives every start its value, and no point where there is none.
func TestValueOfStarts(t *testing.T) {
	o := &testObjective{functions: []testFunction{quadratic(1), quadratic(1), walled(quadratic(1), func([]float64) bool { return true })}}
	runs := []*ascent{{start: []float64{3}}, {start: []float64{3}}}
	if err := value([]int{0, 2}, runs, o.objective()); err != nil {
		t.Fatal(err)
	}
	if runs[0].value != -2 || !slices.Equal(runs[0].x, []float64{3}) || runs[1].x != nil {
		t.Errorf("values of starts: %+v, %+v", runs[0], runs[1])
	}
	if err := value([]int{0}, runs[:1], objective{eval: func([]int, [][]float64) error { return errDevice }}); !errors.Is(err, errDevice) {
		t.Errorf("error %v", err)
	}
}

// An ascent is on the hill of its rival where it is close in strides, which are small for a period: another one of its comb is another
// hill.
func TestNearRivalInStrides(t *testing.T) {
	for _, c := range []struct {
		x, scale []float64
		near     bool
	}{
		{[]float64{0.2, 0.1}, nil, true},
		{[]float64{0.2, 0.4}, nil, false},
		{[]float64{0.2, 0.1}, []float64{1, 0.02}, false},
		{[]float64{0.2, 0.005}, []float64{1, 0.02}, true},
	} {
		a := &ascent{x: c.x, scale: c.scale, rival: []float64{0, 0}}
		if a.nearRival() != c.near {
			t.Errorf("%v with strides %v is near: %v", c.x, c.scale, !c.near)
		}
	}
}
