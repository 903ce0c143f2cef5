package inspect

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/kernelspace"
)

const (
	mostDrawPoints = 1000
	mostDraws      = 10000
	leastJitter    = 1e-10 // of the mean variance of a prior draw
	mostJitter     = 1e-4
)

// CovarianceCurve is a kernel's covariance function along one input, the others
// held at their medians.
type CovarianceCurve struct {
	Evaluation int
	// Stationary says that k depends on the lag alone: Lag goes from 0 to the
	// range of the data. Else Value is k(About, About + Lag) for lags to both
	// ends of the data, About being their middle. Of less than that range the same. Of
	// levels it is k(About, About + Lag), too, About being the most frequent one.
	Stationary bool
	About      float64
	Lag        []float64 // in the column's unit; 0 is one of them
	Value      []float64 // in the (transformed) target's unit squared; white noise counts at lag 0 only
	Period     float64   // of which ShownPeriods are shown in the place of the range of the data; 0: all of that
}

// ShownPeriods is how many of a kernel's shortest periods along a column are shown where
// the data have more than mostPeriods, which would be a block without gaps.
const (
	ShownPeriods = 4
	mostPeriods  = 10
)

// shown is the part of the range of a column, about its middle, that shows what a kernel
// does along it, and the period that this is a few of, 0 where it is all of the range.
func (i *Inspector) shown(p *kernelspace.Program, theta []float64, column int, whole bool) (low, high, period float64) {
	low, high = widened(&i.Inputs()[column], 0)
	if whole || len(i.Inputs()[column].Levels) > 0 {
		return low, high, 0
	}
	for k := range p.Instrs {
		in := &p.Instrs[k]
		if in.Op >= kernelspace.OpAdd || in.NumPeriod == 0 {
			continue
		}
		for at, c := range in.Cols {
			one := i.subject.Scaler.XScale[column] * theta[in.Off+1+in.NumScale+min(at, in.NumPeriod-1)]
			if c == column && one > 0 && (period == 0 || one < period) {
				period = one
			}
		}
	}
	if period == 0 || high-low <= mostPeriods*period {
		return low, high, 0
	}
	middle, half := low+(high-low)/2, ShownPeriods*period/2
	return middle - half, middle + half, period
}

// own returns a kernel without a linear mean function, and its hyperparameters.
func (i *Inspector) own(id string) (*kernelspace.Program, []float64, error) {
	p, theta, _, err := i.trainer.Solution(id)
	if err != nil {
		return nil, nil, err
	}
	return p.Own(), theta[:len(p.Own().Params)], nil
}

// Covariance evaluates a kernel, pruned ones too, with its hyperparameters of
// the evaluation, over the whole range of the data or, where that has many of the
// kernel's periods, over a few of these. Points is at least 2; one is added where 0 would
// fall between two.
func (i *Inspector) Covariance(id string, column, points int, whole bool) (*CovarianceCurve, error) {
	if err := i.input(column); err != nil {
		return nil, err
	}
	p, theta, err := i.own(id)
	if err != nil {
		return nil, err
	}
	low, high, period := i.shown(p, theta, column, whole)
	in := i.Inputs()[column]
	levels := len(in.Levels) > 0
	c := &CovarianceCurve{Evaluation: i.Evaluation(), Stationary: stationary(p, column) && !levels, About: low + (high-low)/2, Period: period}
	from, to := 0.0, high-low
	if !c.Stationary {
		from, to = -(high-low)/2, (high-low)/2
		points |= 1
	}
	if levels {
		c.About, from, to = in.Median, low-in.Median, high-in.Median
	}
	if c.Lag, err = linspace(from, to, points, mostPoints); err != nil {
		return nil, err
	}
	if !c.Stationary && !levels {
		c.Lag[points/2] = 0
	}
	x := make([]float64, len(c.Lag))
	for k, lag := range c.Lag {
		x[k] = c.About + lag
	}
	d := i.subject.Data.Dim
	rows := i.along(column, x, i.medians())
	centre := i.along(column, []float64{c.About}, i.medians())
	for k, lag := range c.Lag {
		c.Value = append(c.Value, i.subject.Scaler.Variance(p.Eval(theta, centre, rows[k*d:(k+1)*d], lag == 0)))
	}
	return c, nil
}

