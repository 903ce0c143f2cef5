package prepare

import (
	"context"
	"fmt"

	"example.com/kestrel/datasets"
	"example.com/kestrel/vbks"
)

// Step is what is being done while somebody waits.
type Step struct {
	Doing string // in a few words; how far it is stands behind
	Of    string // what it goes by: "kernel"
	Note  string // what should be known of it, "" for nothing

	Done, Total int // of these; Total 0: not known
}

// String is such as "kernels predict, kernel 4 of 24".
func (s Step) String() string {
	text := s.Doing
	if s.Total > 0 {
		text += fmt.Sprintf(", %s %d of %d", s.Of, s.Done, s.Total)
	}
	return text
}

// tellingKey is where a context has who is told what is being done.
type tellingKey struct{}

// Telling is a context whose work tells what it does where that takes longer than
// reading a table, from any goroutine.
func Telling(ctx context.Context, tell func(Step)) context.Context {
	return context.WithValue(ctx, tellingKey{}, tell)
}

// Tell tells what is being done.
func Tell(ctx context.Context, s Step) {
	if tell := Told(ctx); tell != nil {
		tell(s)
	}
}

// Told is what a context's work is told with, nil where nobody is told.
func Told(ctx context.Context) func(Step) {
	tell, _ := ctx.Value(tellingKey{}).(func(Step))
	return tell
}

// showingKey is where a context has who is shown the data.
type showingKey struct{}

// Showing is a context whose work shows the data of a run once they are there, before what the
// config leaves to them is decided. They are for reading, until show returns.
func Showing(ctx context.Context, show func(*datasets.Dataset)) context.Context {
	return context.WithValue(ctx, showingKey{}, show)
}

// PhaseText says what is done in a phase of a trainer's work.
func PhaseText(phase string) string {
	switch phase {
	case "optimise":
		return "hyperparameters are searched for"
	case "transplants":
		return "kernels try what others have found"
	case "tune":
		return "hyperparameters are taken further"
	case "learn":
		return "kernels learn from all of its rows"
	case "evidence":
		return "bounds on log evidences"
	case "predict":
		return "kernels predict"
	}
	return phase
}

// StepOf is a trainer's progress as a step.
func StepOf(p vbks.Progress) Step {
	return Step{Doing: PhaseText(p.Phase), Of: "kernel", Done: p.Done, Total: p.Total}
}
