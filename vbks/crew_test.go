package vbks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks/wire"
)

// shelves is where states lie, of all machines of a test.
type shelves struct {
	mu sync.Mutex
	of map[string][]byte
	t  *Trainer // has those of the run
}

func (s *shelves) Put(name string, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[name] = b
	return nil
}

func (s *shelves) Get(_ context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.of[name]; ok {
		return b, nil
	}
	if b := s.t.Shelved(name); b != nil {
		return b, nil
	}
	return nil, errors.New("no state " + name)
}

// remotes are a crew of sites that know of the run what is encoded for them and nothing else.
type remotes struct {
	sites  []*Site
	size   int // of units, in kernels
	phases map[string]int
	swept  int
	late   func() *Site // joins when kernels are heard
}

func (f *remotes) Each(ctx context.Context, p *Phase) error {
	f.phases[p.Name]++
	if p.Name == string(phaseHear) {
		f.sites = append(f.sites, f.late())
	}
	header, name := p.Header()
	for _, s := range f.sites {
		if err := s.Stand(bytes.Clone(header)); err != nil {
			return err
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, len(f.sites))
	for w, s := range f.sites {
		wg.Go(func() {
			for from := w * f.size; from < p.Len(); from += len(f.sites) * f.size {
				var at []int
				for i := from; i < min(from+f.size, p.Len()); i++ {
					at = append(at, i)
				}
				unit, _ := p.Pack(name, at)
				back, err := s.Do(ctx, s.Lanes()[0], unit)
				if err == nil {
					err = p.Take(ctx, name, at, back)
				}
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	wg.Wait()
	f.swept += len(p.Sweep())
	return errors.Join(errs...)
}

// crewed makes a trainer whose units so many sites do, with own its own one among them.
func crewed(t *testing.T, workers, size int, own bool, data Training, s Settings, exprs ...string) (*Trainer, *remotes) {
	tr := trainerOn(t, 2, nil, data, s, exprs...)
	return tr, crewOf(t, tr, workers, size, own)
}

// crewOf has so many sites do a trainer's units.
func crewOf(t *testing.T, tr *Trainer, workers, size int, own bool) *remotes {
	shelf := &shelves{of: map[string][]byte{}, t: tr}
	f := &remotes{size: size, phases: map[string]int{}}
	tr.SetCrew(f, shelf)
	tr.states.least = 64
	made := func(group int) *Site {
		var dev device.Device = onCPU(1)
		t.Cleanup(func() { dev.Close() })
		if group > 0 {
			dev = regrouped{dev, group}
		}
		site, err := NewSite(dev, tr.Foundation(), shelf, nil)
		if err != nil {
			t.Fatal(err)
		}
		site.states.least = 64
		return site
	}
	f.late = func() *Site { return made(0) }
	for i := range workers {
		if own && i == 0 {
			f.sites = append(f.sites, tr.OwnSite())
			continue
		}
		group := 0
		if i == 1 {
			group = 2
		}
		site := made(group)
		if i == 2 {
			site.states.most = 1 // nothing is at hand for long
		}
		f.sites = append(f.sites, site)
	}
	return f
}

// A run whose units machines do that are sent headers, foundations and tasks is the same
// bit for bit, however many they are and however large units.
func TestCrewsMakeTheSameRun(t *testing.T) {
	thorough.AnyInstructions(t)
	t.Parallel()
	loaded, phases := 0, map[string]int{}
	for turn, name := range []string{"collapsed point", "collapsed diagonal", "natural point", "natural diagonal", "adam point",
		"adam diagonal", "ladder", "rough"} {
		optimizer, theta, _ := strings.Cut(name, " ")
		if theta == "" {
			optimizer, theta = "natural", "point"
		}
		data, s := trainingSeries(31, 40), quickSettings(optimizer)
		s.Hyperparameters, s.EvaluateEvery, s.Steps, s.ELBORows, s.Starts, s.Refine = theta, 0.5, 4, 25, 2, 0
		if name == "collapsed point" {
			s.Evidence, s.Bound, s.Errors = drawsEvidence, tightBound, "integrate"
		}
		if name == "ladder" {
			s.Optimizer, s.Inducing, s.FirstInducing, s.MostInducing, s.AllRows = "collapsed", 0, 4, 16, 100
		}
		if name == "rough" {
			_, data = smoothAndRough(t, 160, 0.05)
			s.Optimizer, s.Inducing, s.FirstInducing, s.MostInducing, s.AllRows, s.Steps = "collapsed", 0, 8, 1000, 1000, 20
		}
		exprs := []string{"SE", "LIN+SE", "PER", "SE*LIN"}
		here := trainerOn(t, 2, nil, data, s, exprs...)
		want := train(t, here)
		x := []float64{-2, 0, 1.5}
		predicted, err := here.Predict(t.Context(), x, PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		type division struct {
			workers, size int
			own           bool
		}
		divisions := []division{{1, 4, false}, {2, 1, true}, {3, 2, false}}
		if name != "natural point" { // whose states are large and many: one each is enough
			divisions = divisions[turn%3 : turn%3+1]
		}
		for _, c := range divisions {
			tr, crew := crewed(t, c.workers, c.size, c.own, data, s, exprs...)
			what := fmt.Sprintf("%s, %+v", name, c)
			if got := train(t, tr); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: another run", what)
			}
			if !reflect.DeepEqual(snapshotOf(tr), snapshotOf(here)) {
				t.Errorf("%s: something else is learned", what)
			}
			if got, err := tr.Predict(t.Context(), x, PredictOptions{}); err != nil || !reflect.DeepEqual(got, predicted) {
				t.Errorf("%s: other predictions (%v)", what, err)
			}
			for _, s := range crew.sites {
				loaded += s.Loaded()
			}
			maps.Copy(phases, crew.phases)
			if n := len(tr.states.at); n > len(exprs) {
				t.Errorf("%s: %d states are kept of %d kernels, %d were given up", what, n, len(exprs), crew.swept)
			}
		}
	}
	if loaded == 0 {
		t.Error("no state came from a shelf")
	}
	for _, p := range []phase{phaseSearch, phaseTransplant, phaseTheta, phaseTune, phaseLearn, phaseEvidence, phaseHear, phaseIntegral,
		phaseSpread, phasePredict} {
		if phases[string(p)] == 0 {
			t.Errorf("no %s", p)
		}
	}
}

// A crew goes on with what a checkpoint holds.
func TestCrewsResume(t *testing.T) {
	t.Parallel()
	data, s := trainingSeries(33, 60), quickSettings("natural")
	want, first := trainerOn(t, 1, nil, data, s, "SE", "PER"), trainerOn(t, 1, nil, data, s, "SE", "PER")
	train(t, want)
	next(t, first)
	dev := onCPU(1)
	t.Cleanup(func() { dev.Close() })
	tr, err := Resume(t.Context(), dev, data, candidates(t, "SE", "PER"), []string{"x"}, s, first.Checkpoint())
	if err != nil {
		t.Fatal(err)
	}
	shelf := &shelves{of: map[string][]byte{}, t: tr}
	f := &remotes{size: 1, phases: map[string]int{}}
	tr.SetCrew(f, shelf)
	tr.states.least = 64
	there := onCPU(1)
	t.Cleanup(func() { there.Close() })
	site, err := NewSite(there, tr.Foundation(), shelf, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.sites = []*Site{site}
	train(t, tr)
	if !reflect.DeepEqual(tr.Checkpoint(), want.Checkpoint()) {
		t.Error("another run after a checkpoint")
	}
}

// What a growing space needs machines compute as the run itself would, also where growth is ordered later and
// where they join a run from a checkpoint whose kernels are not those of the foundation.
func TestCrewsOfGrowingSpaces(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	t.Parallel()
	partly, some := partlyGrowing()
	for _, c := range []struct {
		name string
		data Training
		set  func(*Settings)
	}{
		{"on some rows first", some, func(s *Settings) { *s = partly }},
		{"collapsed", trainingSeries(1, 60), func(s *Settings) { s.Evidence = drawsEvidence }},
		{"natural", trainingSeries(1, 60), func(s *Settings) { s.Optimizer, s.Growth.Leaves = "natural", 3 }},
		{"more inducing inputs", fastSeries(), func(s *Settings) { s.Inducing, s.FirstInducing, s.Growth.Live = 0, 4, 10 }},
		{"late ones closely", trainingSeries(1, 60), func(s *Settings) { s.AllRows = 60 }},
		{"by order", trainingSeries(1, 60), func(s *Settings) { s.Growth.On = false }},
	} {
		s := growingSettings("collapsed")
		s.Growth.Leaves, s.Starts = 2, 1
		c.set(&s)
		order := func(tr *Trainer, i int) {
			if i == 1 && !s.Growth.On {
				if err := tr.Reoptimize(Change{Grow: GrowOn}); err != nil {
					t.Fatal(err)
				}
			}
		}
		here := trainerOn(t, 2, nil, c.data, s, growingFrom...)
		tr, crew := crewed(t, 2, 2, true, c.data, s, growingFrom...)
		came, i, phases := 0, 0, map[string]int(nil)
		for ; !here.Done(); i++ {
			order(here, i)
			order(tr, i)
			want := next(t, here)
			if got := next(t, tr); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, evaluation %d: another one%s", c.name, want.Index, firstDifference([]Evaluation{*got}, []Evaluation{*want}))
			}
			if came += len(want.Entered); i != 3 {
				continue
			}
			tr = resumedGrowing(t, tr, s)
			f, err := wire.Decode[foundation](tr.Foundation())
			if err != nil || !slices.Equal(f.Space, growingFrom) {
				t.Errorf("%s: the foundation's kernels are %v (%v)", c.name, f.Space, err)
			}
			phases = crew.phases
			crew = crewOf(t, tr, 3, 1, false)
		}
		if !reflect.DeepEqual(tr.Checkpoint(), here.Checkpoint()) {
			t.Errorf("%s: something else is learned", c.name)
		}
		if i < 5 || came < 6 || phases[string(phaseSearch)] < 4 || crew.phases[string(phaseSearch)] < i-4 {
			t.Errorf("%s: %d evaluations, %d kernels came, phases %v, then %v", c.name, i, came, phases, crew.phases)
		}
	}
}

// What does not belong to a phase is refused, and nothing of it is kept.
func TestForeignReportsAreRefused(t *testing.T) {
	data, s := trainingSeries(35, 40), quickSettings("collapsed")
	tr, f := crewed(t, 1, 1, false, data, s, "SE", "PER")
	var seen bool
	tr.crew = crewFunc(func(ctx context.Context, p *Phase) error {
		header, name := p.Header()
		if !seen {
			seen = true
			site := f.sites[0]
			if err := site.Stand(header); err != nil {
				t.Fatal(err)
			}
			unit, _ := p.Pack(name, []int{0})
			back, err := site.Do(ctx, 0, unit)
			if err != nil {
				t.Fatal(err)
			}
			for what, err := range map[string]error{
				"another header":   p.Take(ctx, "other", []int{0}, back),
				"another unit":     p.Take(ctx, name, []int{0, 1}, back),
				"a cut report":     p.Take(ctx, name, []int{0}, back[:len(back)-1]),
				"a unit for a run": p.Take(ctx, name, []int{0}, unit),
			} {
				if !errors.Is(err, wire.ErrDamaged) {
					t.Errorf("%s: %v", what, err)
				}
			}
			foreign, _ := p.Pack("other", []int{0})
			if _, err := site.Do(ctx, 0, foreign); !errors.Is(err, wire.ErrDamaged) {
				t.Errorf("a unit of another header: %v", err)
			}
			if p.done != 0 || p.round.outcomes[p.tasks[0].Kernel].Best.X != nil {
				t.Error("something of it was kept")
			}
			p.Fail(0, "three workers went down with it")
			return f.Each(ctx, &Phase{Name: p.Name, round: p.round, order: p.order, tasks: p.tasks[1:]})
		}
		return f.Each(ctx, p)
	})
	e := next(t, tr)
	failed := 0
	for _, k := range e.Kernels {
		if k.Status == Failed && strings.Contains(k.Reason, "went down") {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d kernels have failed: %+v", failed, e.Kernels)
	}
}

type crewFunc func(context.Context, *Phase) error

func (f crewFunc) Each(ctx context.Context, p *Phase) error { return f(ctx, p) }

// fill gives every field a value of its own; slices have two entries, those of numbers
// 64, so that they are a matrix.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*n % 200))
	case reflect.Float64:
		v.SetFloat(math.Sqrt(float64(*n)))
	case reflect.String:
		v.SetString(fmt.Sprint(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		size := 2
		if v.Type().Elem().Kind() == reflect.Float64 {
			size = 64
		}
		v.Set(reflect.MakeSlice(v.Type(), size, size))
		for i := range size {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(v.Field(i), n)
			}
		}
	default:
		panic(v.Kind())
	}
}

func roundTrip[T any](t *testing.T) {
	t.Helper()
	var v T
	n := 0
	fill(reflect.ValueOf(&v).Elem(), &n)
	got, err := wire.Decode[T](wire.Encode(&v))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*got, v) {
		t.Errorf("%T is not what it was", v)
	}
}

// Every field of what is sent comes back, also such as are yet to be added.
func TestEveryFieldIsSent(t *testing.T) {
	roundTrip[header](t)
	roundTrip[parcel](t)
	roundTrip[report](t)
	roundTrip[foundation](t)
	roundTrip[State](t)
}

// Damaged messages are refused; they neither panic nor take much memory.
func FuzzSite(f *testing.F) {
	tr := trainerOn(f, 1, nil, trainingSeries(3, 20), quickSettings("collapsed"), "SE")
	f.Add(tr.Foundation())
	f.Add(wire.Encode(tr.header(&order{Phase: phaseSearch, Rows: 20})))
	f.Add(wire.Encode(&parcel{Tasks: []task{{}}, Away: []shelved{{Name: "x"}}}))
	dev := onCPU(1)
	f.Cleanup(func() { dev.Close() })
	site, err := NewSite(dev, tr.Foundation(), &shelves{t: tr}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := wire.Decode[foundation](b)
		_, errHeader := wire.Decode[header](b)
		_, errUnit := site.Do(t.Context(), 0, b)
		if err == nil && (errHeader == nil || errUnit == nil) {
			t.Error("a message is taken for two")
		}
	})
}
