package configtest

import (
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
)

// Small is a config that takes a moment.
func Small(t *testing.T, set ...string) config.Config {
	t.Helper()
	var overrides []config.Override
	for _, s := range append([]string{
		"data.outputs=60", "data.test=20", "kernels.expressions=SE,PER*LIN,SE[x]+LIN", "sparse.inducing=8",
		"optimise.starts=1", "schedule.steps=6", "schedule.evaluate_every=0.5", "schedule.refine=1",
	}, set...) {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		overrides = append(overrides, o)
	}
	c, err := config.Load("quickstart", overrides)
	must.OK(t, err)
	return c
}
