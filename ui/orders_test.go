package ui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/ui/note"
	"example.com/kestrel/ui/plot"
)

func mustNotShow(t *testing.T, screen string, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if strings.Contains(screen, s) {
			t.Errorf("%q is on the screen:\n%s", s, screen)
		}
	}
}

// What is pasted is taken as if it had been typed, wherever there is a text to edit.
func TestPasteIsTyping(t *testing.T) {
	paste := func(a *app, text string) { a.Update(tea.PasteMsg{Content: text}) }
	events := settle(demoEvents(t, "K12", 3), record.Finished, "done")

	a := testApp(t, 120, 36, events)
	press(a, "/")
	paste(a, "\x1bPER\x07\r\n")
	mustShow(t, screen(a), "match PER")
	if got := a.bench.main.table.filter; got != "PER" {
		t.Errorf("the filter is %q", got)
	}
	press(a, "enter", "?")
	paste(a, "LIN") // nothing is edited
	press(a, "esc")
	if got := a.bench.main.table.filter; got != "PER" {
		t.Errorf("the filter is %q", got)
	}

	for _, c := range []struct{ typed, pasted, then, want string }{
		{"", "4", "", "4"}, {"", "4\n", "", "4"}, {"", "\x1b[1", "", "[1"}, {"4", "2", "", "42"}, {"", "9", "9", "99"},
		{"", "\n", "4", "4"}, {"", "\r\n", "", "5"},
		{"", "9\r\n9\t%", "", "9 9 %"},
	} {
		keys := func(text string) {
			for _, r := range text {
				press(a, string(r))
			}
		}
		a = testApp(t, 120, 36, events)
		a.bench.askPrune()
		f := &a.prompt.(*prunePrompt).field
		if f.Value() != "6" { // half of 12
			t.Fatalf("%q is proposed", f.Value())
		}
		f.Set("5")
		keys(c.typed)
		paste(a, c.pasted)
		keys(c.then)
		if f.Value() != c.want {
			t.Errorf("%q, %q pasted, %q: %q, want %q", c.typed, c.pasted, c.then, f.Value(), c.want)
		}
		if c.want == "4" {
			mustShow(t, screen(a), "stay: 4", "go: 8")
		}
	}

	a.bench.askReoptimise()
	p := a.prompt.(*reoptimisePrompt)
	paste(a, "7")
	press(a, "tab")
	paste(a, "30\n")
	if got, err := p.change(); err != nil || got.Rounds != 7 || got.Steps != 30 {
		t.Errorf("%+v, %v", got, err)
	}
	a.prompt = nil
	press(a, "6", "/")
	paste(a, "notice\n")
	if got := a.prompt.(*textPrompt).field.Value(); got != "notice" {
		t.Errorf("the log is searched for %q", got)
	}
}

// Kernels restored in a run that has gone on without them wait for its next
// evaluation: that is said, and asking again does nothing.
func TestRestoredKernelsWait(t *testing.T) {
	thorough.Unraced(t)
	d := beginWorking(t, longConfig(t))
	b := d.a.bench
	d.press("p", "1", "enter")
	d.until("two are pruned", func() bool { return len(b.pruned()) == 2 })
	d.untilState(record.Finished)
	mustShow(t, d.screen(), "u restore")
	d.press("u", "u") // before anything has come of it, too
	d.until("they wait", func() bool { return len(b.waiting) == 2 })
	d.press("u")
	text := d.screen()
	mustShow(t, text, "1 live · 2 restored", "restored, waiting for r")
	d.untilShown("restored the kernels pruned last (2); they wait for r")
	mustNotShow(t, text, "u restore", "pruned 2 kernels")
	d.a.note = note.Note{}
	mustShow(t, d.screen(), "all planned evaluations are done · 2 restored, waiting for r")
	if n := d.count(record.EventRestored); n != 1 {
		t.Errorf("restored %d times", n)
	}
	d.press("r", "1", "enter")
	d.until("they are back", func() bool { return len(b.waiting) == 0 })
	d.untilState(record.Finished)
	text = d.screen()
	mustShow(t, text, "3 live")
	mustNotShow(t, text, "restored,", "re-optimising", "1 live")
	// And of a run that has not gone on they are back at once.
	d.press("p", "1", "enter")
	d.until("two are pruned", func() bool { return len(b.pruned()) == 2 })
	d.press("u")
	d.untilShown("restored the kernels pruned last (2)")
	mustShow(t, d.screen(), "3 live")
	mustNotShow(t, d.screen(), "wait")
}

