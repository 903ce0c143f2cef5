package report

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/figures"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
)

// Sizes of what a page shows of the fit.
const (
	fitPoints      = 600  // of the curve
	fitRows        = 2000 // drawn with it
	residualRows   = 1500
	calibratedRows = 5000
)

// inspect fills in what takes the model and the data.
func (r *reporter) inspect(ctx context.Context) error {
	i, err := inspect.OpenWith(ctx, r.dir, r.table)
	if err == nil {
		defer i.Close()
		if err = r.fit(ctx, i); err == nil {
			err = r.effects(ctx, i)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = "; if it has moved, name it with --data"
		}
		r.page.FitNote = "The fit, residuals and calibration, which take the model and the data, are missing here: " + err.Error() + hint + "."
	}
	return nil
}

func (r *reporter) fit(ctx context.Context, i *inspect.Inspector) error {
	s := r.history.Start
	res, err := i.Residuals(ctx, "", residualRows)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("evaluation %d, %s averaged", i.Evaluation(), words.Count(len(res.IDs), "kernel"))
	if res.Inputs == 1 {
		curve, err := i.Curve(ctx, inspect.FitQuery{Points: fitPoints, Steps: true})
		if err != nil {
			return err
		}
		points, err := i.Points(0, fitRows)
		if err != nil {
			return err
		}
		caption := fmt.Sprintf("Mean, and 95 %% bands of the function and of observations, at %d points (%s).", len(curve.X), of)
		if n := points.Seen + points.Unseen + points.Tests; n > len(points.X) {
			caption += fmt.Sprintf(" Of %d rows those are drawn that stand out most.", n)
		}
		if r.page.Fit, err = figures.ForPage(figures.FitFigure(s, curve, points), caption); err != nil {
			return err
		}
	} else {
		caption := fmt.Sprintf("Observed against predicted, %d of %d %s (%s).", len(res.Y), res.Of, figures.RowsName(res), of)
		if r.page.Fit, err = figures.ForPage(figures.ObservedFigure(s, res), caption); err != nil {
			return err
		}
	}
	outside, largest := 0, 0.0
	for _, z := range res.Standardised {
		largest = max(largest, math.Abs(z))
		if math.Abs(z) > figures.Normal95 {
			outside++
		}
	}
	caption := fmt.Sprintf("Residuals%s of %d of %d %s over their predicted standard deviation: %s beyond ±1.96, where 5 %% are expected if "+
		"they are normal; the largest is %.3g.",
		s.Target().OfModelled(), len(res.Y), res.Of, figures.RowsName(res), percent(float64(outside)/float64(len(res.Y))), largest)
	if r.page.Residuals, err = figures.ForPage(figures.ResidualFigure(s, res), caption); err != nil {
		return err
	}
	return r.calibrate(ctx, i)
}

// calibrate counts the targets held out that lie within the intervals.
func (r *reporter) calibrate(ctx context.Context, i *inspect.Inspector) error {
	c, err := i.Calibration(ctx, calibratedRows)
	if err != nil {
		return err
	}
	if c.Of == 0 {
		r.page.CalibrationNote = "No rows are held out, so it cannot be told whether the intervals hold what they promise."
		return nil
	}
	for _, level := range record.CoverageLevels {
		r.page.Intervals = append(r.page.Intervals, record.LevelText(level))
	}
	for _, m := range c.Methods {
		l := calibrationLine{Method: config.MethodName(m.Method), Rows: c.Rows}
		for k, level := range record.CoverageLevels {
			chance := math.Sqrt(level * (1 - level) / float64(c.Rows))
			l.Levels = append(l.Levels, calibrationCell{
				Actual: percent(m.Shares[k]), Chance: percent(chance),
			})
		}
		r.page.Calibration = append(r.page.Calibration, l)
	}
	r.page.CalibrationNote = fmt.Sprintf("On %d of the %d rows held out. Behind ± stands the standard deviation that chance alone gives "+
		"the share, were the rows independent.", c.Rows, c.Of)
	return nil
}
