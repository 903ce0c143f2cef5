package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// answer is what an order was answered with.
type answer struct {
	kind string
	ids  []string
	err  error
}

// crowd gives a run orders from several goroutines while it works.
type crowd struct {
	*scene
	mu      sync.Mutex
	answers []answer
	wrong   error
}

func (c *crowd) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong == nil {
		c.wrong = fmt.Errorf(format, args...)
	}
}

// give gives orders, some steps apart; where no step is made, because the run
// is paused or at rest, in the next moment.
func (c *crowd) give(rng *rand.Rand, ticks <-chan struct{}, n int) {
	kinds := []string{orderPause, orderResume, orderResume, orderResume, orderPrune, orderPruneTop, orderRestore, orderReoptimise,
		orderStart, orderStop, letWait}
	var last Snapshot
	for range n {
		for left := rng.IntN(2 * c.unit); left > 0; left-- {
			select {
			case <-ticks:
			case <-time.After(time.Millisecond):
				left = 0
			}
		}
		o := command{kinds[rng.IntN(len(kinds))], rng.Uint32(), rng.Uint32()}
		if o.kind == orderStop && rng.IntN(4) > 0 {
			continue
		}
		c.order(o)
		look := c.run.Snapshot()
		if last.Evaluation != nil && (look.Evaluation == nil || look.Evaluation.Index < last.Evaluation.Index) || look.Elapsed < last.Elapsed {
			c.fail("a look goes back from %+v to %+v", last, look)
		}
		last = look
	}
}

