package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/kestrel/datasets/holidays"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/kernelspace"
)

const noFiles = cobra.ShellCompDirectiveNoFileComp

// completeAll gives all commands what a shell may complete behind their flags and as
// their arguments, where they have not said so themselves.
func completeAll(root *cobra.Command) {
	byFlag := map[string]cobra.CompletionFunc{
		"set":    completeSet,
		"target": completeColumn,
		"group":  completeColumn,
		"base":   severalOf(bases()),
		"device": oneOf(config.DeviceKinds()),
	}
	visit := func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			complete, known := byFlag[f.Name]
			switch f.Value.Type() {
			case "int", "uint64", "float64", "intSlice", "float64Slice":
				complete, known = cobra.NoFileCompletions, true
			}
			if _, has := cmd.GetFlagCompletionFunc(f.Name); known && !has {
				noErr(cmd.RegisterFlagCompletionFunc(f.Name, complete))
			}
		})
		if cmd.ValidArgsFunction != nil {
			return
		}
		switch _, arguments, _ := strings.Cut(cmd.Use, " "); {
		case cmd == root:
			cmd.ValidArgsFunction = completeConfigs
		case arguments == "":
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		case arguments == "RUN" || strings.HasPrefix(arguments, "RUN|DIR"):
			cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		case cmd.Name() == "kernels":
			cmd.ValidArgsFunction = cobra.FixedCompletions(append(kernelspace.SetNames(), bases()...), noFiles)
		}
	}
	commands := []*cobra.Command{root}
	for i := 0; i < len(commands); i++ {
		visit(commands[i])
		commands = append(commands, commands[i].Commands()...)
	}
}

func bases() []string {
	var names []string
	for _, b := range kernelspace.BaseKernels() {
		names = append(names, b.Name)
	}
	return names
}

// oneOf completes to one of some words.
func oneOf(words []string) cobra.CompletionFunc { return cobra.FixedCompletions(words, noFiles) }

// severalOf completes a list between commas.
func severalOf(words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return members(words, "", begun), noFiles | cobra.ShellCompDirectiveNoSpace
	}
}

// members are the ways to go on with a list that has begun behind what stands before it:
// words that it has not yet.
func members(words []string, before, begun string) []string {
	i := strings.LastIndexByte(begun, ',') + 1
	has := strings.Split(begun[:i], ",")
	var out []string
	for _, w := range words {
		if !slices.Contains(has, w) {
			out = append(out, before+begun[:i]+w)
		}
	}
	return out
}

// completeSet completes section.key=value: keys, then what their values may be. Of a key
// that names a file a shell completes that.
func completeSet(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	path, value, valued := strings.Cut(begun, "=")
	if !valued {
		var out []string
		for _, k := range config.Keys() {
			out = append(out, cobra.CompletionWithDesc(k.Path+"=", k.About))
		}
		return out, noFiles | cobra.ShellCompDirectiveNoSpace
	}
	path += "="
	switch path {
	case "data.path=", "data.mask=", "data.locations=":
		return nil, cobra.ShellCompDirectiveDefault
	case "data.holidays=": // or a file
		return members(holidays.Codes(), path, value), cobra.ShellCompDirectiveDefault
	case "data.inputs=", "data.target=", "data.group=":
		return members(columnsOf(cmd, args), path, value), noFiles
	case "kernels.expressions=", "kernels.base=":
		return members(bases(), path, value), noFiles | cobra.ShellCompDirectiveNoSpace
	}
	for _, k := range config.Keys() {
		if k.Path+"=" == path {
			return members(k.Choices, path, value), noFiles
		}
	}
	return nil, noFiles
}

// completeColumn completes the name of a column of the table that the command reads.
func completeColumn(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return columnsOf(cmd, args), noFiles
}

// columnsOf are the names of the columns of the table, or of the config's, that is the
// first argument; none where that cannot be read.
func columnsOf(cmd *cobra.Command, args []string) []string {
	if len(args) == 0 {
		return nil
	}
	var set []config.Override
	texts, _ := cmd.Flags().GetStringArray("set")
	for _, text := range texts {
		if o, err := config.ParseOverride(text); err == nil && !strings.HasPrefix(o.Key, "data.target") &&
			!strings.HasPrefix(o.Key, "data.inputs") {
			set = append(set, o)
		}
	}
	c, err := library.ConfigFor(args[0], set)
	if err != nil {
		return nil
	}
	columns, err := library.TableColumns(c)
	if err != nil {
		return nil
	}
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}
