package prepare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/datasets"
	"example.com/kestrel/datasets/transform"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

const (
	// The logarithm of a target is decided on between so many training rows of a
	// series: fewer tell too little, for more it is the user's to say.
	fewestTransformed, mostTransformed = 60, 2000
	// It is taken where it makes a row after an origin so many nats likelier on average.
	// Over the training parts of the M3 competition's series, chosen so it is a little
	// better on the longer ones, and worse on those that are shorter than this.
	transformGain = 0.1
	// Origins are after 5 to 9 tenths of the rows, and a tenth is forecast from each.
	transformTenths, transformOrigins = 10, 5
	// transformInducing is with how many inducing inputs.
	transformInducing = 128
)

// transformKernels are those that stand for all of a series in this.
var transformKernels = []string{
	"LIN+RW+PER*SE", "IRW+MATERN12+PER", "LIN+SE+CONST+PER*SE", "LIN+MATERN12+CONST+PER", "LIN+RW+MATERN32+PER", "RW+PER",
}

// stepKernels do so, too, of one whose level changes.
var stepKernels = []string{"CP(CONST,CONST)+PER", "CP(CONST,CONST)+RW+PER"}

// decideTransform decides on data.transform = "auto": whether the logarithm of a
// positive target is forecast better, by the log density of y of rows after rolling
// origins within the training rows, never by the likelihood of a fit. It returns what
// there is to tell.
func decideTransform(ctx context.Context, c *config.Config, d *datasets.Dataset) (notice string, err error) {
	if c.Data.Transform != transform.Auto {
		return "", nil
	}
	c.Data.Transform = transform.None
	n := len(d.First())
	if c.Stated.OfTarget() && d.Series != nil {
		return `data.transform = "auto" is "none": values of variances are stated in the units of the target`, nil
	}
	if d.Series == nil || n < fewestTransformed || n > mostTransformed ||
		slices.ContainsFunc(d.Train, func(r int32) bool { return !(d.Y[r] > 0) }) {
		return "", nil
	}
	kernels := transformKernels
	if found, _ := config.JumpsOf(d); len(found) > 0 {
		kernels = slices.Concat(kernels, stepKernels)
	}
	plain, err := foretold(ctx, c, d, transform.None, kernels)
	logs := math.NaN()
	if err == nil {
		logs, err = foretold(ctx, c, d, transform.Log, kernels)
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return fmt.Sprintf(`data.transform = "auto" is %q: what is forecast cannot be compared: %v`, c.Data.Transform, err), nil
	}
	gain := plain - logs
	if gain > transformGain {
		c.Data.Transform = transform.Log
	}
	words := fmt.Sprintf("%.2g nats likelier", math.Abs(gain))
	if gain < 0 {
		words = fmt.Sprintf("%.2g nats less likely", math.Abs(gain))
	}
	return fmt.Sprintf(`data.transform = "auto" is %q: after %d rolling origins a row is %s if the logarithm of the target is forecast`,
		c.Data.Transform, transformOrigins, words), nil
}

// trialSettings are those of trials for a run: one evaluation, at the mode of densities, as runs of series have it.
func trialSettings(of *vbks.Settings) vbks.Settings {
	s := vbks.DefaultSettings()
	s.Seed, s.NoiseFloor, s.Priors, s.Errors, s.PredictTheta, s.Evidence = of.Seed, of.NoiseFloor, "series", "ignore", "mode", "mode"
	s.Optimizer, s.EvaluateEvery, s.Refine, s.Starts = "collapsed", 1, 0, 2
	return s
}

// foretold is the mean of −log p(y) over rows after rolling origins, by kernels together.
func foretold(ctx context.Context, c *config.Config, d *datasets.Dataset, name string, kernels []string) (float64, error) {
	var space []vbks.Candidate
	for _, text := range kernels {
		e, err := kernelspace.Parse(text)
		if err != nil {
			return 0, err
		}
		if d.Dim > 1 { // other columns are made of time
			e = e.On(d.Inputs[0].Name)
		}
		space = append(space, vbks.Candidate{Expr: e, Weight: 1})
	}
	own := c.Clone()
	own.Data.Transform, own.Data.FirstRows, own.Stated = name, 0, config.Stated{}
	s := &own.Settings
	*s = trialSettings(&c.Settings)

	rows := slices.Clone(d.First())
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(d.Row(int(a))[0], d.Row(int(b))[0]) })
	n := len(rows)
	sum, count := 0.0, 0
	for tenth := transformTenths - transformOrigins; tenth < transformTenths; tenth++ {
		cut, end := n*tenth/transformTenths, n*(tenth+1)/transformTenths
		part := *d
		part.Train, part.Test = slices.Clone(rows[:cut]), rows[cut:end]
		s.Inducing = min(cut, transformInducing)
		try := tenth - (transformTenths - transformOrigins) + 1
		if name == transform.Log {
			try += transformOrigins
		}
		Tell(ctx, Step{Doing: "finding out which forecasts better, " + d.Target.Name + " or its logarithm", Of: "trial",
			Done: try, Total: 2 * transformOrigins, Note: `data.transform = "none" goes without`})
		nlpd, err := scoreOnce(ctx, &own, &part, space)
		if err != nil {
			return 0, err
		}
		sum += nlpd * float64(end-cut)
		count += end - cut
	}
	return sum / float64(count), nil
}

// scoreOnce fits kernels to the training rows of d in one evaluation and returns the
// mean of −log p(y) of its test rows.
func scoreOnce(ctx context.Context, c *config.Config, d *datasets.Dataset, space []vbks.Candidate) (float64, error) {
	scaler, err := datasets.NewScaler(d, c.Data)
	if err != nil {
		return 0, err
	}
	dev, err := openCPU(c.Device)
	if err != nil {
		return 0, err
	}
	defer dev.Close()
	subject, err := NewSubject(c, d, scaler, space)
	if err != nil {
		return 0, err
	}
	t, err := vbks.New(ctx, dev, subject.Train, subject.Space, subject.Columns, subject.Settings)
	if err != nil {
		return 0, err
	}
	if _, err := t.Next(ctx); err != nil {
		return 0, err
	}
	p, err := t.Predict(ctx, scaler.X(d, d.Test), vbks.PredictOptions{Weights: "tempered"})
	if err != nil {
		return 0, err
	}
	score, err := p.In(scaler).Score(d.Targets(d.Test))
	return score.NLPD, err
}
