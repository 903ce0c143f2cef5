package vbks

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device"
)

var treatments = []struct{ optimizer, hyper string }{
	{"adam", "point"}, {"adam", "diagonal"}, {"adam", "full"},
	{"natural", "point"}, {"natural", "diagonal"}, {"natural", "full"},
}

// A kernel's state, estimate and predictions are bit for bit the same alone
// and beside kernels with more parameters.
func TestAloneAndInAGroup(t *testing.T) {
	x, y, z := testData(17, 120, 6, 1)
	for _, tr := range treatments {
		s := testSettings(tr.optimizer, tr.hyper, 30)
		exprs := []string{"SE+LIN", "PER*RQ+SE*LIN", "PER+PER+RQ*SE+LIN+MATERN52+RQ"}
		both := newBench(t, x, y, z, 1, s, exprs...)
		run := func(b *bench, sub []int) []any {
			for e := 1; e <= 2; e++ {
				if err := b.train(sub, drawMinibatches(1, e, 60*e, 30, 7), nil); err != nil {
					t.Fatal(err)
				}
			}
			var out []any
			for _, k := range sub {
				if err := b.err(k); err != nil {
					t.Fatal(err)
				}
				st, err := b.end(k)
				if err != nil {
					t.Fatal(err)
				}
				est, err := b.estimate([]int{k}, b.rows(), 120, nil)
				if err != nil {
					t.Fatal(err)
				}
				mean, variance, _, err := b.predict([]int{k}, b.rows(), nil)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, []any{st, est[0], mean[0], variance[0]})
			}
			return out
		}
		together := run(both, []int{0, 1, 2})
		for i, e := range exprs {
			alone := run(newBench(t, x, y, z, 1, s, e), []int{0})
			if !reflect.DeepEqual(alone[0], together[i]) {
				t.Errorf("%s, %s: %s differs alone and in a group", tr.optimizer, tr.hyper, e)
			}
		}
	}
}

// Going on from a stored state is the same as not having stopped.
func TestStatesAreComplete(t *testing.T) {
	x, y, z := testData(18, 100, 5, 1)
	for _, tr := range treatments {
		s := testSettings(tr.optimizer, tr.hyper, 25)
		first, second := drawMinibatches(1, 1, 80, 25, 4), drawMinibatches(1, 2, 100, 25, 4)
		straight := newBench(t, x, y, z, 1, s, "SE+LIN")
		broken := newBench(t, x, y, z, 1, s, "SE+LIN")
		var want, got *State
		var err error
		for _, b := range []*bench{straight, broken} {
			if err := b.train([]int{0}, first, nil); err != nil {
				t.Fatal(err)
			}
		}
		st, err := broken.end(0)
		if err != nil {
			t.Fatal(err)
		}
		other := newBench(t, x, y, z, 1, s, "SE+LIN")
		if err := other.begin(0, st, other.programs[0].ID); err != nil {
			t.Fatal(err)
		}
		for _, b := range []*bench{straight, other} {
			if err := b.train([]int{0}, second, nil); err != nil {
				t.Fatal(err)
			}
		}
		if want, err = straight.end(0); err != nil {
			t.Fatal(err)
		}
		if got, err = other.end(0); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %s: a restored state goes on differently", tr.optimizer, tr.hyper)
		}
	}
}

// A stop takes effect before the next step and leaves what the complete steps
// have made.
func TestTrainStops(t *testing.T) {
	x, y, z := testData(19, 100, 5, 1)
	for _, tr := range treatments {
		s := testSettings(tr.optimizer, tr.hyper, 25)
		stoppedBench := newBench(t, x, y, z, 1, s, "SE+LIN")
		ctx, cancel := context.WithCancel(context.Background())
		asked := 0
		err := stoppedBench.train([]int{0}, drawMinibatches(1, 1, 100, 25, 20), func() error {
			if asked++; asked == 4 {
				cancel()
			}
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) || asked != 4 {
			t.Errorf("%v after %d questions, want canceled after 4", err, asked)
		}
		got, err := stoppedBench.end(0)
		if err != nil {
			t.Fatal(err)
		}
		short := newBench(t, x, y, z, 1, s, "SE+LIN")
		b := drawMinibatches(1, 1, 100, 25, 20)
		b.steps = 3
		if err := short.train([]int{0}, b, nil); err != nil {
			t.Fatal(err)
		}
		want, err := short.end(0)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %s: the state after a stop is not that after three steps", tr.optimizer, tr.hyper)
		}
	}
}

