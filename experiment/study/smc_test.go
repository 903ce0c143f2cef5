package study

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
)

// smc estimates log ∫ p(y|θ)p(θ)dθ by n particles from the prior, a normal density, that are led to the
// posterior by powers of the likelihood, with so many Metropolis moves at each (Del Moral,
// Doucet and Jasra 2006, J. R. Statist. Soc. B 68). value is log p(y|θ)p(θ).
func smc(value func(x []float64) float64, mean, sd []float64, n, moves int, rng *rand.Rand) (nats, se float64) {
	f := len(mean)
	type particle struct {
		x    []float64
		like float64
		pri  float64
	}
	like := func(x []float64) (float64, float64) {
		v := value(x)
		p := 0.0
		for i := range x {
			d := (x[i] - mean[i]) / sd[i]
			p -= d*d/2 + math.Log(sd[i]) + 0.5*math.Log(2*math.Pi)
		}
		if math.IsNaN(v) {
			return math.Inf(-1), p
		}
		return v - p, p
	}
	ps := make([]particle, n)
	for i := range ps {
		x := make([]float64, f)
		for j := range x {
			x[j] = mean[j] + sd[j]*rng.NormFloat64()
		}
		l, p := like(x)
		ps[i] = particle{x, l, p}
	}
	t := 0.0
	for t < 1 {
		// The next power leaves six tenths of the particles effective.
		lo, hi := t, 1.0
		ess := func(u float64) float64 {
			top := math.Inf(-1)
			for _, p := range ps {
				top = math.Max(top, p.like)
			}
			s, q := 0.0, 0.0
			for _, p := range ps {
				w := math.Exp((u - t) * (p.like - top))
				s += w
				q += w * w
			}
			return s * s / q
		}
		next := 1.0
		if ess(1) < 0.6*float64(n) {
			for range 60 {
				mid := (lo + hi) / 2
				if ess(mid) < 0.6*float64(n) {
					hi = mid
				} else {
					lo = mid
				}
			}
			next = hi
		}
		top := math.Inf(-1)
		for _, p := range ps {
			top = math.Max(top, p.like)
		}
		w := make([]float64, n)
		s, q := 0.0, 0.0
		for i, p := range ps {
			w[i] = math.Exp((next - t) * (p.like - top))
			s += w[i]
			q += w[i] * w[i]
		}
		nats += (next-t)*top + math.Log(s/float64(n))
		se += q/s/s - 1/float64(n)
		out := make([]particle, n)
		u, at, c := rng.Float64(), 0, w[0]/s
		for i := range out {
			for (float64(i)+u)/float64(n) > c && at < n-1 {
				at++
				c += w[at] / s
			}
			out[i] = particle{slices.Clone(ps[at].x), ps[at].like, ps[at].pri}
		}
		ps = out
		t = next
		for m := range moves {
			for i := range ps {
				y := slices.Clone(ps[i].x)
				switch m % 4 {
				case 0, 2: // along what two others differ by
					a, b := rng.IntN(n), rng.IntN(n)
					g := 2.38 / math.Sqrt(2*float64(f))
					for j := range y {
						y[j] += g*(ps[a].x[j]-ps[b].x[j]) + 1e-4*sd[j]*rng.NormFloat64()
					}
				case 1: // one or two entries, likewise
					a, b := rng.IntN(n), rng.IntN(n)
					j, k := rng.IntN(f), rng.IntN(f)
					y[j] += 1.2 * (ps[a].x[j] - ps[b].x[j]) * rng.Float64()
					if k != j {
						y[k] += 1.2 * (ps[a].x[k] - ps[b].x[k]) * rng.Float64()
					}
				case 3: // one entry, by any distance
					j := rng.IntN(f)
					y[j] += sd[j] * math.Exp(-7*rng.Float64()) * rng.NormFloat64()
				}
				l, p := like(y)
				if math.Log(rng.Float64()) < t*(l-ps[i].like)+p-ps[i].pri {
					ps[i] = particle{y, l, p}
				}
			}
		}
	}
	return nats, math.Sqrt(se)
}

// Integrals over hyperparameters against sequential Monte Carlo from the prior, of exact evidence:
// minutes a data set, asked for by KESTREL_SMC="1 2 3", the seeds.
func TestIntegralsAgainstSMC(t *testing.T) {
	seeds := strings.Fields(os.Getenv("KESTREL_SMC"))
	if len(seeds) == 0 {
		t.Skip(`KESTREL_SMC="1 2 3", seeds of data sets, is not set`)
	}
	c, err := NewCalibration("K12", "same", Range{100, 150}, []config.Override{})
	if err != nil {
		t.Fatal(err)
	}
	square, compared := 0.0, 0
	for _, text := range seeds {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.draw(t.Context(), seed)
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.fit(t.Context(), s, seed, 1)
		if err != nil {
			t.Fatal(err)
		}
		j, err := newJudge(m)
		if err != nil {
			t.Fatal(err)
		}
		ours, reference, best := map[string]float64{}, map[string]float64{}, math.Inf(-1)
		for i, known := range j.last().Kernels {
			if known.Fit == nil {
				continue
			}
			k, p, err := j.kernel(i)
			if err != nil {
				t.Fatal(err)
			}
			mean, sd, _, _ := k.Prior(p)
			nats, se := smc(func(x []float64) float64 {
				v, ok, err := k.At(x)
				if err != nil || !ok {
					return math.NaN()
				}
				return v
			}, mean, sd, 800, 10, rand.New(rand.NewPCG(seed, uint64(i))))
			ours[known.ID], reference[known.ID] = float64(known.Fit.ELBO+known.Fit.Volume), nats
			best = math.Max(best, nats)
			t.Logf("seed %d, %d rows, %s: %.2f, by SMC %.2f ± %.2f", seed, len(s.y), known.ID, ours[known.ID], nats, se)
		}
		for id, nats := range reference {
			if nats > best-7 {
				square, compared = square+(ours[id]-nats)*(ours[id]-nats), compared+1
			}
		}
	}
	rms := math.Sqrt(square / float64(compared))
	t.Logf("%d kernels within 7 nats of the best: %.2f nats off (root mean square)", compared, rms)
	if !(rms < 1.5) {
		t.Errorf("%.2f nats off", rms)
	}
}
