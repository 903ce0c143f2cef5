package inspect

import (
	"errors"
	"fmt"
	"io"
	"math"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/prepare"
)

// WriteBaseline writes what a baseline forecasts beyond the end of the run's series, which it learns
// from all rows, held out or not: the columns of Predictor.Write that it has, of observations.
func (p *Predictor) WriteBaseline(h datasets.Horizon, method string, q PredictQuery, to io.Writer) (rows int, label string, err error) {
	if p.run == nil {
		return 0, "", errors.New("a model file has no rows to forecast from by another method; name the run")
	}
	points, err := p.data.Beyond(h)
	if err != nil {
		return 0, "", err
	}
	n, dim := len(points.Rows), points.Dim
	at := make([]float64, n)
	for i := range at {
		at[i] = points.X[i*dim]
	}
	normals, label, err := prepare.Forecast(p.data, method, at)
	if err != nil {
		return 0, label, err
	}
	s := predictionSheet(p.data, false, false, &PredictQuery{JSON: q.JSON})
	s.columns = s.columns[:len(s.columns)-2] // none of a function
	s.columns = append(s.columns, "sd_y")
	for _, prob := range q.Quantiles {
		s.columns = append(s.columns, "y_q"+files.FormatFloat(prob))
	}
	r := s.rows()
	for i, normal := range normals {
		r.whole(i + 1)
		for c := range p.data.Inputs {
			r.value(&p.data.Inputs[c], points.X[i*dim+c])
		}
		r.number(normal.Mean)
		r.number(normal.SD)
		for _, prob := range q.Quantiles {
			r.number(normal.Mean + normal.SD*math.Sqrt2*math.Erfinv(2*prob-1))
		}
		r.endRow()
	}
	head, err := s.head()
	if err != nil {
		return 0, label, err
	}
	text, err := r.text()
	if err != nil {
		return 0, label, err
	}
	for _, part := range [][]byte{head, s.first(text), s.tail()} {
		if _, err := to.Write(part); err != nil {
			return 0, label, fmt.Errorf("writing predictions: %w", err)
		}
	}
	return n, label, nil
}
