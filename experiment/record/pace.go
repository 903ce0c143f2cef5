package record

import "time"

// Pace returns how long an evaluation has taken on average, pauses not counted, 0 before
// the first.
func Pace(seconds float64, made int) time.Duration {
	if made <= 0 || !(seconds > 0) {
		return 0
	}
	return time.Duration(seconds / float64(made) * float64(time.Second))
}

// Meter tells how long something takes that goes by parts of equal size. Its zero value
// has seen nothing.
type Meter struct {
	doing string // what is under way, since when, and how many parts were done then
	since time.Time
	begun int
}

// Take takes in how far something has come at a moment.
func (m *Meter) Take(doing string, done int, now time.Time) {
	if doing != m.doing || done < m.begun || m.since.IsZero() {
		m.doing, m.since, m.begun = doing, now, done
	}
}

// Left is how long it will take from a moment on at its pace so far, 0 where that is not known.
func (m *Meter) Left(doing string, done, total int, now time.Time) time.Duration {
	made := done - m.begun
	if made <= 0 || doing != m.doing || total <= done {
		return 0
	}
	return now.Sub(m.since) / time.Duration(made) * time.Duration(total-done)
}
