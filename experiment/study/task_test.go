package study

import (
	"context"
	"errors"
	"reflect"
	"testing"

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
