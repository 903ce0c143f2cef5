package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"example.com/kestrel/configs"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/library"
)

// Commands in the pages for people are commands of this program: its words, flags,
// keys of configs and their values. Nothing is run.
func TestCommandsOfThePages(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inline.FindAllStringSubmatch(string(text), -1) {
			words, _ := ourArguments(shellCommands(m[1])[0])
			if flag := unknownFlag(words); flag != "" {
				t.Errorf("%s: `%s`: there is no %s", filepath.Base(page), m[1], flag)
			}
		}
		for _, line := range shellLines(string(text)) {
			for _, words := range shellCommands(line) {
				args, ours := ourArguments(words)
				if !ours {
					continue
				}
				found++
				if err := understood(args); err != nil {
					t.Errorf("%s: %s: %v", filepath.Base(page), line, err)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d commands were found", found)
	}
	for _, wrong := range []string{
		"kestrel runn fig1a", "kestrel run fig1a --hedless", "kestrel run fig1a --set sparse.induction=3",
		"kestrel fig1a --set 'sparse.inducing=many'", "go run . config list all of them",
		"KESTREL_DATA=x kestrel run fig9z", "true && kestrel predict runs/a --horizon",
	} {
		commands := shellCommands(wrong)
		args, ours := ourArguments(commands[len(commands)-1])
		if !ours || understood(args) == nil {
			t.Errorf("%q passes", wrong)
		}
	}
}

// wholeRoot has the command that the library adds, too.
func wholeRoot() *cobra.Command {
	root := newRoot()
	completeCompletion(root)
	return root
}

// understood says what is wrong with a command of this program.
func understood(args []string) error {
	cmd, rest, err := wholeRoot().Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	rest = cmd.Flags().Args()
	if err := cmd.ValidateArgs(rest); err != nil {
		return err
	}
	var set []config.Override
	if texts, err := cmd.Flags().GetStringArray("set"); err == nil {
		for _, s := range texts {
			o, err := config.ParseOverride(s)
			if err != nil {
				return err
			}
			set = append(set, o)
		}
	}
	name := "any.csv"
	if takes := []string{"kestrel", "run", "compare", "backtest", "show"}; slices.Contains(takes, cmd.Name()) && len(rest) > 0 {
		if _, builtIn := configs.Read(rest[0]); builtIn || !strings.Contains(rest[0], ".") {
			name = rest[0]
		}
	}
	_, err = library.ConfigFor(name, set)
	return err
}

// unknownFlag is a flag among the words of a command that it has not, or the command
// if there is none of that name.
func unknownFlag(args []string) string {
	cmd, rest, err := wholeRoot().Find(args)
	if err != nil || !cmd.HasParent() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && cmd.ValidateArgs(rest[:1]) != nil {
		return "command"
	}
	for _, w := range rest {
		name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case !strings.HasPrefix(w, "-") || name == "" || name == "help":
		case cmd.Flags().Lookup(name) == nil && (len(name) > 1 || cmd.Flags().ShorthandLookup(name) == nil):
			return w
		}
	}
	return ""
}

var (
	inline = regexp.MustCompile("`((?:kestrel|go run \\.) [^`\n\\[]*)`")
	loop   = regexp.MustCompile(`for (\w+) in ([^;$]+);`)
	begins = regexp.MustCompile(`(^|[;&] *|do )([A-Z_]+=\S+ )*(kestrel|go run \.|bin/kestrel-cuda)( |$)`)
)

// shellLines are the lines of a page's code that name this program, continued ones
// with what they are continued by.
func shellLines(page string) []string {
	var lines []string
	fenced := false
	page = strings.ReplaceAll(page, "\\\n", " ")
	for line := range strings.SplitSeq(page, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case fenced && begins.MatchString(line):
			lines = append(lines, line)
		case indented && begins.MatchString(code):
			lines = append(lines, code)
		}
	}
	return lines
}

// shellCommands splits a line as a shell does: words at spaces that no quotes hold
// together, commands at ; & and |. Comments and what is redirected are left out; the
// variable of a loop is its first word.
func shellCommands(line string) (commands [][]string) {
	if m := loop.FindStringSubmatch(line); m != nil {
		line = strings.ReplaceAll(line, "$"+m[1], strings.Fields(m[2])[0])
	}
	var words []string
	word, open, quote, skip := "", false, rune(0), false
	end := func() {
		if open && !skip {
			words = append(words, word)
		}
		if open {
			skip = false
		}
		word, open = "", false
	}
	for _, r := range line + "\n" {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == '#' && !open:
			return append(commands, words)
		case r == ' ':
			end()
		case r == '>' || r == '<':
			end()
			skip = true
		case strings.ContainsRune(";&|\n", r):
			end()
			if words != nil {
				commands, words = append(commands, words), nil
			}
		default:
			word, open = word+string(r), true
		}
	}
	return commands
}

// ourArguments are the words of a command behind the name of this program.
func ourArguments(words []string) (args []string, ours bool) {
	for len(words) > 0 && (words[0] == "do" || regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0])) {
		words = words[1:]
	}
	switch {
	case len(words) > 0 && (words[0] == "kestrel" || words[0] == "bin/kestrel-cuda"):
		return words[1:], true
	case len(words) > 2 && slices.Equal(words[:3], []string{"go", "run", "."}):
		return words[3:], true
	}
	return nil, false
}
