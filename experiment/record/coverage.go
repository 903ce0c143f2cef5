package record

import (
	"fmt"
	"math"
	"strings"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/vbks/mixture"
)

// CoverageLevels are those of vbks.
var CoverageLevels = mixture.CoverageLevels

// Shares are the parts of the targets within the intervals of CoverageLevels, NaN
// where one is not known.
type Shares = [len(CoverageLevels)]files.Number

// Coverage returns the shares in the order of CoverageLevels.
func (m *Metric) Coverage() Shares {
	return Shares{mixture.Coverage50: m.Coverage50, mixture.Coverage80: m.Coverage80, mixture.Coverage95: m.Coverage95}
}

// LevelText is such as "95 %".
func LevelText(level float64) string { return fmt.Sprintf("%.0f %%", 100*level) }

// CoverageHeads heads the columns of CoverageCells.
func CoverageHeads() (cells []string) {
	for _, level := range CoverageLevels {
		cells = append(cells, "in "+LevelText(level))
	}
	return cells
}

// CoverageCells are the cells of shares in a table.
func CoverageCells(s Shares) (cells []string) {
	for _, share := range s {
		cells = append(cells, share.Format("%.3f"))
	}
	return cells
}

// coverageText is such as "in 50 % 0.481, in 80 % 0.800, in 95 % 0.952".
func coverageText(s Shares) string {
	var parts []string
	for l, share := range s {
		parts = append(parts, "in "+LevelText(CoverageLevels[l])+" "+share.Format("%.3f"))
	}
	return strings.Join(parts, ", ")
}

// AveragingGain says what averaging is worth against the best kernel alone, "" if
// not both have been scored on the same rows or a density is not known.
func AveragingGain(ms []Metric) string {
	at := map[string]*Metric{}
	for i := range ms {
		at[ms[i].Method] = &ms[i]
	}
	average, single := at[config.MethodAverage], at[config.MethodSingle]
	if average == nil || single == nil || average.TestRows != single.TestRows {
		return ""
	}
	gain := float64(single.NLPD - average.NLPD)
	switch {
	case math.IsNaN(gain) || math.IsInf(gain, 0):
		return ""
	case gain >= 5e-5:
		return fmt.Sprintf("averaged over the kernels, a held-out row is %.4f nats likelier than by the best kernel alone", gain)
	case gain <= -5e-5:
		return fmt.Sprintf("averaged over the kernels, a held-out row is %.4f nats less likely than by the best kernel alone", -gain)
	}
	return "averaged over the kernels, a held-out row is as likely as by the best kernel alone"
}
