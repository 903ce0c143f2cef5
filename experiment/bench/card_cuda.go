//go:build cuda

package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/proving"
	"example.com/kestrel/device/trial"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
)

// cardWork is what is timed on a card and on the CPU: steps of Adam, or the collapsed bound.
type cardWork struct{ work, kernels, step string }

func (w cardWork) String() string {
	if w.step == boundStep {
		return fmt.Sprintf("the bound of %s with %s", w.work, w.kernels)
	}
	return fmt.Sprintf("%s with %s", w.work, w.kernels)
}

// cardPlan is what a check of a card consists of.
type cardPlan struct {
	proving.Plan
	works   []cardWork
	seconds float64    // timed, of each
	runs    []cardWork // that are optimised and stopped
	unheard time.Duration
}

// wholeCardPlan times few and many kernels, since a card takes about as long for one as for twelve.
// Of c and e it times few only: with all of K144 a step takes the CPU seconds.
func wholeCardPlan() cardPlan {
	return cardPlan{proving.WholePlan(), []cardWork{
		{"a", "k12", "adam"}, {"a", "k144", "adam"}, {"b", "k12", "adam"}, {"b", "k144", "adam"}, {"c", "k12", "adam"},
		{"d", "k12", boundStep}, {"d", "k144", boundStep}, {"e", "k12", boundStep},
	}, 1, []cardWork{{"a", "k144", "adam"}, {"b", "k144", "adam"}, {"c", "k12", "adam"}, {"d", "k144", boundStep}, {"e", "k12", boundStep}},
		mostUnheard}
}

// CheckCards checks every card of this machine, telling each part that begins, and keeps what has
// come of it where it will be so again. Errors: there is no driver or no card; the context's cause.
// What is wrong with a card stands in its report.
func CheckCards(ctx context.Context, began func(part string)) ([]*CardReport, error) {
	return checkCards(ctx, wholeCardPlan(), began)
}

