package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
	"example.com/kestrel/vbks/random"
)

// Planted asks whether a growing space finds a kernel that data were drawn from, or one that
// cannot be told from it, and how many kernels others train until they have.
//
// Data are drawn as for a Calibration, the kernel with the same probability from all of so
// many leaves, each number of leaves as often; all is drawn anew until every leaf is needed: with any
// one removed the evidence is at least nearNats less. Evidence is exact, with all of k(X,X), climbed to its
// mode, with the mode's volume as a trainer has it. Growth is a run with the program's defaults
// that begins with the bases. It has found the kernel where its leader is the planted one, or is within a
// nat of it or above; the planted one is climbed from what the data were drawn with. What leads has the prior over the
// grammar, too; the first kernel that growth has tried with all rows in use and that is as good by evidence alone is told besides.
// The others see all rows at once and have a kernel's hyperparameters searched on the bound, with the program's
// starts and the inducing inputs that growth has for its late kernels, fewer of which would keep rough functions from
// them, beside the best that they have, whose solution may be handed on. Its evidence is there
// for them, and the first kernel of theirs that is as good counts, whether they would have
// stopped there or not:
//
//	random   kernels of up to as many leaves, each number as often, without repetition
//	cks      greedy compositional search, which ends where no neighbour is better
//	bo       Bayesian optimisation, candidates being neighbours of the best and some at random
//
// They may train twice as many kernels as growth had tried when the first came that was as good, or, where none did, its
// leader. A kernel is trained once for all.
type Planted struct {
	Bases  []kernelspace.Expr
	Leaves Range // of the planted kernel
	Rows   Range
	Config config.Config // of growth
	Alone  bool          // without the others
	Table  *PlantedTable // where what is known of a data set is kept before its row is; nil: nowhere
	// Watch is told of each evaluation of growth that is made here, and how many kernels had been tried with it, by several goroutines
	// where several seeds are made at a time; nil: nobody is.
	Watch func(seed uint64, s *GrownStep, tried int)

	grammar *grow.Grammar
	most    int // kernels that are planted until one is needed as it is
}

const (
	// What has an evidence within nearlyNats of the planted kernel's is climbed.
	nearlyNats  = 10
	mostPlanted = 500
	// rivalShare is how many kernels others may train for one that growth had tried when its leader
	// came.
	rivalShare = 2
)

// NewPlanted makes the config of growth from some bases: the program's defaults, but for
// data as they are and without test rows. set comes after that.
func NewPlanted(bases []string, leaves, rows Range, set []config.Override) (*Planted, error) {
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
	c, err := drawnConfig("planted", []config.Override{
		{Key: "kernels.expressions", Value: strings.Join(bases, ","), Flag: "--base"},
		{Key: "kernels.grow", Value: "true", Flag: "kernels.grow"},
	}, set)
	if err != nil {
		return nil, err
	}
	return planted(c, leaves, rows)
}

