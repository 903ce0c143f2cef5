package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"example.com/kestrel/datasets"
	"example.com/kestrel/datasets/quote"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/mixture"
	"example.com/kestrel/vbks/noise"
)

// Predictor predicts with what the run in a directory had learned when it was
// last saved; the run may be over or still going on. It works on batches of
// rows, one for each core at a time; cores without one help with the others. It is not
// safe for concurrent use.
type Predictor struct {
	lanes      []asked
	team       *cpu.Team         // the cores that lanes share
	data       *datasets.Dataset // of a model file without its rows
	scaler     *datasets.Scaler
	spec       datasets.Spec // how the run's table is written
	weights    string
	top        int
	evaluation int
	of         *modelfile.Model // nil: a run
	note       string           // what the user should know of where it comes from
	run        *Inspector       // that of the run; nil of a model file
	refit      *vbks.Trainer    // what lanes are twins of; nil: they have what the run has learned
}

// asked is what knows the kernels, on a lane of its own.
type asked interface {
	// kernels counts those that may be averaged over.
	kernels() int
	// average predicts at standardised points, of whose noise standard deviations may be
	// known, components what each part of a kernel contributes there.
	average(ctx context.Context, x, noiseSD []float64, q *PredictQuery) (*mixture.Prediction, error)
	components(ctx context.Context, id string, x []float64) ([]vbks.ComponentPrediction, error)
	// calibration is what standard deviations are multiplied by; nil: nothing, and why it
	// is nothing although the run asks for it.
	calibration(ctx context.Context) (c *vbks.Calibration, why string, err error)
	// noise is how that of rows differs; nil: it does not.
	noise() *noise.Model
	Close() error
}

// PredictQuery says with what to predict and what to write.
type PredictQuery struct {
	Method     string    // MethodAverage or MethodSingle
	Weights    string    // of the average: one of vbks.WeightNames
	Top        int       // kernels averaged, the highest-ranked ones; 0: all
	Quantiles  []float64 // each in (0, 1), none twice
	Components bool      // additive components of every kernel, too
	JSON       bool      // an array of objects, else CSV
}

// Predicted says what has been predicted.
type Predicted struct {
	Evaluation int
	IDs        []string  // the kernels used, best first
	Weights    []float64 // of them
	Rows       int
	Accuracy   Accuracy // on the rows that have a target

	Calibration  *vbks.Calibration // of the standard deviations; nil: none
	Uncalibrated string            // why there is none although the run asks for it; else ""
	Noise        string            // what is not known of the noise of the rows; "": nothing
}

// OpenPredictor reads a run's checkpoint and its data. Close must be called. Where the
// data are gone the run's model file takes their place, if it has one.
// Errors are those of Open.
func OpenPredictor(ctx context.Context, dir string) (*Predictor, error) {
	return OpenPredictorWith(ctx, dir, "")
}

// OpenPredictorWith is OpenPredictor for a run whose table is at another path now; "":
// where it was.
func OpenPredictorWith(ctx context.Context, dir, table string) (*Predictor, error) {
	team := cpu.NewTeam(runtime.GOMAXPROCS(0))
	i, err := open(ctx, dir, table, team)
	if err != nil {
		return instead(dir, err)
	}
	c, err := config.LoadInside(dir, record.ConfigFile)
	if err != nil {
		i.Close()
		return nil, fmt.Errorf("run %q: %w", dir, err)
	}
	d, s := c.Data, &i.subject.Settings
	return &Predictor{
		lanes: []asked{i}, team: team, run: i, data: i.subject.Data, scaler: i.subject.Scaler, weights: i.trainer.Weights(s.Weights), top: s.Top,
		evaluation: i.Evaluation(),
		spec:       datasets.Spec{Header: d.Header, Delimiter: d.Delimiter, Decimal: d.Decimal, Missing: d.Missing},
	}, nil
}

// Close gives the memory back.
func (p *Predictor) Close() error {
	var first error
	for _, i := range p.lanes {
		if err := i.Close(); first == nil {
			first = err
		}
	}
	return first
}

// DefaultQuery is what the run's config says of predictions, with the median
// and the ends of the 90 % interval.
func (p *Predictor) DefaultQuery() PredictQuery {
	return PredictQuery{Method: config.MethodAverage, Weights: p.weights, Top: p.top, Quantiles: []float64{0.05, 0.5, 0.95}}
}

// Note is what the user should know of where the predictions come from, "" if there is
// nothing.
func (p *Predictor) Note() string { return p.note }

