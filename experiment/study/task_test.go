package study

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/series/seriestest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks/wire"
)

// The row of a seed that another machine makes is that of this one, but for the seconds.
func TestSeedsMadeElsewhere(t *testing.T) {
	c := configtest.Small(t, "data.source=synthetic", "data.kernel=PER*LIN", "data.outputs=40", "kernels.expressions=SE,LIN,PER*LIN",
		"schedule.refine=0")
	v, err := FindVariant("iii")
	must.OK(t, err)
	s, err := caseOf(c.Name, c, v)
	must.OK(t, err)
	crew := seriestest.New(t, map[string]func(context.Context, *series.Order) (series.Result, error){SeedTask: DoSeed})
	for seed, times := range map[uint64]int{3: 1, 5: 2} {
		want, err := s.Run(t.Context(), seed, times, nil)
		must.OK(t, err)
		got, err := s.RunBy(t.Context(), crew, seed, times)
		must.OK(t, err)
		got.Seconds = want.Seconds
		if a, b := wire.Encode(got), wire.Encode(want); !reflect.DeepEqual(a, b) { // NaN is not equal
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if crew.Done[SeedTask] != 2 {
		t.Errorf("%d made elsewhere", crew.Done[SeedTask])
	}
	for _, body := range [][]byte{nil, wire.Encode(&seedOrder{Variant: "none"}), wire.Encode(&seedOrder{Variant: "i", Config: "["}),
		wire.Encode(&seedOrder{Variant: "i", Config: "[data]\nsource = \"csv\"\n"})} {
		if _, err := DoSeed(t.Context(), &series.Order{Body: body, Device: "cpu", Lanes: 1}); err == nil {
			t.Errorf("%q is done", body)
		}
	}
	other := seriestest.New(t, map[string]func(context.Context, *series.Order) (series.Result, error){
		SeedTask: func(context.Context, *series.Order) (series.Result, error) {
			return series.Result{Body: wire.Encode(&Row{Seed: 4, Figure: s.Figure, Variant: "iii"})}, nil
		}})
	if row, err := s.RunBy(t.Context(), other, 3, 1); !errors.Is(err, wire.ErrDamaged) {
		t.Errorf("another seed's: %+v, %v", row, err)
	}
}

// What other studies make of a seed elsewhere is what they make here, but for what a clock says.
func TestOtherStudiesMadeElsewhere(t *testing.T) {
	crew := seriestest.New(t, map[string]func(context.Context, *series.Order) (series.Result, error){
		CalibrationTask: DoCalibration, GapsTask: DoGaps})
	var set []config.Override
	for _, s := range []string{"sparse.inducing=4", "optimise.starts=1", "schedule.refine=0", "optimise.transplants=false",
		"schedule.steps=3"} {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		set = append(set, o)
	}
	c, err := NewCalibration("K12", "same", Range{20, 25}, set)
	must.OK(t, err)
	want, err := c.Run(t.Context(), 2, 1)
	must.OK(t, err)
	got, err := c.RunBy(t.Context(), crew, 2)
	must.OK(t, err)
	got.Seconds = want.Seconds
	if !bytes.Equal(wire.Encode(got), wire.Encode(want)) {
		t.Errorf("%+v, want %+v", got, want)
	}
	v, err := FindVariant("iii")
	must.OK(t, err)
	s, err := caseOf("small", configtest.Small(t, "name=small", "data.source=synthetic", "data.kernel=LIN", "data.outputs=30",
		"kernels.expressions=SE,LIN", "schedule.refine=0", "sparse.inducing=8"), v)
	must.OK(t, err)
	g := &Gaps{s, 2}
	rows, err := g.Run(t.Context(), 3)
	must.OK(t, err)
	others, err := g.RunBy(t.Context(), crew, 3)
	must.OK(t, err)
	for i, r := range others {
		r.CPU, r.CPUBest = rows[i].CPU, rows[i].CPUBest
	}
	if !bytes.Equal(wire.Encode(&gapRows{rows}), wire.Encode(&gapRows{others})) {
		t.Errorf("%+v, want %+v", others, rows)
	}
	if crew.Done[CalibrationTask] != 1 || crew.Done[GapsTask] != 1 {
		t.Errorf("made elsewhere: %v", crew.Done)
	}
}
