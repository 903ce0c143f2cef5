//go:build cuda

package cuda_test

import (
	"testing"

	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/device/trial"
)

// TestAgreesWithCPU compares objective and gradients of every kernel of K144 with those of
// the CPU, and where 50 steps of Adam and 50 natural ones lead, one by one and at once; only a few
// kernels make the steps with -short, 20 of them, since host threads are slow.
func TestAgreesWithCPU(t *testing.T) {
	pretend(t, fake.Options{})
	agreesWithCPU(t, cuda.GenerateNever)
}

func agreesWithCPU(t *testing.T, g cuda.Generate) {
	programs, err := trial.Space("K144")
	if err != nil {
		t.Fatal(err)
	}
	dev, reference := open(t, cuda.Options{Generate: g}), cpu.New(cpu.Options{Lanes: 1})
	all := trial.Steps{Programs: programs, Inducing: 16, Batch: 32, Rows: 300, Count: 50, Jitter: 1e-5}
	natural := all
	natural.Natural = true
	parts := []trial.Steps{all, natural}
	if testing.Short() {
		some := all
		all.Count, some.Count, some.Programs = 1, 20, nil
		for _, k := range []int{0, 1, 2, 3, 50, 90, 143} {
			some.Programs = append(some.Programs, programs[k])
		}
		natural = some
		natural.Natural = true
		parts = []trial.Steps{all, some, natural}
	}
	for _, c := range parts {
		a, err := trial.Agree(t.Context(), dev, reference, c)
		if err != nil {
			t.Error(err)
		}
		if !a.Leaps {
			t.Error("such small steps are not made at once")
		}
		t.Logf("%d kernels, %d steps, natural: %v: at most %.1e apart in the objective, %.1e in gradients, %.1e in the end, %.1e made at once",
			len(c.Programs), c.Count, c.Natural, a.Objective, a.Gradient, a.Stepped, a.AtOnce)
	}
}
