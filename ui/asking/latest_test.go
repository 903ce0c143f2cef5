package asking

import (
	"context"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestLatest(t *testing.T) {
	var q Latest
	var ended []int
	ask := func(n int) tea.Cmd {
		return q.Ask(t.Context(), func(ctx context.Context, serial int) tea.Msg {
			if ctx.Err() == nil {
				ended = append(ended, n)
			}
			return serial
		})
	}
	first := ask(1)
	if ask(2) != nil || ask(3) != nil {
		t.Fatal("two questions at a time")
	}
	fresh, next := q.Done(first().(int))
	if fresh || next == nil {
		t.Fatal("the first answer was taken, or the third question not asked")
	}
	fresh, none := q.Done(next().(int))
	if !fresh || none != nil || q.Busy() || !slices.Equal(ended, []int{3}) {
		t.Errorf("fresh %v, ended %v", fresh, ended) // 1 was cancelled, 2 never asked
	}
	fourth := ask(4)
	q.Drop()
	if fresh, next := q.Done(fourth().(int)); fresh || next != nil || len(ended) != 1 {
		t.Error("an answer that was dropped was taken")
	}
}
