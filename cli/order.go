package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/steer"
	"example.com/kestrel/vbks"
)

// orderFlags say more about an order.
type orderFlags struct {
	top    int
	change vbks.Change
}

func newOrder() *cobra.Command {
	var f orderFlags
	cmd := &cobra.Command{
		Use:   "order RUN ORDER [KERNEL …]",
		Short: "Give a run of another process an order",
		Long: "Give a run that another process of yours on this machine carries out, with the workbench or without, an order: " +
			strings.Join(steer.Orders(), ", ") + ". These are the orders of the workbench, which kestrel open RUN gives by keys. The command " +
			"ends when the order has been carried out, within one step of the optimiser, and says how the run then stands. prune takes the " +
			"kernels named, or all but the first --top; restore takes back those named, or all. Without the workbench a run that is stopped " +
			"ends; kestrel resume goes on with it.",
		Example: "kestrel order runs/fig1a-20260102T150405Z pause\n\n" +
			"# keep the first five kernels, and go on with them for three more evaluations\n" +
			"kestrel order runs/fig1a-20260102T150405Z prune --top 5\n" +
			"kestrel order runs/fig1a-20260102T150405Z reoptimise --evaluations 3",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("order needs the directory of a run and one of %s; for example kestrel order runs/… pause",
					strings.Join(steer.Orders(), ", "))
			}
			return f.check(cmd, args[1], args[2:])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveFilterDirs
			} else if len(args) == 1 {
				return steer.Orders(), noFiles
			}
			return nil, noFiles
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path, ctx := args[0], cmd.Context()
			if err := rundir.CheckRun(path); err != nil {
				return err
			}
			done := make(chan error, 1)
			var now steer.Status
			go func() { // a process that is held does not answer
				var err error
				now, err = f.give(path, args[1], args[2:])
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil {
					return failed(fmt.Errorf("%s: %w", path, err))
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", path, now.State)
			return failed(err)
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&f.top, "top", 0, "of prune: keep so many kernels, those ranked first")
	fs.IntVar(&f.change.Rounds, "evaluations", 0, "of reoptimise: so many more; default as the config says")
	fs.IntVar(&f.change.Steps, "steps", 0, "of reoptimise: so many in each evaluation")
	fs.IntVar(&f.change.Inducing, "inducing", 0, "of reoptimise: with so many inducing inputs")
	fs.IntVar(&f.change.Batch, "batch", 0, "of reoptimise: rows of a minibatch")
	fs.StringVar(&f.change.Grow, "grow", "", "of reoptimise: whether the space of kernels grows from here on, on or off")
	return cmd
}

// check says what is wrong with an order before a run is looked for.
func (f *orderFlags) check(cmd *cobra.Command, what string, kernels []string) error {
	if !slices.Contains(steer.Orders(), what) {
		hint := "there are " + strings.Join(steer.Orders(), ", ")
		if near := config.Nearest(what, steer.Orders()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return fmt.Errorf("there is no order %q; %s", what, hint)
	}
	of := map[string]string{"top": steer.Prune, "evaluations": steer.Reoptimise, "steps": steer.Reoptimise, "inducing": steer.Reoptimise,
		"batch": steer.Reoptimise}
	for name, order := range of {
		if !cmd.Flags().Changed(name) {
			continue
		}
		if n, _ := cmd.Flags().GetInt(name); order != what {
			return fmt.Errorf("--%s is about %s, not about %s", name, order, what)
		} else if n < 1 || n > steer.MostOf {
			return fmt.Errorf("--%s %d: must be from 1 to %d", name, n, steer.MostOf)
		}
	}
	switch g := f.change.Grow; {
	case cmd.Flags().Changed("grow") && what != steer.Reoptimise:
		return fmt.Errorf("--grow is about %s, not about %s", steer.Reoptimise, what)
	case cmd.Flags().Changed("grow") && g != vbks.GrowOn && g != vbks.GrowOff:
		return fmt.Errorf("--grow %q: must be %s or %s", g, vbks.GrowOn, vbks.GrowOff)
	case what == steer.Prune && (f.top > 0) == (len(kernels) > 0):
		return errors.New("prune needs the kernels that are to go, or --top k, how many stay")
	case what != steer.Prune && what != steer.Restore && len(kernels) > 0:
		return fmt.Errorf("%s takes no kernels", what)
	}
	return nil
}

// give gives an order to the process that carries a run out.
func (f *orderFlags) give(path, what string, kernels []string) (steer.Status, error) {
	owner, _ := rundir.OwnerOf(path)
	r, err := steer.Reach(owner)
	if err != nil {
		return steer.Status{}, fmt.Errorf("it takes no orders: %w", err)
	}
	switch what {
	case steer.Pause:
		err = r.Pause()
	case steer.Resume:
		err = r.Resume()
	case steer.Stop:
		if now, err := r.Status(); err != nil || now.State.Settled() { // it stays as it is
			return now, err
		}
		return steer.Status{State: record.Stopped}, r.Stop("") // its process may have ended by now
	case steer.Prune:
		if f.top > 0 {
			kernels, err = below(path, f.top)
		}
		if err == nil {
			err = r.Prune(kernels)
		}
	case steer.Restore:
		if len(kernels) == 0 {
			kernels, err = pruned(r)
		}
		if err == nil {
			err = r.Restore(kernels)
		}
	case steer.Reoptimise:
		err = r.Reoptimize(f.change)
	}
	if err != nil {
		return steer.Status{}, err
	}
	return r.Status()
}

// below are the kernels that rank below the first ones.
func below(path string, top int) ([]string, error) {
	s, err := history.ReadSummary(path)
	if err != nil {
		return nil, err
	}
	if s.Evaluation == nil {
		return nil, errors.New("there is no evaluation yet, and no ranking")
	}
	ids := s.Evaluation.Below(top)
	if len(ids) == 0 {
		return nil, fmt.Errorf("--top %d keeps all kernels: nothing to prune", top)
	}
	return ids, nil
}

// pruned are the kernels that a run could take back.
func pruned(r steer.Run) ([]string, error) {
	s, err := r.Status()
	if err == nil && len(s.Pruned) == 0 {
		err = errors.New("no kernel is pruned: nothing to restore")
	}
	return s.Pruned, err
}
