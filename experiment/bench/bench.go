package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/belief"
)

// Case is one combination to time.
type Case struct {
	Work    string `json:"work"`    // "a" to "e"
	Kernels string `json:"kernels"` // "one", "k12", "k144", or expressions separated by semicolons
	Step    string `json:"step"`    // "adam", "theta", "frozen", "posterior", "predict", "bound"
	Threads int    `json:"threads"` // lanes of the device
}

// DefaultCases are what is timed where nothing is asked for: every kind
// of work, in under a minute.
func DefaultCases(threads []int) ([]Case, error) {
	var cases []Case
	for _, c := range []struct {
		work           string
		kernels, steps []string
	}{
		{"a", []string{"one"}, []string{"adam"}},
		{"a", []string{"k12"}, []string{"adam", "theta", "frozen", "posterior"}},
		{"a", []string{"k144"}, []string{"adam", "posterior"}},
		{"b", []string{"one"}, []string{"adam", "theta", "frozen", "predict"}},
		{"c", []string{"one"}, []string{"adam", "theta", "frozen"}},
		{"d", []string{"one"}, []string{boundStep}},
		{"e", []string{"one"}, []string{boundStep}},
	} {
		some, err := Cases([]string{c.work}, c.kernels, c.steps, threads)
		if err != nil {
			return nil, err
		}
		cases = append(cases, some...)
	}
	return cases, nil
}

// Cases are all combinations of the values given. The posterior, which
// does not depend on the work, is timed for the first only, and not for a
// single kernel. Errors: an unknown value, which is named with those that are
// known; nothing left.
func Cases(works, kernels, steps []string, threads []int) ([]Case, error) {
	var cases []Case
	for i, work := range works {
		w, err := findBenchWork(work)
		if err != nil {
			return nil, err
		}
		for _, k := range kernels {
			exprs, err := w.kernels(k)
			if err != nil {
				return nil, err
			}
			for _, step := range steps {
				if err := checkBenchStep(step); err != nil {
					return nil, err
				}
				for _, n := range threads {
					if n < 1 {
						return nil, fmt.Errorf("--threads %d: must be at least 1", n)
					}
					if step != "posterior" || i == 0 && len(exprs) > 1 {
						cases = append(cases, Case{work, k, step, n})
					}
				}
			}
		}
	}
	if len(cases) == 0 {
		return nil, errors.New("--step posterior: one kernel has no posterior to fit; choose --kernels k12 or k144")
	}
	return cases, nil
}

// Options say how to time.
type Options struct {
	Device  string
	Open    func() (device.Device, error) // a device in the place of that one; nil: none
	Seconds float64                       // timed seconds of every case, after the warm-up
	Profile io.Writer                     // gets a CPU profile of the timed part; nil for none
}

// Row is what was measured. Times are milliseconds for one step of every
// kernel; operations are those of vbks.StepKind.Operations. What is not known
// is nil.
type Row struct {
	Case
	Device       string        `json:"device"`
	Level        string        `json:"level"`       // how the device computes, with its instruction set
	K            int           `json:"K"`           // kernels
	M            int           `json:"M,omitempty"` // inducing inputs
	B            int           `json:"B,omitempty"` // rows of a minibatch, or predicted
	N            int           `json:"N,omitempty"` // rows of the data
	MsMin        float64       `json:"ms_min"`
	MsMedian     float64       `json:"ms_median"`
	Steps        int           `json:"steps"`
	GFLOPS       *float64      `json:"gflops,omitempty"`      // at ms_min
	PeakGFLOPS   *float64      `json:"peak_gflops,omitempty"` // of all threads
	PeakFraction *float64      `json:"peak_fraction,omitempty"`
	Allocs       float64       `json:"allocs"` // heap allocations of a step; lists of many minibatches count in part
	ELBOStart    *files.Number `json:"elbo_start,omitempty"`
	ELBOEnd      *files.Number `json:"elbo_end,omitempty"`
	Finite       bool          `json:"finite"`
	Versions     record.Build  `json:"versions"`
}

// benchPeakTime is how long the peak is measured.
const benchPeakTime = 200 * time.Millisecond

