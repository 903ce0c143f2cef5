package launcher

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

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

func TestLauncherTable(t *testing.T) {
	d := newLaunching(t, map[string]string{"data/my table.csv": tableText})
	d.start()
	name := filepath.Join("data", "my table.csv")
	d.put(name)
	// The last column holds text; load is the last that can be a target.
	d.has("‹ load ›", "[x] when", "[x] temp", "[x] rain", "6 rows: 5 training, 1 test", "2024-01-01 to 2024-01-06", "--target load")
	d.has("[ ] site") // a text can be taken in, but is not by itself
	d.hasNot("[x] site")
	d.press("t")
	d.has("‹ temp ›", "[x] load") // after the last the first of numbers
	d.press("left", "left")
	d.has("‹ rain ›")
	d.press("i", "space")
	d.has("[ ] when", `--target rain --set 'data.inputs=["temp", "load"]'`)
	d.press("right", "space")
	d.has("[x] site", `--set 'data.inputs=["site", "temp", "load"]'`)
	d.press("space", "right", "space")
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
	d := newLaunching(t, map[string]string{"a.csv": plainText,
		"configs/my.toml": "# Mine\n" + strings.Replace(config, "a.csv", "../a.csv", 1)})
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

func TestShellWord(t *testing.T) {
	for _, c := range [][2]string{
		{"a/b-c_1.csv", "a/b-c_1.csv"}, {"a b", "'a b'"}, {"it's", `'it'\''s'`}, {"", "''"}, {"$HOME", "'$HOME'"},
		{"k=SE*PER", "'k=SE*PER'"}, {"~", "'~'"},
	} {
		if got := shellWord(c[0]); got != c[1] {
			t.Errorf("%q: %s, want %s", c[0], got, c[1])
		}
	}
}

func TestLauncherRuns(t *testing.T) {
	d := newLaunching(t, nil)
	runs := []library.RunInfo{
		{
			Path: "runs/good", Name: "good", Fate: record.Finished, Reason: "all data used",
			Started: time.Date(2026, 8, 1, 9, 0, 0, 0, time.UTC),
			Last:    time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), Seconds: 61, Evaluations: 5, Planned: 9, Leader: "LIN*PER",
			LeaderName: "LIN × PER", Posterior: 0.931, RMSE: 0.25, Kernels: 12, Rows: 800, Data: "tides",
		},
		{Path: "runs/bad", Name: "bad", Err: "events.jsonl: line 3: broken", Posterior: math.NaN(), RMSE: math.NaN()},
	}
	d.l.lib.runs = func() ([]library.RunInfo, error) { return runs, nil }
	d.start()
	d.has("good", "finished", "LIN × PER 0.93", "damaged")
	// Runs called alike are told by what they explain, and by where there is room for it.
	items := runItems([]library.RunInfo{{Name: "tides", Path: "runs/t-0", Target: "rain"}, {Name: "tides", Target: "level"},
		{Name: "good", Path: "runs/good", Target: "rain"}})
	if items[0].label != "tides: rain" || items[1].label != "tides: level" || items[2].label != "good" ||
		!slices.Contains(runLine(items[0].run, time.Now()), "t-0") || slices.Contains(runLine(items[2].run, time.Now()), "good") {
		t.Errorf("%+v", items)
	}
	d.put("bad")
	d.has("line 3: broken")
	d.put("good")
	d.has("all data used", "q* 0.931", "0.25", "5 of 9 evaluations", "tides, 800 training rows", "1:01", "$ kestrel open runs/good")
	d.press("enter")
	if !slices.Equal(d.opened, []string{"runs/good"}) || len(d.begun) != 0 {
		t.Errorf("opened %q", d.opened)
	}
	d.l.lib.runs = func() ([]library.RunInfo, error) { return nil, errors.New("the folder cannot be read") }
	d.press("ctrl+r")
	d.has("the folder cannot be read")
}

