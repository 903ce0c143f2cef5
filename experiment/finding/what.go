package finding

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// what says in a sentence what the leader stands for, of which column where there are
// several.
func (r *reading) what() string {
	text := r.shown()
	if c := r.Start.Target(); c != nil && r.Start.Explains() != "" && (len(r.Start.Inputs()) > 1 || r.Start.TargetChosen()) {
		return c.Name + ": " + strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// shown is what without the column.
func (r *reading) shown() string {
	early := "Too early to tell, with " + percent(r.Evaluation.Proportion) + " of the rows; "
	switch {
	case r.nothing && r.early():
		return early + "so far n" + r.chance() + "."
	case r.nothing:
		return r.provisional("N" + r.chance() + ".")
	}
	text := shape(r.Start, r.leader, r.effects(), r.shared, r.detail)
	if text == "" {
		return r.provisional(r.description())
	}
	if c := r.Start.Target(); c != nil && !c.Transform.Identity() {
		text += ", of " + c.Transform.Of(c.Name)
	}
	if needless := r.needless(); needless != "" && r.detail != calm {
		text += "; " + needless
	}
	if r.early() {
		return early + "first is " + text + r.named()
	}
	return r.provisional(strings.ToUpper(text[:1]) + text[1:] + r.named())
}

// earlyShare is the share of the data below which nothing is no finding.
const earlyShare = 0.5

// early reports whether what is seen so far tells nothing: of few rows, or of noise, too,
// some kernel is first.
func (r *reading) early() bool {
	return !r.whole() && (r.Evaluation.RowsSeen < fewRows || r.live > 2 && len(r.equal) == r.live-1 ||
		r.nothing && r.Evaluation.Proportion < earlyShare)
}

// effects are how large what the leader shows is, nil where that is not known.
func (r *reading) effects() *record.Effects {
	if e := r.Effects; e != nil && e.Kernel == r.leader.ID && e.Evaluation == r.Evaluation.Index {
		return e
	}
	return nil
}

// description is the leader's name as a sentence.
func (r *reading) description() string { return "The best description is " + r.name(r.leader) + "." }

// named is how the first sentence ends: with the leader's name, which stands in the
// table of kernels, too.
func (r *reading) named() string {
	return " (" + r.name(r.leader) + ")."
}

// chance says, behind its n, that the data show no more than a mean and chance about it.
func (r *reading) chance() string {
	inputs := r.Start.Inputs()
	text := "othing repeats, grows or wanders: only chance"
	if len(inputs) > 1 {
		text = "o input tells anything: only chance"
	}
	c := r.Start.Target()
	if c == nil || !c.Transform.Identity() || !(c.SD > 0) || c.Mean == 0 {
		return text
	}
	// a tenth of the standard deviation is what matters of the mean
	digits := max(2, int(math.Ceil(math.Log10(math.Abs(c.Mean)/c.SD)))+1)
	mean := strings.TrimSpace(words.Significant(c.Mean, digits) + " " + spokenUnit(c))
	return text + " about a mean of " + mean + " (sd " + words.Significant(c.SD, 2) + ")"
}

// Shape says in half a sentence what functions a kernel stands for, without how large
// they are: patterns first, then what they lie on, then what is small beside these; ""
// where it cannot be taken apart. A period that the data do not show twice is no pattern.
func Shape(s *record.Start, k *record.Kernel) string { return shape(s, k, nil, nil, highAndLow) }

// detail is how much is said of what a kernel shows.
type detail int

const (
	highAndLow detail = iota // when patterns are high and low, and how large parts are, where that is known
	highOnly                 // not when they are low
	unsized                  // nor how large anything is
	calm                     // nothing of it
)

// shape is Shape with how large the largest parts are, where effects are known.
// What few of the kernels that are believed in have is said with a perhaps.
func shape(s *record.Start, k *record.Kernel, effects *record.Effects, common *shared, how detail) string {
	at := slices.IndexFunc(s.Kernels, func(i record.KernelInfo) bool { return i.ID == k.ID })
	if at < 0 || k.Fit == nil {
		return ""
	}
	w, components := newSpeller(s, options(s), &s.Kernels[at], k.Fit.Params)
	if w == nil {
		return ""
	}
	w.fit = k.Fit
	w.detail, w.effects = how, effects // which tell, too, what is small or may be nothing
	w.brief, w.shared = true, common
	var patterns, rest, small []string
	for _, p := range w.pieces(components) {
		switch {
		case p.small:
			small = append(small, p.text)
		case p.pattern:
			patterns = append(patterns, p.text)
		default:
			rest = append(rest, p.text)
		}
	}
	if w.line {
		rest = append(rest, "a line in the inputs")
	}
	text := words.Join(patterns)
	switch {
	case text == "":
		text = words.Join(rest)
	case len(rest) > 0:
		text += ", on " + words.Join(rest)
	}
	if len(small) > 0 {
		text += ", with " + words.Join(small)
	}
	return once(s.Target(), text)
}

// once leaves the name of what a column counts at the first number alone.
func once(c *datasets.ColumnSummary, text string) string {
	if c == nil || c.Unit != "" || spokenUnit(c) != c.Name {
		return text
	}
	counted := regexp.MustCompile(`([0-9]) ` + c.Name + `\b`) // a name of letters
	first := counted.FindStringIndex(text)
	if first == nil {
		return text
	}
	return text[:first[1]] + counted.ReplaceAllString(text[first[1]:], "$1")
}

// piece is a part of a kernel in words, told once however many components it is of.
type piece struct {
	text    string
	size    float64 // 0 where the sizes are not known
	pattern bool    // it repeats
	small   bool    // beside the largest
	of      int     // the component that it is of, -1 for several

	doubtful bool
}

// last orders what is so behind what is not.
func last(so bool) int {
	if so {
		return 1
	}
	return 0
}

// pieces are the parts of a kernel that are worth a word, the largest first.
func (w *speller) pieces(components []kernelspace.Component) (pieces []piece) {
	sizes, noise := w.sizes(components)
	for i := range components {
		c := &components[i]
		if len(components) > 1 && !slices.ContainsFunc(ops(c), shows) {
			continue
		}
		p := piece{text: w.component(c), of: i}
		if !c.Expr.IsChange() {
			head := &w.leaves(c)[0]
			p.pattern = repeats(head.Op) && !w.once(head)
		}
		if sizes != nil {
			p.size = sizes[i]
		}
		if at := slices.IndexFunc(pieces, func(q piece) bool { return q.text == p.text }); at >= 0 {
			pieces[at].size, pieces[at].of = pieces[at].size+p.size, -1
		} else {
			pieces = append(pieces, p)
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(b.size, a.size) })
	if len(pieces) == 0 {
		return nil
	}
	most, least := pieces[0].size, nothingPart*noise
	if most >= least { // else all are nothing, and all are told
		pieces = slices.DeleteFunc(pieces, func(p piece) bool { return p.size < least })
	}
	sized := 0
	for i := range pieces {
		p := &pieces[i]
		if text := w.withSize(components, *p); text != p.text && sized < mostSized {
			p.text = text
			sized++
		}
		if p.small = p.size < smallPart*most && !w.large(components, pieces[0], *p); p.small {
			if rest, ok := strings.CutPrefix(p.text, "a "); ok {
				p.text = "a small " + rest
			}
		}
		if p.of >= 0 && w.doubtful(&components[p.of]) {
			p.text, p.doubtful = "perhaps "+p.text, true
		}
	}
	// what is in doubt comes last, so that its perhaps is of nothing else
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(last(a.doubtful), last(b.doubtful)) })
	return pieces
}

