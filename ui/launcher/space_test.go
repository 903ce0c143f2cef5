package launcher

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/library"
	"example.com/kestrel/ui/plot"
)

const spaceText = "t,wind,y\n1,2,3\n2,3,5\n3,5,4\n4,1,2\n5,2,3\n6,3,1\n"

// toKernels puts the cursor on the setting of kernels.
func (d *launching) toKernels() {
	d.t.Helper()
	d.press("tab")
	for d.l.part != kernelsPart {
		d.press("tab")
	}
}

// Looking at the editor changes nothing: a space that it could not have made stays as
// it was typed until a base kernel is taken in or out.
func TestSpaceEditorLosesNothing(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": spaceText})
	d.start()
	d.toKernels()
	before := d.l.chosen().kernels.Value()
	d.press("enter", "enter")
	if got := d.l.chosen().kernels.Value(); got != before {
		t.Errorf("the space has become %q, and was %q", got, before)
	}
	const typed = "SE[1]*PER[1], RQ[1] + LIN[2]"
	d.press("ctrl+u", typed, "enter", "right", "enter")
	if got := d.l.chosen().kernels.Value(); got != typed {
		t.Errorf("the space has become %q, and %q was typed", got, typed)
	}
}

// The editor offers integrated random walks, which the kernels of series have.
func TestSpaceEditorOffersWalks(t *testing.T) {
	for _, base := range []string{"RW", "IRW"} {
		if !slices.Contains(offeredBases(), base) {
			t.Errorf("no %s among %q", base, offeredBases())
		}
	}
}

// The wheel over the list leaves the editor with the item that it is of.
func TestWheelLeavesSpaceEditor(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": spaceText})
	d.l.lib.runs = func() ([]library.RunInfo, error) { return []library.RunInfo{{Path: "runs/one", Name: "one"}}, nil }
	d.start()
	d.toKernels()
	d.press("enter", "space")
	d.screen()
	list := d.l.screen.list
	d.l.Mouse(tea.MouseWheelMsg{X: list.X + 2, Y: list.Y + 2, Button: tea.MouseWheelDown})
	if i := d.l.list.current(); i == nil || i.run == nil {
		t.Fatalf("the cursor is on %+v", i)
	}
	d.screen()
	d.press("space", "esc")
	if d.l.focus != onList {
		t.Errorf("focus %v", d.l.focus)
	}
}

// A column of texts has the base kernel of levels and no other, since between two texts
// there is nothing; the cursor stays on what a column has.
func TestSpaceEditorOfTexts(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": "t,shop,y\n1,north,3\n2,south,5\n3,north,4\n4,south,2\n5,north,3\n6,south,1\n"})
	d.start()
	c := d.l.chosen()
	for i := range c.columns {
		c.inputs[i] = i != c.target
	}
	d.toKernels()
	d.press("enter", "right", "right", "right", "down")
	if e := d.l.space; e.x != 0 || e.y != 1 || len(e.bases[1]) != 1 {
		t.Fatalf("the cursor is on %d of the column %d, which has %v", e.x, e.y, e.bases[1])
	}
	d.press("space", "up", "space", "+")
	if got, want := d.l.chosen().kernels.Value(), "SE[t], CAT[shop] depth 2"; got != want {
		t.Errorf("the space is %q, want %q", got, want)
	}
	for _, text := range []string{"an effect of each text", "up to 2"} {
		if frame := d.screen(); !strings.Contains(frame, text) {
			t.Errorf("%q is not shown:\n%s", text, frame)
		}
	}
	d.press("enter", "enter") // again, from what it has made
	if e := d.l.space; !e.on[1][0] || !e.on[0][0] || e.on[0][1] {
		t.Errorf("the editor begins with %v", e.on)
	}
}

