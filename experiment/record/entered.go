package record

import (
	"strings"

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

// mostNamed kernels are named in a line of a log.
const mostNamed = 4

func describeEntered(entered []Entered) string {
	var names []string
	for i := range entered {
		names = append(names, entered[i].Kernel.ID)
	}
	come := " come: "
	if len(entered) == 1 {
		come = " comes: "
	}
	return words.Count(len(entered), "kernel") + come + few(names)
}

// few are the first ids.
func few(ids []string) string {
	text := strings.Join(ids[:min(mostNamed, len(ids))], ", ")
	if len(ids) > mostNamed {
		text += ", …"
	}
	return text
}
