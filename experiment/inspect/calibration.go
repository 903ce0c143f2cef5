package inspect

import (
	"context"

	"example.com/kestrel/experiment/config"
)

// Calibration says how many of the rows held out lie within the intervals that
// were predicted for them.
type Calibration struct {
	Rows    int // that were predicted
	Of      int // held out; 0: none are, and nothing is known
	Methods []MethodCalibration
}

// MethodCalibration is the calibration of one method of prediction.
type MethodCalibration struct {
	Method string    // config.MethodAverage or MethodSingle
	Shares []float64 // of rows within the intervals of record.CoverageLevels
}

// Calibration predicts at most so many rows held out, evenly taken, by averaging
// and by the best kernel.
func (i *Inspector) Calibration(ctx context.Context, most int) (*Calibration, error) {
	rows, test := i.common()
	if !test {
		return &Calibration{}, nil
	}
	c := &Calibration{Of: len(rows)}
	rows = evenly(rows, most)
	c.Rows = len(rows)
	last := i.trainer.Last()
	for _, method := range []struct{ name, kernel string }{{config.MethodAverage, ""}, {config.MethodSingle, last.Kernels[last.Leader()].ID}} {
		p, err := i.predictRows(ctx, rows, method.kernel)
		if err != nil {
			return nil, err
		}
		var t tally
		if err := t.add(p.In(i.subject.Scaler), i.subject.Data.Targets(rows)); err != nil {
			return nil, err
		}
		shares := t.accuracy().Coverage
		c.Methods = append(c.Methods, MethodCalibration{Method: method.name, Shares: shares[:]})
	}
	return c, nil
}
