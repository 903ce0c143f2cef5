package record

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/vbks"
)

// familyRun is a run that begins with A and B; A*P comes from A with A+P, then A*P+L and A*P*L from A*P. What each step
// gave stands beside what kernels are worth.
func familyRun() []Event {
	kernel := func(id string, elbo, volume float64, rank int) Kernel {
		return Kernel{ID: id, Status: vbks.Live, Fit: &Fit{ELBO: files.Number(elbo), Volume: files.Number(volume), Rank: rank,
			Bayes: files.Number(1 / float64(rank))}}
	}
	evaluation := func(index int, kernels ...Kernel) Event {
		return Event{Type: EventEvaluation, Evaluation: &Evaluation{Index: index, Kernels: kernels, Front: &vbks.Front{Leaders: 2}}}
	}
	come := func(of ...[3]string) Event {
		e := Event{Type: EventEntered}
		for _, k := range of {
			e.Entered = append(e.Entered, Entered{Kernel: KernelInfo{ID: k[0]}, Parent: k[1], Step: k[2]})
		}
		return e
	}
	gone := func(ids ...string) Event { return Event{Type: EventLeft, Kernels: ids} }
	return []Event{
		{Type: EventStarted, Start: &Start{Data: &datasets.Summary{}, Kernels: []KernelInfo{{ID: "A"}, {ID: "B"}}}},
		evaluation(1, kernel("A", -100, 0, 2), kernel("B", -98, 0, 1)),
		come([3]string{"A+P", "A", "add P"}, [3]string{"A*P", "A", "multiply P"}),
		// A is worth −95 + 5 = −90.
		evaluation(2, kernel("A", -95, 5, 3), kernel("B", -99, 0, 4), kernel("A+P", -80.5, 0, 2), kernel("A*P", -71, 1, 1)),
		gone("A", "B"),
		come([3]string{"A*P*L", "A*P", "multiply L"}, [3]string{"A*P+L", "A*P", "add L"}),
		evaluation(3, kernel("A+P", -75, 0, 2), kernel("A*P", -60, 0, 3), Kernel{ID: "A*P*L", Status: vbks.Failed},
			kernel("A*P+L", -56.75, 0, 1)),
		gone("A+P"),
		// Who has been there comes again from others.
		come([3]string{"A", "A*P", "remove P"}, [3]string{"B", "A*P", "replace A by B"}),
		evaluation(4, kernel("A", -99, 0, 4), kernel("B", -70, 0, 5), kernel("A*P", -62, 0, 3), kernel("A*P+L", -57, 0, 1)),
		come([3]string{"A+P", "A*P+L", "remove L"}),
		evaluation(5, kernel("A", -99, 0, 3), kernel("A+P", -74, 0, 2), kernel("A*P+L", -57, 0, 1)),
	}
}

// treeLines writes a tree, a line a kernel.
func treeLines(tree []Generation) (lines []string) {
	line := func(r *Relative) string {
		return fmt.Sprintf("%s %q of %q %s at %d, %s %d, left after %d", r.ID, r.Step, r.Parent, r.Gave(), r.Compared, r.Fortune, r.Rank, r.Left)
	}
	for i := range tree {
		lines = append(lines, line(&tree[i].Relative))
		for k := range tree[i].Others {
			lines = append(lines, "- "+line(&tree[i].Others[k]))
		}
	}
	return lines
}

