package ui

import (
	"slices"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/kernelspace"
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

// detail shows a kernel by itself.
func (b *bench) detail(id string) {
	b.choose(id)
	b.at = max(0, slices.IndexFunc(b.views, func(w view) bool { return w.name() == "kernel" }))
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
	o := kernelspace.Options{Dim: len(s.Inputs()), Levels: s.Levels}
	for _, c := range s.Inputs() {
		o.Columns = append(o.Columns, c.Name)
	}
	e, err := kernelspace.Parse(id)
	if err != nil {
		return 0
	}
	p, err := kernelspace.Compile(e, o)
	if err != nil {
		return 0
	}
	first := -1
	for i := range p.Params {
		switch at := p.Columns(i); {
		case len(at) == 1 && o.Dim > 1:
			return at[0]
		case len(at) > 0 && len(at) < o.Dim && first < 0:
			first = at[0]
		}
	}
	return max(0, first)
}
