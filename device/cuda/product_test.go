//go:build cuda

package cuda_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda"
	"example.com/kestrel/device/cuda/driver/fake"
	"example.com/kestrel/internal/must"
)

// product is a product of op(a), m x k, and op(b), k x n, on a lane.
type product struct {
	name           string
	m, n, k        int
	transA, transB bool
	lowerA         bool // a is lower triangular
	symmetric      bool // b is aᵀ
	tile           int  // the rows of a tile that are expected
	run            func(l device.Lane, sub []int, a, b, c device.Array)
	alpha, beta    float64
	lowerC         bool // zeros above the diagonal are wanted
}

func gemm(m, n, k int, transA, transB bool, tile int) product {
	return product{name: "Gemm", m: m, n: n, k: k, transA: transA, transB: transB, tile: tile, alpha: -0.7, beta: 0.5,
		run: func(l device.Lane, sub []int, a, b, c device.Array) { l.Gemm(sub, transA, transB, -0.7, a, b, 0.5, c) }}
}

func gemmLower(n, k int, transA, transB bool, tile int) product {
	return product{name: "GemmLower", m: n, n: n, k: k, transA: transA, transB: transB, tile: tile, alpha: 2, lowerC: true,
		run: func(l device.Lane, sub []int, a, b, c device.Array) { l.GemmLower(sub, transA, transB, 2, a, b, c) }}
}

func mulLower(m, n int, trans bool, tile int) product {
	return product{name: "MulLower", m: m, n: n, k: m, transA: trans, tile: tile, alpha: 1, lowerA: true,
		run: func(l device.Lane, sub []int, a, b, c device.Array) { l.MulLower(sub, trans, a, b, c) }}
}

func syrk(n, k, tile int) product {
	return product{name: "Syrk", m: n, n: n, k: k, transB: true, symmetric: true, tile: tile, alpha: 1.5,
		run: func(l device.Lane, sub []int, a, _, c device.Array) { l.Syrk(sub, 1.5, a, 0, c) }}
}

// products are shapes whole and ragged, and the tiles that they are computed in: of 128 x 64 where
// rows fill them and numbers are even, for nobody multiplies two transposed matrices.
var products = []product{
	gemm(128, 64, 48, false, false, 128), gemm(128, 64, 50, false, true, 128), gemm(128, 64, 34, true, false, 128),
	gemm(200, 130, 18, false, false, 128), gemm(254, 66, 130, false, true, 128), gemm(194, 36, 2, true, false, 128),
	gemm(514, 34, 20, false, false, 128), // half a tile more, of nine
	// An odd number of rows, but even pitches; half a tile more, of three.
	gemm(193, 34, 6, false, true, 128), gemm(130, 64, 32, false, false, 64),
	gemm(193, 34, 6, true, false, 64), gemm(200, 35, 6, false, false, 64), gemm(200, 34, 7, false, true, 64),
	gemm(200, 34, 8, true, true, 64), gemm(200, 32, 8, false, false, 32),
	gemmLower(200, 128, false, true, 128), gemmLower(254, 20, true, false, 128), gemmLower(127, 20, false, true, 128),
	mulLower(200, 128, false, 128), mulLower(254, 40, true, 128), mulLower(201, 40, true, 64),
	syrk(200, 30, 128), syrk(256, 66, 128), syrk(201, 30, 128), syrk(200, 31, 64),
}

// want is the product by its definition.
func (p *product) want(a, b, c []float64) []float64 {
	out := make([]float64, p.m*p.n)
	at := func(x []float64, trans bool, rows, cols, i, j int) float64 {
		if trans {
			return x[j*rows+i]
		}
		return x[i*cols+j]
	}
	for i := range p.m {
		for j := range p.n {
			s := 0.0
			for l := range p.k {
				s += at(a, p.transA, p.m, p.k, i, l) * at(b, p.transB, p.k, p.n, l, j)
			}
			if !p.lowerC || j <= i {
				out[i*p.n+j] = p.alpha * s
			}
			if p.beta != 0 {
				out[i*p.n+j] += p.beta * c[i*p.n+j]
			}
		}
	}
	return out
}

// TestProducts checks products of every shape against their definition, that they are computed in the
// tiles expected, that tiles of 128 x 64 give the bits of tiles of 64, alone and in a batch, and that threads in
// the opposite order do; with and without the tensor cores' instructions.
func TestProducts(t *testing.T) {
	for name, defines := range map[string][]string{"plain": nil, "tensor": {"-DEMULATE_TENSOR"}} {
		if testing.Short() && defines != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			pretend(t, fake.Options{})
			open := func() device.Lane {
				return open(t, cuda.Options{Generate: cuda.GenerateNever, Defines: defines}).Lane(0)
			}
			tall, flat := open(), open()
			cuda.TallTiles(flat, false)
			for i, p := range products {
				t.Run(fmt.Sprintf("%s(%v, %v) %d x %d x %d", p.name, p.transA, p.transB, p.m, p.n, p.k), func(t *testing.T) {
					p.check(t, tall, flat, rand.New(rand.NewPCG(9, uint64(i))))
				})
			}
		})
	}
}

