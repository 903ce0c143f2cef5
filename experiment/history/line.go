package history

import (
	"strings"
	"time"

	"example.com/kestrel/experiment/record"
)

// Level says what a LogLine is about.
type Level string

// The levels of log lines.
const (
	LevelNotice     Level = "notice"
	LevelState      Level = "state"
	LevelEvaluation Level = "evaluation"
	LevelError      Level = "error"
)

// LogLine is one entry of what a run said.
type LogLine struct {
	Time    time.Time
	Seconds float64
	Level   Level
	Type    record.EventType // of the event that said it
	Text    string           // of several lines where it holds a stack
}

// Bounds of a journal.
const (
	mostLines = 2000
	longest   = 4096 // bytes of a text
)

// journal keeps the last lines.
type journal struct {
	kept    []LogLine
	dropped int
}

func (j *journal) add(l LogLine) {
	if len(l.Text) > longest {
		l.Text = strings.ToValidUTF8(l.Text[:longest], "") + " …"
	}
	// Room for more than is shown: they need not be moved each time.
	if len(j.kept) == 2*mostLines {
		j.dropped += mostLines
		copy(j.kept, j.kept[mostLines:])
		clear(j.kept[mostLines:])
		j.kept = j.kept[:mostLines]
	}
	j.kept = append(j.kept, l)
}

func (j *journal) lines() ([]LogLine, int) {
	hidden := max(0, len(j.kept)-mostLines)
	return j.kept[hidden:], j.dropped + hidden
}
