package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"kestrel/datasets"
	"kestrel/vbks"
)

// Predictor predicts with what the run in a directory had learned when it was
// last saved; the run may be over or still going on. It works on batches of
// rows, one for each core at a time. It is not safe for concurrent use.
type Predictor struct {
	lanes []*Inspector
	spec  datasets.Spec // how the run's table is written
}

// PredictQuery says with what to predict and what to write.
type PredictQuery struct {
	Method     string    // MethodAverage or MethodSingle
	Weights    string    // of the average: "posterior" or "bayes"
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
}

// OpenPredictor reads a run's checkpoint and its data. Close must be called.
// Errors are those of OpenInspector.
func OpenPredictor(ctx context.Context, dir string) (*Predictor, error) {
	i, err := OpenInspector(ctx, dir)
	if err != nil {
		return nil, err
	}
	c, err := LoadConfig(filepath.Join(dir, configFile), nil)
	if err != nil {
		i.Close()
		return nil, fmt.Errorf("run %q: %w", dir, err)
	}
	d := c.Data
	return &Predictor{
		lanes: []*Inspector{i},
		spec:  datasets.Spec{Header: d.Header, Delimiter: d.Delimiter, Missing: d.Missing},
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
	s := &p.lanes[0].settings
	return PredictQuery{Method: MethodAverage, Weights: s.Weights, Top: s.Top, Quantiles: []float64{0.05, 0.5, 0.95}}
}

// Unit returns the unit of the target, "" if it is not known.
func (p *Predictor) Unit() string { return p.lanes[0].data.Target.Unit }

// ReadPoints reads the inputs of the run from another table, which is written
// as the run's own was, or has a header to guess from. Errors name the file and
// the columns.
func (p *Predictor) ReadPoints(ctx context.Context, path string) (*datasets.Points, error) {
	spec := p.spec
	spec.Path = path
	return datasets.ReadPoints(ctx, spec, p.lanes[0].data)
}

// Check returns an error if the query cannot be asked of any run.
func (q *PredictQuery) Check() error {
	if q.Method != MethodAverage && q.Method != MethodSingle {
		return fmt.Errorf("unknown method %q of prediction; methods are %s, %s", q.Method, MethodAverage, MethodSingle)
	}
	if q.Weights != "posterior" && q.Weights != "bayes" {
		return fmt.Errorf("unknown weights %q; weights are posterior, bayes", q.Weights)
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
// the data. Memory does not grow with the number of points.
func (p *Predictor) Write(ctx context.Context, points *datasets.Points, q PredictQuery, predictions, components io.Writer) (*Predicted, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	d := p.lanes[0].data
	if points.Dim != d.Dim {
		return nil, fmt.Errorf("points of %d inputs for a run with %d", points.Dim, d.Dim)
	}
	if q.Components && components == nil {
		return nil, errors.New("there is nowhere to write the components to")
	}
	w := &predictionWriter{
		query: &q, points: points, predictions: predictions,
		table: predictionSheet(d, points, &q),
		done:  Predicted{Evaluation: p.lanes[0].Evaluation()},
	}
	if q.Components {
		w.components, w.parts = components, componentSheet(&q)
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	if err := p.batches(ctx, w); err != nil {
		return nil, err
	}
	if err := w.end(); err != nil {
		return nil, err
	}
	w.done.Accuracy = w.tally.accuracy(p.lanes[0].scaler.YScale)
	return &w.done, nil
}

// batches predicts batch by batch, on all lanes at once, and hands the results
// over in order.
func (p *Predictor) batches(ctx context.Context, w *predictionWriter) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	size := batchRows(len(p.lanes[0].trainer.Last().Kernels))
	n := len(w.points.Rows)
	if err := p.grow(ctx, min(runtime.GOMAXPROCS(0), (n+size-1)/size)); err != nil {
		return err
	}
	type answer struct {
		batch *predictedBatch
		err   error
	}
	type task struct {
		from, to int
		reply    chan answer
	}
	tasks := make(chan task)
	order := make(chan chan answer, len(p.lanes)) // bounds what waits to be written
	var group sync.WaitGroup
	for _, lane := range p.lanes {
		group.Go(func() {
			for t := range tasks {
				b, err := lane.predictBatch(ctx, w, t.from, t.to)
				t.reply <- answer{b, err}
			}
		})
	}
	group.Go(func() {
		defer close(order)
		defer close(tasks)
		for from := 0; from < n; from += size {
			t := task{from, min(from+size, n), make(chan answer, 1)}
			select {
			case order <- t.reply:
			case <-ctx.Done():
				return
			}
			tasks <- t // all of order are answered, so a lane comes for it
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
	return first
}

// grow makes inspectors of what the first one knows until there are so many.
func (p *Predictor) grow(ctx context.Context, lanes int) error {
	for len(p.lanes) < lanes {
		i, err := newInspector(ctx, p.lanes[0].subject, p.lanes[0].trainer.Checkpoint())
		if err != nil {
			return err
		}
		p.lanes = append(p.lanes, i)
	}
	return nil
}

// options says over which kernels to average.
func (i *Inspector) options(q *PredictQuery) vbks.PredictOptions {
	if q.Method == MethodSingle {
		last := i.trainer.Last()
		return vbks.PredictOptions{IDs: []string{last.Kernels[last.Leader()].ID}}
	}
	return vbks.PredictOptions{Top: q.Top, Weights: q.Weights}
}

// predictedBatch is some rows of the tables.
type predictedBatch struct {
	ids          []string
	weights      []float64
	rows         int
	table, parts []byte
	tally        tally
}

// predictBatch predicts the points from, …, to − 1.
func (i *Inspector) predictBatch(ctx context.Context, w *predictionWriter, from, to int) (*predictedBatch, error) {
	x := i.scaler.Inputs(w.points.X[from*i.data.Dim : to*i.data.Dim])
	var pred *vbks.Prediction
	err := i.ask(ctx, func(ctx context.Context) (err error) {
		pred, err = i.trainer.Predict(ctx, x, i.options(w.query))
		return err
	})
	if err == nil {
		err = pred.Check()
	}
	if err != nil {
		return nil, err
	}
	b := &predictedBatch{ids: pred.IDs, weights: pred.Weights, rows: to - from}
	if w.points.Y != nil {
		y := make([]float64, to-from)
		for k := range y {
			y[k] = i.scaler.Target(w.points.Y[from+k])
		}
		if err := b.tally.add(pred, y); err != nil {
			return nil, err
		}
	}
	if b.table, err = i.predictionRows(ctx, w, pred, from); err != nil {
		return nil, err
	}
	if w.components != nil {
		b.parts, err = i.componentRows(ctx, w, pred, x, from)
	}
	return b, err
}

// predictionRows fills the rows of the table of predictions.
func (i *Inspector) predictionRows(ctx context.Context, w *predictionWriter, p *vbks.Prediction, from int) ([]byte, error) {
	s := w.table.rows()
	for k := range p.Rows() {
		if k&0xff == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		at := from + k
		s.whole(int(w.points.Rows[at]) + 1)
		for j := range i.data.Inputs {
			s.value(&i.data.Inputs[j], w.points.X[at*i.data.Dim+j])
		}
		if w.points.Y != nil {
			s.number(w.points.Y[at])
		}
		mean, varF := p.Moments(k, false)
		_, varY := p.Moments(k, true)
		s.number(i.scaler.Mean(mean))
		s.number(i.scaler.SD(math.Sqrt(varF)))
		s.number(i.scaler.SD(math.Sqrt(varY)))
		for _, ofY := range []bool{false, true} {
			for _, prob := range w.query.Quantiles {
				s.number(i.scaler.Mean(p.Quantile(k, prob, ofY)))
			}
		}
		s.endRow()
	}
	return s.text()
}

// componentRows fills the rows of the table of components.
func (i *Inspector) componentRows(ctx context.Context, w *predictionWriter, p *vbks.Prediction, x []float64, from int) ([]byte, error) {
	kernels := make([][]vbks.ComponentPrediction, len(p.IDs))
	for k, id := range p.IDs {
		err := i.ask(ctx, func(ctx context.Context) (err error) {
			kernels[k], err = i.trainer.Components(ctx, id, x)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	s := w.parts.rows()
	for row := range p.Rows() {
		for k, id := range p.IDs {
			add := func(part int, component string, mean, sd float64) {
				s.whole(int(w.points.Rows[from+row]) + 1)
				s.word(id)
				s.number(p.Weights[k])
				s.whole(part)
				s.word(component)
				s.number(mean)
				s.number(sd)
				s.endRow()
			}
			for part, c := range kernels[k] {
				add(part+1, c.ID, i.scaler.SD(c.Mean[row]), i.scaler.SD(math.Sqrt(max(0, c.Var[row]))))
			}
			if shift := i.scaler.YShift; shift != 0 {
				add(len(kernels[k])+1, DataMean, shift, 0)
			}
		}
	}
	return s.text()
}
