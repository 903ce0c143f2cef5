package vbks

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/params"
)

// laplaceSettings make local ELBOs exact and volumes count.
func laplaceSettings(n int) Settings {
	s := quickSettings("collapsed")
	s.Evidence, s.Inducing, s.EvaluateEvery, s.Refine, s.Steps = "laplace", n, 1, 0, 60
	return s
}

// With Z = X the local ELBO and the volume are close to the integral over the
// hyperparameters, which quadrature finds.
func TestVolumeAgainstQuadrature(t *testing.T) {
	thorough.Unraced(t)
	for _, n := range []int{40, 160} {
		data := trainingSeries(17, n)
		tr := trainerOn(t, 1, nil, data, laplaceSettings(n), "SE")
		r := next(t, tr).Kernels[0]
		want := quadrature(tr, data, 14, 4, 4)
		t.Logf("n = %d: ELBO %.4f, volume %.4f, evidence %.4f", n, r.ELBO, r.Volume, want)
		if got := r.ELBO + r.Volume; math.Abs(got-want) > 0.15 {
			t.Errorf("n = %d: %.4f with a volume of %.4f, by quadrature %.4f", n, got, r.Volume, want)
		}
		if math.Abs(r.Volume) < 1 {
			t.Errorf("n = %d: a volume of %.4f proves nothing", n, r.Volume)
		}
	}
}

// quadrature is the log evidence of a trainer's only kernel, SE, by sums over a box about
// its mode, so wide in the logarithms of the variance, the length scale and in ρ.
func quadrature(tr *Trainer, data Training, width ...float64) float64 {
	k := tr.kernels[0]
	const steps = 60
	var logs []float64
	cell := 1.0
	for _, w := range width {
		cell *= w / steps
	}
	at := func(entry, place int) float64 {
		return k.state.Free[entry] + width[entry]*((float64(place)+0.5)/steps-0.5)
	}
	for b := range steps {
		joint := jointSE(k.program, k.prior, at(1, b), data.X, data.Y, tr.floor)
		for a := range steps {
			for c := range steps {
				logs = append(logs, joint(at(0, a), at(2, c))+math.Log(cell))
			}
		}
	}
	return logSum(logs)
}

// The belief and the ranking are of local ELBOs with volumes, which are those of the
// evaluations without.
func TestBeliefCountsVolumes(t *testing.T) {
	data := trainingSeries(18, 60)
	exprs := []string{"SE", "LIN+SE", "RQ", "SE+SE"}
	s := laplaceSettings(12)
	s.Errors, s.Evidence = "ignore", "mode"
	without := trainerOn(t, 1, nil, data, s, exprs...)
	plain := next(t, without)
	for name := range without.Checkpoint() {
		if strings.HasSuffix(name, "/volume") {
			t.Errorf("%s without being asked", name)
		}
	}
	s.Evidence = "laplace"
	tr := trainerOn(t, 2, nil, data, s, exprs...)
	e := next(t, tr)
	sum, weights := 0.0, make([]float64, len(exprs))
	for i, k := range e.Kernels {
		if plain.Kernels[i].Volume != 0 || k.ELBO != plain.Kernels[i].ELBO {
			t.Errorf("%s: ELBO %v and volume %v with \"mode\", %v with \"laplace\"", k.ID, plain.Kernels[i].ELBO, plain.Kernels[i].Volume, k.ELBO)
		}
		if k.Volume == 0 {
			t.Errorf("%s has no volume", k.ID)
		}
		weights[i] = math.Exp(k.ELBO + k.Volume - e.Kernels[0].ELBO - e.Kernels[0].Volume)
		sum += weights[i]
	}
	for i, k := range e.Kernels {
		if math.Abs(k.Bayes-weights[i]/sum) > 1e-9 {
			t.Errorf("%s: %v by Bayes' rule, want %v", k.ID, k.Bayes, weights[i]/sum)
		}
	}
}

