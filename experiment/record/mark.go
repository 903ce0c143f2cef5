package record

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/kestrel/vbks"
)

// Words for how a kernel stands to the leader.
const (
	MarkEqual = "equal"        // within a nat or the errors of the gap
	MarkClose = "within a nat" // as that, though the bounds tell them apart
	MarkApart = "told apart"   // by the bounds, at these hyperparameters, or by windows
)

// NotBounded is said of slack that says nothing.
const NotBounded = "not usefully bounded"

// Worth is what ranks a kernel, nats: its local ELBO, or its log evidence by windows, and the log volume of its mode
// where the belief adds it.
func (f *Fit) Worth() float64 {
	if f.Windows != nil {
		return float64(f.Windows.Nats + f.Volume)
	}
	return float64(f.ELBO + f.Volume)
}

// Gap is how much more a kernel is worth than the leader, nats; below 0 as a rule.
func (f *Fit) Gap(leader *Fit) float64 { return f.Worth() - leader.Worth() }

// Behind is the gap the other way round.
func (f *Fit) Behind(leader *Fit) float64 { return leader.Worth() - f.Worth() }

// Preferred is by how many nats the prior over the grammar is above the leader's.
func (f *Fit) Preferred(leader *Fit) float64 { return float64(f.Prior - leader.Prior) }

// Weighed reports whether kernels have such a prior.
func Weighed(kernels []*Kernel) bool {
	return slices.ContainsFunc(kernels, func(k *Kernel) bool { return k.Fit != nil && k.Fit.Prior != 0 })
}

// Mark says how a kernel stands to the leader, "" if nothing is known beyond the
// gap, and for the leader itself. What its bounds tell apart is not told where the gap
// says otherwise: the belief orders kernels by errors and prior weights, too.
func (f *Fit) Mark(leader *Fit) string {
	switch {
	case f.Rank <= 1:
		return ""
	case f.Tied && f.Apart && math.Abs(f.Gap(leader)) <= 1:
		return MarkClose
	case f.Tied:
		return MarkEqual
	case f.Apart && f.Gap(leader) < -2*max(0, float64(f.SE)):
		return MarkApart
	}
	return ""
}

// Sampled reports whether the local ELBO is an estimate from some of the rows
// seen; else it is exact and its gap has no standard error.
func (f *Fit) Sampled(seen int) bool {
	if f.Rows == 0 { // logs of older versions
		return f.SE > 0
	}
	return f.Rows < seen
}

// Slack is what the bounds on the log evidence leave open in nats, or windows; ok is false where
// there are none.
func (f *Fit) Slack() (nats float64, ok bool) {
	if f.Windows != nil {
		return float64(f.Windows.Low + f.Windows.High), true
	}
	return f.bounded()
}

// bounded is what the bounds on the log evidence leave open.
func (f *Fit) bounded() (nats float64, ok bool) {
	if f.Evidence == nil {
		return 0, false
	}
	return float64(f.Evidence.Upper - f.Evidence.Lower), true
}

// Usefully reports whether bounds on the log evidence of so many rows say something: of more than
// are multiplied with all of k(X,X) the upper bound grows with what the inducing inputs do not show of any row.
func (f *Fit) Usefully(rows int) bool {
	slack, ok := f.Slack()
	return ok && (rows <= vbks.ProductRows || slack <= 1 || f.Windows != nil)
}

// Unbounded says that the slack of an evaluation's kernels says nothing, "" where it does, or there is none.
func (e *Evaluation) Unbounded() string {
	for i := range e.Kernels {
		if f := e.Kernels[i].Fit; f != nil && f.Evidence != nil && !f.Usefully(e.RowsSeen) {
			return fmt.Sprintf("slack: the log evidence of so many rows is %s from above", NotBounded)
		}
	}
	return ""
}

// FlagText says what should be looked at, "" for nothing.
func (f *Fit) FlagText() string {
	var parts []string
	for _, flag := range f.Flags {
		parts = append(parts, string(flag))
	}
	return strings.Join(parts, ", ")
}

// Remark is Mark with the flags, as a table has it: "told apart; ! not converged".
func (f *Fit) Remark(leader *Fit) string {
	mark, flags := f.Mark(leader), f.FlagText()
	switch {
	case flags == "":
		return mark
	case mark == "":
		return "! " + flags
	}
	return mark + "; ! " + flags
}
