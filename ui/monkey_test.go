package ui

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/plot"
)

// longMonkey, set to anything, asks for 20,000 keys on each run in place of 400.
const longMonkey = "KESTREL_LONG"

// monkeySizes are of terminals, the least that is drawn on among them.
var monkeySizes = [][2]int{{80, 24}, {120, 36}, {200, 55}, {leastWidth, leastHeight}, {leastWidth - 1, 50}, {45, 13}, {161, 9}}

// Keys, clicks and sizes at random on a run that goes on and on one that has ended:
// nothing panics, and no frame is wider or higher than the terminal.
func TestMonkey(t *testing.T) {
	keys := 400
	if os.Getenv(longMonkey) != "" {
		keys = 20_000
	}
	running := demoEvents(t, "K12", 6)
	for name, events := range map[string][]record.Event{
		"running": running, "finished": settle(slices.Clone(running), record.Finished, ""), "many inputs": manyInputs(demoEvents(t, "K12", 6)),
		"growing": grownEvents(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir()) // what is exported goes there
			a := testApp(t, 80, 24, events)
			asked := a.bench
			asked.inspect.open = func(context.Context) (inspector, error) {
				f := &fakeInspector{evaluation: asked.hist.Evaluation.Index, test: true}
				for _, in := range asked.hist.Start.Inputs() {
					f.inputs = append(f.inputs, prepare.ColumnInfo{Column: datasets.Column{Name: in.Name}, Low: in.Min, High: in.Max,
						Median: (in.Min + in.Max) / 2})
				}
				return f, nil
			}
			monkey(t, a, keys, rand.New(rand.NewPCG(21, uint64(len(name)))))
		})
	}
}

// monkey presses keys; what they ask for is done, but for what leaves the screen.
func monkey(t *testing.T, a *app, keys int, r *rand.Rand) {
	t.Helper()
	var pressed []string
	stuck := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s, after the last keys %q", fmt.Sprintf(format, args...), pressed[max(0, len(pressed)-30):])
	}
	own, messages := a.bench, make(chan tea.Msg, 100)
	size := monkeySizes[0]
	for range keys {
		var msg tea.Msg
		switch n := r.IntN(100); {
		case n < 2:
			size = monkeySizes[r.IntN(len(monkeySizes))]
			pressed = append(pressed, fmt.Sprint(size))
			msg = tea.WindowSizeMsg{Width: size[0], Height: size[1]}
		case n < 12:
			at := tea.Mouse{X: r.IntN(size[0]), Y: r.IntN(size[1]), Button: tea.MouseLeft}
			pressed = append(pressed, fmt.Sprintf("%d,%d", at.X, at.Y))
			if msg = tea.MouseClickMsg(at); n < 4 {
				at.Button = tea.MouseWheelDown
				msg = tea.MouseWheelMsg(at)
			}
		default:
			key := monkeyKey(a, r)
			pressed = append(pressed, key)
			msg = keyMsg(key)
		}
		_, cmd := a.Update(msg)
		does(cmd, messages)
		for range len(messages) {
			_, cmd = a.Update(<-messages)
			does(cmd, messages)
		}
		a.View()
		if a.crash != nil {
			stuck("%v\n%s", a.crash, a.crash.Stack)
		}
		if err := inFrame(a.frame, size); err != nil {
			stuck("%v", err)
		}
		if a.leaving || a.bench != own { // what leaves is tested elsewhere
			a.leaving, a.busy, a.prompt, a.launcher, a.bench = false, "", nil, nil, own
		}
	}
}

// monkeyKey is a key that does something where the screen is, more often than another.
func monkeyKey(a *app, r *rand.Rand) string {
	any := []string{"enter", "esc", "tab", "up", "down", "left", "right", "backspace", "pgdown", "pgup", "home", "end", "space", "1", "2", "3",
		"4", "5", "6", "?", "ä", "٣"}
	if r.IntN(3) == 0 {
		return any[r.IntN(len(any))]
	}
	if r.IntN(6) == 0 {
		return string(rune('!' + r.IntN('~'-'!'+1)))
	}
	groups := a.groups()
	if len(groups) == 0 {
		return "esc"
	}
	g := groups[r.IntN(len(groups))]
	if len(g.All) == 0 {
		return "esc"
	}
	if b := g.All[r.IntN(len(g.All))]; len(b.Keys) > 0 {
		return b.Keys[r.IntN(len(b.Keys))]
	}
	return "esc"
}

// does carries out commands beside the screen, as the library does, and hands their
// messages over.
func does(cmd tea.Cmd, to chan<- tea.Msg) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil, tea.QuitMsg:
		case tea.BatchMsg:
			for _, c := range msg {
				does(c, to)
			}
		default:
			select {
			case to <- msg:
			default: // as many are waiting as there is room for
			}
		}
	}()
}

// inFrame reports a frame that is not of the terminal's size.
func inFrame(frame string, size [2]int) error {
	lines := strings.Split(ansi.Strip(frame), "\n")
	if len(lines) > size[1] {
		return fmt.Errorf("%d lines on a terminal of %d", len(lines), size[1])
	}
	for i, line := range lines {
		if w := plot.TextWidth(line); w > size[0] {
			return fmt.Errorf("line %d has %d columns on a terminal of %d: %q", i+1, w, size[0], line)
		}
	}
	return nil
}
