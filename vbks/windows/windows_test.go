package windows_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/kernelspacetest"
	"example.com/kestrel/vbks/params"
	"example.com/kestrel/vbks/windows"
)

// table is rows of one input that ascends, at uneven steps, with a rough and a smooth part.
func table(n int) (x, y []float64) {
	rng := rand.New(rand.NewPCG(3, 8))
	at, level := 0.5, 0.0
	for range n {
		at += 0.02 + 0.06*rng.Float64()
		level = 0.9*level + 0.3*rng.NormFloat64()
		x, y = append(x, at), append(y, math.Sin(at)+level+0.1*rng.NormFloat64())
	}
	return x, y
}

// evidence is that of windows of a table, with m inducing inputs spread over it; m = 0: all rows.
func evidence(
	t testing.TB, expr string, n, m int, width windows.Width,
) (e *windows.Evidence, p *kernelspace.Program, x, y, z []float64) {
	t.Helper()
	dev := cpu.New(cpu.Options{Lanes: 1})
	x, y = table(n)
	z = x
	if m > 0 {
		z = nil
		for i := range m {
			z = append(z, x[0]+(x[n-1]-x[0])*float64(i)/float64(m-1))
		}
	}
	rows, err := dev.NewData(x, y, 1)
	must.OK(t, err)
	inducing, err := dev.NewData(z, nil, 1)
	must.OK(t, err)
	p = kernelspacetest.Program(t, expr, kernelspace.Options{Dim: 1})
	e, err = windows.New(dev.Lane(0), p, windows.Rows{Data: rows, X: x, Y: y}, device.All(inducing), width, false, 1e-6,
		device.Jitter{Relative: 1e-9})
	must.OK(t, err)
	t.Cleanup(e.Free)
	return e, p, x, y, z
}

// start is a free vector: all hyperparameters are e^-.3, but for the noise.
func start(p *kernelspace.Program) []float64 {
	free := make([]float64, len(p.Free)+1)
	for i := range free {
		free[i] = -0.3 - 0.1*float64(i)
	}
	free[len(free)-1] = math.Log(0.05)
	return free
}

// value computes at a free vector.
func value(t testing.TB, e *windows.Evidence, free, grad []float64) float64 {
	t.Helper()
	v, ok, err := e.At(free, 1, grad, nil)
	must.OK(t, err)
	if !ok {
		t.Fatalf("no value at %v", free)
	}
	return v
}

// covariance is k(a,b) by the definition of the kernel, entry by entry.
func covariance(p *kernelspace.Program, free, a, b []float64) *mat.Dense {
	raw := make([]float64, len(p.Params))
	for i := range raw {
		raw[i] = 1
	}
	for i, at := range p.Free {
		raw[at] = math.Exp(free[i])
	}
	k := mat.NewDense(len(a), len(b), nil)
	for i := range a {
		for j := range b {
			k.Set(i, j, p.Eval(raw, a[i:i+1], b[j:j+1], false))
		}
	}
	return k
}

// normal is log N(y; 0, c) by dense matrices.
func normal(t *testing.T, c *mat.SymDense, y []float64) float64 {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(c) {
		t.Fatal("not positive definite")
	}
	v := mat.NewVecDense(len(y), y)
	var s mat.VecDense
	must.OK(t, chol.SolveVecTo(&s, v))
	return -0.5 * (mat.Dot(v, &s) + chol.LogDet() + float64(len(y))*math.Log(2*math.Pi))
}

func symmetric(a mat.Matrix, diagonal float64) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
		s.SetSym(i, i, s.At(i, i)+diagonal)
	}
	return s
}

var kernels = []string{"RW", "MATERN12+SE", "PER*SE+LIN+CONST", "IRW+PER", "RQ*MATERN32", "PER", "PER+MATERN12+PER"}