// Unit returns the unit of the target, "" if it is not known.
func (p *Predictor) Unit() string { return p.data.Target.Unit }

// Transformed names the target as the run has learned it, and reports whether that
// is a transform of it.
func (p *Predictor) Transformed() (name string, ok bool) {
	t := p.scaler.Transform
	return t.Of(p.data.Target.Name), !t.Identity()
}

// PointSource is where points to predict at come from, in the units of the data.
type PointSource interface {
	// Next returns so many points, fewer only if these are the last, and io.EOF
	// behind them.
	Next(ctx context.Context, most int) (*datasets.Points, error)
	// HasTarget reports whether they have targets, too.
	HasTarget() bool
}

// OpenPoints opens a table with the inputs of the run, which is written as the
// run's own was, or has a header to guess from. Errors name the file and the
// columns. The reader must be closed.
func (p *Predictor) OpenPoints(ctx context.Context, path string) (*datasets.PointReader, error) {
	spec := p.spec
	spec.Path = path
	return datasets.OpenPoints(ctx, spec, p.data)
}

// ReadPoints is OpenPoints of rows that are there already, as datasets.ReadPoints has
// them.
func (p *Predictor) ReadPoints(in io.Reader, name string) (*datasets.PointReader, error) {
	return datasets.ReadPoints(in, name, p.spec, p.data)
}

// Check returns an error if the query cannot be asked of any run.
func (q *PredictQuery) Check() error {
	if q.Method != config.MethodAverage && q.Method != config.MethodSingle {
		return fmt.Errorf("unknown method %q of prediction; methods are %s, %s", q.Method, config.MethodAverage, config.MethodSingle)
	}
	if !slices.Contains(vbks.WeightNames(), q.Weights) {
		return fmt.Errorf("unknown weights %q; weights are %s", q.Weights, strings.Join(vbks.WeightNames(), ", "))
	}
	if q.Top < 0 {
		return fmt.Errorf("%d kernels to average; 0 stands for all", q.Top)
	}
	for i, prob := range q.Quantiles {
		if !(prob > 0 && prob < 1) {
			return fmt.Errorf("quantile %v is not between 0 and 1", prob)
		}
		if slices.Contains(q.Quantiles[:i], prob) {
			return fmt.Errorf("quantile %v is asked for twice", prob)
		}
	}
	return nil
}

// Check returns an error if the query cannot be asked of the run.
func (p *Predictor) Check(q *PredictQuery) error {
	if err := q.Check(); err != nil {
		return err
	}
	if p.run == nil {
		return p.checkModel(q)
	}
	if t := p.run.trainer; q.Method == config.MethodAverage && t.Weights(q.Weights) != q.Weights {
		s := t.Settings()
		return fmt.Errorf("weights %q leave rows out in closed form, which needs optimise.optimizer = \"collapsed\" and point estimates; "+
			"this run has %q and hyperparameters = %q: choose other weights, such as %q", q.Weights, s.Optimizer, s.Hyperparameters,
			t.Weights(q.Weights))
	}
	return nil
}

// Batches are as many rows as kernels' means and variances fit into batchBytes:
// large, since each one costs the collapsed bound a pass over the training rows
// for every kernel, but bounded.
const (
	batchBytes            = 16 << 20
	leastBatch, mostBatch = 1 << 10, 1 << 15
)

// batchRows is the number of rows that are predicted at once with so many
// kernels.
func batchRows(kernels int) int {
	return min(max(batchBytes/(16*max(1, kernels)), leastBatch), mostBatch)
}

// Write predicts at points and writes a table of the predictions, one row for
// each point in the order of the file, and, where they are asked for, one of the
// components, one row for each point, kernel and component. The columns are
// those of predictionSheet and componentSheet; all numbers are in the units of
// the data, those of components in the transformed target's. Points are asked for as they are needed, so that memory does not grow
// with their number; an error of theirs is returned as it is, after what was
// predicted for those before it has been written.
func (p *Predictor) Write(ctx context.Context, points PointSource, q PredictQuery, predictions, components io.Writer) (*Predicted, error) {
	if err := p.Check(&q); err != nil {
		return nil, err
	}
	if q.Components && components == nil {
		return nil, errors.New("there is nowhere to write the components to")
	}
	_, transformed := p.Transformed()
	w := &predictionWriter{
		query: &q, predictions: predictions,
		table: predictionSheet(p.data, points.HasTarget(), transformed, &q),
		done:  Predicted{Evaluation: p.evaluation},
	}
	if q.Components {
		w.components, w.parts = components, componentSheet(&q)
	}
	var err error
	if w.done.Calibration, w.done.Uncalibrated, err = p.lanes[0].calibration(ctx); err != nil { // the other lanes take it over
		return nil, err
	}
	if err := p.batches(ctx, w, points); err != nil {
		return nil, err
	}
	if m := p.lanes[0].noise(); m != nil && m.Unit > 0 && w.usual > 0 {
		rows := "all rows"
		if w.usual < w.done.Rows {
			rows = words.Count(w.usual, "row")
		}
		w.done.Noise = fmt.Sprintf("the noise of %s is taken to be as large as is usual in the training rows, whose standard deviations "+
			"were known (data.noise_column); a column %s tells it", rows, quote.Text(p.data.NoiseIn))
	}
	if err := w.end(); err != nil {
		return nil, err
	}
	w.done.Accuracy = w.tally.accuracy()
	return &w.done, nil
}

