package ui

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"kestrel/datasets"
	"kestrel/experiment"
	"kestrel/kernelspace"
	"kestrel/ui/plot"
	"kestrel/ui/theme"
	"kestrel/vbks"
)

var demoTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// demoStart describes an invented run over a named set of kernels.
func demoStart(t testing.TB, set string, planned int) *experiment.Start {
	t.Helper()
	space, err := kernelspace.Set(set)
	if err != nil {
		t.Fatal(err)
	}
	s := &experiment.Start{
		Name: "demo", Seed: 7, Device: "cpu (test)", DeviceKind: "cpu", Lanes: 2, Inducing: 16, Planned: planned,
		Data: &datasets.Summary{Name: "demo", Source: "synthetic", Train: 1000, Test: 200, Kernel: "PER*LIN*RQ",
			Columns: []datasets.ColumnSummary{{Name: "x", Role: "input", Min: -10, Max: 10}, {Name: "y", Role: "target"}}},
	}
	for _, e := range space {
		info := experiment.KernelInfo{ID: e.Canonical().ID(), Name: e.Canonical().String(), Weight: 1}
		for i, l := range e.Canonical().Leaves() {
			info.Params = append(info.Params, experiment.ParamInfo{Name: fmt.Sprintf("%s#%d.lengthscale", l.Base(), i+1), Column: "x",
				Unit: "m", Scale: 1})
		}
		info.Params = append(info.Params, experiment.ParamInfo{Name: "noise_variance", Unit: "°C²", Scale: 1})
		s.Kernels = append(s.Kernels, info)
	}
	return s
}

// demoEvaluation invents what is known after evaluation i: the last kernel of
// K12's first eleven gains on the others.
func demoEvaluation(s *experiment.Start, i int) *experiment.Evaluation {
	n := len(s.Kernels)
	e := &experiment.Evaluation{Index: i, Planned: s.Planned, Proportion: math.Min(1, float64(i)/10), RowsSeen: min(1000, 100*i)}
	weight := make([]float64, n)
	var total float64
	for k := range n {
		weight[k] = math.Exp(-0.08 * float64(k*i) * (1 + 0.3*math.Sin(float64(k+i))))
		total += weight[k]
	}
	for k := range n {
		id := s.Kernels[(k+n-2)%n].ID // the last but one of the space leads
		p := experiment.Number(weight[k] / total)
		f := &experiment.Fit{Posterior: p, Bayes: p * p, ELBO: experiment.Number(1000 + 50*i - 12*k), SE: experiment.Number(k % 3),
			Rank: k + 1, Tied: k < 2}
		for j := range s.Kernels[(k+n-2)%n].Params {
			f.Params = append(f.Params, experiment.Number(0.5+float64(j)))
		}
		e.Kernels = append(e.Kernels, experiment.Kernel{ID: id, Status: vbks.Live, Fit: f})
	}
	// In the space's order.
	byID := map[string]experiment.Kernel{}
	for _, k := range e.Kernels {
		byID[k.ID] = k
	}
	for k := range n {
		e.Kernels[k] = byID[s.Kernels[k].ID]
	}
	return e
}

// demoEvents invents a run of so many evaluations that has not ended.
func demoEvents(t testing.TB, set string, evaluations int) []experiment.Event {
	t.Helper()
	s := demoStart(t, set, 12)
	at := func(sec float64) experiment.Event {
		return experiment.Event{V: 1, Time: demoTime.Add(time.Duration(sec * float64(time.Second))), Seconds: experiment.Number(sec)}
	}
	start, running := at(0), at(0)
	start.Type, start.Start = experiment.EventStarted, s
	running.Type, running.State = experiment.EventState,
		&experiment.StateChange{From: experiment.Ready, To: experiment.Running, Reason: "started"}
	out := []experiment.Event{start, running}
	for i := 1; i <= evaluations; i++ {
		e, m := at(3*float64(i)), at(3*float64(i)+0.1)
		e.Type, e.Evaluation = experiment.EventEvaluation, demoEvaluation(s, i)
		m.Type = experiment.EventMetrics
		for j, name := range []string{experiment.MethodAverage, experiment.MethodSingle} {
			m.Metrics = append(m.Metrics, experiment.Metric{Evaluation: i, Proportion: e.Evaluation.Proportion, Seconds: m.Seconds, Method: name,
				Kernels: 12, RMSE: experiment.Number(0.03 + 0.1/float64(i+j)), NLPD: 1, MAE: 0.02, Coverage95: 0.95, TestRows: 200})
		}
		out = append(out, e, m)
	}
	return out
}

// testApp is a workbench without a terminal, showing a followed run of some
// events.
func testApp(t testing.TB, w, h int, events []experiment.Event) *app {
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
func settle(events []experiment.Event, state experiment.State, reason string) []experiment.Event {
	e := events[len(events)-1]
	end := experiment.Event{V: 1, Type: experiment.EventState, Time: e.Time, Seconds: e.Seconds,
		State: &experiment.StateChange{From: experiment.Running, To: state, Reason: reason}}
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