// beside is what stands beside windows, by the definition: the covariance of u and of the weights of what repeats, and theirs
// with f at rows. Where summands PER are is told by hand.
func beside(
	p *kernelspace.Program, expr string, free, z []float64, relative float64,
) (prior *mat.SymDense, with func(x []float64) *mat.Dense) {
	const harmonics = 30
	raw := make([]float64, len(p.Params))
	for i := range raw {
		raw[i] = 1
	}
	for i, at := range p.Free {
		raw[at] = math.Exp(free[i])
	}
	var waves []func(x float64) float64
	for leaf := range map[string]int{"IRW+PER": 2, "PER": 1, "PER+MATERN12+PER": 3}[expr] {
		var of []int
		for i, q := range p.Params {
			if q.Leaf == leaf && q.Base == "PER" {
				of = append(of, i)
			}
		}
		if of == nil {
			continue // the other summand, wherever it is put
		}
		sd, scale, period := math.Sqrt(raw[of[0]]), raw[of[1]], raw[of[2]]
		raw[of[0]] = 0
		for h := range harmonics + 1 {
			const points = 2000
			q := 0.0
			for i := range points {
				sin := math.Sin(math.Pi*float64(i)/points) / scale
				q += math.Exp(-2*sin*sin) * math.Cos(2*math.Pi*float64(i*h)/points) / points
			}
			if h > 0 {
				q *= 2
			}
			a := sd * math.Sqrt(max(0, q))
			waves = append(waves, func(x float64) float64 { return a * math.Cos(2*math.Pi*float64(h)*x/period) })
			if h > 0 {
				waves = append(waves, func(x float64) float64 { return a * math.Sin(2*math.Pi*float64(h)*x/period) })
			}
		}
	}
	m, n := len(z), len(z)+len(waves)
	prior = mat.NewSymDense(n, nil)
	trace := 0.0
	for i := range n {
		prior.SetSym(i, i, 1)
		for j := range m {
			if i < m && j <= i {
				prior.SetSym(i, j, p.Eval(raw, z[i:i+1], z[j:j+1], false))
			}
		}
		if i < m {
			trace += prior.At(i, i)
		}
	}
	for i := range m {
		if trace == 0 { // u is of nothing
			prior.SetSym(i, i, 1)
		}
		prior.SetSym(i, i, prior.At(i, i)+relative*trace/float64(m))
	}
	return prior, func(x []float64) *mat.Dense {
		out := mat.NewDense(n, len(x), nil)
		for j := range x {
			for i := range m {
				out.Set(i, j, p.Eval(raw, z[i:i+1], x[j:j+1], false))
			}
			for i, wave := range waves {
				out.Set(m+i, j, wave(x[j]))
			}
		}
		return out
	}
}

// Where a window holds all rows, where all rows are inducing inputs, and of a random walk seen without noise, which needs
// its last value alone, it is the log evidence.
func TestIsTheLogEvidence(t *testing.T) {
	const n = 60
	for _, c := range []struct {
		what  string
		m     int
		width windows.Width
		slack float64
	}{
		{"one block", 7, windows.Width{Block: n}, 1e-7},
		{"two blocks", 7, windows.Width{Block: n/2 + 7}, 1e-7},
		{"Z = X", 0, windows.Width{Block: 9}, 1e-4}, // but for the jitter
	} {
		for _, k := range kernels {
			e, p, x, y, _ := evidence(t, k, n, c.m, c.width)
			free := start(p)
			got, want := value(t, e, free, nil), normal(t, symmetric(covariance(p, free, x, x), 1e-6+math.Exp(free[len(free)-1])), y)
			if math.Abs(got-want) > c.slack {
				t.Errorf("%s, %s: %.9f, the log evidence is %.9f", c.what, k, got, want)
			}
		}
	}
	e, p, x, y, _ := evidence(t, "RW", n, 2, windows.Width{Block: 1})
	free := start(p)
	free[len(free)-1] = -40
	if got, want := value(t, e, free, nil), normal(t, symmetric(covariance(p, free, x, x), 1e-6), y); math.Abs(got-want) > 1e-2 {
		t.Errorf("a walk without noise: %.6f, the log evidence is %.6f", got, want)
	}
}

