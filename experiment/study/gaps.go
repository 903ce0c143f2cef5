package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/vbks"
)

// Gaps asks how far below the best optima that are known a run's searches end. The best
// known of a kernel is the best of what is found from its own solution taken on until
// nothing is gained, by a search of all rows with many times the starts, in which the
// hyperparameters that the data were drawn with are a start of the true kernel and so may
// be handed on to its relatives, and from that one's solution and, for the true kernel,
// from these hyperparameters taken on likewise.
type Gaps struct {
	*Case
	Times int // the starts
}

// finished is how many iterations take a solution to its end.
const finished = 400

// NewGaps reads a figure's config, sets what the variant says and then what the user says.
// The number of inducing inputs must be stated: a ladder compares other kernels on each rung.
func NewGaps(figure string, v Variant, times int, set []config.Override) (*Gaps, error) {
	c, err := NewCase(figure, v, set)
	if err != nil {
		return nil, err
	}
	s := c.Config.Settings
	switch {
	case s.Inducing == 0:
		return nil, fmt.Errorf("%s: gaps are of one number of inducing inputs: state it, --set sparse.inducing=32", figure)
	case s.Optimizer != "collapsed" && s.Optimizer != "auto" || s.Hyperparameters != "point":
		return nil, fmt.Errorf("%s: gaps are of point estimates on the bound of all rows, optimise.optimizer = \"collapsed\"", figure)
	}
	return &Gaps{c, times}, nil
}

// GapRow is what came of one kernel of one seed.
type GapRow struct {
	Variant string       `json:"variant"`
	Figure  string       `json:"figure"`
	Seed    uint64       `json:"seed"`
	Kernel  string       `json:"kernel"`
	ELBO    files.Number `json:"local_elbo"` // reported, nats
	Best    files.Number `json:"best_elbo"`  // the best local ELBO of any solution known
	// The bound that hyperparameters are searched on, which may be tighter than the local ELBO.
	Searched     files.Number `json:"searched"`
	BestSearched files.Number `json:"best_searched"`
	From         string       `json:"from"`     // where the best of the bound that is searched on came from
	Expected     files.Number `json:"expected"` // nats that the reported solution is expected to be below its own optimum
	Own          files.Number `json:"own"`      // and was found to be
	Flagged      bool         `json:"flagged"`  // "not converged"
	CPU          files.Number `json:"cpu"`      // of the seed's run, all kernels together, s
	CPUBest      files.Number `json:"cpu_best"` // of the search for the best known
}

// Gap is that of the local ELBO, Missing of the bound that is searched on.
func (r *GapRow) Gap() float64 { return float64(r.Best - r.ELBO) }

// Missing is what the search has left, in nats of the bound that it is made on.
func (r *GapRow) Missing() float64 { return float64(r.BestSearched - r.Searched) }

// Sources of the best known.
const (
	asReported   = "run"
	takenOn      = "taken on"
	moreStarts   = "more starts"
	fromDrawn    = "generating"
	fromMoreDone = "more starts, taken on"
)

