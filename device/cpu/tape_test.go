package cpu

import (
	"runtime"
	"testing"
)

// The tapes of all arrays of a lane have room together, which those give back that are freed or that nothing
// refers to any more, and a longer one in the place of a shorter takes only more of.
func TestTapesShareRoom(t *testing.T) {
	l := &lane{mostTaped: 100}
	a, b := &array{count: 2}, &array{count: 2}
	if got := l.record(a, 0, 60); len(got) != 60 {
		t.Fatalf("the first tape has %d entries", len(got))
	}
	if got := l.record(b, 1, 60); got != nil {
		t.Fatalf("a second one has %d where there is room for 40", len(got))
	}
	if got := l.record(b, 1, 40); len(got) != 40 || l.taped != 100 {
		t.Fatalf("a second one has %d, all have %d", len(got), l.taped)
	}
	l.Free(a)
	if got := l.record(b, 1, 90); len(got) != 90 || l.taped != 90 || b.taped != 90 {
		t.Fatalf("once the first is freed it has %d, all have %d", len(got), l.taped)
	}
	if got := l.record(b, 0, 20); got != nil || l.taped != 90 {
		t.Fatalf("another of the array has %d, all have %d", len(got), l.taped)
	}
	runtime.KeepAlive(b) // up to here
	runtime.GC()
	if got := l.record(&array{count: 1}, 0, 80); len(got) != 80 || l.taped != 80 || len(l.withTapes) != 1 {
		t.Fatalf("once the array is gone another has %d, all have %d in %d", len(got), l.taped, len(l.withTapes))
	}
}

func TestLanesShareRoomForTapes(t *testing.T) {
	for _, lanes := range []int{1, 2, 16, 1000} {
		d := New(Options{Lanes: lanes})
		each := d.lanes[lanes-1].mostTaped
		if each < maxTape || each > maxTape && each*lanes > maxTapes {
			t.Errorf("%d lanes have room for %d entries each", lanes, each)
		}
	}
}
