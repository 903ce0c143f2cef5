package cpu

import (
	"testing"

	"example.com/kestrel/kernelspace"
)

// TestCodeIsComplete checks that every base kernel has code, and that code which
// lacks a part does not count.
func TestCodeIsComplete(t *testing.T) {
	for _, b := range kernelspace.BaseKernels() {
		e, err := kernelspace.Parse(b.Name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !hasCode(p.Instrs[0].Op) {
			t.Errorf("%s has no code, or lacks a part of it", b.Name)
		}
	}
	for _, op := range []kernelspace.Op{kernelspace.OpAdd - 1, kernelspace.OpAdd, kernelspace.OpMul + 1} {
		if hasCode(op) {
			t.Errorf("operation %d, which is no base kernel's, has code", op)
		}
	}
	for part, drop := range map[string]func(c *code){
		"forward":  func(c *code) { c.forward = nil },
		"backward": func(c *code) { c.backward = nil },
		"inputs":   func(c *code) { c.inputs = nil },
		"weights":  func(c *code) { c.weights = nil },
	} {
		c := codeOf(kernelspace.OpRQ)
		drop(&c)
		if c.complete() {
			t.Errorf("RQ without %s counts as complete", part)
		}
	}
}
