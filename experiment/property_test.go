package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/thorough"
)

// The commands of a sequence: orders, and what happens meanwhile.
const (
	orderStart      = "start"
	orderPause      = "pause"
	orderResume     = "resume"
	orderStop       = "stop"
	orderPrune      = "prune"      // some kernels, by name
	orderPruneTop   = "prune to"   // the first few
	orderRestore    = "restore"    // some kernels, or all
	orderReoptimise = "reoptimise" // with one of several changes
	letStep         = "step"       // some steps of the optimiser may happen
	letTime         = "sleep"      // a second passes
	letWait         = "wait"       // somebody waits for the end
	letCancel       = "cancel"     // the contexts of all who wait end
	letFault        = "fault"      // the next step fails or panics
)

// command is one of them. Its numbers say what of several things is meant
// whatever came before, so that a sequence stays one when commands are left out.
type command struct {
	kind string
	a, b uint32
}

func (c command) String() string { return fmt.Sprintf("%s %d %d", c.kind, c.a, c.b) }

// commandsOf draws a sequence. Steps are what happens most.
func commandsOf(rng *rand.Rand) []command {
	weights := []struct {
		kind string
		n    int
	}{
		{orderPause, 3}, {orderResume, 4}, {orderStop, 1}, {orderPrune, 3}, {orderPruneTop, 2}, {orderRestore, 3},
		{orderReoptimise, 3}, {orderStart, 1}, {letStep, 14}, {letTime, 2}, {letWait, 1}, {letCancel, 1}, {letFault, 1},
	}
	var bag []string
	for _, w := range weights {
		for range w.n {
			bag = append(bag, w.kind)
		}
	}
	out := []command{{letWait, 0, 0}, {orderStart, rng.Uint32(), rng.Uint32()}}
	if rng.IntN(4) == 0 { // what comes before the start, or instead of it
		out = []command{{bag[rng.IntN(len(bag))], rng.Uint32(), rng.Uint32()}, out[1]}
	}
	for range 4 + rng.IntN(36) {
		out = append(out, command{bag[rng.IntN(len(bag))], rng.Uint32(), rng.Uint32()})
	}
	return out
}

// turnstile lets so many steps of a trainer happen as it is told.
type turnstile struct {
	mu    sync.Mutex
	free  int           // steps that may happen, −1 for any number
	more  chan struct{} // closed when there are more
	count int           // steps made
	fault func() error  // what the next step does instead
	tell  func(int)     // nil, or told the number of the step
}

// stepped is a trainer behind a turnstile.
type stepped struct {
	prepare.Trainer
	*turnstile
}

func (s stepped) SetGate(g func(context.Context) error) {
	s.Trainer.SetGate(func(ctx context.Context) error { return s.pass(ctx, g) })
}

