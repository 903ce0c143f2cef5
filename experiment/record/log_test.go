package record

import (
	"runtime"
	"strings"
	"testing"
)

// endless gives the same byte for ever and counts.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '['
	}
	e.n += len(p)
	return len(p), nil
}

// A line that does not end is given up after the longest that there can be.
func TestEndlessLine(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := &endless{}
	d := NewDecoder(in)
	if d.longest != LongestLine {
		t.Fatal(d.longest)
	}
	d.longest = 32 << 20 // which takes less time
	_, err := d.Next()
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "line 1 is damaged: it does not end") {
		t.Error(err)
	}
	if in.n > d.longest+2<<20 {
		t.Errorf("%d bytes read", in.n)
	}
	// All that was ever allocated: the line's memory grows by a quarter at a time.
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*uint64(d.longest) {
		t.Errorf("%d MiB allocated", n>>20)
	}
}
