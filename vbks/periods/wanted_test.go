package periods

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// repeating is the covariance of cycles of a period, with a length and a memory.
func repeating(d, period, length, memory float64) float64 {
	s := math.Sin(math.Pi*d/period) / length
	return math.Exp(-2*s*s - d*d/(2*memory*memory))
}

// wants is ααᵀ − K̂⁻¹ for what has been drawn, at inputs that all are changed by a factor, entry by entry.
func wants(t *testing.T, cov *mat.SymDense, y []float64, of func(i, j int) float64) *mat.SymDense {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		t.Fatal("not positive definite")
	}
	w := mat.NewSymDense(len(y), nil)
	if err := chol.InverseTo(w); err != nil {
		t.Fatal(err)
	}
	var alpha mat.VecDense
	alpha.MulVec(w, mat.NewVecDense(len(y), y))
	for i := range y {
		for j := range i + 1 {
			w.SetSym(i, j, (alpha.AtVec(i)*alpha.AtVec(j)-w.At(i, j))*of(i, j))
		}
	}
	return w
}

// A function with details that are much shorter than rows are apart, whose cycles are alike over two or three and
// that grows, is white noise of growing variance but for pairs of rows some cycles apart. The covariance of that noise
// wants its period among three, others being a half or twice as long, in ten draws of ten; where nothing repeats what is wanted is chance.
func TestWantedSeesWhatRepeatsForAShortTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	const n, span, period, length, memory = 400, 20, 0.41, 0.06, 1.0
	least, most := math.Inf(1), 0.0
	for range 10 {
		x := scattered(rng, n, span)
		grows := func(i, j int) float64 { return (x[i] / span) * (x[j] / span) }
		repeats, without := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				repeats.SetSym(i, j, grows(i, j)*repeating(x[i]-x[j], period, length, memory))
			}
			repeats.SetSym(i, i, repeats.At(i, i)+0.01)
			without.SetSym(i, i, grows(i, i)+0.01)
		}
		var chol mat.Cholesky
		var lower mat.TriDense
		chol.Factorize(repeats)
		chol.LTo(&lower)
		got := Wanted(t.Context(), x, wants(t, without, draw(rng, &lower), grows), true, false)
		if len(got) < 3 || !slices.ContainsFunc(got[:3], func(w Want) bool { return math.Abs(w.Period/period-1) < 0.02 && w.Length <= 0.1 }) {
			t.Errorf("%+v wanted", got)
			continue
		}
		least = math.Min(least, got[0].Gain)
		white := make([]float64, n)
		for i := range white {
			white[i] = math.Sqrt(without.At(i, i)) * rng.NormFloat64()
		}
		most = math.Max(most, Wanted(t.Context(), x, wants(t, without, white, grows), true, false)[0].Gain)
	}
	t.Logf("gains of %.1f nats at least, of up to %.1f where nothing repeats", least, most)
	if most > 15 { // of some 20,000 periods, lengths and memories
		t.Errorf("what does not repeat gains %.1f nats", most)
	}
}

// The score at what is wanted of each length and memory, from the definition, pair by pair, is above that of other periods; the
// square is about what the score over its variance is, with the information ½ tr (K̂⁻¹D)², and rows in any order are the same.
func TestWantedByPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 4))
	const n, noise = 300, 0.1
	x := scattered(rng, n, 10)
	cov, lower := rough(x, 2, noise)
	y := draw(rng, lower)
	for i := range y {
		y[i] += 0.7*math.Exp(2*math.Cos(2*math.Pi*x[i]/0.3)-2) + math.Sqrt(noise)*rng.NormFloat64()
	}
	w := wants(t, cov, y, func(int, int) float64 { return 1 })
	score := func(period, length, memory float64) (sum float64) {
		for i := range n {
			for j := range i {
				sum += w.At(i, j) * repeating(x[i]-x[j], period, length, memory)
			}
		}
		return sum
	}
	for _, want := range Wanted(t.Context(), x, w, true, false) {
		own, above := score(want.Period, want.Length, want.Memory), 0
		for range 100 {
			if other := 1 / (0.2 + 7*rng.Float64()); math.Abs(other/want.Period-1) > 0.1 && score(other, want.Length, want.Memory) > own {
				above++
			}
		}
		if above > 2 {
			t.Errorf("%+v: %d of 100 other periods have a greater score", want, above)
		}
	}
	best := Wanted(t.Context(), x, w, false, false)[0]
	if math.Abs(best.Period/0.3-1) > 0.02 {
		t.Errorf("%+v wanted, of a period of .3", best)
	}
	var inverse mat.SymDense
	var chol mat.Cholesky
	chol.Factorize(cov)
	if err := chol.InverseTo(&inverse); err != nil {
		t.Fatal(err)
	}
	d := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			d.SetSym(i, j, repeating(x[i]-x[j], best.Period, best.Length, math.Inf(1)))
		}
	}
	var kd, kdkd mat.Dense
	kd.Mul(&inverse, d)
	kdkd.Mul(&kd, &kd)
	if square := score(best.Period, best.Length, math.Inf(1)) / (0.5 * mat.Trace(&kdkd)); best.Square/square < 0.2 || best.Square/square > 5 {
		t.Errorf("%+v, the score over the information is %.3g", best, square)
	}
}

// Where inputs are few or equal, or the context has ended, nothing is wanted.
func TestNothingWanted(t *testing.T) {
	x := make([]float64, 20)
	if got := Wanted(t.Context(), x, mat.NewSymDense(20, nil), true, true); len(got) > 0 {
		t.Errorf("%+v of equal inputs", got)
	}
}
