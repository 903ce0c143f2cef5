package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/record"
)

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "kestrel version",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := record.ReadBuild()
			if asJSON {
				return failed(writeJSON(cmd.OutOrStdout(), b))
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "kestrel %s\n", b)
			return failed(err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}
