package study

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/random"
)

// Searched from nothing a kernel that data were drawn from, or one of fewer leaves, is as good on 512 of the rows as climbed from what
// they were drawn with, about, where sharp or multiplied periods hide its hyperparameters.
func TestPlantedKernelsAreSearchedAlone(t *testing.T) {
	if os.Getenv("KESTREL_LONG") == "" {
		t.Skip("KESTREL_LONG is not set")
	}
	const rows, near = 512, 4.0
	for _, c := range []struct {
		bases  string
		seed   uint64
		drawn  int
		kernel string
	}{
		{"SE,RQ,LIN,PER", 10, 1, "(PER*LIN+PER+PER)*(RQ+SE)"}, // .129 with a length of .013
		{"MATERN32,LIN,PER", 20, 3, "PER*PER+PER*LIN"},        // .604 and .146 multiplied
		{"SE,RQ,LIN,PER", 8, 1, "(PER+PER)*RQ*RQ"},
		{"SE,RQ,LIN,PER", 4, 14, "(RQ*RQ+PER)*RQ"},
		{"MATERN32,LIN,PER", 19, 1, "(PER*LIN+MATERN32)*(PER+LIN)+MATERN32"},
	} {
		p, err := NewPlanted(strings.Split(c.bases, ","), Range{4, 6}, Range{500, 2000}, nil)
		must.OK(t, err)
		d := drawing{Rows: p.Rows, Kernel: func(rng *rand.Rand) kernelspace.Expr {
			return p.grammar.Draw(rng, p.Leaves.Fewest+rng.IntN(p.Leaves.Most-p.Leaves.Fewest+1))
		}}
		rng := random.Stream(c.seed, "planted in "+p.Names(), 0)
		var s *drawnSet
		for range c.drawn {
			s, err = d.draw(t.Context(), rng)
			must.OK(t, err)
		}
		if s.kernel.ID() != c.kernel {
			t.Fatalf("%s was drawn, not %s", s.kernel.ID(), c.kernel)
		}
		set, err := p.plant(t.Context(), s, c.seed, 1)
		must.OK(t, err)
		exact, program, err := set.exact(s.kernel)
		must.OK(t, err)
		raw, _ := params.Raw(program, s.free, 0)
		worth := func(guesses map[string][]float64) float64 {
			sub, settings := *set.subject, set.subject.Settings
			sub.Train = sub.Train.UpTo(rows)
			settings.Inducing, settings.Evidence = rows, "laplace"
			settings.Growth.On, settings.EvaluateEvery, settings.Refine = false, 1, 0
			dev, err := set.place()
			must.OK(t, err)
			tr, err := learn(t.Context(), dev, &sub, []vbks.Candidate{{Expr: s.kernel, Weight: 1}}, settings, guesses)
			must.OK(t, err)
			k := &tr.Last().Kernels[0]
			return k.ELBO + k.Volume
		}
		from, alone := worth(map[string][]float64{s.kernel.ID(): exact.Free(raw, s.variance)}), worth(nil)
		t.Logf("seed %d, %s: %.1f nats from nothing, %.1f from what it was drawn with", c.seed, c.kernel, alone, from)
		if alone < from-near {
			t.Errorf("seed %d, %s: %.1f nats from nothing, %.1f from what it was drawn with", c.seed, c.kernel, alone, from)
		}
		must.OK(t, set.close())
	}
}
