package ui

import (
	"testing"
	"time"

	"example.com/kestrel/experiment/steer"
)

// Who takes part in a run of another process stands above its log and in the line of what it
// does; nothing of the kind stands there of a run without workers.
func TestWorkersAreShown(t *testing.T) {
	a := testApp(t, 120, 36, demoEvents(t, "K12", 3))
	b := a.bench
	for at, v := range b.views {
		if v.name() == "log" {
			b.at = at
		}
	}
	mustNotShow(t, screen(a), "Workers")
	s := b.snapshot
	s.Workers = []steer.Worker{{Name: "desk/3", Lanes: 2, Units: 7, Silent: 300 * time.Millisecond},
		{Name: "tower/4", Lanes: 4, Silent: time.Minute}}
	a.Update(snapMsg{of: b, snapshot: s})
	mustShow(t, screen(a), "Workers", "2 workers, 6 lanes", "desk/3 · 2 lanes · 7 units done · seen 0.3 s ago",
		"tower/4 · 4 lanes · 0 units done · seen 60.0 s ago")
}
