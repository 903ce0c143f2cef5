package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/study"
	"example.com/kestrel/experiment/words"
)

// plantedFlags are the flags of study planted.
type plantedFlags struct {
	base, set           []string
	leaves, rows, seeds string
	out                 string
	alone, json, quiet  bool
	clusterFlags
}

func newPlanted() *cobra.Command {
	var f plantedFlags
	cmd := &cobra.Command{
		Use:   "planted",
		Short: "Find out whether a growing space finds the kernel that data were drawn from",
		Long: "Draw kernels of so many base kernels, data sets from them as study calibrate does, until one is needed as it is: with any of " +
			"its base kernels removed the evidence is three nats less or more. Let the space of kernels grow on each, and compare the evidence of " +
			"the kernel that leads in the end with that of the planted one: exact, with all of k(X,X), climbed to its mode, of the planted one " +
			"from the hyperparameters that the data were drawn with, and with the volume of that mode. It is found where it leads, or " +
			"what leads is within a nat, or above: the data do not tell the two apart, or prefer the other. Since the prior over the grammar " +
			"has its say in what leads, the first kernel that was tried and is as good by evidence alone is told, too.\n\n" +
			"Beside it, but with --alone, three other searches train one kernel after the other on the same rows, until one is as good, " +
			"there is no more to try, or they have trained twice as many kernels as growth had tried when the first such came, or else its " +
			"leader: kernels at random, greedy compositional search (CKS) and Bayesian optimisation with distances between kernels, whose " +
			"candidates are neighbours of the best and some at random. They have the same evidence of each kernel; hyperparameters are " +
			"searched on the bound, with the inducing inputs that growth has for kernels that come late.\n\n" +
			"With --out the rows are also written to study-planted.csv; with the directory of the same study, which may have more --seeds now, " +
			"it goes on where that was cut, within a data set, too, behind the last evaluation of growth, or the last kernels that others " +
			"have trained.",
		Example: "# does it work at all?\nkestrel study planted --rows 200..300 --leaves 3..4 --seeds 1..3\n\n" +
			"# hours, and it may be stopped\nkestrel study planted --seeds 1..10 -o planted\n\n" +
			"# growth by itself, in a fraction of the time\nkestrel study planted --alone --seeds 1..10 -o alone\n\n" +
			"# other base kernels\nkestrel study planted --base MATERN32,LIN,PER --seeds 11..20 -o others",
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.base, "base", []string{"SE", "RQ", "LIN", "PER"}, "base kernels, separated by commas")
	fs.StringVar(&f.leaves, "leaves", "4..6", "base kernels of a planted one, from the fewest to the most")
	fs.StringVar(&f.rows, "rows", "500..2000", "of a data set, from the fewest to the most")
	fs.StringVar(&f.seeds, "seeds", manySeeds, "seeds, such as 1..10 or 1,3,5")
	fs.BoolVar(&f.alone, "alone", false, "without the other searches, which take longer than growth")
	fs.StringArrayVar(&f.set, "set", nil, "override a key of the runs' config: section.key=value; may be repeated")
	fs.StringVarP(&f.out, "out", "o", "", "directory for the table as CSV")
	fs.BoolVar(&f.json, "json", false, "write one JSON object a line instead of Markdown")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress lines")
	f.clusterFlags.register(fs, "; with --out")
	return cmd
}

// planted finds everything that is wrong with the user's wishes before any work begins.
func (f *plantedFlags) planted() (*study.Planted, []uint64, error) {
	if err := f.checkWith(f.out); err != nil {
		return nil, nil, err
	}
	seeds, err := study.ParseSeeds(f.seeds)
	if err != nil {
		return nil, nil, fmt.Errorf("--seeds: %w", err)
	}
	leaves, err := study.ParseLeafRange(f.leaves)
	if err != nil {
		return nil, nil, fmt.Errorf("--leaves: %w", err)
	}
	rows, err := study.ParseRowRange(f.rows)
	if err != nil {
		return nil, nil, fmt.Errorf("--rows: %w", err)
	}
	set, err := config.ParseOverrides(f.set)
	if err != nil {
		return nil, nil, err
	}
	p, err := study.NewPlanted(f.base, leaves, rows, set)
	if err != nil {
		return nil, nil, err
	}
	p.Alone = f.alone
	return p, seeds, prepare.CheckDevice(p.Config.Device)
}

