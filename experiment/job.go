package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"kestrel/datasets"
	"kestrel/device"
	"kestrel/kernelspace"
	"kestrel/vbks"
)

// Job is a run made ready: the data loaded, the kernels compiled and placed on
// the device. All that can be wrong with what the user asked for has been
// found.
type Job struct {
	Config  Config // resolved
	Data    *datasets.Dataset
	Scaler  *datasets.Scaler
	Start   *Start
	Notices []string

	dev     device.Device
	subject *subject
	trainer trainer
	test    testSet
	learned map[string]vbks.Tensor // a checkpoint that the trainer begins with; nil: it begins anew
}

// trainer is what a Run needs of vbks.Trainer.
type trainer interface {
	SetGate(func(context.Context) error)
	SetProgress(func(vbks.Progress))
	Next(context.Context) (*vbks.Evaluation, error)
	Done() bool
	Planned() int
	Inducing() int
	Last() *vbks.Evaluation
	Prune(ids []string) (*vbks.Evaluation, error)
	Restore(ids []string) (*vbks.Evaluation, error)
	Reoptimize(vbks.Change) error
	Predict(ctx context.Context, x []float64, o vbks.PredictOptions) (*vbks.Prediction, error)
	Checkpoint() map[string]vbks.Tensor
}

var _ trainer = (*vbks.Trainer)(nil)

// changedFile is a file of the data that is not the one that a config means.
type changedFile struct{ path, key, was, is string }

func (e *changedFile) Error() string {
	return fmt.Sprintf("%s: its sha256 is %s, not %s = %q; the file has changed, remove the key to use it all the same", e.path, e.is, e.key, e.was)
}

// LoadData loads the data of a config and fits their standardisation.
func LoadData(ctx context.Context, c *Config) (*datasets.Dataset, *datasets.Scaler, error) {
	d, err := datasets.Load(ctx, c.Data)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range []changedFile{{d.Path, "data.sha256", c.SHA256, d.SHA256}, {d.Mask, "data.mask_sha256", c.MaskSHA256, d.MaskSHA256}} {
		if f.was != "" && f.is != "" && f.was != f.is {
			return nil, nil, &f
		}
	}
	s, err := datasets.NewScaler(d, c.Data.StandardiseX, c.Data.StandardiseY)
	if err != nil {
		return nil, nil, err
	}
	return d, s, nil
}

// settleData puts into a config which files its data have been read from, so that
// it says the same in any working directory, and what they held.
func (c *Config) settleData(d *datasets.Dataset) {
	if d.Source == "synthetic" {
		return
	}
	c.Data.Path, c.SHA256 = absolute(d.Path), d.SHA256
	if d.Mask != "" {
		c.MaskSHA256 = d.MaskSHA256
	}
	for _, file := range []struct {
		key   *string
		found string
	}{{&c.Data.Mask, d.Mask}, {&c.Data.Locations, d.Locations}} {
		if *file.key != "" && file.found != "" {
			*file.key = absolute(file.found)
		}
	}
}

// Prepare loads and compiles what a config asks for. Its errors are the user's
// to mend.
func Prepare(ctx context.Context, c Config) (*Job, error) { return prepareFrom(ctx, c, nil) }

// prepareFrom is Prepare for a trainer that begins with a checkpoint, if that is
// not nil.
func prepareFrom(ctx context.Context, c Config, learned map[string]vbks.Tensor) (*Job, error) {
	space, err := c.Kernels.Candidates()
	if err != nil {
		return nil, err
	}
	dev, notice, err := openDevice(c.Device)
	if err != nil {
		return nil, err
	}
	j := &Job{Config: c, dev: dev, learned: learned}
	if notice != "" {
		j.Notices = append(j.Notices, notice)
	}
	if err := j.prepare(ctx, space); err != nil {
		dev.Close()
		return nil, err
	}
	return j, nil
}

func (j *Job) prepare(ctx context.Context, space []vbks.Candidate) error {
	var err error
	if j.Data, j.Scaler, err = LoadData(ctx, &j.Config); err != nil {
		return err
	}
	c, d := &j.Config, j.Data
	c.settleData(d)
	s := newSubject(c, d, j.Scaler, space)
	j.subject = s
	var kernels []KernelInfo
	for _, k := range space {
		ki, err := j.kernelInfo(k, s.columns)
		if err != nil {
			return err
		}
		kernels = append(kernels, ki)
	}
	t, err := j.newTrainer(ctx)
	if err != nil {
		return err
	}
	j.trainer = t
	c.Settings.Optimizer = t.Settings().Optimizer
	rows := d.Test
	j.test = testSet{
		x: j.Scaler.X(d, rows), y: j.Scaler.Y(d, rows), dim: d.Dim, scale: j.Scaler.YScale, most: c.MetricRows,
	}
	info := j.dev.Info()
	summary := datasets.Describe(d, j.Scaler)
	if n := d.Dropped.Target + d.Dropped.Inputs; n > 0 {
		j.Notices = append(j.Notices, fmt.Sprintf("%d of %d rows are left out: %d for a missing target, %d for a missing input",
			n, d.Rows, d.Dropped.Target, d.Dropped.Inputs))
	}
	j.Notices = append(j.Notices, summary.Notices...)
	j.Start = &Start{
		Name: c.Name, Seed: c.Settings.Seed, Config: c.TOML(), Build: ReadBuild(),
		Device: fmt.Sprintf("%s (%s)", info.Kind, info.Name), DeviceKind: info.Kind, Lanes: info.Lanes,
		Data: summary, Inducing: t.Inducing(), Planned: t.Planned(), Kernels: kernels,
	}
	return nil
}

