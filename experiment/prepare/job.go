package prepare

import (
	"context"
	"fmt"
	"runtime"

	"example.com/kestrel/datasets"
	"example.com/kestrel/device"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/mixture"
)

// Job is a run made ready: the data loaded, the kernels compiled and placed on
// the device. All that can be wrong with what the user asked for has been
// found.
type Job struct {
	Config  config.Config     // resolved
	Data    *datasets.Dataset // without its rows where the config is Unasked
	Scaler  *datasets.Scaler
	Columns *datasets.Template // of the data
	Start   *record.Start
	Info    func(vbks.Candidate) (record.KernelInfo, error) // describes a kernel
	Notices []string

	dev     device.Device
	Subject *Subject // nil where the config is Unasked
	Trainer Trainer
	Test    TestSet
	Marks   *datasets.Marks // of the rows of a table; nil of other data
	past    Past
	given   *datasets.Dataset // in the place of those that the config names; nil: none
}

// Trainer is what a Run needs of vbks.Trainer.
type Trainer interface {
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
	Predict(ctx context.Context, x []float64, o vbks.PredictOptions) (*mixture.Prediction, error)
	Checkpoint() map[string]vbks.Tensor
}

var _ Trainer = (*vbks.Trainer)(nil)

// Prepare loads and compiles what a config asks for. Its errors are the user's
// to mend.
func Prepare(ctx context.Context, c config.Config) (*Job, error) { return PrepareFrom(ctx, c, Past{}) }

// Past is what a trainer has behind it that begins.
type Past struct {
	Learned map[string]vbks.Tensor        // a checkpoint; nil: it begins anew
	Begin   int                           // training rows that there are then, the first ones; 0: all
	Check   func(*datasets.Dataset) error // of the data, before anything is made of them; nil: none
}

// PrepareFrom is Prepare for a trainer that has a past.
func PrepareFrom(ctx context.Context, c config.Config, p Past) (*Job, error) {
	return prepareJob(ctx, c, p, nil)
}

// PrepareData is Prepare for data that have been loaded, in the place of those that the
// config names. The job changes them where the config is Unasked.
func PrepareData(ctx context.Context, c config.Config, d *datasets.Dataset) (*Job, error) {
	return prepareJob(ctx, c, Past{}, d)
}

func prepareJob(ctx context.Context, c config.Config, past Past, given *datasets.Dataset) (*Job, error) {
	if _, err := c.Kernels.Candidates(); err != nil {
		return nil, err
	}
	j := &Job{Config: c, past: past, given: given}
	if err := j.prepare(ctx); err != nil {
		if j.dev != nil {
			j.dev.Close()
		}
		return nil, err
	}
	return j, nil
}

// open makes the device, which is chosen by what there is to do.
func (j *Job) open(ctx context.Context, kernels int) error {
	c := &j.Config
	dev, notice, err := openDevice(ctx, c.Device, loadOf(c, kernels, len(j.Data.Train)))
	if err == nil {
		dev, notice, err = forWeights(c, dev, notice)
	}
	if err != nil {
		return err
	}
	if j.dev = dev; notice != "" {
		j.Notices = append(j.Notices, notice)
	}
	return nil
}

