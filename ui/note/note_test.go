package note

import (
	"testing"
	"time"
)

// A note is to be seen for a while, and as long as what it says is so.
func TestFresh(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	so := true
	for _, c := range []struct {
		note Note
		so   bool
		age  time.Duration
		want bool
	}{
		{Note{}, true, 0, false},
		{Note{Text: "done"}, true, Stay - 1, true},
		{Note{Text: "done"}, true, Stay, false},
		{Note{Text: "done", Still: func() bool { return so }}, true, 0, true},
		{Note{Text: "done", Still: func() bool { return so }}, false, 0, false},
	} {
		c.note.At, so = at, c.so
		if got := c.note.Fresh(at.Add(c.age)); got != c.want {
			t.Errorf("%q after %v, so %v: fresh %v", c.note.Text, c.age, c.so, got)
		}
	}
}

// A note goes only if it has been true: its order may be answered before the event
// that makes it so.
func TestAge(t *testing.T) {
	so := false
	n := Note{Text: "paused", Still: func() bool { return so }}
	for _, step := range []struct{ so, stays bool }{{false, true}, {true, true}, {true, true}, {false, false}, {true, false}} {
		so = step.so
		n.Age()
		if (n.Text != "") != step.stays {
			t.Fatalf("at %+v the text is %q", step, n.Text)
		}
	}
	always := Note{Text: "done"}
	if always.Age(); always.Text == "" {
		t.Error("a note without a condition went")
	}
}