// Resumed between rungs, with kernels left out, a run goes on alike, also where its
// units are done elsewhere; volumes are those of then.
func TestVolumesAreKept(t *testing.T) {
	thorough.Unraced(t)
	t.Parallel()
	s := laplaceSettings(0)
	s.FirstInducing, s.MostInducing, s.Starts, s.Steps, s.Transplants = 8, 16, 1, 10, false
	data, exprs := roughSeries(52, 60), []string{"SE", "LIN", "SE+SE", "MATERN12", "RQ", "LIN*LIN", "CONST", "CONST+LIN", "LIN+LIN"}
	tr := trainerOn(t, 2, nil, data, s, exprs...)
	e := &elsewhere{t: t, remote: trainerOn(t, 1, nil, data, s, exprs...), phases: map[phase]int{}}
	tr.perform = e.do
	next(t, tr)
	tr.perform = doHere
	if e.phases[phaseEvidence] == 0 {
		t.Error("no evidence was sought elsewhere")
	}
	tr.told, tr.kernels[0].crude = false, true // as if more inducing inputs could tell more
	other := resumed(t, tr, s)
	if other.kernels[0].volume != tr.kernels[0].volume || !slices.Contains(other.Last().Kernels[0].Flags, StillMoving) {
		t.Errorf("resumed: %+v", other.Last().Kernels[0])
	}
	tr = resumed(t, other, s)
	next(t, tr)
	next(t, other)
	same(t, "on the second rung", other, tr)
	same(t, "resumed there", resumed(t, tr, s), tr)
	left := 0
	for i, k := range tr.kernels {
		if k.left == 0 {
			continue
		}
		left++
		own := k.ends[len(k.ends)-1]
		if own.elbo != k.elbo+k.volume || k.volume == 0 {
			t.Errorf("%s was left out at %v, local ELBO %v and volume %v", k.id, own.elbo, k.elbo, k.volume)
		}
		if r := tr.Last().Kernels[i]; !r.LeftOut || r.Volume != 0 {
			t.Errorf("%s: %+v", k.id, r)
		}
	}
	if left == 0 {
		t.Fatal("no kernel was left out")
	}
}

// Integrated by draws the evidence is that of quadrature, also of so few rows that the
// density is far from normal.
func TestDrawsAgainstQuadrature(t *testing.T) {
	thorough.Unraced(t)
	for _, n := range []int{12, 40} {
		data := trainingSeries(17, n)
		s := laplaceSettings(n)
		s.Evidence, s.Bound = drawsEvidence, tightBound
		tr := trainerOn(t, 1, nil, data, s, "SE")
		r := next(t, tr).Kernels[0]
		k := tr.kernels[0]
		want, laplace := quadrature(tr, data, 22, 16, 14), laplaceOf(t, data, n)
		t.Logf("n = %d: %.4f by draws, %.4f by quadrature, %.4f by curvature", n, r.ELBO+r.Volume, want, laplace)
		if got := r.ELBO + r.Volume; math.Abs(got-want) > 0.25 || len(k.modes) == 0 {
			t.Errorf("n = %d: %.4f by draws about %d modes, by quadrature %.4f", n, got, len(k.modes), want)
		}
	}
}

// Integrated by draws the evidence of kernels of which parts may be anything is in the mean that of
// plain draws from the prior, which know nothing of modes. It was 1.3 nats too low when
// the densest modes were taken for the heaviest.
func TestDrawsAgainstPrior(t *testing.T) {
	thorough.Unraced(t)
	const n = 20
	exprs := []string{"PER+PER+SE", "PER+SE", "PER+RQ+SE", "LIN*PER+LIN*RQ"}
	mean := 0.0
	seeds := 2 / thorough.OneIn(t, 2, "data sets")
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(7, 3+seed))
		data := Training{Dim: 1}
		for range n {
			x := 6 * rng.Float64()
			data.X, data.Y = append(data.X, x), append(data.Y, math.Sin(0.9*x)+0.2*rng.NormFloat64())
		}
		s := laplaceSettings(n)
		s.Evidence, s.Bound = drawsEvidence, tightBound
		tr := trainerOn(t, 1, nil, data, s, exprs...)
		got := next(t, tr).Kernels
		for i, k := range tr.kernels {
			want, se := fromPrior(k.program, k.prior, data, tr.floor, 10_000)
			off := got[i].ELBO + got[i].Volume - want
			t.Logf("%s: %+.3f nats off, ± %.3f", k.id, off, se)
			if se > 0.5 || math.Abs(off) > 1.6+3*se {
				t.Errorf("%s: %.3f nats off what draws from the prior find, ± %.3f", k.id, off, se)
			}
			mean += off / float64(seeds*len(exprs))
		}
	}
	if math.Abs(mean) > 0.9 {
		t.Errorf("%.3f nats off in the mean", mean)
	}
}

// fromPrior is the log evidence by the mean likelihood of so many draws from the prior.
func fromPrior(p *kernelspace.Program, pr prior, data Training, floor float64, draws int) (nats, se float64) {
	_, logs := priorDraws(p, pr, data, floor, draws)
	sum, square, top := 0.0, 0.0, slices.Max(logs)
	for _, v := range logs {
		w := math.Exp(v - top)
		sum, square = sum+w, square+w*w
	}
	return top + math.Log(sum/float64(draws)), math.Sqrt(square) / sum
}

