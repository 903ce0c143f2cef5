package vbks

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/must"
)

// leaping is a lane that makes several steps at once: the learner's own, one by one. Its clock
// stands but for them.
type leaping struct {
	device.Lane
	t       *testing.T
	learner *learner
	each    time.Duration
	clock   time.Time
	waiting int
	made    []int // steps of each operation
}

// leap gives a bench such a lane.
func leap(t *testing.T, b *bench, each time.Duration) *leaping {
	x := &leaping{Lane: b.lane, t: t, learner: b.learner, each: each, clock: time.Unix(1, 0)}
	b.svgp.group.lane = x
	b.leaps.Now = func() time.Time { return x.clock }
	return x
}

func (x *leaping) AdamSteps(sub []int, run *device.AdamRun) bool {
	return x.steps(sub, &run.SmallRun, func(rows device.Points, _ int) { x.learner.adamStep(sub, rows, run.N) })
}

func (x *leaping) NaturalSteps(sub []int, run *device.NaturalRun) bool {
	for i, k := range sub {
		if m := &x.learner.members[k]; run.Seen[i] != m.seen {
			x.t.Errorf("member %d has seen %g rows and is said to have seen %g", k, m.seen, run.Seen[i])
		}
	}
	return x.steps(sub, &run.SmallRun, func(rows device.Points, t int) {
		x.learner.naturalStep(sub, rows, run.N, run.Every > 0 && (run.First+t+1)%run.Every == 0)
	})
}

func (x *leaping) steps(sub []int, run *device.SmallRun, step func(rows device.Points, t int)) bool {
	l := x.learner
	l.svgp.group.lane = x.Lane
	defer func() { l.svgp.group.lane = x }()
	before := slices.Clone(l.members)
	for i, k := range sub {
		if run.Taken[i] != l.members[k].steps {
			x.t.Errorf("member %d has made %d steps and is said to have made %d", k, l.members[k].steps, run.Taken[i])
		}
	}
	for t := range run.Steps {
		rows := run.X
		rows.From, rows.To = rows.From+t*run.Skip, rows.To+t*run.Skip
		step(rows, t)
	}
	for _, k := range sub { // the learner counts for itself
		l.members[k].steps, l.members[k].seen = before[k].steps, before[k].seen
	}
	x.made = append(x.made, run.Steps)
	x.waiting += run.Steps
	return true
}

func (x *leaping) Sync() error {
	x.clock = x.clock.Add(time.Duration(x.waiting) * x.each)
	x.waiting = 0
	return x.Lane.Sync()
}

// Where the lane makes several steps at once it gets all of them, on their minibatches, and
// the states are those of steps one by one, with a q(log θ), too, of which each step has one draw.
func TestSeveralSteps(t *testing.T) {
	x, y, z := testData(19, 90, 5, 1)
	for _, tr := range treatments {
		plain := newBench(t, x, y, z, 1, testSettings(tr.optimizer, tr.hyper, 25), "SE+LIN", "PER")
		other := newBench(t, x, y, z, 1, testSettings(tr.optimizer, tr.hyper, 25), "SE+LIN", "PER")
		lane := leap(t, other, 40*time.Microsecond)
		for number, n := range []int{20, 90} { // all rows each, then minibatches
			for _, b := range []*bench{plain, other} {
				must.OK(t, b.train([]int{0, 1}, drawMinibatches(1, number+1, n, 25, 40), nil))
			}
		}
		for k := range 2 {
			want, err := plain.end(k)
			must.OK(t, err)
			got, err := other.end(k)
			must.OK(t, err)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: other states where several steps are made at once", tr.optimizer, tr.hyper)
			}
		}
		if got := total(lane.made); got != 80 {
			t.Errorf("%s, %s: %d steps of 80 are made at once", tr.optimizer, tr.hyper, got)
		}
	}
}

func total(list []int) (s int) {
	for _, v := range list {
		s += v
	}
	return s
}

// Of short steps hundreds are made at once; however long a step takes, a stop is not late by
// more than what one operation takes, which is soon under 100 ms.
func TestLeaps(t *testing.T) {
	x, y, z := testData(19, 30, 2, 1)
	for _, c := range []struct {
		each    time.Duration
		longest int // operation, of the second half
		mean    int // steps of an operation at least
	}{{40 * time.Microsecond, 512, 100}, {2 * time.Microsecond, 512, 200}, {time.Millisecond, 25, 10}, {40 * time.Millisecond, 1, 1}} {
		b := newBench(t, x, y, z, 1, testSettings("adam", "point", 4), "LIN")
		lane := leap(t, b, c.each)
		must.OK(t, b.train([]int{0}, drawMinibatches(1, 1, 30, 4, 3000), nil))
		if got := slices.Max(lane.made[len(lane.made)/2:]); got > c.longest {
			t.Errorf("steps of %v: %d at once", c.each, got)
		}
		if got := 3000 / len(lane.made); got < c.mean {
			t.Errorf("steps of %v: %d at once on average", c.each, got)
		}
		if first := time.Duration(lane.made[0]) * c.each; c.each <= time.Millisecond && first > 100*time.Millisecond {
			t.Errorf("steps of %v: the first operation takes %v", c.each, first)
		}
	}
}

// A stop takes effect before the next operation and leaves what the complete steps have made.
func TestLeapsStop(t *testing.T) {
	x, y, z := testData(19, 100, 5, 1)
	s := testSettings("adam", "point", 25)
	stopped := newBench(t, x, y, z, 1, s, "SE+LIN")
	lane := leap(t, stopped, time.Millisecond)
	asked := 0
	err := stopped.train([]int{0}, drawMinibatches(1, 1, 100, 25, 100), func() error {
		if asked++; asked == 4 {
			return context.Canceled
		}
		return nil
	})
	if err != context.Canceled || len(lane.made) != 3 {
		t.Fatalf("%v after %d operations", err, len(lane.made))
	}
	short := newBench(t, x, y, z, 1, s, "SE+LIN")
	b := drawMinibatches(1, 1, 100, 25, 100)
	b.steps = total(lane.made)
	must.OK(t, short.train([]int{0}, b, nil))
	want, err := short.end(0)
	must.OK(t, err)
	got, err := stopped.end(0)
	must.OK(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Error("the state after a stop is not that after the steps that were made")
	}
}
