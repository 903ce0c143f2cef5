package record

import (
	"fmt"

	"example.com/kestrel/experiment/words"
)

// Lead says how settled it is which kernel leads. The zero value is before the
// first evaluation. Of a log of which only the end is read, it counts from there.
type Lead struct {
	Kernel  string  `json:"kernel"`  // id
	Since   float64 `json:"since"`   // proportion of the data at which it took the lead
	Changes int     `json:"changes"` // of the leader, by evaluations and by orders
}

// Take takes in an evaluation or what an order made of one.
func (l *Lead) Take(e *Evaluation) {
	k := e.Leader()
	if k == nil || k.ID == l.Kernel {
		return
	}
	if l.Kernel != "" {
		l.Changes++
	}
	l.Kernel, l.Since = k.ID, e.Proportion
}

// Text is such as "PER+LIN leads since 30 % of the data; 2 changes before", ""
// before the first evaluation. name is what the kernel is called.
func (l *Lead) Text(name string) string {
	if l.Kernel == "" {
		return ""
	}
	before := "no other has led"
	if l.Changes > 0 {
		before = words.Count(l.Changes, "change") + " before"
	}
	return fmt.Sprintf("%s leads since %.3g %% of the data; %s", name, 100*l.Since, before)
}
