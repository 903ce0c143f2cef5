package experiment

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// brittle is a recorder that fails once, and notes what it is told afterwards.
type brittle struct {
	mu    sync.Mutex
	left  int // events or checkpoints before it fails
	after []string
}

var errBrittle = errors.New("permission denied")

func (b *brittle) take(what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left--; b.left == 0 {
		return errBrittle
	}
	if b.left < 0 {
		b.after = append(b.after, what)
	}
	return nil
}

func (b *brittle) Record(e *record.Event) error { return b.take(label(e)) }

func (b *brittle) Checkpoint(map[string]vbks.Tensor) error { return b.take("checkpoint") }

// broken reports whether it has failed, and what it was told since.
func (b *brittle) broken() (bool, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left <= 0, fmt.Sprint(b.after)
}

// Wherever a recorder fails, the run does: the order that this happens in, if
// any, is answered with the reason, the only things told afterwards are that and
// the end, and no goroutine is left.
func TestNothingAfterARecorderFails(t *testing.T) {
	failed := 0
	for seed := range uint64(sequences(t, 400, 1)) {
		_, wrong := bubble(t, func(t *testing.T, _ *int) error {
			rng := rand.New(rand.NewPCG(seed, 4))
			s, err := toyScene(t, rng)
			if err != nil {
				return err
			}
			defer s.close()
			defer s.stile.let(-1)
			b := &brittle{left: 1 + rng.IntN(40)}
			if err := s.run.do(func() error { s.run.recorder = record.Recorders{b, s.log}; return nil }); err != nil {
				return err
			}
			order := map[string]func() error{
				orderStart: s.run.Start, orderPause: s.run.Pause, orderResume: s.run.Resume,
				orderStop:  func() error { return s.run.Stop("enough") },
				orderPrune: func() error { return s.run.Prune([]string{"LIN"}) }, orderPruneTop: func() error { return s.run.Prune([]string{"PER"}) },
				orderRestore:    func() error { return s.run.Restore([]string{"LIN"}) },
				orderReoptimise: func() error { return s.run.Reoptimize(vbks.Change{Rounds: 1}) },
			}
			for i, c := range commandsOf(rng) {
				s.stile.let(rng.IntN(6))
				synctest.Wait()
				before, _ := b.broken()
				f := order[c.kind]
				if f == nil {
					continue
				}
				err := f()
				if now, _ := b.broken(); now && !before {
					failed++
					if err == nil && s.run.Snapshot().State != record.Failed {
						return fmt.Errorf("command %d, %v: %v, and the run is %s", i+1, c, err, s.run.Snapshot().State)
					}
				}
				synctest.Wait()
				now, after := b.broken()
				if !now {
					continue
				}
				if look := s.run.Snapshot(); look.State != record.Failed || after != "[failed finished]" {
					return fmt.Errorf("command %d, %v: the run is %s, told since %s", i+1, c, look.State, after)
				}
				if err == nil && c.kind != orderStop && before {
					return fmt.Errorf("command %d, %v: carried out by a failed run", i+1, c)
				}
			}
			return nil
		})
		if wrong != nil {
			t.Fatalf("seed %d: %v", seed, wrong)
		}
	}
	if failed == 0 {
		t.Error("no recorder failed in an order")
	}
}
