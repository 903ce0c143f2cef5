package ui

import (
	"strconv"
	"strings"

	"example.com/kestrel/experiment/record"
)

// chosen returns the kernel chosen in the bench, "" before there is one.
func (b *bench) chosen() string {
	if b.main != nil && b.main.table.cursor != "" {
		return b.main.table.cursor
	}
	if e := b.hist.Evaluation; e != nil {
		if l := e.Leader(); l != nil {
			return l.ID
		}
	}
	if ids := b.hist.IDs(); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// choose makes a kernel the chosen one.
func (b *bench) choose(id string) {
	if b.main != nil {
		b.main.table.choose(id)
	}
}

// inOrder lists the kernels by rank, those not live behind.
func (b *bench) inOrder() []string {
	e := b.hist.Evaluation
	if e == nil {
		return b.hist.IDs()
	}
	var ids []string
	for _, k := range ranked(e) {
		ids = append(ids, k.ID)
	}
	for i := range e.Kernels {
		if e.Kernels[i].Fit == nil {
			ids = append(ids, e.Kernels[i].ID)
		}
	}
	return ids
}

// kernelNow returns a kernel as of the last evaluation, nil if there is none.
func (b *bench) kernelNow(id string) *record.Kernel {
	if e := b.hist.Evaluation; e != nil {
		for i := range e.Kernels {
			if e.Kernels[i].ID == id {
				return &e.Kernels[i]
			}
		}
	}
	return nil
}

// leaders returns the ids of the kernels ranked first.
func (b *bench) leaders() []string {
	var ids []string
	for _, k := range ranked(b.hist.Evaluation) {
		if len(ids) == focusKernels {
			break
		}
		ids = append(ids, k.ID)
	}
	return ids
}

// columnOf is the place of an input along which it is worth to look at a kernel: the first
// that it names, alone if it names any alone; 0 for one on all inputs alike.
func (b *bench) columnOf(id string) int {
	s := b.hist.Start
	if s == nil {
		return 0
	}
	first, rest := -1, id
	for {
		_, behind, ok := strings.Cut(rest, "[")
		inside, after, closed := strings.Cut(behind, "]")
		if !ok || !closed {
			return max(0, first)
		}
		inside, _, _ = strings.Cut(inside, ";")
		names := strings.Split(inside, ",")
		at := -1
		for i, c := range s.Inputs() {
			if c.Name == strings.TrimSpace(names[0]) {
				at = i
				break
			}
		}
		if number, err := strconv.Atoi(strings.TrimSpace(names[0])); at < 0 && err == nil && number >= 1 && number <= len(s.Inputs()) {
			at = number - 1
		}
		switch {
		case at >= 0 && len(names) == 1:
			return at
		case first < 0:
			first = at
		}
		rest = after
	}
}
