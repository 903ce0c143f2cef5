package record

import "time"

// Pace returns how long an evaluation has taken on average, pauses not
// counted, and how long those that are left take at that pace. Both are 0
// before the first evaluation.
func Pace(seconds float64, made, left int) (each, eta time.Duration) {
	if made <= 0 || !(seconds > 0) {
		return 0, 0
	}
	per := seconds / float64(made)
	return time.Duration(per * float64(time.Second)), time.Duration(float64(max(0, left)) * per * float64(time.Second))
}
