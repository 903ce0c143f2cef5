package experiment

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
)

// What older logs say in words only is read from them into the fields of today.
func TestOldLogsSayInWords(t *testing.T) {
	for _, c := range []struct {
		what   EventType
		to     State
		said   string
		newer  string // fields of today
		cause  Cause
		kernel string
	}{
		{EventState, Paused, "the disk is full (no space left on device); the run goes on by itself when there is room", "", CauseDiskFull, ""},
		{EventState, Paused, "paused by the user", "", "", ""},
		{EventState, Failed, "the results cannot be written: read-only file system", "", CauseUnwritable, ""},
		{EventFinished, Failed, "internal error, please report it with the run's log.txt: index out of range", "", CauseInternal, ""},
		{EventState, Failed, "the time budget of 1ms is used up before the first evaluation; allow more time", "", CauseTimeBudget, ""},
		{EventState, Finished, "the time budget of 1s is used up", "", CauseTimeBudget, ""},
		{EventState, Failed, "no kernel is left", "", "", ""},
		{EventState, Stopped, "the disk is full", "", "", ""},
		{EventNotice, "", "kernel SE+LIN failed: not positive definite", "", "", "SE+LIN"},
		{EventNotice, "", "kernel SE: jitter raised 10 times", "", "", ""},
		{EventNotice, "", "evaluation 3, as it is now, has no row in metrics.csv: the inducing inputs were changed before it was scored", "",
			CauseUnscored, ""},
		{EventNotice, "", "evaluation of the weather", "", "", ""},
		// What newer ones say stays, in whatever words.
		{EventState, Paused, "internal error", `,"cause":"disk-full"`, CauseDiskFull, ""},
		{EventNotice, "", "kernel SE failed: x", `,"kernel":"LIN"`, "", "LIN"},
	} {
		line := fmt.Sprintf(`{"type":%q,"notice":%q%s}`, c.what, c.said, c.newer)
		if c.to != "" {
			line = fmt.Sprintf(`{"type":%q,"state":{"from":"running","to":%q,"reason":%q}%s}`, c.what, c.to, c.said, c.newer)
		}
		var e Event
		must(t, json.Unmarshal([]byte(line), &e))
		if e.Cause != c.cause || e.Kernel != c.kernel {
			t.Errorf("%s: cause %q, kernel %q, want %q and %q", line, e.Cause, e.Kernel, c.cause, c.kernel)
		}
	}
	for device, kind := range map[string]string{"cpu (amd64, 2 cores)": "cpu", "cuda (A card (of sorts))": "cuda", "fake": "fake", "": ""} {
		text, err := json.Marshal(Event{Type: EventStarted, Start: &Start{Device: device, Data: summaryOf(1, 0)}})
		must(t, err)
		var e Event
		must(t, json.Unmarshal(text, &e))
		if e.Start.DeviceKind != kind {
			t.Errorf("%q is of the kind %q, want %q", device, e.Start.DeviceKind, kind)
		}
	}
}

// The logs of runs of an older version stand as they did.
func TestOldLogsStand(t *testing.T) {
	for name, want := range map[string]struct {
		state     State
		cause     Cause
		made      int
		inducing  int
		owed      bool
		scored    int
		orders    int
		lastOrder EventType
	}{
		"finished": {Finished, "", 3, 6, false, 15, 0, ""},
		"adam":     {Finished, "", 3, 6, false, 15, 0, ""},
		"natural":  {Finished, "", 3, 6, false, 15, 0, ""},
		"pruned":   {Finished, "", 4, 8, false, 15, 2, EventReoptimised},
		"failed":   {Failed, CauseTimeBudget, 0, 6, false, 0, 0, ""},
		"killed":   {Running, "", 3, 6, false, 15, 0, ""},
		"stopped":  {Stopped, "", 5, 6, true, 0, 0, ""},
	} {
		events, err := ReadEvents(filepath.Join("testdata", "runs", name))
		must(t, err)
		var s Standing
		for i := range events {
			s.Apply(&events[i])
		}
		var last EventType
		if n := len(s.Orders); n > 0 {
			last = s.Orders[n-1].What
		}
		inducing := s.Inducing[len(s.Inducing)-1]
		if s.State != want.state || s.Cause != want.cause || s.Made != want.made || inducing != want.inducing || s.Owed != want.owed ||
			s.Scored != want.scored || len(s.Orders) != want.orders || last != want.lastOrder || s.Moved ||
			s.Ended != want.state.Settled() || s.Start.DeviceKind != "cpu" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