func checkCards(ctx context.Context, p cardPlan, began func(part string)) ([]*CardReport, error) {
	d, err := driver.Open()
	if err != nil {
		return nil, err
	}
	var reports []*CardReport
	for _, card := range d.Cards() {
		r, err := checkCard(ctx, d, card, p, began)
		if err != nil {
			return reports, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

func checkCard(ctx context.Context, d *driver.Driver, card driver.CardInfo, p cardPlan, began func(part string)) (*CardReport, error) {
	cores, err := prepare.OpenDevice(config.DeviceChoice{Kind: "cpu"})
	if err != nil {
		return nil, err
	}
	info := cores.Info()
	if err := cores.Close(); err != nil {
		return nil, err
	}
	r := &CardReport{Program: record.ReadBuild().String(), Card: card.String(), CPU: info.Name + "; " + info.Details, Peak: card.Peak() / 1e9}
	compiler := "no libnvrtc"
	if c, err := d.Compiler(); err == nil {
		compiler = "libnvrtc " + c.Version()
	}
	r.Details = fmt.Sprintf("%s, compute capability %d.%d, %d multiprocessors at %.2f GHz, FP64 at 1/%d of FP32, %.1f GiB, "+
		"%d KiB of shared memory for a block; driver for CUDA %s, %s",
		card.Name, card.Major, card.Minor, card.Multiprocessors, card.Clock/1e9, card.Ratio,
		float64(card.Memory)/(1<<30), card.SharedPerBlock>>10, d.Version(), compiler)
	if err := cuda.Fits(card); err != nil {
		r.Wrong = err.Error()
		return r, nil
	}
	parts, err := proving.Whole(ctx, d, card, p.Plan, began)
	if err != nil {
		return nil, err
	}
	if v, _ := proving.Judge(d, card, parts); v.Passed {
		measured, err := r.measure(ctx, card, p, began)
		if err != nil {
			return nil, err
		}
		parts = append(parts, measured...)
	}
	for _, part := range parts {
		out := CardPart{Name: part.Name, Found: part.Found, Seconds: part.Seconds}
		if part.Err != nil {
			out.Wrong = part.Err.Error()
		}
		r.Parts = append(r.Parts, out)
	}
	v, keep := proving.Judge(d, card, parts)
	r.Wrong, r.MayPass = v.Reason, !keep
	if v.Passed {
		for _, s := range r.Speeds {
			v.Speeds = append(v.Speeds, proving.Speed{
				Work: s.Work, Bound: s.Step == boundStep, Inducing: s.M, Kernels: s.Kernels, Card: s.Card, CPU: s.CPU,
			})
		}
	}
	if keep {
		if err := proving.Keep(d, card, v); err != nil {
			r.Notices = append(r.Notices, fmt.Sprintf("The result cannot be kept: %v", err))
		}
	}
	r.advise(card)
	return r, nil
}

// measure times steps and how a stop is heard, but not behind a part in which the card was lost or did
// not answer. The error is the context's cause.
func (r *CardReport) measure(ctx context.Context, card driver.CardInfo, p cardPlan, began func(part string)) ([]proving.Part, error) {
	open := opening(card)
	var parts []proving.Part
	for _, c := range []struct {
		name string
		run  func() (string, error)
	}{
		{"speed", func() (string, error) { return r.speeds(ctx, open, p) }},
		{"a stop", func() (string, error) { return r.waits(ctx, open, p) }},
		{"a stopped run", func() (string, error) { return r.stops(ctx, open, p) }},
	} {
		if began != nil {
			began(c.name)
		}
		part, at := proving.Part{Name: c.name}, time.Now()
		part.Found, part.Err = c.run()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		part.Seconds = time.Since(at).Seconds()
		parts = append(parts, part)
		if proving.Gone(part.Err) {
			break
		}
	}
	return parts, nil
}

// opening opens a card as often as it is called.
func opening(card driver.CardInfo) func() (device.Device, error) {
	return func() (device.Device, error) {
		dev, err := cuda.Open(cuda.Options{Cards: []int{card.Index}})
		if err != nil {
			return nil, err // not a nil *cuda.Device
		}
		return dev, nil
	}
}

// answer is what f, which asks a card, returns in time.
func answer[T any](ctx context.Context, p cardPlan, f func() (T, error)) (T, error) {
	var got, none T
	err := proving.Within(ctx, p.Within, func() (err error) {
		got, err = f()
		return err
	})
	if err != nil {
		return none, err // f may still be at work on what it got
	}
	return got, nil
}

// leaveOut notes a work for which a card has no memory: it is no worse for that at smaller ones.
func (r *CardReport) leaveOut(part string, w cardWork, err error) bool {
	if !errors.Is(err, device.ErrOutOfMemory) {
		return false
	}
	r.Notices = append(r.Notices, fmt.Sprintf("%s: %s is left out: %v", part, w, err))
	return true
}

func (r *CardReport) speeds(ctx context.Context, open func() (device.Device, error), p cardPlan) (string, error) {
	for _, w := range p.works {
		row, err := answer(ctx, p, func() (*Row, error) {
			return Run(ctx, Case{w.work, w.kernels, w.step, 1}, Options{Seconds: p.seconds, Open: open})
		})
		if r.leaveOut("speed", w, err) {
			continue
		}
		if err != nil {
			return "", err
		}
		cores, err := Run(ctx, Case{w.work, w.kernels, w.step, runtime.NumCPU()}, Options{Seconds: p.seconds, Device: "cpu"})
		if err != nil {
			return "", err
		}
		if !row.Finite && cores.Finite {
			return "", fmt.Errorf("%s: %w, not finite as the CPU's are", w, trial.ErrWrong)
		}
		s := CardSpeed{Work: w.work, Step: w.step, Kernels: row.K, M: row.M, B: row.B, N: row.N, Card: row.MsMin, CPU: cores.MsMin,
			GFLOPS: *row.GFLOPS}
		if r.Peak > 0 {
			share := s.GFLOPS / r.Peak
			s.Share = &share
		}
		r.Speeds = append(r.Speeds, s)
	}
	if len(r.Speeds) == 0 {
		return "none", nil
	}
	return "see below", nil
}

// lent lends f a card, for as long as an answer may take.
func lent[T any](ctx context.Context, p cardPlan, open func() (device.Device, error), f func(device.Device) (T, error)) (T, error) {
	return answer(ctx, p, func() (got T, err error) {
		dev, err := open()
		if err != nil {
			return got, err
		}
		defer func() {
			if e := dev.Close(); err == nil {
				err = e
			}
		}()
		return f(dev)
	})
}

// waits measures how a stop is heard in steps with all kernels of each size.
func (r *CardReport) waits(ctx context.Context, open func() (device.Device, error), p cardPlan) (string, error) {
	var found []string
	for _, w := range p.works {
		if w.step == boundStep {
			continue
		}
		waits, err := lent(ctx, p, open, func(dev device.Device) (Waits, error) {
			return MeasureWaits(ctx, dev, w.work, w.kernels, time.Duration(p.seconds*float64(time.Second)))
		})
		if r.leaveOut("a stop", w, err) {
			continue
		}
		if err != nil {
			return "", err
		}
		if late := waits.late(p.unheard); late != "" {
			return "", fmt.Errorf("%s, %s: %s", w.work, w.kernels, late)
		}
		found = append(found, fmt.Sprintf("%s %s %s", w.work, w.kernels, waits.Longest.Round(time.Millisecond)))
	}
	if len(found) == 0 {
		return "not measured", nil
	}
	return "heard within: " + strings.Join(found, ", "), nil
}

// stoppedSeconds is for how many times as long as it is timed a run is optimised and stopped.
const stoppedSeconds = 4

// stops measures in how long a run ends that is stopped.
func (r *CardReport) stops(ctx context.Context, open func() (device.Device, error), p cardPlan) (string, error) {
	var found []string
	for _, w := range p.runs {
		stops, err := lent(ctx, p, open, func(dev device.Device) (Stops, error) {
			limit := time.Duration(stoppedSeconds * p.seconds * float64(time.Second))
			return MeasureStops(ctx, dev, w.work, w.kernels, w.step == boundStep, limit)
		})
		if r.leaveOut("a stopped run", w, err) {
			continue
		}
		if err != nil {
			return "", err
		}
		if late := (Waits{stops.Longest, r.takes(w)}).late(p.unheard); late != "" {
			return "", fmt.Errorf("%s, in %q: %s", w, stops.During, late)
		}
		longest := stops.Longest.Round(time.Millisecond)
		found = append(found, fmt.Sprintf("%s %s (%d stops, that one in %q)", w, longest, stops.Times, stops.During))
	}
	if len(found) == 0 {
		return "not measured", nil
	}
	return "all has ended within: " + strings.Join(found, ", "), nil
}

// takes is what a step of a work was measured to take with the most kernels, 0 where it was not.
func (r *CardReport) takes(w cardWork) time.Duration {
	ms := 0.0
	for _, s := range r.Speeds {
		if s.Work == w.work && s.Step == w.step {
			ms = max(ms, s.Card)
		}
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// advise tells what to expect of a card.
func (r *CardReport) advise(card driver.CardInfo) {
	if card.Slow() {
		r.Notices = append(r.Notices, fmt.Sprintf("This card computes in double precision at 1/%d of its single precision.", card.Ratio))
	}
	if r.Wrong != "" {
		return
	}
	var slower []string
	for _, s := range r.Speeds {
		if s.Card > s.CPU {
			what := s.Work
			if s.Step == boundStep {
				what = "the bound of " + what
			}
			slower = append(slower, what+" with "+words.Count(s.Kernels, "kernel"))
		}
	}
	if len(slower) > 0 {
		r.Notices = append(r.Notices, "The CPU is faster at "+strings.Join(slower, ", ")+"; --device auto takes what is faster for a run's size.")
	}
}
