package trial

import (
	"context"
	"fmt"
	"math"

	"example.com/kestrel/device"
)

// How far devices may be apart, relative to the largest number of a vector or a matrix: at
// the start, and after all steps.
const (
	atStart    = 1e-10
	afterSteps = 1e-8
)

// Agreement is how far two devices were apart at most, relative to the largest number of
// the kernel's vector or matrix.
type Agreement struct {
	Objective, Gradient float64 // where the steps begin
	Stepped             float64 // log θ, q(v) and objective after the last step; 0 where there is but one
	AtOnce              float64 // the same where the steps are made at once, see device.SmallSteps
	Leaps               bool    // they are
}

// Agree makes the same steps on two devices and compares objective, gradients and, after
// the last, where they have come to; also where the first device makes the steps at once, if
// it does. The error wraps ErrWrong where the devices are
// further apart than 1e-10 at the start or 1e-8 in the end.
func Agree(ctx context.Context, dev, reference device.Device, c Steps) (Agreement, error) {
	var out Agreement
	var both [2]*stepper
	for i, d := range []device.Device{dev, reference} {
		s, err := c.start(d)
		if err != nil {
			return out, err
		}
		defer s.close()
		both[i] = s
	}
	compare := func(worst *float64, tolerance float64, list ...quantity) error {
		for _, q := range list {
			if err := q.compare(both[0], both[1], tolerance, worst); err != nil {
				return err
			}
		}
		return nil
	}
	leaping, err := c.start(dev)
	if err != nil {
		return out, err
	}
	defer leaping.close()
	for t := range c.Count {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		for _, s := range both {
			if err := s.step(t); err != nil {
				return out, err
			}
		}
		if t > 0 || c.Natural {
			continue
		}
		// A step leaves objective and gradients of where it began.
		var none float64
		failed := func(s *stepper) device.Array { return s.run.Failed }
		if err := compare(&none, 0, quantity{"whether the factorisation failed", failed}); err != nil {
			return out, err
		}
		if err := compare(&out.Objective, atStart, quantity{"the objective", func(s *stepper) device.Array { return s.run.Value }}); err != nil {
			return out, err
		}
		if err := compare(&out.Gradient, atStart,
			quantity{"the gradient by log θ", func(s *stepper) device.Array { return s.gradFree }},
			quantity{"the gradient by m", func(s *stepper) device.Array { return s.gradM }},
			quantity{"the gradient by C", func(s *stepper) device.Array { return s.gradC }}); err != nil {
			return out, err
		}
	}
	reached := func(after string) []quantity {
		if c.Natural {
			return []quantity{
				{"log θ" + after, func(s *stepper) device.Array { return s.run.Free }},
				{"Λm" + after, func(s *stepper) device.Array { return s.natural.lambdaM }},
				{"Λ" + after, func(s *stepper) device.Array { return s.natural.lambda }},
			}
		}
		return []quantity{
			{"log θ" + after, func(s *stepper) device.Array { return s.run.Free }},
			{"m" + after, func(s *stepper) device.Array { return s.run.Mean }},
			{"C" + after, func(s *stepper) device.Array { return s.run.Chol }},
			{"the objective" + after, func(s *stepper) device.Array { return s.run.Value }},
		}
	}
	after := fmt.Sprintf(" after %d steps", c.Count)
	if c.Count > 1 {
		if err := compare(&out.Stepped, afterSteps, reached(after)...); err != nil {
			return out, err
		}
	}
	if out.Leaps, err = leaping.leap(); err != nil || !out.Leaps {
		return out, err
	}
	both[0] = leaping
	return out, compare(&out.AtOnce, afterSteps, reached(after+" made at once")...)
}

// quantity is what is compared.
type quantity struct {
	name string
	of   func(*stepper) device.Array
}

// compare compares a quantity member by member, relative to the reference's largest number.
func (q *quantity) compare(got, want *stepper, tolerance float64, worst *float64) error {
	for k, p := range want.steps.Programs {
		x, y := got.read(q.of(got), k), want.read(q.of(want), k)
		for _, s := range []*stepper{got, want} {
			if s.err != nil {
				return s.err
			}
		}
		size, diff := 0.0, 0.0
		for i := range y {
			size = math.Max(size, math.Abs(y[i]))
			if d := math.Abs(x[i] - y[i]); d > diff || math.IsNaN(d) {
				diff = d
			}
			if math.IsNaN(diff) {
				break
			}
		}
		if !(diff <= tolerance*size) {
			return fmt.Errorf("%w: %s of %s differs by %.2g of %.3g, at most %.0e of it may be", ErrWrong, q.name, p.ID, diff, size, tolerance)
		}
		if size > 0 {
			*worst = math.Max(*worst, diff/size)
		}
	}
	return nil
}