// Experiments whose data are not here are said to be so, behind those that can be run.
func TestLauncherKnowsWhatCannotBeRun(t *testing.T) {
	t.Setenv("KESTREL_DATA", "")
	d := newLaunching(t, map[string]string{"series/02-solar.csv": "x,y\n1,2\n2,3\n"})
	d.w, d.h = 200, 55
	d.start()
	text := d.screen()
	place := func(what string) int {
		at := strings.Index(text, what)
		if at < 0 {
			t.Fatalf("no %q on\n%s", what, text)
		}
		return at
	}
	if place("quickstart") > place("fig1a") || place("fig1d") > place("airline ") || place("  solar ") > place("airline ") {
		t.Errorf("in another order:\n%s", text)
	}
	if !strings.Contains(text, "airline           no data: Airline passengers") ||
		strings.Contains(text, "solar             no data") {
		t.Errorf("what has no data:\n%s", text)
	}
	d.w = 80
	d.has("airline           no data")
	// What cannot be run is faint, what can is not.
	lines := strings.Split(d.screen(), "\n")
	for what, faint := range map[string]bool{"airline": true, "solar": false} {
		y := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "  "+what+" ") })
		if y < 0 {
			t.Fatalf("no line of %s", what)
		}
		x := len([]rune(lines[y][:strings.Index(lines[y], what)]))
		if got := d.canvas.At(x, y).Style; (got.FG == d.theme.Faint.FG) != faint {
			t.Errorf("%s is written in %+v; faint %+v, text %+v", what, got, d.theme.Faint, d.theme.Text)
		}
	}
}

// Kernels and time are those of the run that would begin: with what the config leaves to
// its data decided as the run decides it.
func TestLauncherShowsTheRunThatBegins(t *testing.T) {
	var series, table strings.Builder
	series.WriteString("date,y\n")
	table.WriteString("depth,width,y\n")
	for i := range 40 {
		day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		fmt.Fprintf(&series, "%s,%d\n", day.Format(time.DateOnly), i*i%7)
		fmt.Fprintf(&table, "%d,%d,%d\n", i*i%11, i*i%13, i*i%7)
	}
	d := newLaunching(t, map[string]string{"series.csv": series.String(), "table.csv": table.String(),
		"plain.csv": "x,y\n1,2\n2,4\n3,1\n5,2\n9,4\n"})
	var asked config.Config
	d.l.lib.estimate = func(_ context.Context, c config.Config, _, _ int) (prepare.Estimate, error) {
		asked = c
		return prepare.Estimate{Seconds: 60}, nil
	}
	d.start()
	for name, of := range map[string]string{"series.csv": " of a series", "table.csv": " of these inputs", "plain.csv": ""} {
		d.put(name)
		c, err := library.ConfigFor(name, nil)
		must.OK(t, err)
		_, _, err = prepare.LoadSettled(t.Context(), &c)
		must.OK(t, err)
		space, err := c.Kernels.Candidates()
		must.OK(t, err)
		d.has(fmt.Sprintf("%d kernels%s", len(space), of))
		got, want := asked.Settings, c.Settings
		if !reflect.DeepEqual(asked.Kernels, c.Kernels) || got.Priors != want.Priors || got.Evidence != want.Evidence {
			t.Errorf("%s: the estimate is of %+v, priors %s, evidence %s; the run has %+v, %s, %s", name, asked.Kernels, got.Priors, got.Evidence,
				c.Kernels, want.Priors, want.Evidence)
		}
	}
	// Where there is little room the number stays.
	d.put("series.csv")
	d.w = 80
	d.has(fmt.Sprintf("%d kernels", d.l.planned.kernels))
	d.hasNot("kernels of a series")
	d.w = 120
	// What is written replaces what the data decide.
	for d.l.part != kernelsPart || d.l.focus != onParts {
		d.press("tab")
	}
	d.press("ctrl+u", "SE, RW")
	d.has("2 kernels")
	d.hasNot("kernels of a series")
	if got := asked.Kernels.Expressions; len(got) != 2 || asked.Settings.Priors != "broad" {
		t.Errorf("the estimate is of %v, priors %s", got, asked.Settings.Priors)
	}
}