// planted is the study of a config that has been read.
func planted(c config.Config, leaves, rows Range) (*Planted, error) {
	if rows.Most > mostExactRows {
		return nil, fmt.Errorf("%d rows; evidence is exact, of at most %d", rows.Most, mostExactRows)
	}
	p := &Planted{Leaves: leaves, Rows: rows, Config: c, most: mostPlanted}
	space, err := c.Kernels.Candidates()
	if err != nil {
		return nil, err
	}
	for _, k := range space {
		p.Bases = append(p.Bases, k.Expr.Canonical())
	}
	if p.grammar, err = grow.New(p.Bases, c.Settings.Growth.Options(nil)); err != nil {
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
func (p *Planted) Names() string {
	ids := make([]string, len(p.Bases))
	for i, e := range p.Bases {
		ids[i] = e.ID()
	}
	return strings.Join(ids, ",")
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
	Tried        int          `json:"tried"`      // kernels, until growth ended; one that came again counts again
	TriedThen    int          `json:"tried_then"` // when the leader came
	AsGood       string       `json:"as_good"`    // the first kernel as good as the planted one, all rows in use, whatever its prior
	AsGoodThen   int          `json:"as_good_then"`
	Met          bool         `json:"met"` // the planted kernel itself was tried
	CPU          files.Number `json:"cpu"` // of growth, s
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

// Found reports whether growth has found the planted kernel, however far its search was below the
// best optimum known, or what cannot be told from it.
func (r *PlantedRow) Found() bool {
	return r.Failure == "" && r.Leader == r.Planted || float64(r.Gap) <= tieNats
}

// Reached reports whether growth has tried a kernel that cannot be told from the planted one, or is better: what others
// are asked for, too, which have no prior over the grammar.
func (r *PlantedRow) Reached() bool { return r.AsGood != "" || r.Found() }

// Then is how many kernels growth had tried when the first such came, else when its leader did.
func (r *PlantedRow) Then() int {
	if r.AsGood != "" {
		return r.AsGoodThen
	}
	return r.TriedThen
}

// Twice reports whether another search needed at least twice as many kernels as growth had
// tried then.
func (r *PlantedRow) Twice(o *RivalRow) bool { return !o.Found || o.Trained >= rivalShare*r.Then() }

// Run makes the searches of a seed with so many lanes. ctx ends it with its cause.
func (p *Planted) Run(ctx context.Context, seed uint64, lanes int) (*PlantedRow, error) {
	d := drawing{Rows: p.Rows, Kernel: func(rng *rand.Rand) kernelspace.Expr {
		return p.grammar.Draw(rng, p.Leaves.Fewest+rng.IntN(p.Leaves.Most-p.Leaves.Fewest+1))
	}}
	rng := random.Stream(seed, "planted in "+p.Names(), 0)
	kept := &course{}
	if p.Table != nil {
		var err error
		if kept, err = p.Table.course(seed); err != nil {
			return nil, err
		}
		defer kept.close()
	}
	var t *planting
	row := &PlantedRow{Bases: p.Names(), Seed: seed, Gap: files.Number(math.NaN()), PriorGap: files.Number(math.NaN())}
	for t == nil && row.Drawn < p.most {
		row.Drawn++
		s, err := d.draw(ctx, rng)
		if err != nil {
			return nil, fmt.Errorf("%s, seed %d: %w", p.Names(), seed, err)
		}
		row.Rows, row.Noise, row.Planted = len(s.y), files.Number(s.noise), s.kernel.ID()
		if t, row.Needed, err = p.need(ctx, s, kept, row.Drawn, seed, lanes); err != nil {
			return nil, err
		}
	}
	if t == nil {
		row.Failure = fmt.Sprintf("of %d kernels none is needed as it is", row.Drawn)
		return row, nil
	}
	defer t.close()
	if kept.grown != nil {
		row = kept.grown
	} else if err := t.grow(ctx, row); err != nil {
		return row, err
	} else if err := kept.add(stepGrown, row); err != nil {
		return row, err
	}
	if row.Failure != "" || p.Alone {
		return row, nil
	}
	if err := t.recall(); err != nil {
		return nil, err
	}
	t.since = cpuSeconds()
	for _, rival := range t.rivals() {
		r, err := t.compete(ctx, rival, rivalShare*row.Then())
		if err != nil {
			return nil, fmt.Errorf("%s, seed %d: %w", rival.name(), seed, err)
		}
		row.Others = append(row.Others, *r)
	}
	row.CPUOthers = files.Number(t.cpu + cpuSeconds() - t.since)
	return row, nil
}

// need is the data set that has been drawn as one of so many, if its kernel is needed as it is, and by how
// many nats; nil if it is not.
func (p *Planted) need(ctx context.Context, s *drawnSet, kept *course, drawn int, seed uint64, lanes int) (*planting, files.Number, error) {
	known := kept.planted
	if known != nil && drawn < known.Drawn {
		return nil, 0, nil
	}
	t, err := p.plant(ctx, s, seed, lanes)
	if err != nil {
		return nil, 0, err
	}
	t.course = kept
	if known != nil {
		t.truth = float64(known.Nats)
		return t, known.Needed, nil
	}
	nats, ok, err := t.needed(ctx, s)
	if err == nil && ok {
		err = kept.add(stepPlanted, plantedStep{drawn, nats, files.Number(t.truth)})
	}
	if err != nil || !ok {
		t.close()
		return nil, 0, err
	}
	return t, nats, nil
}

// PlantedSummary is what the rows of a table say together. Rows of failed runs do not count.
type PlantedSummary struct {
	Bases     string       `json:"bases"`
	Sets      int          `json:"sets"`
	Found     int          `json:"found"`
	Reached   int          `json:"reached"`      // a kernel as good was tried
	WithPrior int          `json:"within_prior"` // with the prior over the grammar within a nat
	Met       int          `json:"met"`
	Listed    int          `json:"listed"`         // planted kernels that are in K144
	Leading   int          `json:"leading_listed"` // leaders that are
	Tried     files.Number `json:"tried"`          // kernels, in the mean
	TriedThen files.Number `json:"tried_then"`
	Others    []RivalSum   `json:"others"`
	CPU       files.Number `json:"cpu"`
	CPUOthers files.Number `json:"cpu_others"`
}

// RivalSum is what the runs of another search say together.
type RivalSum struct {
	Name  string `json:"name"`
	Found int    `json:"found"` // within twice the kernels that growth had tried then
	Twice int    `json:"twice"` // of those that growth reached: it took at least twice as many
}

// SummarisePlanted sums rows up.
func SummarisePlanted(bases string, rows []*PlantedRow) PlantedSummary {
	out := PlantedSummary{Bases: bases}
	list, _ := kernelspace.Set("K144")
	listed := func(id string) int {
		e, err := kernelspace.Parse(id)
		if err == nil && slices.ContainsFunc(list, e.Canonical().Equal) {
			return 1
		}
		return 0
	}
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
		out.Listed, out.Leading = out.Listed+listed(r.Planted), out.Leading+listed(r.Leader)
		if r.Found() {
			out.Found++
		}
		if r.Reached() {
			out.Reached++
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
			if r.Reached() && r.Twice(o) {
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
		"prior over the grammar %d, and has tried as good a one on %d; its leader came after %.0f kernels in the mean, of %.0f until growth "+
		"ended; the planted one itself was tried on %d. Of the planted ones %d are in K144, of the leaders %d.", s.Bases, s.Found,
		s.Sets, s.WithPrior, s.Reached, float64(s.TriedThen),
		float64(s.Tried), s.Met, s.Listed, s.Leading)
	for _, o := range s.Others {
		fmt.Fprintf(&b, " %s has found as good a one on %d with at most twice as many kernels as growth until then; where growth has "+
			"tried one it took at least twice as many, or has found none, on %d.", o.Name, o.Found, o.Twice)
	}
	fmt.Fprintf(&b, " CPU %.4g s, the others' %.4g s", float64(s.CPU), float64(s.CPUOthers))
	return b.String()
}