// A stopped pass leaves q(v) as it was.
func TestExactStops(t *testing.T) {
	x, y, z := testData(20, 2*passRows, 5, 1)
	for _, optimizer := range []string{"adam", "natural"} {
		b := newBench(t, x, y, z, 1, testSettings(optimizer, "point", 25), "SE")
		before, err := b.end(0)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		err = b.exact([]int{0}, b.rows(), sumSquares(y), func() error {
			if asked++; asked == 2 {
				return context.Canceled
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		after, err := b.end(0)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s: a stopped pass changed the state", optimizer)
		}
	}
}

// Inducing inputs that coincide need more jitter than there is: it is
// escalated, kept in the state, and the other kernel does not notice.
func TestJitterEscalates(t *testing.T) {
	x, y, _ := testData(21, 60, 5, 1)
	z := []float64{0, 0, 0, 1, 2, 3}
	for _, optimizer := range []string{"adam", "natural"} {
		s := testSettings(optimizer, "point", 20)
		s.Jitter = device.Jitter{Relative: 3e-18}
		// WHITE makes k(Z,Z) regular.
		b := newBench(t, x, y, z, 1, s, "SE", "SE+WHITE")
		batches := drawMinibatches(1, 1, 60, 20, 5)
		if err := b.train([]int{0, 1}, batches, nil); err != nil {
			t.Fatal(err)
		}
		states := make([]*State, 2)
		for k := range 2 {
			if err := b.err(k); err != nil {
				t.Fatal(err)
			}
			var err error
			if states[k], err = b.end(k); err != nil {
				t.Fatal(err)
			}
		}
		if f := states[0].Factor; f < 10 || f > maxFactor {
			t.Errorf("%s: factor %g where k(Z,Z) is singular", optimizer, f)
		}
		if f := states[1].Factor; f != 1 {
			t.Errorf("%s: factor %g where k(Z,Z) is regular", optimizer, f)
		}
		alone := newBench(t, x, y, z, 1, s, "SE+WHITE")
		if err := alone.train([]int{0}, batches, nil); err != nil {
			t.Fatal(err)
		}
		st, err := alone.end(0)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(st, states[1]) {
			t.Errorf("%s: the neighbour's failure shows", optimizer)
		}
		// The retry starts from the state before the call, with the factor.
		direct := newBench(t, x, y, z, 1, s, "SE")
		if err := direct.begin(0, &State{Free: direct.start(0), Factor: states[0].Factor}, direct.programs[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := direct.train([]int{0}, batches, nil); err != nil {
			t.Fatal(err)
		}
		if st, err = direct.end(0); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(st, states[0]) {
			t.Errorf("%s: retrying differs from starting with the factor", optimizer)
		}
	}
}

// A kernel that cannot be saved is given up with its reason; the others go on.
func TestHopelessKernelFails(t *testing.T) {
	x, y, z := testData(22, 60, 5, 1)
	for _, tr := range treatments {
		b := newBench(t, x, y, z, 1, testSettings(tr.optimizer, tr.hyper, 20), "SE", "LIN+SE")
		bad := b.start(0)
		bad[0] = math.NaN()
		if err := b.begin(0, &State{Free: bad}, "bad"); err != nil {
			t.Fatal(err)
		}
		if err := b.train([]int{0, 1}, drawMinibatches(1, 1, 60, 20, 3), nil); err != nil {
			t.Fatal(err)
		}
		if err := b.err(0); err == nil || !strings.HasPrefix(err.Error(), "SE: ") {
			t.Errorf("%s, %s: error %v", tr.optimizer, tr.hyper, err)
		}
		if err := b.err(1); err != nil {
			t.Errorf("%s, %s: %v", tr.optimizer, tr.hyper, err)
		}
		est, err := b.estimate([]int{0, 1}, b.rows(), 60, nil)
		if err != nil {
			t.Fatal(err)
		}
		if est[0] != nil || est[1] == nil {
			t.Errorf("%s, %s: estimates %v", tr.optimizer, tr.hyper, est)
		}
	}
}

func TestStateOfTheWrongSize(t *testing.T) {
	x, y, z := testData(23, 20, 5, 1)
	b := newBench(t, x, y, z, 1, testSettings("adam", "point", 20), "SE")
	if err := b.begin(0, &State{Free: []float64{1}}, "SE"); err == nil {
		t.Error("no error for a short free vector")
	}
	if err := b.begin(0, &State{Free: b.start(0), Mean: make([]float64, 3)}, "SE"); err == nil {
		t.Error("no error for a q(v) of other inducing inputs")
	}
	if err := b.train([]int{0}, &minibatches{n: 20, size: 5000, steps: 1, rows: make([]int32, 5000)}, nil); err == nil {
		t.Error("no error for a batch beyond the buffers")
	}
}

// Batches hold distinct rows of the prefix, depend on the seed and the
// evaluation only, and every row is as likely as another.
func TestMinibatches(t *testing.T) {
	const n, size, steps = 20, 6, 3000
	b := drawMinibatches(3, 2, n, size, steps)
	count := make([]int, n)
	for i := range steps {
		rows := slices.Clone(b.rows[i*size : (i+1)*size])
		slices.Sort(rows)
		if rows[0] < 0 || rows[size-1] >= n || len(slices.Compact(rows)) != size {
			t.Fatalf("batch %d: %v", i, b.rows[i*size:(i+1)*size])
		}
		for _, r := range b.rows[i*size : (i+1)*size] {
			count[r]++
		}
	}
	// Binomial with mean 900 and standard deviation 25.
	for r, c := range count {
		if math.Abs(float64(c)-900) > 125 {
			t.Errorf("row %d drawn %d times, about 900 expected", r, c)
		}
	}
	if !slices.Equal(b.rows, drawMinibatches(3, 2, n, size, steps).rows) {
		t.Error("the same seed gives other batches")
	}
	if slices.Equal(b.rows, drawMinibatches(3, 3, n, size, steps).rows) || slices.Equal(b.rows, drawMinibatches(4, 2, n, size, steps).rows) {
		t.Error("another evaluation or seed gives the same batches")
	}
	if whole := drawMinibatches(1, 1, 5, 32, 3); whole.rows != nil || whole.size != 5 {
		t.Errorf("a batch larger than the data: %+v", whole)
	}
}

// Minibatches of very many rows are drawn as those of fewer are: distinct, and the same
// whether rows have places of their own or not.
func TestMinibatchesOfManyRows(t *testing.T) {
	const n, size, steps = 3 * countedRows, 100, 30
	d := newBatchDrawer(4, 2, n, size, steps)
	if d.taken != nil {
		t.Fatal("a place for each row")
	}
	d.draw(steps)
	other := newBatchDrawer(4, 2, n, size, steps)
	other.taken, other.has = make([]uint32, n), nil
	other.draw(steps)
	if !slices.Equal(d.rows, other.rows) {
		t.Error("other rows")
	}
	few := newBatchDrawer(4, 3, n, size, steps) // batches in which rows are drawn twice
	few.n = size + 5
	few.draw(steps)
	for from := 0; from < len(few.rows); from += size {
		seen := map[int32]bool{}
		for _, r := range few.rows[from : from+size] {
			seen[r] = true
		}
		if len(seen) != size {
			t.Fatalf("%d different rows in a batch of %d", len(seen), size)
		}
	}
}
