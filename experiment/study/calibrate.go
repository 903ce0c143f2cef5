package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/exact"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/random"
)

// Priors lists from where the hyperparameters of a calibration's data come: the
// fit's own prior, and another one.
func Priors() []string { return []string{"same", "other"} }

// Calibration makes data sets whose kernel and hyperparameters are drawn from the
// prior that the fit believes in, so that Bayes' posterior over kernels should be
// right as often as it says.
//
// Inputs are uniform on [−10, 10], the kernel on the space, the logarithms of
// hyperparameters from their prior within their bounds ("other": means raised by
// half of an sd, and sds halved), f from the exact process, the noise's sd log-uniform
// from .05 to .5 sds of f. That prior is relative to the variance of the targets
// and wide: kernel, hyperparameters, f and noise are drawn anew, all of them, until
// the variance of y about its mean is in [.8, 1.25]. Whether a draw is taken depends
// on y alone, so that p(k|y) is what it was: the posterior with all kernels equally
// likely. Only the noise does not come from the fit's prior, alike for all kernels.
type Calibration struct {
	Space  string // name of a set of kernels
	Prior  string // one of Priors
	Config config.Config
	Rows   Range

	candidates []vbks.Candidate
}

// NewCalibration makes the config of the fits: the program's defaults, but for data
// as they are, without test rows, and in two steps. set comes after that.
func NewCalibration(space, prior string, rows Range, set []config.Override) (*Calibration, error) {
	if !slices.Contains(Priors(), prior) {
		return nil, fmt.Errorf("there is no prior %q; priors are %s", prior, strings.Join(Priors(), ", "))
	}
	for _, o := range set {
		section, _, _ := strings.Cut(o.Key, ".")
		if section == "data" || section == "kernels" || o.Key == "seed" || o.Key == "name" {
			return nil, fmt.Errorf("%s: a calibration draws its data and its kernels itself", o.Flag)
		}
	}
	c, err := drawnConfig("calibrate", []config.Override{
		{Key: "kernels.set", Value: space, Flag: "--spaces " + space},
		{Key: "schedule.evaluate_every", Value: "0.5", Flag: "schedule.evaluate_every"},
	}, set)
	if err != nil {
		return nil, err
	}
	if !c.Stated.Empty() || c.Mean == config.LinearMean {
		return nil, errors.New("data are drawn from priors of their own: optimise.fix, bound and prior, and kernels.mean, cannot be stated")
	}
	candidates, err := c.Kernels.Candidates()
	if err != nil {
		return nil, err
	}
	return &Calibration{space, prior, c, rows, candidates}, nil
}

// calibrationSet is a data set and what it was drawn from.
type calibrationSet struct {
	drawnSet
	truth int // in the space
}

// draw makes the data set of a seed.
func (c *Calibration) draw(ctx context.Context, seed uint64) (*calibrationSet, error) {
	s := &calibrationSet{}
	d := drawing{Rows: c.Rows, Other: c.Prior == Priors()[1], Kernel: func(rng *rand.Rand) kernelspace.Expr {
		s.truth = rng.IntN(len(c.candidates))
		return c.candidates[s.truth].Expr
	}}
	set, err := d.draw(ctx, random.Stream(seed, "calibration of "+c.Space, 0))
	if err != nil {
		return nil, err
	}
	s.drawnSet = *set
	return s, nil
}

// CalibrationRow is what came of one data set.
type CalibrationRow struct {
	Space     string       `json:"space"`
	Seed      uint64       `json:"seed"`
	Rows      int          `json:"rows"`
	Noise     files.Number `json:"noise"` // sd, in sds of the function
	Draws     int          `json:"draws"` // until the variance was about 1
	Generator string       `json:"generator"`
	Leader    string       `json:"leader"`
	Fitted    int          `json:"fitted"`     // kernels with a fit, also of those that were left out later
	ClassSize int          `json:"class_size"` // kernels equal to the leader by exact evidence
	Hit       bool         `json:"hit"`        // the generator is one of them
	// of the leader's class
	Bayes      files.Number `json:"belief_bayes"`
	Posterior  files.Number `json:"belief_posterior"`
	PointBayes files.Number `json:"belief_point_bayes"`
	// of the generator's class
	OwnBayes      files.Number `json:"own_bayes"`
	OwnPosterior  files.Number `json:"own_posterior"`
	OwnPointBayes files.Number `json:"own_point_bayes"`
	Missed        files.Number `json:"missed"`    // nats by which the generator's fit is worse than what was drawn; < 0: better
	ExactGap      files.Number `json:"exact_gap"` // of the leader to the generator, at their fits; NaN where that has none
	Seconds       files.Number `json:"seconds"`   // of all: drawing, fitting, exact evidence
	Failure       string       `json:"failure,omitempty"`
}

