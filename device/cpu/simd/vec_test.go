package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/internal/thorough"
)

const prec = 240

func bf(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

func bigOp(f func(z, x, y *big.Float) *big.Float, x, y *big.Float) *big.Float {
	return f(new(big.Float).SetPrec(prec), x, y)
}

// bigExp is exp(x) by its series at x/2ᵏ, squared k times.
func bigExp(x *big.Float) *big.Float {
	k := max(0, x.MantExp(nil)+10)
	r := new(big.Float).SetPrec(prec).SetMantExp(x, -k)
	sum, term := bf(1), bf(1)
	for i := 1; i < 25; i++ {
		term = bigOp((*big.Float).Mul, term, r)
		term = bigOp((*big.Float).Quo, term, bf(float64(i)))
		sum = bigOp((*big.Float).Add, sum, term)
	}
	for range k {
		sum = bigOp((*big.Float).Mul, sum, sum)
	}
	return sum
}

// bigLog1p is log(1+q): one step of Halley's method from math.Log1p, or the
// series where q is small.
func bigLog1p(q float64) *big.Float {
	x := bf(q)
	if q < 1e-12 {
		sum, power := bf(0), bf(1)
		for i := 1; i < 8; i++ {
			power = bigOp((*big.Float).Mul, power, x)
			sum = bigOp((*big.Float).Add, sum, bigOp((*big.Float).Quo, power, bf(float64(i*(1-2*((i+1)%2))))))
		}
		return sum
	}
	y := bf(math.Log1p(q))
	for range 2 {
		e, u := bigExp(y), bigOp((*big.Float).Add, x, bf(1))
		step := bigOp((*big.Float).Quo, bigOp((*big.Float).Sub, u, e), bigOp((*big.Float).Add, u, e))
		y = bigOp((*big.Float).Add, y, bigOp((*big.Float).Mul, step, bf(2)))
	}
	return y
}

// bigSinPi is sin(πx) by its series at the exact remainder.
func bigSinPi(x float64) *big.Float {
	pi, _, _ := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798",
		10, prec, big.ToNearestEven)
	n := math.RoundToEven(x)
	r := bigOp((*big.Float).Mul, bf(x-n), pi)
	z := bigOp((*big.Float).Mul, r, r)
	sum, term := new(big.Float).Copy(r), r
	for i := 1; i < 30; i++ {
		term = bigOp((*big.Float).Mul, term, z)
		term = bigOp((*big.Float).Quo, term, bf(-float64(2*i*(2*i+1))))
		sum = bigOp((*big.Float).Add, sum, term)
	}
	if math.Mod(n, 2) != 0 {
		sum.Neg(sum)
	}
	return sum
}

// ulps is the error of got in units in the last place of want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	if math.IsInf(w, 0) || math.IsNaN(got) || math.IsInf(got, 0) {
		if got == w {
			return 0
		}
		return math.Inf(1)
	}
	ulp := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	if math.IsInf(ulp, 0) {
		ulp = 0x1p971
	}
	d, _ := bigOp((*big.Float).Quo, bigOp((*big.Float).Sub, bf(got), want), bf(ulp)).Float64()
	return math.Abs(d)
}

// function is an elementary function with its reference and its limit in ulps.
type function struct {
	name  string
	apply func(l Level, dst, x []float64)
	exact func(x float64) *big.Float
	draw  func(r *rand.Rand) float64
	limit func(l Level) float64
	edges map[float64]float64 // arguments with exact results
	nan   []float64           // arguments with the result NaN
}

var inf = math.Inf(1)

