package series

import (
	"bytes"
	"io"
	"path"
	"strings"
	"testing"
)

// FuzzArchives reads anything as an archive: whatever is taken from it has a name below the
// directory that it is for, and is no longer than all of it.
func FuzzArchives(f *testing.F) {
	f.Add([]byte("\x01\x00a\x02\x00\x00\x00\x00\x00\x00\x00xy\x07\x00state/b\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x04\x00../a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = entries(bytes.NewReader(b), func(name string, in *io.LimitedReader) error {
			if at := path.Join("/d", name); !strings.HasPrefix(at, "/d/") || path.Clean(name) != name {
				t.Errorf("%q", name)
			}
			n, err := io.Copy(io.Discard, in)
			if n > int64(len(b)) {
				t.Errorf("%q has %d bytes, of %d", name, n, len(b))
			}
			return err
		})
	})
}
