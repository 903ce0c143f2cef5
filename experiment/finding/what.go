package finding

import (
	"math"
	"slices"
	"strings"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// what says in a sentence what the leader stands for.
func (r *reading) what() string {
	if r.nothing {
		return "Nothing beyond a constant and noise" + r.named()
	}
	text := Shape(r.Start, r.leader)
	if text == "" {
		return r.description()
	}
	if c := r.Start.Target(); c != nil && !c.Transform.Identity() {
		text += ", of " + c.Transform.Of(c.Name)
	}
	if !r.whole() && r.live > 2 && len(r.equal) == r.live-1 { // of noise, too, some kernel is first
		return "Too early to tell; first is " + text + r.named()
	}
	return strings.ToUpper(text[:1]) + text[1:] + r.named()
}

// description is the leader's name as a sentence.
func (r *reading) description() string { return "The best description is " + r.name(r.leader) + "." }

// named is how the first sentence ends: with the leader's name, which stands in the
// table of kernels, too.
func (r *reading) named() string {
	if r.nothing {
		return " (best of all: " + r.name(r.leader) + ")."
	}
	return " (" + r.name(r.leader) + ")."
}

// Shape says in half a sentence what functions a kernel stands for, without how large
// they are: patterns first, then what they lie on; "" where it cannot be taken apart.
func Shape(s *record.Start, k *record.Kernel) string {
	at := slices.IndexFunc(s.Kernels, func(i record.KernelInfo) bool { return i.ID == k.ID })
	if at < 0 || k.Fit == nil {
		return ""
	}
	w, components := newSpeller(s, options(s), &s.Kernels[at], k.Fit.Params)
	if w == nil {
		return ""
	}
	w.brief = true
	var patterns, rest []string
	for i := range components {
		c := &components[i]
		ops := ops(c)
		switch text := w.component(c); {
		case slices.Contains(patterns, text) || slices.Contains(rest, text):
		case len(components) > 1 && !slices.ContainsFunc(ops, shows):
		case slices.ContainsFunc(ops, repeats) && !c.Expr.IsChange():
			patterns = append(patterns, text)
		default:
			rest = append(rest, text)
		}
	}
	if w.line {
		rest = append(rest, "a line in the inputs")
	}
	switch {
	case len(patterns) == 0:
		return words.Join(rest)
	case len(rest) == 0:
		return words.Join(patterns)
	}
	return words.Join(patterns) + ", on " + words.Join(rest)
}

// ops are the base kernels of a component.
func ops(c *kernelspace.Component) (out []kernelspace.Op) {
	for _, in := range c.Program.Instrs {
		if in.Op < kernelspace.OpAdd {
			out = append(out, in.Op)
		}
	}
	return out
}

func repeats(o kernelspace.Op) bool { return o == kernelspace.OpPER || o == kernelspace.OpCos }

// shows reports whether a base kernel is more than a level or noise.
func shows(o kernelspace.Op) bool { return o != kernelspace.OpConst && o != kernelspace.OpWhite }

// options are how a run's kernels were compiled, as its config says.
func options(s *record.Start) kernelspace.Options {
	var o kernelspace.Options
	for _, in := range s.Inputs() {
		o.Columns = append(o.Columns, in.Name)
	}
	o.Dim = len(o.Columns)
	_ = config.EachSetting(s.Config, func(section, key, value string) { // what cannot be read has the defaults
		if section == "kernels" {
			o.ARD = o.ARD || key == "ard" && strings.Contains(value, "true")
			o.SharedPeriod = o.SharedPeriod || key == "shared_period" && strings.Contains(value, "true")
		}
	})
	return o
}

// nothing reports whether the data show no more than a constant and noise: the leader
// is made of those, or its local ELBO is not above the log evidence of a constant and
// noise by more than its further hyperparameters cost,
//
//	𝓛 < −n/2·(log 2π + 1) + (p−1)/2·log n,
//
// with n standardised targets, of mean 0 and variance 1, and p hyperparameters (Schwarz,
// Estimating the dimension of a model, Annals of Statistics 6, 1978).
func nothing(s *record.Standing, leader *record.Kernel) bool {
	if e, err := kernelspace.Parse(leader.ID); err == nil {
		if p, err := kernelspace.Compile(e.Canonical(), options(s.Start)); err == nil {
			if !slices.ContainsFunc(p.Instrs, func(in kernelspace.Instr) bool { return in.Op < kernelspace.OpAdd && shows(in.Op) }) {
				return true
			}
		}
	}
	gain, known := aboveNothing(s, leader)
	if !known || s.Start.Data.Train < fewRows {
		return false
	}
	n, free := float64(s.Evaluation.RowsSeen), freed(s.Start, leader)
	return gain < float64(free-1)/2*math.Log(n)-2*standardError(leader.Fit)
}

// aboveNothing is the local ELBO of a kernel less the log evidence of a constant and
// noise, nats; known is false where not all of the rows that the targets were
// standardised by are in, or others.
func aboveNothing(s *record.Standing, k *record.Kernel) (gain float64, known bool) {
	d, e := s.Start.Data, s.Evaluation
	grown := slices.ContainsFunc(s.Orders, func(o record.Order) bool { return o.What == record.EventData })
	if e.RowsSeen != d.Train || grown || d.StandardiseY != "full" {
		return 0, false
	}
	return float64(k.Fit.ELBO) + float64(e.RowsSeen)/2*(math.Log(2*math.Pi)+1), true
}

// standardError is that of a local ELBO's gap, 0 where it is not known.
func standardError(f *record.Fit) float64 {
	if se := float64(f.SE); se > 0 {
		return se
	}
	return 0
}

// freed counts the hyperparameters of a kernel that have been learned, its noise
// included.
func freed(s *record.Start, k *record.Kernel) int {
	at := slices.IndexFunc(s.Kernels, func(i record.KernelInfo) bool { return i.ID == k.ID })
	if at < 0 {
		return len(k.Fit.Params)
	}
	n := 0
	for _, p := range s.Kernels[at].Params {
		if !p.Fixed && p.Stated != "fixed" {
			n++
		}
	}
	return n
}

// flagged reports whether a flag is set at a kernel.
func flagged(k *record.Kernel, flag vbks.Flag) bool {
	return k.Fit != nil && slices.Contains(k.Fit.Flags, flag)
}
