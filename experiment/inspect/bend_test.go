package inspect

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// bent are the columns 1, x and max(0, x − c).
func bent(x []float64, c float64) *mat.Dense {
	out := mat.NewDense(len(x), 3, nil)
	for i, v := range x {
		out.SetRow(i, []float64{1, v, max(0, v-c)})
	}
	return out
}

// The line with a bend that is nearest to values is found: none of a fine grid, each by a regression of its own, is nearer.
func TestNearestBrokenLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for round := range 30 {
		n := 5 + rng.IntN(30)
		x, f := make([]float64, n), make([]float64, n)
		at, by := 100.0, rng.NormFloat64()
		for i := range x {
			at += 0.1 + rng.ExpFloat64()
			x[i] = at
			f[i] = float64(round%3)*by*math.Abs(at-110) + rng.NormFloat64() // of some, all is noise
		}
		place, change, left := newBroken(x).fit(f)
		var c mat.VecDense
		regress := func(c0 float64) float64 {
			b := bent(x, c0)
			must.OK(t, c.SolveVec(b, mat.NewVecDense(n, f)))
			var rest mat.VecDense
			rest.MulVec(b, &c)
			rest.SubVec(mat.NewVecDense(n, f), &rest)
			return mat.Dot(&rest, &rest)
		}
		if own := regress(place); math.Abs(own-left) > 1e-8*(1+own) || math.Abs(c.AtVec(2)-change) > 1e-6*(1+math.Abs(change)) {
			t.Errorf("%d: at %v %v is left and the slope changes by %v, a regression has %v and %v", round, place, left, change, own, c.AtVec(2))
		}
		least := math.Inf(1)
		for k := range 501 {
			least = min(least, regress(x[1]+(x[n-2]-x[1])*float64(k)/500))
		}
		if left > least+1e-8 || left < 0.9*least-0.1 || place < x[1] || place > x[n-2] {
			t.Errorf("%d: %v is left at %v of %v to %v, on a grid %v", round, left, place, x[1], x[n-2], least)
		}
	}
}

// Where all that is believed in bends at one place, the interval is that place, and the change of the slope has the mean
// and standard deviation of its coefficient; where the curve jumps by what noise does not explain, no bend is told.
func TestBendOfABelief(t *testing.T) {
	const n, c, noise = 60, 23.7, 0.5
	back := func(x float64) float64 { return 10 + 3*x }
	b := &bending{rows: n, noise: noise * noise, back: back}
	for i := range n {
		b.x = append(b.x, float64(i))
	}
	columns := bent(b.x, c)
	belief := func(jump float64) *vbks.Joint {
		var mean mat.VecDense
		mean.MulVec(columns, mat.NewVecDense(3, []float64{2, 0.05, -0.4}))
		var half, covariance mat.Dense
		half.Mul(columns, mat.NewDense(3, 3, []float64{0.3, 0, 0, 0.01, 0.02, 0, -0.02, 0.01, 0.03}))
		covariance.Mul(&half, half.T())
		j := &vbks.Joint{Covariance: covariance.RawMatrix().Data}
		for i := range n {
			v := mean.AtVec(i)
			if b.x[i] > c {
				v += jump
			}
			j.Mean = append(j.Mean, v)
		}
		return j
	}
	s := &datasets.Scaler{YScale: 7}
	e, ok := b.bend(record.Effect{Kind: record.EffectBend}, belief(0), s)
	if !ok {
		t.Fatal("no bend")
	}
	for _, v := range []float64{float64(e.Place.Low), float64(e.Place.Middle), float64(e.Place.High)} {
		if math.Abs(v-back(c)) > 1e-4 {
			t.Errorf("it bends at %v, want %v", v, back(c))
		}
	}
	sd := 7 * math.Sqrt(0.02*0.02+0.01*0.01+0.03*0.03) / 3
	if got := float64(e.Mean); math.Abs(got+0.4*7/3) > 4*sd/math.Sqrt(bendDraws) {
		t.Errorf("the slope changes by %v, want %v", got, -0.4*7/3)
	}
	if got := float64(e.SD); math.Abs(got/sd-1) > 0.1 {
		t.Errorf("standard deviation %v, want %v", got, sd)
	}
	if _, ok := b.bend(record.Effect{}, belief(0.3*noise), s); !ok {
		t.Error("a jump of a third of the noise is no jump")
	}
	if e, ok := b.bend(record.Effect{}, belief(6*noise), s); ok {
		t.Errorf("a jump of six times the noise bends at %v", e.Place)
	}
}

