package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/bench"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/prepare"
)

type benchFlags struct {
	work, kernels, step []string
	threads             []int
	seconds             float64
	device              string
	rounds              int
	against, profile    string
	json                bool
	learn, out          string
	rates               []float64
}

func newBench() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast this machine computes",
		Long: "Time single steps of the optimisers and print for each the least and the median time of a step of all kernels, how many " +
			"floating-point operations a second that is, its share of the machine's peak of fused multiply-adds measured in the same run, and " +
			"heap allocations. Counted are the operations of the linear algebra alone, as the algorithm needs them; kernel matrices and their " +
			"gradients are left out, so the share of the peak says least for small sizes.\n\n" +
			"Workloads: a has 16 inducing inputs, minibatches of 32 and 1,000 rows; b has 200, 128 and 20,000; c has 800, 128 and 20,000; d has " +
			"500 rows, all of them inducing inputs, and e 256 inducing inputs and 2,000 rows, as small data have them.\n" +
			"Kernels: one, the lists k12 and k144, or expressions separated by semicolons. Every leaf's variance is free and alpha of RQ is 1.\n" +
			"Steps: adam, on q(v), hyperparameters and noise; theta, a natural-gradient step that moves them, too; frozen, one that does not; " +
			"posterior, one refit of the belief over the kernels; predict, 20,000 rows; bound, the collapsed bound of all rows with its gradient, " +
			"which small data are searched on.\n\n" +
			"With --against, another program and this one take turns in fresh processes; the last line that it prints must be a JSON object with " +
			"ms_min and, where it has it, elbo_start, the ELBO of the first minibatch at the start summed over the kernels, which is the same " +
			"for programs that do the same work.\n\n" +
			"With --learn CONFIG, one kernel learns on the config's data (one input column) and the local ELBO per row is printed against the " +
			"seconds of its steps, as CSV; the folder named by --out gets the start, the rows and the inducing inputs for other programs before " +
			"the first step.",
		Example: "kestrel bench\n\n" +
			"# a full step of twelve small kernels on one and on two threads\n" +
			"kestrel bench --work a --kernels k12 --step adam,theta,frozen --threads 1,2\n\n" +
			"# against another program, five rounds each\n" +
			"kestrel bench --work b --against 'python torch_svgp.py --mode compiled --work b --seconds 3'\n\n" +
			"# where the time goes\nkestrel bench --work c --step theta --profile c.prof && go tool pprof -top c.prof",
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&f.work, "work", nil, "workloads, separated by commas: a, b, c, d, e")
	fs.StringSliceVar(&f.kernels, "kernels", nil, "kernels: one, k12, k144, or expressions separated by semicolons")
	fs.StringSliceVar(&f.step, "step", nil, "steps: adam, theta, frozen, posterior, predict, bound")
	fs.IntSliceVar(&f.threads, "threads", []int{1}, "cores to use")
	fs.Float64Var(&f.seconds, "seconds", 2, "timed seconds of each combination")
	fs.StringVar(&f.device, "device", "", "where to compute: "+strings.Join(config.DeviceKinds(), ", "))
	fs.StringVar(&f.against, "against", "", "alternate with this command and compare")
	fs.IntVar(&f.rounds, "rounds", 5, "rounds of --against")
	fs.StringVar(&f.profile, "profile", "", "write a CPU profile of the timed steps to this file")
	fs.BoolVar(&f.json, "json", false, "write one JSON object a line")
	fs.StringVar(&f.learn, "learn", "", "trace the local ELBO of one kernel on this config's data")
	fs.StringVarP(&f.out, "out", "o", "learn", "folder of --learn")
	fs.Float64SliceVar(&f.rates, "rates", []float64{0.01}, "learning rates of --learn")
	for name, values := range map[string][]string{
		"work": {"a", "b", "c", "d", "e"}, "kernels": {"one", "k12", "k144"},
		"step": {"adam", "theta", "frozen", "posterior", "predict", "bound"},
	} {
		noErr(cmd.RegisterFlagCompletionFunc(name, severalOf(values)))
	}
	return cmd
}

// cases are the combinations asked for.
func (f *benchFlags) cases(cmd *cobra.Command) ([]bench.Case, error) {
	if !(f.seconds > 0) {
		return nil, fmt.Errorf("--seconds %v: must be above 0", f.seconds)
	}
	if f.rounds < 1 {
		return nil, fmt.Errorf("--rounds %d: must be at least 1", f.rounds)
	}
	if f.against == "" && cmd.Flags().Changed("rounds") {
		return nil, errors.New("--rounds needs --against, the command to compare with")
	}
	dev, err := prepare.OpenDevice(config.DeviceChoice{Kind: f.device, Lanes: 1})
	if err != nil {
		return nil, err
	}
	if err := dev.Close(); err != nil {
		return nil, failed(err)
	}
	if f.work == nil && f.kernels == nil && f.step == nil && f.against == "" && f.profile == "" {
		return bench.DefaultCases(f.threads)
	}
	or := func(values []string, otherwise ...string) []string {
		if values == nil {
			return otherwise
		}
		return values
	}
	works := or(f.work, "a", "b", "c")
	cases, err := bench.Cases(works, or(f.kernels, "one"), or(f.step, "adam"), f.threads)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"--against": f.against, "--profile": f.profile} {
		if value != "" && len(cases) != 1 {
			return nil, fmt.Errorf("%s is for one combination, not %d; name one workload, kernel list, step and number of threads", name, len(cases))
		}
	}
	if f.against != "" && f.profile != "" {
		return nil, errors.New("--profile and --against exclude each other")
	}
	return cases, nil
}

