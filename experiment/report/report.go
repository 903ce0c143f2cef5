package report

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/figures"
	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/template"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// reportPage is the template of a report. It is well-formed XML, too.
//
//go:embed page.html
var reportPage string

// reportCapacity is the number of points of a trace that a report keeps.
const reportCapacity = 1000

// Write writes a page of HTML about the run in a directory, as it stands
// now: it may have ended, have been cut off, or be going on. The page needs
// nothing else: figures are in it as SVG, there is no script, and nothing is
// loaded from anywhere. All foreign text in it is escaped.
//
// What cannot be found out, such as the fit of a run whose data have been moved,
// is left out with the reason, which is returned, too; table is where they are now, ""
// where they were. Errors are those of history.Read, of w, and the end of ctx.
func Write(ctx context.Context, dir, table string, now time.Time, w io.Writer) (left string, err error) {
	h, err := history.Read(ctx, dir, reportCapacity)
	if err != nil {
		return "", err
	}
	r := &reporter{dir: dir, table: table, history: h, now: now, page: &page{}}
	if err := r.fill(ctx); err != nil {
		return "", err
	}
	// Names may hold what steers a terminal or an editor that shows the page.
	if err := template.Page(words.PlainWriter(w), reportPage, r.page); err != nil {
		return "", fmt.Errorf("report on %q: %w", dir, err)
	}
	return r.page.FitNote, nil
}

// page is what the template shows, in its order; all texts are ready for
// reading.
type page struct {
	Name, State, StateNote string
	Finding                string // what was found, in a few sentences
	Facts                  []fact
	Summary                []string
	Traces                 []figures.PageFigure
	Kernels                []kernelLine
	Weighed                bool   // their expressions have a prior
	Unbounded              string // says that slack says nothing, "" where it does
	Details                []kernelDetail
	Others                 int      // live kernels without details
	Effects                []string // of levels, a sentence each
	Gone                   []goneKernels
	Fit, Residuals         *figures.PageFigure
	FitNote                string
	Scores                 []scoreLine
	Levels                 []string // of intervals, of which Scores say how many hold
	Gain                   string   // of averaging
	Scaled                 bool     // Scores have MASE and sMAPE
	Worth                  []string // of the scores, a line each
	NoBaseline             []string // which could not be had, and why
	TargetUnit             string
	Calibration            []calibrationLine
	Intervals              []string // of calibrationLine.Levels
	CalibrationNote        string
	Columns                []columnLine
	Log                    []logEntry
	LogDropped             int
	Config                 string
	Versions               []fact
	Commands               []string
	CommandNote            string
}

// fact is a name and what stands behind it.
type fact struct{ Name, Value string }

// scoreLine is how well a method predicts the rows held out.
type scoreLine struct {
	Method          string
	Kernels, Rows   int
	RMSE, MAE, NLPD string
	CRPS            string
	MASE, SMAPE     string   // empty where page.Scaled is false
	Coverage        []string // of page.Levels
	Note            string
}

// calibrationLine is how many targets lie within the intervals of a method.
type calibrationLine struct {
	Method string
	Rows   int
	Levels []calibrationCell
}

type calibrationCell struct{ Actual, Chance string }

// columnLine describes a column of the data.
type columnLine struct{ Name, Role, Unit, Low, High, Mean, SD, Missing string }

type logEntry struct{ Time, Text string }

// reporter gathers a page.
type reporter struct {
	dir     string
	table   string // where the run's is now; "": where it was
	history *history.History
	now     time.Time
	page    *page
	options *kernelspace.Options // how the run compiled its kernels; nil if that is not known
}

func (r *reporter) fill(ctx context.Context) error {
	h, p := r.history, r.page
	p.Name = filepath.Base(r.dir)
	p.State, p.StateNote = r.state()
	p.Finding = finding.As(&h.Standing, record.State(p.State), r.dir).Text()
	r.log()
	if h.Start != nil {
		p.Name = h.Start.Name
		p.Config = h.Start.Config
		if c := h.Start.Target(); c != nil {
			p.TargetUnit = c.Unit
		}
		r.compileOptions()
		r.columns()
	}
	r.facts()
	r.versions()
	r.reproduce()
	if h.Evaluation == nil {
		p.Summary = []string{"There is no evaluation yet, so there are no results."}
		return nil
	}
	r.traces()
	r.kernels()
	r.scores()
	return r.inspect(ctx)
}

