package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// shown is a page as a formatter shows it, as far as single words go: without macros and
// escapes.
func shown(page string) string {
	plain := strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\e`, `\`, `\&`, "", `\(dq`, `"`, `\(ti`, "~", `\(ha`, "^", `\(ga`, "`")
	var b strings.Builder
	for line := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(line, ".B "); ok {
			line = rest
		} else if strings.HasPrefix(line, ".") {
			continue
		}
		b.WriteString(plain.Replace(line))
	}
	return b.String()
}

// Every command has a page, with all that its help says: no word of it is lost, or read as
// one of the formatter's own.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if code, stdout, stderr := kestrel(t, "man", "-o", dir); code != 0 || stdout != "" || stderr != "" {
		t.Fatal(code, stdout, stderr)
	}
	root := newRoot()
	root.InitDefaultCompletionCmd()
	commands := []*cobra.Command{root}
	var pages []string
	for i := 0; i < len(commands); i++ {
		c := commands[i]
		commands = append(commands, c.Commands()...)
		if !c.IsAvailableCommand() {
			continue
		}
		path := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		pages = append(pages, path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		page := shown(string(text))
		want := append(strings.Fields(c.Long+" "+c.Short), strings.Split(c.Example, "\n")...)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				want = append(want, "--"+f.Name)
			}
		})
		if c.Name() != "completion" && c.Parent() != nil && c.Parent().Name() != "completion" { // their help is the library's
			for _, w := range want {
				if !strings.Contains(page, w) {
					t.Errorf("%s: %q is missing", filepath.Base(path), w)
				}
			}
		}
	}
	if code, stdout, _ := kestrel(t, "man", "config", "show"); code != 0 || !strings.Contains(stdout, `kestrel\-config\-show \- `) {
		t.Error(code, stdout)
	}
	for _, args := range [][]string{{"man", "nothing"}, {"man", "run", "-o", dir}} {
		if code, _, stderr := kestrel(t, args...); code != exitUsage || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: code %d, %s", args, code, stderr)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("no groff to format the pages with")
	}
	said, err := exec.Command(groff, append([]string{"-man", "-Kutf8", "-Tutf8", "-ww", "-z"}, pages...)...).CombinedOutput()
	if err != nil || len(said) > 0 {
		t.Errorf("groff: %v\n%s", err, said)
	}
}