// A line beside summands PER is in u.
func TestBesideALine(t *testing.T) {
	const n = 60
	x, y := table(n)
	dev := cpu.New(cpu.Options{Lanes: 1})
	rows, err := dev.NewData(x, y, 1)
	must.OK(t, err)
	line := &kernelspace.Line{Columns: []int{0}, Slopes: []float64{2}, Constant: 1}
	p := kernelspacetest.Program(t, "PER", kernelspace.Options{Dim: 1, Line: line})
	e, err := windows.New(dev.Lane(0), p, windows.Rows{Data: rows, X: x, Y: y}, device.All(rows), windows.Width{Block: 9}, false, 1e-6,
		device.Jitter{Relative: 1e-9})
	must.OK(t, err)
	defer e.Free()
	free := start(p)
	raw, noise := params.Raw(p, free, 1e-6)
	k := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			k.Set(i, j, p.Eval(raw, x[i:i+1], x[j:j+1], i == j))
		}
	}
	if got, want := value(t, e, free, nil), normal(t, symmetric(k, noise), y); math.Abs(got-want) > 1e-3 {
		t.Errorf("%.9f, the log evidence is %.9f", got, want)
	}
}

// Rows that count for more or less have the process times their factors, what repeats with it: where that is all of the
// kernel, blocks of any size are enough.
func TestRowsOfDifferentWeight(t *testing.T) {
	const n = 60
	x, y := table(n)
	scale := make([]float64, n)
	for i := range scale {
		scale[i] = 0.5 + math.Mod(0.37*float64(i), 1)
	}
	dev := cpu.New(cpu.Options{Lanes: 1})
	rows, err := device.NewScaled(dev, x, y, scale, 1)
	must.OK(t, err)
	z, err := dev.NewData(x[:5], nil, 1)
	must.OK(t, err)
	p := kernelspacetest.Program(t, "PER+PER", kernelspace.Options{Dim: 1})
	e, err := windows.New(dev.Lane(0), p, windows.Rows{Data: rows, X: x, Y: y, Scale: scale}, device.All(z), windows.Width{Block: 7},
		false, 1e-6, device.Jitter{Relative: 1e-9})
	must.OK(t, err)
	defer e.Free()
	at := func(free []float64) float64 {
		k := covariance(p, free, x, x)
		k.Apply(func(i, j int, v float64) float64 { return v * scale[i] * scale[j] }, k)
		return normal(t, symmetric(k, 1e-6+math.Exp(free[len(free)-1])), y)
	}
	free := start(p)
	grad := make([]float64, len(free))
	if got, want := value(t, e, free, grad), at(free); math.Abs(got-want) > 1e-5 {
		t.Errorf("%.9f, the log evidence is %.9f", got, want)
	}
	for i, want := range fd.Gradient(nil, at, free, &fd.Settings{Formula: fd.Central, Step: 1e-5}) {
		if math.Abs(grad[i]-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf("entry %d of the gradient is %.9f, by differences %.9f", i, grad[i], want)
		}
	}
}

