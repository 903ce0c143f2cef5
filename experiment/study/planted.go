package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/exact"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/random"
)

// Planted asks whether a growing space finds a kernel that data were drawn from, or one that
// cannot be told from it, and how many kernels others train until they have.
//
// Data are drawn as for a Calibration, the kernel with the same probability from all of so
// many leaves, each number of leaves as often; all is drawn anew until every leaf is needed: with any
// one removed the evidence is at least nearNats less. Evidence is exact, with all of k(X,X), climbed to its
// mode, with the mode's volume as a trainer has it. Growth is a run with the program's defaults
// that begins with the bases. It has found the kernel where its leader is within a nat of the
// planted one or above, which is climbed from what the data were drawn with. The others see all
// rows at once and have a kernel's hyperparameters searched on the bound, with the program's
// starts, beside the best that they have, whose solution may be handed on. Its evidence is there
// for them, and the first kernel of theirs that is as good counts, whether they would have
// stopped there or not:
//
//	random   kernels of up to as many leaves, each number as often, without repetition
//	cks      greedy compositional search, which ends where no neighbour is better
//	bo       Bayesian optimisation, candidates being neighbours of the best and some at random
//
// They may train twice as many kernels as growth had tried when its leader came. A kernel is
// trained once for all.
type Planted struct {
	Bases  []kernelspace.Expr
	Leaves RowRange // of the planted kernel
	Rows   RowRange
	Config config.Config // of growth

	grammar *grow.Grammar
}

const (
	// Others' kernels are trained with so many inducing inputs; what has an evidence within
	// nearlyNats of the planted kernel's is climbed.
	rivalInducing = 256
	nearlyNats    = 10
	// So many kernels are planted until one is needed as it is.
	mostPlanted = 500
	// rivalShare is how many kernels others may train for one that growth had tried when its leader
	// came.
	rivalShare = 2
)

// ParseLeafRange reads "4..6".
func ParseLeafRange(text string) (r RowRange, err error) {
	from, to, ok := strings.Cut(text, "..")
	if ok {
		r.Fewest, err = strconv.Atoi(from)
	}
	if ok && err == nil {
		r.Most, err = strconv.Atoi(to)
	}
	if !ok || err != nil || r.Fewest < 1 || r.Most < r.Fewest || r.Most > grow.MostLeaves {
		return r, fmt.Errorf("%q is no range of base kernels from 1 to %d, such as 4..6", text, grow.MostLeaves)
	}
	return r, nil
}

// NewPlanted makes the config of growth from some bases: the program's defaults, but for
// data as they are and without test rows. set comes after that.
func NewPlanted(bases []string, leaves, rows RowRange, set []config.Override) (*Planted, error) {
	for _, o := range set {
		section, _, _ := strings.Cut(o.Key, ".")
		if section == "data" || section == "kernels" && !strings.HasPrefix(o.Key, "kernels.grow_") || o.Key == "seed" || o.Key == "name" {
			return nil, fmt.Errorf("%s: kernels are planted in data that are drawn", o.Flag)
		}
	}
	exprs, err := config.ParseAll(bases)
	if err != nil {
		return nil, err
	}
	for _, e := range exprs {
		if !e.IsLeaf() {
			return nil, fmt.Errorf("%s is not a base kernel", e.ID())
		}
	}
	own := []config.Override{{Key: "kernels.expressions", Value: strings.Join(bases, ","), Flag: "--base"}}
	for _, s := range [][2]string{
		{"name", "planted"}, {"data.test", "0"}, {"data.standardise_x", "none"}, {"data.standardise_y", "none"}, {"kernels.grow", "true"},
	} {
		own = append(own, config.Override{Key: s[0], Value: s[1], Flag: s[0]})
	}
	c, err := config.ForTable(calibrationData, "", append(own, set...))
	if err != nil {
		return nil, err
	}
	return planted(c, leaves, rows)
}