func (c *crowd) order(o command) {
	r := c.run
	a := answer{kind: o.kind}
	switch o.kind {
	case orderStart:
		a.err = r.Start()
	case orderPause:
		a.err = r.Pause()
	case orderResume:
		a.err = r.Resume()
	case orderStop:
		a.err = r.Stop("enough")
	case orderPrune, orderPruneTop:
		a.kind, a.ids = orderPrune, c.anyNames(o)
		a.err = r.Prune(a.ids)
	case orderRestore:
		a.ids = c.anyNames(o)
		a.err = r.Restore(a.ids)
	case orderReoptimise:
		a.err = r.Reoptimize(changes[int(o.a)%len(changes)])
	case letWait:
		ctx, cancel := context.WithTimeoutCause(context.Background(), 2*time.Millisecond, errGone)
		defer cancel()
		if s, err := r.Wait(ctx); err == nil && s.Reason == "" || err != nil && !errors.Is(err, errGone) {
			c.fail("waiting brought %+v, %v", s, err)
		}
		return
	}
	if a.err != nil && !slices.ContainsFunc([]string{"cannot be", "has failed", "no evaluation yet", "kernel"},
		func(s string) bool { return strings.Contains(a.err.Error(), s) }) {
		c.fail("%s: refused with %v", a.kind, a.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = append(c.answers, a)
}

// anyNames returns kernels as they look just now.
func (c *crowd) anyNames(o command) (ids []string) {
	e := c.run.Snapshot().Evaluation
	if e == nil {
		return []string{c.model.ids[0]}
	}
	if o.kind == orderPruneTop {
		return e.Below(1 + int(o.a%3))
	}
	for i := range e.Kernels {
		k := &e.Kernels[i]
		if (k.Status == vbks.Pruned) == (o.kind == orderRestore) && o.a>>i%3 == 0 {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// accounts counts orders and the events that they leave behind.
func accounts(answers []answer, events []record.Event) (given, seen map[string]int) {
	given, seen = map[string]int{}, map[string]int{}
	for _, a := range answers {
		if a.err == nil && a.kind != orderStop { // which a run at rest has nothing to tell of
			given[fmt.Sprint(a.kind, a.ids)]++
		}
	}
	for i := range events {
		e := &events[i]
		kind := ""
		switch {
		case e.ByItself:
		case e.Type == record.EventStarted:
			kind = orderStart
		case e.Type == record.EventPruned:
			kind = orderPrune
		case e.Type == record.EventRestored:
			kind = orderRestore
		case e.Type == record.EventReoptimised:
			kind = orderReoptimise
		case e.Type == record.EventState && e.State.To == record.Paused:
			kind = orderPause
		case e.Type == record.EventState && e.State.Reason == "resumed by the user":
			kind = orderResume
		}
		if kind != "" {
			seen[fmt.Sprint(kind, e.Kernels)]++
		}
	}
	return given, seen
}

// Orders from three goroutines, in the middle of the work: each is answered, those
// that were carried out stand in the log, once, what the log tells can be true,
// and no goroutine is left.
func TestOrdersAtOnce(t *testing.T) {
	for _, kind := range []struct {
		name         string
		stage        stage
		usual, share int
	}{{"toy", toyScene, 300, 1}, {"trainer", trainerScene, 8, 10}} {
		t.Run(kind.name, func(t *testing.T) {
			for seed := range uint64(sequences(t, kind.usual, kind.share)) {
				if wrong := playAtOnce(t, kind.stage, seed); wrong != nil {
					t.Fatalf("seed %d: %v", seed, wrong)
				}
			}
		})
	}
}

func playAtOnce(t *testing.T, stage stage, seed uint64) error {
	_, wrong := bubble(t, func(t *testing.T, _ *int) error {
		rng := rand.New(rand.NewPCG(seed, 3))
		s, err := stage(t, rng)
		if err != nil {
			return err
		}
		c := &crowd{scene: s}
		s.model.slack, s.model.mayFail = 1, rng.IntN(4) == 0
		var ticks [3]chan struct{}
		for i := range ticks {
			ticks[i] = make(chan struct{}, 1) // who is behind misses some
		}
		faultAt := 1 + rng.IntN(10*s.unit)
		s.stile.tell = func(step int) {
			for _, tick := range ticks {
				select {
				case tick <- struct{}{}:
				default:
				}
			}
			if s.model.mayFail && step == faultAt {
				panic("a mistake")
			}
		}
		s.stile.let(-1)
		if rng.IntN(2) == 0 {
			s.follow(s.model.drive)
		}
		var wg sync.WaitGroup
		for _, tick := range ticks {
			rng := rand.New(rand.NewPCG(seed, rng.Uint64()))
			wg.Go(func() { c.give(rng, tick, 3+rng.IntN(10)) })
		}
		wg.Wait()
		for _, w := range s.wait {
			w.cancel(errGone)
		}
		var closing sync.WaitGroup
		for range 2 {
			closing.Go(func() {
				if err := s.run.Close(); err != nil && !s.model.mayFail { // just now
					c.fail("closing: %v", err)
				}
			})
		}
		closing.Wait()
		if err := s.close(); err != nil {
			c.fail("closing again: %v", err)
		}
		events := s.news()
		given, seen := accounts(c.answers, events)
		if len(s.wait) > 0 && seen[fmt.Sprint(orderStart, []string(nil))] > given[fmt.Sprint(orderStart, []string(nil))] {
			given[fmt.Sprint(orderStart, []string(nil))]++ // by the course
		}
		if fmt.Sprint(given) != fmt.Sprint(seen) {
			c.fail("carried out %v, in the log %v", given, seen)
		}
		if c.wrong != nil {
			return c.wrong
		}
		for i := range events {
			if err := s.model.apply(&events[i], true); err != nil {
				var lines []string
				for j := range events[:i+1] {
					lines = append(lines, fmt.Sprint(label(&events[j]), events[j].Kernels))
				}
				return fmt.Errorf("event %d of %v: %w", i+1, lines, err)
			}
		}
		if s.model.open || !s.model.state.Settled() {
			return fmt.Errorf("closed, the run is %s", s.model.state)
		}
		return nil
	})
	return wrong
}

// A run that is stopped while it is paused takes no step more, however long it
// takes to write that down.
func TestStopHoldsWhatIsPaused(t *testing.T) {
	_, wrong := bubble(t, func(t *testing.T, _ *int) error {
		s, err := toyScene(t, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			return err
		}
		slow := record.RecorderFunc(func(e *record.Event) error {
			if label(e) == string(record.Stopping) {
				time.Sleep(time.Second) // all others have their turn
			}
			return nil
		})
		must.OK(t, s.run.do(func() error { s.run.recorder = record.Recorders{slow, s.log}; return nil }))
		must.OK(t, s.run.Start())
		must.OK(t, s.run.Pause())
		s.stile.let(-1)
		must.OK(t, s.run.Stop("enough"))
		if n := s.stile.steps(); n > 0 {
			return fmt.Errorf("%d steps", n)
		}
		return s.close()
	})
	must.OK(t, wrong)
}
