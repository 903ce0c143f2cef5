// Package goroutines looks for goroutines that tests have left behind.
package goroutines

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

type here struct{}

// Left returns the stacks of the goroutines that work in this program, tests
// apart.
func Left() (stacks []string) {
	module := strings.TrimSuffix(reflect.TypeFor[here]().PkgPath(), "internal/goroutines")
	dump := make([]byte, 1<<20)
	for _, g := range strings.Split(string(dump[:runtime.Stack(dump, true)]), "\n\n") {
		if strings.Contains(g, "\n"+module) && !strings.Contains(g, "testing.tRunner") {
			stacks = append(stacks, g)
		}
	}
	return stacks
}

// End waits until none is left, for a minute at most, since a machine may be busy; what says after what.
func End(t testing.TB, what string) {
	t.Helper()
	var left []string
	for range 6000 {
		if left = Left(); left == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: goroutines are left:\n%s", what, strings.Join(left, "\n\n"))
}
