package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/kestrel/experiment/words"
)

// shorten cuts the middle out of a message that repeats what is far too long.
func shorten(line string) string {
	const head, tail = 2000, 500
	if len(line) <= head+tail {
		return line
	}
	return strings.ToValidUTF8(line[:head], "") + " […] " + strings.ToValidUTF8(line[len(line)-tail:], "")
}

// keepPlain keeps what a command writes from steering the terminal: names,
// paths and lines of logs may be anybody's. Into a file or a pipe its output
// goes as it is. Commands that only hold others write nothing but help, whose
// colours stay.
func keepPlain(cmd *cobra.Command) {
	if cmd.HasParent() && cmd.HasSubCommands() && !hasOwnFlags(cmd) {
		return
	}
	cmd.SetErr(words.PlainWriter(cmd.ErrOrStderr()))
	if out := cmd.OutOrStdout(); isTerminal(out) {
		cmd.SetOut(words.PlainWriter(out))
	}
}

// hasOwnFlags reports whether a command takes flags besides --help.
func hasOwnFlags(cmd *cobra.Command) (own bool) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { own = own || f.Name != "help" })
	return own
}