// planted is the study of a config that has been read.
func planted(c config.Config, leaves, rows RowRange) (*Planted, error) {
	if rows.Most > mostExactRows {
		return nil, fmt.Errorf("%d rows; evidence is exact, of at most %d", rows.Most, mostExactRows)
	}
	p := &Planted{Leaves: leaves, Rows: rows, Config: c}
	space, err := c.Kernels.Candidates()
	if err != nil {
		return nil, err
	}
	for _, k := range space {
		p.Bases = append(p.Bases, k.Expr.Canonical())
	}
	g := &c.Settings.Growth
	if p.grammar, err = grow.New(p.Bases, grow.Options{Change: g.Change, Leaves: g.Leaves, Ratio: g.Ratio}); err != nil {
		return nil, err
	}
	if leaves.Most > p.grammar.Leaves() {
		return nil, fmt.Errorf("kernels of %d leaves where the space grows up to %d (kernels.grow_leaves)", leaves.Most, p.grammar.Leaves())
	}
	for n := leaves.Fewest; n <= leaves.Most; n++ {
		if !p.grammar.Has(n) {
			return nil, fmt.Errorf("no kernel has %d leaves", n)
		}
	}
	return p, nil
}

// Names returns the bases.
func (p *Planted) Names() string { return strings.Join(kernelIDs(p.Bases), ",") }

func kernelIDs(all []kernelspace.Expr) (out []string) {
	for _, e := range all {
		out = append(out, e.ID())
	}
	return out
}

// PlantedRow is what came of one data set. Nats are of evidence, see Planted.
type PlantedRow struct {
	Bases        string       `json:"bases"`
	Seed         uint64       `json:"seed"`
	Rows         int          `json:"rows"`
	Noise        files.Number `json:"noise"`  // sd, in sds of the function
	Drawn        int          `json:"drawn"`  // kernels, until one was needed as it is
	Needed       files.Number `json:"needed"` // nats by which it is better than with a leaf less
	Planted      string       `json:"planted"`
	Leader       string       `json:"leader"`     // of growth, in the end
	LeaderLeaves int          `json:"leaves"`     // of it
	Gap          files.Number `json:"gap"`        // nats by which the leader is worse than the planted kernel; < 0: better
	PriorGap     files.Number `json:"prior_gap"`  // the same with the prior over the grammar
	Tried        int          `json:"tried"`      // kernels, until growth ended
	TriedThen    int          `json:"tried_then"` // when the leader came
	Met          bool         `json:"met"`        // the planted kernel itself was tried
	CPU          files.Number `json:"cpu"`        // of growth, s
	Others       []RivalRow   `json:"others"`
	CPUOthers    files.Number `json:"cpu_others"` // of all trainings of others together, s
	Failure      string       `json:"failure,omitempty"`
}

// RivalRow is what another search came to.
type RivalRow struct {
	Name    string `json:"name"`
	Trained int    `json:"trained"` // kernels, until one was as good, there was no more to try or they were twice as many as growth's
	Found   bool   `json:"found"`   // the last of these is as good
}

// Found reports whether growth has found the planted kernel or what cannot be told from it.
func (r *PlantedRow) Found() bool { return float64(r.Gap) <= tieNats }

// Twice reports whether another search needed at least twice as many kernels as growth had
// tried when its leader came.
func (r *PlantedRow) Twice(o *RivalRow) bool { return !o.Found || o.Trained >= rivalShare*r.TriedThen }

// Run makes the searches of a seed with so many lanes. ctx ends it with its cause.
func (p *Planted) Run(ctx context.Context, seed uint64, lanes int) (*PlantedRow, error) {
	d := drawing{Rows: p.Rows, Kernel: func(rng *rand.Rand) kernelspace.Expr {
		return p.grammar.Draw(rng, p.Leaves.Fewest+rng.IntN(p.Leaves.Most-p.Leaves.Fewest+1))
	}}
	rng := random.Stream(seed, "planted in "+p.Names(), 0)
	var t *planting
	row := &PlantedRow{Bases: p.Names(), Seed: seed, Gap: files.Number(math.NaN()), PriorGap: files.Number(math.NaN())}
	for t == nil && row.Drawn < mostPlanted {
		row.Drawn++
		s, err := d.draw(ctx, rng)
		if err != nil {
			return nil, fmt.Errorf("%s, seed %d: %w", p.Names(), seed, err)
		}
		row.Rows, row.Noise, row.Planted = len(s.y), files.Number(s.noise), s.kernel.ID()
		if t, row.Needed, err = p.plant(ctx, s, seed, lanes); err != nil {
			return nil, err
		}
	}
	if t == nil {
		return nil, fmt.Errorf("%s, seed %d: of %d kernels none is needed as it is", p.Names(), seed, row.Drawn)
	}
	defer t.job.Close()
	if err := t.grow(ctx, row); err != nil || row.Failure != "" {
		return row, err
	}
	began := cpuSeconds()
	for _, rival := range t.rivals() {
		r, err := t.compete(ctx, rival, rivalShare*row.TriedThen)
		if err != nil {
			return nil, fmt.Errorf("%s, seed %d: %w", rival.name(), seed, err)
		}
		row.Others = append(row.Others, *r)
	}
	row.CPUOthers = files.Number(cpuSeconds() - began)
	return row, nil
}

