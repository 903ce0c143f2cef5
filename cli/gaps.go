package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/study"
)

// gapsFlags are the flags of study gaps.
type gapsFlags struct {
	figure, variant, seeds string
	set                    []string
	times                  int
	out                    string
	json, quiet            bool
	clusterFlags
}

func newGaps() *cobra.Command {
	var f gapsFlags
	var names []string
	for _, v := range study.Variants() {
		names = append(names, v.Name)
	}
	cmd := &cobra.Command{
		Use:   "gaps",
		Short: "Find out how far below the best known optima searches end",
		Long: "Draw data from a known kernel with many seeds, run the selection on each, and compare every kernel's local ELBO with the best " +
			"known: of its own solution taken on until nothing is gained, of a search of all rows with ten times the starts, in which the true " +
			"kernel begins from the hyperparameters that the data were drawn with, too, and of what that has found, and those hyperparameters " +
			"themselves, taken on likewise.\n\n" +
			"There are two gaps: of the local ELBO that is reported, and of the bound that hyperparameters are searched on (sparse.bound), where " +
			"the best came from. Expected is what a solution is told to be below its own optimum, own what it was found to be. Seconds " +
			"are of CPU, of one core, for all kernels of a seed. The number of inducing inputs must be stated.\n\n" +
			"With --out the rows are also written to study-gaps-<variant>-<figure>.csv; with the directory of the same study, which may have " +
			"more --seeds now, it goes on where that was cut.",
		Example: "# figure 1a with noise, 32 inducing inputs\n" +
			"kestrel study gaps --figure fig1a --seeds 201..206 --set sparse.inducing=32 -o gaps\n\n" +
			"# without noise, as the paper has it\n" +
			"kestrel study gaps --figure fig1b --variant iii --seeds 201..206 --set sparse.inducing=16 -o without",
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.figure, "figure", "fig1a", "config with synthetic data")
	fs.StringVar(&f.variant, "variant", "i", "of the figure: "+strings.Join(names, ", "))
	fs.StringVar(&f.seeds, "seeds", fewSeeds, "seeds, such as 1..10 or 1,3,5")
	fs.IntVar(&f.times, "times", 10, "starts of the search for the best known, in those of the run")
	fs.StringArrayVar(&f.set, "set", nil, "override a key of the config, after the variant: section.key=value; may be repeated")
	fs.StringVarP(&f.out, "out", "o", "", "directory for the table as CSV")
	fs.BoolVar(&f.json, "json", false, "write one JSON object a line instead of Markdown")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress lines")
	f.clusterFlags.register(fs, "; with --out")
	noErr(cmd.RegisterFlagCompletionFunc("figure", completeConfigs))
	noErr(cmd.RegisterFlagCompletionFunc("variant", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// gaps finds everything that is wrong with the user's wishes before any work begins.
func (f *gapsFlags) gaps() (*study.Gaps, []uint64, error) {
	if f.times < 2 {
		return nil, nil, fmt.Errorf("--times %d: must be at least 2", f.times)
	}
	if err := f.checkWith(f.out); err != nil {
		return nil, nil, err
	}
	seeds, err := study.ParseSeeds(f.seeds)
	if err != nil {
		return nil, nil, fmt.Errorf("--seeds: %w", err)
	}
	v, err := study.FindVariant(f.variant)
	if err != nil {
		return nil, nil, fmt.Errorf("--variant: %w", err)
	}
	set, err := study.Overrides(f.set)
	if err != nil {
		return nil, nil, err
	}
	g, err := study.NewGaps(f.figure, v, f.times, set)
	if err != nil {
		return nil, nil, err
	}
	return g, seeds, prepare.CheckDevice(g.Config.Device)
}

func (f *gapsFlags) run(cmd *cobra.Command) error {
	g, seeds, err := f.gaps()
	if err != nil {
		return err
	}
	sink := &gapsSink{w: cmd.OutOrStdout(), json: f.json}
	s := bySeed[[]*study.GapRow]{
		title: fmt.Sprintf("%s (%s)", g.Figure, g.Variant.Name), seeds: seeds, out: f.out, quiet: f.quiet, first: &g.Config,
		crew: &f.clusterFlags, alone: true,
		asked: series.Asked{What: "study of gaps", Configs: map[string]string{"": g.Config.TOML()}, Flags: map[string]string{
			"--figure": g.Figure, "--variant": f.variant, "--seeds": f.seeds, "--times": strconv.Itoa(f.times),
		}},
		open: func(dir *inside.Dir) (seedTable[[]*study.GapRow], error) { return study.OpenGaps(dir, g) },
		some: func(rows []*study.GapRow) bool { return rows != nil },
		here: g.Run, by: g.RunBy, sink: sink,
		end: func(all [][]*study.GapRow) error { return sink.end(g.SummariseGaps(slices.Concat(all...))) },
	}
	return s.run(cmd)
}

// gapsSink writes results for people, or an object a line.
type gapsSink struct {
	w    io.Writer
	json bool
}

func (s *gapsSink) begin() error {
	if s.json {
		return nil
	}
	_, err := io.WriteString(s.w,
		"| figure | seed | kernel | local ELBO | best known | gap | gap of the bound searched on | from | expected | own | marked | CPU |\n"+
			"|---|---:|---|---:|---:|---:|---:|---|---:|---:|---|---:|\n")
	return err
}

func (s *gapsSink) write(rows []*study.GapRow) error {
	for _, r := range rows {
		if s.json {
			err := jsonSink{s.w}.write(struct {
				Type string `json:"type"`
				*study.GapRow
			}{"kernel", r})
			if err != nil {
				return err
			}
			continue
		}
		marked := "no"
		if r.Flagged {
			marked = "yes"
		}
		_, err := fmt.Fprintf(s.w, "| %s | %d | %s | %s | %s | %.2f | %.2f | %s | %s | %s | %s | %.3g |\n", markdownCell(r.Figure), r.Seed,
			markdownCell(r.Kernel), r.ELBO.Format("%.2f"), r.Best.Format("%.2f"), r.Gap(), r.Missing(), r.From, r.Expected.Format("%.2g"),
			r.Own.Format("%.2f"), marked, float64(r.CPU))
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *gapsSink) end(sum study.GapSummary) error {
	if s.json {
		return jsonSink{s.w}.write(map[string]any{"type": "summary", "summary": sum})
	}
	_, err := fmt.Fprintf(s.w, "\n%s\n", sum)
	return err
}
