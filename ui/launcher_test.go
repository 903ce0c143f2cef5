package ui

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"kestrel/experiment"
	"kestrel/ui/plot"
)

// launching drives a launcher without a terminal; commands run at once.
type launching struct {
	t         *testing.T
	a         *app
	l         *launcher
	begun     []experiment.Config
	opened    []string
	estimates int
	held      bool      // commands are kept instead of run
	kept      []tea.Cmd // by held
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
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	d := &launching{t: t}
	d.a = newApp(t.Context(), Options{
		Env: func(string) string { return "" },
		now: func() time.Time { now = now.Add(time.Second); return now },
	})
	d.a.w, d.a.h = 120, 36
	d.l = newLauncher(d.a)
	d.a.launcher = d.l
	lib := &d.l.lib
	lib.devices = func() []string { return []string{"auto", "cpu", "cuda"} }
	lib.runs = func() ([]experiment.RunInfo, error) { return nil, nil }
	lib.after = func(_ time.Duration, msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
	lib.estimate = func(context.Context, experiment.Config, int, int) (experiment.Estimate, error) {
		d.estimates++
		return experiment.Estimate{Seconds: 60}, nil
	}
	lib.begin = func(c experiment.Config) tea.Cmd { d.begun = append(d.begun, c); return nil }
	lib.open = func(path string) tea.Cmd { d.opened = append(d.opened, path); return nil }
	return d
}

func (d *launching) start() { d.run(d.l.start()) }

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
	default:
		d.run(d.a.handle(msg))
	}
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
			d.run(d.a.key(tea.KeyPressMsg(key)))
			continue
		}
		for _, r := range k {
			d.run(d.a.key(tea.KeyPressMsg{Code: r, Text: string(r)}))
		}
	}
}

