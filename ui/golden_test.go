package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"kestrel/experiment"
	"kestrel/ui/plot"
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
		a := testApp(t, size[0], size[1], settle(running, experiment.Finished, "all planned evaluations are done"))
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
		a := testApp(t, 80, 24, settle(running, experiment.Stopped, "stopped by the user"))
		a.theme = newTheme(look.profile, look.dark, look.glyphs)
		a.dirty = true
		frame := a.View().Content
		golden(t, "look-"+look.name, strings.ReplaceAll(frame, "\x1b", "␛")+"\n")
	}
	a := testApp(t, 100, 30, running[:2])
	golden(t, "waiting", screen(a)+"\n")
	a = testApp(t, 100, 30, settle(running, experiment.Finished, "all planned evaluations are done"))
	press(a, "?")
	golden(t, "help", screen(a)+"\n")
}

// Without colours, nothing but weight, underline and reversal is asked of the
// terminal; without braille no braille is drawn.
func TestPlainLooks(t *testing.T) {
	a := testApp(t, 120, 36, demoEvents(t, "K12", 6))
	a.theme = newTheme(colorprofile.ASCII, true, plot.ASCII)
	a.dirty = true
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
