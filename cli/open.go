package cli

import (
	"encoding/json"
	"io"
	"time"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/ui"
)

func newOpen() *cobra.Command {
	var asJSON, summary bool
	cmd := &cobra.Command{
		Use:   "open RUN",
		Short: "Show what a run has found",
		Long: "Show a run in the workbench from its event log, whether it has finished, crashed or is still running in another process, which " +
			"then takes the keys' orders if it is yours and on this machine; without a terminal, or with --summary, in a few lines.",
		Example: "kestrel open runs/fig1a-20260102T150405Z\n\n# for another program\n" +
			"kestrel open runs/fig1a-20260102T150405Z --json",
		Args: one("the directory of a run", "kestrel open runs/…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !asJSON && !summary && hasScreen(cmd) {
				if err := rundir.CheckRun(args[0]); err != nil {
					return err
				}
				return workbench(cmd, ui.Options{Open: args[0]})
			}
			s, err := history.ReadSummary(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return failed(writeJSON(cmd.OutOrStdout(), s))
			}
			s.Wide = terminalWidth(cmd.OutOrStdout())
			return failed(s.WriteText(cmd.OutOrStdout(), time.Now()))
		},
	}
	cmd.Flags().BoolVar(&summary, "summary", false, "a few lines instead of the workbench")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
