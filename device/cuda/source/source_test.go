//go:build cuda

package source

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"

	"example.com/kestrel/kernelspace"
)

// TestImages checks that the images are there, of this source, and hold its
// kernels.
func TestImages(t *testing.T) {
	for _, arch := range []int{70, 86, 90, 100} {
		text, err := Image(arch)
		if err != nil {
			t.Fatalf("%v; see image/README.md", err)
		}
		for _, name := range Names() {
			if !bytes.Contains(text, []byte(".entry "+name+"(")) {
				t.Errorf("the image for %d has no kernel %s", arch, name)
			}
		}
	}
	if _, err := Image(60); err == nil {
		t.Error("there is an image for compute capability 6.0")
	}
}

// TestConstantsMatch checks that the sources number the operations as the tables
// do, and have the interpreter's limits.
func TestConstantsMatch(t *testing.T) {
	library := Library()
	list := regexp.MustCompile(`enum Op \{([^}]*)\}`).FindStringSubmatch(library)
	if list == nil {
		t.Fatal("no enum Op")
	}
	names := regexp.MustCompile(`\w+`).FindAllString(list[1], -1)
	want := map[string]kernelspace.Op{
		"op_se": kernelspace.OpSE, "op_rq": kernelspace.OpRQ, "op_lin": kernelspace.OpLIN, "op_per": kernelspace.OpPER,
		"op_matern12": kernelspace.OpMatern12, "op_matern32": kernelspace.OpMatern32, "op_matern52": kernelspace.OpMatern52,
		"op_white": kernelspace.OpWhite, "op_const": kernelspace.OpConst, "op_poly": kernelspace.OpPoly, "op_cos": kernelspace.OpCos,
		"op_rw": kernelspace.OpRW, "op_irw": kernelspace.OpIRW, "op_cat": kernelspace.OpCat, "op_levels": kernelspace.OpLevels,
		"op_step": kernelspace.OpStep,
		"op_add":  kernelspace.OpAdd, "op_mul": kernelspace.OpMul, "op_change": kernelspace.OpChange,
	}
	if len(names) != len(want) || len(operations) != len(want) {
		t.Fatalf("operations %v in the sources, %v here", names, operations)
	}
	for i, name := range names {
		if op, ok := want[name]; !ok || number(op) != i {
			t.Errorf("%s is %d in the sources, %d here", name, i, number(op))
		}
	}
	for name, value := range map[string]int{"MOST_NODES": mostNodes, "MOST_PARAMS": MostParams, "MOST_COLUMNS": mostColumns} {
		m := regexp.MustCompile(`#define ` + name + ` (\d+)`).FindStringSubmatch(library)
		if m == nil || m[1] != strconv.Itoa(value) {
			t.Errorf("%s is %v in the sources, %d here", name, m, value)
		}
	}
}

// TestStructure checks that equal structures are told from different ones.
func TestStructure(t *testing.T) {
	structure := func(s string, o kernelspace.Options) string {
		e, err := kernelspace.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		p, err := kernelspace.Compile(e, o)
		if err != nil {
			t.Fatal(err)
		}
		return Structure(p)
	}
	two := kernelspace.Options{Dim: 2}
	if structure("SE*PER", two) == "" {
		t.Error("SE*PER has no structure")
	}
	seen := map[string]string{}
	for _, s := range []string{"SE*PER", "SE+PER", "SE[1]*PER", "SE[2]*PER", "SE[;ard]*PER", "POLY2", "POLY3", "SE*(SE+PER)",
		"SE*SE+PER", "(SE+SE)*PER"} {
		k := structure(s, two)
		if other, ok := seen[k]; ok {
			t.Errorf("%s and %s have the same structure", s, other)
		}
		seen[k] = s
	}
	if structure("PER+SE", two) != structure("(PER+SE)", two) ||
		structure("SE[;ard]", two) != structure("SE", kernelspace.Options{Dim: 2, ARD: true}) {
		t.Error("equal structures differ")
	}
	if s := structure("SE+SE+SE+SE+SE+SE+SE", two); s != "" {
		t.Errorf("seven leaves have the structure %q, want the interpreter", s)
	}
}

// TestEveryLeaf checks that the sources have code for every base kernel of the table and for
// change points, by the interpreter and generated, and that no two share it: a row more there
// is not left to the CPU in silence.
func TestEveryLeaf(t *testing.T) {
	texts := []string{"CP(SE,LIN)", "CAT[1;ard]"}
	levels := func(int) []float64 { return []float64{-0.1, 1e-300, 3} }
	for _, b := range kernelspace.BaseKernels() {
		texts = append(texts, b.Name)
	}
	seen := map[string]string{}
	for _, text := range texts {
		e, err := kernelspace.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: 1, Levels: levels})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Table(p); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Matrices([]*kernelspace.Program{p}, true); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		code := Structure(p)
		if other, ok := seen[code]; ok || code == "" {
			t.Errorf("%s and %q are the same code %q", text, other, code)
		}
		seen[code] = text
	}
}
