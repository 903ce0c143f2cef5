package ui

import (
	"math"
	"testing"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/prepare"
)

// While a run is being prepared its data are drawn below what is waited for, once they are
// there; what keys cannot do is said, and help is of the waiting.
func TestTheDataAreDrawnWhileARunIsPrepared(t *testing.T) {
	a := testApp(t, 80, 24, nil)
	a.bench = nil
	a.wait("loading sales")
	d := &datasets.Dataset{Dim: 2, Inputs: []datasets.Column{{Name: "price", Unit: "€"},
		{Name: "day", Unit: "d", Time: true, Origin: demoTime}},
		Target: datasets.Column{Name: "sales", Unit: "pieces"}}
	for i := range 200 {
		d.X = append(d.X, 9, float64(i))
		d.Y = append(d.Y, 50+20*math.Sin(float64(i)/9))
		if i < 160 {
			d.Train = append(d.Train, int32(i))
		} else {
			d.Test = append(d.Test, int32(i))
		}
	}
	a.step.Store(prepare.Step{Doing: "finding out which forecasts better", Of: "trial", Done: 2, Total: 10, Note: "without: none"})
	a.Update(tickMsg{})
	mustNotShow(t, screen(a), "Data: ")
	a.sketch.Store(inspect.SketchOf(d, 100))
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		a.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		mustShow(t, screen(a), "Please wait: loading sales", "trial 2 of 10", "without: none", "Data: sales over day",
			"to learn from", "held out", "pieces", demoTime.Format("2006"), "q quit")
	}
	golden(t, "waiting-data", screen(a)+"\n")
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 14})
	mustShow(t, screen(a), "Please wait: loading sales", "trial 2 of 10")
	mustNotShow(t, screen(a), "Data: ")

	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	say := func(key tea.KeyPressMsg, want string) {
		t.Helper()
		cmd, _ := a.key(key)
		if cmd == nil {
			t.Fatalf("%s says nothing", key)
		}
		a.Update(cmd())
		mustShow(t, screen(a), want, "Data: sales over day")
	}
	say(tea.KeyPressMsg{Code: 'L', Text: "L"}, "other runs can be looked at once this one has been prepared")
	say(tea.KeyPressMsg{Code: 'z', Mod: tea.ModCtrl}, "no suspending: the run is prepared in this program")
	press(a, "?")
	mustShow(t, screen(a), "Help: please wait", "trial")
	mustNotShow(t, screen(a), "launcher")

	a.wait("loading another")
	if a.sketch.Load() != nil {
		t.Error("the data of the run before are still there")
	}
}

// Data without rows or inputs have no chart.
func TestNoSketchOfNothing(t *testing.T) {
	if inspect.SketchOf(&datasets.Dataset{Dim: 1}, 10) != nil || inspect.SketchOf(&datasets.Dataset{Y: []float64{1}}, 10) != nil {
		t.Error("there is nothing to be drawn")
	}
}

// They are those of the run, without being read twice.
func TestThePreparedRunShowsItsData(t *testing.T) {
	d := beginWorking(t, longConfig(t))
	if s, r := d.a.sketch.Load(), d.a.bench.hist.Start; s == nil || s.Points.Unseen != r.Data.Train || s.Points.Tests != r.Data.Test ||
		s.Input.Name != r.Inputs()[0].Name {
		t.Errorf("%+v", s)
	}
}