func (j *Job) prepare(ctx context.Context) error {
	var err error
	if j.Data = j.given; j.Data == nil {
		j.Data, j.Scaler, err = LoadSettled(ctx, &j.Config)
	} else if _, err = settle(ctx, &j.Config, j.Data); err == nil {
		j.Scaler, err = datasets.NewScaler(j.Data, j.Config.Data)
	}
	if err == nil && j.past.Check != nil {
		err = j.past.Check(j.Data)
	}
	if err != nil {
		return err
	}
	// What reading and standardising leave behind is as large as the data, and has no
	// pointers: collected in milliseconds, it makes room for the next copy.
	runtime.GC()
	c, d := &j.Config, j.Data
	space, err := c.Kernels.Candidates() // which the data may have decided
	if err != nil {
		return err
	}
	if err := j.open(ctx, len(space)); err != nil {
		return err
	}
	summary := datasets.Describe(d, j.Scaler)
	s, err := NewSubject(c, d, j.Scaler, space)
	if err != nil {
		return err
	}
	j.Subject = s
	j.Info = j.kernelInfo(s)
	var kernels []record.KernelInfo
	for _, k := range s.Space {
		ki, err := j.Info(k)
		if err != nil {
			return err
		}
		kernels = append(kernels, ki)
	}
	if s.Settings.Room, err = room(c, space, len(d.Train), d.Dim, j.dev.Info().Lanes); err != nil {
		return err
	}
	rows, train, base := d.Test, len(d.Train), baselines(d)
	j.Test = TestSet{
		X: j.Scaler.X(d, rows), Y: d.Targets(rows), Dim: d.Dim, Units: j.Scaler, Most: c.MetricRows,
		NoiseSD: d.NoiseOf(rows),
	}
	j.Test.Percent = percentages(base, j.Test.Y)
	j.Columns = d.Template()
	if d.Source == "csv" && j.given == nil {
		j.Marks = d.Marks()
	}
	if c.Unasked { // a million rows need not be held twice
		d.X, d.Y, d.Train, d.Test = nil, nil, nil, nil
		j.Subject = nil
		runtime.GC()
	}
	t, err := j.newTrainer(ctx, s)
	if err != nil {
		return err
	}
	j.Trainer = t
	c.Settings.Optimizer = t.Settings().Optimizer
	info := j.dev.Info()
	if n := d.Dropped.Target + d.Dropped.Inputs; n > 0 {
		j.Notices = append(j.Notices, fmt.Sprintf("%d of %s %s left out: %d for a missing target, %d for a missing input",
			n, words.Count(d.Rows, "row"), words.Are(n), d.Dropped.Target, d.Dropped.Inputs))
	}
	if target := summary.Columns[len(summary.Columns)-1].Name; d.Source == "csv" && c.Data.Target == "" && len(summary.Columns) > 2 {
		j.Notices = append(j.Notices, fmt.Sprintf("explains %s, the last column; --target NAME explains another", target))
	}
	j.Notices = append(j.Notices, summary.Notices...)
	cost, err := checkpointNotice(c, len(space), train)
	if err != nil {
		return err
	}
	if cost != "" {
		j.Notices = append(j.Notices, cost)
	}
	j.Start = &record.Start{
		Name: c.Name, Seed: c.Settings.Seed, Config: c.TOML(), Build: record.ReadBuild(),
		Device: fmt.Sprintf("%s (%s)", info.Kind, info.Name), DeviceKind: info.Kind, Lanes: info.Lanes,
		Data: summary, Inducing: t.Inducing(), Planned: t.Planned(), Kernels: kernels, Baselines: base,
		Grows: c.Settings.Growth.On,
	}
	return nil
}

// newTrainer makes the trainer of a subject, at its beginning or as it was saved.
func (j *Job) newTrainer(ctx context.Context, s *Subject) (*vbks.Trainer, error) {
	train := s.Train
	train.Begin = j.past.Begin
	if j.past.Learned == nil {
		return vbks.New(ctx, j.dev, train, s.Space, s.Columns, s.Settings)
	}
	return vbks.Resume(ctx, j.dev, train, s.Space, s.Columns, s.Settings, j.past.Learned)
}

// MoveTable says that the table has moved since it was read.
func (j *Job) MoveTable(path string) {
	j.Data.Path, j.Config.Data.Path = path, files.Absolute(path)
	start := *j.Start
	data := *start.Data
	start.Config, start.Data, data.Path = j.Config.TOML(), &data, path
	j.Start = &start
}

// Device describes where the job computes.
func (j *Job) Device() device.Info { return j.dev.Info() }

// Close gives the device back.
func (j *Job) Close() error { return j.dev.Close() }
