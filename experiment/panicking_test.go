package experiment_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/internal/must"
)

// panickyPoints panics at one of its batches.
type panickyPoints struct {
	dim, left int
}

func (p *panickyPoints) HasTarget() bool { return false }

func (p *panickyPoints) Next(_ context.Context, most int) (*datasets.Points, error) {
	switch p.left--; {
	case p.left == 0:
		panic("reading is broken")
	case p.left == 1: // too few inputs for what it says
		return &datasets.Points{Dim: p.dim, X: []float64{}, Rows: []int32{1}}, nil
	}
	return &datasets.Points{Dim: p.dim, X: make([]float64, p.dim), Rows: []int32{1}}, nil
}

// A panic on the goroutines that read and predict is an error of the prediction.
func TestPanicWhilePredicting(t *testing.T) {
	_, c := configtest.MaskedData(t)
	run := filepath.Join(t.TempDir(), "run")
	if _, end := runtest.In(t, c, run); end.State != record.Finished {
		t.Fatal(end.Reason)
	}
	p, err := inspect.OpenPredictor(t.Context(), run)
	must.OK(t, err)
	defer func() { must.OK(t, p.Close()) }()
	for left, where := range map[int]string{1: "panickyPoints", 4: "predict"} {
		_, err := p.Write(t.Context(), &panickyPoints{1, left}, p.DefaultQuery(), io.Discard, nil)
		var mistake *guard.PanicError
		if !errors.As(err, &mistake) || !strings.Contains(string(mistake.Stack), where) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: %v", left, err)
		}
	}
}
