package launcher

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/library"
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