// plant makes a data set known; nil where the planted kernel is not needed as it is, else by how
// many nats it is.
func (p *Planted) plant(ctx context.Context, s *drawnSet, seed uint64, lanes int) (t *planting, needed files.Number, err error) {
	job, err := s.prepare(ctx, &p.Config, seed, lanes)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if t == nil {
			job.Close()
		}
	}()
	of := &planting{Planted: p, job: job, subject: job.Subject, seed: seed, lanes: lanes, planted: s.kernel, trained: map[string]*trained{}}
	if of.judge, err = newJudge(&made{job: job}); err != nil {
		return nil, 0, err
	}
	space := []kernelspace.Expr{s.kernel}
	for _, n := range p.grammar.Neighbours(s.kernel) {
		if n.Kind == grow.Remove {
			space = append(space, n.Expr)
		}
	}
	k, program, err := of.exact(s.kernel)
	if err != nil {
		return nil, 0, err
	}
	raw, _ := params.Raw(program, s.free, 0)
	free := k.Free(raw, s.variance)
	known, err := of.search(ctx, space, map[string][]float64{s.kernel.ID(): free})
	if err != nil {
		return nil, 0, err
	}
	if err := of.climbFrom(ctx, known[0], free); err != nil {
		return nil, 0, err
	}
	if of.truth = known[0].nats; math.IsNaN(of.truth) {
		return nil, 0, nil
	}
	needed = files.Number(math.Inf(1))
	for _, k := range known[1:] {
		if k.nats < of.truth-nearNats && k.nats >= of.truth-nearNats-nearlyNats {
			if err := of.climb(ctx, k); err != nil {
				return nil, 0, err
			}
		}
		if k.nats >= of.truth-nearNats {
			return nil, 0, nil
		}
		if !math.IsNaN(k.nats) {
			needed = min(needed, files.Number(of.truth-k.nats))
		}
	}
	return of, needed, nil
}

// planting is a data set, and what is known of kernels on it.
type planting struct {
	*Planted
	job     *prepare.Job
	subject *prepare.Subject
	judge   *judge
	seed    uint64
	lanes   int
	planted kernelspace.Expr
	truth   float64 // its evidence
	trained map[string]*trained
}

func (t *planting) device() device.Device { return cpu.New(cpu.Options{Lanes: max(1, t.lanes)}) }

// trained is a kernel whose hyperparameters have been searched.
type trained struct {
	id      string
	expr    kernelspace.Expr
	nats    float64 // evidence, NaN where there is none
	volume  float64 // of its mode, in that
	kernel  *exact.Kernel
	free    []float64
	climbed bool
}

// climbFrom takes a kernel to its mode, from another free vector, too.
func (t *planting) climbFrom(ctx context.Context, k *trained, free []float64) error {
	if err := t.climb(ctx, k); err != nil || math.IsNaN(k.nats) {
		return err
	}
	nats, err := k.kernel.Climb(ctx, free)
	if nats+k.volume > k.nats {
		k.nats = nats + k.volume
	}
	return err
}

func (t *planting) exact(e kernelspace.Expr) (*exact.Kernel, *kernelspace.Program, error) {
	p, err := vbks.Candidate{Expr: e}.Program(t.subject.Options())
	if err != nil {
		return nil, nil, err
	}
	k, err := t.judge.rows.Kernel(p)
	return k, p, err
}

// of values a kernel where a trainer has brought it.
func (t *planting) of(r *vbks.KernelResult) (*trained, error) {
	e, err := kernelspace.Parse(r.ID)
	if err != nil {
		return nil, err
	}
	out := &trained{id: r.ID, expr: e.Canonical(), nats: math.NaN(), volume: r.Volume}
	if r.Status != vbks.Live {
		return out, nil
	}
	if out.kernel, _, err = t.exact(out.expr); err != nil {
		return nil, err
	}
	raw := make([]float64, len(r.Params))
	for i, v := range r.Params {
		raw[i] = v.Value
	}
	out.free = out.kernel.Free(raw, r.Noise)
	if v, ok, err := out.kernel.At(out.free); err != nil || !ok {
		return out, err
	} else {
		out.nats = v + out.volume
	}
	return out, nil
}

