package inspect

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"example.com/kestrel/datasets"
	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/mixture"
)

// Solved is a run's best kernels at their hyperparameters, and what they were found on.
type Solved struct {
	Data    *datasets.Dataset
	Scaler  *datasets.Scaler
	Spec    datasets.Spec
	Rows    []int32   // of Data, learned from
	X, Y    []float64 // these rows, standardised
	Z       []float64 // inducing inputs
	Jitter  device.Jitter
	Kernels []SolvedKernel
}

// SolvedKernel is one of them.
type SolvedKernel struct {
	Program *kernelspace.Program
	Theta   []float64 // raw, standardised
	Noise   float64   // σ_n²
	Weight  float64   // of these kernels by q*, sum 1
	Z       []float64 // inducing inputs of its own, standardised; nil: those of all
}

// OpenSolved reads the so many highest-ranked kernels of a run, whose table may be at
// another path now; "": where it was. Errors are those of Open.
func OpenSolved(ctx context.Context, dir, table string, top int) (*Solved, error) {
	i, err := OpenWith(ctx, dir, table)
	if err != nil {
		return nil, err
	}
	defer i.Close()
	c, err := config.LoadInside(dir, record.ConfigFile)
	if err != nil {
		return nil, err
	}
	e, s := i.trainer.Last(), &i.subject.Settings
	if e.Noise != nil {
		return nil, errors.New(
			"its rows have weights (outliers, or noise that differs), which a script cannot say; a model file can (kestrel model)")
	}
	live := slices.DeleteFunc(slices.Clone(e.Kernels), func(k vbks.KernelResult) bool { return k.Status != vbks.Live })
	slices.SortFunc(live, func(a, b vbks.KernelResult) int { return cmp.Compare(a.Rank, b.Rank) })
	out := &Solved{
		Data: i.subject.Data, Scaler: i.subject.Scaler, Spec: c.Data, Rows: i.seen(), Z: i.trainer.Inputs(), Jitter: s.Jitter,
	}
	out.X, out.Y = i.subject.Scaler.X(out.Data, out.Rows), i.subject.Scaler.Y(out.Data, out.Rows)
	total := 0.0
	for _, k := range live[:min(top, len(live))] {
		p, theta, noise, err := i.trainer.Solution(k.ID)
		if err != nil {
			return nil, err
		}
		out.Kernels = append(out.Kernels, SolvedKernel{p, theta, noise, k.Posterior, i.trainer.OwnInputs(k.ID)})
		total += k.Posterior
	}
	for j := range out.Kernels {
		if total > 0 {
			out.Kernels[j].Weight /= total
		} else {
			out.Kernels[j].Weight = 1 / float64(len(out.Kernels))
		}
	}
	return out, nil
}

// Predict predicts with a kernel at standardised points, by the run's inducing inputs.
func (s *Solved) Predict(k *SolvedKernel, x []float64) (*mixture.Prediction, error) {
	f := &vbks.Frozen{Dim: s.Data.Dim, Z: s.Z, Jitter: s.Jitter, X: s.X, Y: s.Y, Kernels: []vbks.FrozenKernel{{
		Program: k.Program, Rank: 1, Posterior: 1, Factor: 1, Z: k.Z, States: []vbks.FrozenState{{Theta: k.Theta, Noise: k.Noise, Share: 1}},
	}}}
	dev := cpu.New(cpu.Options{Lanes: 1})
	defer dev.Close()
	t, err := f.On(dev)
	if err != nil {
		return nil, err
	}
	return t.Predict(context.Background(), x, vbks.PredictOptions{})
}