// batches predicts batch by batch, on as many lanes at once as there are cores
// and batches, and hands the results over in order. A batch is read when there is
// room for it.
func (p *Predictor) batches(ctx context.Context, w *predictionWriter, points PointSource) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lanes, size := runtime.GOMAXPROCS(0), batchRows(p.lanes[0].kernels())
	var learned map[string]vbks.Tensor
	if p.refit == nil && p.run != nil {
		learned = p.run.trainer.Checkpoint() // no lane is at work yet
	}
	type answer struct {
		batch *predictedBatch
		err   error
	}
	type task struct {
		points *datasets.Points
		reply  chan answer
	}
	tasks := make(chan task)
	order := make(chan chan answer, lanes) // bounds what waits to be written
	var group sync.WaitGroup
	work := func(lane asked) {
		for t := range tasks {
			var a answer
			a.err = guard.Do(func() (err error) {
				a.batch, err = p.predictBatch(ctx, lane, w, t.points)
				return err
			})
			t.reply <- a
		}
	}
	group.Go(func() {
		defer close(order)
		defer close(tasks)
		for n := 0; ; n++ {
			reply := make(chan answer, 1)
			select {
			case order <- reply:
			case <-ctx.Done():
				return
			}
			var next *datasets.Points
			err := guard.Do(func() (err error) {
				next, err = points.Next(ctx, size)
				if err == nil && n < lanes {
					var lane asked
					if lane, err = p.lane(ctx, n, learned); err == nil {
						group.Go(func() { work(lane) })
					}
				}
				return err
			})
			if err != nil {
				reply <- answer{nil, err}
				return
			}
			tasks <- task{next, reply} // all of order are answered, so a lane comes for it
		}
	})
	var first error
	for reply := range order {
		a := <-reply
		if first == nil {
			if first = a.err; first == nil {
				first = w.write(a.batch)
			}
			if first != nil {
				cancel(first)
			}
		}
	}
	group.Wait()
	if first == nil && ctx.Err() != nil {
		first = context.Cause(ctx)
	}
	if first == io.EOF {
		return nil
	}
	return first
}

// lane returns lane n, counted from 0, of which there are n at least: another
// one of what the first one knows.
func (p *Predictor) lane(ctx context.Context, n int, learned map[string]vbks.Tensor) (asked, error) {
	if n == len(p.lanes) {
		var i asked
		var err error
		switch {
		case p.of != nil:
			i, err = newModelLane(p.of, p.team)
		case p.refit != nil:
			i, err = twin(p.run.subject, p.refit, p.team)
		default:
			i, err = newInspector(ctx, p.run.subject, learned, p.team)
		}
		if err != nil {
			return nil, err
		}
		p.lanes = append(p.lanes, i)
	}
	return p.lanes[n], nil
}

// options says over which kernels to average.
func (i *Inspector) options(q *PredictQuery, noiseSD []float64) vbks.PredictOptions {
	if q.Method == config.MethodSingle {
		last := i.trainer.Last()
		return vbks.PredictOptions{IDs: []string{last.Kernels[last.Leader()].ID}, NoiseSD: noiseSD}
	}
	return vbks.PredictOptions{Top: q.Top, Weights: q.Weights, NoiseSD: noiseSD}
}

func (i *Inspector) kernels() int { return len(i.trainer.Last().Kernels) }

func (i *Inspector) average(ctx context.Context, x, noiseSD []float64, q *PredictQuery) (pred *mixture.Prediction, err error) {
	err = i.ask(ctx, func(ctx context.Context) (err error) {
		pred, err = i.trainer.Predict(ctx, x, i.options(q, noiseSD))
		return err
	})
	return pred, err
}