// It is what its definition says, by dense matrices: each block given u and the rows behind it, u integrated out.
func TestIsWhatItsDefinitionSays(t *testing.T) {
	const n, inducing, block = 50, 6, 8
	for _, k := range kernels {
		e, p, x, y, z := evidence(t, k, n, inducing, windows.Width{Block: block})
		free := start(p)
		noise := 1e-6 + math.Exp(free[len(free)-1])
		// The joint distribution of u and y that the factors make, as a precision.
		prior, with := beside(p, k, free, z, 1e-9)
		m, _ := prior.Dims()
		prec := mat.NewDense(m+n, m+n, nil)
		logDet := 0.0 // of the joint covariance
		add := func(c *mat.SymDense, at []int, sign float64) {
			var chol mat.Cholesky
			if !chol.Factorize(c) {
				t.Fatal("not positive definite")
			}
			inverse := mat.NewSymDense(len(at), nil)
			must.OK(t, chol.InverseTo(inverse))
			for i := range at {
				for j := range at {
					prec.Set(at[i], at[j], prec.At(at[i], at[j])+sign*inverse.At(i, j))
				}
			}
			logDet += sign * chol.LogDet()
		}
		// p(y_b | y_b', u) = p(u, y_b', y_b)/p(u, y_b')
		joint := func(from, to int) (*mat.SymDense, []int) {
			rows := x[from:to]
			c := mat.NewSymDense(m+len(rows), nil)
			c.CopySym(prior)
			var at []int
			for i := range m {
				at = append(at, i)
			}
			if len(rows) > 0 {
				cross, own := with(rows), covariance(p, free, rows, rows)
				for j := range rows {
					at = append(at, m+from+j)
					for i := range m {
						c.SetSym(i, m+j, cross.At(i, j))
					}
					for i := range j + 1 {
						c.SetSym(m+i, m+j, own.At(i, j))
					}
					c.SetSym(m+j, m+j, own.At(j, j)+noise)
				}
			}
			return c, at
		}
		c, at := joint(0, 0)
		add(c, at, 1)
		for from := 0; from < n; from += block {
			c, at := joint(max(0, from-block), min(n, from+block))
			add(c, at, 1)
			c, at = joint(max(0, from-block), from)
			add(c, at, -1)
		}
		// Of it y alone, u integrated out: the Schur complement of its precision.
		yy, yu, uu := prec.Slice(m, m+n, m, m+n), prec.Slice(m, m+n, 0, m), prec.Slice(0, m, 0, m)
		var chol mat.Cholesky
		if !chol.Factorize(symmetric(uu, 0)) {
			t.Fatal("not positive definite")
		}
		v := mat.NewVecDense(n, y)
		var uy, solved mat.VecDense
		uy.MulVec(yu.T(), v)
		must.OK(t, chol.SolveVecTo(&solved, &uy))
		var yyv mat.VecDense
		yyv.MulVec(yy, v)
		want := -0.5 * (mat.Dot(v, &yyv) - mat.Dot(&uy, &solved) + logDet + chol.LogDet() + n*math.Log(2*math.Pi))
		if got := value(t, e, free, nil); !scalar.EqualWithinAbs(got, want, 1e-5*(1+math.Abs(want))) {
			t.Errorf("%s: %.9f, want %.9f", k, got, want)
		}
	}
}

// Where one block of some is taken, each counts for as many: by dense matrices, block by block.
func TestSomeBlocks(t *testing.T) {
	const n, inducing, block, every = 70, 6, 8, 3
	for _, k := range kernels {
		e, p, x, y, z := evidence(t, k, n, inducing, windows.Width{Block: block, Every: every})
		free := start(p)
		noise := 1e-6 + math.Exp(free[len(free)-1])
		prior, with := beside(p, k, free, z, 1e-9)
		m, _ := prior.Dims()
		var chol mat.Cholesky
		if !chol.Factorize(prior) {
			t.Fatal("not positive definite")
		}
		// What u leaves of rows, and what of it the rows behind leave.
		left := func(a, b []float64) *mat.Dense {
			var by, out mat.Dense
			must.OK(t, chol.SolveTo(&by, with(b)))
			out.Mul(with(a).T(), &by)
			out.Sub(covariance(p, free, a, b), &out)
			return &out
		}
		precision, linear := symmetric(prior, 0), mat.NewVecDense(m, nil) // of K⁻¹u
		sum := chol.LogDet()
		taken := 0
		for from := every / 2 * block; from < n; from += every * block {
			taken++
			to := min(n, from+block)
			mean, c := mat.DenseCopyOf(with(x[from:to]).T()), symmetric(left(x[from:to], x[from:to]), noise)
			e := mat.NewVecDense(to-from, append([]float64(nil), y[from:to]...))
			if behind := x[from-block : from]; from > 0 {
				var before mat.Cholesky
				if !before.Factorize(symmetric(left(behind, behind), noise)) {
					t.Fatal("not positive definite")
				}
				var g, of mat.Dense
				must.OK(t, before.SolveTo(&g, left(behind, x[from:to])))
				of.Mul(g.T(), with(behind).T())
				mean.Sub(mean, &of)
				var smaller mat.Dense
				smaller.Mul(left(x[from:to], behind), &g)
				smaller.Sub(c, &smaller)
				c = symmetric(&smaller, 0)
				var moved mat.VecDense
				moved.MulVec(g.T(), mat.NewVecDense(block, y[from-block:from]))
				e.SubVec(e, &moved)
			}
			var of mat.Cholesky
			if !of.Factorize(c) {
				t.Fatal("not positive definite")
			}
			var by, more mat.Dense
			must.OK(t, of.SolveTo(&by, mean))
			more.Mul(mean.T(), &by)
			more.Scale(every, &more)
			precision.AddSym(precision, symmetric(&more, 0))
			var seen, toU mat.VecDense
			must.OK(t, of.SolveVecTo(&seen, e))
			toU.MulVec(mean.T(), &seen)
			linear.AddScaledVec(linear, every, &toU)
			sum -= every * (mat.Dot(e, &seen) + of.LogDet() + float64(to-from)*math.Log(2*math.Pi))
		}
		if !chol.Factorize(precision) {
			t.Fatal("not positive definite")
		}
		var solved mat.VecDense
		must.OK(t, chol.SolveVecTo(&solved, linear))
		want := 0.5 * (sum - chol.LogDet() + mat.Dot(linear, &solved))
		if got := value(t, e, free, nil); taken != 3 || !scalar.EqualWithinAbs(got, want, 1e-5*(1+math.Abs(want))) {
			t.Errorf("%s: %.9f of %d blocks, want %.9f", k, got, taken, want)
		}
	}
}

