package prepare

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// kernelInfo returns what describes a kernel's hyperparameters and how they scale to the
// units of the data. It keeps no rows.
func (j *Job) kernelInfo(s *Subject) func(vbks.Candidate) (record.KernelInfo, error) {
	options, inputs, target, scaler := s.Options(), j.Data.Inputs, j.Data.Target, j.Scaler
	return func(k vbks.Candidate) (record.KernelInfo, error) { return describe(k, options, inputs, target, scaler) }
}

// unitOf is the unit of a hyperparameter. One that is per unit of an input has the target in it, by
// its name where it has no unit: 1/day would be wrong.
func unitOf(p *kernelspace.Program, i int, inputs []string, target, name string) string {
	unit := p.Unit(i, inputs, target)
	if target != "" || !strings.Contains(unit, "/") {
		return unit
	}
	if name == "" || utf8.RuneCountInString(name) > longestUnit {
		name = "target"
	}
	return p.Unit(i, inputs, name)
}

// longestUnit is the longest name of a target that stands for its unit.
const longestUnit = 16

// levelName is how a level of a column is called; v has been standardised and back.
func levelName(in *datasets.Column, v float64) string {
	if in.Levels != nil {
		return in.Format(math.Round(v))
	}
	return strconv.FormatFloat(v, 'g', 12, 64)
}

func describe(
	k vbks.Candidate, options kernelspace.Options, inputs []datasets.Column, y datasets.Column, scaler *datasets.Scaler,
) (record.KernelInfo, error) {
	columns := options.Columns
	p, err := k.Program(options)
	if err != nil {
		// Below the name of the kernel stands that of the leaf, and the reason.
		if cause := errors.Unwrap(err); cause != nil {
			err = cause
		}
		return record.KernelInfo{}, fmt.Errorf("kernels: %w", err)
	}
	units := make([]string, len(columns))
	for i, in := range inputs {
		units[i] = in.Unit
	}
	info := record.KernelInfo{ID: p.ID, Name: k.Expr.String(), Weight: k.Weight}
	names := p.LeafNames()
	target := scaler.Transform.Unit(y.Unit)
	for i, q := range p.Params {
		pi := record.ParamInfo{
			Name:   names[q.Leaf] + "." + q.Name,
			Unit:   unitOf(p, i, units, target, y.Name),
			Fixed:  !q.Free || i >= len(p.Own().Params),
			Stated: q.Known.How.String(),
		}
		if q.Level > 0 {
			pi.Name += "(" + levelName(&inputs[q.Column], scaler.InputBack(q.Column, p.Level(i))) + ")"
		}
		pi.Shift, pi.Scale = p.Affine(i, scaler.XShift, scaler.XScale, scaler.YScale)
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
	noise := record.ParamInfo{Name: "noise_variance", Scale: scaler.YScale * scaler.YScale, Stated: p.Noise.How.String()}
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
				if shift := scaler.XShift[c]; shift != 0 {
					info.Fixed = append(info.Fixed, record.Fixed{Name: names[leaf] + ".centre", Column: columns[c], Value: shift, Unit: units[c]})
				}
			}
		}
		leaf++
	}
	return info, nil
}
