package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/prepare"
)

func newDevices() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List where this build can compute",
		Long: "List the CPU and the CUDA cards that this build of the program can compute on, or why there are none. " +
			"A lane is what works on kernels by itself: a core, or a card.",
		Example: "kestrel devices\n\n# for a script\nkestrel devices --json",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
	return cmd
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
