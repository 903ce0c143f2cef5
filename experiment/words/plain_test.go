package words

import (
	"bytes"
	"errors"
	"testing"
)

func TestPlainWriter(t *testing.T) {
	const text = "a\tb\nÄ€😀 \x1b[31m\u009b\x7f\r\u202e\u2028 \xff\xc3"
	const want = "a\tb\nÄ€😀 �[31m���\ufffd\ufffd �"
	// However the bytes are divided over the writes.
	for size := 1; size <= len(text); size++ {
		var b bytes.Buffer
		w := PlainWriter(&b)
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			if m, err := w.Write(rest[:n]); m != n || err != nil {
				t.Fatal(m, err)
			}
			rest = rest[n:]
		}
		if b.String() != want {
			t.Errorf("%d bytes at a time: %q, want %q", size, b.String(), want)
		}
	}
	if _, err := PlainWriter(failingWriter{}).Write([]byte("a")); err == nil {
		t.Error("no error")
	}
	if got := PlainLine("a\nb\tc\x1b"); got != "a b c�" {
		t.Errorf("%q", got)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }
