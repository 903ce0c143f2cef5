package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/config"
)

func TestLauncherPath(t *testing.T) {
	d := newLaunching(t, map[string]string{"deep/a/b/c/d/Data One.csv": plainText, "deep/a/b/c/d/Data Two.csv": plainText,
		"deep/a/b/c/d/notes.pdf": ""})
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	d.start()
	d.press("p", "~/de")
	d.press("tab", "tab", "tab", "tab", "tab", "tab")
	if got := d.l.typed.Value(); got != "~/deep/a/" && got != "~/deep/a/b/c/d/Data " {
		t.Errorf("completed to %q", got)
	}
	d.press("tab", "tab")
	d.has("Data One.csv", "Data Two.csv")
	d.hasNot("notes.pdf")
	d.press("O", "tab")
	d.has("6 rows", "$ kestrel run '"+home[:10])
	full := filepath.Join(home, "deep/a/b/c/d/Data One.csv")
	d.press("?qgm") // all go into the path
	if !strings.HasSuffix(d.l.typed.Value(), ".csv?qgm") || len(d.commands) > 0 {
		t.Errorf("typed %q", d.l.typed.Value())
	}
	d.run(d.l.Paste(tea.PasteMsg{Content: "x"}))
	for range "?qgmx" {
		d.key(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	d.same(d.begin(), full)
}

func TestPastedPath(t *testing.T) {
	for _, c := range [][2]string{
		{"/a/b.csv", "/a/b.csv"},
		{"\n\r\n  /a/b c.csv \r\n/other.csv\n", "/a/b c.csv"},
		{"'/a/b c.csv'", "/a/b c.csv"},
		{"\"/a/b's.csv\"\n", "/a/b's.csv"},
		{`/a/b\ c\(1\).csv`, "/a/b c(1).csv"},
		{"file:///a/b%20c.csv\r\n", "/a/b c.csv"},
		{"/a\x1b[2J/\x00b\t.csv", "/a[2J/b.csv"},
		{"", ""}, {"\n \n", ""}, {"'", "'"},
	} {
		if got := pastedPath(c[0]); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

func TestLauncherPaste(t *testing.T) {
	d := newLaunching(t, map[string]string{"sub/my data.csv": plainText})
	d.start()
	d.run(d.l.Paste(tea.PasteMsg{Content: "\n'sub/my data.csv'\nsecond line\n"}))
	d.has("$ kestrel run 'sub/my data.csv'", "6 rows")
	d.same(d.begin(), "sub/my data.csv")
	// Into a setting it goes on one line.
	d.press("esc")
	d.put("quickstart")
	d.press("tab", "ctrl+u")
	d.run(d.l.Paste(tea.PasteMsg{Content: "SE,\n  PER\n"}))
	d.has("2 kernels")
}

func TestHomePath(t *testing.T) {
	t.Setenv("HOME", "/home/some one")
	for _, c := range [][2]string{{"~", "/home/some one"}, {"~/a b.csv", "/home/some one/a b.csv"}, {"~x/a", "~x/a"},
		{"a/~", "a/~"}, {"", ""}} {
		if got := homePath(c[0]); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

func TestLauncherControlCharacters(t *testing.T) {
	bad := "a\x1b[31mb\x07.csv"
	d := newLaunching(t, map[string]string{bad: "t\x1b[2J,y\n1,2\n2,3\n3,1\n4,2\n5,1\n"})
	d.start()
	d.put(bad)
	d.screen()
	for y := range d.h {
		for x := range d.w {
			if r := d.canvas.At(x, y).Rune; r != 0 && r < ' ' || r == 0x7f {
				t.Fatalf("control character %q at %d, %d", r, x, y)
			}
		}
	}
	d.has("a�[31mb�.csv")
	d.same(d.begin(), bad)
}

// A table without columns, one that is not there, and names that are no UTF-8 do
// no harm.
func TestLauncherUnreadableTables(t *testing.T) {
	c := newChoice("empty.csv")
	base := config.Default()
	c.adopt(&base, nil)
	if c.target >= 0 || c.ref(c.target) != "" {
		t.Errorf("target %d, %q", c.target, c.ref(c.target))
	}
	dir := t.TempDir()
	for _, name := range []string{"caf\xe9.csv", "caf\xea.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Skip("the file system takes no such names")
		}
	}
	want := dir + string(filepath.Separator) + "caf"
	if got, _ := completePath(want); got != want {
		t.Errorf("completed to %q, want %q", got, want)
	}
}
