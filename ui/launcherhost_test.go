package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/prepare"
	"example.com/kestrel/kernelspace"
)

// newInLauncher is a workbench that shows the launcher, in an empty folder.
func newInLauncher(t *testing.T) *working {
	t.Helper()
	t.Chdir(t.TempDir())
	d := newWorking(t, Options{})
	d.untilShown("quickstart")
	d.untilShown("none below this folder")
	d.untilShown("none yet")
	return d
}

// What is typed in the launcher does nothing else in the workbench; keys that it
// does not take do.
func TestTypingInTheLauncherIsNoCommand(t *testing.T) {
	d := newInLauncher(t)
	glyphs := d.a.theme.Glyphs
	for _, begin := range []string{"/", "p", "tab"} {
		d.press(begin)
		d.press(strings.Split("?gmqtijk/", "")...)
		if d.a.help != nil || d.a.leaving || d.a.theme.Glyphs != glyphs || !d.a.mouse {
			t.Fatalf("after %s: a letter was taken for a command", begin)
		}
		d.press("esc", "esc")
		// The first again, until there are settings to go to: the list may have been
		// made anew meanwhile.
		d.until("there is 6 kernels", func() bool {
			if !strings.Contains(d.screen(), "▸ quickstart") {
				d.press("home", "down") // behind the line for a path
			}
			return strings.Contains(d.screen(), "6 kernels")
		})
	}
	d.press("?")
	if d.a.help == nil {
		t.Fatal("no help from the list")
	}
	mustShow(t, d.screen(), "settings", "filter")
	d.press("esc", "g")
	if d.a.theme.Glyphs == glyphs {
		t.Error("g did nothing in the list")
	}
	d.press("q")
	if !d.a.leaving {
		t.Error("q did not quit from the list")
	}
}

// While a run is being begun or opened the launcher takes nothing.
func TestTheLauncherWaitsWhileBusy(t *testing.T) {
	d := newInLauncher(t)
	before := d.screen()
	d.a.busy = "loading quickstart"
	d.press("down", "/", "x")
	d.send(tea.PasteMsg{Content: "a.csv"})
	d.send(tea.MouseWheelMsg{X: 3, Y: 5, Button: tea.MouseWheelDown})
	mustShow(t, d.screen(), "loading quickstart …")
	d.a.busy = ""
	if after := d.screen(); after != before {
		t.Errorf("the launcher was\n%s\nand is\n%s", before, after)
	}
}

// The launcher is drawn about the least size.
func TestTheLauncherAboutTheLeastSize(t *testing.T) {
	d := newInLauncher(t)
	for _, w := range []int{leastWidth - 1, leastWidth, leastWidth + 1} {
		for _, h := range []int{leastHeight - 1, leastHeight, leastHeight + 1} {
			d.send(tea.WindowSizeMsg{Width: w, Height: h})
			text, small := d.screen(), w < leastWidth || h < leastHeight
			if strings.Contains(text, "too small") != small || strings.Contains(text, "what to run") == small {
				t.Errorf("%dx%d:\n%s", w, h, text)
			}
		}
	}
}

// What is done before a run begins is told, with how far it is and what is left of it.
func TestWhatIsWaitedForIsTold(t *testing.T) {
	a := testApp(t, 80, 24, nil)
	now := demoTime
	a.opts.now = func() time.Time { return now }
	a.bench, a.busy, a.since = nil, "loading sales", now
	for trial := 1; trial <= 3; trial++ { // 4 s each
		now = demoTime.Add(time.Duration(4*trial) * time.Second)
		a.step.Store(prepare.Step{Doing: "finding out which forecasts better", Of: "trial", Done: trial, Total: 10, Note: "without: none"})
		a.Update(tickMsg{})
	}
	mustShow(t, screen(a), "kestrel · loading sales", "Please wait: loading sales", "q quit", "? help",
		"finding out which forecasts better, trial 3 of 10", "███", "0:12 so far, about 0:28 more",
		"without: none")
	// Before anything is known of it, and on a low screen, the same in fewer words.
	a.step.Store(prepare.Step{})
	a.fresh = false
	mustShow(t, screen(a), "Please wait: loading sales", "loading sales …", "0:12 so far", "q quit")
	a.Update(tea.WindowSizeMsg{Width: 40, Height: 9})
	mustShow(t, screen(a), "loading sales … 12 s", "q quit")
}

// The launcher's help explains the words of what it starts: every base kernel, every
// baseline, and what is said of belief; those of a run's bench are of that run's kernels.
func TestTheLauncherExplainsWords(t *testing.T) {
	d := newInLauncher(t)
	d.press("?")
	mustShow(t, d.screen(), "Help: launcher", "target", "held out", "text column", "an input by itself")
	said := map[string]string{}
	for _, l := range d.a.help.terms {
		said[l.word] = l.text
	}
	for _, k := range kernelspace.BaseKernels() {
		if said[k.Name] == "" || strings.ContainsAny(said[k.Name], "σ²") {
			t.Errorf("%s: %q is no explanation without a formula", k.Name, said[k.Name])
		}
	}
	for _, word := range []string{"Theta", "seasonal naive", "tempered", "CRPS", "q*", "Bayes", "weight", "nats", "M", "settled"} {
		if said[word] == "" {
			t.Errorf("%s is not explained", word)
		}
	}
	a := testApp(t, 120, 36, demoEvents(t, "K12", 6))
	press(a, "?")
	said = map[string]string{}
	for _, l := range a.help.terms {
		said[l.word] = l.text
	}
	if said["PER"] == "" || said["q*"] == "" || said["RW"] != "" || said["Theta"] != "" {
		t.Errorf("of a run over PER, LIN, RQ and SE without baselines: %v", said)
	}
	if got := weightsText("[predict]\nweights = \"tempered\"\n"); got != weightWords["tempered"] || weightsText("[predict]\ntop = 1\n") != "" {
		t.Errorf("weights: %q", got)
	}
}
