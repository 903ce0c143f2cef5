package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
	"example.com/kestrel/vbks"
)

// grownEvents invents a run that begins with kernels 0 and 1 of K12 and grows: 2 and 3 come from 0, 4 from 1, 5 and 6 from 3;
// 5 leads in the end, 6 fails.
func grownEvents(t testing.TB) []record.Event {
	demo := demoEvents(t, "K12", 3)
	s := demo[0].Start
	all := s.Kernels
	s.Kernels, s.Grows = all[:2:2], true
	evaluation := func(index int, front vbks.Front, worth map[int]float64, order ...int) record.Event {
		e := demo[2*index]
		e.Evaluation.Front, e.Evaluation.Kernels = &front, nil
		for i, k := range order {
			f := &record.Fit{ELBO: files.Number(worth[k]), Rank: i + 1, Posterior: files.Number(.5 / float64(i+1)),
				Bayes: files.Number(.5 / float64(i+1))}
			for range all[k].Params {
				f.Params = append(f.Params, 1)
			}
			e.Evaluation.Kernels = append(e.Evaluation.Kernels, record.Kernel{ID: all[k].ID, Status: vbks.Live, Fit: f})
		}
		return e
	}
	at := func(index int, e record.Event) record.Event {
		e.V, e.Time, e.Seconds = 1, demo[2*index].Time, demo[2*index].Seconds
		return e
	}
	come := func(index, from int, steps map[int]string, order ...int) (entered []record.Entered) {
		for _, k := range order {
			entered = append(entered, record.Entered{Kernel: all[k], Parent: all[from].ID, Step: steps[k]})
		}
		return entered
	}
	last := evaluation(3, vbks.Front{Leaders: 3, Waiting: 45, Tried: 278, Of: 5292052, Leaves: 6},
		map[int]float64{5: -56.5, 3: -60, 2: -72, 1: -92}, 5, 3, 2, 1)
	last.Evaluation.Kernels = append(last.Evaluation.Kernels, record.Kernel{ID: all[6].ID, Status: vbks.Failed, Reason: "no number"})
	return []record.Event{demo[0], demo[1],
		evaluation(1, vbks.Front{Tried: 2, Of: 5292052, Leaves: 6}, map[int]float64{1: -95, 0: -100}, 1, 0),
		at(2, record.Event{Type: record.EventEntered, Entered: append(
			come(2, 0, map[int]string{2: "add PER", 3: "multiply LIN"}, 2, 3), come(2, 1, map[int]string{4: "add SE"}, 4)...)}),
		evaluation(2, vbks.Front{Leaders: 2, Waiting: 12, Tried: 5, Of: 5292052, Leaves: 6},
			map[int]float64{3: -70, 2: -80, 0: -90, 1: -92, 4: -93}, 3, 2, 0, 1, 4),
		at(3, record.Event{Type: record.EventLeft, Kernels: []string{all[0].ID, all[4].ID}}),
		at(3, record.Event{Type: record.EventEntered, Entered: come(3, 3, map[int]string{5: "replace SE by RQ", 6: "add LIN"}, 5, 6)}),
		last, demo[7]}
}

// squeezed is a screen without frames and with one space in the place of several.
func squeezed(screen string) string {
	var lines []string
	for line := range strings.SplitSeq(screen, "\n") {
		lines = append(lines, strings.Join(strings.Fields(strings.ReplaceAll(line, "│", " ")), " "))
	}
	return strings.Join(lines, "\n") + "\n"
}

// Where the space grows it is told how far it has come, by which steps a kernel has come, and what each gave; the key
// that lets it grow ends that, but not where it has ended by itself.
func TestGrowingSpaceIsShown(t *testing.T) {
	events := grownEvents(t)
	a := testApp(t, 160, 45, events)
	mustShow(t, screen(a), "growing, 278 tried · 45 wait")
	b := a.bench
	if !b.growing() {
		t.Error("it grows")
	}
	b.at = kernelPlace
	b.choose(b.hist.IDs()[5])
	mustShow(t, shown(b, 160, 40), "grown from "+b.hist.IDs()[0]+", multiply LIN +20.0, replace SE by RQ +3.50 nats")
	a = testApp(t, 160, 45, append(events, endOfGrowth(events)))
	mustShow(t, screen(a), "grown, 301 tried")
	if a.bench.growing() {
		t.Error("it has ended")
	}
}

// endOfGrowth is an evaluation more, with which there is no neighbour left.
func endOfGrowth(events []record.Event) record.Event {
	over := *events[len(events)-2].Evaluation
	over.Index, over.Front = 4, &vbks.Front{Leaders: 3, Tried: 301, Of: 5292052, Leaves: 6, Beyond: 17, Over: true}
	return record.Event{V: 1, Type: record.EventEvaluation, Time: demoTime, Evaluation: &over}
}

