package finding

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
)

// Finding is what a run has found; each part is a sentence or "", to be read in the
// order of Text.
type Finding struct {
	What     string // what the data show
	Distrust string // why that is not to be trusted; "": nothing speaks against it
	Sure     string // how sure it is that this kernel leads, and since when
	Error    string // beside a baseline
	Coverage string // of the intervals of 95 %
	Next     string // what to do
	Command  string // the command of that, "" where it is none

	Settled bool // all data are in, no other kernel may lead, and nearly all of the belief is the leader's

	// What without the kernel's name, without when it is low, without sizes, with no such, the name alone
	plain, high, unsized, calm, named string
	brief, terse                      string // Sure without numbers, and without since when
	compared, barely                  string // Error with fewer baselines and with one, "" where that compares with none
	warning                           string // that a baseline is clearly better, where Distrust does not say so
	wrong                             string // Distrust without what only may be so
	command, shell                    string // Next without what it does, and without the run's path
}

// As is Of a run that stands otherwise than its log says last: crashed, or of another
// process that has got further.
func As(s *record.Standing, state record.State, dir string) Finding {
	now := *s
	now.State = state
	return Of(&now, dir)
}

// Of says what a run has found; the zero Finding before the first evaluation. Commands
// are about the run's directory, "" where that is not known.
func Of(s *record.Standing, dir string) Finding {
	if s.Evaluation == nil || s.Start == nil {
		return Finding{}
	}
	leader := s.Evaluation.Leader()
	if leader == nil {
		return Finding{What: "No kernel is left to compare.", Next: "Next: a config with other kernels."}
	}
	r := &reading{Standing: s, leader: leader, nothing: nothing(s, leader)}
	dir = cmp.Or(dir, Placeholder)
	r.run, r.config = words.Shell(dir), words.Shell(filepath.Join(dir, record.ConfigFile))
	r.rivals()
	if !r.nothing {
		r.shared = sharing(s.Start, s.Evaluation)
	}
	f := Finding{What: r.what(), Sure: r.sure(), Error: r.error(), Coverage: r.coverage(), Settled: r.settled()}
	f.Distrust, f.wrong = r.distrust()
	f.Next = r.next()
	if f.command = f.Next; r.command != "" {
		f.Command, f.command = r.command, "Next: "+r.command
	}
	f.brief, f.terse, f.named = r.briefly(f.Settled), r.tersely(f.Settled), r.provisional(r.description())
	f.compared, f.barely, f.warning = r.compared(withFirst), r.compared(withOne), r.warning()
	for _, what := range []struct {
		text   *string
		detail detail
	}{{&f.plain, highAndLow}, {&f.high, highOnly}, {&f.unsized, unsized}, {&f.calm, calm}} {
		r.detail = what.detail
		*what.text = r.what()
		if text, ok := strings.CutSuffix(*what.text, r.named()); ok {
			*what.text = text + "."
		}
	}
	f.shell = strings.ReplaceAll(strings.ReplaceAll(f.command, r.config, Placeholder+"/"+record.ConfigFile), r.run, Placeholder)
	return f
}

// Placeholder stands for the folder of the run in commands where that has no room.
const Placeholder = "RUN"

// Warns reports whether something speaks against predicting with what was found.
func (f Finding) Warns() bool { return f.Distrust != "" || f.warning != "" }

