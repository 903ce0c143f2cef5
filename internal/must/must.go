// Package must ends tests on errors.
package must

import "testing"

// OK ends the test on an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
