package configtest

import (
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
)

// Integrated are settings of a small config that has the evidence integrated, as configs do that say nothing of it.
var Integrated = []string{"optimise.evidence=auto", "posterior.errors=integrate"}

// Small is a config that takes a moment: what it leaves out takes longer than all the rest, see Integrated.
func Small(t *testing.T, set ...string) config.Config {
	t.Helper()
	var overrides []config.Override
	for _, s := range append([]string{
		"data.outputs=60", "data.support=40", "data.test=20", "kernels.expressions=SE,PER*LIN,SE[x]+LIN", "sparse.inducing=8",
		"optimise.starts=1", "schedule.steps=6", "schedule.evaluate_every=0.5", "schedule.refine=1",
		"optimise.evidence=mode", "posterior.errors=ignore", "posterior.samples=400",
	}, set...) {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		overrides = append(overrides, o)
	}
	c, err := config.Load("quickstart", overrides)
	must.OK(t, err)
	return c
}
