package inspect

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/datasets"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/random"
)

const (
	bendPoints = 200  // values of a column at which a line that bends is asked
	bendDraws  = 1000 // of the curve, each with the place at which it bends
	fewestBent = 5    // values that a bend can be between
)

// bending is a question where a line bends.
type bending struct {
	x     []float64 // values of the column, standardised, ascending, each once
	back  func(x float64) float64
	rows  int
	noise float64 // variance, standardised
}

// bends reports whether a component goes over from one straight line to another, or to or from a level, along a column.
func bends(c *kernelspace.Component) (column int, ok bool) {
	column, lines := -1, 0
	for i := range c.Program.Instrs {
		switch in := &c.Program.Instrs[i]; in.Op {
		case kernelspace.OpStep:
			if column >= 0 {
				return column, false
			}
			column = in.Cols[0]
		case kernelspace.OpLIN: // behind the step
			if len(in.Cols) != 1 || in.Cols[0] != column {
				return column, false
			}
			lines++
		case kernelspace.OpConst, kernelspace.OpAdd, kernelspace.OpChange:
		default:
			return column, false
		}
	}
	return column, c.Expr.IsChange() && lines > 0
}

// bend asks for the curve along the column.
func (a *asking) bend(noise float64) (q question) {
	sorted := slices.Compact(slices.Sorted(slices.Values(a.values)))
	n := min(bendPoints, len(sorted))
	if n < fewestBent || !(noise > 0) {
		return q
	}
	b := &bending{rows: len(a.values), noise: noise, back: func(x float64) float64 { return a.Scaler.InputBack(a.column, x) }}
	for i := range n {
		b.x = append(b.x, sorted[(2*i+1)*len(sorted)/(2*n)])
	}
	a.effect.Kind = record.EffectBend
	return question{x: a.points(b.x...), bending: b, effect: a.effect}
}

// bend tells where a curve bends and by how much its slope changes there: of draws of the curve, as what is believed of
// it has them together, the line with one bend that is nearest to each (a belief is told by what is nearest to its
// draws; Woody, Carvalho and Murray 2021, J. Comput. Graph. Statist. 30). The place and width of the kernel's change are
// no answer: a gradual change whose middle lies far behind the bend fits as well, for lines that need not meet there.
//
// ok is false where the expected curve is none of that kind, by what it would cost in nats to put the line in its place.
// A jump has a place, which counts twice (Zhang and Siegmund 2007, Biometrics 63), and a size, and the change a width:
// 4 · ½ log N of them are chance.
func (b *bending) bend(e record.Effect, j *vbks.Joint, s *datasets.Scaler) (_ record.Effect, ok bool) {
	n := len(b.x)
	br := newBroken(b.x)
	_, _, left := br.fit(j.Mean)
	if cost := left * float64(b.rows) / float64(n) / (2 * b.noise); !(cost <= 2*math.Log(float64(b.rows))) {
		return e, false
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, j.Covariance), true) {
		return e, false
	}
	var root mat.Dense
	eigen.VectorsTo(&root)
	root.Apply(func(_, k int, v float64) float64 { return v * math.Sqrt(max(0, eigen.RawValues()[k])) }, &root)
	rng := random.Stream(1, "bends", 0)
	places, changes := make([]float64, bendDraws), make([]float64, bendDraws)
	z, f := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for d := range bendDraws {
		for i := range n {
			z.SetVec(i, rng.NormFloat64())
		}
		f.MulVec(&root, z)
		f.AddVec(f, mat.NewVecDense(n, j.Mean))
		places[d], changes[d], _ = br.fit(f.RawVector().Data)
	}
	slices.Sort(places)
	at := func(share float64) files.Number { return files.Number(b.back(places[int(share*bendDraws)])) }
	e.Place = &record.Bend{Low: at(0.025), Middle: at(0.5), High: at(0.975)}
	mean, square := 0.0, 0.0
	for _, v := range changes {
		mean += v / bendDraws
	}
	for _, v := range changes {
		square += (v - mean) * (v - mean) / (bendDraws - 1)
	}
	unit := b.back(1) - b.back(0)
	e.Mean, e.SD = files.Number(s.SD(mean)/unit), files.Number(s.SD(math.Sqrt(square))/unit)
	return e, true
}

// broken fits lines that bend once, at any place, by least squares.
type broken struct {
	x      []float64 // ascending, about their mean
	middle float64   // this
	square float64   // Σ x²
	// Of a place c between x[k] and x[k+1] what max(0, x − c) has beside all straight lines has the square
	// q[0] + q[1]c + q[2]c².
	q [][3]float64
}

func newBroken(x []float64) *broken {
	n := len(x)
	b := &broken{x: make([]float64, n), q: make([][3]float64, n)}
	for _, v := range x {
		b.middle += v / float64(n)
	}
	for i, v := range x {
		b.x[i] = v - b.middle
		b.square += b.x[i] * b.x[i]
	}
	count, sum, square := 0.0, 0.0, 0.0 // of x behind c
	for k := n - 2; k >= 0; k-- {
		v := b.x[k+1]
		count, sum, square = count+1, sum+v, square+v*v
		b.q[k] = [3]float64{
			square - sum*sum/float64(n) - square*square/b.square,
			-2*sum + 2*count*sum/float64(n) + 2*sum*square/b.square,
			count - count*count/float64(n) - sum*sum/b.square,
		}
	}
	return b
}

// fit returns where the line nearest to f bends, with two x or more before and behind it, by how much its slope changes
// there, and the sum of squares that it leaves. With r what the nearest straight line leaves, a bend at c explains
//
//	(Σ_{x>c} (x − c) r)² / (q₀ + q₁c + q₂c²),
//
// which between two x is greatest at one of them or where its derivative, linear in c but for a factor, is 0.
func (b *broken) fit(f []float64) (place, change, left float64) {
	n := len(f)
	mean, slope := 0.0, 0.0
	for i, v := range f {
		mean += v / float64(n)
		slope += v * b.x[i] / b.square
	}
	r := make([]float64, n)
	for i, v := range f {
		r[i] = v - mean - slope*b.x[i]
		left += r[i] * r[i]
	}
	most, total := -1.0, left
	along, count := b.x[n-1]*r[n-1], r[n-1] // Σ x r and Σ r behind c
	for k := n - 3; k >= 1; k-- {
		along, count = along+b.x[k+1]*r[k+1], count+r[k+1]
		q := &b.q[k]
		try := func(c float64) {
			v, square := along-c*count, q[0]+c*(q[1]+c*q[2])
			if explains := v * v / square; square > 0 && explains > most {
				most, place, change, left = explains, c+b.middle, v/square, max(0, total-explains)
			}
		}
		try(b.x[k+1])
		if c := -(along*q[1] + 2*count*q[0]) / (count*q[1] + 2*along*q[2]); c > b.x[k] && c < b.x[k+1] {
			try(c)
		}
		try(b.x[k])
	}
	return place, change, left
}
