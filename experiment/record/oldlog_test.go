package record_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
)

// What older logs say in words only is read from them into the fields of today.
func TestOldLogsSayInWords(t *testing.T) {
	for _, c := range []struct {
		what   record.EventType
		to     record.State
		said   string
		newer  string // fields of today
		cause  record.Cause
		kernel string
	}{
		{record.EventState, record.Paused, "the disk is full (no space left on device); the run goes on by itself when there is room", "",
			record.CauseDiskFull, ""},
		{record.EventState, record.Paused, "paused by the user", "", "", ""},
		{record.EventState, record.Failed, "the results cannot be written: read-only file system", "", record.CauseUnwritable, ""},
		{record.EventFinished, record.Failed, "internal error, please report it with the run's log.txt: index out of range", "",
			record.CauseInternal, ""},
		{record.EventState, record.Failed, "the time budget of 1ms is used up before the first evaluation; allow more time", "",
			record.CauseTimeBudget, ""},
		{record.EventState, record.Finished, "the time budget of 1s is used up", "", record.CauseTimeBudget, ""},
		{record.EventState, record.Failed, "no kernel is left", "", "", ""},
		{record.EventState, record.Stopped, "the disk is full", "", "", ""},
		{record.EventNotice, "", "kernel SE+LIN failed: not positive definite", "", "", "SE+LIN"},
		{record.EventNotice, "", "kernel SE: jitter raised 10 times", "", "", ""},
		{record.EventNotice, "", "evaluation 3, as it is now, has no row in metrics.csv: the inducing inputs were changed before it was scored",
			"",
			record.CauseUnscored, ""},
		{record.EventNotice, "", "evaluation of the weather", "", "", ""},
		// What newer ones say stays, in whatever words.
		{record.EventState, record.Paused, "internal error", `,"cause":"disk-full"`, record.CauseDiskFull, ""},
		{record.EventNotice, "", "kernel SE failed: x", `,"kernel":"LIN"`, "", "LIN"},
	} {
		line := fmt.Sprintf(`{"type":%q,"notice":%q%s}`, c.what, c.said, c.newer)
		if c.to != "" {
			line = fmt.Sprintf(`{"type":%q,"state":{"from":"running","to":%q,"reason":%q}%s}`, c.what, c.to, c.said, c.newer)
		}
		var e record.Event
		must.OK(t, json.Unmarshal([]byte(line), &e))
		if e.Cause != c.cause || e.Kernel != c.kernel {
			t.Errorf("%s: cause %q, kernel %q, want %q and %q", line, e.Cause, e.Kernel, c.cause, c.kernel)
		}
	}
	for device, kind := range map[string]string{"cpu (amd64, 2 cores)": "cpu", "cuda (A card (of sorts))": "cuda", "fake": "fake", "": ""} {
		text, err := json.Marshal(record.Event{Type: record.EventStarted, Start: &record.Start{Device: device, Data: recordtest.SummaryOf(1, 0)}})
		must.OK(t, err)
		var e record.Event
		must.OK(t, json.Unmarshal(text, &e))
		if e.Start.DeviceKind != kind {
			t.Errorf("%q is of the kind %q, want %q", device, e.Start.DeviceKind, kind)
		}
	}
}

// The logs of runs of an older version stand as they did.
func TestOldLogsStand(t *testing.T) {
	for name, want := range map[string]struct {
		state     record.State
		cause     record.Cause
		made      int
		inducing  int
		owed      bool
		scored    int
		orders    int
		lastOrder record.EventType
	}{
		"finished": {record.Finished, "", 3, 6, false, 15, 0, ""},
		"adam":     {record.Finished, "", 3, 6, false, 15, 0, ""},
		"natural":  {record.Finished, "", 3, 6, false, 15, 0, ""},
		"pruned":   {record.Finished, "", 4, 8, false, 15, 2, record.EventReoptimised},
		"failed":   {record.Failed, record.CauseTimeBudget, 0, 6, false, 0, 0, ""},
		"killed":   {record.Running, "", 3, 6, false, 15, 0, ""},
		"stopped":  {record.Stopped, "", 5, 6, true, 0, 0, ""},
	} {
		events, err := recordtest.Read(filepath.Join("..", "testdata", "runs", name))
		must.OK(t, err)
		var s record.Standing
		for i := range events {
			s.Apply(&events[i])
		}
		var last record.EventType
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
