package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"example.com/kestrel/experiment/grid"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui"
	"example.com/kestrel/ui/settings"
)

// hasScreen reports whether there is a terminal to show the workbench on.
func hasScreen(cmd *cobra.Command) bool {
	return isTerminal(cmd.OutOrStdout()) && isTerminal(cmd.InOrStdin()) && os.Getenv("TERM") != "dumb"
}

// hasOtherScreen is hasScreen where standard input is a table: keys then come from the
// terminal that the program was started in, if it can be opened.
func hasOtherScreen(cmd *cobra.Command) bool {
	if !isTerminal(cmd.OutOrStdout()) || os.Getenv("TERM") == "dumb" {
		return false
	}
	in, out, err := tea.OpenTTY()
	if err != nil {
		return false
	}
	in.Close()
	if out != in {
		out.Close()
	}
	return true
}

func isTerminal(f any) bool {
	if p, ok := f.(interface{ Unwrap() io.Writer }); ok {
		f = p.Unwrap()
	}
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(file.Fd())
}

// terminalWidth is how many columns a terminal has, 0 where something is none.
func terminalWidth(f any) int {
	if !isTerminal(f) {
		return 0
	}
	if p, ok := f.(interface{ Unwrap() io.Writer }); ok {
		f = p.Unwrap()
	}
	width, _, _ := term.GetSize(f.(term.File).Fd())
	return width
}

// workbench shows the screen until it is left, and then says in a line where
// the results are.
func workbench(cmd *cobra.Command, o ui.Options) error {
	ctx := cmd.Context()
	keep(cmd)
	// While every core optimises, the screen's goroutines would wait their turn
	// of 10 ms, several times for one key. With threads of its own the system
	// gives it the core at once: a key is answered in 17 ms instead of 65.
	o.Cores = runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(o.Cores + 2)
	defer runtime.GOMAXPROCS(o.Cores)
	wishes, err := settings.Read(settings.Path())
	if o.Settings = wishes; err != nil {
		o.Remark = err.Error()
	}
	end, err := ui.Run(ctx, o)
	var broken *ui.Crash
	if errors.As(err, &broken) {
		return failed(errors.New(crash(broken.Value, broken.Stack)))
	}
	var input *ui.InputError
	if errors.As(err, &input) {
		return input
	}
	if err != nil {
		return failed(fmt.Errorf("the workbench ended: %w", err))
	}
	return farewell(ctx, cmd.OutOrStdout(), end)
}

func farewell(ctx context.Context, out io.Writer, end ui.Outcome) error {
	switch {
	case end.Interrupted && end.Path != "":
		return interruptedIn(end.Path)
	case end.Interrupted:
		return &exitError{exitInterrupted, errors.New("interrupted")}
	case end.Path == "":
		return nil
	case gone(end.Path) && end.Own && end.State == record.Failed:
		return failed(fmt.Errorf("the run failed; %s, where it was, was moved or removed", end.Path))
	case gone(end.Path):
		_, err := fmt.Fprintf(out, "%s: %s; it was moved or removed\n", end.Path, end.State)
		return failed(err)
	case end.Own && end.State == record.Failed:
		return failed(fmt.Errorf("the run failed; what was done is in %s, and why in its log.txt", end.Path))
	}
	if end.Found != "" {
		if err := grid.Paragraph(words.PlainWriter(out), end.Found); err != nil {
			return failed(err)
		}
	}
	_, err := fmt.Fprintf(out, "%s: %s; kestrel open %s shows it again\n", end.Path, end.State, end.Path)
	return failed(err)
}