// What another launcher has asked for is told to nobody: the one that is there takes it
// off, and does nothing.
func TestLauncherHearsItsOwnAnswers(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": plainText})
	d.start()
	d.put("a.csv")
	other := New(t.Context(), d)
	d.l.settled = false
	edits, estimates, before := d.l.edits, d.estimates, d.screen()
	for _, msg := range []tea.Msg{choicesMsg{of: other}, filesMsg{other, nil}, runsMsg{other, nil, errors.New("lost")}, devicesMsg{other, nil},
		completedMsg{other, "", "b.csv"}, resolvedMsg{of: other, serial: 1}, previewMsg{of: other, serial: 1, err: errors.New("lost")},
		estimateMsg{of: other, serial: 1, err: errors.New("lost")}, settleMsg{other, edits}} {
		cmd, taken := d.l.Message(msg)
		if !taken || cmd != nil {
			t.Errorf("%T: taken %v, asks for more: %v", msg, taken, cmd != nil)
		}
		if d.l.settled || d.l.edits != edits || d.estimates != estimates || d.screen() != before {
			t.Fatalf("%T of another launcher has changed this one", msg)
		}
	}
}

// Rows that end before others do are shown as far as they go.
func TestLauncherShowsShortRows(t *testing.T) {
	d := newLaunching(t, nil)
	var s datasets.Summary
	s.Columns = []datasets.ColumnSummary{{}, {}, {}}
	for i, name := range []string{"a", "b", "c"} {
		s.Columns[i].Name = name
	}
	var c plot.Canvas
	c.Reset(40, 8)
	page := sheet{c: &c, t: d.theme, w: 40, flex: -1, from: -1}
	d.l.rowSheet(&page, &inspect.Preview{Summary: &s}, [][]string{{"1", "2", "3"}, {"4", "5"}, {"6"}, {}})
	for y, b := range page.blocks {
		b.draw(0, y, 40)
	}
	var got []string
	for line := range strings.Lines(c.Plain()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	if want := []string{"a b c", "1 2 3", "4 5", "6"}; !slices.Equal(got[:min(4, len(got))], want) {
		t.Errorf("%q", got)
	}
}

// Of many columns those that are not shown are counted.
func TestLauncherCountsColumns(t *testing.T) {
	ranged := regexp.MustCompile(`[0-9] to [0-9]`)
	for _, columns := range []int{6, 7, 8, 12} { // and the target
		d := newLaunching(t, map[string]string{"a.csv": wideTable(columns)})
		d.h = 60
		d.start()
		d.put("a.csv")
		text := d.screen()
		shown, hidden := 0, 0
		for line := range strings.Lines(text) {
			if ranged.MatchString(line) {
				shown++
			}
			if at := strings.Index(line, "and "); at >= 0 && strings.Contains(line, "more inputs") {
				_, err := fmt.Sscanf(line[at:], "and %d more inputs", &hidden)
				must.OK(t, err)
			}
		}
		if shown+hidden != columns+1 || (hidden > 0) != (columns+1 > 8) {
			t.Errorf("of %d columns %d are shown, and said to be %d more:\n%s", columns+1, shown, hidden, text)
		}
	}
}

// The rows that are held out are those with their mark, in the chart of a table too.
func TestLauncherMarksWhatIsHeldOut(t *testing.T) {
	var table strings.Builder
	table.WriteString("x,y\n")
	for i := range 40 {
		fmt.Fprintf(&table, "%d,%d\n", i*7%40, i*i%11)
	}
	d := newLaunching(t, map[string]string{"a.csv": table.String()})
	d.w, d.h = 160, 60
	d.start()
	d.put("a.csv")
	d.has("40 rows: 36 training, 4 test", "╭ a.csv ─")                                // of the table that the cursor is on
	if marks := strings.Count(d.screen(), string(d.theme.TestMark())); marks != 4+1 { // and that of the legend
		t.Errorf("%d marks of rows held out\n%s", marks, d.screen())
	}
}

// The arrows leave the line of a path as they would leave any other: to the next one.
func TestLauncherArrowsLeaveThePath(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": plainText})
	d.start()
	d.press("p")
	d.has("╭ path ─") // what is to be typed, as long as nothing is
	at := d.l.list.cursor
	if d.l.focus != onTyped {
		t.Fatalf("focus %v", d.l.focus)
	}
	for _, way := range []struct {
		key string
		by  int
	}{{"down", 1}, {"up", -1}} {
		d.press("esc")
		d.l.list.cursor = at
		d.press(way.key)
		plain := d.l.list.cursor
		d.l.list.cursor = at
		d.press("p")
		d.press(way.key)
		if d.l.focus != onList || d.l.list.cursor != plain || plain != max(0, min(at+way.by, len(d.l.list.shown)-1)) {
			t.Errorf("%s leads from %d to %d, in the list to %d; focus %v", way.key, at, d.l.list.cursor, plain, d.l.focus)
		}
	}
}

// Answers that come late are of no use.
func TestLauncherDropsStaleAnswers(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": plainText})
	d.start()
	d.put("a.csv")
	before := d.estimates
	var asked []context.Context
	d.l.lib.estimate = func(ctx context.Context, c config.Config, rows, dim int) (prepare.Estimate, error) {
		asked = append(asked, ctx)
		if rows != 5 || dim != 2 { // a tenth of six is one
			t.Errorf("estimate for %d rows and %d inputs", rows, dim)
		}
		return prepare.Estimate{Seconds: float64(len(asked))}, ctx.Err()
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

// While keys are typed, none of them may do something else.
func TestLauncherTypingIsNoCommand(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	for _, begin := range [][]string{{"/"}, {"p"}, {"tab"}} {
		d.press(begin...)
		d.press("?gmqtijk/")
		if len(d.commands) > 0 {
			t.Fatalf("after %v: %q were taken for commands", begin, d.commands)
		}
		d.press("esc", "esc")
		d.put("quickstart")
	}
	d.press("?")
	if !slices.Equal(d.commands, []string{"?"}) {
		t.Errorf("commands from the list: %q", d.commands)
	}
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
		d.run(d.l.Mouse(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}))
	}
	click("fig1b")
	d.has("$ kestrel run fig1b")
	click("inducing ")
	if d.l.focus != onParts || d.l.part != inducingPart {
		t.Error("the setting was not chosen")
	}
	x, y := find("▸ fig1b")
	d.run(d.l.Mouse(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown}))
	d.has("$ kestrel run fig1b-authors")
}

