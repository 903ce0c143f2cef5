package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/kestrel/configs"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/words"
)

func newConfig() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Show, check, describe and list configs",
		Example: "kestrel config list\n\nkestrel config show fig1a > my.toml\n\nkestrel config check my.toml",
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigShow(), newConfigCheck(), newConfigList(), newConfigSchema())
	return cmd
}

func completeConfigs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return configs.Names(), cobra.ShellCompDirectiveDefault
}

func newConfigShow() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:               "show CONFIG|FILE.csv",
		Short:             "Print a config with every default written out",
		Long:              "Print a config as it would be run: every key with its value and what it is. The output is a config.",
		Example:           "kestrel config show quickstart\n\nkestrel config show fig1a --set sparse.inducing=32 > my.toml",
		Args:              one("a config", "kestrel config show fig1a"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.config(cmd, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), c.TOML())
			return failed(err)
		},
	}
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "override a key of the config: section.key=value; may be repeated")
	return cmd
}

func newConfigCheck() *cobra.Command {
	return &cobra.Command{
		Use:               "check CONFIG...",
		Short:             "Check configs without running them",
		Long:              "Read configs and their kernel spaces; say what is wrong with the first bad one.",
		Example:           "kestrel config check my.toml",
		Args:              some("a config", "kestrel config check my.toml"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				c, err := config.Load(name, nil)
				if err != nil {
					return err
				}
				space, err := c.Kernels.Candidates()
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: good, %s\n", name, words.Count(len(space), "kernel"))
			}
			return nil
		},
	}
}

func newConfigSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON schema of configs, for editors",
		Long: "Print the JSON schema (draft 2020-12) of a config: every key with what it is, what it may be and its default. An editor that " +
			"knows schemas of TOML, by Taplo as a rule, then completes keys and marks wrong ones in a config whose first line says where " +
			"the schema is:\n\n#:schema ./kestrel.schema.json",
		Example: "kestrel config schema > kestrel.schema.json",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return failed(writeJSON(cmd.OutOrStdout(), config.Schema()))
		},
	}
}

func newConfigList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the built-in configs",
		Example: "kestrel config list",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			type item struct {
				Name  string `json:"name"`
				About string `json:"about"`
			}
			var items []item
			for _, c := range library.ConfigChoices(".") {
				if c.Shipped {
					items = append(items, item{c.Name, c.About})
				}
			}
			if asJSON {
				return failed(writeJSON(cmd.OutOrStdout(), items))
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', 0)
			for _, i := range items {
				fmt.Fprintf(t, "%s\t%s\n", i.Name, i.About)
			}
			return failed(t.Flush())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}