func functions() []function {
	return []function{
		{
			name: "exp", apply: Level.Exp,
			exact: func(x float64) *big.Float { return bigExp(bf(x)) },
			draw: func(r *rand.Rand) float64 {
				switch r.IntN(4) {
				case 0:
					return r.NormFloat64()
				case 1:
					return 1400*r.Float64() - 700
				case 2:
					return -708 - 40*r.Float64() // subnormal results
				}
				return r.NormFloat64() * math.Exp(-30*r.Float64())
			},
			limit: func(l Level) float64 {
				if l == Portable {
					return 2
				}
				return 1
			},
			edges: map[float64]float64{0: 1, 5e-324: 1, -5e-324: 1, 1e-300: 1, inf: inf, -inf: 0, 709.8: inf, 1e300: inf, -745.2: 0, -800: 0,
				-1e300: 0, -745.1: 5e-324},
			nan: []float64{math.NaN()},
		},
		{
			name: "log1p", apply: Level.Log1p, exact: bigLog1p,
			draw: func(r *rand.Rand) float64 {
				switch r.IntN(3) {
				case 0:
					return r.Float64()
				case 1:
					return math.Exp(1400*r.Float64() - 700)
				}
				return math.Exp(5 * r.NormFloat64())
			},
			limit: func(Level) float64 { return 2 },
			edges: map[float64]float64{0: 0, 5e-324: 5e-324, 3e-310: 3e-310, 1e-300: 1e-300, inf: inf},
			nan:   []float64{math.NaN()},
		},
		{
			name: "sinPi", apply: Level.SinPi, exact: bigSinPi,
			draw: func(r *rand.Rand) float64 {
				return (r.Float64() - 0.5) * math.Exp(float64(r.IntN(3))*4*r.NormFloat64())
			},
			limit: func(Level) float64 { return 2 },
			edges: map[float64]float64{0: 0, 1: 0, -2: 0, 0.5: 1, 1.5: -1, -0.5: -1, -1.5: 1, 2.5: 1, 1e15 + 0.5: 1, 1e300: 0, math.MaxFloat64: 0},
			nan:   []float64{math.NaN(), inf, -inf},
		},
	}
}

func TestElementary(t *testing.T) {
	thorough.Unraced(t)
	for _, f := range functions() {
		r := rand.New(rand.NewPCG(1, 1))
		x := make([]float64, 20000)
		want := make([]*big.Float, len(x))
		for j := range x {
			x[j] = f.draw(r)
			want[j] = f.exact(x[j])
		}
		eachLevel(t, func(t *testing.T, l Level) {
			dst := make([]float64, len(x))
			f.apply(l, dst, x)
			worst, at := 0.0, 0
			for j := range x {
				if e := ulps(dst[j], want[j]); !(e <= worst) {
					worst, at = e, j
				}
			}
			t.Logf("%s: at most %.3f ulp, at %v", f.name, worst, x[at])
			if !(worst < f.limit(l)) {
				t.Errorf("%s(%v) = %v is %v ulp off", f.name, x[at], dst[at], worst)
			}
			for a, w := range f.edges {
				v := []float64{a}
				if f.apply(l, v, v); v[0] != w {
					t.Errorf("%s(%v) = %v, want %v", f.name, a, v[0], w)
				}
			}
			for _, a := range f.nan {
				v := []float64{1, a, 1}
				if f.apply(l, v, v); !math.IsNaN(v[1]) || math.IsNaN(v[0]) || math.IsNaN(v[2]) {
					t.Errorf("%s of 1, %v, 1 is %v", f.name, a, v)
				}
			}
		})
	}
}

// TestLengths checks that an entry's result depends neither on its place nor on
// its neighbours, and that nothing beyond the end is written.
func TestLengths(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		for _, f := range functions() {
			r := rand.New(rand.NewPCG(1, 2))
			for n := range 41 {
				x, dst := make([]float64, n), make([]float64, n+1)
				for j := range x {
					x[j] = f.draw(r)
				}
				dst[n] = -7
				f.apply(l, dst[:n], x)
				for j := range x {
					one := []float64{x[j]}
					f.apply(l, one, one)
					if one[0] != dst[j] {
						t.Fatalf("%s of %d entries: entry %d is %v, alone %v", f.name, n, j, dst[j], one[0])
					}
				}
				if dst[n] != -7 {
					t.Fatalf("%s of %d entries writes beyond the end", f.name, n)
				}
			}
		}
	})
}

func TestElementaryAllocatesNothing(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		x := make([]float64, 13)
		if n := testing.AllocsPerRun(10, func() { l.Exp(x, x); l.SinPi(x, x); l.Log1p(x, x) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestSinHalf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 20000 {
		u := (r.Float64() - 0.5) * math.Exp(-2*r.ExpFloat64())
		if e := ulps(sinHalf(u), bigSinPi(u/2)); !(e < 2) {
			t.Fatalf("sin(pi %v / 2) = %v is %v ulp off", u, sinHalf(u), e)
		}
	}
}

func BenchmarkElementary(b *testing.B) {
	for l := Portable; l <= Best(); l++ {
		for _, f := range functions() {
			b.Run(fmt.Sprintf("%s/%s", f.name, l), func(b *testing.B) {
				x, dst := make([]float64, 256), make([]float64, 256)
				r := rand.New(rand.NewPCG(1, 3))
				for j := range x {
					x[j] = r.Float64()
				}
				for b.Loop() {
					f.apply(l, dst, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/entry")
			})
		}
	}
}
