package study

import (
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/experiment/average"
	"example.com/kestrel/experiment/files"
)

// StartsComparison says what more starts changed, for one seed. A rise is the
// final local ELBO with more starts less that with few, of one kernel.
type StartsComparison struct {
	Variant    string       `json:"variant"`
	Figure     string       `json:"figure"`
	Seed       uint64       `json:"seed"`
	Starts     int          `json:"starts"`
	More       int          `json:"more_starts"`
	Kernels    int          `json:"kernels"` // live in both
	MedianRise files.Number `json:"median_rise"`
	MostRise   files.Number `json:"largest_rise"`
	MostKernel string       `json:"largest_rise_kernel"`
	Leader     string       `json:"leader"`
	MoreLeader string       `json:"more_leader"`
	Changed    bool         `json:"leader_changed"`

	Rises []float64 `json:"-"`
}

// CompareStarts sets a run with more starts against one with few, of the same
// case and seed.
func CompareStarts(few, more *Row) *StartsComparison {
	c := &StartsComparison{
		Variant: few.Variant, Figure: few.Figure, Seed: few.Seed, Starts: few.Starts, More: more.Starts,
		Leader: few.Leader, MoreLeader: more.Leader, Changed: few.Leader != more.Leader,
		MostRise: files.Number(math.NaN()),
	}
	after := map[string]float64{}
	for _, k := range more.ELBOs {
		after[k.ID] = k.ELBO
	}
	for _, k := range few.ELBOs {
		elbo, ok := after[k.ID]
		if !ok {
			continue
		}
		rise := elbo - k.ELBO
		if c.MostKernel == "" || rise > float64(c.MostRise) {
			c.MostRise, c.MostKernel = files.Number(rise), k.ID
		}
		c.Rises = append(c.Rises, rise)
	}
	c.Kernels, c.MedianRise = len(c.Rises), files.Number(average.Median(c.Rises))
	return c
}

// StartsSummary is what the comparisons of a table say together.
type StartsSummary struct {
	Variant       string       `json:"variant"`
	Figure        string       `json:"figure"`
	Seeds         int          `json:"seeds"`
	MedianRise    files.Number `json:"median_rise"`         // over all kernels and seeds
	MostMedian    files.Number `json:"largest_median_rise"` // of one seed
	MostRise      files.Number `json:"largest_rise"`
	LeaderChanges int          `json:"leader_changes"`
}

// SummariseStarts sums the comparisons of the case up.
func (s *Case) SummariseStarts(cs []*StartsComparison) StartsSummary {
	out := StartsSummary{Variant: s.Variant.Name, Figure: s.Figure, Seeds: len(cs)}
	var rises, medians []float64
	for _, c := range cs {
		rises = append(rises, c.Rises...)
		if c.Kernels > 0 {
			medians = append(medians, float64(c.MedianRise))
		}
		if c.Changed {
			out.LeaderChanges++
		}
	}
	out.MedianRise, out.MostMedian, out.MostRise = files.Number(average.Median(rises)), files.Number(math.NaN()), files.Number(math.NaN())
	if len(rises) > 0 {
		out.MostMedian, out.MostRise = files.Number(slices.Max(medians)), files.Number(slices.Max(rises))
	}
	return out
}

// String is the summary in one line.
func (s StartsSummary) String() string {
	return fmt.Sprintf("%s (%s), more starts: median rise %.3g nats over all kernels and seeds (worst seed %.3g), largest rise %.3g; "+
		"leader changed on %d of %d seeds",
		s.Figure, s.Variant, float64(s.MedianRise), float64(s.MostMedian), float64(s.MostRise), s.LeaderChanges, s.Seeds)
}
