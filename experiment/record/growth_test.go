package record_test

import (
	"strings"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/vbks"
)

// front is an evaluation after which so many neighbours wait.
func front(waiting int, over bool) *record.Event {
	e := recordtest.Evaluation(1, 10, .1, []float64{1})
	e.Front = &vbks.Front{Waiting: waiting, Over: over}
	return &record.Event{Type: record.EventEvaluation, Evaluation: e}
}

func told(grow string) *record.Event {
	return &record.Event{Type: record.EventReoptimised, Change: &vbks.Change{Grow: grow}}
}

func became(to record.State) *record.Event {
	return &record.Event{Type: record.EventState, State: &record.StateChange{To: to}}
}

// Growth that was cut short is told with what cut it and how many neighbours waited; one that goes on or has come to its
// end is not.
func TestCutGrowth(t *testing.T) {
	still := &record.Event{Type: record.EventEvaluation, Evaluation: recordtest.Evaluation(2, 10, .2, []float64{1})}
	for _, c := range []struct {
		want   string
		events []*record.Event
	}{
		{"", []*record.Event{still, became(record.Finished)}},
		{"", []*record.Event{front(119, false)}},
		{"", []*record.Event{front(119, false), front(0, true), became(record.Finished)}},
		{"", []*record.Event{front(0, true), told(vbks.GrowOff)}},
		{"ended by order; 119 neighbours wait", []*record.Event{front(119, false), told(vbks.GrowOff), still, became(record.Finished)}},
		{"", []*record.Event{front(119, false), told(vbks.GrowOff), told(vbks.GrowOn)}},
		{"ended by the budget; 1 neighbour waits", []*record.Event{front(119, false), front(1, false), became(record.Finished)}},
		{"ended by the budget", []*record.Event{front(0, false), became(record.Finished)}},
		{"not at its end when the run was stopped; 7 neighbours wait", []*record.Event{front(7, false), became(record.Stopped)}},
		{"not at its end when the run failed; 7 neighbours wait", []*record.Event{front(7, false), became(record.Failed)}},
		{"", []*record.Event{front(7, false), became(record.Stopped), became(record.Running)}},
	} {
		var s record.Standing
		for _, e := range c.events {
			s.Apply(e)
		}
		got := ""
		if cut := s.CutGrowth(); cut != nil {
			got = cut.Text()
		}
		if got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// What is told of growth and of one of anything is English.
func TestDescribeInEnglish(t *testing.T) {
	entered := func(ids ...string) (all []record.Entered) {
		for _, id := range ids {
			all = append(all, record.Entered{Kernel: record.KernelInfo{ID: id}})
		}
		return all
	}
	revised := recordtest.Evaluation(1, 10, .1, []float64{1})
	for want, e := range map[string]*record.Event{
		"1 kernel comes: SE":                         {Type: record.EventEntered, Entered: entered("SE")},
		"2 kernels come: SE, LIN":                    {Type: record.EventEntered, Entered: entered("SE", "LIN")},
		"1 kernel gone: SE":                          {Type: record.EventLeft, Kernels: []string{"SE"}},
		"pruned 1 kernel; 1/10":                      {Type: record.EventPruned, Kernels: []string{"SE"}, Evaluation: revised},
		"restored 2 kernels; 1/10":                   {Type: record.EventRestored, Kernels: []string{"SE", "LIN"}, Evaluation: revised},
		"re-optimising; the space of kernels grows ": told(vbks.GrowOff),
		"re-optimising, rounds 2; the space of kernels grows from here on": {Type: record.EventReoptimised,
			Change: &vbks.Change{Rounds: 2, Grow: vbks.GrowOn}},
	} {
		if got := record.Describe(e); !strings.HasPrefix(got, want) || strings.Contains(got, ": off") {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
