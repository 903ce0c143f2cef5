package modelfile

import (
	"fmt"
	"slices"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Model is what a model file holds.
type Model struct {
	About  About             // columns, scaling, kernels, weights
	Frozen *vbks.Frozen      // what predicts, standardised
	Data   *datasets.Dataset // the columns, without rows
}

// Of is what a model says of a run besides what its kernels have learned.
type Of struct {
	Start    *record.Start // kernels whose parameters it describes, and the data
	Columns  *datasets.Template
	Scaler   *datasets.Scaler
	Spec     datasets.Spec // how the table is written
	Settings vbks.Settings
	Learned  int // rows; 0: those of the evaluation
}

// New is the model of what a run had learned at an evaluation.
func New(of Of, e *vbks.Evaluation, f *vbks.Frozen) (*Model, error) {
	start, s := of.Start, of.Settings
	d, err := of.Columns.Dataset()
	if err != nil {
		return nil, err
	}
	a := About{
		Build: record.ReadBuild(), Name: start.Name, Evaluation: e.Index, Weights: s.Weights, Top: s.Top,
		Data: Data{
			Name: start.Data.Name, SHA256: start.Data.SHA256, RowsRead: start.Data.RowsRead, Train: start.Data.Train, Test: start.Data.Test,
			SplitBy: start.Data.SplitBy, DroppedTarget: start.Data.DroppedTarget, DroppedInputs: start.Data.DroppedInputs,
			Learned: e.RowsSeen, HeldOut: start.Data.Test > 0, Notices: start.Data.Notices,
		},
		Reading: Reading{of.Spec.Header, of.Spec.Delimiter, of.Spec.Decimal, of.Spec.Missing},
		Columns: of.Columns, Scaler: of.Scaler, Jitter: Jitter{f.Jitter.Relative, f.Jitter.Absolute}, Root: rootPrecision,
		HasRows: f.Y != nil, Averaged: vbks.AveragedWeight, Least: vbks.Negligible, Temper: vbks.Tempering,
		ARD: s.ARD, SharedPeriod: s.SharedPeriod, Calibration: f.Calibration, Neighbours: f.Local, Noise: f.Noise,
	}
	if of.Learned > 0 {
		a.Data.Learned, a.Data.HeldOut = of.Learned, false
	}
	if f.ByRoot {
		a.Root = rootCovariance
	}
	for i := range f.Kernels {
		k := &f.Kernels[i]
		a.Line = k.Program.LineColumns()
		out := Kernel{
			ID: k.Program.ID, Name: k.Program.Own().Expr.String(), Rank: k.Rank, Posterior: k.Posterior, Bayes: k.Bayes, Worth: k.Worth, LOO: k.LOO,
			Origins: k.Origins, Factor: k.Factor, Program: steps(k.Program),
		}
		if at := slices.IndexFunc(start.Kernels, func(in record.KernelInfo) bool { return in.ID == out.ID }); at >= 0 {
			out.Params = start.Kernels[at].Params
		}
		a.Kernels = append(a.Kernels, out)
	}
	return &Model{a, f, d}, nil
}

// Inducing returns the number of inducing inputs.
func (m *Model) Inducing() int { return len(m.Frozen.Z) / m.Frozen.Dim }

// Holds says in words what of the training rows is in the file.
func (m *Model) Holds() string {
	switch n := m.Inducing(); {
	case m.About.HasRows:
		return fmt.Sprintf("the file holds the %d training rows, from which factors are found again", len(m.Frozen.Y))
	case n >= m.About.Data.Learned:
		return fmt.Sprintf("the inputs of the %d training rows are in the file, as its inducing inputs; their targets are not", n)
	}
	return "the file holds no training rows"
}