// climb takes a kernel to its mode.
func (t *planting) climb(ctx context.Context, k *trained) error {
	if k.climbed || math.IsNaN(k.nats) {
		return nil
	}
	k.climbed = true
	nats, err := k.kernel.Climb(ctx, k.free)
	if err == nil && nats+k.volume > k.nats {
		k.nats = nats + k.volume
	}
	return err
}

// asGood reports whether a kernel cannot be told from the planted one, or is better.
func (t *planting) asGood(ctx context.Context, k *trained) (bool, error) {
	if k.nats < t.truth-tieNats && k.nats >= t.truth-nearlyNats {
		if err := t.climb(ctx, k); err != nil {
			return false, err
		}
	}
	return k.nats >= t.truth-tieNats, nil
}

// grow makes the run of growth.
func (t *planting) grow(ctx context.Context, row *PlantedRow) error {
	sub, began := t.subject, cpuSeconds()
	trainer, err := vbks.New(ctx, t.device(), sub.Train, sub.Space, sub.Columns, sub.Settings)
	if err != nil {
		return ended(ctx, err)
	}
	tried, then := map[string]bool{}, map[string]int{}
	for !trainer.Done() {
		if _, err = trainer.Next(ctx); err != nil {
			if ctx.Err() != nil {
				return ended(ctx, err)
			}
			row.Failure = err.Error()
			return nil
		}
		kernels := trainer.Last().Kernels
		for i := range kernels {
			tried[kernels[i].ID] = true
		}
		for i := range kernels {
			if id := kernels[i].ID; then[id] == 0 {
				then[id] = len(tried)
			}
		}
	}
	row.CPU, row.Tried, row.Met = files.Number(cpuSeconds()-began), len(tried), tried[t.planted.ID()]
	last := trainer.Last()
	found, err := t.of(&last.Kernels[last.Leader()])
	if err != nil {
		return err
	}
	e, err := kernelspace.Parse(found.id)
	if err != nil {
		return err
	}
	again, err := t.search(ctx, []kernelspace.Expr{e.Canonical()}, map[string][]float64{found.id: found.free})
	if err != nil {
		return err
	}
	leader := again[0]
	if err := t.climbFrom(ctx, leader, found.free); err != nil {
		return err
	}
	row.Leader, row.LeaderLeaves, row.TriedThen = leader.id, e.NumLeaves(), then[leader.id]
	row.Gap = files.Number(t.truth - leader.nats)
	row.PriorGap = row.Gap + files.Number(t.grammar.LogPrior(t.planted)-t.grammar.LogPrior(e))
	return nil
}

// ended is the cause of a context that has ended, else the error.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// train searches the hyperparameters of kernels that have not been trained, all rows at once,
// beside the best of those that have, and returns what is known of all of them.
func (t *planting) train(ctx context.Context, kernels []kernelspace.Expr, best *trained) ([]*trained, error) {
	var space []kernelspace.Expr
	for _, e := range kernels {
		if t.trained[e.ID()] == nil {
			space = append(space, e)
		}
	}
	if len(space) > 0 {
		guesses := map[string][]float64{}
		if best != nil {
			space = append(space, best.expr)
			guesses[best.id] = best.free
		}
		found, err := t.search(ctx, space, guesses)
		if err != nil {
			return nil, err
		}
		for _, k := range found {
			if t.trained[k.id] == nil {
				t.trained[k.id] = k
			}
		}
	}
	var out []*trained
	for _, e := range kernels {
		out = append(out, t.trained[e.ID()])
	}
	return out, nil
}

