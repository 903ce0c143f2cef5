package grow

import (
	"math/big"
	"math/rand/v2"

	"example.com/kestrel/kernelspace"
)

// Draw returns a kernel of n leaves, each of those of the grammar with the same probability.
// It panics where there is none: see Has.
//
// A sum is drawn as a collection of what is no sum by the recursion that counts them: j A_j
// B_{n−jd} of the n S_n pairs of a sum and one of its parts, of j leaves, are those in which d
// equal ones and the part are taken out (Nijenhuis and Wilf, Combinatorial Algorithms, 1978,
// chapter 29). So are products.
func (g *Grammar) Draw(rng *rand.Rand, n int) kernelspace.Expr {
	if !g.Has(n) {
		panic("grow: no kernel has so many leaves")
	}
	return g.drawAll(rng, n).Canonical()
}

// Has reports whether some kernel has n leaves.
func (g *Grammar) Has(n int) bool { return n >= 1 && n <= g.most && g.counts[n].Sign() > 0 }

// drawn is one of some sorts of things, drawn by how many there are of each.
func drawn(rng *rand.Rand, counts ...*big.Int) int {
	total := new(big.Int)
	for _, c := range counts {
		total.Add(total, c)
	}
	at := whole(rng, total)
	for i, c := range counts {
		if at.Cmp(c) < 0 {
			return i
		}
		at.Sub(at, c)
	}
	panic("grow: nothing to draw from")
}

// whole is a number from 0 to n − 1, n > 0.
func whole(rng *rand.Rand, n *big.Int) *big.Int {
	bits := n.BitLen()
	for {
		v := new(big.Int)
		for have := 0; have < bits; have += 64 {
			v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(rng.Uint64()))
		}
		v.Rsh(v, uint((64-bits%64)%64))
		if v.Cmp(n) < 0 {
			return v
		}
	}
}

// flat is how many kernels of n leaves are no sum: as many as are no product.
func (g *Grammar) flat(n int) *big.Int { return new(big.Int).Sub(g.counts[n], g.joined(n)) }

// joined is how many kernels of n leaves are sums: as many as are products.
func (g *Grammar) joined(n int) *big.Int {
	// N = b + 2 S + C
	rest := new(big.Int).Sub(g.counts[n], g.alone(n))
	return rest.Rsh(rest, 1)
}

// alone is how many kernels of n leaves are leaves or change points.
func (g *Grammar) alone(n int) *big.Int {
	if n == 1 {
		return big.NewInt(int64(len(g.leaves)))
	}
	out := new(big.Int)
	for i := 1; i < n-1; i++ {
		out.Add(out, new(big.Int).Mul(g.counts[i], g.counts[n-1-i]))
	}
	return out.Mul(out, big.NewInt(int64(len(g.steps))))
}

func (g *Grammar) drawAll(rng *rand.Rand, n int) kernelspace.Expr {
	switch drawn(rng, g.alone(n), g.joined(n), g.joined(n)) {
	case 0:
		return g.drawAlone(rng, n)
	case 1:
		return g.drawJoined(rng, n, true)
	}
	return g.drawJoined(rng, n, false)
}

// drawFlat draws what is no sum, or no product.
func (g *Grammar) drawFlat(rng *rand.Rand, n int, noSum bool) kernelspace.Expr {
	if drawn(rng, g.alone(n), g.joined(n)) == 0 {
		return g.drawAlone(rng, n)
	}
	return g.drawJoined(rng, n, !noSum)
}

func (g *Grammar) drawAlone(rng *rand.Rand, n int) kernelspace.Expr {
	if n == 1 {
		return g.leaves[rng.IntN(len(g.leaves))]
	}
	pairs := make([]*big.Int, n-2)
	for i := range pairs {
		pairs[i] = new(big.Int).Mul(g.counts[i+1], g.counts[n-2-i])
	}
	i := drawn(rng, pairs...) + 1
	return kernelspace.Change(g.steps[rng.IntN(len(g.steps))], g.drawAll(rng, i), g.drawAll(rng, n-1-i))
}

// drawJoined draws a sum, or a product.
func (g *Grammar) drawJoined(rng *rand.Rand, n int, sum bool) kernelspace.Expr {
	parts := g.drawParts(rng, n, sum)
	if sum {
		return kernelspace.Sum(parts...)
	}
	return kernelspace.Product(parts...)
}

// drawParts draws the parts of a sum or a product, two or more.
func (g *Grammar) drawParts(rng *rand.Rand, n int, sum bool) (parts []kernelspace.Expr) {
	var ways []*big.Int
	type way struct{ leaves, times int }
	var of []way
	for j := 1; j < n; j++ {
		for d := 1; j*d <= n; d++ {
			w := new(big.Int).Mul(big.NewInt(int64(j)), g.flat(j))
			ways, of = append(ways, w.Mul(w, g.collections(n-j*d))), append(of, way{j, d})
		}
	}
	w := of[drawn(rng, ways...)]
	part := g.drawFlat(rng, w.leaves, sum)
	for range w.times {
		parts = append(parts, part)
	}
	left := n - w.leaves*w.times
	switch {
	case left == 0:
	case drawn(rng, g.flat(left), g.joined(left)) == 0:
		parts = append(parts, g.drawFlat(rng, left, sum))
	default:
		parts = append(parts, g.drawParts(rng, left, sum)...)
	}
	return parts
}

// collections is how many there are, of n leaves, of what is no sum: B_n = S_n + A_n = N_n, one
// of nothing.
func (g *Grammar) collections(n int) *big.Int {
	if n == 0 {
		return big.NewInt(1)
	}
	return g.counts[n]
}
