package study

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.com/kestrel/experiment/average"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// A selection study draws data from a known kernel, with many seeds, and asks
// each time which kernel is believed in the end.

const (
	tieNats       = 1   // kernels this close count as equal in a study
	nearNats      = 3   // and these as near
	violationNats = 5   // a kernel must not end this far below a special case of itself
	earlyShare    = 0.1 // of the training rows: too few to be sure of a kernel
	mostSeeds     = 100000
)

// ParseSeeds reads a list of seeds and ranges of seeds: "1..10", "1,3,5",
// "1..3,7". Repetitions are dropped.
func ParseSeeds(text string) ([]uint64, error) {
	var seeds []uint64
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "..")
		if !isRange {
			to = from
		}
		a, errA := strconv.ParseUint(from, 10, 63)
		b, errB := strconv.ParseUint(to, 10, 63)
		switch {
		case errA != nil || errB != nil || b < a:
			return nil, fmt.Errorf("seeds %q: %q is neither a seed nor a range; write 1..10 or 1,3,5", text, strings.TrimSpace(part))
		case b-a >= mostSeeds:
			return nil, fmt.Errorf("seeds %q: %s has more than %d seeds", text, strings.TrimSpace(part), mostSeeds)
		}
		for s := a; s <= b; s++ {
			if !slices.Contains(seeds, s) {
				seeds = append(seeds, s)
			}
		}
	}
	return seeds, nil
}

// MoreSeeds reports whether a list of seeds begins with all of another one.
func MoreSeeds(was, is string) bool {
	a, errA := ParseSeeds(was)
	b, errB := ParseSeeds(is)
	return errA == nil && errB == nil && len(b) >= len(a) && slices.Equal(a, b[:len(a)])
}

// Case is a figure under a variant: one table of a study.
type Case struct {
	Variant Variant
	Figure  string        // the config's name
	Config  config.Config // of its own seed
	Truth   string        // id of the kernel that the data are drawn from
	Kernels int           // in the space

	pairs []kernelspace.Pair
}

// NewCase reads a figure's config, sets what the variant says and then
// what the user says. The figure must be synthetic and its true kernel one of
// the space.
func NewCase(figure string, v Variant, set []config.Override) (*Case, error) {
	c, err := config.Load(figure, slices.Concat(v.Set, set))
	if err != nil {
		return nil, err
	}
	return caseOf(figure, c, v)
}

// caseOf is the case of a config that has been read.
func caseOf(figure string, c config.Config, v Variant) (*Case, error) {
	if c.Data.Source != "synthetic" {
		return nil, fmt.Errorf("%s: a study needs data.source = \"synthetic\", where the true kernel is known, not %q", figure, c.Data.Source)
	}
	truth, err := kernelspace.Parse(c.Data.Kernel)
	if err != nil {
		return nil, fmt.Errorf("%s: data.kernel: %w", figure, err)
	}
	space, err := c.Kernels.Candidates()
	if err != nil {
		return nil, err
	}
	s := &Case{Variant: v, Figure: c.Name, Config: c, Truth: truth.Canonical().ID(), Kernels: len(space)}
	exprs := make([]kernelspace.Expr, len(space))
	found := false
	for i := range space {
		exprs[i] = space[i].Expr
		found = found || exprs[i].ID() == s.Truth
	}
	if !found {
		return nil, fmt.Errorf("%s: the true kernel %s is not among the %d of the space", figure, s.Truth, len(space))
	}
	s.pairs = kernelspace.NestedPairs(exprs)
	return s, nil
}

// KernelELBO is the final local ELBO of a live kernel, in nats of the
// standardised targets.
type KernelELBO struct {
	ID   string
	ELBO float64
}