// stationary reports whether a kernel depends on the differences of a column
// only: it has no linear, polynomial or walking leaf and no change
// point on it.
func stationary(p *kernelspace.Program, column int) bool {
	for k := range p.Instrs {
		in := &p.Instrs[k]
		switch in.Op {
		case kernelspace.OpLIN, kernelspace.OpPoly, kernelspace.OpRW, kernelspace.OpIRW, kernelspace.OpStep:
			if slices.Contains(in.Cols, column) {
				return false
			}
		}
	}
	return true
}

// PriorDraws is functions drawn from GP(0, k) along one input, in the units of the
// transformed target.
type PriorDraws struct {
	Evaluation int
	X          []float64   // over the range of the data, or a part in its middle
	Draws      [][]float64 // [draw][point], about 0: Mean is not added
	Mean       float64     // what the model adds to f, the data's mean where it was taken from the targets
	Period     float64     // as CovarianceCurve.Period
}

// PriorDraws draws functions from the prior of a kernel with its
// hyperparameters of the evaluation, the other inputs held at their medians.
// Equal arguments give equal draws in equal runs. Whole is as of Covariance.
func (i *Inspector) PriorDraws(id string, column, points, draws int, whole bool) (*PriorDraws, error) {
	if err := i.input(column); err != nil {
		return nil, err
	}
	if draws < 1 || draws > mostDraws {
		return nil, fmt.Errorf("%d draws; from 1 to %d are allowed", draws, mostDraws)
	}
	p, theta, err := i.own(id)
	if err != nil {
		return nil, err
	}
	out := &PriorDraws{Evaluation: i.Evaluation(), Mean: i.subject.Scaler.YShift}
	low, high, period := i.shown(p, theta, column, whole)
	out.Period = period
	if out.X, err = linspace(low, high, points, mostDrawPoints); err != nil {
		return nil, err
	}
	rows := slices.Collect(slices.Chunk(i.along(column, out.X, i.medians()), i.subject.Data.Dim))
	l, err := priorFactor(p.Matrix(theta, rows, nil))
	if err != nil {
		return nil, fmt.Errorf("prior of %s: %w", id, err)
	}
	h := fnv.New64a()
	h.Write([]byte(id + " prior draws")) // never fails
	rng := rand.New(rand.NewPCG(i.subject.Settings.Seed, h.Sum64()))
	for range draws {
		z, f := mat.NewVecDense(points, nil), mat.NewVecDense(points, nil)
		for k := range points {
			z.SetVec(k, rng.NormFloat64())
		}
		f.MulVec(l, z)
		draw := f.RawVector().Data
		i.subject.Scaler.SDs(draw)
		out.Draws = append(out.Draws, draw)
	}
	return out, nil
}

// priorFactor returns the lower factor of a covariance with as little jitter as
// it takes.
func priorFactor(k [][]float64) (*mat.TriDense, error) {
	n := len(k)
	trace := 0.0
	for i := range k {
		trace += k[i][i]
	}
	sigma := mat.NewSymDense(n, nil)
	for jitter := leastJitter; jitter <= mostJitter; jitter *= 10 {
		for i := range k {
			for j := range i + 1 {
				sigma.SetSym(i, j, k[i][j])
			}
			sigma.SetSym(i, i, k[i][i]+jitter*trace/float64(n))
		}
		var chol mat.Cholesky
		if chol.Factorize(sigma) {
			var l mat.TriDense
			chol.LTo(&l)
			return &l, nil
		}
	}
	if math.IsNaN(trace) || math.IsInf(trace, 0) {
		return nil, fmt.Errorf("its variance is not finite")
	}
	return nil, fmt.Errorf("its covariance at %d points is not positive definite", n)
}