// The interval of a bend is that of the posterior of its place: for a broken line with noise of known size and flat priors,
// by a grid of places, each with the integral over the three coefficients.
func TestBendHasThePosteriorOfItsPlace(t *testing.T) {
	const n, c, noise = 80, 31.3, 1.0
	rng := rand.New(rand.NewPCG(8, 2))
	b := &bending{rows: n, noise: noise * noise, back: func(x float64) float64 { return x }}
	y := make([]float64, n)
	for i := range n {
		v := float64(i)
		b.x = append(b.x, v)
		y[i] = 0.1*v - 0.35*max(0, v-c) + noise*rng.NormFloat64()
	}
	var places, logs []float64
	j := &vbks.Joint{Mean: make([]float64, n), Covariance: make([]float64, n*n)}
	var means []*mat.VecDense
	var covariances []*mat.Dense
	for p := 2.0; p < n-2; p += 0.1 {
		x := bent(b.x, p)
		var square, inverse, cross mat.Dense
		square.Mul(x.T(), x)
		must.OK(t, inverse.Inverse(&square))
		cross.Mul(x, &inverse)
		var mean, rest mat.VecDense
		var covariance mat.Dense
		covariance.Mul(&cross, x.T())
		mean.MulVec(&covariance, mat.NewVecDense(n, y))
		rest.SubVec(mat.NewVecDense(n, y), &mean)
		covariance.Scale(noise*noise, &covariance)
		places, logs = append(places, p), append(logs, -mat.Dot(&rest, &rest)/(2*noise*noise)-math.Log(mat.Det(&square))/2)
		means, covariances = append(means, &mean), append(covariances, &covariance)
	}
	top, total := logs[0], 0.0
	for _, l := range logs {
		top = max(top, l)
	}
	for i := range logs {
		logs[i] = math.Exp(logs[i] - top)
		total += logs[i]
	}
	var ends [2]float64
	so := 0.0
	for i, p := range places {
		w := logs[i] / total
		if so < 0.025 && so+w >= 0.025 {
			ends[0] = p
		}
		if so < 0.975 && so+w >= 0.975 {
			ends[1] = p
		}
		so += w
		for a := range n {
			j.Mean[a] += w * means[i].AtVec(a)
		}
	}
	for i := range places {
		w := logs[i] / total
		for a := range n {
			for k := range n {
				off := (means[i].AtVec(a) - j.Mean[a]) * (means[i].AtVec(k) - j.Mean[k])
				j.Covariance[a*n+k] += w * (covariances[i].At(a, k) + off)
			}
		}
	}
	e, ok := b.bend(record.Effect{}, j, &datasets.Scaler{YScale: 1})
	if !ok {
		t.Fatal("no bend")
	}
	width := ends[1] - ends[0]
	if low, high := float64(e.Place.Low), float64(e.Place.High); math.Abs(low-ends[0]) > 0.15*width || math.Abs(high-ends[1]) > 0.15*width {
		t.Errorf("between %v and %v, the posterior has %v to %v", low, high, ends[0], ends[1])
	}
}

// Bends are of change points between straight lines along the column of the change alone.
func TestWhatBends(t *testing.T) {
	for expr, want := range map[string]bool{
		"CP(LIN+CONST,LIN+CONST)[a]":       false, // its lines are along both columns
		"CP(LIN[a]+CONST,LIN[a]+CONST)[a]": true, "CP(CONST,LIN[b])[b]": true, "CP(LIN[a],LIN[b])[a]": false, "CP(CONST,CONST)[a]": false,
		"CP(LIN[a],SE[a])[a]": false, "CP(LIN[a],CP(LIN[a],CONST)[a])[a]": false, "LIN[a]": false, "CP(LIN[a]*LIN[a],LIN[a])[a]": false,
	} {
		e, err := kernelspace.Parse(expr)
		must.OK(t, err)
		p, err := kernelspace.Compile(e.Canonical(), kernelspace.Options{Dim: 2, Columns: []string{"a", "b"}})
		must.OK(t, err)
		parts, err := p.Components()
		must.OK(t, err)
		if _, got := bends(&parts[0]); got != want {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
}
