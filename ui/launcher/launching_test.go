package launcher

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// launching drives a launcher without a workbench and a terminal; commands run at
// once. It is the host.
type launching struct {
	t         *testing.T
	l         *Launcher
	canvas    plot.Canvas
	w, h      int
	theme     *theme.Theme
	now       time.Time
	note      note.Note
	begun     []config.Config
	out       string // where the last of them goes
	opened    []string
	commands  []string // keys that the launcher has left to the workbench
	estimates int
	held      bool      // commands are kept instead of run
	kept      []tea.Cmd // by held
}

// Now goes on by a second whenever it is asked.
func (d *launching) Now() time.Time { d.now = d.now.Add(time.Second); return d.now }

func (d *launching) Cores() int      { return 0 }
func (d *launching) Note() note.Note { return d.note }

func (d *launching) Begin(c config.Config, out string) tea.Cmd {
	d.begun, d.out = append(d.begun, c), out
	return nil
}
func (d *launching) Open(path string) tea.Cmd { d.opened = append(d.opened, path); return nil }

func (d *launching) Keys() []input.Group {
	command := func(short string, keys ...string) input.Binding {
		return input.Binding{Keys: keys, Label: keys[0], Short: short,
			Do: func() tea.Cmd { d.commands = append(d.commands, keys[0]); return nil }}
	}
	return append(d.l.Groups(), input.Group{Name: "everywhere", All: []input.Binding{
		command("help", "?", "f1"), command("", "g"), command("", "m"), command("quit", "q", "ctrl+c"),
	}})
}

// newLaunching makes a launcher in an empty working directory with files in it.
func newLaunching(t *testing.T, files map[string]string) *launching {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d := &launching{t: t, w: 120, h: 36, now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
	d.theme = theme.New(colorprofile.TrueColor, true, plot.Braille)
	d.l = New(t.Context(), d)
	lib := &d.l.lib
	lib.devices = func() []string { return []string{"auto", "cpu", "cuda"} }
	lib.runs = func() ([]library.RunInfo, error) { return nil, nil }
	lib.after = func(_ time.Duration, msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
	lib.estimate = func(context.Context, config.Config, int, int) (prepare.Estimate, error) {
		d.estimates++
		return prepare.Estimate{Seconds: 60}, nil
	}
	return d
}

func (d *launching) start() { d.run(d.l.Start()) }

// run carries commands out, and those that follow from them.
func (d *launching) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if d.held {
		d.kept = append(d.kept, cmd)
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case note.Msg:
		d.note = note.Note{Text: msg.Text, Level: msg.Level, At: d.Now()}
	default:
		cmd, _ := d.l.Message(msg)
		d.run(cmd)
	}
}

// key gives a key to the launcher, and what it does not take to what works everywhere.
func (d *launching) key(msg tea.KeyPressMsg) {
	cmd, taken := d.l.Key(msg)
	if !taken {
		cmd, _ = input.Dispatch(d.Keys(), msg.String())
	}
	d.run(cmd)
}

var testKeys = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "esc": {Code: tea.KeyEscape},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgdown": {Code: tea.KeyPgDown}, "space": {Code: tea.KeySpace, Text: " "},
	"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+r": {Code: 'r', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
}

// press sends keys; what is no key's name is typed.
func (d *launching) press(keys ...string) {
	d.t.Helper()
	for _, k := range keys {
		if key, ok := testKeys[k]; ok {
			d.key(tea.KeyPressMsg(key))
			continue
		}
		for _, r := range k {
			d.key(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// screen draws the launcher.
func (d *launching) screen() string {
	d.canvas.Reset(d.w, d.h)
	d.l.Draw(&d.canvas, d.canvas.Bounds(), d.theme)
	return d.canvas.Plain()
}

func (d *launching) has(texts ...string) {
	d.t.Helper()
	screen := d.screen()
	for _, s := range texts {
		if !strings.Contains(screen, s) {
			d.t.Fatalf("no %q on the screen:\n%s", s, screen)
		}
	}
}

func (d *launching) hasNot(texts ...string) {
	d.t.Helper()
	screen := d.screen()
	for _, s := range texts {
		if strings.Contains(screen, s) {
			d.t.Fatalf("%q is on the screen:\n%s", s, screen)
		}
	}
}

// put puts the cursor on an item.
func (d *launching) put(label string) {
	d.t.Helper()
	for i := range d.l.list.shown {
		if d.l.list.shown[i].label == label {
			if i == 0 {
				d.press("home")
			} else {
				d.l.list.cursor = i - 1 // what is between need not be looked at
				d.press("down")
			}
			return
		}
	}
	d.t.Fatalf("no %q in the list", label)
}

func (d *launching) begin() config.Config {
	d.t.Helper()
	if d.l.focus == onParts {
		d.press("esc")
	}
	d.press("enter")
	if len(d.begun) != 1 {
		d.t.Fatalf("%d runs begun; note %q\n%s", len(d.begun), d.note.Text, d.screen())
	}
	return d.begun[0]
}

// same fails unless a config is what the command line would make of a name and
// overrides.
func (d *launching) same(got config.Config, name string, set ...string) {
	d.t.Helper()
	var overrides []config.Override
	for _, s := range set {
		o, err := config.ParseOverride(s)
		if err != nil {
			d.t.Fatal(err)
		}
		overrides = append(overrides, o)
	}
	load := func() (config.Config, error) { return config.Load(name, overrides) }
	if library.IsTable(name) {
		load = func() (config.Config, error) { return config.ForTable(name, "", overrides) }
	}
	want, err := load()
	if err != nil {
		d.t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		d.t.Errorf("begun with\n%s\nwant\n%s", got.TOML(), want.TOML())
	}
}

// outside says what has been drawn outside of r.
func outside(c *plot.Canvas, r plot.Rect) string {
	b := c.Bounds()
	for y := range b.H {
		for x := range b.W {
			if r.Contains(x, y) {
				continue
			}
			if cell := c.At(x, y); cell.Rune != ' ' {
				return fmt.Sprintf("%q at %d, %d", cell.Rune, x-r.X, y-r.Y)
			}
		}
	}
	return ""
}

func wideTable(columns int) string {
	var b strings.Builder
	for i := range columns {
		fmt.Fprintf(&b, "column%d,", i)
	}
	b.WriteString("y\n")
	for row := range 8 {
		for i := range columns {
			fmt.Fprintf(&b, "%d,", (row*7+i*3)%11)
		}
		fmt.Fprintf(&b, "%d\n", row%3)
	}
	return b.String()
}
