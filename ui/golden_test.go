package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

var update = flag.Bool("update", false, "write the golden frames anew; look at them before committing")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs.\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// Frames of the workbench, regression values: they were looked at when they
// were written.
func TestGoldenFrames(t *testing.T) {
	running := demoEvents(t, "K12", 6)
	for _, size := range [][2]int{{1, 1}, {40, 12}, {80, 24}, {120, 36}, {240, 60}} {
		a := testApp(t, size[0], size[1], settle(running, record.Finished, "all planned evaluations are done"))
		golden(t, fmt.Sprintf("bench-%dx%d", size[0], size[1]), screen(a)+"\n")
	}
	for _, look := range []struct {
		name    string
		profile colorprofile.Profile
		dark    bool
		glyphs  plot.Glyphs
	}{
		{"dark", colorprofile.TrueColor, true, plot.Braille},
		{"light", colorprofile.TrueColor, false, plot.Braille},
		{"16", colorprofile.ANSI, true, plot.Blocks},
		{"nocolor", colorprofile.ASCII, true, plot.Braille},
		{"console", colorprofile.ANSI, true, plot.Halves},
		{"ascii", colorprofile.ASCII, true, plot.ASCII},
	} {
		a := testApp(t, 80, 24, settle(running, record.Stopped, "stopped by the user"))
		a.theme = theme.New(look.profile, look.dark, look.glyphs)
		a.fresh = false
		frame := a.View().Content
		golden(t, "look-"+look.name, strings.ReplaceAll(frame, "\x1b", "␛")+"\n")
	}
	a := testApp(t, 100, 30, running[:2])
	golden(t, "waiting", screen(a)+"\n")
	a = testApp(t, 100, 30, settle(running, record.Finished, "all planned evaluations are done"))
	press(a, "?")
	golden(t, "help", screen(a)+"\n")
	a = testApp(t, 200, 55, settle(running, record.Finished, "all planned evaluations are done"))
	press(a, "?")
	golden(t, "help-200x55", screen(a)+"\n")
}

// Every view has its own help: its name, its words with what they mean, and its keys;
// tab goes from the words to the keys.
func TestHelpOfViews(t *testing.T) {
	a := testApp(t, 80, 24, settle(demoEvents(t, "K12", 6), record.Finished, "all planned evaluations are done"))
	for i, want := range map[int][]string{
		0: {"Help: bench", "q*", ".39 of PER×LIN×RQ", "nats"},
		1: {"Help: kernel", "lengthscale"}, 2: {"Help: fit", "residuals", "0.0467"},
		3: {"Help: similar", "predictions"}, 4: {"Help: compare", "other data", "belief", "best baseline"},
		5: {"Help: log", "evaluation", "nlpd", "vbks", "vbks-s", "in 50 %"},
	} {
		press(a, string(rune('1'+i)), "?")
		frame := screen(a)
		for _, text := range want {
			if !strings.Contains(frame, text) {
				t.Errorf("view %d: the help lacks %q:\n%s", i+1, text, frame)
			}
		}
		if len(a.help.terms) > 0 {
			press(a, "tab")
			if frame := screen(a); !strings.Contains(frame, a.help.groups[0].Name) || !strings.Contains(frame, a.help.groups[0].All[0].Label) {
				t.Errorf("view %d: tab does not lead to the keys:\n%s", i+1, frame)
			}
		}
		press(a, "x")
	}
}

// Without colours, nothing but weight, underline and reversal is asked of the
// terminal; without braille no braille is drawn.
func TestPlainLooks(t *testing.T) {
	a := testApp(t, 120, 36, demoEvents(t, "K12", 6))
	a.theme = theme.New(colorprofile.ASCII, true, plot.ASCII)
	a.fresh = false
	frame := a.View().Content
	for _, part := range strings.Split(frame, "\x1b[")[1:] {
		code, _, _ := strings.Cut(part, "m")
		for c := range strings.SplitSeq(code, ";") {
			if len(c) > 1 {
				t.Fatalf("colour %q without colours", code)
			}
		}
	}
	for _, r := range a.canvas.Plain() {
		if r >= 0x2800 && r < 0x2900 {
			t.Fatalf("braille %q in plain ASCII", r)
		}
	}
	// Lines can be told apart by their marks.
	marks := map[rune]bool{}
	for _, l := range a.bench.main.belief.chart.Lines {
		if l.Label != "" {
			marks[l.Mark] = true
		}
	}
	if len(marks) < 2 {
		t.Errorf("labelled lines have the marks %v only", marks)
	}
}

// The cursor stays on the kernel that the user has chosen, while others come to
// lead; until then it is on the leader.
func TestCursorStays(t *testing.T) {
	events := demoEvents(t, "K12", 4)
	a := testApp(t, 120, 36, events[:4])
	lead := a.bench.hist.Evaluation.Leader().ID
	if got := a.bench.chosen(); got != lead {
		t.Errorf("at first %s is chosen, not the leader %s", got, lead)
	}
	screen(a)
	press(a, "down", "down")
	chosen := a.bench.chosen()
	if chosen == lead {
		t.Fatal("the cursor did not move")
	}
	a.Update(frameMsg{a.bench.box, events[4:]})
	screen(a)
	if got := a.bench.chosen(); got != chosen {
		t.Errorf("an evaluation moved the cursor from %s to %s", chosen, got)
	}
}

// Sorted either way round, kernels without a value stay behind.
func TestSortMissingLast(t *testing.T) {
	events := demoEvents(t, "K12", 2)
	e := *events[len(events)-2].Evaluation
	e.Kernels = append([]record.Kernel{}, e.Kernels...)
	e.Kernels[3] = record.Kernel{ID: e.Kernels[3].ID, Status: "pruned"}
	events[len(events)-2].Evaluation = &e
	a := testApp(t, 120, 36, events)
	screen(a)
	tb := &a.bench.main.table
	for c := range columns {
		if c == byStatus || c == byName {
			continue
		}
		for _, down := range []bool{false, true} {
			tb.sort, tb.down = c, down
			tb.order()
			if last := tb.rows[len(tb.rows)-1]; last.status != "pruned" {
				t.Errorf("sorted by %s, reversed %v: the pruned kernel is not last", columnNames[c], down)
			}
		}
	}
}

// A mistake of the program ends the workbench with its terminal restored and the
// run stopped, not in a stack on the screen.
func TestCrashIsCaught(t *testing.T) {
	a := testApp(t, 80, 24, demoEvents(t, "K12", 2))
	a.bench.views[0] = nil
	a.fresh = false
	a.View()
	if a.crash == nil {
		t.Fatal("the panic of drawing was not caught")
	}
	if _, cmd := a.Update(keyMsg("x")); cmd == nil {
		t.Error("the program goes on")
	}
}

// The first measurement is seen, though it comes after its evaluation.
func TestFirstMetricIsSeen(t *testing.T) {
	a := testApp(t, 120, 36, demoEvents(t, "K12", 1))
	screen(a)
	l := a.bench.main.metric.layout
	for i := range l.Lines {
		if !l.Lines[i].Drawn {
			t.Errorf("line %d of the error is not drawn: x from %v to %v", i, l.XMin, l.XMax)
		}
	}
	if len(l.Lines) != 2 {
		t.Errorf("%d lines", len(l.Lines))
	}
}
