package vbks

import (
	"hash/fnv"
	"math/rand/v2"
)

// stream returns the random numbers for one purpose: every kernel and
// evaluation has its own, so that results do not depend on the order in which
// workers take kernels up.
func stream(seed uint64, name string, number int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()+uint64(number)*0x9e3779b97f4a7c15))
}

// permutation is the fixed order in which rows are taken for the common
// subsample of the ELBO estimates.
func permutation(n int, seed uint64) []int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	stream(seed, "elbo rows", 0).Shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}
