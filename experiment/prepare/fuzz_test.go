package prepare

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/words/wordstest"
	"example.com/kestrel/vbks"
)

// FuzzResume changes one array of a checkpoint of a real run: it is refused
// with a reason, or the trainer stands there with finite numbers.
func FuzzResume(f *testing.F) {
	c, err := config.Load("quickstart", []config.Override{
		{Key: "data.outputs", Value: "30"}, {Key: "data.test", Value: "5"}, {Key: "kernels.expressions", Value: "SE, LIN+RQ"},
		{Key: "sparse.inducing", Value: "4"},
		{Key: "optimise.starts", Value: "1"}, {Key: "schedule.evaluate_every", Value: "1"}, {Key: "schedule.refine", Value: "0"},
		{Key: "schedule.steps", Value: "3"}, {Key: "optimise.optimizer", Value: "natural"}, {Key: "device.lanes", Value: "1"},
	})
	if err != nil {
		f.Fatal(err)
	}
	j, err := Prepare(f.Context(), c)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { j.Close() })
	if _, err := j.Trainer.Next(f.Context()); err != nil {
		f.Fatal(err)
	}
	arrays := j.Trainer.Checkpoint()
	names := slices.Sorted(maps.Keys(arrays))
	for i := range names {
		f.Add(uint8(i), uint16(0), -1.0, uint8(0))
		f.Add(uint8(i), uint16(1), 1e300, uint8(1))
		f.Add(uint8(i), uint16(2), math.NaN(), uint8(2))
		f.Add(uint8(i), uint16(3), 0.5, uint8(3))
	}
	f.Fuzz(func(t *testing.T, array uint8, at uint16, value float64, how uint8) {
		changed := maps.Clone(arrays)
		name := names[int(array)%len(names)]
		a := changed[name]
		a.Data = slices.Clone(a.Data)
		switch how % 5 {
		case 0, 1:
			if len(a.Data) > 0 {
				a.Data[int(at)%len(a.Data)] = value
			}
		case 2:
			a.Data = a.Data[:int(at)%(len(a.Data)+1)]
		case 3:
			a.Data = append(a.Data, value)
		case 4:
			delete(changed, name)
		}
		if how%5 != 4 {
			changed[name] = a
		}
		s := j.Subject
		trainer, err := vbks.Resume(t.Context(), j.dev, s.Train, s.Space, s.Columns, s.Settings, changed)
		if err != nil {
			wordstest.CheckMessage(t, err, 0)
			return
		}
		e := trainer.Last()
		if e == nil {
			return
		}
		for i := range e.Kernels {
			k := &e.Kernels[i]
			if k.Status == vbks.Live && (math.IsNaN(k.Posterior) || math.IsNaN(k.ELBO) || math.IsInf(k.ELBO, 0)) {
				t.Fatalf("%s %d: %+v", name, at, k)
			}
		}
		if !reflect.DeepEqual(trainer.Checkpoint()["kernels"], arrays["kernels"]) {
			t.Fatal("other kernels")
		}
	})
}
