package record

import (
	"math"
	"slices"
	"strings"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/words"
)

// Entered is a kernel that has come while the run goes on, where its space grows.
type Entered struct {
	Kernel   KernelInfo `json:"kernel"`
	Parent   string     `json:"parent"`    // id of the kernel whose neighbour it is
	Step     string     `json:"step"`      // from there, as in "add PER"
	LogPrior float64    `json:"log_prior"` // over the grammar, nats
}

// with returns a start whose space has some kernels more. One that has gone and comes again is
// there once; none is taken out, so that places stay.
func (s *Start) with(entered []Entered) *Start {
	if s == nil {
		return nil
	}
	out := *s
	out.Kernels = append([]KernelInfo{}, s.Kernels...)
	for i := range entered {
		if s.Kernel(entered[i].Kernel.ID) == nil {
			out.Kernels = append(out.Kernels, entered[i].Kernel)
		}
	}
	return &out
}

// Kernel returns what is known of a kernel of the space, nil if it never was in it.
func (s *Start) Kernel(id string) *KernelInfo {
	for i := range s.Kernels {
		if s.Kernels[i].ID == id {
			return &s.Kernels[i]
		}
	}
	return nil
}

// Ancestor is a step of the way on which a kernel has come.
type Ancestor struct {
	ID         string       `json:"id"`
	Step       string       `json:"step,omitempty"`       // from the one before; "": the run began with it
	Evaluation int          `json:"evaluation,omitempty"` // the first that it took part in
	Nats       files.Number `json:"nats"`                 // by which its log evidence is above the one before, when both were last compared
}

// origin is where a kernel comes from.
type origin struct {
	parent string
	Ancestor
}

// Family is where the kernels come from that have come while the run went on. The zero
// value knows of none.
type Family struct{ of map[string]origin }

// enter takes in kernels that come with an evaluation. One that has gone and comes again, from
// what may be its own descendant, has the way on which it came first.
func (f *Family) enter(entered []Entered, evaluation int) {
	if f.of == nil {
		f.of = map[string]origin{}
	}
	for i := range entered {
		e := &entered[i]
		if _, known := f.of[e.Kernel.ID]; known || slices.ContainsFunc(f.Way(e.Parent), func(a Ancestor) bool { return a.ID == e.Kernel.ID }) {
			continue
		}
		f.of[e.Kernel.ID] = origin{e.Parent, Ancestor{e.Kernel.ID, e.Step, evaluation, files.Number(math.NaN())}}
	}
}

// compare takes in what kernels are worth beside those that they come from.
func (f *Family) compare(e *Evaluation) {
	if len(f.of) == 0 {
		return
	}
	worth := map[string]float64{}
	for i := range e.Kernels {
		if fit := e.Kernels[i].Fit; fit != nil {
			worth[e.Kernels[i].ID] = fit.Worth()
		}
	}
	for id, v := range worth {
		o, some := f.of[id]
		if from, both := worth[o.parent]; some && both {
			o.Nats = files.Number(v - from)
			f.of[id] = o
		}
	}
}

// Way lists the kernels that led to one, the first that the run began with, the last itself.
func (f *Family) Way(id string) []Ancestor {
	var way []Ancestor
	for o, some := f.of[id]; some; o, some = f.of[id] {
		way = append(way, o.Ancestor)
		id = o.parent
	}
	way = append(way, Ancestor{ID: id})
	slices.Reverse(way)
	return way
}

// Text says which steps led to a kernel and what each gave, as in "SE, add PER +12.3, multiply LIN
// +4.50 nats"; "" of one that the run began with.
func (f *Family) Text(id string) string {
	way := f.Way(id)
	if len(way) == 1 {
		return ""
	}
	text := way[0].ID
	for _, a := range way[1:] {
		text += ", " + a.Step
		if v := float64(a.Nats); v >= 0 {
			text += " +" + words.Nats(v)
		} else if v < 0 {
			text += " −" + words.Nats(-v)
		}
	}
	return text + " nats"
}

// mostNamed kernels are named in a line of a log.
const mostNamed = 4

func describeEntered(entered []Entered) string {
	var names []string
	for i := range entered {
		names = append(names, entered[i].Kernel.ID)
	}
	return words.Count(len(entered), "kernel") + " come: " + few(names)
}

// few are the first ids.
func few(ids []string) string {
	text := strings.Join(ids[:min(mostNamed, len(ids))], ", ")
	if len(ids) > mostNamed {
		text += ", …"
	}
	return text
}
