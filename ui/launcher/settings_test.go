package launcher

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/library"
)

// The user's own comes first, and the cursor is on it.
func TestOwnFilesComeFirst(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": plainText, "my.toml": "# Mine\n[data]\npath = \"a.csv\"\n"})
	d.l.lib.runs = func() ([]library.RunInfo, error) { return []library.RunInfo{{Path: "runs/one", Name: "one"}}, nil }
	d.start()
	d.has("$ kestrel run a.csv")
	at := -1
	screen := d.screen()
	for _, text := range []string{" your files", " ▸ a.csv", "   my.toml", " recent runs", "   one", " built-in experiments",
		"   quickstart"} {
		i := strings.Index(screen, "\n│"+text)
		if i < at {
			t.Errorf("%s comes too early:\n%s", text, screen)
		}
		at = i
	}
	d.press("home") // the user has moved: nothing moves the cursor any more
	d.press("ctrl+r")
	d.hasNot("$ kestrel run a.csv")
}

// enter edits a setting; at the last line it starts, into the folder asked for.
func TestEnterEdits(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": plainText})
	d.start()
	d.press("tab", "enter") // the target
	d.has("--target t")
	for d.l.part != inducingPart {
		d.press("tab")
	}
	d.press("ctrl+u", "24", "enter")
	if d.l.part != seedPart || len(d.begun) != 0 {
		t.Fatalf("part %v, %d begun", d.l.part, len(d.begun))
	}
	d.press("enter", "enter", "tab") // through the seed, another device, to out
	if d.l.part != outPart {
		t.Fatalf("part %v", d.l.part)
	}
	d.press("my runs/a", "enter")
	d.has("--out 'my runs/a'", "enter starts the run")
	d.press("enter")
	d.same(d.begun[0], "a.csv", "data.target=t", "sparse.inducing=24", "device.kind=cpu")
	if d.out != "my runs/a" {
		t.Errorf("it goes to %q", d.out)
	}
}

// Whoever has ticked a column and goes on with enter keeps it, and comes to where enter starts; on the way the screen says where that is.
// That nothing is forecast with it is said as soon as it is ticked, and by which key there is help where letters are typed.
func TestEnterKeepsTicks(t *testing.T) {
	stamps := "when,sky,load\n"
	for i := range 30 {
		stamps += fmt.Sprintf("2024-01-%02d,%s,%d\n", i+1, []string{"sun", "rain"}[i*i%3%2], i*i%5)
	}
	d := newLaunching(t, map[string]string{"a.csv": stamps})
	d.start()
	d.put("a.csv")
	const none = "no forecast beyond the end with more inputs than when"
	d.has("enter starts the run", `column 2 ("sky") is text and stays out by itself; to see what it`, "does take it in: inputs in the "+
		"launcher")
	d.hasNot("or after esc", none)
	d.press("i")
	d.has("on this line, or after esc, enter starts the run", "space in or out", "enter next")
	d.press("right", "space")
	d.has("[x] sky", none)
	for d.l.part != startPart {
		if f := d.l.editing(); f != nil {
			d.has("f1 help")
			d.hasNot("? help")
		} else {
			d.has("? help")
		}
		if d.press("enter"); d.l.focus == onSpace {
			d.press("esc", "tab")
		}
		if len(d.begun) > 0 {
			t.Fatal("it has started on the way")
		}
		if d.l.part == devicePart || d.l.part == splitPart || d.l.part == timePart || d.l.part == growthPart { // enter would change these
			d.press("tab")
		}
	}
	d.has("[x] sky", none, "enter starts the run")
	d.hasNot("or after esc")
	d.press("enter")
	d.same(d.begun[0], "a.csv", `data.inputs=["when", "sky"]`)
}

// What a column is taken for can be said where inputs are chosen: of a number that counts kinds that it has levels, of a
// text too, which is then an input.
func TestTypesOfColumns(t *testing.T) {
	table := "size,room,remark,load\n"
	for i := range 60 {
		table += fmt.Sprintf("%d.5,%d,%s,%d\n", i, i%4, []string{"good", "bad"}[i%2], i*i%7)
	}
	d := newLaunching(t, map[string]string{"a.csv": table})
	d.start()
	d.put("a.csv")
	d.press("i")
	d.has("[x] size", "[x] room", "t type")
	d.hasNot("data.types")
	d.press("right", "t")
	d.has("[x] room: levels", "data.types=", "room", "4 levels: 0, 1, 2, 3")
	d.press("t", "t", "t", "t", "t")
	d.hasNot("room: ", "data.types")
	d.press("t", "right", "t", "t")
	d.has("[ ] remark: text")
	d.press("t", "t")
	d.has("[x] remark: levels")
	d.press("esc", "enter")
	d.same(d.begun[0], "a.csv", `data.types={ "remark" = "levels", "room" = "levels" }`)

	// What the config says is where it begins.
	stated := "[data]\nsource = \"csv\"\npath = \"a.csv\"\ntypes = { room = \"levels\" }\n"
	d = newLaunching(t, map[string]string{"a.csv": table, "c.toml": stated})
	d.start()
	d.put("c.toml")
	d.press("i")
	d.has("[x] room: levels")
	d.hasNot("data.types")
	d.press("right", "t")
	d.has("[x] room: few", "data.types=")
	d.press("t", "t", "t", "t")
	d.has("[x] room", "data.types={}")
	d.hasNot("room: ")
}

