package cli

import (
	"encoding/json"
	"io"
	"time"

	"github.com/spf13/cobra"

	"kestrel/experiment"
)

func newOpen() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "open RUN",
		Short: "Show what a run has found",
		Long:  "Show a summary of a run from its event log, whether it has finished, crashed or is still running.",
		Example: "kestrel open runs/fig1a-20260102T150405Z\n\n# for another program\n" +
			"kestrel open runs/fig1a-20260102T150405Z --json",
		Args: one("the directory of a run", "kestrel open runs/…"),
		RunE: func(cmd *cobra.Command, args []string) error {
			events, err := experiment.ReadEvents(args[0])
			if err != nil {
				return err
			}
			s := experiment.Summarise(events)
			if asJSON {
				return failed(writeJSON(cmd.OutOrStdout(), s))
			}
			return failed(s.WriteText(cmd.OutOrStdout(), time.Now()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
