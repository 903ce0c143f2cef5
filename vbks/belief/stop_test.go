package belief

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"example.com/kestrel/internal/must"
)

// askedContext ends when it has been asked so many times.
type askedContext struct {
	context.Context
	most  int64
	asked atomic.Int64
}

func (c *askedContext) Err() error {
	if c.asked.Add(1) > c.most {
		return context.Canceled
	}
	return nil
}

// A fit and an average over errors look at their context often, return its error wherever it ends, and do little
// after it has: what has not begun by then does not.
func TestFitAndIntegrateStop(t *testing.T) {
	elbo := []float64{0, -1, -2, -3, -4, -5, -6, -7}
	e := doubtful(elbo, []float64{4, 4, 4, 4, 4, 4, 4, 4})
	q, bayes := point(t, e)
	for name, run := range map[string]func(ctx context.Context) error{
		"fit": func(ctx context.Context) error {
			_, err := Fit(ctx, elbo, nil, errorOptions, nil, "", e.IDs)
			return err
		},
		"integrate": func(ctx context.Context) error {
			_, err := e.Integrate(ctx, q, bayes, errorOptions)
			return err
		},
	} {
		whole := &askedContext{Context: t.Context(), most: 1 << 40}
		must.OK(t, run(whole))
		looks := whole.asked.Load()
		if looks < 50 {
			t.Errorf("%s: the context is looked at %d times", name, looks)
		}
		for most := int64(0); most < looks*9/10; most = most*3/2 + 1 {
			c := &askedContext{Context: t.Context(), most: most}
			if err := run(c); err != context.Canceled { // itself: told once
				t.Fatalf("%s, ended at look %d of %d: %v", name, most, looks, err)
			}
			// Each of 64 fits looks once before it begins, and of those under way each climb twice at the most.
			if after := c.asked.Load() - most; after > int64(64+12*runtime.GOMAXPROCS(0)) {
				t.Errorf("%s, ended at look %d of %d: looked at %d times after that", name, most, looks, after)
			}
		}
	}
}
