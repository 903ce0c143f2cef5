package record

import (
	"fmt"

	"example.com/kestrel/experiment/words"
)

// Resumed is how a run was taken up again.
type Resumed struct {
	Evaluation int    `json:"evaluation"` // the last one that stays; 0: none
	Repeated   int    `json:"repeated"`   // evaluations in the log behind it, which are made again
	Orders     int    `json:"orders"`     // given behind it, which are carried out again
	Build      Build  `json:"build"`
	Device     string `json:"device"`
	Lanes      int    `json:"lanes"`

	// Pending are these orders, which stood in the log where it is cut. Each is in it again
	// once it has been carried out.
	Pending []Order `json:"pending,omitempty"`
}

// String is one line.
func (r *Resumed) String() string {
	if r == nil {
		return "resumed"
	}
	s := fmt.Sprintf("resumed after evaluation %d", r.Evaluation)
	if r.Evaluation == 0 {
		s = "resumed at the beginning"
	}
	if r.Repeated > 0 {
		s += ", " + words.Count(r.Repeated, "evaluation") + " made again"
	}
	if r.Orders > 0 {
		s += ", " + words.Count(r.Orders, "order") + " given again"
	}
	return s + fmt.Sprintf("; kestrel %s on %s", r.Build, r.Device)
}