// withSize is a piece in words with how large it is, where that is known of it.
func (w *speller) withSize(components []kernelspace.Component, p piece) string {
	if p.of < 0 || w.effects == nil || w.detail >= unsized {
		return p.text
	}
	c := &components[p.of]
	w.sized = true
	text := w.component(c)
	w.sized = false
	if text != p.text { // it says so of a day, a week or a year
		return text
	}
	return text + w.size(c)
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
	o.Dim, o.Levels = len(o.Columns), s.Levels
	_ = config.EachSetting(s.Config, func(section, key, value string) { // what cannot be read has the defaults
		if section == "kernels" {
			o.ARD = o.ARD || key == "ard" && strings.Contains(value, "true")
			o.SharedPeriod = o.SharedPeriod || key == "shared_period" && strings.Contains(value, "true")
		}
	})
	return o
}

// NotFound stands before what a kernel stands for where the data show no more than chance, which
// is first among kernels all the same: "" where they show more.
func NotFound(s *record.Standing) string {
	if s == nil || s.Start == nil || s.Start.Data == nil || s.Evaluation == nil {
		return ""
	}
	if leader := s.Evaluation.Leader(); leader == nil || leader.Fit == nil || !nothing(s, leader) {
		return ""
	}
	return "The data show only chance: nothing of this is found in them. "
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
