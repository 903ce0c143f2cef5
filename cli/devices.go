package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"kestrel/experiment"
)

func newDevices() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "devices",
		Short:   "List where this build can compute",
		Example: "kestrel devices",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dev, err := experiment.OpenDevice(experiment.DeviceChoice{Kind: "cpu"})
			if err != nil {
				return failed(err)
			}
			defer dev.Close()
			info := dev.Info()
			if asJSON {
				type item struct {
					Kind    string `json:"kind"`
					Name    string `json:"name"`
					Lanes   int    `json:"lanes"`
					Memory  uint64 `json:"memory,omitempty"`
					Details string `json:"details"`
				}
				return failed(writeJSON(cmd.OutOrStdout(), []item{{info.Kind, info.Name, info.Lanes, info.Memory, info.Details}}))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s   %s; %d lanes; %s\n", info.Kind, info.Name, info.Lanes, info.Details)
			return failed(err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}
