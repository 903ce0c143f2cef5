package report

import (
	"context"
	"fmt"
	"math"
	"strings"

	"example.com/kestrel/experiment/figures"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/words"
)

// effects says how the levels of columns differ.
func (r *reporter) effects(ctx context.Context, i *inspect.Inspector) error {
	all, err := i.LevelEffects(ctx)
	if err != nil {
		return err
	}
	target, inputs := r.history.Start.Target(), r.history.Start.Inputs()
	for _, e := range all {
		r.page.Effects = append(r.page.Effects, effectsText(inputs[e.Column].Name, &e, target.ModelledUnit(), target.OfModelled()))
	}
	return nil
}

// effectsText puts the effects of a column's levels into a sentence: how much lower or
// higher the target is, all else equal, with the 95 % interval.
func effectsText(column string, e *inspect.LevelEffects, unit, of string) string {
	var parts []string
	for _, l := range e.Levels {
		low, high := l.Mean-figures.Normal95*l.SD, l.Mean+figures.Normal95*l.SD
		switch {
		case low > 0:
			parts = append(parts, fmt.Sprintf("%s is %s higher (%s to %s)", l.Level, effect(l.Mean, unit), effect(low, ""), effect(high, "")))
		case high < 0:
			parts = append(parts, fmt.Sprintf("%s is %s lower (%s to %s)", l.Level, effect(-l.Mean, unit), effect(-high, ""), effect(-low, "")))
		default:
			parts = append(parts, fmt.Sprintf("%s is not told from it (%s to %s)", l.Level, effect(low, unit), effect(high, unit)))
		}
	}
	return fmt.Sprintf("In %s, all else equal and against %s%s: %s.", column, e.Against, of, strings.Join(parts, "; "))
}

// effect writes a difference in so many digits as can be told.
func effect(v float64, unit string) string {
	if math.Abs(v) < 1e-12 {
		v = 0
	}
	return words.WithUnit(v, unit)
}
