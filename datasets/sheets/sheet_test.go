package sheets

import (
	"errors"
	"strings"
	"testing"
)

// TestDecodeRK has the examples of OpenOffice's "Documentation of the Microsoft
// Excel File Format", 2.5.5.
func TestDecodeRK(t *testing.T) {
	for rk, want := range map[uint32]float64{0x3ff00000: 1, 0x405ec001: 1.23, 0x02f1853a: 12345678, 0x02f1853b: 123456.78, 0xfffffffe: -1} {
		if got := decodeRK(rk); got != want {
			t.Errorf("%#x: %v, not %v", rk, got, want)
		}
	}
}

func TestGuardedTurnsPanicsIntoErrors(t *testing.T) {
	err := Guarded(func() error {
		var a []int
		_ = a[len(a)]
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "is damaged") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if want := errors.New("x"); Guarded(func() error { return want }) != want {
		t.Error("changed")
	}
}
