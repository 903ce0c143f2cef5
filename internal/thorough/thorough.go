// Package thorough says how much tests do that go through very many cases: a fixed
// sample of them, or all where KESTREL_THOROUGH=1 asks for that, or one in eight where
// KESTREL_THOROUGH=8 does.
package thorough

import (
	"os"
	"strconv"
	"testing"
)

// variable is one in how many cases are asked for; 1 asks for all.
const variable = "KESTREL_THOROUGH"

// OneIn returns which share of its cases a test does: one in n, which its log says, or
// more where they are asked for.
func OneIn(t testing.TB, n int, cases string) int {
	t.Helper()
	if asked, err := strconv.Atoi(os.Getenv(variable)); err == nil && asked > 0 {
		n = min(n, asked)
	}
	if n > 1 {
		t.Logf("a sample, one in %d %s: %s=1 takes all", n, cases, variable)
	}
	return n
}

// AnyInstructions leaves a test out where KESTREL_SIMD has a CPU compute as another would:
// what the test holds is an order of things, which other digits do not change.
func AnyInstructions(t testing.TB) {
	t.Helper()
	if os.Getenv("KESTREL_SIMD") != "" {
		t.Skip("left to runs without KESTREL_SIMD: it does not depend on digits")
	}
}

// Unraced leaves a test out where the race detector, which makes it many times slower, has
// nothing to see in it that it does not see in another.
func Unraced(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("left to runs without the race detector: what runs beside something here does so in cheaper tests, too")
	}
}