// Parts are the sentences that there are.
func (f Finding) Parts() (parts []string) {
	for _, p := range []string{f.What, f.Distrust, f.Sure, f.Error, f.Coverage, f.Next} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// Text is all of it, "" before the first evaluation.
func (f Finding) Text() string { return strings.Join(f.Parts(), " ") }

// Within is as much of the text as fits takes, in its order. The second baseline is left out
// first, then the coverage, then what takes long is said more briefly, then what to do is left
// out, then what the prediction is worth beside a baseline; with each there may be room for
// sizes again. What the data show and whether that is settled stay as long as they can; that a
// kernel has a name, which the table has, too, is the last resort. That a baseline is better is
// said to the end.
func (f Finding) Within(fits func(text string) bool) string { return f.Shortened(fits).Text() }

// Tells reports whether a shortened finding still has something of what f shows in words, of how
// sure that is, of what the prediction is worth and of what to do.
func (f Finding) Tells(short Finding) bool {
	kept := func(now, before string) bool { return now != "" || before == "" }
	return (short.What != f.named || f.What == f.named) && kept(short.Sure, f.Sure) && kept(short.Error, f.Error) && kept(short.Next, f.Next)
}

// Shortened is the finding of whose text Within is.
func (f Finding) Shortened(fits func(text string) bool) Finding {
	shorter := func(part *string, text string) {
		if *part != "" {
			*part = text
		}
	}
	next := ""
	for _, step := range []func(){
		func() {},
		func() { shorter(&f.Error, cmp.Or(f.compared, f.Error)) },
		func() { f.Coverage = "" },
		func() { shorter(&f.What, f.plain) },
		func() { shorter(&f.Sure, f.brief) },
		func() { shorter(&f.Next, f.command) },
		func() { shorter(&f.Error, f.barely) },
		func() { shorter(&f.Next, f.shell) },
		func() { shorter(&f.Sure, f.terse) },
		func() { shorter(&f.What, f.high) },
		func() { shorter(&f.What, cmp.Or(f.unsized, f.calm)) },
		func() { shorter(&f.What, f.calm) },
		func() { shorter(&f.What, f.high); next, f.Next = f.Next, "" },
		func() { shorter(&f.What, cmp.Or(f.unsized, f.calm)) },
		func() { shorter(&f.What, f.calm) },
		func() { shorter(&f.What, f.high); f.Error, f.Next = f.warning, next },
		func() { shorter(&f.What, cmp.Or(f.unsized, f.calm)) },
		func() { shorter(&f.What, f.calm) },
		func() { shorter(&f.What, f.high); f.Next = "" },
		func() { shorter(&f.What, cmp.Or(f.unsized, f.calm)) },
		func() { shorter(&f.What, f.calm) },
		func() { f.Distrust = cmp.Or(f.wrong, f.Distrust) },
		func() { f.Sure = "" },
		func() { shorter(&f.What, f.named) },
	} {
		step()
		if fits(f.Text()) {
			break
		}
	}
	return f
}

// reading is a run that is being put into words.
type reading struct {
	*record.Standing
	run     string // its directory, as it is written in a command
	config  string // its config, likewise
	leader  *record.Kernel
	nothing bool             // beyond a constant and noise
	detail  detail           // of what it shows
	shared  *shared          // by the kernels that are believed in, nil where that is not known
	live    int              // kernels that are compared
	equal   []*record.Kernel // that cannot be told from the leader
	open    []*record.Kernel // whose bounds reach beyond the leader's
	behind  float64          // q* of the others
	left    float64          // q* of those that were left out where more inducing inputs came, without those that have little of it
	absent  int              // how many these are
	last    int              // the last rank of these
	command string           // what to do, where that is one
}

// deciding is the slack in nats below which bounds decide nothing more.
const deciding = 1

// rivals finds the kernels that may come to lead.
func (r *reading) rivals() {
	first := r.leader.Fit
	for i := range r.Evaluation.Kernels {
		k := &r.Evaluation.Kernels[i]
		f := k.Fit
		if k.Left != nil && k.Left.Posterior >= fewest {
			r.left, r.absent = r.left+float64(k.Left.Posterior), r.absent+1
		}
		if f == nil {
			continue
		}
		r.live++
		slack, bounded := f.Slack()
		gap := f.Behind(first)
		switch {
		case f.Rank == first.Rank:
		case f.Tied:
			r.equal, r.last = append(r.equal, k), max(r.last, f.Rank)
		case bounded && !f.Apart && slack > deciding && slack > gap:
			r.open, r.last = append(r.open, k), max(r.last, f.Rank)
		case f.Posterior > 0: // a number
			r.behind += float64(f.Posterior)
		}
	}
}

// equals says what those that are equal to the leader are: where bounds tell all of them from it, by less than a nat.
func (r *reading) equals() string {
	for _, k := range r.equal {
		if k.Fit.Mark(r.leader.Fit) != record.MarkClose {
			return "cannot be told from it"
		}
	}
	if len(r.equal) == 1 {
		return "is within a nat of it"
	}
	return "are within a nat of it"
}

// whole reports whether all training rows have been seen.
func (r *reading) whole() bool { return r.Evaluation.Proportion >= 1 }

// outstanding are the evaluations that are planned and not made: of more rows, or with
// more inducing inputs. A run that has come to its end has none, whatever was planned.
func (r *reading) outstanding() int {
	if r.State == record.Finished {
		return 0
	}
	return max(0, r.Evaluation.Planned-r.Evaluation.Index)
}

// provisional begins a sentence with what is still to come, if anything is.
func (r *reading) provisional(text string) string {
	so := ""
	switch n := r.outstanding(); {
	case !r.whole():
		so = "So far, with " + percent(r.Evaluation.Proportion) + " of the rows: "
	case n > 0:
		so = "So far, with " + words.Count(n, "evaluation") + " to come: "
	default:
		return text
	}
	return so + strings.ToLower(text[:1]) + text[1:]
}

// surely is the belief below which a leader is not settled.
const surely = 0.9

// settled reports whether nothing speaks for another kernel. Of noise many are equal, and
// all of them nothing. What is not to be trusted because it still moves is not settled.
func (r *reading) settled() bool {
	if !r.whole() || r.outstanding() > 0 || len(r.open) > 0 {
		return false
	}
	return r.nothing || len(r.equal) == 0 && !(r.posterior() < surely) && (!r.still() || r.restless())
}

// posterior is the belief in the leader, NaN where it is not known.
func (r *reading) posterior() float64 { return float64(r.leader.Fit.Posterior) }

// info is the description of a kernel, nil if there is none.
func (r *reading) info(k *record.Kernel) *record.KernelInfo {
	for i := range r.Start.Kernels {
		if r.Start.Kernels[i].ID == k.ID {
			return &r.Start.Kernels[i]
		}
	}
	return nil
}

// name is what a kernel is called for reading.
func (r *reading) name(k *record.Kernel) string {
	if info := r.info(k); info != nil && info.Name != "" {
		return info.Name
	}
	return k.ID
}

// numerals are numbers of things as they are written in a sentence.
var numerals = []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// numeral writes a number of things.
func numeral(n int) string {
	if n < len(numerals) {
		return numerals[n]
	}
	return fmt.Sprint(n)
}
