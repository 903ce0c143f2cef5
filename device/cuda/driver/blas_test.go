//go:build cuda

package driver_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/driver/fake"
)

// naive computes op(a) op(b) of column-major matrices, m x k and k x n.
func naive(transA, transB bool, m, n, k int, a []float64, lda int, b []float64, ldb int) []float64 {
	at := func(a []float64, ld int, trans bool, i, j int) float64 {
		if trans {
			i, j = j, i
		}
		return a[i+j*ld]
	}
	c := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				c[i+j*m] += at(a, lda, transA, i, l) * at(b, ldb, transB, l, j)
			}
		}
	}
	return c
}

func random(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// differ is the largest difference of two equally long lists.
func differ(a, b []float64) (most float64) {
	for i := range a {
		if d := math.Abs(a[i] - b[i]); !(d <= most) {
			most = d
		}
	}
	return most
}

func TestGemm(t *testing.T) {
	c := card(t, use(t, fake.Options{}), 0)
	b, err := c.BLAS()
	if err != nil {
		t.Fatal(err)
	}
	if b.Version() != 120400 {
		t.Errorf("version %d", b.Version())
	}
	const count, m, n, k = 3, 4, 5, 6
	r := rand.New(rand.NewPCG(1, 2))
	for _, trans := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
		lda, ldx := m, k
		if trans[0] {
			lda = k
		}
		if trans[1] {
			ldx = n
		}
		A, X, Y := random(r, count*m*k), random(r, count*k*n), random(r, count*m*n)
		pa, px, py := alloc(t, c, 8*len(A)), alloc(t, c, 8*len(X)), alloc(t, c, 8*len(Y))
		lists := alloc(t, c, 3*8*count)
		var addresses []uint64
		for _, list := range []struct {
			p driver.Ptr
			n int
		}{{pa, m * k}, {px, k * n}, {py, m * n}} {
			for i := range count {
				addresses = append(addresses, uint64(list.p.Add(8*i*list.n)))
			}
		}
		driver.CopyIn(c, lists, addresses)
		want := make([]float64, len(Y))
		for i := range count {
			p := naive(trans[0], trans[1], m, n, k, A[i*m*k:], lda, X[i*k*n:], ldx)
			for j, v := range p {
				want[i*m*n+j] = 0.5*v + 2*Y[i*m*n+j]
			}
		}
		for _, batched := range []bool{false, true} {
			driver.CopyIn(c, pa, A)
			driver.CopyIn(c, px, X)
			driver.CopyIn(c, py, Y)
			if batched {
				b.GemmBatched(trans[0], trans[1], m, n, k, 0.5, lists, lda, lists.Add(8*count), ldx, 2, lists.Add(16*count), m, count)
			} else {
				b.GemmStrided(trans[0], trans[1], m, n, k, 0.5, pa, lda, m*k, px, ldx, k*n, 2, py, m, m*n, count)
			}
			got := make([]float64, len(Y))
			if err := driver.CopyOut(c, got, py); err != nil {
				t.Fatal(err)
			}
			if d := differ(got, want); d > 1e-13 {
				t.Errorf("op %v, addresses %v: off by %g", trans, batched, d)
			}
		}
		for _, p := range []driver.Ptr{pa, px, py, lists} {
			c.Free(p)
		}
	}
}

// A solution multiplied by the matrix is the right-hand side.
func TestTrsm(t *testing.T) {
	c := card(t, use(t, fake.Options{}), 0)
	b, err := c.BLAS()
	if err != nil {
		t.Fatal(err)
	}
	const m, n = 4, 6
	r := rand.New(rand.NewPCG(3, 4))
	for bits := range 8 {
		right, upper, trans := bits&1 != 0, bits&2 != 0, bits&4 != 0
		size := m
		if right {
			size = n
		}
		full := random(r, size*size)
		A := make([]float64, size*size) // full, with zeros in the other triangle
		for i := range size {
			full[i+i*size] += 4
			for j := range size {
				if i == j || (i < j) == upper {
					A[i+j*size] = full[i+j*size]
				}
			}
		}
		X := random(r, m*n)
		pa, px, lists := alloc(t, c, 8*len(A)), alloc(t, c, 8*len(X)), alloc(t, c, 16)
		driver.CopyIn(c, pa, full) // the other triangle is not read
		driver.CopyIn(c, px, X)
		driver.CopyIn(c, lists, []uint64{uint64(pa), uint64(px)})
		b.TrsmBatched(right, upper, trans, m, n, 0.5, lists, size, lists.Add(8), m, 1)
		got := make([]float64, m*n)
		if err := driver.CopyOut(c, got, px); err != nil {
			t.Fatal(err)
		}
		back := naive(trans, false, m, n, m, A, size, got, m)
		if right {
			back = naive(false, trans, m, n, n, got, m, A, size)
		}
		for i := range X {
			X[i] *= 0.5
		}
		if d := differ(back, X); d > 1e-13 {
			t.Errorf("right %v, upper %v, trans %v: off by %g", right, upper, trans, d)
		}
		for _, p := range []driver.Ptr{pa, px, lists} {
			c.Free(p)
		}
	}
}

func TestNoBLAS(t *testing.T) {
	configure(t, fake.Options{})
	child(t, "TestChildWithoutBLAS", driver.CUBLASVariable+"=/nowhere/libcublas.so")
}

func TestChildWithoutBLAS(t *testing.T) {
	inChild(t)
	d, err := driver.Open()
	if err != nil {
		t.Fatal(err)
	}
	_, err = card(t, d, 0).BLAS()
	if !errors.Is(err, driver.ErrNoBLAS) || !strings.Contains(fmt.Sprint(err), "/nowhere/libcublas.so") {
		t.Errorf("error %v", err)
	}
}
