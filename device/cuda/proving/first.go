//go:build cuda

package proving

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/kestrel/device/conformance"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/trial"
	"example.com/kestrel/internal/guard"
)

// Patience is how long the check before a first use may take. Compiling the library and
// three kernels takes some 25 s on a slow core, the rest a second.
const Patience = 2 * time.Minute

// ErrSilent is below the error where a card does not answer.
var ErrSilent = errors.New("no answer")

// three are the kernels of the check before a first use.
var three = []string{"SE", "PER*LIN", "RQ+LIN"}

// first are sizes of matrices on both sides of a panel of 64, two of them small enough for
// steps made at once; few enough steps to take a second.
var first = []trial.Steps{
	{Inducing: 16, Batch: 32, Rows: 300, Count: 5, Jitter: 1e-5},
	{Inducing: 5, Batch: 11, Rows: 300, Count: 5, Jitter: 1e-5, Priors: true},
	{Inducing: 16, Batch: 32, Rows: 300, Count: 9, Jitter: 1e-5, Priors: true, Natural: true},
	{Inducing: 80, Batch: 70, Rows: 300, Count: 1, Jitter: 1e-2},
}

// First checks a card before its first use, or returns what is kept of an earlier check: bits of
// generated code against the interpreter, objective, gradients and a few steps of three
// kernels against the CPU. A card that fails has a verdict with the reason. Such a
// verdict is kept where numbers are wrong or no answer comes within the time given;
// where the card or its driver fails, or memory is short, which may pass, it is not.
//
// Where no answer comes, the goroutine that waits for it is left behind, with the card:
// nothing ends a call into a driver.
func First(ctx context.Context, d *driver.Driver, card driver.CardInfo, patience time.Duration) Verdict {
	if v, ok := Kept(d, card); ok {
		return v
	}
	err := Within(ctx, patience, func() error { return checkFirst(ctx, card) })
	v := describe(d, card)
	if v.Passed = err == nil; err != nil {
		v.Reason = err.Error()
	}
	if err == nil || Lasting(err) {
		// A cache that cannot be written only costs the next first use its seconds.
		_ = Keep(d, card, v)
	}
	return v
}

// Lasting reports whether what is wrong would be so the next time: numbers are, or no answer comes.
// That a card is lost or its memory short may pass.
func Lasting(err error) bool {
	return errors.Is(err, trial.ErrWrong) || errors.Is(err, conformance.ErrWrong) || errors.Is(err, ErrSilent)
}

// Gone reports whether a card cannot be asked for anything any more.
func Gone(err error) bool { return errors.Is(err, driver.ErrLost) || errors.Is(err, ErrSilent) }

// Within runs f, and does not wait for it any longer than it may take: then the error wraps ErrSilent,
// and f goes on by itself.
func Within(ctx context.Context, patience time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- guard.Do(f) }()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("%w from the card within %s", ErrSilent, patience)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func checkFirst(ctx context.Context, card driver.CardInfo) error {
	programs, err := trial.Compile(1, three...)
	if err != nil {
		return err
	}
	if _, err := bits(card, trial.Matrices{Programs: programs, Rows: 40, Cols: 50}); err != nil {
		return err
	}
	return onCard(card, cuda.GenerateNever, func(dev *cuda.Device) error {
		reference := cpu.New(cpu.Options{Lanes: 1})
		for _, c := range first {
			c.Programs = programs
			if _, err := trial.Agree(ctx, dev, reference, c); err != nil {
				return fmt.Errorf("against the CPU: %w", err)
			}
		}
		return nil
	})
}

// onCard lends the card to f.
func onCard(card driver.CardInfo, g cuda.Generate, f func(*cuda.Device) error) (err error) {
	dev, err := cuda.Open(cuda.Options{Cards: []int{card.Index}, Generate: g})
	if err != nil {
		return err
	}
	defer func() {
		if e := dev.Close(); err == nil {
			err = e
		}
	}()
	return f(dev)
}

// bits compares what a run computes of kernels, by generated code where there is a compiler that
// takes it, with the interpreter. It returns what the device has to tell of that.
func bits(card driver.CardInfo, m trial.Matrices) (notices []string, err error) {
	var both [2]*trial.Computed
	for i, g := range []cuda.Generate{cuda.GenerateAuto, cuda.GenerateNever} {
		err := onCard(card, g, func(dev *cuda.Device) (err error) {
			both[i], err = m.Compute(dev)
			notices = append(notices, dev.Notices()...)
			return err
		})
		if err != nil {
			return notices, err
		}
	}
	if err := both[0].Same(both[1]); err != nil {
		return notices, fmt.Errorf("generated code and the interpreter: %w", err)
	}
	return notices, nil
}