// Run times one case.
func Run(ctx context.Context, c Case, o Options) (*Row, error) {
	w, err := findBenchWork(c.Work)
	if err != nil {
		return nil, err
	}
	exprs, err := w.kernels(c.Kernels)
	if err != nil {
		return nil, err
	}
	if err := checkBenchStep(c.Step); err != nil {
		return nil, err
	}
	if o.Open == nil {
		o.Open = func() (device.Device, error) {
			return prepare.OpenDevice(config.DeviceChoice{Kind: o.Device, Lanes: c.Threads})
		}
	}
	dev, err := o.Open()
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.Threads))
	info := dev.Info()
	row := &Row{Case: c, Device: info.Kind, Level: info.Details, K: len(exprs), Finite: true, Versions: record.ReadBuild()}
	if c.Step == "posterior" {
		refits, err := refitting(ctx, row.K)
		if err != nil {
			return nil, err
		}
		return row, row.time(ctx, o, refits)
	}
	kind := stepKind(c.Step)
	setup, err := w.setup(kind, exprs)
	if err != nil {
		return nil, err
	}
	if row.M, row.N = w.m, w.n; kind == vbks.StepBound {
		return row, row.bound(ctx, o, dev, setup)
	}
	b, err := vbks.NewStepBench(dev, setup)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	row.B = w.b
	if kind == vbks.StepPredict {
		row.B = benchPredicts
	}
	if row.ELBOStart, err = elboOf(b, w.b); err != nil {
		return nil, err
	}
	if err := row.time(ctx, o, b.Steps); err != nil {
		return nil, err
	}
	if row.ELBOEnd, err = elboOf(b, w.b); err != nil {
		return nil, err
	}
	if row.Finite, err = b.Finite(); err != nil {
		return nil, err
	}
	row.count(kind.Operations(row.M, row.B))
	return row, nil
}

// count says how many operations a second those of a step of one kernel come to.
func (r *Row) count(operations float64) {
	gflops := float64(r.K) * operations / r.MsMin / 1e6
	r.GFLOPS = &gflops
	if peak := simd.Best().Peak(benchPeakTime) * float64(r.Threads); r.Device == "cpu" && peak > 0 {
		fraction := gflops / peak
		r.PeakGFLOPS, r.PeakFraction = &peak, &fraction
	}
}

// bound times the collapsed bound with its gradient. Nothing moves in it: what the row has of an ELBO
// is the bound.
func (r *Row) bound(ctx context.Context, o Options, dev device.Device, setup vbks.StepSetup) error {
	b, err := vbks.NewBoundBench(dev, setup)
	if err != nil {
		return err
	}
	if err := r.time(ctx, o, b.Steps); err != nil {
		return err
	}
	v, finite := b.Value()
	n := files.Number(v)
	r.ELBOStart, r.ELBOEnd, r.Finite = &n, &n, finite
	r.count(vbks.StepBound.Operations(r.M, r.N))
	return nil
}

func stepKind(name string) vbks.StepKind {
	switch name {
	case "theta":
		return vbks.StepTheta
	case "frozen":
		return vbks.StepFrozen
	case "predict":
		return vbks.StepPredict
	case boundStep:
		return vbks.StepBound
	}
	return vbks.StepAdam
}

func elboOf(b *vbks.StepBench, rows int) (*files.Number, error) {
	v, err := b.ELBO(rows)
	n := files.Number(v)
	return &n, err
}

func (r *Row) time(ctx context.Context, o Options, run func(n int) error) error {
	t, err := timeSteps(ctx, o.Seconds, r.Threads, o.Profile, run)
	r.MsMin, r.MsMedian, r.Steps, r.Allocs = t.least, t.median, t.steps, t.allocs
	return err
}

// refitting is what the posterior's time is taken of: refits of the belief over
// k kernels from the last one, after all gaps between their local ELBOs have
// grown by a tenth. The gaps are made up: each kernel is 3 nats behind the one
// before.
func refitting(ctx context.Context, k int) (func(n int) error, error) {
	s := vbks.DefaultSettings()
	opts := belief.Options{PriorVariance: s.PriorVariance, EvidenceScale: s.EvidenceScale, Seed: s.Seed}
	ids, before, after := make([]string, k), make([]float64, k), make([]float64, k)
	for i := range ids {
		ids[i] = fmt.Sprintf("kernel %03d", i)
		before[i], after[i] = -3*float64(i), -3.3*float64(i)
	}
	last, err := belief.Fit(ctx, before, nil, opts, nil, "", ids)
	if err != nil {
		return nil, err
	}
	return func(n int) error {
		for range n {
			if _, err := belief.Fit(ctx, after, nil, opts, last, ids[0], ids); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
