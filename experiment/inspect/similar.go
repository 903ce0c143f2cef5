package inspect

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/belief"
	"example.com/kestrel/vbks/mixture"
)

// similarRows is the number of rows at which predictive means are compared.
const similarRows = 500

// Similarity is how alike the best kernels are, in two senses. Its matrices
// have a row and a column for each of IDs.
type Similarity struct {
	Evaluation int
	IDs        []string    // by rank
	Belief     [][]float64 // correlation of g under q(g): the paper's, which sees local ELBOs only
	Means      [][]float64 // correlation of the predictive means on common inputs
	Test       bool        // these are test rows, else training rows seen
	Rows       int         // their number
}

// Similarity compares the highest-ranked kernels; 0: all live ones.
func (i *Inspector) Similarity(ctx context.Context, top int) (*Similarity, error) {
	var live []*vbks.KernelResult
	for k := range i.trainer.Last().Kernels {
		if r := &i.trainer.Last().Kernels[k]; r.Status == vbks.Live {
			live = append(live, r)
		}
	}
	slices.SortFunc(live, func(a, b *vbks.KernelResult) int { return cmp.Compare(a.Rank, b.Rank) })
	if top > 0 && top < len(live) {
		live = live[:top]
	}
	s := &Similarity{Evaluation: i.Evaluation()}
	for _, k := range live {
		s.IDs = append(s.IDs, k.ID)
	}
	rows, test := i.common()
	rows = evenly(rows, similarRows)
	s.Test, s.Rows = test, len(rows)

	b := i.trainer.Belief()
	s.Belief = matrixOf(b.Correlation(), b.IDs, s.IDs)
	var p *mixture.Prediction
	err := i.ask(ctx, func(ctx context.Context) (err error) {
		p, err = i.trainer.Predict(ctx, i.subject.Scaler.X(i.subject.Data, rows), vbks.PredictOptions{IDs: s.IDs})
		return err
	})
	if err != nil {
		return nil, err
	}
	c, err := belief.MeanCorrelation(p.Mean)
	if err != nil {
		return nil, err
	}
	s.Means = matrixOf(c, p.IDs, s.IDs)
	return s, nil
}

// matrixOf returns the rows and columns of m, which are named, in another order.
func matrixOf(m *mat.SymDense, names, order []string) [][]float64 {
	at := make([]int, len(order))
	for i, id := range order {
		at[i] = slices.Index(names, id)
	}
	out := make([][]float64, len(order))
	for i := range out {
		for _, j := range at {
			out[i] = append(out[i], m.At(at[i], j))
		}
	}
	return out
}