func TestTree(t *testing.T) {
	events := familyRun()
	for _, c := range []struct {
		after int // events
		of    string
		want  []string
	}{
		{2, "B", []string{`B "" of ""  at 0, live 1, left after 0`}},
		{3, "A*P", []string{ // they have come, and nobody has compared them
			`A "" of ""  at 0, live 2, left after 0`,
			`- A+P "add P" of "A"  at 0, waits 0, left after 0`,
			`A*P "multiply P" of "A"  at 0, waits 0, left after 0`,
		}},
		{4, "A*P", []string{ // −80.5 + 90, −70 + 90
			`A "" of ""  at 0, live 3, left after 0`,
			`- A+P "add P" of "A" +9.50 at 2, live 2, left after 0`,
			`A*P "multiply P" of "A" +20.0 at 2, live 1, left after 0`,
		}},
		{7, "A*P+L", []string{ // −56.75 + 60; without A what its children gave stays as it was
			`A "" of ""  at 0, left 0, left after 2`,
			`- A+P "add P" of "A" +9.50 at 2, live 2, left after 0`,
			`A*P "multiply P" of "A" +20.0 at 2, live 3, left after 0`,
			`- A*P*L "multiply L" of "A*P"  at 0, failed 0, left after 0`,
			`A*P+L "add L" of "A*P" +3.25 at 3, live 1, left after 0`,
		}},
		{10, "A*P+L", []string{ // A is there again: −62 + 99; −57 + 62
			`A "" of ""  at 0, live 4, left after 0`,
			`- A+P "add P" of "A" +9.50 at 2, left 0, left after 3`,
			`A*P "multiply P" of "A" +37.0 at 4, live 3, left after 0`,
			`- A*P*L "multiply L" of "A*P"  at 0, waits 0, left after 0`,
			`A*P+L "add L" of "A*P" +5.00 at 4, live 1, left after 0`,
		}},
		{12, "A+P", []string{ // −74 + 99
			`A "" of ""  at 0, live 3, left after 0`,
			`- A*P "multiply P" of "A" +37.0 at 4, waits 0, left after 0`,
			`A+P "add P" of "A" +25.0 at 5, live 2, left after 0`,
		}},
		{10, "B", []string{`B "" of ""  at 0, live 5, left after 0`}}, // it began with it, wherever it has come from since
	} {
		var s Standing
		for i := range events[:c.after] {
			s.Apply(&events[i])
		}
		if got := treeLines(s.Tree(c.of)); !slices.Equal(got, c.want) {
			t.Errorf("%s after %d events:\n%q, want\n%q", c.of, c.after, got, c.want)
		}
		if s.Grows() != (s.Evaluation != nil) {
			t.Errorf("after %d events: it grows %v", c.after, s.Grows())
		}
	}
}

func TestCame(t *testing.T) {
	events := familyRun()
	for after, want := range map[int]string{
		2: "0", 3: "2 A*P waits, A+P waits,", 4: "2 A*P +20.0, A+P +9.50,", 6: "3 A*P*L waits, A*P+L waits,", 7: "3 A*P+L +3.25, A*P*L failed,",
		// By other steps than those by which they came first.
		9: "4 A waits, B waits,", 10: "4 A live, B live,", 11: "5 A+P waits,", 12: "5 A+P live,",
	} {
		var s Standing
		for i := range events[:after] {
			s.Apply(&events[i])
		}
		all, with := s.Came()
		got := fmt.Sprint(with)
		for i := range all {
			got += " " + all[i].ID + " " + cmp.Or(all[i].Gave(), string(all[i].Fortune)) + ","
		}
		if got != want {
			t.Errorf("after %d events: %s, want %s", after, got, want)
		}
	}
}

// The leader comes first, then who is likeliest without errors, whatever their ranks.
func TestForemost(t *testing.T) {
	e := &Evaluation{Kernels: []Kernel{
		{ID: "A", Fit: &Fit{Rank: 2, Bayes: .5, Point: &Point{Bayes: .1}}}, {ID: "B", Fit: &Fit{Rank: 1, Bayes: .2}}, {ID: "C"},
		{ID: "D", Fit: &Fit{Rank: 3, Bayes: .3}}, {ID: "E", Fit: &Fit{Rank: 5, ELBO: -5}}, {ID: "F", Fit: &Fit{Rank: 4, ELBO: -6}},
	}}
	if got := e.Foremost(3); !slices.Equal(got, []string{"B", "D", "A"}) {
		t.Errorf("%q", got)
	}
	if got := e.Foremost(9); !slices.Equal(got, []string{"B", "D", "A", "E", "F"}) {
		t.Errorf("%q", got)
	}
}
