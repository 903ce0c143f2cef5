package record

import (
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/vbks"
)

// Evaluations and orders may change the leader; what leaves none changes nothing.
func TestLead(t *testing.T) {
	var s Standing
	take := func(typ EventType, proportion float64, leader, want string) {
		t.Helper()
		e := &Evaluation{Index: 1, Proportion: proportion, Kernels: []Kernel{{ID: "A", Status: vbks.Live}, {ID: "B", Status: vbks.Live}}}
		for i := range e.Kernels {
			if k := &e.Kernels[i]; leader != "" {
				k.Fit = &Fit{Rank: 2}
				if k.ID == leader {
					k.Fit.Rank = 1
				}
			}
		}
		s.Apply(&Event{Type: typ, Evaluation: e, Kernels: []string{"A"}})
		if got := s.Lead.Text(s.Lead.Kernel); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	take(EventEvaluation, 0.1, "", "")
	take(EventEvaluation, 0.2, "A", "A leads since 20 % of the data; no other has led")
	take(EventEvaluation, 0.3, "A", "A leads since 20 % of the data; no other has led")
	take(EventPruned, 0.3, "B", "B leads since 30 % of the data; 1 change before")
	take(EventEvaluation, 0.4, "", "B leads since 30 % of the data; 1 change before")
	take(EventRestored, 0.45, "A", "A leads since 45 % of the data; 2 changes before")
	take(EventEvaluation, 0.5, "A", "A leads since 45 % of the data; 2 changes before")
}

func TestMark(t *testing.T) {
	for _, c := range []struct {
		fit  Fit
		want string
	}{
		{Fit{Rank: 1, Tied: true}, ""}, {Fit{Rank: 2, Tied: true}, MarkEqual},
		{Fit{Rank: 2, ELBO: -.9, Tied: true, Apart: true}, MarkClose}, {Fit{Rank: 2, ELBO: -3, SE: 2, Tied: true, Apart: true}, MarkEqual},
		{Fit{Rank: 2, ELBO: -3, Apart: true}, MarkApart},
		{Fit{Rank: 2}, ""},
		// The volume ranks, too, and what is ahead by that or within its error is not behind for sure.
		{Fit{Rank: 2, ELBO: 0.7, Volume: -2, Apart: true}, MarkApart}, {Fit{Rank: 2, ELBO: -0.7, Volume: 1.4, Apart: true}, ""},
		{Fit{Rank: 2, ELBO: -3, SE: 2, Apart: true}, ""},
	} {
		if got := c.fit.Mark(&Fit{}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.fit, got, c.want)
		}
	}
	for _, c := range []struct {
		fit  Fit
		want bool
	}{{Fit{Rows: 10}, true}, {Fit{Rows: 20, SE: 1}, false}, {Fit{SE: 1}, true}, {Fit{}, false}} {
		if got := c.fit.Sampled(20); got != c.want {
			t.Errorf("%+v: sampled %v", c.fit, got)
		}
	}
	if p := (&Fit{Posterior: 0.3, Bayes: 0.4}).Plain(); p != (Point{0.3, 0.4}) {
		t.Errorf("%+v", p)
	}
}

// Where there is evidence by windows it is what a kernel is worth, and its error the slack, whatever bounds say.
func TestWindowsAreWhatCounts(t *testing.T) {
	bounds := &Evidence{-9000, 7e5}
	leader := Fit{Rank: 1, ELBO: -9000, Evidence: bounds, Windows: &Windows{Nats: 500, Low: .1, High: .2}}
	other := Fit{Rank: 2, ELBO: -100, Volume: 2, Evidence: bounds, Windows: &Windows{Nats: 480, Low: 1, High: 1.5}, Apart: true}
	slack, ok := other.Slack()
	if other.Behind(&leader) != 18 || !ok || slack != 2.5 || !other.Usefully(1e6) || other.Mark(&leader) != MarkApart {
		t.Errorf("%v behind, slack %v, %v, %v", other.Behind(&leader), slack, other.Usefully(1e6), other.Mark(&leader))
	}
}

// Of more rows than are multiplied with all of k(X,X) a slack of more than a nat is told to say nothing.
func TestUsefully(t *testing.T) {
	fit := func(slack float64) *Fit {
		return &Fit{Evidence: &Evidence{Lower: -10, Upper: files.Number(slack - 10)}}
	}
	for _, c := range []struct {
		fit  *Fit
		rows int
		want bool
	}{{fit(300), 20_000, true}, {fit(300), 20_001, false}, {fit(.5), 1_000_000, true}, {&Fit{}, 10, false}} {
		if got := c.fit.Usefully(c.rows); got != c.want {
			t.Errorf("%+v of %d rows: %v", c.fit.Evidence, c.rows, got)
		}
		e := Evaluation{RowsSeen: c.rows, Kernels: []Kernel{{}, {Fit: c.fit}}}
		if said := e.Unbounded() != ""; said != (!c.want && c.fit.Evidence != nil) {
			t.Errorf("%d rows: %q", c.rows, e.Unbounded())
		}
	}
}
