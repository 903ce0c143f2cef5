package vbks

import (
	"bytes"
	"context"
	"encoding/gob"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// encoded is a value as it would be sent to another machine; gob keeps every bit
// of a number.
func encoded(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sent is v after the way to another machine.
func sent[T any](t *testing.T, v T) (out T) {
	t.Helper()
	if err := gob.NewDecoder(bytes.NewReader(encoded(t, v))).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// elsewhere has the units of a trainer done twice: where they are, and by the
// worker of another trainer, which has made the same site for itself and knows
// nothing but what was encoded. The outcomes must be equal bit for bit, and what
// comes back from there is what the run goes on with.
type elsewhere struct {
	t      *testing.T
	remote *Trainer
	mu     sync.Mutex
	phases map[phase]int
}

func (e *elsewhere) do(ctx context.Context, u *unit) error {
	e.mu.Lock() // there is one worker there
	defer e.mu.Unlock()
	e.phases[u.order.Phase]++
	before := encoded(e.t, u.order)
	tasks := encoded(e.t, u.tasks)
	learned := snapshotOf(e.remote)

	o, site := sent(e.t, u.order), e.remote.site()
	site.gate = u.gate
	if err := site.place(o); err != nil {
		return err
	}
	there := newUnit(ctx, site, o, e.remote.workers[0], sent(e.t, u.tasks))
	if err := there.work(ctx); err != nil {
		return err
	}
	if err := u.work(ctx); err != nil {
		return err
	}
	if !bytes.Equal(encoded(e.t, u.order), before) || !bytes.Equal(encoded(e.t, u.tasks), tasks) {
		e.t.Errorf("%s: a unit has written into its order or tasks", u.order.Phase)
	}
	if !reflect.DeepEqual(snapshotOf(e.remote), learned) {
		e.t.Errorf("%s: a unit has changed its machine's trainer", u.order.Phase)
	}
	back := sent(e.t, there.outcomes)
	if !reflect.DeepEqual(back, u.outcomes) {
		e.t.Errorf("%s: elsewhere another outcome:\n%+v\nnot\n%+v", u.order.Phase, back, u.outcomes)
	}
	u.outcomes = back
	return nil
}

// Every phase of every optimiser finds the same on another machine that is sent
// the order and the tasks, and a run whose units are all done there is the same
// bit for bit.
func TestUnitsAreDoneElsewhere(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	seen := map[phase]int{}
	for _, name := range []string{
		"collapsed point", "collapsed full", "natural point", "natural diagonal", "adam point", "collapsed windows",
	} {
		optimizer, theta, _ := strings.Cut(name, " ")
		data, s := trainingSeries(31, 60), quickSettings(optimizer)
		s.Hyperparameters, s.EvaluateEvery, s.Steps, s.ELBORows, s.Starts = theta, 0.5, 6, 40, 3
		s.Refine = 1
		if theta == "windows" {
			s.Hyperparameters, s.Errors, s.Inducing, s.FirstInducing, s.MostInducing = "point", "integrate", 0, 8, 8
		}
		if name == "collapsed point" {
			s.Evidence, s.Bound = drawsEvidence, tightBound
		}
		exprs := []string{"SE", "LIN+SE", "PER"}
		wanted := trainerOn(t, 2, nil, data, s, exprs...)
		want := train(t, wanted)

		tr, remote := trainerOn(t, 2, nil, data, s, exprs...), trainerOn(t, 1, nil, data, s, exprs...)
		e := &elsewhere{t: t, remote: remote, phases: map[phase]int{}}
		tr.perform = e.do
		if got := train(t, tr); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: another run elsewhere", name)
		}
		x := []float64{-2, 0, 1.5}
		p, err := tr.Predict(t.Context(), x, PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if here, err := wanted.Predict(t.Context(), x, PredictOptions{}); err != nil || !reflect.DeepEqual(p, here) {
			t.Errorf("%s: other predictions elsewhere (%v)", name, err)
		}
		if _, err := tr.Components(t.Context(), "LIN+SE", x); err != nil {
			t.Fatal(err)
		}
		for p, n := range e.phases {
			seen[p] += n
		}
	}
	all := []phase{
		phaseSearch,
		phaseTransplant,
		phaseTheta,
		phaseTune,
		phaseLearn,
		phaseEvidence,
		phaseIntegral,
		phaseWindows,
		phaseSpread,
		phasePredict,
		phaseComponents,
	}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, slices.Sorted(slices.Values(all))) {
		t.Errorf("phases %q, want %q", got, all)
	}
}

// What is sent has no field that an encoding would leave out, but for where
// rows of their own lie on the device, which place finds anew.
func TestNothingIsLostOnTheWay(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(v reflect.Type)
	look = func(v reflect.Type) {
		if seen[v] {
			return
		}
		seen[v] = true
		switch v.Kind() {
		case reflect.Pointer, reflect.Slice:
			look(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				f := v.Field(i)
				if !f.IsExported() {
					if v != reflect.TypeFor[order]() || f.Name != "at" && f.Name != "windowed" {
						t.Errorf("%v.%s would not be sent", v, f.Name)
					}
					continue
				}
				look(f.Type)
			}
		case reflect.String, reflect.Bool, reflect.Int, reflect.Int32, reflect.Uint8, reflect.Float64:
		default:
			t.Errorf("%v is not a plain value", v)
		}
	}
	for _, v := range []any{order{}, task{}, outcome{}} {
		look(reflect.TypeOf(v))
	}
	if !seen[reflect.TypeFor[State]()] {
		t.Error("states are not looked at")
	}
}
