//go:build cuda

package driver

import (
	"errors"
	"testing"
)

// Results of which NVIDIA's documentation of CUresult says that the process or
// its context is of no use afterwards, and some after which it is.
func TestLostResults(t *testing.T) {
	for _, code := range []int{214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999} {
		if err := error(&Error{Op: "waiting", Code: code}); !errors.Is(err, ErrLost) || errors.Is(err, ErrOutOfMemory) {
			t.Errorf("result %d: %v is not the loss of the card", code, err)
		}
	}
	for _, code := range []int{1, 2, 200, 209, 500, 600, 701, 801} {
		if err := error(&Error{Op: "waiting", Code: code}); errors.Is(err, ErrLost) {
			t.Errorf("result %d: %v is the loss of the card", code, err)
		}
	}
}
