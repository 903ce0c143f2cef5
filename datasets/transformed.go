package datasets

import (
	"fmt"
	"math"
	"slices"

	"example.com/kestrel/datasets/transform"
)

// fitTransform decides on the transform of the target, checks that it takes the
// training rows, and notes the test rows that it does not take.
func (s *Scaler) fitTransform(d *Dataset, how *Spec) error {
	t, err := transform.New(how.Transform, how.TransformBounds)
	if err != nil {
		return err
	}
	if s.Transform = t; t.Identity() {
		return nil
	}
	if at := slices.IndexFunc(d.Train, func(r int32) bool { return !t.Takes(d.Y[r]) }); at >= 0 {
		first := slices.Min(slices.DeleteFunc(slices.Clone(d.Train), func(r int32) bool { return t.Takes(d.Y[r]) }))
		return fmt.Errorf("%s: %s: the target %s is %v; data.transform = %q takes values %s; %s", d.file(), d.place(first),
			quoteText(d.Target.Name), d.Y[first], t.Name, t.Domain(), remedy(t))
	}
	if t.Name == transform.BoxCox {
		rows := slices.Clone(d.First())
		d.sortByFirst(rows)
		x, y := make([]float64, 0, len(rows)*d.Dim), make([]float64, len(rows))
		for i, r := range rows {
			x, y[i] = append(x, d.Row(int(r))...), d.Y[r]
		}
		t.Lambda = transform.Lambda(x, y, d.Dim)
		s.Transform = t
		s.Notices = append(s.Notices, fmt.Sprintf("the target is transformed by Box and Cox with λ = %v, the likeliest for the %s",
			t.Lambda, plural(len(rows), "training row")))
	}
	bad, first := 0, int32(math.MaxInt32)
	for _, r := range d.Test {
		if !t.Takes(d.Y[r]) {
			bad++
			first = min(first, r)
		}
	}
	if bad > 0 {
		s.Notices = append(s.Notices, fmt.Sprintf("%d of %s cannot be transformed, the first being %s, %v: data.transform = %q takes values %s; "+
			"nlpd is infinite", bad, plural(len(d.Test), "test row"), d.place(first), d.Y[first], t.Name, t.Domain()))
	}
	return nil
}

// remedy says what to do about targets that a transform does not take.
func remedy(t transform.Transform) string {
	if t.Name == transform.Logit {
		return `set data.transform_bounds, or data.transform = "none"`
	}
	return `add a constant to the column, or set data.transform = "none"`
}

// place names a row of d, as it is counted in the file: from 1, without the header.
func (d *Dataset) place(row int32) string {
	if d.rows != nil {
		row = d.rows[row]
	}
	return fmt.Sprintf("row %d", row+1)
}

// transformed returns the transformed targets of some rows.
func (s *Scaler) transformed(d *Dataset, rows []int32) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = s.Transform.Forward(d.Y[r])
	}
	return out
}

// varies reports whether values are finite and go far enough, as checkSpread wants,
// and for the digits that they have.
func varies(values []float64) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return high-low >= max(least, 1e-12*max(math.Abs(low), math.Abs(high))) && !math.IsInf(high-low, 0)
}

// counted is 0, 1, … n−1.
func counted(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// transformSpread is the error of a target whose transform does not vary, or goes
// beyond what can be computed with.
func (d *Dataset) transformSpread(t transform.Transform) error {
	if err := d.checkTarget(); err != nil {
		return err
	}
	return fmt.Errorf("%s: %s of the training rows varies too little to compute with; change its unit, or set data.transform = \"none\"",
		d.file(), quoteText(t.Of(d.Target.Name)))
}