// Row is what came of one seed. Proportions are of the training rows; nil
// where it never happened.
type Row struct {
	Variant string `json:"variant"`
	Figure  string `json:"figure"`
	Seed    uint64 `json:"seed"`
	Starts  int    `json:"starts"`
	Truth   string `json:"truth"`
	Rank    int    `json:"rank"` // of the true kernel; 0: pruned or failed
	Leader  string `json:"leader"`
	// local ELBO of the leader less that of the true kernel; below 0 where a tie is broken against the ELBO. Of one
	// that was left out since in the last evaluation that it took part in, against that one's leader
	Gap         files.Number `json:"gap"`
	SE          files.Number `json:"elbo_se"`
	Posterior   files.Number `json:"posterior"` // of the true kernel
	Bayes       files.Number `json:"bayes"`
	Tied        bool         `json:"tied"`        // the true kernel shares the first place, within a nat
	LeadFrom    *float64     `json:"lead_from"`   // from here on the true kernel led
	FirstAhead  *float64     `json:"first_ahead"` // the true kernel's first lead
	EarlyMax    *float64     `json:"early_max"`   // largest posterior of any kernel in the first tenth of the data
	Violations  int          `json:"violations"`  // nested pairs in the wrong order by more than 5 nats
	Pairs       int          `json:"pairs"`       // nested pairs of live kernels
	Evaluations int          `json:"evaluations"`
	Seconds     files.Number `json:"seconds"` // of work
	// exact evidence of the leader less that of the true kernel, both at their best; NaN where that leads within a nat,
	// or there are too many rows
	ExactGap files.Number `json:"exact_gap"`
	Failure  string       `json:"failure,omitempty"`

	ELBOs []KernelELBO `json:"-"` // of the live kernels, in the space's order
}

// first reports whether the true kernel leads or is equal to the leader within
// the given nats.
func (r *Row) first(within float64) bool {
	return r.Rank == 1 || float64(r.Gap) <= within
}

// explained reports whether the data themselves prefer the leader by more than a nat.
func (r *Row) explained() bool { return float64(r.ExactGap) > tieNats }

// Run makes the run of a seed, in memory, and assesses it; times is a factor on
// the config's starts. rec may be nil. A run that fails by itself is a row, one
// that ctx ends is not: the error is then ctx's cause.
func (s *Case) Run(ctx context.Context, seed uint64, times int, rec record.Recorder) (*Row, error) {
	c := s.Config.Clone()
	c.Settings.Seed, c.Data.Seed = seed, seed
	c.Settings.Starts *= times
	m, err := makeRun(ctx, c, rec)
	if err != nil {
		return nil, err
	}
	row := s.assess(m.evaluations)
	row.Seed, row.Starts, row.Seconds, row.Failure = seed, c.Settings.Starts, m.standing.Seconds, m.failure()
	if err := s.explain(ctx, m, row); err != nil {
		return nil, err
	}
	return row, nil
}

// assess reads off the evaluations of a run what became of the true kernel.
func (s *Case) assess(evaluations []*record.Evaluation) *Row {
	r := &Row{
		Variant: s.Variant.Name, Figure: s.Figure, Truth: s.Truth, Evaluations: len(evaluations),
		Gap: files.Number(math.NaN()), SE: files.Number(math.NaN()), Posterior: files.Number(math.NaN()), Bayes: files.Number(math.NaN()),
		ExactGap: files.Number(math.NaN()),
	}
	for _, e := range evaluations {
		leader := e.Leader()
		if leader == nil || leader.ID != s.Truth {
			r.LeadFrom = nil
		} else {
			at := e.Proportion
			if r.LeadFrom == nil {
				r.LeadFrom = &at
			}
			if r.FirstAhead == nil {
				r.FirstAhead = &at
			}
		}
		if e.Proportion > earlyShare+1e-9 {
			continue
		}
		for i := range e.Kernels {
			if f := e.Kernels[i].Fit; f != nil && (r.EarlyMax == nil || float64(f.Posterior) > *r.EarlyMax) {
				largest := float64(f.Posterior)
				r.EarlyMax = &largest
			}
		}
	}
	if len(evaluations) > 0 {
		s.assessLast(r, evaluations[len(evaluations)-1])
		s.assessLeftOut(r, evaluations)
	}
	return r
}