// priorDraws are so many draws of the free vector from the prior, with their log likelihoods.
func priorDraws(p *kernelspace.Program, pr prior, data Training, floor float64, draws int) (frees [][]float64, logs []float64) {
	rng := rand.New(rand.NewPCG(3, 4))
	n := len(data.Y)
	logs, frees = make([]float64, draws), make([][]float64, draws)
	l, z := make([]float64, n*n), make([]float64, n)
	for d := range logs {
		free := make([]float64, len(pr.mean))
		frees[d] = free
		for i := range free {
			free[i] = pr.mean[i] + rng.NormFloat64()/math.Sqrt(pr.prec[i])
		}
		raw, noise := params.Raw(p, free, floor)
		logs[d] = -float64(n) / 2 * math.Log(2*math.Pi)
		for i := range n {
			for j := range i + 1 {
				v := p.Eval(raw, data.X[i:i+1], data.X[j:j+1], i == j)
				if i == j {
					v += noise
				}
				for c := range j {
					v -= l[i*n+c] * l[j*n+c]
				}
				if i > j {
					l[i*n+j] = v / l[j*n+j]
				} else {
					l[i*n+i] = math.Sqrt(max(v, 1e-300))
				}
			}
			v := data.Y[i]
			for c := range i {
				v -= l[i*n+c] * z[c]
			}
			z[i] = v / l[i*n+i]
			logs[d] -= z[i]*z[i]/2 + math.Log(l[i*n+i])
		}
		if math.IsNaN(logs[d]) {
			logs[d] = math.Inf(-1)
		}
	}
	return frees, logs
}

// laplaceOf is the evidence of SE by the curvature at its mode.
func laplaceOf(t *testing.T, data Training, n int) float64 {
	tr := trainerOn(t, 1, nil, data, laplaceSettings(n), "SE")
	r := next(t, tr).Kernels[0]
	return r.ELBO + r.Volume
}

// Modes are kept: resumed, a run whose evidence is integrated goes on alike, and what an
// earlier evaluation has found counts in the next.
func TestModesAreKept(t *testing.T) {
	thorough.AnyInstructions(t)
	s := laplaceSettings(8)
	s.Evidence, s.Bound, s.Refine = drawsEvidence, tightBound, 2
	tr := trainerOn(t, 2, nil, trainingSeries(52, 60), s, "SE", "RQ", "PER", "PER+SE")
	next(t, tr)
	kept := 0
	for _, k := range tr.kernels {
		kept += len(k.modes)
	}
	if kept < 4 {
		t.Fatalf("%d modes of three kernels", kept)
	}
	other := resumed(t, tr, s)
	for range 2 {
		next(t, tr)
		next(t, other)
		same(t, "with modes", other, tr)
		other = resumed(t, tr, s)
	}
	for _, k := range tr.kernels {
		for _, m := range k.modes[1:] {
			if m.Value > k.modes[0].Value+1e-9 || m.Value < k.modes[0].Value-modeNats {
				t.Errorf("%s: a mode of %.3f beside %.3f", k.id, m.Value, k.modes[0].Value)
			}
		}
	}
}

// What an evaluation has integrated the next one takes over, as long as the density is the same
// and has no modes that are new.
func TestIntegralsAreTakenOver(t *testing.T) {
	for _, changed := range []bool{false, true} {
		s := laplaceSettings(8)
		s.Evidence, s.Bound, s.Refine, s.Starts, s.Transplants = drawsEvidence, tightBound, 2, 1, false
		tr := trainerOn(t, 1, nil, trainingSeries(52, 60), s, "SE", "RQ")
		next(t, tr)
		next(t, tr)
		const mark = 5
		before := make([]float64, len(tr.kernels))
		var between [][2][]float64
		for i, k := range tr.kernels {
			before[i] = k.volume
			between = append(between, k.between)
			k.volume += mark // what is taken over has it
			if changed {
				k.elbo += 0.01 // as if the rows had been weighed in another way
			}
		}
		taken := 0
		for i, k := range next(t, tr).Kernels {
			if math.Abs(k.Volume-before[i]-mark) < 1e-12 {
				taken++
				if got := tr.kernels[i].between; got[0] == nil || !reflect.DeepEqual(got, between[i]) {
					t.Errorf("%s: between %v after %v", k.ID, got, between[i])
				}
			} else if math.Abs(k.Volume-before[i]) > 1 {
				t.Errorf("%s: a volume of %.3f after %.3f", k.ID, k.Volume, before[i])
			}
		}
		if taken > 0 == changed {
			t.Errorf("of another density: %v; %d of %d integrals are taken over", changed, taken, len(before))
		}
	}
}