// The calendar is offered for one input of time stamps.
func TestCalendarSettings(t *testing.T) {
	stamps := "when,load\n"
	for i, day := range strings.Fields("01 02 03 04 05 06 07 08 09") {
		stamps += fmt.Sprintf("2024-01-%s,%d\n", day, i*i%5)
	}
	d := newLaunching(t, map[string]string{"a.csv": stamps, "b.csv": plainText, "days.txt": "2024-01-01\n"})
	d.start()
	d.put("b.csv")
	d.hasNot("calendar", "holidays")
	d.put("a.csv")
	d.has("calendar  [x] auto  [ ] hour", "holidays", "zone ")
	d.press("tab")
	for d.l.part != calendarPart {
		d.press("tab")
	}
	d.press("space")
	d.has("[ ] auto", "data.calendar=")
	d.hasNot("zone ")
	d.press("right", "space", "right", "space", "space", "left", "left", "space")
	d.has("[x] auto  [ ] hour  [ ] weekday")
	d.hasNot("data.calendar")
	d.press("right", "right", "space")
	d.has("[ ] auto", "[x] weekday", `data.calendar=["weekday"]`, "zone ")
	d.press("tab", "days.txt", "tab", "UTC")
	d.same(d.begin(), "a.csv", `data.calendar=["weekday"]`, "data.holidays=days.txt", "data.zone=UTC")
}

// The editor makes a space of base kernels by input, which the config reads as it is
// meant, and esc leaves what there was.
func TestSpaceEditor(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": "t,wind speed,y\n1,2,3\n2,3,5\n3,5,4\n4,1,2\n5,2,3\n6,3,1\n"})
	d.start()
	d.press("tab")
	for d.l.part != kernelsPart {
		d.press("tab")
	}
	before := d.l.chosen().kernels.Value()
	d.press("enter")
	d.has("[ ] SE", "[ ] RQ", "[ ] LIN", "wind speed", "depth 1")
	d.press("right", "right", "space", "down", "space", "left", "left", "space") // LIN of both, and SE[2]
	d.has("[x] SE", "[ ] RQ", "[x] LIN", "3 kernels")
	d.press("right", "right", "right", "space", "+", "+") // PER[2] in
	if got, want := d.l.chosen().kernels.Value(), "LIN[t], SE[2], LIN[2], PER[2] depth 3"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, n, err := config.ParseSpace(d.l.chosen().kernels.Value()); err != nil || n == 0 {
		t.Error(n, err)
	}
	d.press("-", "-")
	d.has("4 kernels")
	d.press("enter", "enter") // taken, and opened again as it was
	if e := d.l.space; e == nil || e.text() != "LIN[t], SE[2], LIN[2], PER[2]" {
		t.Fatalf("%+v", e)
	}
	d.press("space", "esc")
	d.same(d.begin(), "a.csv", "kernels.expressions=LIN[t],SE[2],LIN[2],PER[2]")
	d.begun = nil
	if before == "" {
		t.Error("there was no space before")
	}
	for _, text := range []string{"K12", "SE[t] + LIN", "SE[t], SE[x]", "SE[t] depth 9", "SE[t] depth x"} {
		e := newSpaceEditor(d.l.chosen())
		if e.read(text) {
			t.Errorf("%q is read as %q", text, e.text())
		}
	}
}

// What is above or below what is seen is told on the frame.
func TestScrollMarks(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": tableText})
	d.w, d.h = 80, 24
	d.start()
	d.has("▼")
	d.press("end")
	d.has("▲")
	d.h = 90
	d.hasNot("▼", "▲")
}

// Warnings are seen at 80x24 without scrolling.
func TestWarningsAreSeen(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": tableText})
	d.w, d.h = 80, 24
	d.start()
	d.put("a.csv")
	if len(d.l.preview.Summary.Notices) == 0 {
		t.Skip("there is no warning of this table")
	}
	first, _, _ := strings.Cut(d.l.preview.Summary.Notices[0], " ")
	d.has(first)
}

func TestLauncherSettings(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	d.press("tab", "tab", "tab", "ctrl+u", "24", "down", "ctrl+u", "7", "tab", "right")
	d.has("--set sparse.inducing=24 --seed 7 --device cpu")
	d.same(d.begin(), "quickstart", "sparse.inducing=24", "seed=7", "device.kind=cpu")
}

// Whether the space grows is asked, beside the kernels.
func TestLauncherAsksForGrowth(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	d.press("tab", "tab")
	d.has("no: kernels as they are")
	d.press("right")
	d.has("neighbours of the best come", "kestrel run quickstart --grow=true")
	d.press("left")
	d.hasNot("--grow")
	d.press("space")
	d.same(d.begin(), "quickstart", "kernels.grow=true")
}