func (f *plantedFlags) run(cmd *cobra.Command) error {
	p, seeds, err := f.planted()
	if err != nil {
		return err
	}
	lanes := p.Config.Device.Lanes
	if lanes == 0 {
		lanes = runtime.GOMAXPROCS(0)
	}
	flags := map[string]string{"--base": p.Names(), "--leaves": f.leaves, "--rows": f.rows, "--seeds": f.seeds}
	if f.alone {
		flags["--alone"] = "yes"
	}
	if !f.quiet {
		say := oneByOne(func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) })
		p.Watch = func(seed uint64, s *study.GrownStep, tried int) {
			say(fmt.Sprintf("seed %d, evaluation %d, %s: %s tried, %s leads", seed, s.Evaluation, words.Count(s.Rows, "row"),
				words.Count(tried, "kernel"), s.Leader))
		}
	}
	sink := &plantedSink{w: cmd.OutOrStdout(), json: f.json}
	s := bySeed[*study.PlantedRow]{
		title: p.Names(), seeds: seeds, out: f.out, quiet: f.quiet, first: &p.Config, crew: &f.clusterFlags,
		asked: series.Asked{What: "study of planted kernels", Configs: map[string]string{"": p.Config.TOML()}, Flags: flags},
		open: func(dir *inside.Dir) (_ seedTable[*study.PlantedRow], err error) {
			p.Table, err = study.OpenPlanted(dir)
			return p.Table, err
		},
		some: func(row *study.PlantedRow) bool { return row != nil },
		here: func(ctx context.Context, seed uint64) (*study.PlantedRow, error) { return p.Run(ctx, seed, lanes) }, by: p.RunBy,
		sink: sink, end: func(all []*study.PlantedRow) error { return sink.end(study.SummarisePlanted(p.Names(), all)) },
	}
	return s.run(cmd)
}

// plantedSink writes results for people, or an object a line.
type plantedSink struct {
	w    io.Writer
	json bool
}

func (s *plantedSink) begin() error {
	if s.json {
		return nil
	}
	_, err := io.WriteString(s.w,
		"| seed | rows | noise | planted | needed by | leader | nats missing | with the prior | tried | when it came | planted tried | "+
			"random | cks | bo | CPU | CPU of the others |\n"+
			"|---:|---:|---:|---|---:|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|\n")
	return err
}

func (s *plantedSink) write(r *study.PlantedRow) error {
	if s.json {
		return jsonSink{s.w}.write(struct {
			Type string `json:"type"`
			*study.PlantedRow
		}{"set", r})
	}
	head := fmt.Sprintf("| %d | %d | %.3f | %s | %s ", r.Seed, r.Rows, float64(r.Noise), markdownCell(r.Planted), r.Needed.Format("%.1f"))
	if r.Failure != "" {
		_, err := fmt.Fprintf(s.w, "%s| failed: %s | | | | | | | | | | |\n", head, markdownCell(r.Failure))
		return err
	}
	met := "no"
	if r.Met {
		met = "yes"
	}
	others := make([]string, len(study.RivalNames()))
	for i, o := range r.Others {
		if others[i] = fmt.Sprint(o.Trained); !o.Found {
			others[i] = "not with " + others[i]
		}
	}
	_, err := fmt.Fprintf(s.w, "%s| %s | %s | %s | %d | %d | %s | %s | %.3g | %.3g |\n", head, markdownCell(r.Leader), r.Gap.Format("%.1f"),
		r.PriorGap.Format("%.1f"), r.Tried, r.TriedThen, met, strings.Join(others, " | "), float64(r.CPU), float64(r.CPUOthers))
	return err
}

func (s *plantedSink) end(sum study.PlantedSummary) error {
	if s.json {
		return jsonSink{s.w}.write(map[string]any{"type": "summary", "summary": sum})
	}
	_, err := fmt.Fprintf(s.w, "\n%s\n", sum)
	return err
}
