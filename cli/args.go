package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// one wants exactly one argument, and says what it is.
func one(what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes one argument, %s, not %d; for example %s", cmd.CommandPath(), what, len(args), example)
		}
		return some(what, example)(cmd, args)
	}
}

// some wants one argument or more.
func some(what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s needs %s; for example %s", cmd.CommandPath(), what, example)
		}
		return nil
	}
}
