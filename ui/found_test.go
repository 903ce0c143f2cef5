package ui

import (
	"strings"
	"testing"

	"example.com/kestrel/experiment/record"
)

// On 80x24 a fourth line is taken where three would leave something out, and the table, the
// error chart and the card stay.
func TestFoundTakesAFourthLineAtNeed(t *testing.T) {
	for state, want := range map[record.State]int{record.Stopped: 4, record.Finished: 3} { // more is to be done after a stop
		a := testApp(t, 80, 24, settle(demoEvents(t, "K12", 6), state, "done"))
		frame := screen(a)
		lines := strings.Split(frame, "\n")
		if said := strings.Join(lines[1:want+1], " "); !strings.HasPrefix(lines[want+1], "╭") || !strings.Contains(said, "its error") ||
			!strings.Contains(said, "Next: ") || !strings.Contains(said, "not settled") {
			t.Errorf("%s: not %d lines with all that matters:\n%s", state, want, frame)
		}
		if v := a.bench.main; v.table.page < 5 || v.areas[cardPane].Empty() || v.areas[metricPane].H < 7 {
			t.Errorf("%s: a table of %d rows:\n%s", state, v.table.page, frame)
		}
	}
}