func (i *Inspector) components(ctx context.Context, id string, x []float64) (parts []vbks.ComponentPrediction, err error) {
	err = i.ask(ctx, func(ctx context.Context) (err error) {
		parts, err = i.trainer.Components(ctx, id, x)
		return err
	})
	return parts, err
}

func (i *Inspector) calibration(ctx context.Context) (c *vbks.Calibration, why string, err error) {
	err = i.ask(ctx, func(ctx context.Context) (err error) {
		c, err = i.trainer.Calibrate(ctx)
		why = i.trainer.Uncalibrated()
		return err
	})
	return c, why, err
}

func (i *Inspector) noise() *noise.Model { return i.trainer.Last().Noise }

// predictedBatch is some rows of the tables.
type predictedBatch struct {
	ids          []string
	weights      []float64
	rows         int
	usual        int // of them, whose noise is not known
	table, parts []byte
	tally        tally
}

// predictBatch predicts at points.
func (p *Predictor) predictBatch(
	ctx context.Context, lane asked, w *predictionWriter, points *datasets.Points,
) (*predictedBatch, error) {
	if points.Dim != p.data.Dim {
		return nil, fmt.Errorf("points of %d inputs for a run with %d", points.Dim, p.data.Dim)
	}
	x := p.scaler.Inputs(points.X)
	pred, err := lane.average(ctx, x, points.NoiseSD, w.query)
	if err == nil {
		err = pred.Check()
	}
	if err != nil {
		return nil, err
	}
	b := &predictedBatch{ids: pred.IDs, weights: pred.Weights, rows: len(points.Rows)}
	for k := range b.rows {
		if points.NoiseSD == nil || points.NoiseSD[k] == 0 {
			b.usual++
		}
	}
	if points.Y != nil {
		if err := b.tally.add(pred.In(p.scaler), points.Y); err != nil {
			return nil, err
		}
	}
	if b.table, err = p.predictionRows(ctx, w, pred, points); err != nil {
		return nil, err
	}
	if w.components != nil {
		b.parts, err = p.componentRows(ctx, lane, w, pred, x, points)
	}
	return b, err
}

// predictionRows fills the rows of the table of predictions.
func (p *Predictor) predictionRows(
	ctx context.Context, w *predictionWriter, pred *mixture.Prediction, points *datasets.Points,
) ([]byte, error) {
	s := w.table.rows()
	mapped := pred.In(p.scaler)
	for k := range pred.Rows() {
		if k&0xff == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s.whole(int(points.Rows[k]) + 1)
		for j := range p.data.Inputs {
			s.value(&p.data.Inputs[j], points.X[k*p.data.Dim+j])
		}
		if points.Y != nil {
			s.number(points.Y[k])
		}
		mean, sdY := mapped.Moments(k, true)
		_, sdF := mapped.Moments(k, false)
		s.number(mean)
		s.number(sdF)
		s.number(sdY)
		if _, linear := mapped.Units.Linear(); !linear {
			s.number(mapped.Quantile(k, 0.5, true))
		}
		for _, ofY := range []bool{false, true} {
			for _, prob := range w.query.Quantiles {
				s.number(mapped.Quantile(k, prob, ofY))
			}
		}
		s.endRow()
	}
	return s.text()
}

// componentRows fills the rows of the table of components.
func (p *Predictor) componentRows(
	ctx context.Context, lane asked, w *predictionWriter, pred *mixture.Prediction, x []float64, points *datasets.Points,
) ([]byte, error) {
	kernels := make([][]vbks.ComponentPrediction, len(pred.IDs))
	for k, id := range pred.IDs {
		var err error
		if kernels[k], err = lane.components(ctx, id, x); err != nil {
			return nil, err
		}
	}
	s := w.parts.rows()
	for row := range pred.Rows() {
		for k, id := range pred.IDs {
			add := func(part int, component string, mean, sd float64) {
				s.whole(int(points.Rows[row]) + 1)
				s.word(id)
				s.number(pred.Weights[k])
				s.whole(part)
				s.word(component)
				s.number(mean)
				s.number(sd)
				s.endRow()
			}
			for part, c := range kernels[k] {
				add(part+1, c.ID, p.scaler.SD(c.Mean[row]), p.scaler.SD(math.Sqrt(max(0, c.Var[row]))))
			}
			if shift := p.scaler.YShift; shift != 0 {
				add(len(kernels[k])+1, DataMean, shift, 0)
			}
		}
	}
	return s.text()
}
