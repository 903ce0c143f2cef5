package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"slices"

	"example.com/kestrel/experiment/inspect"
)

// question is the body of POST /predict.
type question struct {
	Rows       []json.RawMessage `json:"rows"`      // objects, by the names of columns
	Quantiles  []float64         `json:"quantiles"` // each in (0, 1)
	Intervals  []float64         `json:"intervals"` // central ones, by their probability: their ends are quantiles, too
	Method     string            `json:"method"`
	Weights    string            `json:"weights"`
	Top        int               `json:"top"`
	Samples    int               `json:"samples"` // joint draws
	Seed       uint64            `json:"seed"`    // of them
	Covariance bool              `json:"covariance"`
}

// answer is what comes back.
type answer struct {
	Evaluation int             `json:"evaluation"`
	Kernels    []string        `json:"kernels"` // averaged, best first
	Weights    []float64       `json:"weights"` // of them
	Rows       json.RawMessage `json:"rows"`    // as predict --format json has them
	Samples    json.RawMessage `json:"samples,omitempty"`
	Covariance json.RawMessage `json:"covariance,omitempty"`
	Dropped    int             `json:"dropped"` // rows without an input
	Notices    []string        `json:"notices,omitempty"`
}

// mostNumbers is how many numbers an answer has at the most.
const mostNumbers = 1_000_000

// read reads a question.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (*question, error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" { // which no page sends unasked
		return nil, refuse(http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	}
	q := s.asked
	q.Quantiles = slices.Clone(q.Quantiles)
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, s.Bytes))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return nil, refuse(http.StatusBadRequest, "the question cannot be read: %w", err)
	}
	for _, level := range q.Intervals {
		for _, prob := range []float64{(1 - level) / 2, (1 + level) / 2} {
			if prob = math.Round(prob*1e12) / 1e12; !slices.Contains(q.Quantiles, prob) {
				q.Quantiles = append(q.Quantiles, prob)
			}
		}
	}
	n, each := len(q.Rows), float64(2*len(q.Quantiles)+q.Samples)
	if q.Covariance {
		each += float64(n)
	}
	switch {
	case n == 0:
		return nil, refuse(http.StatusBadRequest, `there are no rows; for example {"rows":[{"x":1.5}]}`)
	case n > s.Rows:
		return nil, refuse(http.StatusRequestEntityTooLarge, "%d rows are more than %d; ask in parts", n, s.Rows)
	case q.Samples < 0 || float64(n)*each > mostNumbers:
		return nil, refuse(http.StatusBadRequest, "quantiles, samples and covariance are at most %d numbers, of all rows", mostNumbers)
	}
	return &q, nil
}

// predict answers POST /predict.
func (s *Server) predict(w http.ResponseWriter, r *http.Request) (any, error) {
	select {
	case s.hand <- struct{}{}:
		defer func() { <-s.hand }()
	default:
		return nil, refuse(http.StatusServiceUnavailable, "%d questions are in hand; ask again later", cap(s.hand))
	}
	q, err := s.read(w, r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.Time)
	defer cancel()
	select {
	case p := <-s.predictors:
		defer func() { s.predictors <- p }()
		return q.ask(ctx, p)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask has a predictor answer.
func (q *question) ask(ctx context.Context, p *inspect.Predictor) (*answer, error) {
	query := inspect.PredictQuery{Method: q.Method, Weights: q.Weights, Top: q.Top, Quantiles: q.Quantiles, JSON: true}
	err := p.Check(&query)
	var lines, rows, samples, covariance bytes.Buffer
	for _, row := range q.Rows {
		err = errors.Join(err, json.Compact(&lines, row))
		lines.WriteByte('\n')
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "%w", err)
	}
	points, err := p.ReadPoints(&lines, "rows")
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "%w", err)
	}
	defer points.Close()
	from, joint := inspect.PointSource(points), q.Samples > 0 || q.Covariance
	if joint {
		if from, err = p.Hold(ctx, points); err != nil {
			return nil, refuse(http.StatusBadRequest, "%w", err)
		}
	}
	done, err := p.Write(ctx, from, query, &rows, nil)
	if err != nil && err == points.Err() {
		err = refuse(http.StatusBadRequest, "%w", err)
	}
	if err == nil && joint {
		to := []io.Writer{&samples, &covariance}
		if q.Samples == 0 {
			to = to[1:]
		}
		err = p.WriteJoint(ctx, from.(*inspect.Held), query, inspect.JointQuery{Samples: q.Samples, Seed: q.Seed, Covariance: q.Covariance}, to)
	}
	if err != nil {
		return nil, err
	}
	return &answer{done.Evaluation, done.IDs, done.Weights, rows.Bytes(), samples.Bytes(), covariance.Bytes(), points.Dropped(),
		points.Notices()}, nil
}