// What hyperparameters lie between with 95 % of the belief is what it is by plain draws from the prior, which know nothing
// of modes: of a length, a place and the noise. A checkpoint has it, evaluations tell it as values.
func TestIntervalsAgainstPrior(t *testing.T) {
	thorough.AnyInstructions(t)
	thorough.Unraced(t)
	rng := rand.New(rand.NewPCG(8, 1))
	data := Training{Dim: 1}
	for range 24 {
		x := 6 * rng.Float64()
		data.X, data.Y = append(data.X, x), append(data.Y, 2*math.Copysign(1, x-2.5)+0.6*math.Sin(x)+0.4*rng.NormFloat64())
	}
	exprs := []string{"SE", "CP(CONST,CONST)"}
	s := laplaceSettings(24)
	s.Evidence, s.Bound = drawsEvidence, tightBound
	drawn := trainerOn(t, 1, nil, data, s, exprs...)
	s.Evidence, s.PredictTheta = modeEvidence, laplaceTheta
	plain := trainerOn(t, 1, nil, data, s, exprs[0]) // whose density is nearly normal
	frees, logs := map[string][][]float64{}, map[string][]float64{}
	for _, k := range drawn.kernels {
		frees[k.id], logs[k.id] = priorDraws(k.program, k.prior, data, drawn.floor, 12_000)
	}
	for _, c := range []struct {
		name string
		tr   *Trainer
		off  float64 // shares of an interval
	}{{"integrated", drawn, .25}, {"of the draws that predictions average over", plain, .35}} {
		tr := c.tr
		e := next(t, tr)
		same(t, "intervals", resumed(t, tr, tr.settings), tr)
		for i, k := range tr.kernels {
			logs, frees := logs[k.id], frees[k.id]
			top := slices.Max(logs)
			for j := range k.prior.mean {
				weights, xs := make([]float64, len(logs)), make([]float64, len(logs))
				for d := range logs {
					weights[d], xs[d] = math.Exp(logs[d]-top), frees[d][j]
				}
				stat.SortWeighted(xs, weights)
				low, high := stat.Quantile(.025, stat.Empirical, xs, weights), stat.Quantile(.975, stat.Empirical, xs, weights)
				got := [2]float64{k.between[0][j], k.between[1][j]}
				t.Logf("%s, %s, entry %d: %.2f to %.2f, by the prior %.2f to %.2f", c.name, k.id, j, got[0], got[1], low, high)
				if math.Max(math.Abs(got[0]-low), math.Abs(got[1]-high)) > c.off*(high-low) {
					t.Errorf("%s, %s, entry %d: %.2f to %.2f, by draws from the prior %.2f to %.2f", c.name, k.id, j, got[0], got[1], low, high)
				}
			}
			r := &e.Kernels[i]
			for j, at := range k.program.Free {
				if v := r.Params[at]; math.Abs(math.Log(v.Between[0])-k.between[0][j])+math.Abs(math.Log(v.Between[1])-k.between[1][j]) > 1e-9 {
					t.Errorf("%s: %s.%s between %v", c.name, k.id, v.Name, v.Between)
				}
			}
			if b := r.NoiseBetween; !(b[0] < r.Noise && r.Noise < b[1]) {
				t.Errorf("%s: %s: a noise of %g between %v", c.name, k.id, r.Noise, b)
			}
		}
	}
}

// A run in which no kernel can be computed says so.
func TestDrawsOfFailedKernels(t *testing.T) {
	s := laplaceSettings(8)
	s.Evidence = drawsEvidence
	data := trainingSeries(3, 30)
	for i := range data.Y {
		data.Y[i] = math.NaN()
	}
	tr, err := New(t.Context(), onCPU(1), data, candidates(t, "SE", "LIN"), []string{"x"}, s)
	if err == nil {
		_, err = tr.Next(t.Context())
	}
	if err == nil || strings.Contains(err.Error(), "internal") {
		t.Errorf("error %v", err)
	}
}

// Where the number of rows asks for an optimiser that has no volumes this is said.
func TestVolumesWithManyRows(t *testing.T) {
	s := laplaceSettings(8)
	s.Optimizer = "auto"
	tr := trainerOn(t, 1, nil, trainingSeries(3, collapsedRows+1), s, "SE")
	if got := tr.Settings(); got.Optimizer != "natural" || got.Evidence != "mode" {
		t.Errorf("%s, %s", got.Optimizer, got.Evidence)
	}
	want := `optimise.evidence = "laplace" has no effect with optimise.optimizer = "natural", which the number of rows asks for`
	if !slices.ContainsFunc(tr.notices, func(n Notice) bool { return n.Text == want }) {
		t.Errorf("notices %v", tr.notices)
	}
}