// search has the hyperparameters of kernels searched, and their modes measured.
func (t *planting) search(ctx context.Context, kernels []kernelspace.Expr, guesses map[string][]float64) (out []*trained, err error) {
	sub := t.subject
	s, rows := sub.Settings, sub.Train
	space := make([]vbks.Candidate, len(kernels))
	for i, e := range kernels {
		space[i] = vbks.Candidate{Expr: e, Weight: 1}
	}
	s.Growth.On, s.EvaluateEvery, s.Refine = false, 1, 0
	if s.Evidence != "mode" { // volumes are for all of these the same kind
		s.Evidence = "laplace"
	}
	if s.Inducing == 0 {
		s.Inducing = min(rivalInducing, rows.Rows())
	}
	rows.Guesses = guesses
	trainer, err := vbks.New(ctx, t.device(), rows, space, sub.Columns, s)
	for err == nil && !trainer.Done() {
		_, err = trainer.Next(ctx)
	}
	if err != nil {
		return nil, ended(ctx, err)
	}
	last := trainer.Last()
	for i := range last.Kernels {
		k, err := t.of(&last.Kernels[i])
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// compete lets another search train kernels until one is as good as the planted one, there are
// no more to try, or there have been so many.
func (t *planting) compete(ctx context.Context, r rival, most int) (*RivalRow, error) {
	out := &RivalRow{Name: r.name()}
	scores := map[string]float64{}
	var best *trained
	for out.Trained < most {
		next, err := r.next(ctx, scores)
		if err != nil || len(next) == 0 {
			return out, err
		}
		next = next[:min(len(next), most-out.Trained)]
		done, err := t.train(ctx, next, best)
		if err != nil {
			return nil, err
		}
		for _, k := range done {
			out.Trained++
			if out.Found, err = t.asGood(ctx, k); err != nil || out.Found {
				return out, err
			}
			scores[k.id] = k.nats
			if !math.IsNaN(k.nats) && (best == nil || k.nats > best.nats) {
				best = k
			}
		}
	}
	return out, nil
}

// PlantedSummary is what the rows of a table say together. Rows of failed runs do not count.
type PlantedSummary struct {
	Bases      string       `json:"bases"`
	Sets       int          `json:"sets"`
	Found      int          `json:"found"`
	WithPrior  int          `json:"within_prior"` // with the prior over the grammar within a nat
	Met        int          `json:"met"`
	Tried      files.Number `json:"tried"` // kernels, in the mean
	TriedThen  files.Number `json:"tried_then"`
	Others     []RivalSum   `json:"others"`
	CPU        files.Number `json:"cpu"`
	CPUOthers  files.Number `json:"cpu_others"`
	LeastLeave int          `json:"least_leaves"` // of a leader that is as good as what was planted
}

// RivalSum is what the runs of another search say together.
type RivalSum struct {
	Name  string `json:"name"`
	Found int    `json:"found"` // within twice the kernels that growth had tried when its leader came
	Twice int    `json:"twice"` // of those that growth found: it took at least twice as many
}

// SummarisePlanted sums rows up.
func SummarisePlanted(bases string, rows []*PlantedRow) PlantedSummary {
	out := PlantedSummary{Bases: bases}
	for _, r := range rows {
		if r.Failure != "" {
			continue
		}
		out.Sets++
		out.Tried, out.TriedThen = out.Tried+files.Number(r.Tried), out.TriedThen+files.Number(r.TriedThen)
		out.CPU, out.CPUOthers = out.CPU+r.CPU, out.CPUOthers+r.CPUOthers
		if r.Met {
			out.Met++
		}
		if r.Found() {
			out.Found++
			if out.LeastLeave == 0 || r.LeaderLeaves < out.LeastLeave {
				out.LeastLeave = r.LeaderLeaves
			}
		}
		if float64(r.PriorGap) <= tieNats {
			out.WithPrior++
		}
		for i := range r.Others {
			o := &r.Others[i]
			at := slices.IndexFunc(out.Others, func(s RivalSum) bool { return s.Name == o.Name })
			if at < 0 {
				at = len(out.Others)
				out.Others = append(out.Others, RivalSum{Name: o.Name})
			}
			if o.Found {
				out.Others[at].Found++
			}
			if r.Found() && r.Twice(o) {
				out.Others[at].Twice++
			}
		}
	}
	if out.Sets > 0 {
		out.Tried, out.TriedThen = out.Tried/files.Number(out.Sets), out.TriedThen/files.Number(out.Sets)
	}
	return out
}

// String is the summary in one line.
func (s PlantedSummary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: growth has found the planted kernel, or what exact evidence does not tell from it, on %d of %d data sets, with the "+
		"prior over the grammar %d; its leader came after %.0f kernels in the mean, of %.0f until growth ended; the planted one itself was "+
		"tried on %d.", s.Bases, s.Found, s.Sets, s.WithPrior, float64(s.TriedThen), float64(s.Tried), s.Met)
	for _, o := range s.Others {
		fmt.Fprintf(&b, " %s has found as good a one on %d with at most twice as many kernels as growth until then; where growth has "+
			"found one it took at least twice as many, or has found none, on %d.", o.Name, o.Found, o.Twice)
	}
	fmt.Fprintf(&b, " CPU %.4g s, the others' %.4g s", float64(s.CPU), float64(s.CPUOthers))
	return b.String()
}