// newTrainer makes the trainer of the subject, at its beginning or as it was
// saved.
func (j *Job) newTrainer(ctx context.Context) (*vbks.Trainer, error) {
	s := j.subject
	if j.learned == nil {
		return vbks.New(ctx, j.dev, s.train, s.space, s.columns, s.settings)
	}
	return vbks.Resume(ctx, j.dev, s.train, s.space, s.columns, s.settings, j.learned)
}

// subject is what a trainer is made of. It is not changed once it is made.
type subject struct {
	data     *datasets.Dataset
	scaler   *datasets.Scaler
	columns  []string
	space    []vbks.Candidate
	train    vbks.Training
	settings vbks.Settings
	ranges   func() []ColumnInfo // of the inputs, then the target
}

func newSubject(c *Config, d *datasets.Dataset, scaler *datasets.Scaler, space []vbks.Candidate) *subject {
	s := &subject{data: d, scaler: scaler, space: space, settings: c.Settings}
	s.settings.TimeBudget = 0 // the Run keeps it, pauses taken off
	for _, in := range d.Inputs {
		s.columns = append(s.columns, in.Name)
	}
	s.train = vbks.Training{X: scaler.X(d, d.Train), Y: scaler.Y(d, d.Train), Dim: d.Dim}
	s.ranges = sync.OnceValue(func() []ColumnInfo { return columnInfos(d) })
	return s
}

// Close gives the device back.
func (j *Job) Close() error { return j.dev.Close() }

// kernelInfo describes a kernel's hyperparameters and how they scale to the
// units of the data.
func (j *Job) kernelInfo(k vbks.Candidate, columns []string) (KernelInfo, error) {
	p, err := kernelspace.Compile(k.Expr.Canonical(), kernelspace.Options{
		Columns: columns, Dim: len(columns), ARD: j.Config.Settings.ARD, SharedPeriod: j.Config.Settings.SharedPeriod,
	})
	if err != nil {
		// Below the name of the kernel stands that of the leaf, and the reason.
		if cause := errors.Unwrap(err); cause != nil {
			err = cause
		}
		return KernelInfo{}, fmt.Errorf("kernels: %w", err)
	}
	units := make([]string, len(columns))
	for i, in := range j.Data.Inputs {
		units[i] = in.Unit
	}
	info := KernelInfo{ID: p.ID, Name: k.Expr.String(), Weight: k.Weight}
	names := leafNames(p)
	for i, q := range p.Params {
		pi := ParamInfo{
			Name:  names[q.Leaf] + "." + q.Name,
			Unit:  p.Unit(i, units, j.Data.Target.Unit),
			Scale: p.Scale(i, j.Scaler.XScale, j.Scaler.YScale),
			Fixed: !q.Free,
		}
		if q.Column >= 0 {
			pi.Column = columns[q.Column]
		}
		// It acts on columns of different scales, or its unit is beyond floats.
		if !(pi.Scale > 0) || math.IsInf(pi.Scale, 1) {
			pi.Unit, pi.Scale = kernelspace.Standardised, 1
		}
		info.Params = append(info.Params, pi)
	}
	noise := ParamInfo{Name: "noise_variance", Scale: j.Scaler.YScale * j.Scaler.YScale}
	if u := j.Data.Target.Unit; u != "" {
		noise.Unit = u + "²"
	}
	info.Params = append(info.Params, noise)
	// A linear kernel is about the centre of the inputs.
	leaf := 0
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if in.Op >= kernelspace.OpAdd {
			continue
		}
		if in.Op == kernelspace.OpLIN || in.Op == kernelspace.OpPoly {
			for _, c := range in.Cols {
				if shift := j.Scaler.XShift[c]; shift != 0 {
					info.Fixed = append(info.Fixed, Fixed{Name: names[leaf] + ".centre", Column: columns[c], Value: shift, Unit: units[c]})
				}
			}
		}
		leaf++
	}
	return info, nil
}

// leafNames names the leaves of a program: "PER", or "PER#1" and "PER#2" where
// a base kernel appears more than once.
func leafNames(p *kernelspace.Program) []string {
	var bases []string
	count := map[string]int{}
	for _, q := range p.Params {
		if q.Leaf == len(bases) {
			bases = append(bases, q.Base)
			count[q.Base]++
		}
	}
	seen := map[string]int{}
	for i, b := range bases {
		if count[b] > 1 {
			seen[b]++
			bases[i] = fmt.Sprintf("%s#%d", b, seen[b])
		}
	}
	return bases
}
