package cli

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/prepare"
)

func newData() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "data",
		Short:   "Look at data",
		Example: "kestrel data info sales.csv --target revenue",
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDataInfo())
	return cmd
}

func newDataInfo() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "info FILE|CONFIG",
		Short: "Show rows, columns, units, split and standardisation",
		Long: "Load a data file, or the data of a config, as a run would, and show what is in it: rows and what was dropped, columns " +
			"with their ranges, the split, the standardisation, the first rows, and steps and cycles that its kernels would know of.",
		Example: "kestrel data info sales.csv --target revenue\n\nkestrel data info swissgrid-small --json\n\n" +
			"kestrel data info swissgrid-small --set data.path=folder-of-workbooks\n\nkestrel data info data.txt.gz --set data.source=ieq",
		Args:              one("a data file or a config", "kestrel data info sales.csv"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.config(cmd, args[0])
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			d, s, err := prepare.LoadData(ctx, &c)
			if err != nil {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				return err
			}
			c.SettleTask(d) // what it notes is known before any run, too
			summary := datasets.Describe(d, s)
			if f.json {
				return failed(writeJSON(cmd.OutOrStdout(), summary))
			}
			return failed(summary.WriteText(cmd.OutOrStdout()))
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&f.set, "set", nil, "override a key of the config: section.key=value; may be repeated")
	fs.StringVar(&f.target, "target", "", "column to explain; default the last")
	fs.Uint64Var(&f.seed, "seed", 0, "of the split and of synthetic data")
	fs.BoolVar(&f.json, "json", false, "write JSON")
	return cmd
}
