package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/study"
	"example.com/kestrel/experiment/words"
)

// Seeds of a figure unless the user says so, and the size of a kernel space
// from which on there are only the few.
const (
	manySeeds  = "1..10"
	fewSeeds   = "1..3"
	largeSpace = 50
)

// studyFlags are the flags of study.
type studyFlags struct {
	figures, variants, set []string
	seeds                  string
	compareStarts          int
	out                    string
	json, quiet            bool
	clusterFlags

	make func(seedOf) (*study.Row, error)
}

// seedOf is a seed of a table, with so many times the starts.
type seedOf struct {
	table *study.Case
	seed  uint64
	times int
}

func newStudy() *cobra.Command {
	var f studyFlags
	var doc strings.Builder
	var names []string
	for _, v := range study.Variants() {
		names = append(names, v.Name)
		fmt.Fprintf(&doc, "\n  %-6s %s", v.Name, v.Doc)
	}
	cmd := &cobra.Command{
		Use:   "study",
		Short: "Find out how often the true kernel is selected",
		Long: "Draw data from a known kernel with many seeds, run the selection on each, and tabulate what became of the true kernel: its " +
			"final rank, its gap to the leader in nats ± the standard error, its posterior q* and Bayes' posterior, whether it shares the first " +
			"place within a nat, from which proportion of the data on it led and where it was first ahead, the largest q* of any kernel in the " +
			"first tenth of the data, and how many nested pairs of kernels end more than 5 nats in the wrong order. Where the true kernel is not " +
			"within a nat and there are at most 2000 rows, the exact gap is that of the evidence with all of k(X,X), each climbed to its best, " +
			"from where the data were drawn, too: above a nat, the data themselves prefer the leader.\n\n" +
			"The tables are Markdown, one for each variant and figure, and grow row by row; Ctrl-C ends the study with the rows there are. With " +
			"--out they are also written as CSV, study-<variant>-<figure>.csv, with the final local ELBO of every kernel in " +
			"study-elbos-<variant>-<figure>.csv; with the directory of the same study, which may have more seeds now, it goes on where that " +
			"was cut.\n\n" +
			"Without flags it studies fig1a and fig1b with seeds 1..10, fig1c and fig1d with seeds 1..3, under i, ii and iii: hours rather than " +
			"minutes on two cores.\n\n" +
			"Variants:" + doc.String(),
		Example: "# the first two figures with observation noise\nkestrel study --figures fig1a,fig1b --variant i -o tables\n\n" +
			"# the paper's setting, three seeds, longer optimisation\n" +
			"kestrel study --figures fig1c-authors --variant iii --seeds 1..3 --set schedule.steps=100\n\n" +
			"# would eight times the starts find better optima?\nkestrel study --figures fig1a --variant i --compare-starts 8",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.AddCommand(newCalibrate(), newGaps(), newPlanted())
	fs := cmd.Flags()
	fs.StringSliceVar(&f.figures, "figures", []string{"fig1a", "fig1b", "fig1c", "fig1d"}, "configs with synthetic data, separated by commas")
	fs.StringSliceVar(&f.variants, "variant", []string{"i", "ii", "iii"}, "variants, separated by commas: "+strings.Join(names, ", "))
	fs.StringVar(&f.seeds, "seeds", "",
		"seeds, such as 1..10 or 1,3,5; default "+manySeeds+", or "+fewSeeds+" for spaces of more than "+strconv.Itoa(largeSpace)+" kernels")
	fs.StringArrayVar(&f.set, "set", nil, "override a key of the config, after the variant: section.key=value; may be repeated")
	fs.IntVar(&f.compareStarts, "compare-starts", 0, "run each seed again with n times the starts, and compare the final local ELBOs")
	fs.StringVarP(&f.out, "out", "o", "", "directory for the tables as CSV")
	fs.BoolVar(&f.json, "json", false, "write one JSON object a line instead of Markdown")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress lines")
	f.clusterFlags.register(fs, "; with --out")
	noErr(cmd.RegisterFlagCompletionFunc("figures", completeConfigs))
	noErr(cmd.RegisterFlagCompletionFunc("variant", severalOf(names)))
	return cmd
}

// studyTable is a case with the seeds to run.
type studyTable struct {
	*study.Case
	seeds []uint64
	asked string        // for seeds, as text
	known *study.Tables // nil without a directory
}

func (t *studyTable) id() string { return t.Variant.Name + "-" + t.Figure }

// tables finds everything that is wrong with the user's wishes before any work
// begins.
func (f *studyFlags) tables(cmd *cobra.Command) ([]studyTable, error) {
	if cmd.Flags().Changed("compare-starts") && f.compareStarts < 2 {
		return nil, fmt.Errorf("--compare-starts %d: must be at least 2", f.compareStarts)
	}
	set, err := study.Overrides(f.set)
	if err != nil {
		return nil, err
	}
	var all []studyTable
	seen := map[string]bool{}
	for _, name := range f.variants {
		v, err := study.FindVariant(name)
		if err != nil {
			return nil, fmt.Errorf("--variant: %w", err)
		}
		for _, figure := range f.figures {
			c, err := study.NewCase(figure, v, set)
			if err != nil {
				return nil, err
			}
			if f.compareStarts > 0 && c.Config.Settings.Starts == 0 {
				return nil, fmt.Errorf("--compare-starts: %s has optimise.starts = 0; there is nothing to multiply", figure)
			}
			t := studyTable{Case: c}
			if seen[t.id()] {
				return nil, fmt.Errorf("figure %s (%s) is asked for twice", c.Figure, c.Variant.Name)
			}
			seen[t.id()] = true
			t.asked = f.seeds
			if t.asked == "" && c.Kernels > largeSpace {
				t.asked = fewSeeds
			} else if t.asked == "" {
				t.asked = manySeeds
			}
			if t.seeds, err = study.ParseSeeds(t.asked); err != nil {
				return nil, fmt.Errorf("--seeds: %w", err)
			}
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("nothing to study: name a figure and a variant")
	}
	return all, nil
}

func (f *studyFlags) run(cmd *cobra.Command) (err error) {
	tables, err := f.tables(cmd)
	if err != nil {
		return err
	}
	if err := f.checkCrew(tables); err != nil {
		return err
	}
	if f.out != "" {
		shut, err := f.open(cmd, tables)
		if err != nil {
			return err
		}
		defer func() {
			if e := shut(); err == nil {
				err = failed(e)
			}
		}()
	}
	ctx := cmd.Context()
	keep(cmd)
	end, err := f.begin(ctx, cmd, tables)
	if err != nil {
		return failed(err)
	}
	defer func() { end(err == nil) }()
	for i, t := range tables {
		if i > 0 && !f.json {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		if err := f.table(cmd, t); err != nil {
			if errors.Is(err, errInterrupted) {
				line := "interrupted; the rows written so far are whole"
				if f.out != "" {
					line += "; " + again(cmd, f.out) + " goes on"
				}
				return &exitError{exitInterrupted, errors.New(line)}
			}
			return err
		}
	}
	return nil
}

// begin makes ready what makes the runs: this process, one after the other, or, where others
// take part, all of them, all at once. end is told whether all has been made.
func (f *studyFlags) begin(ctx context.Context, cmd *cobra.Command, tables []studyTable) (end func(over bool), err error) {
	say := oneByOne(func(line string) {
		if !f.quiet {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
	})
	first := &tables[0].Config
	crew, leave, err := f.crew(ctx, cmd, f.out, f.quiet, first.Device, first.Cluster, say)
	if err != nil {
		return nil, err
	}
	if crew == nil {
		f.make = func(s seedOf) (*study.Row, error) {
			return s.table.Run(ctx, s.seed, s.times, &record.Progress{Out: cmd.ErrOrStderr(), Quiet: f.quiet})
		}
		return leave, nil
	}
	crew.Alone(true)
	var missing []seedOf
	for _, t := range tables {
		for _, seed := range t.seeds {
			var row, more *study.Row
			if t.known != nil {
				row, more = t.known.Known(seed)
			}
			if row == nil {
				missing = append(missing, seedOf{t.Case, seed, 1})
			}
			if more == nil && f.compareStarts > 0 {
				missing = append(missing, seedOf{t.Case, seed, f.compareStarts})
			}
		}
	}
	var stop func()
	f.make, stop = ahead(ctx, missing, func(ctx context.Context, s seedOf) (*study.Row, error) {
		return s.table.RunBy(ctx, crew, s.seed, s.times)
	})
	return func(over bool) { stop(); leave(over) }, nil
}

// checkCrew returns an error if workers cannot take part in what is asked for.
func (f *studyFlags) checkCrew(tables []studyTable) error {
	if err := f.checkWith(f.out); err != nil {
		return err
	}
	for _, t := range tables {
		if f.cluster != "" && t.Config.Device != tables[0].Config.Device {
			return fmt.Errorf("--cluster: %s and %s are to be computed on different devices", tables[0].Figure, t.Figure)
		}
	}
	return nil
}

// open takes the directory for the tables, opens their files and reads what is known.
func (f *studyFlags) open(cmd *cobra.Command, tables []studyTable) (shut func() error, err error) {
	asked := series.Asked{What: "study", Flags: map[string]string{}, Configs: map[string]string{}}
	if f.compareStarts > 0 {
		asked.Flags["--compare-starts"] = strconv.Itoa(f.compareStarts)
	}
	var figures, variants []string
	for _, t := range tables {
		asked.Configs[t.id()], asked.Flags["--seeds of "+t.id()] = t.Config.TOML(), t.asked
		figures, variants = append(figures, t.Figure), append(variants, t.Variant.Name)
	}
	for flag, names := range map[string][]string{"--figures": figures, "--variant": variants} {
		slices.Sort(names)
		asked.Flags[flag] = strings.Join(slices.Compact(names), ",")
	}
	dir, err := series.TakeAsked(f.out, asked, nil, func(key, was, is string) bool {
		return strings.HasPrefix(key, "--seeds of ") && study.MoreSeeds(was, is)
	})
	if err != nil {
		return nil, err
	}
	var cases []*study.Case
	for _, t := range tables {
		cases = append(cases, t.Case)
		if !dir.Known && err == nil {
			err = prepare.CheckDevice(t.Config.Device)
		}
	}
	var known []*study.Tables
	if err == nil {
		known, err = study.OpenTables(dir.Owner.Dir, cases, f.compareStarts > 0)
	}
	if err != nil {
		dir.GiveUp()
		return nil, err
	}
	shut = func() (first error) {
		for _, t := range known {
			first = cmp.Or(first, t.Close())
		}
		return cmp.Or(first, dir.Close())
	}
	done, all := 0, 0
	for i := range tables {
		t := &tables[i]
		t.known = known[i]
		for _, seed := range t.seeds {
			row, more := t.known.Known(seed)
			if row != nil {
				done++
			}
			if all++; f.compareStarts > 0 {
				all++
			}
			if more != nil {
				done++
			}
		}
	}
	if dir.Known && done < all && !f.quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), series.GoesOn(done, all))
	}
	return shut, nil
}

// table makes one table. An interruption leaves the rows there are, and their
// summary.
func (f *studyFlags) table(cmd *cobra.Command, t studyTable) error {
	sinks := studySinks{&markdownSink{w: cmd.OutOrStdout()}}
	if f.json {
		sinks[0] = jsonSink{cmd.OutOrStdout()}
	}
	if t.known != nil {
		sinks = append(sinks, &csvSink{t.known})
	}
	if err := sinks.begin(t.Case); err != nil {
		return failed(err)
	}
	var rows []*study.Row
	var comparisons []*study.StartsComparison
	var workErr error
	for i, seed := range t.seeds {
		say := func(more string) {
			if !f.quiet {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s (%s), seed %d, %d of %d%s\n", t.Figure, t.Variant.Name, seed, i+1, len(t.seeds), more)
			}
		}
		var row, more *study.Row
		if t.known != nil {
			row, more = t.known.Known(seed)
		}
		if row != nil {
			say(": finished already")
		} else {
			say("")
			if row, workErr = f.make(seedOf{t.Case, seed, 1}); workErr != nil {
				break
			}
		}
		rows = append(rows, row)
		if err := sinks.row(row); err != nil {
			return failed(err)
		}
		if f.compareStarts == 0 {
			continue
		}
		with := fmt.Sprintf(", with %d times the starts", f.compareStarts)
		if more != nil {
			say(with + ": finished already")
		} else {
			say(with)
			if more, workErr = f.make(seedOf{t.Case, seed, f.compareStarts}); workErr != nil {
				break
			}
		}
		c := study.CompareStarts(row, more)
		comparisons = append(comparisons, c)
		if err := sinks.compared(c, more); err != nil {
			return failed(err)
		}
	}
	if len(rows) > 0 {
		if err := sinks.end("summary", t.Summarise(rows)); err != nil {
			return failed(err)
		}
	}
	if len(comparisons) > 0 {
		if !f.json {
			if err := writeComparisons(cmd.OutOrStdout(), comparisons); err != nil {
				return failed(err)
			}
		}
		if err := sinks.end("starts-summary", t.SummariseStarts(comparisons)); err != nil {
			return failed(err)
		}
	}
	return workErr
}

// studySink takes a study's results as they come, and writes each whole.
type studySink interface {
	begin(c *study.Case) error
	row(r *study.Row) error
	compared(c *study.StartsComparison, more *study.Row) error
	end(what string, summary fmt.Stringer) error
}

// studySinks tells several sinks, up to the first error.
type studySinks []studySink

func (ss studySinks) each(tell func(studySink) error) error {
	for _, s := range ss {
		if err := tell(s); err != nil {
			return err
		}
	}
	return nil
}

func (ss studySinks) begin(c *study.Case) error {
	return ss.each(func(s studySink) error { return s.begin(c) })
}

func (ss studySinks) row(r *study.Row) error {
	return ss.each(func(s studySink) error { return s.row(r) })
}

func (ss studySinks) compared(c *study.StartsComparison, more *study.Row) error {
	return ss.each(func(s studySink) error { return s.compared(c, more) })
}

func (ss studySinks) end(what string, summary fmt.Stringer) error {
	return ss.each(func(s studySink) error { return s.end(what, summary) })
}

// markdownSink writes a table for people.
type markdownSink struct{ w io.Writer }

func (m *markdownSink) begin(c *study.Case) error {
	s := c.Config.Settings
	_, err := fmt.Fprintf(m.w,
		"### %s (%s): %s\n\nTrue kernel %s among %d; inducing inputs %s, noise %g sd, optimizer %s, %d starts, s = %g, τ = %g.\n\n%s%s",
		words.PlainLine(c.Figure), c.Variant.Name, c.Variant.Doc, words.PlainLine(c.Truth),
		c.Kernels, c.Config.InducingText(), c.Config.Data.Noise, s.Optimizer, s.Starts, s.PriorVariance, s.EvidenceScale,
		"| seed | rank | leader | gap ± s.e. | exact gap | q* | Bayes | tied | led from | first ahead | early max q* | "+
			"nested violations | s |\n",
		"|---:|---:|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|\n")
	return err
}

func (m *markdownSink) row(r *study.Row) error {
	if r.Failure != "" {
		_, err := fmt.Fprintf(m.w, "| %d | failed | %s | | | | | | | | | | %.3g |\n", r.Seed, markdownCell(r.Failure), float64(r.Seconds))
		return err
	}
	rank, gap, tied := strconv.Itoa(r.Rank), fmt.Sprintf("%.2f ± %.2f", float64(r.Gap), float64(r.SE)), "no"
	if r.Rank == 0 {
		rank, gap = "out", r.Gap.Format("%.2f")
	}
	if r.Tied {
		tied = "yes"
	}
	_, err := fmt.Fprintf(m.w, "| %d | %s | %s | %s | %s | %.4f | %.4f | %s | %s | %s | %s | %d/%d | %.3g |\n",
		r.Seed, rank, markdownCell(r.Leader), gap, r.ExactGap.Format("%.2f"),
		float64(r.Posterior), float64(r.Bayes), tied, share(r.LeadFrom, "%.3g"), share(r.FirstAhead, "%.3g"), share(r.EarlyMax, "%.3f"),
		r.Violations, r.Pairs, float64(r.Seconds))
	return err
}

// compared writes nothing: the comparisons are a table of their own.
func (m *markdownSink) compared(*study.StartsComparison, *study.Row) error { return nil }

func (m *markdownSink) end(_ string, summary fmt.Stringer) error {
	_, err := fmt.Fprintf(m.w, "\n%s\n", summary)
	return err
}

// share shows a number that may not be there.
func share(p *float64, format string) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf(format, *p)
}

