package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"

	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/mixture"
	"example.com/kestrel/vbks/noise"
)

// OpenModel returns what predicts with a model file. Close must be called. Errors are
// those of modelfile.Open.
func OpenModel(path string) (*Predictor, error) {
	m, err := modelfile.Open(path)
	if err != nil {
		return nil, err
	}
	return NewModelPredictor(m)
}

// NewModelPredictor returns what predicts with a model. Several may have one model, and
// predict at once. Close must be called.
func NewModelPredictor(m *modelfile.Model) (*Predictor, error) {
	return newModelPredictor(m, cpu.NewTeam(runtime.GOMAXPROCS(0)))
}

// NewModelPredictors returns so many of them, which share the cores.
func NewModelPredictors(m *modelfile.Model, number int) ([]*Predictor, error) {
	team := cpu.NewTeam(runtime.GOMAXPROCS(0))
	var all []*Predictor
	for range number {
		p, err := newModelPredictor(m, team)
		if err != nil {
			for _, q := range all {
				err = errors.Join(err, q.Close())
			}
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func newModelPredictor(m *modelfile.Model, team *cpu.Team) (*Predictor, error) {
	lane, err := newModelLane(m, team)
	if err != nil {
		return nil, err
	}
	a := &m.About
	return &Predictor{
		lanes: []asked{lane}, team: team, of: m, data: m.Data, scaler: a.Scaler, weights: a.Weights, top: a.Top, evaluation: a.Evaluation,
		spec: a.Reading.Spec(),
	}, nil
}

// Fixed reports whether it is a model file, which learns from no more rows, and from how
// many it has; heldOut are those that it has not learned from.
func (p *Predictor) Fixed() (rows, heldOut int, ok bool) {
	if p.of == nil {
		return 0, 0, false
	}
	d := &p.of.About.Data
	if d.HeldOut {
		heldOut = d.Test
	}
	return d.Learned, heldOut, true
}

// checkModel returns an error for weights that the model does not have.
func (p *Predictor) checkModel(q *PredictQuery) error {
	of := vbks.PredictOptions{Weights: q.Weights}
	if q.Method != config.MethodAverage {
		of = vbks.PredictOptions{}
	}
	return p.of.Frozen.CheckOptions(of)
}

// instead opens the model file of a run whose data are not there any more, which err
// says; err is returned where it says something else or there is none.
func instead(dir string, err error) (*Predictor, error) {
	if !errors.Is(err, fs.ErrNotExist) { // data that have changed are to be put back
		return nil, err
	}
	d, openErr := inside.Open(dir)
	if openErr != nil {
		return nil, err
	}
	defer d.Close()
	f, openErr := d.Open(record.ModelFile)
	if openErr != nil {
		return nil, err
	}
	defer f.Close()
	m, readErr := modelfile.Read(f)
	if readErr != nil {
		return nil, fmt.Errorf("%w; its %s does not do either: %w", err, record.ModelFile, readErr)
	}
	p, modelErr := NewModelPredictor(m)
	if modelErr != nil {
		return nil, modelErr
	}
	p.note = fmt.Sprintf("its data are gone (%v); predicted with its %s, of evaluation %d", err, record.ModelFile,
		m.About.Evaluation)
	return p, nil
}

// modelLane predicts with a model on a device of its own.
type modelLane struct {
	of     *modelfile.Model
	dev    *cpu.Device
	thawed *vbks.Thawed
}

func newModelLane(m *modelfile.Model, team *cpu.Team) (*modelLane, error) {
	dev := cpu.New(cpu.Options{Lanes: 1, Team: team})
	t, err := m.Frozen.On(dev)
	if err != nil {
		dev.Close()
		return nil, err
	}
	return &modelLane{m, dev, t}, nil
}

func (l *modelLane) Close() error { return l.dev.Close() }

func (l *modelLane) kernels() int { return len(l.of.Frozen.Kernels) }

func (l *modelLane) average(ctx context.Context, x, noiseSD []float64, q *PredictQuery) (*mixture.Prediction, error) {
	return l.thawed.Predict(ctx, x, l.options(q, noiseSD))
}

// options says over which kernels to average.
func (l *modelLane) options(q *PredictQuery, noiseSD []float64) vbks.PredictOptions {
	if q.Method == config.MethodSingle {
		best := slices.MinFunc(l.of.Frozen.Kernels, func(a, b vbks.FrozenKernel) int { return cmp.Compare(a.Rank, b.Rank) })
		return vbks.PredictOptions{IDs: []string{best.Program.ID}, NoiseSD: noiseSD}
	}
	return vbks.PredictOptions{Top: q.Top, Weights: q.Weights, NoiseSD: noiseSD}
}

func (l *modelLane) components(ctx context.Context, id string, x []float64) ([]vbks.ComponentPrediction, error) {
	return l.thawed.Components(ctx, id, x)
}

func (l *modelLane) calibration(context.Context) (*vbks.Calibration, string, error) {
	return l.of.Frozen.Calibration, "", nil
}

func (l *modelLane) noise() *noise.Model { return l.of.Frozen.Noise }

// ModelOptions say what a model file is to hold.
type ModelOptions struct {
	MostFactors int  // numbers in factors where the training rows would do, vbks.MostFactors as a rule
	WithoutRows bool // no training rows, with what that costs; see vbks.Trainer.Freeze
}

// Kept returns the model file that predicts in the place of a run whose data are gone,
// or by itself; nil where there is none.
func (p *Predictor) Kept() *modelfile.Model { return p.of }

// Model returns the model of a run, of which start is how it began: what p predicts
// with. After Refit it is of all rows.
func (p *Predictor) Model(ctx context.Context, start *record.Start, o ModelOptions) (*modelfile.Model, error) {
	if p.run == nil {
		return nil, errors.New("it is a model file already")
	}
	i := p.run
	s := i.subject.Settings
	var m *modelfile.Model
	err := i.ask(ctx, func(ctx context.Context) error {
		f, err := i.trainer.Freeze(ctx, vbks.FreezeOptions{Top: s.Top, MostFactors: o.MostFactors, WithoutRows: o.WithoutRows})
		if err != nil {
			return err
		}
		of := modelfile.Of{Start: start, Columns: p.data.Template(), Scaler: p.scaler, Spec: p.spec, Settings: s}
		if p.refit != nil {
			of.Learned = i.trainer.Rows()
		}
		m, err = modelfile.New(of, i.trainer.Last(), f)
		return err
	})
	return m, err
}

// Difference says how far the predictions of two kinds lie apart at the most.
type Difference struct {
	Mean float64 // of f, in standard deviations of a new observation
	SD   float64 // of a new observation, as a ratio less 1
}

// ModelDifference compares a model's predictions with those of p, at the training rows,
// of which at most some are taken.
func (p *Predictor) ModelDifference(ctx context.Context, m *modelfile.Model) (Difference, error) {
	lane, err := newModelLane(m, cpu.NewTeam(runtime.GOMAXPROCS(0)))
	if err != nil {
		return Difference{}, err
	}
	defer lane.Close()
	x := p.run.subject.Train.X
	const most = 1000
	if rows := len(x) / p.data.Dim; rows > most {
		var some []float64
		for k := range most {
			at := k * rows / most * p.data.Dim
			some = append(some, x[at:at+p.data.Dim]...)
		}
		x = some
	}
	q := p.DefaultQuery()
	q.Weights, q.Top = m.About.Weights, m.About.Top
	was, err := p.run.average(ctx, x, nil, &q)
	if err != nil {
		return Difference{}, err
	}
	is, err := lane.average(ctx, x, nil, &q)
	if err != nil {
		return Difference{}, err
	}
	var d Difference
	for k := range was.Rows() {
		a, v := was.Moments(k, true)
		b, w := is.Moments(k, true)
		d.Mean = max(d.Mean, math.Abs(a-b)/math.Sqrt(v))
		d.SD = max(d.SD, math.Abs(math.Sqrt(w/v)-1))
	}
	return d, nil
}
