package ui

import (
	"strings"
	"testing"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/finding"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
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

// spelled gives the leader of an invented run hyperparameters with which it can be put into words.
func spelled(t *testing.T, events []record.Event) {
	s := events[0].Start
	info := &s.Kernels[len(s.Kernels)-2]
	e, err := kernelspace.Parse(info.ID)
	must.OK(t, err)
	p, err := kernelspace.Compile(e.Canonical(), kernelspace.Options{Dim: 1})
	must.OK(t, err)
	info.Params = nil
	var values []files.Number
	for _, q := range p.Params {
		info.Params = append(info.Params, record.ParamInfo{Name: p.LeafNames()[q.Leaf] + "." + q.Name, Scale: 1})
		values = append(values, 2)
	}
	info.Params, values = append(info.Params, record.ParamInfo{Name: "noise_variance", Scale: 1}), append(values, 1)
	for i := range events {
		if e := events[i].Evaluation; e != nil {
			for k := range e.Kernels {
				if e.Kernels[k].ID == info.ID {
					e.Kernels[k].Fit.Params = values
				}
			}
		}
	}
}

// Where the data show only chance, what the first kernel makes of it is not told as if it were found.
func TestChanceIsNoFinding(t *testing.T) {
	for chance, want := range map[bool]string{true: "only chance", false: ""} {
		events := settle(demoEvents(t, "K12", 6), record.Finished, "done")
		spelled(t, events)
		if chance {
			d := events[0].Start.Data
			d.StandardiseY = "full"
			for i := range events {
				if e := events[i].Evaluation; e != nil {
					d.Train = e.RowsSeen
					for k := range e.Kernels {
						if f := e.Kernels[k].Fit; f != nil {
							f.ELBO = files.Number(-float64(e.RowsSeen)*1.4189385332 - float64(k))
						}
					}
				}
			}
		}
		a := testApp(t, 160, 40, events)
		if got := finding.NotFound(&a.bench.hist.Standing); (got != "") != chance {
			t.Fatalf("chance %v: %q", chance, got)
		}
		v := a.bench.views[kernelPlace].(*kernelView)
		text := strings.Join(v.meaning(a.bench.chosen(), 70), " ")
		if strings.HasPrefix(text, "The data show only chance: nothing of this is found in them. It is ") != chance || text == "" {
			t.Errorf("chance %v: %s", chance, text)
		}
		a.bench.at = kernelPlace
		if frame := screen(a); strings.Contains(frame, "only chance") != chance || !strings.Contains(frame, want) {
			t.Errorf("chance %v:\n%s", chance, frame)
		}
	}
}

// Help says at every size which keys close it, and that they close nothing else: whoever takes q for the end of the program goes on
// typing into it.
func TestHelpSaysWhatClosesIt(t *testing.T) {
	for w, want := range map[int]string{40: "q esc close help", 80: "q esc or another key close this help " +
		"only", 200: "q esc or another key close this help only"} {
		a := testApp(t, w, 24, demoEvents(t, "K12", 5))
		press(a, "?")
		if frame := screen(a); !strings.Contains(frame, want) {
			t.Errorf("%d columns: no %q:\n%s", w, want, frame)
		}
		press(a, "q")
		if frame := screen(a); strings.Contains(frame, "Help") {
			t.Errorf("%d columns: q closes more or less than help:\n%s", w, frame)
		}
	}
}