func TestLauncherSettingsAreChecked(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	d.press("tab", "tab", "tab", "ctrl+u", "many")
	d.has(`must be "auto" or a whole number from 1 to 100000, not`)
	d.press("tab", "esc", "enter")
	if len(d.begun) != 0 {
		t.Fatal("a run began with a wrong setting")
	}
	if d.l.part != inducingPart {
		t.Error("the cursor is not on what is wrong")
	}
	d.press("ctrl+u", "esc", "enter") // empty: as the config says
	d.same(d.begun[0], "quickstart")
}

// Which rows of a table are held out is a setting like the others: it goes into
// the command line that does the same.
func TestLauncherSplit(t *testing.T) {
	base := config.Default()
	c := newChoice("a.csv")
	c.adopt(&base, []library.TableColumn{{Name: "t", Number: 1, Kind: "number", Role: "input"},
		{Name: "y", Number: 2, Kind: "number", Role: "target"}})
	before := c.draft()
	if got := before.command(before.set); got != "kestrel run a.csv" {
		t.Errorf("unchanged: %s", got)
	}
	c.turnSplit(2)
	after := c.draft()
	if got := after.command(after.set); got != `kestrel run a.csv --set data.split_by=x` {
		t.Errorf("at the end of the range: %s", got)
	}
	if _, err := config.ForTable("a.csv", "", after.set); err != nil {
		t.Error(err)
	}
	c.turnSplit(-2)
	if c.split != "auto" {
		t.Errorf("back again: %s", c.split)
	}
}

// Each way to hold rows out is told in words of its own, whatever the data are.
func TestLauncherTellsSplitsApart(t *testing.T) {
	for _, d := range []*datasets.Summary{nil, {SplitBy: "random"}, {SplitBy: "x", Series: &datasets.Series{}}} {
		told := map[string]string{}
		for _, split := range splits {
			text := (&choice{split: split}).splitText(d)
			if other, ok := told[text]; ok || text == "" {
				t.Errorf("%s and %s are both told as %q", other, split, text)
			}
			told[text] = split
		}
	}
	for split, word := range map[string]string{"auto": "auto: ", "random": "random", "x": "first input", "rows": "last rows"} {
		if text := (&choice{split: split}).splitText(nil); !strings.Contains(text, word) {
			t.Errorf("%s is told as %q", split, text)
		}
	}
}

// Whether the one input is time is asked, of several it is not.
func TestLauncherAsksForTime(t *testing.T) {
	base := config.Default()
	c := newChoice("a.csv")
	c.adopt(&base, []library.TableColumn{{Name: "x", Number: 1, Kind: "number", Role: "input"},
		{Name: "y", Number: 2, Kind: "number", Role: "target"}})
	if !slices.Contains(c.parts(), timePart) {
		t.Fatalf("parts %v", c.parts())
	}
	c.turnTime(1)
	after := c.draft()
	const stated = "yes: a series, which is forecast"
	if got := after.command(after.set); got != `kestrel run a.csv --set data.time=yes` || c.timeText(nil) != stated {
		t.Errorf("%s, %s", got, c.timeText(nil))
	}
	if read, err := config.ForTable("a.csv", "", after.set); err != nil || read.Data.Time != "yes" {
		t.Error(read.Data.Time, err)
	}
	c.turnTime(-1)
	if after := c.draft(); after.command(after.set) != "kestrel run a.csv" {
		t.Errorf("back again: %s", after.command(after.set))
	}
	for _, d := range []struct {
		found       datasets.Summary
		time, split string
	}{{datasets.Summary{SplitBy: "random"}, "auto: no", "auto: drawn at random"},
		{datasets.Summary{SplitBy: "x", Series: &datasets.Series{}}, "auto: yes, it is a series", "auto: the last in time"}} {
		if time, split := c.timeText(&d.found), c.splitText(&d.found); time != d.time || split != d.split || len(time)+len(split) > 2*26 {
			t.Errorf("of %+v: %q and %q", d.found, time, split)
		}
	}
	several := newChoice("b.csv")
	several.adopt(&base, []library.TableColumn{{Name: "x", Number: 1, Kind: "number", Role: "input"},
		{Name: "z", Number: 2, Kind: "number", Role: "input"}, {Name: "y", Number: 3, Kind: "number", Role: "target"}})
	if slices.Contains(several.parts(), timePart) {
		t.Errorf("of two inputs: %v", several.parts())
	}
}

// "auto" is offered beside numbers, where the config has a number and where not.
func TestLauncherInducingByItself(t *testing.T) {
	d := newLaunching(t, nil)
	d.start()
	d.press("tab", "tab", "tab")
	d.has("a number, or auto")
	d.press("ctrl+u", "auto")
	d.has("--set sparse.inducing=auto")
	d.same(d.begin(), "quickstart", "sparse.inducing=auto")
}