// The tree has a line for each kernel on the way, below it what else was tried of it, and the front says who came last.
func TestGrowthView(t *testing.T) {
	events := grownEvents(t)
	a := testApp(t, 120, 40, events[:5])
	press(a, "7")
	name := func(k int) string { return a.bench.kernelName(a.bench.hist.IDs()[k]) }
	mustShow(t, squeezed(screen(a)), "● "+name(0)+" the beginning 2 alive, #3\n├─ "+name(2)+" add PER +10.0 2 alive, #2\n"+
		"● "+name(3)+" multiply LIN +20.0 2 0 leads\n", "growing; 5 tried of 5.29 million up to 6 leaves; 12 wait for room",
		"neighbours are tried of the first 2: "+name(3)+", "+name(2)+"\n", "3 kernels came with evaluation 2, the best first:\n"+
			name(3)+" multiply LIN of "+name(0)+" +20.0\n"+name(2)+" add PER of "+name(0)+" +10.0\n"+name(4)+" add SE of "+name(1)+" −1.00\n")

	a.Update(frameMsg{a.bench.box, events[5:7]}) // live: who has come is there before it is compared
	mustShow(t, squeezed(screen(a)), "● "+name(0)+" the beginning 2 left after 2\n", name(6)+" add LIN not known waits\n",
		"2 kernels came, to be compared by evaluation 3:\n")
	a.Update(frameMsg{a.bench.box, events[7:]})
	tree := []string{"● " + name(0) + " the beginning 2 left after 2\n├─ " + name(2) + " add PER +10.0 2 alive, #3\n● " + name(3) +
		" multiply LIN +20.0 2 2 alive, #2\n├─ " + name(6) + " add LIN not known failed\n● " + name(5) + " replace SE by RQ +3.50 3 0 leads\n"}
	mustShow(t, squeezed(screen(a)), append(tree, "Family tree of the leader, "+name(5), "7 growth", "t leader or chosen",
		"growing; 278 tried of 5.29 million up to 6 leaves; 45 wait for room", "the first 3: "+name(5)+", "+name(3)+", "+name(2)+"\n",
		name(5)+" replace SE by RQ of "+name(3)+" +3.50\n"+name(6)+" add LIN of "+name(3)+" failed\n")...)
	part, some := *events[len(events)-2].Evaluation, vbks.Front{Leaders: 3, Tried: 300, Of: 5292052, Leaves: 6, Rows: 512}
	part.Front = &some
	a.Update(frameMsg{a.bench.box, []record.Event{{V: 1, Type: record.EventEvaluation, Time: demoTime, Evaluation: &part}}})
	mustShow(t, squeezed(screen(a)), fmt.Sprintf("growing on 512 of %d rows first; 300 tried of", a.bench.hist.Start.Data.Train))
	a.Update(frameMsg{a.bench.box, []record.Event{endOfGrowth(events)}})
	mustShow(t, squeezed(screen(a)), "grows no more; 301 tried of",
		"no neighbour of the first 3 was left to try, but for 17 that promise least\n",
		"the last, 2 kernels, came with evaluation 3, the best first:")

	press(a, "?")
	mustShow(t, screen(a), "Help: growth", "nats", "all neighbours that were tried")
	press(a, "x")
	a.bench.choose(a.bench.hist.IDs()[2])
	press(a, "t")
	mustShow(t, squeezed(screen(a)), "of the chosen kernel, "+name(2),
		"├─ "+name(3)+" multiply LIN +20.0 2 alive, #2\n● "+name(2)+" add PER +10.0")
	press(a, "t", "home")
	_, cmd := a.Update(keyMsg("enter")) // the beginning has left
	a.Update(cmd())
	mustShow(t, screen(a), name(0)+" left after 2: nothing is computed of it any more", "Family tree")
	press(a, "end", "enter")
	if a.bench.at != kernelPlace || a.bench.chosen() != a.bench.hist.IDs()[5] {
		t.Errorf("view %d of %s", a.bench.at+1, a.bench.chosen())
	}
}

// At every size the way is there, with what its steps gave; what has no room is reached by scrolling.
func TestGrowthViewOfAnySize(t *testing.T) {
	b := testApp(t, 80, 24, grownEvents(t)).bench
	b.at = growthPlace
	id := b.hist.IDs()
	for _, size := range [][2]int{{200, 47}, {80, 21}, {60, 12}, {40, 9}, {34, 6}} {
		for _, glyphs := range []plot.Glyphs{plot.Braille, plot.Halves, plot.ASCII} {
			b.app.theme = theme.New(colorprofile.ASCII, false, glyphs)
			mustShow(t, shown(b, size[0], size[1]), "+20.0", "+3.50")
		}
	}
	mustShow(t, shown(b, 34, 6), "O ")
	mustNotShow(t, shown(b, 34, 6), "●", "├")
	mustNotShow(t, shown(b, 40, 4), b.kernelName(id[0])) // the leader's line and the one above
	viewKeys(t, b, "home")
	mustShow(t, shown(b, 40, 4), b.kernelName(id[0]), "more")
}

// Of what was tried as much is shown of each generation as there is room for, of the later ones first.
func TestBranches(t *testing.T) {
	tree := make([]record.Generation, 3)
	tree[0].Others, tree[1].Others, tree[2].Others = make([]record.Relative, 5), make([]record.Relative, 1), make([]record.Relative, 9)
	for h, want := range map[int]string{0: "[0 0 0]", 3: "[0 0 0]", 4: "[0 0 1]", 6: "[1 1 1]", 9: "[2 1 3]", 40: "[5 1 9]"} {
		if got := fmt.Sprint(branches(tree, h)); got != want {
			t.Errorf("%d lines: %s, want %s", h, got, want)
		}
	}
	b := testApp(t, 80, 24, grownEvents(t)).bench
	b.at = growthPlace
	mustNotShow(t, shown(b, 60, 5), "├") // 3 lines, for 3 generations
	viewKeys(t, b, "a")
	shown(b, 60, 5)
	viewKeys(t, b, "up")
	mustShow(t, shown(b, 60, 5), "├", "not known")
}

// A run that does not grow has no such view, until it is let to.
func TestGrowthIsOfRunsThatGrow(t *testing.T) {
	a := testApp(t, 120, 40, demoEvents(t, "K12", 2))
	press(a, "7")
	mustNotShow(t, screen(a), "growth")
	if a.bench.at != 0 {
		t.Errorf("at view %d", a.bench.at+1)
	}
	a.bench.at, a.fresh = growthPlace, false // as where it is looked at and its run begins anew
	mustShow(t, screen(a), "does not grow", "7 growth")
}
