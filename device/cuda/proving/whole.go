//go:build cuda

package proving

import (
	"context"
	"fmt"
	"strings"
	"time"

	"example.com/kestrel/device/conformance"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/trial"
)

// Plan says what Whole checks.
type Plan struct {
	Space  string            // of the kernels that are compared with the CPU
	Steps  trial.Steps       // with it
	Sides  [2]int            // of the matrices whose bits are compared
	Forms  []string          // kernels in three columns of which all is generated
	Suite  func(string) bool // parts of the conformance suite
	Within time.Duration     // for each part; then the card is taken for dead
}

// WholePlan is what `devices --check` does: two minutes, and one more where the kernels
// must be compiled.
func WholePlan() Plan {
	return Plan{
		Space:  "K144",
		Steps:  trial.Steps{Inducing: 16, Batch: 32, Rows: 300, Count: 50, Jitter: 1e-5},
		Sides:  [2]int{96, 96}, // large enough that a run takes generated code
		Forms:  trial.Forms,
		Within: 10 * time.Minute,
	}
}

// Part is a part of the whole check.
type Part struct {
	Name    string
	Found   string // in a few words, where all is well
	Err     error
	Seconds float64
}

// Whole checks a card in parts, as it goes on telling each that begins. It ends after a part in
// which the card was lost or did not answer; what else is wrong does not keep it
// from going on. The error is the context's cause where that ends.
func Whole(ctx context.Context, d *driver.Driver, card driver.CardInfo, p Plan, began func(part string)) ([]Part, error) {
	var parts []Part
	for _, c := range []struct {
		name string
		run  func() (string, error)
	}{
		{"generated code against the interpreter", func() (string, error) { return p.generated(d, card) }},
		{"steps against the CPU", func() (string, error) { return p.agree(ctx, card) }},
		{"conformance suite", func() (string, error) { return p.suite(ctx, card) }},
		{"memory", func() (string, error) { return p.memory(card) }},
	} {
		if began != nil {
			began(c.name)
		}
		part, at := Part{Name: c.name}, time.Now()
		found := ""
		part.Err = Within(ctx, p.Within, func() (err error) {
			found, err = c.run()
			return err
		})
		if ctx.Err() != nil {
			return parts, context.Cause(ctx)
		}
		if part.Seconds = time.Since(at).Seconds(); part.Err == nil {
			part.Found = found
		}
		parts = append(parts, part)
		if Gone(part.Err) {
			break
		}
	}
	return parts, nil
}

// Judge makes a verdict of the parts of a whole check, and says whether to keep it: what would be so
// the next time, which is the reason ahead of what may pass.
func Judge(d *driver.Driver, card driver.CardInfo, parts []Part) (v Verdict, keep bool) {
	v = describe(d, card)
	v.Whole, v.Passed, keep = true, true, true
	for _, p := range parts {
		if p.Err == nil || !v.Passed && (keep || !Lasting(p.Err)) {
			continue
		}
		v.Passed, v.Reason, keep = false, fmt.Sprintf("%s: %v", p.Name, p.Err), Lasting(p.Err)
	}
	return v, keep
}

// generated compares the bits of all forms, and of the space in matrices so large that a run
// takes generated code, which it then finds compiled.
func (p *Plan) generated(d *driver.Driver, card driver.CardInfo) (string, error) {
	if _, err := d.Compiler(); err != nil {
		return "left out: there is no libnvrtc, and the interpreter computes all kernel matrices", nil
	}
	forms, err := trial.Compile(3, p.Forms...)
	if err != nil {
		return "", err
	}
	space, err := trial.Space(p.Space)
	if err != nil {
		return "", err
	}
	found := fmt.Sprintf("%d kernels of %s and %d in three columns: equal bits", len(space), p.Space, len(forms))
	for _, m := range []trial.Matrices{
		{Programs: forms, Rows: 40, Cols: 50},
		{Programs: space, Rows: p.Sides[0], Cols: p.Sides[1]},
	} {
		notices, err := bits(card, m)
		if err != nil {
			return "", err
		}
		found = strings.Join(append([]string{found}, notices...), "; ")
	}
	return found, nil
}

func (p *Plan) agree(ctx context.Context, card driver.CardInfo) (found string, err error) {
	c := p.Steps
	if c.Programs, err = trial.Space(p.Space); err != nil {
		return "", err
	}
	err = onCard(card, cuda.GenerateAuto, func(dev *cuda.Device) error {
		a, err := trial.Agree(ctx, dev, cpu.New(cpu.Options{Lanes: 1}), c)
		found = fmt.Sprintf("%s, %d steps: objective %.0e, gradients %.0e, in the end %.0e apart", p.Space, c.Count, a.Objective, a.Gradient,
			a.Stepped)
		if a.Leaps {
			found += fmt.Sprintf(", %.0e where they are made at once", a.AtOnce)
		}
		return err
	})
	return found, err
}

func (p *Plan) suite(ctx context.Context, card driver.CardInfo) (string, error) {
	parts := 0
	err := onCard(card, cuda.GenerateNever, func(dev *cuda.Device) error {
		return conformance.Check(ctx, dev, p.Suite, func(string) { parts++ })
	})
	return fmt.Sprintf("%d parts", parts), err
}

func (p *Plan) memory(card driver.CardInfo) (string, error) {
	var filled uint64
	err := onCard(card, cuda.GenerateNever, func(dev *cuda.Device) (err error) {
		filled, err = trial.Memory(dev)
		return err
	})
	return fmt.Sprintf("%.1f of %.1f GiB filled and read back", float64(filled)/(1<<30), float64(card.Memory)/(1<<30)), err
}
