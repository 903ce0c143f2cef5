// Package kernelspacetest compiles kernels for tests.
package kernelspacetest

import (
	"testing"

	"example.com/kestrel/kernelspace"
)

// Program parses and compiles an expression in canonical order.
func Program(t testing.TB, expr string, opt kernelspace.Options) *kernelspace.Program {
	t.Helper()
	e, err := kernelspace.Parse(expr)
	if err != nil {
		t.Fatal(err)
	}
	p, err := kernelspace.Compile(e.Canonical(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