// Run finds the gaps of a seed. ctx ends it with its cause.
func (g *Gaps) Run(ctx context.Context, seed uint64) ([]*GapRow, error) {
	c := g.Config.Clone()
	c.Settings.Seed, c.Data.Seed = seed, seed
	job, err := prepareRun(ctx, c)
	if err != nil {
		return nil, err
	}
	defer job.Close()
	began := cpuSeconds()
	plain, err := learn(ctx, g.device(), job.Subject, job.Subject.Space, job.Subject.Settings, nil)
	if err != nil {
		return nil, err
	}
	spent := cpuSeconds() - began
	truth, drawn, err := g.drawn(job)
	if err != nil {
		return nil, err
	}
	more := job.Subject.Settings
	more.Starts *= g.Times
	more.EvaluateEvery = 1
	guesses := map[string][]float64{}
	if drawn != nil {
		guesses[truth] = drawn
	}
	thorough, err := learn(ctx, g.device(), job.Subject, job.Subject.Space, more, guesses)
	if err != nil {
		return nil, err
	}
	var rows []*GapRow
	last, other := plain.Last(), thorough.Last()
	for i := range last.Kernels {
		a, b := &last.Kernels[i], &other.Kernels[i]
		row := &GapRow{Variant: g.Variant.Name, Figure: g.Figure, Seed: seed, Kernel: a.ID, CPU: files.Number(spent),
			ELBO: files.Number(math.NaN()), Searched: files.Number(math.NaN()), Best: files.Number(math.Inf(-1)),
			BestSearched: files.Number(math.Inf(-1))}
		if a.Status == vbks.Live {
			row.ELBO, row.Expected, row.Flagged = files.Number(a.ELBO), files.Number(a.Gain), slices.Contains(a.Flags, vbks.StillMoving)
			if err := g.solution(ctx, plain, row, nil, takenOn); err != nil {
				return nil, err
			}
		}
		if b.Status == vbks.Live {
			var from [][]float64
			if a.ID == truth && drawn != nil {
				from = append(from, drawn)
			}
			if err := g.solution(ctx, thorough, row, from, fromMoreDone); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	for _, r := range rows {
		r.CPUBest = files.Number(cpuSeconds() - began - spent)
	}
	return rows, nil
}

// solution values a kernel's solution, takes it and others on, and keeps the best of all.
func (g *Gaps) solution(ctx context.Context, t *vbks.Trainer, row *GapRow, from [][]float64, name string) error {
	still, err := t.Climb(ctx, row.Kernel, nil, 0)
	if err != nil {
		return err
	}
	ends, err := t.Climb(ctx, row.Kernel, from, finished)
	if err != nil {
		return err
	}
	names := append([]string{map[string]string{takenOn: asReported, fromMoreDone: moreStarts}[name], name},
		slices.Repeat([]string{fromDrawn}, len(from))...)
	for i, c := range append(still, ends...) {
		if c.Failed {
			continue
		}
		if row.Best = max(row.Best, files.Number(c.ELBO)); c.Value > float64(row.BestSearched) {
			row.BestSearched, row.From = files.Number(c.Value), names[i]
		}
	}
	if name == takenOn {
		row.Searched, row.Own = files.Number(still[0].Value), files.Number(ends[0].Value-still[0].Value)
		row.Best = max(row.Best, row.ELBO)
	}
	return nil
}

// device is one core: seconds of it are told.
func (g *Gaps) device() device.Device { return cpu.New(cpu.Options{Lanes: 1}) }

// drawn is the true kernel with the free vector that the data were drawn with; nil where
// that cannot be laid out.
func (g *Gaps) drawn(job *prepare.Job) (id string, free []float64, err error) {
	j, err := newJudge(&made{job: job})
	if err != nil {
		return "", nil, err
	}
	i := j.place(g.Truth)
	if i < 0 {
		return "", nil, errors.New("the true kernel is not in the space")
	}
	k, p, err := j.kernel(i)
	if err != nil {
		return "", nil, err
	}
	if free = j.generating(k, p); hasNaN(free) {
		free = nil
	}
	return g.Truth, free, nil
}

// GapSummary is what the rows of a table say together. Kernels without a local ELBO count
// in Without alone.
type GapSummary struct {
	Variant   string       `json:"variant"`
	Figure    string       `json:"figure"`
	Seeds     int          `json:"seeds"`
	Kernels   int          `json:"kernels"`
	Without   int          `json:"without"` // a local ELBO
	Gap       files.Number `json:"sum_of_gaps"`
	Missing   files.Number `json:"sum_searched"` // of the bound that is searched on
	Own       files.Number `json:"sum_own"`      // of what the reported solutions are below their own optima
	Far       int          `json:"far"`          // kernels more than a nat below the best of the bound that is searched on
	Flagged   int          `json:"flagged"`
	Unflagged int          `json:"unflagged"` // more than a nat below their own optimum, without being marked
	CPU       files.Number `json:"cpu"`
	CPUBest   files.Number `json:"cpu_best"`
}

// SummariseGaps sums the rows of the case up.
func (g *Gaps) SummariseGaps(rows []*GapRow) GapSummary {
	out := GapSummary{Variant: g.Variant.Name, Figure: g.Figure}
	seeds := map[uint64]bool{}
	for _, r := range rows {
		if !seeds[r.Seed] {
			seeds[r.Seed] = true
			out.CPU, out.CPUBest = out.CPU+r.CPU, out.CPUBest+r.CPUBest
		}
		out.Kernels++
		if math.IsNaN(float64(r.ELBO)) {
			out.Without++
			continue
		}
		out.Gap, out.Missing = out.Gap+files.Number(r.Gap()), out.Missing+files.Number(r.Missing())
		out.Own += r.Own
		if r.Missing() > tieNats {
			out.Far++
		}
		if r.Flagged {
			out.Flagged++
		} else if r.Own > tieNats {
			out.Unflagged++
		}
	}
	out.Seeds = len(seeds)
	return out
}

// String is the summary in one line.
func (s GapSummary) String() string {
	return fmt.Sprintf("%s (%s): %d kernels of %d seeds are together %.1f nats of local ELBO below the best known; of the bound that is "+
		"searched on %.1f, %.1f of these below their own optimum; %d more than %d nat; marked as not converged %d, and of the others more "+
		"than %d nat below their own optimum %d; without a local ELBO %d; CPU %.4g s, the search for the best known %.4g s",
		s.Figure, s.Variant, s.Kernels-s.Without, s.Seeds, float64(s.Gap), float64(s.Missing), float64(s.Own), s.Far, tieNats, s.Flagged,
		tieNats, s.Unflagged, s.Without, float64(s.CPU), float64(s.CPUBest))
}