func (p *product) check(t *testing.T, tall, flat device.Lane, r *rand.Rand) {
	const count = 3
	var as, bs, cs [count][]float64
	for q := range count {
		as[q], bs[q], cs[q] = normal(r, p.m*p.k), normal(r, p.k*p.n), normal(r, p.m*p.n)
		if p.lowerA {
			for i := range p.m {
				clear(as[q][i*p.m+i+1 : (i+1)*p.m])
			}
		}
		if p.symmetric {
			bs[q] = as[q]
		}
	}
	compute := func(l device.Lane, sub []int) (out [][]float64, tile int) {
		array := func(rows, cols int, trans bool, values [count][]float64) device.Array {
			if trans {
				rows, cols = cols, rows
			}
			x, err := l.NewArray(count, rows, cols)
			must.OK(t, err)
			for q := range count {
				l.Write(x, q, values[q])
			}
			return x
		}
		a, b, c := array(p.m, p.k, p.transA, as), array(p.k, p.n, p.transB, bs), array(p.m, p.n, false, cs)
		defer l.Free(a, b, c)
		tile = cuda.Tile(l, p.m, p.n, p.transA, p.transB, a, b)
		p.run(l, sub, a, b, c)
		for _, q := range sub {
			got := make([]float64, p.m*p.n)
			must.OK(t, l.Read(c, q, got))
			out = append(out, got)
		}
		return out, tile
	}
	got, tile := compute(tall, []int{0, 2})
	if tile != p.tile {
		t.Errorf("in tiles of %d rows, want %d", tile, p.tile)
	}
	reference, tile := compute(flat, []int{0, 2})
	if tile > 64 {
		t.Errorf("the reference in tiles of %d rows", tile)
	}
	for i, q := range []int{0, 2} {
		for e, want := range p.want(as[q], bs[q], cs[q]) {
			if d := math.Abs(got[i][e] - want); !(d <= 1e-13*float64(p.k+1)) {
				t.Fatalf("member %d: entry %d is %v, want %v", q, e, got[i][e], want)
			}
		}
		if !sameBits(got[i], reference[i]) {
			t.Errorf("member %d: other bits than in tiles of 64", q)
		}
	}
	if alone, _ := compute(tall, []int{2}); !sameBits(alone[0], got[1]) {
		t.Error("other bits alone than in a batch")
	}
	t.Setenv("KESTREL_EMULATE_ORDER", "reverse")
	if reversed, _ := compute(tall, []int{0, 2}); !sameBits(reversed[0], got[0]) {
		t.Error("other bits with threads in the opposite order")
	}
}

// TestTilesOfFactors: factors and what is made with them have the same bits in tiles of either size, at sizes
// at which products with the panels take the larger ones.
func TestTilesOfFactors(t *testing.T) {
	pretend(t, fake.Options{})
	tall, flat := open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0), open(t, cuda.Options{Generate: cuda.GenerateNever}).Lane(0)
	cuda.TallTiles(flat, false)
	for _, n := range []int{200, 202, 257} {
		_, s := smooth(rand.New(rand.NewPCG(10, uint64(n))), n)
		a := make([]float64, n*n)
		for i := range n {
			for j := range n {
				d := float64(i-j) * 4 / float64(n)
				a[i*n+j] = math.Exp(-d * d / 2)
			}
			a[i*n+i] += 1e-4
		}
		run := func(lane device.Lane) []float64 {
			l, err := lane.NewArray(1, n, n)
			must.OK(t, err)
			b, err := lane.NewArray(1, n, n)
			must.OK(t, err)
			info, err := lane.NewArray(1, 1, 1)
			must.OK(t, err)
			defer lane.Free(l, b, info)
			lane.Write(l, 0, a)
			lane.Write(b, 0, s)
			lane.Cholesky([]int{0}, l, info)
			lane.SolveBoth([]int{0}, l, b)
			out := make([]float64, 2*n*n)
			must.OK(t, lane.Read(l, 0, out[:n*n]))
			must.OK(t, lane.Read(b, 0, out[n*n:]))
			return out
		}
		if !sameBits(run(tall), run(flat)) {
			t.Errorf("n = %d: other bits in tiles of 128 x 64", n)
		}
	}
}
