package compare

import (
	"context"
	"sync"

	"example.com/kestrel/experiment/series"
	"example.com/kestrel/internal/guard"
)

// By has the runs made by a crew, before Run is called.
func (m *Comparing) By(crew series.Crew) { m.maker.Crew = crew }

// byCrew does steps all at once: first those over the whole space, each of which takes a
// machine, then those of one kernel after the other, for which a lane does. The first error
// ends the others.
func (m *Comparing) byCrew(ctx context.Context, steps []compareStep) error {
	for _, whole := range []bool{true, false} {
		m.maker.Crew.Alone(whole)
		if err := m.atOnce(ctx, steps, whole); err != nil {
			return err
		}
	}
	return nil
}

// atOnce does those steps of a kind that there are.
func (m *Comparing) atOnce(ctx context.Context, steps []compareStep, whole bool) error {
	var all []func(context.Context) error
	for _, s := range steps {
		if s.whole == whole {
			all = append(all, func(ctx context.Context) error { return m.step(ctx, s) })
		}
	}
	return together(ctx, all)
}

// together does several things at once, of which the first that fails ends the others.
func together(ctx context.Context, all []func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failed := make(chan error, len(all))
	var group sync.WaitGroup
	for _, do := range all {
		group.Go(func() {
			if err := guard.Do(func() error { return do(ctx) }); err != nil {
				failed <- err
				cancel(err)
			}
		})
	}
	group.Wait()
	close(failed)
	return <-failed // nil if none has
}

// trainAhead has kernels trained alone with a seed, all at once, by the step that holds the lock.
func (m *Comparing) trainAhead(ctx context.Context, ids []string, seed uint64) error {
	var all []func(context.Context) error
	for _, id := range ids {
		all = append(all, func(ctx context.Context) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			_, err := m.single(ctx, id, seed)
			return err
		})
	}
	m.mu.Unlock()
	defer m.mu.Lock()
	return together(ctx, all)
}
