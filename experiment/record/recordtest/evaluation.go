package recordtest

import (
	"fmt"
	"math"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Evaluation makes an evaluation of kernels named k0, k1, ... in which
// values[k] is the posterior and the local ELBO of kernel k, NaN for a pruned
// one. The kernel of the greatest value leads.
func Evaluation(index, planned int, proportion float64, values []float64) *record.Evaluation {
	e := &record.Evaluation{Index: index, Planned: planned, Proportion: proportion, RowsSeen: 10 * index}
	best := -1
	for k, v := range values {
		kernel := record.Kernel{ID: fmt.Sprintf("k%d", k), Status: vbks.Pruned, Reason: "asked for"}
		if !math.IsNaN(v) {
			kernel.Status, kernel.Reason = vbks.Live, ""
			kernel.Fit = &record.Fit{Posterior: files.Number(v), Bayes: files.Number(v / 2), ELBO: files.Number(v), Rank: 2}
			if best < 0 || v > values[best] {
				best = k
			}
		}
		e.Kernels = append(e.Kernels, kernel)
	}
	if best >= 0 {
		e.Kernels[best].Fit.Rank = 1
	}
	return e
}