func TestLauncherAllSizes(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": tableText, "wide.csv": wideTable(60), "名前.csv": plainText})
	d.l.lib.runs = func() ([]library.RunInfo, error) {
		return []library.RunInfo{{Path: "runs/one", Name: strings.Repeat("long", 30), Fate: record.Running,
			Posterior: math.NaN(), RMSE: math.NaN()}}, nil
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
		"han":    func() { d.press("esc"); d.put("名前.csv") },
		"wrong":  func() { d.press("tab", "tab", "tab", "ctrl+u", "SE,, 名") },
		"filter": func() { d.press("esc", "/", "e") },
		"path":   func() { d.press("esc", "esc", "p", "./") },
		"run":    func() { d.press("esc", "end") },
		"note": func() {
			d.note = note.Note{Text: strings.Repeat("failed because ", 40), Level: note.Failure, At: d.Now()}
		},
		"starting": func() { d.held = true; d.put("quickstart"); d.press("enter") },
	}
	for _, name := range []string{"empty", "loaded", "table", "inputs", "wide", "han", "wrong", "filter", "path", "run", "note", "starting"} {
		states[name]()
		for _, glyphs := range []plot.Glyphs{plot.Braille, plot.ASCII} {
			d.theme = theme.New(d.theme.Profile, true, glyphs)
			for _, w := range []int{0, 1, 2, 3, 5, 10, 20, 29, 30, 40, 60, 79, 80, 120, 240} {
				for _, h := range []int{0, 1, 2, 3, 5, 8, 11, 12, 24, 36, 60} {
					c := plot.NewCanvas(w+4, h+4)
					d.l.Draw(c, plot.Rect{X: 2, Y: 2, W: w, H: h}, d.theme)
					if s := outside(c, plot.Rect{X: 2, Y: 2, W: w, H: h}); s != "" {
						t.Fatalf("%s at %dx%d: %s", name, w, h, s)
					}
				}
			}
		}
	}
}

func TestLauncherAgo(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{{0, "just now"}, {-time.Hour, "just now"}, {59 * time.Minute, "59 min ago"}, {47 * time.Hour, "47 h ago"},
		{49 * time.Hour, "2 days ago"}} {
		if got := ago(c.d); got != c.want {
			t.Errorf("%v: %s", c.d, got)
		}
	}
}