func (s *Case) assessLast(r *Row, last *record.Evaluation) {
	for i := range last.Kernels {
		if k := &last.Kernels[i]; k.Fit != nil {
			r.ELBOs = append(r.ELBOs, KernelELBO{k.ID, float64(k.Fit.ELBO)})
		}
	}
	for _, p := range s.pairs {
		general, special := last.Kernels[p.General].Fit, last.Kernels[p.Special].Fit
		if general == nil || special == nil {
			continue
		}
		r.Pairs++
		if special.ELBO-general.ELBO > violationNats {
			r.Violations++
		}
	}
	leader := last.Leader()
	if leader == nil {
		return
	}
	r.Leader = leader.ID
	i := slices.IndexFunc(last.Kernels, func(k record.Kernel) bool { return k.ID == s.Truth })
	if i < 0 || last.Kernels[i].Fit == nil {
		return
	}
	truth := last.Kernels[i].Fit
	r.Rank, r.Gap, r.SE = truth.Rank, leader.Fit.ELBO-truth.ELBO, truth.SE
	r.Posterior, r.Bayes = truth.Posterior, truth.Bayes
	for j := range last.Kernels {
		rival := last.Kernels[j].Fit
		if j != i && rival != nil && (rival.Rank == 1 || truth.Rank == 1) && math.Abs(float64(rival.ELBO-truth.ELBO)) <= tieNats {
			r.Tied = true
		}
	}
}

// assessLeftOut gives a true kernel that was left out for a reason the gap of the
// last evaluation that it took part in.
func (s *Case) assessLeftOut(r *Row, evaluations []*record.Evaluation) {
	truth := func(e *record.Evaluation) *record.Kernel {
		i := slices.IndexFunc(e.Kernels, func(k record.Kernel) bool { return k.ID == s.Truth })
		if i < 0 {
			return nil
		}
		return &e.Kernels[i]
	}
	if k := truth(evaluations[len(evaluations)-1]); k == nil || k.Status != vbks.Pruned || k.Reason == "" {
		return
	}
	for _, e := range slices.Backward(evaluations) {
		if k, leader := truth(e), e.Leader(); k.Fit != nil && leader != nil {
			r.Gap = leader.Fit.ELBO - k.Fit.ELBO
			return
		}
	}
}

// Summary is what the rows of a table say together.
type Summary struct {
	Variant       string       `json:"variant"`
	Figure        string       `json:"figure"`
	Seeds         int          `json:"seeds"`
	First         int          `json:"first"`        // the true kernel leads
	FirstOrEqual  int          `json:"within_1_nat"` // or is within 1 nat
	Near          int          `json:"within_3_nats"`
	Explained     int          `json:"explained"` // of the others than first or equal: the data prefer the leader
	EarlyMax      *float64     `json:"early_max"`
	Violations    int          `json:"violations"`
	Pairs         int          `json:"pairs"`
	WorstShare    float64      `json:"worst_violation_share"` // of the pairs of one seed
	MedianSeconds files.Number `json:"median_seconds"`
}

// Summarise sums the rows of the case up.
func (s *Case) Summarise(rows []*Row) Summary {
	out := Summary{Variant: s.Variant.Name, Figure: s.Figure, Seeds: len(rows)}
	var seconds []float64
	for _, r := range rows {
		if r.Rank == 1 {
			out.First++
		}
		if r.first(tieNats) {
			out.FirstOrEqual++
		}
		if r.first(nearNats) {
			out.Near++
		}
		if r.explained() {
			out.Explained++
		}
		if r.EarlyMax != nil && (out.EarlyMax == nil || *r.EarlyMax > *out.EarlyMax) {
			out.EarlyMax = r.EarlyMax
		}
		out.Violations += r.Violations
		out.Pairs += r.Pairs
		if r.Pairs > 0 {
			out.WorstShare = max(out.WorstShare, float64(r.Violations)/float64(r.Pairs))
		}
		seconds = append(seconds, float64(r.Seconds))
	}
	out.MedianSeconds = files.Number(average.Median(seconds))
	return out
}

// String is the summary in one line.
func (s Summary) String() string {
	early := "-"
	if s.EarlyMax != nil {
		early = fmt.Sprintf("%.3f", *s.EarlyMax)
	}
	return fmt.Sprintf("%s (%s): true kernel first %d of %d, first or within %d nat %d, within %d nats %d, explained by exact evidence %d; "+
		"largest q* in the first tenth %s; "+
		"nested pairs violated by more than %d nats: %d of %d (worst seed %.1f %%); median %.3g s",
		s.Figure, s.Variant, s.First, s.Seeds, tieNats, s.FirstOrEqual, nearNats, s.Near, s.Explained, early,
		violationNats, s.Violations, s.Pairs, 100*s.WorstShare, float64(s.MedianSeconds))
}