// Run draws the data set of a seed, fits it with so many lanes and looks whether
// what is believed is so. ctx ends it with its cause.
func (c *Calibration) Run(ctx context.Context, seed uint64, lanes int) (*CalibrationRow, error) {
	began := time.Now()
	s, err := c.draw(ctx, seed)
	if err != nil {
		return nil, fmt.Errorf("%s, seed %d: %w", c.Space, seed, err)
	}
	m, err := c.fit(ctx, s, seed, lanes)
	if err != nil {
		return nil, err
	}
	row := &CalibrationRow{
		Space: c.Space, Seed: seed, Rows: len(s.y), Noise: files.Number(s.noise), Draws: s.draws,
		Generator: c.candidates[s.truth].Expr.Canonical().ID(), Failure: m.failure(),
	}
	if row.Failure == "" {
		j, err := newJudge(m)
		if err != nil {
			return nil, err
		}
		if err := j.believed(ctx, s, row); err != nil {
			return nil, err
		}
	}
	row.Seconds = files.Number(time.Since(began).Seconds())
	return row, nil
}

// fit makes the run of a data set in memory.
func (c *Calibration) fit(ctx context.Context, s *calibrationSet, seed uint64, lanes int) (*made, error) {
	job, err := s.prepare(ctx, &c.Config, seed, lanes)
	if err != nil {
		return nil, err
	}
	return finishRun(ctx, job, nil)
}

// believed finds, by exact evidence alone, the kernels that cannot be told apart,
// and then what is believed of them. Kernels are in the leader's class within a nat
// of it; other classes are what is within a nat of the best that is left.
func (j *judge) believed(ctx context.Context, s *calibrationSet, row *CalibrationRow) error {
	truth := s.truth
	nats := make([]float64, len(j.job.Start.Kernels))
	for i := range nats {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		nats[i] = math.NaN()
		f := j.lastFit(i)
		if f == nil {
			continue
		}
		k, p, err := j.kernel(i)
		if err != nil {
			return err
		}
		v, ok, err := k.At(j.fitted(k, i, f))
		if err != nil {
			return err
		}
		if ok {
			nats[i] = v
			row.Fitted++
		}
		if i == truth {
			if row.Missed, err = j.missed(k, p, s, v); err != nil {
				return err
			}
		}
	}
	last := j.last()
	if last == nil || last.Leader() == nil {
		row.Failure = "no kernel leads"
		return nil
	}
	row.Leader = last.Leader().ID
	lead := nats[j.place(row.Leader)]
	if math.IsNaN(lead) {
		row.Failure = "the leader has no exact evidence"
		return nil
	}
	row.ExactGap = files.Number(lead - nats[truth])
	own := classOf(nats, truth)
	for i, v := range nats {
		leading := math.Abs(v-lead) <= tieNats
		if leading {
			row.ClassSize++
			row.Hit = row.Hit || i == truth
		}
		f := last.Kernels[i].Fit
		if f == nil {
			continue
		}
		point := f.Plain().Bayes
		if leading {
			row.Bayes, row.Posterior, row.PointBayes = row.Bayes+f.Bayes, row.Posterior+f.Posterior, row.PointBayes+point
		}
		if own[i] {
			row.OwnBayes, row.OwnPosterior, row.OwnPointBayes = row.OwnBayes+f.Bayes, row.OwnPosterior+f.Posterior, row.OwnPointBayes+point
		}
	}
	return nil
}

// missed is by how many nats the hyperparameters that the data were drawn with are
// better, for the generator, than what was found for it.
func (j *judge) missed(k *exact.Kernel, p *kernelspace.Program, s *calibrationSet, found float64) (files.Number, error) {
	raw, _ := params.Raw(p, s.free, 0)
	v, ok, err := k.At(k.Free(raw, s.variance))
	if !ok {
		v = math.NaN()
	}
	return files.Number(v - found), err
}

// classOf divides kernels by their evidence, from the best down, into those within a
// nat of the best that is left, and says which are in one class with a kernel. One
// without evidence is alone.
func classOf(nats []float64, kernel int) []bool {
	left := make([]bool, len(nats))
	for i, v := range nats {
		left[i] = !math.IsNaN(v)
	}
	class := make([]bool, len(nats))
	for left[kernel] {
		best := math.Inf(-1)
		for i, v := range nats {
			if left[i] {
				best = max(best, v)
			}
		}
		for i, v := range nats {
			class[i] = left[i] && v >= best-tieNats
			left[i] = left[i] && !class[i]
		}
	}
	class[kernel] = true
	return class
}
