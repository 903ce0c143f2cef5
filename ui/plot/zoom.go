package plot

// ZoomRange returns the limits low..high made factor times as wide (below 1:
// closer) about at, which keeps its place, within lo..hi. It does not go
// closer than a billionth of lo..hi.
func ZoomRange(low, high, at, factor, lo, hi float64) (float64, float64) {
	width := high - low
	if !(width > 0) || !(factor > 0) || !(hi > lo) {
		return low, high
	}
	at = min(max(at, low), high)
	now := min(max(width*factor, (hi-lo)*1e-9), hi-lo)
	return within(at-(at-low)/width*now, now, lo, hi)
}

// Pan moves the limits low..high by a part of their width, positive to the
// right, within lo..hi and without changing the width.
func Pan(low, high, part, lo, hi float64) (float64, float64) {
	width := high - low
	if !(width > 0) || !(hi > lo) {
		return low, high
	}
	return within(low+part*width, min(width, hi-lo), lo, hi)
}

// within shifts low..low+width into lo..hi.
func within(low, width, lo, hi float64) (float64, float64) {
	switch {
	case low <= lo:
		return lo, min(lo+width, hi)
	case low+width >= hi:
		return max(hi-width, lo), hi
	}
	return low, low + width
}
