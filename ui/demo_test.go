package ui

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
	"example.com/kestrel/vbks"
)

var demoTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// demoStart describes an invented run over a named set of kernels.
func demoStart(t testing.TB, set string, planned int) *record.Start {
	t.Helper()
	space, err := kernelspace.Set(set)
	if err != nil {
		t.Fatal(err)
	}
	s := &record.Start{
		Name: "demo", Seed: 7, Device: "cpu (test)", DeviceKind: "cpu", Lanes: 2, Inducing: 16, Planned: planned,
		Data: &datasets.Summary{Name: "demo", Source: "synthetic", Train: 1000, Test: 200, Kernel: "PER*LIN*RQ",
			Columns: []datasets.ColumnSummary{{Name: "x", Role: "input", Min: -10, Max: 10}, {Name: "y", Role: "target"}}},
	}
	for _, e := range space {
		info := record.KernelInfo{ID: e.Canonical().ID(), Name: e.Canonical().String(), Weight: 1}
		for i, l := range e.Canonical().Leaves() {
			info.Params = append(info.Params, record.ParamInfo{Name: fmt.Sprintf("%s#%d.lengthscale", l.Base(), i+1), Column: "x",
				Unit: "m", Scale: 1})
		}
		info.Params = append(info.Params, record.ParamInfo{Name: "noise_variance", Unit: "°C²", Scale: 1})
		s.Kernels = append(s.Kernels, info)
	}
	return s
}

// demoEvaluation invents what is known after evaluation i: the last kernel of
// K12's first eleven gains on the others.
func demoEvaluation(s *record.Start, i int) *record.Evaluation {
	n := len(s.Kernels)
	e := &record.Evaluation{Index: i, Planned: s.Planned, Proportion: math.Min(1, float64(i)/10), RowsSeen: min(1000, 100*i)}
	weight := make([]float64, n)
	var total float64
	for k := range n {
		weight[k] = math.Exp(-0.08 * float64(k*i) * (1 + 0.3*math.Sin(float64(k+i))))
		total += weight[k]
	}
	for k := range n {
		id := s.Kernels[(k+n-2)%n].ID // the last but one of the space leads
		p := files.Number(weight[k] / total)
		f := &record.Fit{Posterior: p, Bayes: p * p, ELBO: files.Number(1000 + 50*i - 12*k), SE: files.Number(k % 3),
			Rank: k + 1, Tied: k < 2}
		for j := range s.Kernels[(k+n-2)%n].Params {
			f.Params = append(f.Params, files.Number(0.5+float64(j)))
		}
		e.Kernels = append(e.Kernels, record.Kernel{ID: id, Status: vbks.Live, Fit: f})
	}
	// In the space's order.
	byID := map[string]record.Kernel{}
	for _, k := range e.Kernels {
		byID[k.ID] = k
	}
	for k := range n {
		e.Kernels[k] = byID[s.Kernels[k].ID]
	}
	return e
}

// demoEvents invents a run of so many evaluations that has not ended.
func demoEvents(t testing.TB, set string, evaluations int) []record.Event {
	t.Helper()
	s := demoStart(t, set, 12)
	at := func(sec float64) record.Event {
		return record.Event{V: 1, Time: demoTime.Add(time.Duration(sec * float64(time.Second))), Seconds: files.Number(sec)}
	}
	start, running := at(0), at(0)
	start.Type, start.Start = record.EventStarted, s
	running.Type, running.State = record.EventState,
		&record.StateChange{From: record.Ready, To: record.Running, Reason: "started"}
	out := []record.Event{start, running}
	for i := 1; i <= evaluations; i++ {
		e, m := at(3*float64(i)), at(3*float64(i)+0.1)
		e.Type, e.Evaluation = record.EventEvaluation, demoEvaluation(s, i)
		m.Type = record.EventMetrics
		for j, name := range []string{config.MethodAverage, config.MethodSingle} {
			m.Metrics = append(m.Metrics, record.Metric{Evaluation: i, Proportion: e.Evaluation.Proportion, Seconds: m.Seconds, Method: name,
				Kernels: 12, RMSE: files.Number(0.03 + 0.1/float64(i+j)), NLPD: 1, MAE: 0.02, Coverage95: 0.95, TestRows: 200})
		}
		out = append(out, e, m)
	}
	return out
}

// testApp is a workbench without a terminal, showing a followed run of some
// events.
func testApp(t testing.TB, w, h int, events []record.Event) *app {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	env := map[string]string{"LANG": "C.UTF-8", "TERM": "xterm"}
	last := demoTime
	if len(events) > 0 {
		last = events[len(events)-1].Time
	}
	a := newApp(ctx, Options{Env: func(k string) string { return env[k] }, now: func() time.Time { return last.Add(time.Hour) }})
	a.theme = theme.New(colorprofile.TrueColor, true, plot.Braille)
	a.show(newBench(a, "runs/demo", nil, newMailbox()))
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	if len(events) > 0 {
		a.Update(frameMsg{a.bench.box, events})
	}
	return a
}

// settle ends an invented run.
func settle(events []record.Event, state record.State, reason string) []record.Event {
	e := events[len(events)-1]
	end := record.Event{V: 1, Type: record.EventState, Time: e.Time, Seconds: e.Seconds,
		State: &record.StateChange{From: record.Running, To: state, Reason: reason}}
	return append(events, end)
}

func press(a *app, keys ...string) {
	for _, k := range keys {
		a.Update(keyMsg(k))
	}
}

// keyMsg makes the message of a key from its name.
func keyMsg(name string) tea.KeyPressMsg {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "backspace": tea.KeyBackspace, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp,
		"home": tea.KeyHome, "end": tea.KeyEnd}
	if name == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	if c, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: c}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// screen returns the characters of the present frame.
func screen(a *app) string {
	a.View()
	return a.canvas.Plain()
}