// A change point along a column is a level that steps and each of the chosen before each of the chosen,
// as the language of kernels has it: what the editor writes is read by it, and by the editor.
func TestSpaceEditorOfChangePoints(t *testing.T) {
	d := newLaunching(t, map[string]string{"a.csv": spaceText})
	d.start()
	d.toKernels()
	at := slices.Index(offeredBases(), changeBase)
	d.press("enter")
	for range at {
		d.press("right")
	}
	d.press("space")
	const step = "CP(CONST,CONST)[t]"
	if got := d.l.chosen().kernels.Value(); got != step {
		t.Errorf("a change point alone is %q, want %q", got, step)
	}
	d.has("a level that steps", "1 kernel")
	d.press("down")
	for range at {
		d.press("left")
	}
	d.press("space", "right", "right", "space", "+")
	want := []string{"SE[wind]", "LIN[wind]", step, "CP(SE[wind],SE[wind])[t]", "CP(SE[wind],LIN[wind])[t]", "CP(LIN[wind],SE[wind])[t]",
		"CP(LIN[wind],LIN[wind])[t]"}
	if got := d.l.chosen().kernels.Value(); got != strings.Join(want, ", ")+" depth 2" {
		t.Errorf("the space is %q, want %q", got, want)
	}
	d.has("63 kernels") // 7, and of two of them 28 sums and 28 products
	chosen := d.l.space.on
	d.press("enter", "enter")
	if e := d.l.space; !slices.EqualFunc(e.on, chosen, slices.Equal) || e.depth != 2 || e.other != "" {
		t.Errorf("the editor begins with %v", e.on)
	}
	d.press("esc")
	typed := strings.Join(want[:5], ",") // one of four is not there
	d.press("ctrl+u", typed, "enter", "enter")
	if got := d.l.chosen().kernels.Value(); got != typed {
		t.Errorf("the space has become %q, and %q was typed", got, typed)
	}
}

// However many columns there are, the base kernel under the cursor is seen, and what is chosen of the others.
func TestSpaceEditorOfManyColumns(t *testing.T) {
	var table strings.Builder
	table.WriteString("a,b,c,d,e,f,g,y\n")
	for i := range 30 {
		fmt.Fprintf(&table, "%d,%d,%d,%d,%d,%d,%d,%d\n", i*3%31, i*5%29, i*7%23, i*11%19, i*13%17, i*17%13, i*19%11, i*23%7)
	}
	d := newLaunching(t, map[string]string{"a.csv": table.String()})
	d.w, d.h = 80, 24
	d.start()
	d.toKernels()
	d.press("enter", "space")
	for range 6 {
		d.press("down")
	}
	d.press("right", "space")
	d.has("[ ] SE", "[x] RQ", "│ a SE   ") // of g and a
	d.press("down", "space", "up", "up", "up", "up", "up", "up")
	d.has("[x] SE", "│ g ·   ")
}

// A column of texts that the data take for an input is marked as one, and can be taken out;
// in a series, whose data leave it out, it is not.
func TestTextsThatAreTaken(t *testing.T) {
	var table, series strings.Builder
	table.WriteString("heat,flow,kind,y\n")
	series.WriteString("date,kind,y\n")
	for i := range 40 {
		kind := []string{"red", "blue"}[i%2]
		fmt.Fprintf(&table, "%d,%d,%s,%d\n", i*i%37, i*7%11, kind, i%5)
		fmt.Fprintf(&series, "2024-01-%02d,%s,%d\n", i/2+1, kind, i%5)
	}
	d := newLaunching(t, map[string]string{"a.csv": table.String(), "b.csv": series.String()})
	d.start()
	if frame := d.screen(); !strings.Contains(frame, "[x] kind") || !strings.Contains(frame, "$ kestrel run a.csv\n") {
		t.Errorf("kind is an input of the run:\n%s", frame)
	}
	d.press("i", "right", "right", "space")
	if frame := d.screen(); !strings.Contains(frame, "[ ] kind") || !strings.Contains(frame, `'data.inputs=["heat", "flow"]'`) {
		t.Errorf("kind was taken out:\n%s", frame)
	}
	d.press("esc", "down")
	if frame := d.screen(); !strings.Contains(frame, "[ ] kind") || !strings.Contains(frame, "$ kestrel run b.csv\n") {
		t.Errorf("kind is no input of a series:\n%s", frame)
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
	d.press("esc", "enter")
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