// compileOptions reads from the run's config how kernels were compiled.
func (r *reporter) compileOptions() {
	c, err := config.LoadInside(r.dir, record.ConfigFile)
	if err != nil {
		return // of another version, say; the rest of the page does without
	}
	var names []string
	for _, in := range r.history.Start.Inputs() {
		names = append(names, in.Name)
	}
	r.options = &kernelspace.Options{
		Columns: names, Dim: len(names), ARD: c.Settings.ARD, SharedPeriod: c.Settings.SharedPeriod, Levels: r.history.Start.Levels,
	}
}

// state says how the run stands, and how that is known.
func (r *reporter) state() (state, note string) {
	h := r.history
	owner, _ := rundir.OwnerOf(r.dir)
	fate := rundir.Fate(&h.Standing, owner)
	last := "the last event is " + words.ShortDuration(r.now.Sub(h.Time)) + " old"
	switch {
	case fate.Settled():
		note = h.Reason
	case fate == rundir.Crashed:
		note = "it was " + string(h.State) + " when its process ended without a word; what is here is what it had written down"
	case owner.Known:
		note = "still going on when this page was made; " + last
	default:
		note = "it is going on or was cut off; " + last
	}
	return string(fate), note
}

func (r *reporter) add(name, format string, args ...any) {
	r.page.Facts = append(r.page.Facts, fact{name, fmt.Sprintf(format, args...)})
}

