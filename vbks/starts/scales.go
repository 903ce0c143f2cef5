package starts

import (
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/periods"
)

// Summarise measures what data-driven starts and bounds need of N x dim inputs
// x (row-major) and targets y: for every column its range (1 where it is
// constant or empty) and the median gap between neighbouring distinct values
// (the range where there is none) its root mean square about 0 and the middle of its range, and the
// variance of y about its mean.
// Values closer than 1e-9 of the range count as equal. Values that are not
// finite are left out.
func Summarise(x, y []float64, dim int) kernelspace.Scales {
	s := kernelspace.Scales{
		Span:    make([]float64, dim),
		Spacing: make([]float64, dim),
		RMS:     make([]float64, dim),
		Middle:  make([]float64, dim),
		YVar:    variance(y),
	}
	column := make([]float64, 0, len(x)/max(1, dim))
	for d := range dim {
		column = column[:0]
		for i := d; i < len(x); i += dim {
			if v := x[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				column = append(column, v)
			}
		}
		s.Span[d], s.Spacing[d] = 1, 1
		if len(column) == 0 {
			continue
		}
		s.RMS[d] = math.Sqrt(secondMoment(column))
		if !slices.IsSorted(column) {
			slices.Sort(column)
		}
		span := column[len(column)-1] - column[0]
		s.Middle[d] = column[0] + span/2
		if !(span > 0) {
			continue
		}
		s.Span[d], s.Spacing[d] = span, periods.GapQuantile(periods.Gaps(column), 0.5)
	}
	return s
}

// secondMoment returns the mean of y².
func secondMoment(y []float64) float64 {
	if len(y) == 0 {
		return 0
	}
	var sum float64
	for _, v := range y {
		sum += v * v
	}
	return sum / float64(len(y))
}

// variance returns the mean squared deviation of y from its mean, in two
// passes since the mean may be large against it.
func variance(y []float64) float64 {
	if len(y) == 0 {
		return 0
	}
	var mean, sum float64
	for _, v := range y {
		mean += v
	}
	mean /= float64(len(y))
	for _, v := range y {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(len(y))
}
