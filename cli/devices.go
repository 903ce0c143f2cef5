package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/bench"
	"example.com/kestrel/experiment/prepare"
)

func newDevices() *cobra.Command {
	var asJSON, check bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List where this build can compute",
		Long: "List the CPU and the CUDA cards that this build of the program can compute on, or why there are none. " +
			"A lane is what works on kernels by itself: a core, or a card.\n\n" +
			"With --check every card is put to the proof, in some two minutes once its kernels are compiled: bits of generated code against " +
			"the interpreter, objective, gradients and 50 steps of all kernels of K144 against the CPU, every operation against plain loops, " +
			"memory, speed beside the CPU's, how soon a stop is heard and a stopped run has ended. One page of result, which can be sent to who " +
			"makes this program; exit code 1 where something is wrong. What came of it is kept, by card and driver, unless it may be " +
			"otherwise the next time, and --device auto goes by it.",
		Example: "kestrel devices\n\n# for a script\nkestrel devices --json\n\n" +
			"# once, on a card that nobody has used yet\nkestrel devices --check",
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if check {
				return checkCards(cmd, asJSON)
			}
			list, err := prepare.Devices()
			if err != nil {
				return failed(err)
			}
			if asJSON {
				return failed(writeJSON(cmd.OutOrStdout(), list))
			}
			for _, d := range list {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), deviceLine(d)); err != nil {
					return failed(err)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	cmd.Flags().BoolVar(&check, "check", false, "check what the cards compute and how fast")
	return cmd
}

// checkCards writes a page for every card. What is wrong with one is the command's error, too.
func checkCards(cmd *cobra.Command, asJSON bool) error {
	ctx := cmd.Context()
	reports, err := bench.CheckCards(ctx, func(part string) { fmt.Fprintf(cmd.ErrOrStderr(), "%s ...\n", part) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return failed(err)
	}
	if asJSON {
		err = writeJSON(cmd.OutOrStdout(), reports)
	}
	var wrong []error
	for i, r := range reports {
		if !asJSON && err == nil {
			if i > 0 {
				_, err = fmt.Fprintln(cmd.OutOrStdout())
			}
			err = errors.Join(err, r.WriteText(cmd.OutOrStdout()))
		}
		if r.Wrong != "" {
			wrong = append(wrong, fmt.Errorf("%s: %s", r.Card, strings.Join(strings.Fields(r.Wrong), " ")))
		}
	}
	return failed(errors.Join(err, errors.Join(wrong...)))
}

// deviceLine describes a device for people.
func deviceLine(d prepare.DeviceStatus) string {
	if d.Missing != "" {
		return fmt.Sprintf("%-5s  none: %s", d.Kind, d.Missing)
	}
	lanes := fmt.Sprintf("%d lanes", d.Lanes)
	if d.Lanes == 1 {
		lanes = "1 lane"
	}
	parts := []string{d.Name, lanes}
	if d.Memory > 0 {
		parts = append(parts, fmt.Sprintf("%.1f GiB", float64(d.Memory)/(1<<30)))
	}
	if d.Details != "" {
		parts = append(parts, d.Details)
	}
	return fmt.Sprintf("%-5s  %s", d.Kind, strings.Join(parts, "; "))
}
