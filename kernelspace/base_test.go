package kernelspace

import (
	"strings"
	"testing"
)

// TestTable checks that every row of the table is filled in, and that no name
// means two kernels.
func TestTable(t *testing.T) {
	meant := map[string]string{}
	for b := range numBases {
		info := b.info()
		if info.name == "" || info.letter == "" || info.about == "" || info.value == nil {
			t.Fatalf("row %d: %q lacks its letter, its words or its formula", b, info.name)
		}
		if info.op >= OpAdd {
			t.Errorf("%s has operation %d, which is no leaf's", info.name, info.op)
		}
		if !strings.Contains(info.about, "σ²") {
			t.Errorf("%s: %q has no formula", info.name, info.about)
		}
		for _, name := range append([]string{info.name, info.letter}, info.synonyms...) {
			upper := strings.ToUpper(name)
			if other, ok := meant[upper]; ok && other != info.name {
				t.Errorf("%s means %s and %s", name, other, info.name)
			}
			meant[upper] = info.name
		}
		// What its operation computes must not depend on which row it came from.
		for other := range b {
			o := other.info()
			if o.op == info.op && (o.degree == info.degree || o.scale != info.scale || o.periods != info.periods || o.shape != info.shape) {
				t.Errorf("%s and %s have one operation", info.name, o.name)
			}
		}
	}
}