// What a kernel leaves of the targets is the gradient by them, and where a window holds all rows it is K̂⁻¹y.
func TestWeighed(t *testing.T) {
	const n = 50
	for _, width := range []windows.Width{{Block: 8}, {Block: 11}, {Block: 5, Every: 3}, {Block: n}} {
		for _, k := range kernels {
			e, p, x, y, _ := evidence(t, k, n, 6, width)
			free := start(p)
			got, ok, err := e.Weighed(free, 1, nil)
			must.OK(t, err)
			if !ok {
				t.Fatal(k, "none")
			}
			want := fd.Gradient(nil, func(moved []float64) float64 {
				was := append([]float64(nil), y...)
				copy(y, moved) // the Evidence's own
				v := value(t, e, free, nil)
				copy(y, was)
				return -v
			}, append([]float64(nil), y...), &fd.Settings{Formula: fd.Central, Step: 1e-4})
			for i := range got {
				if math.Abs(got[i]-want[i]) > 1e-5*(1+math.Abs(want[i])) {
					t.Fatalf("%s, %v: entry %d is %.9f, by differences %.9f", k, width, i, got[i], want[i])
				}
			}
			if width.Block < n {
				continue
			}
			var chol mat.Cholesky
			if !chol.Factorize(symmetric(covariance(p, free, x, x), 1e-6+math.Exp(free[len(free)-1]))) {
				t.Fatal("not positive definite")
			}
			var alpha mat.VecDense
			must.OK(t, chol.SolveVecTo(&alpha, mat.NewVecDense(n, y)))
			for i := range got {
				if math.Abs(got[i]-alpha.AtVec(i)) > 1e-5*(1+math.Abs(got[i])) {
					t.Fatalf("%s: entry %d is %.9f, by dense matrices %.9f", k, i, got[i], alpha.AtVec(i))
				}
			}
		}
	}
}

// Its gradient is that of finite differences.
func TestGradient(t *testing.T) {
	for _, width := range []windows.Width{{Block: 8}, {Block: 11}, {Block: 100}, {Block: 5, Every: 3}} {
		for _, k := range kernels {
			e, p, _, _, _ := evidence(t, k, 50, 6, width)
			free := start(p)
			grad := make([]float64, len(free))
			value(t, e, free, grad)
			want := fd.Gradient(nil, func(x []float64) float64 { return value(t, e, x, nil) }, free, &fd.Settings{Formula: fd.Central, Step: 1e-5})
			for i := range grad {
				if math.Abs(grad[i]-want[i]) > 1e-5*(1+math.Abs(want[i])) {
					t.Errorf("%s, %v: entry %d of the gradient is %.9f, by differences %.9f", k, width, i, grad[i], want[i])
				}
			}
		}
	}
}

