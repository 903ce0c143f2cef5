package configtest

import (
	"testing"

	"example.com/kestrel/experiment/config"
)

// Compared is a config of a comparison that takes a moment.
func Compared(t *testing.T, set ...string) config.Config {
	t.Helper()
	return Small(t, append([]string{
		"kernels.expressions=SE,LIN,PER,PER*LIN,SE*LIN,SE+PER,SE+LIN", "optimise.optimizer=collapsed", "compare.runs=2", "compare.random_runs=5",
		"compare.budget=6", "compare.rows=20", "compare.draws=4", "compare.methods=vbks,vbks-s,vbks-prune,random,bo,cks", "compare.depth=2",
		"schedule.refine=0", "schedule.steps=4",
	}, set...)...)
}
