package npz

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/words/wordstest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// FuzzCheckpoint: bytes are refused, or are arrays that are written and read as
// the same.
func FuzzCheckpoint(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, checkpointArrays()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	b.Reset()
	if err := Write(&b, map[string]vbks.Tensor{"a": {Shape: []int{2}, Data: []float64{1, 2}}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, text []byte) {
		arrays, err := unpack(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			wordstest.CheckMessage(t, err, len(text))
			return
		}
		var b bytes.Buffer
		must.OK(t, Write(&b, arrays))
		again, err := unpack(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil || !sameArrays(arrays, again) {
			t.Fatalf("%v: %v becomes %v", err, arrays, again)
		}
	})
}

// sameArrays compares bits: NaN may be among them.
func sameArrays(a, b map[string]vbks.Tensor) bool {
	return maps.EqualFunc(a, b, func(x, y vbks.Tensor) bool {
		return slices.Equal(x.Shape, y.Shape) && slices.EqualFunc(x.Data, y.Data, func(v, w float64) bool {
			return math.Float64bits(v) == math.Float64bits(w)
		})
	})
}
