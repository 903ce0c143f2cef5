// Package random names the streams of random numbers of a run.
package random

import (
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the random numbers for one purpose within a run of that seed:
// every kernel and evaluation has its own, so that results do not depend on the
// order in which workers take kernels up.
func Stream(seed uint64, name string, number int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()+uint64(number)*0x9e3779b97f4a7c15))
}

// Sample returns size of the numbers 0, …, n−1, drawn without replacement.
func Sample(rng *rand.Rand, n, size int) []int {
	if size >= n {
		out := make([]int, n)
		for i := range out {
			out[i] = i
		}
		return out
	}
	// Floyd's algorithm (Bentley and Floyd, CACM 30, 1987).
	seen := make(map[int]bool, size)
	out := make([]int, 0, size)
	for j := n - size; j < n; j++ {
		t := rng.IntN(j + 1)
		if seen[t] {
			t = j
		}
		seen[t] = true
		out = append(out, t)
	}
	return out
}