// A line about what happened goes when it is not true any more.
func TestNotesGoWithTheirTruth(t *testing.T) {
	thorough.Unraced(t)
	d := beginWorking(t, longConfig(t))
	d.press("space")
	d.untilShown("paused; space goes on")
	d.press("space")
	d.untilShown("the run goes on")
	mustNotShow(t, d.screen(), "paused;")
	d.untilState(record.Finished)
	mustNotShow(t, d.screen(), "the run goes on")
	mustShow(t, d.screen(), "all planned evaluations are done")
	d.press("r", "1", "enter")
	d.until("there is one more", func() bool { return d.a.bench.hist.Made == 21 })
	d.untilState(record.Finished)
	for range 5 { // the answer to the order may come last
		d.send(nil)
	}
	mustNotShow(t, d.screen(), "re-optimising")

	// What was said of a run is not said of the launcher.
	a := testApp(t, 120, 36, settle(demoEvents(t, "K12", 3), record.Stopped, "stopped by the user"))
	_, cmd := a.Update(keyMsg("space"))
	for _, c := range append(batched(cmd), cmd) {
		if n, ok := c().(benchNoteMsg); ok {
			a.Update(n)
		}
	}
	mustShow(t, screen(a), "this run is only watched; R goes on with it")
	press(a, "L")
	mustNotShow(t, screen(a), "watched")
	a.Update(benchNoteMsg{newBench(a, "runs/demo", nil, newMailbox()), note.Msg{Text: "too late"}})
	mustNotShow(t, screen(a), "too late")
	a.Update(benchNoteMsg{newBench(a, "runs/demo", nil, newMailbox()), note.Msg{Text: "a failure is told", Level: note.Failure}})
	mustShow(t, screen(a), "a failure is told")
}

// batched are the commands that a command consists of.
func batched(cmd tea.Cmd) []tea.Cmd {
	if msg, ok := cmd().(tea.BatchMsg); ok {
		return msg
	}
	return nil
}

// The questions whether to leave say what becomes of the run as it is now.
func TestPartingFollowsTheRun(t *testing.T) {
	for key, verb := range map[string]string{"q": "quit", "L": "go to the launcher"} {
		a := testApp(t, 80, 24, demoEvents(t, "K12", 3))
		b := a.bench
		b.path = "runs/" + strings.Repeat("long", 12)
		b.session = &experiment.Session{}
		press(a, key)
		mustShow(t, screen(a), "The run is going on. It will be stopped", "enter stop and "+verb, b.path)
		a.Update(frameMsg{b.box, settle(demoEvents(t, "K12", 3), record.Finished, "done")[8:]})
		mustShow(t, screen(a), "The run has finished meanwhile", "enter "+verb, b.path)
		mustNotShow(t, screen(a), "going on", "stop and")
	}
}

// R goes on with a run that was stopped here, or before, and ends with the tables of
// one that was not stopped.
func TestGoingOnAfterStop(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole")
	carryOut(t, longConfig(t), whole)
	d := beginWorking(t, longConfig(t))
	path, made := d.a.bench.path, 0
	stopped := func() {
		t.Helper()
		d.untilState(record.Stopped)
		made = d.a.bench.hist.Made
		d.a.note = note.Note{}
		text := d.screen()
		mustShow(t, text, "R go on", "stopped by the user · R goes on with")
	}
	d.press("2", "s")
	stopped()
	first := d.a.bench
	d.press("R", "R")
	d.until("it goes on", func() bool { return d.a.bench != first && d.a.bench.hist.Made > made })
	if !d.a.bench.owns() || d.a.bench.at != 1 || d.a.bench.path != path {
		t.Error("the run is not shown as it was")
	}
	d.press("s")
	stopped()
	d.do(d.a.toLauncher())
	d.until("the run is left", func() bool { return d.a.bench == nil })
	d.a.pending.Wait()
	d.do(d.a.open(path))
	d.until("it is watched", func() bool { return d.a.bench != nil && d.a.bench.hist.Made == made })
	stopped()
	mustNotShow(t, d.screen(), "r with other settings")
	d.press("R")
	d.untilState(record.Finished)
	mustNotShow(t, d.screen(), "R go on")
	d.press("R")
	if d.a.busy != "" {
		t.Error("a run that has finished is gone on with")
	}
	for _, file := range []string{"posterior.csv", "kernels.csv"} {
		want, err := os.ReadFile(filepath.Join(whole, file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(path, file))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s differs from that of a run that was not stopped", file)
		}
	}
}

// A run that cannot be gone on with is still shown, and says why.
func TestGoingOnFails(t *testing.T) {
	d := beginWorking(t, longConfig(t))
	d.press("s")
	d.untilState(record.Stopped)
	log := filepath.Join(d.a.bench.path, "events.jsonl")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	text[0] = '[' // as long as it was: of a log that was cut closing the run would tell, too
	if err := os.WriteFile(log, text, 0o600); err != nil {
		t.Fatal(err)
	}
	d.press("R")
	d.until("it has failed", func() bool { return d.a.busy == "" && d.a.note.Level == note.Failure })
	mustShow(t, d.screen(), "events.jsonl")
	if d.a.bench == nil || d.a.bench.owns() {
		t.Error("it is not watched")
	}
}

