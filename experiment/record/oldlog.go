package record

import "strings"

// fillFromText sets what events of this version say in fields of their own and
// older logs only in words. It is the only code that reads them, and what it
// reads must stay as it was.
func (e *Event) fillFromText() {
	if s := e.Start; s != nil && s.DeviceKind == "" {
		s.DeviceKind, _, _ = strings.Cut(s.Device, " (")
	}
	if e.State != nil && e.Cause == "" {
		e.Cause = oldCause(e.State)
	}
	if e.Type != EventNotice {
		return
	}
	if rest, ok := strings.CutPrefix(e.Notice, "kernel "); ok && e.Kernel == "" {
		if id, _, ok := strings.Cut(rest, " failed: "); ok {
			e.Kernel = id
		}
	}
	if strings.HasPrefix(e.Notice, "evaluation ") && strings.HasSuffix(e.Notice, ": the inducing inputs were changed before it was scored") {
		e.Cause = CauseUnscored
	}
}

func oldCause(s *StateChange) Cause {
	for _, old := range []struct {
		to    State
		begin string
		cause Cause
	}{
		{Paused, "the disk is full", CauseDiskFull},
		{Failed, "the results cannot be written", CauseUnwritable},
		{Failed, "internal error", CauseInternal},
		{Failed, "the time budget of ", CauseTimeBudget},
		{Finished, "the time budget of ", CauseTimeBudget},
	} {
		if s.To == old.to && strings.HasPrefix(s.Reason, old.begin) {
			return old.cause
		}
	}
	return ""
}
