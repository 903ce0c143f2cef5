// Package thorough says how much tests do that go through very many cases: a fixed
// sample of them, or all where KESTREL_THOROUGH=1 asks for that, as .ci/run does once.
package thorough

import (
	"os"
	"testing"
)

// variable, set to 1, asks for all cases.
const variable = "KESTREL_THOROUGH"

// OneIn returns which share of its cases a test does: 1 where all are asked for, else
// one in n, which its log says.
func OneIn(t testing.TB, n int, cases string) int {
	t.Helper()
	if os.Getenv(variable) == "1" {
		return 1
	}
	t.Logf("a sample, one in %d %s: %s=1 takes all", n, cases, variable)
	return n
}

// Unraced leaves a test out where the race detector, which makes it many times slower, has
// nothing to see in it that it does not see in another.
func Unraced(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("left to runs without the race detector: what runs beside something here does so in cheaper tests, too")
	}
}
