package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// What the file says is what themes and keys become; what it leaves out stays.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "workbench.toml")
	if s, err := Read(path); err != nil || s.Theme.Ground != "" {
		t.Errorf("no file: %+v, %v", s, err)
	}
	must.OK(t, os.WriteFile(path, []byte(`[theme]
ground = "light"
characters = "ascii"
[theme.colours]
focus = "#010203"
selected = "#AABBCC"
[keys]
"ctrl+p" = "space"
[attention]
bell = "always"
progress = "never"
`), 0o644))
	s, err := Read(path)
	must.OK(t, err)
	none := func(string) string { return "" }
	forced := func(name string) string { return map[string]string{"KESTREL_GLYPHS": "blocks"}[name] }
	if s.Dark(true) || s.Glyphs(none) != plot.ASCII || s.Glyphs(forced) != plot.Blocks || s.Key("ctrl+p") != "space" || s.Key("p") != "p" ||
		s.Attention.Bell != Always || s.Attention.Progress != Never {
		t.Errorf("%+v", s)
	}
	for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI, colorprofile.ASCII} {
		before, after := theme.New(profile, true, plot.Braille), theme.New(profile, true, plot.Braille)
		s.Paint(after)
		painted := after.Focus.FG == plot.RGB(1, 2, 3) && after.Selected.BG == plot.RGB(0xaa, 0xbb, 0xcc)
		if painted != (profile > colorprofile.ANSI) {
			t.Errorf("%v: %+v", profile, after.Focus)
		}
		if after.Bad != before.Bad {
			t.Errorf("%v: another style has changed", profile)
		}
	}
	var zero Settings
	if !zero.Dark(true) || zero.Dark(false) || zero.Glyphs(none) != theme.GlyphsFor(none) {
		t.Error("no wishes change something")
	}
}

// A wrong file is told in a line that says where and what to do.
func TestWrong(t *testing.T) {
	for text, want := range map[string]string{
		"[theme]\nground = \"grey\"\n":          `line 2: theme.ground: must be one of auto, dark, light, not "grey"`,
		"# a\n[theme]\npictures = \"no\"\n":     "line 3: theme.pictures: must be one of auto, off",
		"theme.ground = \"grey\"\n":             "line 1: theme.ground",
		"\ntheme = { ground = \"grey\" }\n":     "line 2: theme.ground",
		"[theme]\nbackground = \"dark\"\n":      "line 2: there is no theme.background",
		"[theme.colours]\nfocs = \"#010203\"\n": `line 2: theme.colours: there is no colour "focs"; did you mean focus?`,
		"[theme.colours]\nfocus = \"blue\"\n":   `line 2: theme.colours.focus: must be a colour such as "#56b4e9", not "blue"`,
		"[keys]\nx = \"\"\n":                    "line 2: keys: \"x\" = \"\": must name two keys",
		"[keys]\n\"ctrl+c\" = \"q\"\n":          "ctrl+c stays",
		"[theme]\nground = 3\n":                 "line 2:",
		"[[[\n":                                 "line 1:",
		"[attention]\nbell = \"loud\"\n":        "line 2: attention.bell",
		strings.Repeat("# long\n", mostBytes):   "is longer than",
	} {
		path := filepath.Join(t.TempDir(), "w.toml")
		must.OK(t, os.WriteFile(path, []byte(text), 0o644))
		s, err := Read(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
		if len(s.Keys) > 0 || s.Theme.Ground != "" {
			t.Errorf("%.40q: some of it is taken: %+v", text, s)
		}
	}
}