func (f *benchFlags) run(cmd *cobra.Command) error {
	if f.learn != "" {
		return f.trace(cmd)
	}
	for _, name := range []string{"out", "rates"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s needs --learn, the config whose data are learnt from", name)
		}
	}
	cases, err := f.cases(cmd)
	if err != nil {
		return err
	}
	if f.against != "" {
		return f.compare(cmd, cases[0])
	}
	o := bench.Options{Device: f.device, Seconds: f.seconds}
	if f.profile == "" {
		return f.measure(cmd, cases, o)
	}
	if err := output.Check(f.profile); err != nil {
		return fmt.Errorf("--profile %w", err)
	}
	var own error
	err = output.Write(f.profile, func(w io.Writer) error {
		o.Profile = w
		own = f.measure(cmd, cases, o)
		return own
	})
	if err != own {
		return failed(err)
	}
	return own
}

// measure prints a row for each case.
func (f *benchFlags) measure(cmd *cobra.Command, cases []bench.Case, o bench.Options) error {
	out := bench.NewTable(cmd.OutOrStdout())
	lines := json.NewEncoder(cmd.OutOrStdout())
	ctx := cmd.Context()
	for _, c := range cases {
		row, err := bench.Run(ctx, c, o)
		if errors.Is(err, errInterrupted) {
			return err
		}
		if err != nil {
			return failed(err)
		}
		if f.json {
			err = lines.Encode(row)
		} else {
			err = out.Write(row)
		}
		if err != nil {
			return failed(err)
		}
	}
	if f.json {
		return nil
	}
	return failed(out.Close())
}

// trace prints how the local ELBO of one kernel rises.
func (f *benchFlags) trace(cmd *cobra.Command) error {
	for _, name := range []string{"work", "against", "rounds", "profile", "json"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s does not go with --learn, which traces one kernel on a config's data as CSV; leave it out", name)
		}
	}
	if !(f.seconds > 0) {
		return fmt.Errorf("--seconds %v: must be above 0", f.seconds)
	}
	if len(f.kernels) != 1 || len(f.threads) != 1 {
		return errors.New("--learn needs one kernel, such as --kernels 'PER*SE+SE', and one number of --threads")
	}
	if f.threads[0] < 1 {
		return fmt.Errorf("--threads %d: must be at least 1", f.threads[0])
	}
	steps := f.step
	if steps == nil {
		steps = []string{"theta", "adam"}
	}
	for _, s := range steps {
		if s != "theta" && s != "adam" {
			return fmt.Errorf("--step %s: --learn takes theta and adam", s)
		}
	}
	if err := output.CheckFolder(f.out); err != nil {
		return fmt.Errorf("--out %w", err)
	}
	for _, r := range f.rates {
		if !(r > 0) {
			return fmt.Errorf("--rates %v: must be above 0", r)
		}
	}
	c, err := library.ConfigFor(f.learn, nil)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	work, err := bench.PrepareLearn(ctx, bench.LearnCase{
		Config: c, Kernel: f.kernels[0], Steps: steps, Rates: f.rates, Seconds: f.seconds, Threads: f.threads[0], Device: f.device,
	})
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	_, err = fmt.Fprintln(out, "program,step,rate,steps,seconds,elbo_per_row")
	if err == nil {
		err = work.Run(ctx, f.out, func(p bench.LearnPoint) error {
			_, err := fmt.Fprintf(out, "kestrel,%s,%g,%d,%.6f,%.9g\n", p.Step, p.Rate, p.Steps, p.Seconds, float64(p.ELBO))
			return err
		})
	}
	if e := work.Close(); err == nil {
		err = e
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return failed(err)
}

// compare alternates with another program. Ours is this program, too, started
// afresh.
func (f *benchFlags) compare(cmd *cobra.Command, c bench.Case) error {
	program, err := os.Executable()
	if err != nil {
		return failed(err)
	}
	ctx := cmd.Context()
	args := []string{"bench", "--work", c.Work, "--kernels", c.Kernels, "--step", c.Step, "--threads", strconv.Itoa(c.Threads),
		"--seconds", strconv.FormatFloat(f.seconds, 'g', -1, 64), "--device", f.device, "--json"}
	comparison, err := bench.Compare(f.against, f.rounds,
		func() (*bench.Figure, error) {
			return bench.ReadFigure(exec.CommandContext(ctx, program, args...), "kestrel bench")
		},
		func() (*bench.Figure, error) {
			return bench.ReadFigure(bench.ShellCommand(ctx, f.against), "--against")
		})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return failed(err)
	}
	if f.json {
		type line struct {
			bench.Case
			*bench.Comparison
		}
		return failed(json.NewEncoder(cmd.OutOrStdout()).Encode(line{c, comparison}))
	}
	return failed(comparison.WriteText(cmd.OutOrStdout()))
}