// Of a thousand rows, with 32 inducing inputs and blocks of 64, it is the log evidence but for little, where the
// inducing inputs alone are far below: less than half a nat.
func TestOfAThousandRows(t *testing.T) {
	const n, m, noise = 1000, 32, 0.05
	rng := rand.New(rand.NewPCG(7, 7))
	x, y := make([]float64, n), make([]float64, n)
	level, step := 0.0, 0.0
	for i := range n {
		if x[i] = 10 * float64(i) / n; rng.Float64() < .02 {
			step = rng.NormFloat64()
		}
		level = .95*level + .2*rng.NormFloat64()
		y[i] = level + step + .5*math.Mod(float64(i), 190)/190 + math.Sqrt(noise)*rng.NormFloat64()
	}
	dev := cpu.New(cpu.Options{Lanes: 1})
	rows, err := dev.NewData(x, y, 1)
	must.OK(t, err)
	z := make([]float64, m)
	for i := range z {
		z[i] = 10 * float64(i) / (m - 1)
	}
	inducing, err := dev.NewData(z, nil, 1)
	must.OK(t, err)
	for _, c := range []struct {
		kernel string
		raw    []float64 // variances, lengths and periods in their order
		most   float64   // nats off
	}{
		{"MATERN12", []float64{1, .2}, .5},
		{"RW", []float64{10, .5}, .5},
		{"MATERN32", []float64{1, .2}, .5},
		{"MATERN12+SE", []float64{.3, .1, 1, 3}, .5},
		{"LIN+RW", []float64{.2, 10, .5}, .5},
		{"PER+MATERN12", []float64{.2, .8, 1.9, 1, .2}, .5},
	} {
		p := kernelspacetest.Program(t, c.kernel, kernelspace.Options{Dim: 1})
		e, err := windows.New(dev.Lane(0), p, windows.Rows{Data: rows, X: x, Y: y}, device.All(inducing), windows.Width{Block: 64}, false, 1e-9,
			device.Jitter{Relative: 1e-9})
		must.OK(t, err)
		free := make([]float64, len(p.Free)+1)
		if len(p.Free) != len(c.raw) {
			t.Fatalf("%s: %d free hyperparameters of %+v", c.kernel, len(p.Free), p.Params)
		}
		for i := range p.Free {
			free[i] = math.Log(c.raw[i])
		}
		free[len(free)-1] = math.Log(noise)
		got, want := value(t, e, free, nil), normal(t, symmetric(covariance(p, free, x, x), 1e-9+noise), y)
		// And the inducing inputs alone.
		kzz, kzx := covariance(p, free, z, z), covariance(p, free, z, x)
		alone := titsias(t, kzz, kzx, x, p, free, noise, y)
		t.Logf("%-14s %.2f, the log evidence is %.2f, Titsias' bound %.1f", c.kernel, got, want, alone)
		if math.Abs(got-want) > c.most {
			t.Errorf("%s: %.3f, the log evidence is %.3f", c.kernel, got, want)
		}
		e.Free()
	}
}

// titsias is Titsias' bound by dense matrices.
func titsias(t *testing.T, kzz, kzx *mat.Dense, x []float64, p *kernelspace.Program, free []float64, noise float64, y []float64) float64 {
	t.Helper()
	m, n := kzx.Dims()
	var chol mat.Cholesky
	if !chol.Factorize(symmetric(kzz, 1e-9*mat.Trace(kzz)/float64(m))) {
		t.Fatal("not positive definite")
	}
	var solved, q mat.Dense
	must.OK(t, chol.SolveTo(&solved, kzx))
	q.Mul(kzx.T(), &solved)
	left := 0.0
	for i := range n {
		left += covariance(p, free, x[i:i+1], x[i:i+1]).At(0, 0) - q.At(i, i)
	}
	return normal(t, symmetric(&q, noise), y) - left/(2*noise)
}