// jsonSink writes an object a line.
type jsonSink struct{ w io.Writer }

func (j jsonSink) write(v any) error {
	enc := json.NewEncoder(j.w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (j jsonSink) begin(*study.Case) error { return nil }

func (j jsonSink) row(r *study.Row) error {
	return j.write(struct {
		Type string `json:"type"`
		*study.Row
	}{"seed", r})
}

func (j jsonSink) compared(c *study.StartsComparison, _ *study.Row) error {
	return j.write(struct {
		Type string `json:"type"`
		*study.StartsComparison
	}{"starts", c})
}

func (j jsonSink) end(what string, summary fmt.Stringer) error {
	return j.write(map[string]any{"type": what, "summary": summary})
}

// writeComparisons writes the table of what more starts changed.
func writeComparisons(w io.Writer, cs []*study.StartsComparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nRise of the final local ELBOs in nats, with %d starts in the place of %d:\n\n%s%s", cs[0].More, cs[0].Starts,
		"| seed | kernels | median rise | largest rise | of | leader changed |\n",
		"|---:|---:|---:|---:|---|---|\n")
	for _, c := range cs {
		changed := "no"
		if c.Changed {
			changed = "from " + orNone(c.Leader) + " to " + orNone(c.MoreLeader)
		}
		fmt.Fprintf(&b, "| %d | %d | %.3f | %.3f | %s | %s |\n", c.Seed, c.Kernels, float64(c.MedianRise),
			float64(c.MostRise), orNone(c.MostKernel), changed)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func orNone(id string) string {
	if id == "" {
		return "-"
	}
	return markdownCell(id)
}

// markdownCell is foreign text, such as the name of a kernel, as one cell of a
// table that divides them by bars, fit for a terminal.
func markdownCell(text string) string {
	return strings.ReplaceAll(words.PlainLine(text), "|", `\|`)
}

// csvSink adds to a study's CSV files what they lack.
type csvSink struct{ tables *study.Tables }

func (s *csvSink) begin(*study.Case) error { return nil }

func (s *csvSink) row(r *study.Row) error { return s.tables.Add(r) }

func (s *csvSink) compared(c *study.StartsComparison, more *study.Row) error {
	return s.tables.AddComparison(c, more)
}

func (s *csvSink) end(string, fmt.Stringer) error { return nil }
