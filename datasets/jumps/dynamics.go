package jumps

import "math"

// dynamics is how what a mean leaves goes on from value to value: a level, which keeps a share of itself and moves,
// a slope that moves it, and noise of each value alone; the variances of what they do are in a common unit,
// which is fitted.
type dynamics struct {
	keep                float64 // of the level; 1: it wanders
	level, slope, noise float64 // variances
	free                float64 // numbers that are fitted
}

// white is noise alone.
var white = dynamics{keep: 0, noise: 1}

// returningLevels are levels that go back to their mean, and noise: of what both make the level has a share.
func returningLevels() (all []dynamics) {
	for _, keep := range []float64{0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99} {
		for _, share := range []float64{0.03, 0.1, 0.2, 0.4, 0.7, 0.9, 1} {
			all = append(all, dynamics{keep: keep, level: share * (1 - keep*keep), noise: 1 - share, free: 2})
		}
	}
	return all
}

// wanderingLevels are levels that wander, and levels whose slope does, too, and noise.
func wanderingLevels() (all []dynamics) {
	for level := 1e-6; level < 2e3; level *= 2.5 {
		all = append(all, dynamics{keep: 1, level: level, noise: 1, free: 1})
	}
	for slope := 1e-10; slope < 2; slope *= 4 {
		all = append(all, dynamics{keep: 1, slope: slope, noise: 1, free: 1}, dynamics{keep: 1, slope: slope, level: 0.01, noise: 1, free: 2},
			dynamics{keep: 1, slope: slope, level: 0.1, noise: 1, free: 2}, dynamics{keep: 1, slope: slope, level: 1, noise: 0.1, free: 2})
	}
	return append(all, dynamics{keep: 1, slope: 1, noise: 1e-2, free: 1}, dynamics{keep: 1, slope: 1, level: 1e-2, noise: 1e-3, free: 2})
}

// whitener makes of n values innovations of equal variance: those of the Kalman filter, whose gains are the same
// for all columns.
type whitener struct {
	keep                float64
	level, slope, scale []float64 // gains, and one over the deviation of an innovation
	volume              float64   // half the logarithm of the determinant of the covariance
}

// whitener is of n values, of which the noise, and what the level does, may be spread differently.
func (d dynamics) whitener(n int, spread []float64) *whitener {
	gains := make([]float64, 3*n)
	w := &whitener{keep: d.keep, level: gains[:n], slope: gains[n : 2*n], scale: gains[2*n:]}
	level, both, slope := d.level+d.slope, 0., d.slope
	if d.keep < 1 {
		level = d.level / (1 - d.keep*d.keep)
	}
	for i := range n {
		wide := 1.
		if spread != nil {
			wide = spread[i] * spread[i]
		}
		noise := d.noise * wide
		all := level + noise
		w.level[i], w.slope[i], w.scale[i] = level/all, both/all, 1/math.Sqrt(all)
		w.volume += math.Log(all) / 2
		level, both, slope = level*noise/all, both*noise/all, slope-both*both/all
		level, both, slope = d.keep*d.keep*level+2*d.keep*both+slope+d.level*wide, d.keep*both+slope, slope+d.slope*wide
	}
	return w
}

// whiten writes the innovations of x into out.
func (w *whitener) whiten(x, out []float64) {
	level, slope := 0., 0.
	for i, v := range x {
		off := v - level
		out[i] = off * w.scale[i]
		level = w.keep*(level+w.level[i]*off) + slope + w.slope[i]*off
		slope += w.slope[i] * off
	}
}
