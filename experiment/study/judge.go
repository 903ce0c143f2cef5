package study

import (
	"math"
	"slices"

	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/exact"
	"example.com/kestrel/vbks/params"
)

// judge knows the exact evidence of a run's kernels, of all training rows as they
// are standardised, with log p(θ) where the local ELBO has it.
type judge struct {
	*made
	rows *exact.Rows
}

// newJudge places the data of a run on one core.
func newJudge(m *made) (*judge, error) {
	s := m.job.Subject
	rows, err := exact.New(cpu.New(cpu.Options{Lanes: 1}), s.Train.X, s.Train.Y, s.Train.Dim, exact.Options{
		NoiseFloor: s.Settings.NoiseFloor,
		ThetaPrior: s.Settings.ThetaPrior || s.Settings.Hyperparameters != "point",
	})
	if err != nil {
		return nil, err
	}
	return &judge{m, rows}, nil
}

// kernel makes the i-th kernel of the space ready, laid out as the run has it.
func (j *judge) kernel(i int) (*exact.Kernel, *kernelspace.Program, error) {
	s := j.job.Subject
	p, err := s.Space[i].Program(s.Options())
	if err != nil {
		return nil, nil, err
	}
	k, err := j.rows.Kernel(p)
	return k, p, err
}

// fitted is the free vector of a fit of the i-th kernel.
func (j *judge) fitted(k *exact.Kernel, i int, f *record.Fit) []float64 {
	layout := j.job.Start.Kernels[i].Params
	raw := make([]float64, len(f.Params))
	for p, v := range f.Params {
		raw[p] = layout[p].Standardised(float64(v))
	}
	at := len(raw) - 1
	return k.Free(raw[:at], raw[at])
}

// generating is the free vector of the hyperparameters that the data were drawn
// with, as they are for the standardised data; nil if they cannot be laid out as
// those of p, or the targets are transformed. Where standardising shifts the data it is near them only.
func (j *judge) generating(k *exact.Kernel, p *kernelspace.Program) []float64 {
	d, s := j.job.Data, j.job.Scaler
	if !s.Transform.Identity() {
		return nil // it is not the process that was drawn from
	}
	e, err := kernelspace.Parse(j.job.Config.Data.Kernel)
	if err != nil || d.Dim != 1 {
		return nil
	}
	written, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
	if err != nil || len(d.Params) != len(written.Params) {
		return nil
	}
	raw := relaid(written, d.Params, p)
	if raw == nil {
		return nil
	}
	for i := range raw {
		v := raw[i]
		shift, scale := p.Affine(i, s.XShift, s.XScale, 1)
		switch p.Params[i].Name {
		case "origin": // a distance before 0, told as a place
			raw[i] = (-v - shift) / scale
		case "place":
			raw[i] = kernelspace.RawPlace((kernelspace.PlaceOf(v) - shift) / scale)
		default:
			raw[i] = (v - shift) / scale
		}
	}
	params.Tree(p).Amplify(raw, 1/(s.YScale*s.YScale))
	params.Settle(p, raw)
	// The noise is told in sds of the function.
	mean, square := 0.0, 0.0
	y := j.job.Subject.Train.Y
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		square += (v - mean) * (v - mean) / float64(len(y))
	}
	share := j.job.Config.Data.Noise * j.job.Config.Data.Noise
	return k.Free(raw, square*share/(1+share))
}

// relaid lays out raw parameters of a kernel as it was written like those of the
// same kernel as it is written in to; nil if they are not the same.
func relaid(from *kernelspace.Program, raw []float64, to *kernelspace.Program) []float64 {
	ours, theirs := params.Leaves(to), params.Leaves(from)
	if len(ours) != len(theirs) {
		return nil
	}
	out := make([]float64, len(to.Params))
	used := make([]bool, len(theirs))
	// Leaves of one base kernel may stand in any order: all are tried.
	var place func(i int) bool
	place = func(i int) bool {
		if i == len(ours) {
			return alike(from, raw, to, out)
		}
		a := ours[i]
		for t, b := range theirs {
			if used[t] || a.Op != b.Op || a.Degree != b.Degree || a.NumParams() != b.NumParams() {
				continue
			}
			used[t] = true
			copy(out[a.Off:], raw[b.Off:b.Off+b.NumParams()])
			if place(i + 1) {
				return true
			}
			used[t] = false
		}
		return false
	}
	if !place(0) {
		return nil
	}
	return out
}

// alike reports whether two kernels of one input agree at a few points.
func alike(p *kernelspace.Program, a []float64, q *kernelspace.Program, b []float64) bool {
	at := []float64{-7.3, -1.1, 0.4, 2.9, 8.6}
	for _, x := range at {
		for _, y := range at {
			v, w := p.Eval(a, []float64{x}, []float64{y}, false), q.Eval(b, []float64{x}, []float64{y}, false)
			if math.Abs(v-w) > 1e-9*(math.Abs(v)+math.Abs(w)) {
				return false
			}
		}
	}
	return true
}

// place is where a kernel stands in the space, −1 if it does not.
func (m *made) place(id string) int {
	return slices.IndexFunc(m.job.Start.Kernels, func(k record.KernelInfo) bool { return k.ID == id })
}