// facts is the head of the page.
func (r *reporter) facts() {
	h := r.history
	s := h.Start
	if s != nil {
		source := s.Data.Source
		if s.Data.Path != "" {
			source = s.Data.Path
		}
		r.add("Data", "%s (%s)", s.Data.Name, source)
		r.add("Rows", "%d: %d for training, %d held out", s.Data.Rows, s.Data.Train, s.Data.Test)
		if s.Data.Kernel != "" {
			r.add("True kernel", "%s", s.Data.Kernel)
		}
		r.add("Kernels", "%s", history.KernelsText(&h.Standing))
		r.add("Inducing inputs M", "%s", history.InducingText(h.Inducing))
		r.add("Seed", "%d", s.Seed)
		r.add("Device", "%s, %s", s.Device, words.Count(s.Lanes, "lane"))
	}
	r.add("Started", "%s", h.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	r.add("Time of work", "%s", words.ShortDuration(time.Duration(float64(h.Seconds)*float64(time.Second))))
	if e := h.Evaluation; e != nil {
		r.add("Evaluation", "%d of %d, %.4g %% of the training rows seen (%d)", e.Index, e.Planned, 100*e.Proportion, e.RowsSeen)
		if l := e.Leader(); l != nil && h.Family.Text(l.ID) != "" {
			r.add("Grown", "%s", h.Family.Text(l.ID))
		}
		if c := h.CutGrowth(); c != nil {
			r.add("Growth", "%s", c.Text())
		}
	}
}

// columns describes the data.
func (r *reporter) columns() {
	for i := range r.history.Start.Data.Columns {
		c := &r.history.Start.Data.Columns[i]
		l := columnLine{Name: c.Name, Role: c.Role, Unit: c.Unit, Missing: fmt.Sprint(c.Missing),
			Low: fiveDigits(c.Min), High: fiveDigits(c.Max), Mean: fiveDigits(c.Mean), SD: fiveDigits(c.SD)}
		if c.First != "" {
			l.Low, l.High, l.Mean = c.First, c.Last, ""
		}
		r.page.Columns = append(r.page.Columns, l)
	}
}

func fiveDigits(v float64) string { return words.Significant(v, 5) }

// log lists what happened, of what came of it only prunings and restorings.
func (r *reporter) log() {
	lines, dropped := r.history.Lines()
	r.page.LogDropped = dropped
	for _, l := range lines {
		if l.Level != history.LevelEvaluation || l.Type == record.EventPruned || l.Type == record.EventRestored {
			r.page.Log = append(r.page.Log, logEntry{l.Time.UTC().Format("2006-01-02 15:04:05"), l.Text})
		}
	}
}

// scores lists the last metrics and the baselines.
func (r *reporter) scores() {
	for _, level := range record.CoverageLevels {
		r.page.Levels = append(r.page.Levels, record.LevelText(level))
	}
	if len(r.history.Metrics) == 0 {
		return
	}
	for _, m := range r.history.Compare() {
		l := scoreLine{
			Method: m.Label, Kernels: m.Kernels, Rows: m.TestRows, RMSE: fiveDigits(float64(m.RMSE)),
			MAE: fiveDigits(float64(m.MAE)), CRPS: m.CRPS.Format("%.5g"),
			NLPD: m.NLPD.Format("%.4f"), MASE: m.MASE.Format("%.4g"), SMAPE: m.Percent.Format("%.4g"), Note: m.Note,
		}
		r.page.Scaled = r.page.Scaled || !math.IsNaN(float64(m.MASE))
		for _, share := range m.Coverage() {
			l.Coverage = append(l.Coverage, percent(float64(share)))
		}
		r.page.Scores = append(r.page.Scores, l)
	}
	r.page.Worth, r.page.NoBaseline = r.history.Verdict(), r.history.Start.LeftOut()
	r.page.Gain = record.AveragingGain(r.history.Metrics)
}

// percent writes a share, "" if it is not known.
func percent(share float64) string {
	if math.IsNaN(share) {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

func (r *reporter) versions() {
	own := record.ReadBuild()
	if s := r.history.Start; s != nil {
		r.page.Versions = []fact{
			{"Run by", "kestrel " + s.Build.String()}, {"Device", s.Device}, {"Data sha256", s.Data.SHA256},
		}
		if sum := s.Data.MaskSHA256; sum != "" {
			r.page.Versions = append(r.page.Versions, fact{"Mask sha256", sum})
		}
	}
	r.page.Versions = append(r.page.Versions,
		fact{"Report made by", "kestrel " + own.String()},
		fact{"Report made at", r.now.UTC().Format("2006-01-02 15:04:05 UTC")},
		fact{"Format of the event log", fmt.Sprint(record.Version)})
}

func (r *reporter) reproduce() {
	config := words.Shell(filepath.Join(r.dir, record.ConfigFile))
	again, grows := "", r.growthOrders()
	if grows != "" && !r.history.Start.Grows {
		again = " --grow"
	}
	r.page.Commands = []string{
		"kestrel run " + config + again + " --headless --out again",
		"kestrel export " + words.Shell(r.dir) + " -o tables",
		"kestrel predict " + words.Shell(r.dir) + " --data new.csv -o predictions.csv",
	}
	if hand := r.byHand(); len(hand) > 0 {
		r.page.CommandNote = "The config does not hold what was ordered while the run went on: kernels were " + words.Join(hand) +
			". See --prune-top and --then-refine of kestrel run. "
	}
	r.page.CommandNote += grows
	if slices.ContainsFunc(r.history.Marks(), func(m history.Mark) bool { return m.Kind == history.MarkGrown }) {
		r.page.CommandNote += "Rows came while the run learned; run again, it has all of them from the beginning."
	}
}

// byHand says what was done to kernels by orders, each once; that they are to grow, or no more, is another matter.
func (r *reporter) byHand() (hand []string) {
	more := slices.ContainsFunc(r.history.Orders, func(o record.Order) bool {
		return o.Change != nil && *o.Change != vbks.Change{Grow: o.Change.Grow}
	})
	for _, m := range r.history.Marks() {
		switch m.Kind {
		case history.MarkReoptimised:
			if !more {
				continue
			}
		case history.MarkPruned, history.MarkRestored:
		default:
			continue
		}
		if verb := string(m.Kind); !m.Auto && !slices.Contains(hand, verb) {
			hand = append(hand, verb)
		}
	}
	return hand
}

// growthOrders says when the space was told to grow or to grow no more, and how that is had again; "" where it was not.
func (r *reporter) growthOrders() (text string) {
	on := r.history.Start != nil && r.history.Start.Grows
	for _, o := range r.history.Orders {
		switch {
		case o.Change == nil || o.Change.Grow == "" || on == (o.Change.Grow == vbks.GrowOn):
			continue
		case text == "" && !on: // the config does not say so
			text = fmt.Sprintf("The space was told to grow after evaluation %d; --grow has it grow from the beginning, and "+
				"kestrel order again reoptimise --grow on from where it is given. ", o.After)
		case !on:
			text += fmt.Sprintf("It was told to grow again after evaluation %d. ", o.After)
		default:
			text += fmt.Sprintf("Growth was ended by order after evaluation %d: kestrel order again reoptimise --grow off. ", o.After)
		}
		on = !on
	}
	return text
}
