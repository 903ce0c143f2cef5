package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/kestrel/experiment/config"
)

// commandName is a command without the name of the program, with which every
// message begins.
func commandName(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// atMostOne is for the bare program.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("one config or data file is taken, not %d; kestrel --help lists commands", len(args))
	}
	if len(args) == 1 {
		return known(cmd, args[0])
	}
	return nil
}

// none is for a command that only holds others: it shows its help, but a word
// that is none of them is an error.
func none(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var words []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			words = append(words, c.Name())
		}
	}
	hint := "kestrel " + commandName(cmd) + " --help lists them"
	if near := config.Nearest(args[0], words); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Errorf("%s has no command %q; %s", commandName(cmd), args[0], hint)
}

// completeCompletion makes the library's completion command refuse words that
// are no shell. The command writes to what root's output is at this moment.
func completeCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args, c.RunE = none, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			c.Example = "kestrel completion bash > /etc/bash_completion.d/kestrel"
		}
	}
}

// nothing is for a command without arguments.
func nothing(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, not %q", commandName(cmd), args[0])
	}
	return nil
}

// wrongFlag says what a flag wants without the words of the library.
func wrongFlag(_ *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return err
	}
	want := map[string]string{"int": "a whole number", "uint64": "a whole number, at least 0",
		"bool": "true or false"}[value.GetFlag().Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s %s: must be %s", value.GetFlag().Name, strconv.Quote(value.GetValue()), want)
}

// one wants exactly one argument, and says what it is.
func one(what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes one argument, %s, not %d; for example %s", commandName(cmd), what, len(args), example)
		}
		return some(what, example)(cmd, args)
	}
}

// some wants one argument or more.
func some(what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s needs %s; for example %s", commandName(cmd), what, example)
		}
		return nil
	}
}

// orMoved adds to the error of data that are not where they were what to do.
func orMoved(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w; if it has moved, name it with --data", err)
}
