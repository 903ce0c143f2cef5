package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/record"
)

func newMan() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "man [COMMAND...]",
		Short: "Print manual pages",
		Long: "Print the manual page of the program, or of one of its commands, made from its help; or with -o write the pages of all to a " +
			"directory, as packages have them.",
		Example: "kestrel man predict | man -l -\n\nkestrel man -o /usr/local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil || len(rest) > 0:
				return fmt.Errorf("there is no command %q; kestrel --help lists them", strings.Join(args, " "))
			case out == "":
				_, err := fmt.Fprint(cmd.OutOrStdout(), manPage(of))
				return failed(err)
			case len(args) > 0:
				return errors.New("-o takes the pages of all commands; leave the command out")
			}
			return writePages(cmd.Root(), out)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			of, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, noFiles
			}
			var names []string
			for _, c := range of.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name())
				}
			}
			return names, noFiles
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "directory to write the pages of all commands to")
	return cmd
}

// writePages writes the pages of a command and of all below it.
func writePages(cmd *cobra.Command, dir string) error {
	pages := []*cobra.Command{cmd}
	for i := 0; i < len(pages); i++ {
		for _, c := range pages[i].Commands() {
			if c.IsAvailableCommand() {
				pages = append(pages, c)
			}
		}
	}
	if err := output.CheckFolder(dir); err != nil {
		return fmt.Errorf("-o %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, c := range pages {
		name := filepath.Join(dir, pageName(c)+".1")
		if err := output.Check(name); err != nil {
			return fmt.Errorf("-o %w", err)
		}
		err := output.Write(name, func(w io.Writer) error { _, err := io.WriteString(w, manPage(c)); return err })
		if err != nil {
			return failed(err)
		}
	}
	return nil
}

// pageName is kestrel-config-show of kestrel config show.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// roff writes text for man(7).
type roff struct{ strings.Builder }

var roffEscapes = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`)

func (r *roff) macro(name string, args ...string) {
	r.WriteString("." + name)
	for _, a := range args {
		r.WriteString(` "` + strings.ReplaceAll(roffEscapes.Replace(a), `"`, `\(dq`) + `"`)
	}
	r.WriteString("\n")
}

// text writes lines; an empty one ends a paragraph.
func (r *roff) text(text string) {
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line != "" && line[0] == '.':
			r.WriteString(`\&`)
			fallthrough
		case line != "":
			r.WriteString(roffEscapes.Replace(line) + "\n")
		case i > 0:
			r.macro("PP")
		}
	}
}

// manPage is the page of a command in section 1.
func manPage(cmd *cobra.Command) string {
	r := &roff{}
	r.macro("TH", strings.ToUpper(pageName(cmd)), "1", buildDate(), "kestrel "+record.ReadBuild().Version, "kestrel")
	r.macro("SH", "NAME")
	r.text(pageName(cmd) + " - " + cmd.Short)
	r.macro("SH", "SYNOPSIS")
	r.macro("B", strings.Replace(cmd.UseLine(), " [flags]", " [options]", 1))
	r.macro("SH", "DESCRIPTION")
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	r.text(about)
	if cmd.HasAvailableSubCommands() {
		r.macro("SH", "COMMANDS")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				r.macro("TP")
				r.macro("B", c.Name())
				r.text(c.Short)
			}
		}
	}
	r.options(cmd)
	if cmd.Example != "" {
		r.macro("SH", "EXAMPLES")
		r.macro("nf")
		r.text(strings.ReplaceAll(cmd.Example, "\n\n", "\n \n"))
		r.macro("fi")
	}
	if !cmd.HasParent() {
		r.surroundings()
	}
	r.also(cmd)
	return r.String()
}

func (r *roff) options(cmd *cobra.Command) {
	begun := false
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if !begun {
			r.macro("SH", "OPTIONS")
			begun = true
		}
		r.macro("TP")
		name, usage := pflag.UnquoteUsage(f)
		head := "--" + f.Name
		if f.Shorthand != "" {
			head = "-" + f.Shorthand + ", " + head
		}
		if name != "" {
			head += " " + name
		}
		r.macro("B", head)
		switch f.DefValue {
		case "", "0", "false", "[]":
		default:
			usage += " (default " + strings.Trim(f.DefValue, "[]") + ")"
		}
		r.text(usage)
	})
}

// surroundings are what all commands have alike.
func (r *roff) surroundings() {
	r.macro("SH", "EXIT STATUS")
	r.text("0 done, 1 failed, 2 bad usage or input, 130 interrupted.")
	r.macro("SH", "ENVIRONMENT")
	for _, v := range [][2]string{
		{"KESTREL_DATA", "folder in which files of data are looked for, behind that of the config and the working directory"},
		{"KESTREL_GLYPHS", "what charts in the terminal are made of: braille, blocks, halves or ascii"},
		{"KESTREL_SIMD", "instruction set of the CPU that is used: avx512, avx2 or portable; the machine's best by default"},
		{"NO_COLOR", "no colours"},
	} {
		r.macro("TP")
		r.macro("B", v[0])
		r.text(v[1])
	}
}

func (r *roff) also(cmd *cobra.Command) {
	var names []string
	if cmd.HasParent() {
		names = append(names, pageName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, pageName(c))
		}
	}
	r.macro("SH", "SEE ALSO")
	r.text(strings.Join(names, "(1), ") + "(1)")
}

// buildDate is the day of the commit that the program was built from, "" if it is not
// known: pages of one commit are equal.
func buildDate() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			day, _, _ := strings.Cut(s.Value, "T")
			return day
		}
	}
	return ""
}