// What is said is there to its end, also in a narrow terminal.
func TestMessagesAreReadToTheEnd(t *testing.T) {
	words := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \n│", r) }), " ")
	}
	asked := func(a *app) string { // without what is around the card
		c := plot.NewCanvas(a.w, a.h)
		a.prompt.draw(c, c.Bounds(), a.theme)
		return words(c.Plain())
	}
	long := errors.New("the run directory cannot be written: " + strings.Repeat("a reason that goes on ", 6) + "to its end")
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 36}} {
		a := testApp(t, size[0], size[1], demoEvents(t, "K12", 3))
		a.Update(note.Msg{Text: long.Error(), Level: note.Failure})
		mustShow(t, words(screen(a)), long.Error())
		a.note = note.Note{}
		a.bench.failure = long
		a.fresh = false
		mustShow(t, words(screen(a)), long.Error())
		a.bench.failure = nil

		a.bench.askReoptimise()
		for i, name := range a.prompt.(*reoptimisePrompt).names {
			if i > 0 {
				press(a, "tab")
			}
			press(a, "a", "b", "c")
			mustShow(t, asked(a), name+": a whole number from 1 to 1000000")
			press(a, "backspace", "backspace", "backspace")
		}
		a.bench.askPrune()
		press(a, "x")
		mustShow(t, asked(a), "a number of kernels to keep, such as 5, or a share of the belief, such as 99 % or 0.99")
		a.prompt = nil

		for _, state := range []record.State{record.Running, record.Stopped, record.Finished, record.Failed} {
			a = testApp(t, size[0], size[1], settle(demoEvents(t, "K12", 3), state, "so it is"))
			a.Update(a.bench.onlyWatched()())
			mustShow(t, words(screen(a)), a.note.Text)
			if !strings.HasPrefix(a.note.Text, "this run is only watched") {
				t.Errorf("%s: %q", state, a.note.Text)
			}
		}
	}
}

// The prune dialog says what the belief becomes, and so it does.
func TestPruneTellsTheBeliefToCome(t *testing.T) {
	c := longConfig(t)
	c.Settings.PriorVariance = 0.2 // q* is soft
	d := beginWorking(t, c)
	d.untilState(record.Finished)
	d.press("p", "2")
	p := d.a.prompt.(*prunePrompt)
	mustShow(t, d.screen(), "u takes it back", "softer among few")
	d.until("there is a forecast", func() bool { return p.forecast != nil })
	lead := float64(p.keep[0].Fit.Posterior)
	mustShow(t, p.outlook(), fmt.Sprintf("for those that stay, the leader's goes from %s to %s", number(lead), number(p.forecast[0])))
	mustShow(t, d.screen(), "Gaps stay as they are.")
	told := number(p.forecast[0])
	if told == number(lead) {
		t.Errorf("the leader keeps %s: this shows nothing", told)
	}
	d.press("enter")
	d.until("one is pruned", func() bool { return len(d.a.bench.pruned()) == 1 })
	if got := number(float64(d.a.bench.hist.Evaluation.Leader().Fit.Posterior)); got != told {
		t.Errorf("q* of the leader is %s, %s was told", got, told)
	}
}

// The preview of a pruning follows the run.
func TestPrunePreviewFollowsTheRun(t *testing.T) {
	events := demoEvents(t, "K12", 6)
	a := testApp(t, 80, 24, events[:4])
	a.bench.askPrune()
	press(a, "2")
	a.Update(frameMsg{a.bench.box, events[4:]})
	p := a.prompt.(*prunePrompt)
	if want := ranked(events[12].Evaluation)[:2]; p.keep[0].ID != want[0].ID || p.keep[1].Fit != want[1].Fit {
		t.Error("the preview is that of an earlier evaluation")
	}
}

// A click on the name of a view shows it.
func TestViewsAreChosenByClick(t *testing.T) {
	a := testApp(t, 120, 36, grownEvents(t))
	screen(a)
	if len(a.tabs) != len(a.bench.views) {
		t.Errorf("%d views have a name", len(a.tabs))
	}
	for at, r := range a.tabs {
		if r.Empty() {
			t.Fatalf("view %d has no name on the screen", at)
		}
		a.Update(tea.MouseClickMsg{X: r.X, Y: r.Y, Button: tea.MouseLeft})
		if a.bench.at != at {
			t.Errorf("view %d is shown, not %d", a.bench.at, at)
		}
	}
}

// What an order does beside the screen reads nothing that the screen writes meanwhile. The race
// detector sees whether it does.
func TestOrdersAreCarriedOutBesideTheScreen(t *testing.T) {
	d := beginWorking(t, longConfig(t))
	b := d.a.bench
	for _, order := range []func() tea.Cmd{b.pause, b.grow, b.restore, b.stop, b.stop, b.stop} {
		cmd, done := order(), make(chan tea.Msg)
		go func() { done <- cmd() }()
		b.apply(&record.Event{Type: record.EventEvaluation, Evaluation: b.hist.Evaluation})
		if _, ok := (<-done).(benchNoteMsg); !ok {
			t.Error("nothing is said of an order")
		}
	}
}