func (s *turnstile) pass(ctx context.Context, gate func(context.Context) error) error {
	for {
		s.mu.Lock()
		if s.free != 0 {
			s.free = max(-1, s.free-1)
			s.mu.Unlock()
			break
		}
		more := s.more
		s.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := gate(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	s.count++
	count, fault := s.count, s.fault
	s.fault = nil
	s.mu.Unlock()
	if s.tell != nil {
		s.tell(count)
	}
	if fault != nil {
		return fault()
	}
	return nil
}

// let allows n more steps, −1 for as many as there are.
func (s *turnstile) let(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 0 || s.free < 0 {
		s.free = -1
	} else {
		s.free += n
	}
	close(s.more)
	s.more = make(chan struct{})
}

func (s *turnstile) steps() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// bubble does something in virtual time and returns its error, which may be that
// goroutines are left or wait for each other; at is for f to say how far it has
// come.
func bubble(t *testing.T, f func(t *testing.T, at *int) error) (at int, wrong error) {
	defer func() {
		if p := recover(); p != nil {
			wrong = fmt.Errorf("%v\n%s", p, bubbled())
		}
	}()
	synctest.Test(t, func(t *testing.T) { wrong = f(t, &at) })
	return at, wrong
}

// play carries a sequence out and returns what is wrong, and at which command.
func play(t *testing.T, stage stage, met *meetings, seed uint64, commands []command) (at int, wrong error) {
	return bubble(t, func(t *testing.T, at *int) error {
		s, err := stage(t, rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			return err
		}
		for i, c := range commands {
			*at = i
			met.note(c, s.model)
			if err = s.do(c); err != nil {
				break
			}
		}
		if err == nil {
			*at = len(commands)
			err = s.end()
		}
		if err != nil { // let go what can be
			s.stile.let(-1)
			for _, w := range s.wait {
				w.cancel(errGone)
			}
			_ = s.close()
		}
		return err
	})
}

// meetings counts which orders came in which states, so that a change of the
// sequences does not leave any out.
type meetings map[string]int

func (m *meetings) note(c command, at *model) {
	if m == nil {
		return
	}
	if *m == nil {
		*m = meetings{}
	}
	(*m)[c.kind+" while "+string(at.state)]++
	if at.scoring {
		(*m)[c.kind+" while scoring at rest"]++
	}
	if at.late && at.state == record.Running {
		(*m)[c.kind+" after the time"]++
	}
}

func (m meetings) check(t *testing.T) {
	t.Helper()
	for _, kind := range []string{orderStart, orderPause, orderResume, orderStop, orderPrune, orderPruneTop, orderRestore, orderReoptimise,
		letFault, letCancel} {
		for _, when := range []string{"ready", "running", "paused", "stopped", "finished", "failed", "scoring at rest"} {
			if m[kind+" while "+when] == 0 {
				t.Errorf("no %s while %s", kind, when)
			}
		}
	}
}

// bubbled returns the stacks of the goroutines that virtual time has left.
func bubbled() string {
	dump := make([]byte, 1<<18)
	dump = dump[:runtime.Stack(dump, true)]
	var out []string
	for _, g := range strings.Split(string(dump), "\n\n") {
		if head, _, _ := strings.Cut(g, "\n"); strings.Contains(head, "synctest bubble") {
			out = append(out, g)
		}
	}
	return strings.Join(out, "\n\n")
}

// shrunk leaves out of a sequence what is not needed for it to fail.
func shrunk(commands []command, fails func([]command) bool) []command {
	for size := max(1, len(commands)/2); size > 0; size /= 2 {
		for i := 0; i+size <= len(commands); {
			if less := slices.Delete(slices.Clone(commands), i, i+size); fails(less) {
				commands = less
			} else {
				i += size
			}
		}
	}
	return commands
}

// propertyVariable asks for more sequences than the default: so many of the toy,
// and a tenth as many of the trainer.
const propertyVariable = "KESTREL_PROPERTY"

func sequences(t *testing.T, usual, share int) int {
	t.Helper()
	text := os.Getenv(propertyVariable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%q is not a number of sequences", propertyVariable, text)
	}
	return max(1, n/share)
}

// Whatever orders come, in whatever order: the run does what the model says,
// every order is answered, the events tell a story that can be true, and in the
// end no goroutine is left.
func TestRunIsItsModel(t *testing.T) {
	thorough.Unraced(t)
	for _, kind := range []struct {
		name         string
		stage        stage
		usual, share int
	}{{"toy", toyScene, 2000, 1}, {"trainer", trainerScene, 12, 10}} {
		t.Run(kind.name, func(t *testing.T) {
			var met meetings
			for seed := range uint64(sequences(t, kind.usual, kind.share)) {
				commands := commandsOf(rand.New(rand.NewPCG(seed, 2)))
				_, wrong := play(t, kind.stage, &met, seed, commands)
				if wrong == nil {
					continue
				}
				first := wrong.Error()
				commands = shrunk(commands, func(less []command) bool {
					_, wrong := play(t, kind.stage, nil, seed, less)
					return wrong != nil && wrong.Error() == first
				})
				at, _ := play(t, kind.stage, nil, seed, commands)
				t.Fatalf("seed %d, command %d of these: %v\n%v", seed, at+1, commands, first)
			}
			if kind.share == 1 {
				met.check(t)
			}
		})
	}
}
