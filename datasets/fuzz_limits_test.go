package datasets

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"example.com/kestrel/internal/thorough"
)

// repeating repeats a text and counts what is read of it.
type repeating struct {
	head, text string
	at, most   int
}

func (e *repeating) Read(p []byte) (int, error) {
	if e.at >= e.most {
		return 0, io.EOF
	}
	if e.at < len(e.head) {
		n := copy(p, e.head[e.at:])
		e.at += n
		return n, nil
	}
	if len(e.text) < 1<<16 {
		e.text = strings.Repeat(e.text, 1+1<<16/len(e.text))
	}
	n := copy(p, e.text[(e.at-len(e.head))%len(e.text):])
	e.at += n
	return n, nil
}

// A line or a record of a gigabyte ends in an error after the first 64 MiB, in
// memory of a few times that.
func TestLongRecords(t *testing.T) {
	thorough.Unraced(t)
	for what, c := range map[string]struct {
		head, text string
		delim      byte
		want       string
	}{
		"a line":                  {"", "1234567890", ',', "too long"},
		"a field in quotes":       {`"`, "1234567890", ',', "too long"},
		"lines in quotes":         {`"`, "123456789\n", ',', "unclosed"},
		"many fields of lines":    {"", "\"" + strings.Repeat("8", 1000) + "\n\",", ',', "unclosed"},
		"commas":                  {"", ",", ',', "too long"},
		"spaces":                  {"1", " ", ' ', "too long"},
		"fields by spaces":        {"", "1 ", ' ', "too long"},
		"quotes and commas":       {"", `"",`, ',', "too long"},
		"zeros":                   {"", "\x00", ',', "too long"},
		"half a megabyte of ,":    {strings.Repeat(",", 1<<19) + "\n", "1\n", ',', "more than 262144 fields"},
		"half a megabyte of \"\"": {strings.Repeat(`"",`, 1<<19) + "\n", "1\n", ',', "more than 262144 fields"},
		"half a megabyte of 1":    {strings.Repeat("1 ", 1<<19) + "\n", "1\n", ' ', "more than 262144 fields"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		in := &repeating{head: c.head, text: c.text, most: 1 << 30}
		s := &records{r: bufio.NewReaderSize(in, sampleBytes), delim: c.delim, file: "f"}
		_, err := s.read()
		runtime.ReadMemStats(&after)
		var line *LineError
		if !errors.As(err, &line) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", what, err, c.want)
		}
		if in.at > maxRecord+2*sampleBytes {
			t.Errorf("%s: %d bytes read", what, in.at)
		}
		// All that was ever allocated: the buffer doubles or grows by a quarter.
		if n := after.TotalAlloc - before.TotalAlloc; n > 8*maxRecord {
			t.Errorf("%s: %d MiB allocated", what, n>>20)
		}
	}
}

// A file that unpacks to a thousand times its size is refused; one that is no
// larger in clear than what any file may be is read.
func TestArchiveBomb(t *testing.T) {
	var member bytes.Buffer
	w, err := gzip.NewWriterLevel(&member, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(bytes.Repeat([]byte("1,2"+strings.Repeat(" ", 252)+"\n"), 1<<14)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// Members may follow each other: 512 MiB in half a MiB.
	path := writeFile(t, "bomb.csv.gz", strings.Repeat(member.String(), 128))
	_, err = Load(context.Background(), Spec{Path: path})
	if err == nil || !strings.Contains(err.Error(), "unpack to more than 250 times") {
		t.Errorf("%v", err)
	}
	// A frame of zstandard that asks for a window of 3.75 TB, and one of 256 MiB.
	for _, window := range []byte{0xff, 18 << 3} {
		path = writeFile(t, "bomb.csv.zst", "\x28\xb5\x2f\xfd\x00"+string([]byte{window})+"\x01\x00\x00")
		if _, err = Load(context.Background(), Spec{Path: path}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("window %#x: %v", window, err)
		}
	}
}

// FuzzPacked feeds the decompressors: no panic, one line, nothing that steers a
// terminal.
func FuzzPacked(f *testing.F) {
	for _, how := range []string{"gz", "xz", "zst"} {
		f.Add(compressed(f, how, "x,y\n1,2\n2,3\n3,5\n"))
	}
	path := filepath.Join(f.TempDir(), "a.csv.gz")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(context.Background(), Spec{Path: path}); err != nil && strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
			t.Errorf("%q", err)
		}
	})
}