// screen draws the launcher.
func (d *launching) screen() string {
	d.a.canvas.Reset(d.a.w, d.a.h)
	d.a.draw(&d.a.canvas)
	return d.a.canvas.Plain()
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

func (d *launching) begin() experiment.Config {
	d.t.Helper()
	d.press("enter")
	if len(d.begun) != 1 {
		d.t.Fatalf("%d runs begun; note %q\n%s", len(d.begun), d.a.note.text, d.screen())
	}
	return d.begun[0]
}

// same fails unless a config is what the command line would make of a name and
// overrides.
func (d *launching) same(got experiment.Config, name string, set ...string) {
	d.t.Helper()
	var overrides []experiment.Override
	for _, s := range set {
		o, err := experiment.ParseOverride(s)
		if err != nil {
			d.t.Fatal(err)
		}
		overrides = append(overrides, o)
	}
	load := func() (experiment.Config, error) { return experiment.LoadConfig(name, overrides) }
	if experiment.IsTable(name) {
		load = func() (experiment.Config, error) { return experiment.FileConfig(name, "", overrides) }
	}
	want, err := load()
	if err != nil {
		d.t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		d.t.Errorf("begun with\n%s\nwant\n%s", got.TOML(), want.TOML())
	}
}

// tableText has time stamps, text, numbers and a last column that is no target.
const tableText = `when,site,temp,rain,load,remark
2024-01-01,north,1.5,0,10,ok
2024-01-02,south,2.5,1,12,ok
2024-01-03,north,3.5,0,11,ok
2024-01-04,south,2.0,3,15,ok
2024-01-05,north,1.0,0,14,ok
2024-01-06,south,0.5,2,13,ok
`

// plainText is a table whose last column is the target.
const plainText = "t,x,y\n1,2,3\n2,3,5\n3,5,4\n4,1,2\n5,2,3\n6,3,1\n"

func TestLauncherShowsTheFirstStep(t *testing.T) {
	d := newLaunching(t, nil)
	d.has("experiments", "looking …") // before anything is loaded
	d.start()
	d.has("quickstart", "A first look", "none below this folder", "none yet", "6 kernels", "$ kestrel run quickstart", "takes", "enter start")
	d.same(d.begin(), "quickstart")
}

func TestLauncherFilter(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": plainText})
	d.start()
	d.press("/", "FIG1", "enter")
	d.has("fig1a", "fig1d")
	d.hasNot("quickstart", "a.csv", "swissgrid")
	d.put("fig1b")
	d.has("$ kestrel run fig1b")
	d.press("esc")
	d.has("quickstart", "a.csv", "$ kestrel run fig1b") // the cursor stays
	d.press("/", "no such thing")
	d.has("none with no such thing", "Nothing in the list fits")
	d.press("enter", "enter")
	if len(d.begun) != 0 {
		t.Error("a run began with nothing chosen")
	}
}

func TestLauncherKernelSpace(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	d.press("tab") // synthetic data: the kernels are the first setting
	d.press("ctrl+u", "SE, (PER + RQ")
	d.has("^")
	lines, found := strings.Split(d.screen(), "\n"), 0
	for i, line := range lines {
		if at := strings.Index(line, "SE, (PER + RQ"); at >= 0 && strings.Contains(line, "kernels   SE") {
			found++
			caret := strings.Index(lines[i+1], "^")
			// The bracket is missing behind the text.
			if got := plot.TextWidth(lines[i+1][:max(0, caret)]) - plot.TextWidth(line[:at]); got != len("SE, (PER + RQ") {
				t.Errorf("caret %d columns behind the beginning of the text:\n%s\n%s", got, line, lines[i+1])
			}
		}
	}
	if found != 1 {
		t.Fatalf("the kernels are on %d lines", found)
	}
	d.press("enter")
	if len(d.begun) != 0 {
		t.Fatal("a run began with a wrong expression")
	}
	d.has("not started", "to close")
	d.press(")*LIN")
	d.has("2 kernels", "'kernels.expressions=SE, (PER + RQ)*LIN'")
	d.hasNot("^")
	d.same(d.begin(), "quickstart", "kernels.expressions=SE, (PER + RQ)*LIN")
}

func TestLauncherKernelSpaceByDepth(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	d.put("fig1a")
	d.press("tab", "ctrl+u", "SE, PER depth 2")
	d.has("8 kernels") // 2 of one, 3 sums and 3 products
	d.same(d.begin(), "fig1a", "kernels.base=SE,PER", "kernels.depth=2")
}

func TestLauncherSettings(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	d.press("tab", "tab", "ctrl+u", "24", "down", "ctrl+u", "7", "tab", "right")
	d.has("--set sparse.inducing=24 --seed 7 --device cpu")
	d.same(d.begin(), "quickstart", "sparse.inducing=24", "seed=7", "device.kind=cpu")
}

func TestLauncherSettingsAreChecked(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	d.press("tab", "tab", "ctrl+u", "many")
	d.has(`must be a whole number from 1 to 100000, not "many"`)
	d.press("tab", "enter")
	if len(d.begun) != 0 {
		t.Fatal("a run began with a wrong setting")
	}
	if d.l.part != inducingPart {
		t.Error("the cursor is not on what is wrong")
	}
	d.press("ctrl+u", "enter") // empty: as the config says
	d.same(d.begun[0], "quickstart")
}

func TestLauncherTable(t *testing.T) {
	d := newLaunching(t, map[string]string{"data/my table.csv": tableText})
	d.start()
	name := filepath.Join("data", "my table.csv")
	d.put(name)
	// The last column holds text; load is the last that can be a target.
	d.has("‹ load ›", "[x] when", "[x] temp", "[x] rain", "6 rows: 5 training, 1 test", "2024-01-01 to 2024-01-06", "--target load")
	d.hasNot("[x] site", "[ ] site")
	d.press("t")
	d.has("‹ temp ›", "[x] load") // after the last the first of numbers
	d.press("left", "left")
	d.has("‹ rain ›")
	d.press("i", "space")
	d.has("[ ] when", `--target rain --set 'data.inputs=["temp", "load"]'`)
	d.press("right", "space")
	d.has("[ ] temp", "[x] load")
	d.press("right", "space")
	d.has("[x] load") // one input has to stay
	d.same(d.begin(), name, "data.target=rain", `data.inputs=["load"]`)
}

func TestLauncherColumnNames(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": "true,[q],x,x\n1,2,3,4\n2,1,5,3\n3,3,1,5\n4,1,2,6\n"})
	d.start()
	d.put("a.csv")
	d.press("t")
	d.has("‹ true ›", `--set 'data.target="true"'`)
	d.same(d.begin(), "a.csv", `data.target="true"`)
	d.begun = nil
	d.press("t")
	d.same(d.begin(), "a.csv", `data.target="[q]"`)
	d.begun = nil
	d.press("t")
	d.has("--target 3") // two columns are called x
	d.same(d.begin(), "a.csv", "data.target=3")
}

func TestLauncherConfigWithTable(t *testing.T) {
	config := "[data]\npath = \"a.csv\"\ninputs = [\"t\"]\n"
	d := newLaunching(t, map[string]string{"a.csv": plainText, "configs/my.toml": "# Mine\n" + strings.Replace(config, "a.csv", "../a.csv", 1)})
	d.start()
	name := filepath.Join("configs", "my.toml")
	d.put(name)
	d.has("Mine", "‹ y ›", "[x] t", "[ ] x")
	d.same(d.begin(), name)
	d.begun = nil
	d.press("t") // t becomes the target, and is taken from the inputs
	if !slices.Equal(d.l.chosen().inputs, []bool{false, false, false}) {
		t.Errorf("inputs %v", d.l.chosen().inputs)
	}
	d.press("i", "right", "space")
	d.same(d.begin(), name, "data.target=t", `data.inputs=["y"]`)
}

func TestLauncherDataErrors(t *testing.T) {
	d := newLaunching(t, map[string]string{
		"bad.csv":  "t,y\n1,2\n2,3\n3,oops\n4,1\n",
		"bad.toml": "[data]\npath = \"not there.csv\"\n",
		"odd.toml": "[data]\nsurce = 1\n[kernels]\n",
	})
	d.start()
	d.put("bad.csv")
	d.has(`line 4, column 2 (`, `"oops"`)
	d.put("bad.toml")
	d.has(`not there.csv`, "not found; looked for")
	d.press("enter")
	if len(d.begun) != 0 {
		t.Fatal("a run began without data")
	}
	d.put("odd.toml")
	d.has("line 2", "did you mean")
	// A file that has been mended meanwhile can be started.
	d.put("bad.csv")
	if err := os.WriteFile("bad.csv", []byte("t,y\n1,2\n2,3\n3,5\n4,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d.same(d.begin(), "bad.csv")
}

func TestLauncherPath(t *testing.T) {
	d := newLaunching(t, map[string]string{"deep/a/b/c/d/Data One.csv": plainText, "deep/a/b/c/d/Data Two.csv": plainText, "deep/a/b/c/d/notes.pdf": ""})
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	d.start()
	d.press("p", "~/de")
	d.press("tab", "tab", "tab", "tab", "tab", "tab")
	if got := d.l.typed.value(); got != "~/deep/a/" && got != "~/deep/a/b/c/d/Data " {
		t.Errorf("completed to %q", got)
	}
	d.press("tab", "tab")
	d.has("Data One.csv", "Data Two.csv")
	d.hasNot("notes.pdf")
	d.press("O", "tab")
	d.has("6 rows", "$ kestrel run '"+home[:10])
	full := filepath.Join(home, "deep/a/b/c/d/Data One.csv")
	d.press("?qgm") // all go into the path
	if !strings.HasSuffix(d.l.typed.value(), ".csv?qgm") || d.a.help != nil {
		t.Errorf("typed %q", d.l.typed.value())
	}
	d.run(d.l.paste(tea.PasteMsg{Content: "x"}))
	for range "?qgmx" {
		d.run(d.a.key(tea.KeyPressMsg{Code: tea.KeyBackspace}))
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
	d.run(d.l.paste(tea.PasteMsg{Content: "\n'sub/my data.csv'\nsecond line\n"}))
	d.has("$ kestrel run 'sub/my data.csv'", "6 rows")
	d.same(d.begin(), "sub/my data.csv")
	// Into a setting it goes on one line.
	d.press("esc")
	d.put("quickstart")
	d.press("tab", "ctrl+u")
	d.run(d.l.paste(tea.PasteMsg{Content: "SE,\n  PER\n"}))
	d.has("2 kernels")
}

func TestHomePath(t *testing.T) {
	t.Setenv("HOME", "/home/some one")
	for _, c := range [][2]string{{"~", "/home/some one"}, {"~/a b.csv", "/home/some one/a b.csv"}, {"~x/a", "~x/a"}, {"a/~", "a/~"}, {"", ""}} {
		if got := homePath(c[0]); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}

func TestShellWord(t *testing.T) {
	for _, c := range [][2]string{
		{"a/b-c_1.csv", "a/b-c_1.csv"}, {"a b", "'a b'"}, {"it's", `'it'\''s'`}, {"", "''"}, {"$HOME", "'$HOME'"}, {"k=SE*PER", "'k=SE*PER'"}, {"~", "'~'"},
	} {
		if got := shellWord(c[0]); got != c[1] {
			t.Errorf("%q: %s, want %s", c[0], got, c[1])
		}
	}
}

func TestLauncherRuns(t *testing.T) {
	d := newLaunching(t, nil)
	runs := []experiment.RunInfo{
		{
			Path: "runs/good", Name: "good", State: experiment.Finished, Reason: "all data used", Started: time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC),
			Last: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), Seconds: 61, Evaluations: 5, Planned: 9, Leader: "LIN*PER", LeaderName: "LIN × PER", Posterior: 0.931, RMSE: 0.25, Kernels: 12, Rows: 800, Data: "tides",
		},
		{Path: "runs/bad", Name: "bad", Err: "events.jsonl: line 3: broken", Posterior: math.NaN(), RMSE: math.NaN()},
	}
	d.l.lib.runs = func() ([]experiment.RunInfo, error) { return runs, nil }
	d.start()
	d.has("good", "finished", "LIN × PER 0.93", "damaged")
	d.put("bad")
	d.has("line 3: broken")
	d.put("good")
	d.has("all data used", "q* 0.931", "0.25", "5 of 9 evaluations", "tides, 800 training rows", "1:01", "$ kestrel open runs/good")
	d.press("enter")
	if !slices.Equal(d.opened, []string{"runs/good"}) || len(d.begun) != 0 {
		t.Errorf("opened %q", d.opened)
	}
	d.l.lib.runs = func() ([]experiment.RunInfo, error) { return nil, errors.New("the folder cannot be read") }
	d.press("ctrl+r")
	d.has("the folder cannot be read")
}

// Answers that come late are of no use.
func TestLauncherDropsStaleAnswers(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": plainText})
	d.start()
	d.put("a.csv")
	before := d.estimates
	var asked []context.Context
	d.l.lib.estimate = func(ctx context.Context, c experiment.Config, rows, dim int) (experiment.Estimate, error) {
		asked = append(asked, ctx)
		if rows != 5 || dim != 2 { // a tenth of six is one
			t.Errorf("estimate for %d rows and %d inputs", rows, dim)
		}
		return experiment.Estimate{Seconds: float64(len(asked))}, ctx.Err()
	}
	d.press("tab", "tab", "tab", "tab") // to the kernels
	if len(asked) != 0 || d.estimates != before {
		t.Fatal("an estimate without a change")
	}
	// Hold the estimate of the first change back until there is a second.
	d.held = true
	d.press("ctrl+u", "SE")
	kept := d.kept
	d.kept = nil
	d.held = false
	for _, c := range kept[:len(kept)-1] {
		d.run(c)
	}
	if d.l.estimate != nil {
		t.Error("an estimate is shown for settings that have changed")
	}
	d.has("measuring")
	d.run(kept[len(kept)-1])
	if d.l.estimate == nil || len(asked) != 1 {
		t.Fatalf("%d estimates asked for", len(asked))
	}
	d.hasNot("measuring")
}

func TestLatest(t *testing.T) {
	var q latest
	var ended []int
	ask := func(n int) tea.Cmd {
		return q.ask(t.Context(), func(ctx context.Context, serial int) tea.Msg {
			if ctx.Err() == nil {
				ended = append(ended, n)
			}
			return serial
		})
	}
	first := ask(1)
	if ask(2) != nil || ask(3) != nil {
		t.Fatal("two questions at a time")
	}
	fresh, next := q.done(first().(int))
	if fresh || next == nil {
		t.Fatal("the first answer was taken, or the third question not asked")
	}
	fresh, none := q.done(next().(int))
	if !fresh || none != nil || q.busy() || !slices.Equal(ended, []int{3}) {
		t.Errorf("fresh %v, ended %v", fresh, ended) // 1 was cancelled, 2 never asked
	}
	fourth := ask(4)
	q.drop()
	if fresh, next := q.done(fourth().(int)); fresh || next != nil || len(ended) != 1 {
		t.Error("an answer that was dropped was taken")
	}
}

// While keys are typed, none of them may do something else.
func TestLauncherTypingIsNoCommand(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	glyphs := d.a.theme.glyphs
	for _, begin := range [][]string{{"/"}, {"p"}, {"tab"}} {
		d.press(begin...)
		d.press("?gmqtijk/")
		if d.a.help != nil || d.a.leaving || d.a.theme.glyphs != glyphs || !d.a.mouse {
			t.Fatalf("after %v: a letter was taken for a command", begin)
		}
		d.press("esc", "esc")
		d.put("quickstart")
	}
	d.press("?")
	if d.a.help == nil {
		t.Error("no help from the list")
	}
	d.has("settings", "filter")
}

func TestLauncherMouse(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	find := func(text string) (x, y int) {
		for y, line := range strings.Split(d.screen(), "\n") {
			if i := strings.Index(line, text); i >= 0 {
				return plot.TextWidth(line[:i]), y
			}
		}
		t.Fatalf("no %q", text)
		return 0, 0
	}
	click := func(text string) {
		x, y := find(text)
		d.run(d.a.mouseEvent(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}))
	}
	click("fig1b")
	d.has("$ kestrel run fig1b")
	click("inducing ")
	if d.l.focus != onParts || d.l.part != inducingPart {
		t.Error("the setting was not chosen")
	}
	x, y := find("▸ fig1b")
	d.run(d.a.mouseEvent(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown}))
	d.has("$ kestrel run fig1c")
}

func TestLauncherControlCharacters(t *testing.T) {
	bad := "a\x1b[31mb\x07.csv"
	d := newLaunching(t, map[string]string{bad: "t\x1b[2J,y\n1,2\n2,3\n3,1\n4,2\n5,1\n"})
	d.start()
	d.put(bad)
	d.screen()
	for y := range d.a.h {
		for x := range d.a.w {
			if r := d.a.canvas.At(x, y).Rune; r != 0 && r < ' ' || r == 0x7f {
				t.Fatalf("control character %q at %d, %d", r, x, y)
			}
		}
	}
	d.has("a�[31mb�.csv")
	d.same(d.begin(), bad)
}

func TestLauncherAllSizes(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": tableText, "wide.csv": wideTable(60), "名前.csv": plainText})
	d.l.lib.runs = func() ([]experiment.RunInfo, error) {
		return []experiment.RunInfo{{Path: "runs/one", Name: strings.Repeat("long", 30), State: experiment.Running, Posterior: math.NaN(), RMSE: math.NaN()}}, nil
	}
	states := map[string]func(){
		"empty":  func() {},
		"loaded": func() { d.start() },
		"table":  func() { d.put("a.csv") },
		"inputs": func() { d.press("i") },
		"wide": func() {
			d.press("esc")
			d.put("wide.csv")
			d.press("i")
			d.press(slices.Repeat([]string{"right"}, 40)...)
		},
		"han":      func() { d.press("esc"); d.put("名前.csv") },
		"wrong":    func() { d.press("tab", "tab", "tab", "ctrl+u", "SE,, 名") },
		"filter":   func() { d.press("esc", "/", "e") },
		"path":     func() { d.press("esc", "esc", "p", "./") },
		"run":      func() { d.press("esc", "end") },
		"note":     func() { d.a.note = note{strings.Repeat("failed because ", 40), failure, d.a.opts.now()} },
		"starting": func() { d.held = true; d.put("quickstart"); d.press("enter") },
	}
	for _, name := range []string{"empty", "loaded", "table", "inputs", "wide", "han", "wrong", "filter", "path", "run", "note", "starting"} {
		states[name]()
		for _, glyphs := range []plot.Glyphs{plot.Braille, plot.ASCII} {
			d.a.theme = newTheme(d.a.theme.profile, true, glyphs)
			for _, w := range []int{0, 1, 2, 3, 5, 10, 20, 29, 30, 40, 60, 79, 80, 120, 240} {
				for _, h := range []int{0, 1, 2, 3, 5, 8, 11, 12, 24, 36, 60} {
					d.a.w, d.a.h = w, h
					if w <= 30 || h <= 8 {
						d.screen() // about the least size
					}
					c := plot.NewCanvas(w+4, h+4) // and without the limit on sizes
					d.l.draw(c, plot.Rect{X: 2, Y: 2, W: w, H: h})
					if s := outside(c, plot.Rect{X: 2, Y: 2, W: w, H: h}); s != "" {
						t.Fatalf("%s at %dx%d: %s", name, w, h, s)
					}
				}
			}
		}
		d.a.w, d.a.h = 120, 36
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

func TestLauncherAgo(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{{0, "just now"}, {-time.Hour, "just now"}, {59 * time.Minute, "59 min ago"}, {47 * time.Hour, "47 h ago"}, {49 * time.Hour, "2 days ago"}} {
		if got := ago(c.d); got != c.want {
			t.Errorf("%v: %s", c.d, got)
		}
	}
}

// A table without columns, one that is not there, and names that are no UTF-8 do
// no harm.
func TestLauncherUnreadableTables(t *testing.T) {
	c := newChoice("empty.csv")
	base := experiment.DefaultConfig()
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

// Which rows of a table are held out is a setting like the others: it goes into
// the command line that does the same.
func TestLauncherSplit(t *testing.T) {
	base := experiment.DefaultConfig()
	c := newChoice("a.csv")
	c.adopt(&base, []experiment.TableColumn{{Name: "t", Number: 1, Kind: "number", Role: "input"}, {Name: "y", Number: 2, Kind: "number", Role: "target"}})
	before := c.draft()
	if got := before.command(before.set); got != "kestrel run a.csv" {
		t.Errorf("unchanged: %s", got)
	}
	c.turnSplit(1)
	after := c.draft()
	if got := after.command(after.set); got != `kestrel run a.csv --set data.split_by=x` {
		t.Errorf("at the end of the range: %s", got)
	}
	if _, err := experiment.FileConfig("a.csv", "", after.set); err != nil {
		t.Error(err)
	}
	c.turnSplit(-1)
	if c.split != "random" {
		t.Errorf("back again: %s", c.split)
	}
}
