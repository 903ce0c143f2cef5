package prepare

import (
	"errors"
	"fmt"
	"math"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// kernelInfo describes a kernel's hyperparameters and how they scale to the
// units of the data.
func (j *Job) kernelInfo(k vbks.Candidate) (record.KernelInfo, error) {
	columns := j.Subject.Columns
	p, err := k.Program(j.Subject.Options())
	if err != nil {
		// Below the name of the kernel stands that of the leaf, and the reason.
		if cause := errors.Unwrap(err); cause != nil {
			err = cause
		}
		return record.KernelInfo{}, fmt.Errorf("kernels: %w", err)
	}
	units := make([]string, len(columns))
	for i, in := range j.Data.Inputs {
		units[i] = in.Unit
	}
	info := record.KernelInfo{ID: p.ID, Name: k.Expr.String(), Weight: k.Weight}
	names := p.LeafNames()
	target := j.Scaler.Transform.Unit(j.Data.Target.Unit)
	for i, q := range p.Params {
		pi := record.ParamInfo{
			Name:   names[q.Leaf] + "." + q.Name,
			Unit:   p.Unit(i, units, target),
			Fixed:  !q.Free || i >= len(p.Own().Params),
			Stated: q.Known.How.String(),
		}
		pi.Shift, pi.Scale = p.Affine(i, j.Scaler.XShift, j.Scaler.XScale, j.Scaler.YScale)
		if q.Column >= 0 {
			pi.Column = columns[q.Column]
		}
		// It acts on columns of different scales, or its unit is beyond floats.
		if abs := math.Abs(pi.Scale); !(abs > 0) || math.IsInf(abs, 1) {
			pi.Unit, pi.Shift, pi.Scale = kernelspace.Standardised, 0, 1
			if pi.Place() {
				pi.Scale = -1
			}
		}
		info.Params = append(info.Params, pi)
	}
	noise := record.ParamInfo{Name: "noise_variance", Scale: j.Scaler.YScale * j.Scaler.YScale, Stated: p.Noise.How.String()}
	if target != "" {
		noise.Unit = target + "²"
	}
	info.Params = append(info.Params, noise)
	// A linear kernel is about the centre of the inputs.
	leaf := 0
	for i := range p.Instrs {
		in := &p.Instrs[i]
		if in.Op >= kernelspace.OpAdd {
			continue
		}
		if in.Op == kernelspace.OpLIN || in.Op == kernelspace.OpPoly {
			for _, c := range in.Cols {
				if shift := j.Scaler.XShift[c]; shift != 0 {
					info.Fixed = append(info.Fixed, record.Fixed{Name: names[leaf] + ".centre", Column: columns[c], Value: shift, Unit: units[c]})
				}
			}
		}
		leaf++
	}
	return info, nil
}
