package starts

import (
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

const (
	// Periods are tried from one to mostCycles within the range of x, cycleStep apart: so few
	// are seen badly in any periodogram, and lie further apart than an ascent goes.
	mostCycles = 8.0
	cycleStep  = 0.25
	// A rough summand beside has a length of so many spacings.
	scanSpacings = 4
	sharpLength  = 0.35 // of a leaf PER, relative to the period
)

// Scan makes starts from a solution in each of which a leaf PER has another period of
// few cycles: with all else as it was; smooth or sharp, with what it is multiplied by long; and
// with the other summands rough besides, which the leaf itself may have been. What is near the period that there is
// is not tried with all else as it was.
func (w *Drawer) Scan(p *kernelspace.Program, x []float64) (out [][]float64) {
	whole, noise := params.Raw(p, x, w.floor)
	p = p.Own()
	raw, t, leaves := whole[:len(p.Params)], params.Tree(p), params.Leaves(p)
	for i, in := range leaves {
		if in.Op != kernelspace.OpPER || len(in.Cols) != 1 || w.calendrical && in.Seasonal() {
			continue
		}
		known := &p.Params[in.Off+1+in.NumScale].Known
		if known.How == kernelspace.Fixed {
			continue
		}
		span, spacing := w.scales.Span[in.Cols[0]], w.scales.Spacing[in.Cols[0]]
		part := summand(t, i)
		others := false
		smooth, rough := slices.Clone(raw), slices.Clone(raw)
		for j, other := range leaves {
			if !other.Op.Radial() {
				continue
			}
			inside := slices.Contains(part.Leaves, j)
			for d := range other.NumScale {
				if inside {
					smooth[other.Off+1+d], rough[other.Off+1+d] = span/2, span/2
				} else {
					rough[other.Off+1+d] = scanSpacings * spacing
				}
			}
			if _, beside := enclosing(t, []int{j}); !inside && beside != nil {
				others = true
				w.shrink(p, beside, rough, roughShare*noise)
			}
		}
		sharp := slices.Clone(smooth)
		for d := range in.NumScale {
			smooth[in.Off+1+d], rough[in.Off+1+d], sharp[in.Off+1+d] = 1, 1, sharpLength
		}
		from := [][]float64{raw, smooth, sharp}
		if others {
			from = append(from, rough)
		}
		for cycles := 1.0; cycles <= mostCycles; cycles += cycleStep {
			if known.How == kernelspace.Bounded && !within(known, span/cycles) {
				continue
			}
			for j, v := range from {
				if had := span / raw[in.Off+1+in.NumScale]; j == 0 && math.Abs(cycles-had) < cycleStep {
					continue
				}
				v = slices.Clone(v)
				for d := range in.NumPeriod {
					v[in.Off+1+in.NumScale+d] = span / cycles
				}
				params.Settle(p, v)
				out = append(out, params.Free(p, v, noise, w.floor))
			}
		}
	}
	return out
}
