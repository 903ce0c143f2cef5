package history

import (
	"reflect"
	"slices"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
)

// Nothing is made of the words in which a run says why and what.
func TestWordsDoNotMatter(t *testing.T) {
	look := func(change func(*record.Event)) (record.Standing, []Mark, []Level) {
		var h History
		for _, e := range recordtest.Eventful() {
			change(&e)
			h.Apply(&e)
		}
		s := h.Standing
		s.Reason = ""
		var levels []Level
		lines, _ := h.Lines()
		for _, l := range lines {
			levels = append(levels, l.Level)
		}
		return s, h.Marks(), levels
	}
	s1, m1, l1 := look(func(*record.Event) {})
	s2, m2, l2 := look(func(e *record.Event) {
		if e.Notice != "" {
			e.Notice = "other words"
		}
		if e.State != nil {
			e.State.Reason = "other words"
		}
	})
	s1.Evaluation, s2.Evaluation = nil, nil // there are NaN in them
	if !reflect.DeepEqual(s1, s2) {
		t.Errorf("%+v\n%+v", s1, s2)
	}
	if !reflect.DeepEqual(m1, m2) || !slices.Equal(l1, l2) {
		t.Errorf("marks %+v, levels %v\nwant %+v, %v", m2, l2, m1, l1)
	}
	if n := len(slices.DeleteFunc(slices.Clone(l1), func(l Level) bool { return l != LevelError })); n != 1 {
		t.Errorf("%d errors are told of, not the one kernel's: %v", n, l1)
	}
}
