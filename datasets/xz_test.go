package datasets

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// packXZ packs a text with another's writer.
func packXZ(t testing.TB, text string, c xz.WriterConfig) []byte {
	t.Helper()
	var b bytes.Buffer
	if c.DictCap == 0 {
		c.DictCap = 1 << 16 // the usual 8 MiB take their time
	}
	w, err := c.NewWriter(&b)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpackXZ(packed []byte) (string, error) {
	r, err := newXZReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// tableText is a text of 40,000 bytes that does not shrink to nothing.
func tableText() string {
	var b strings.Builder
	for i := range 4800 {
		fmt.Fprintf(&b, "%d,%d\n", i, i*i%1009)
	}
	return b.String()[:40_000]
}

func TestXZ(t *testing.T) {
	text := tableText()
	small := packXZ(t, "1,2\n", xz.WriterConfig{})
	for what, packed := range map[string][]byte{
		"one block":   packXZ(t, text, xz.WriterConfig{}),
		"blocks":      packXZ(t, text, xz.WriterConfig{BlockSize: 1000}),
		"crc32":       packXZ(t, text, xz.WriterConfig{CheckSum: xz.CRC32}),
		"sha256":      packXZ(t, text, xz.WriterConfig{CheckSum: xz.SHA256, BlockSize: 7000}),
		"no checksum": packXZ(t, text, xz.WriterConfig{NoCheckSum: true}),
		"of 64 MiB":   packXZ(t, text, xz.WriterConfig{DictCap: 64 << 20}),
		"streams":     append(packXZ(t, text[:10_000], xz.WriterConfig{}), packXZ(t, text[10_000:], xz.WriterConfig{CheckSum: xz.CRC32})...),
		"padding": append(append(packXZ(t, text[:1000], xz.WriterConfig{}), make([]byte, 8)...),
			append(packXZ(t, text[1000:], xz.WriterConfig{}), make([]byte, 4)...)...),
		"an empty stream": append(packXZ(t, "", xz.WriterConfig{}), packXZ(t, text, xz.WriterConfig{})...),
	} {
		if got, err := unpackXZ(packed); err != nil || got != text {
			t.Errorf("%s: %d bytes of %d, %v", what, len(got), len(text), err)
		}
		if what != "one block" && what != "streams" {
			continue
		}
		for _, tail := range []string{"\x00", "\x00\x00\x00", "abcd", "a longer text", string(small[:20])} {
			if _, err := unpackXZ(append(bytes.Clone(packed), tail...)); err == nil {
				t.Errorf("%s: nothing is said of %q behind it", what, tail)
			}
		}
	}
	// Whatever byte is changed or missing, the text is whole or there is an error.
	packed := packXZ(t, text[:1200], xz.WriterConfig{BlockSize: 600, DictCap: 4096})
	for at := range packed {
		if got, err := unpackXZ(packed[:at]); err == nil {
			t.Errorf("%d of %d bytes: %d bytes without an error", at, len(packed), len(got))
		}
		bad := bytes.Clone(packed)
		bad[at] ^= 0x11
		if got, err := unpackXZ(bad); err == nil && got != text[:1200] {
			t.Errorf("byte %d: another text without an error", at)
		}
	}
}

// withDictionary changes the size of the dictionary that the first block of a
// packed text asks for. Its head begins behind the 12 bytes of the stream's:
// size, flags, sizes that ours has not, filter 0x21 with one byte, padding,
// checksum.
func withDictionary(t *testing.T, packed []byte, size byte) []byte {
	t.Helper()
	out := bytes.Clone(packed)
	head := out[12 : 12+4*(int(out[12])+1)]
	at := bytes.Index(head, []byte{0x21, 1})
	if at < 0 {
		t.Fatal("no filter in the head of the block")
	}
	head[at+2] = size
	end := len(head) - 4
	binary.LittleEndian.PutUint32(head[end:], crc32.ChecksumIEEE(head[:end]))
	return out
}

// withSizes has the head of the first block, of 12 bytes, say how large the block is,
// packed and in clear; −1 is not said.
func withSizes(packed []byte, stored, clear int) []byte {
	out := bytes.Clone(packed)
	head := out[12:24]
	filter := bytes.Clone(head[2:5])
	said := []byte{head[0], head[1]}
	for i, size := range []int{stored, clear} {
		if size >= 0 {
			said[1] |= 0x40 << i
			said = append(said, byte(size)) // below 128 as they are
		}
	}
	clearTo := copy(head, append(said, filter...))
	for i := clearTo; i < 8; i++ {
		head[i] = 0
	}
	binary.LittleEndian.PutUint32(head[8:], crc32.ChecksumIEEE(head[:8]))
	return out
}

// Of all sizes that a block may be said to have only its own is taken.
func TestXZBlocksHaveTheSizeTheySay(t *testing.T) {
	const text = "x,y\n1,2\n2,3\n"
	packed := packXZ(t, text, xz.WriterConfig{DictCap: 4096})
	// The index has the size of what is stored together with a head of 12 bytes and a checksum of 8.
	index := bytes.LastIndex(packed, []byte{0, 1}) // of one block
	stored := int(packed[index+2]) - 12 - 8
	for size := range 128 {
		for _, c := range [][2]int{{size, -1}, {-1, size}, {size, len(text)}, {stored, size}} {
			right := (c[0] < 0 || c[0] == stored) && (c[1] < 0 || c[1] == len(text))
			if got, err := unpackXZ(withSizes(packed, c[0], c[1])); (err == nil) != right || right && got != text {
				t.Errorf("%d bytes packed as %d that say %v: %v", len(text), stored, c, err)
			}
		}
	}
}

// A block that asks for more memory than xz -9 does is refused before the memory
// is taken, whichever block it is.
func TestXZDictionary(t *testing.T) {
	text := "x,y\n" + strings.Repeat("1,2\n2,3\n", 50)
	packed := packXZ(t, text, xz.WriterConfig{})
	for _, c := range []struct {
		what string
		data []byte
		want string // "" if it is read
	}{
		{"4 GiB less 1", withDictionary(t, packed, 40), "asks for a dictionary of 4095 MiB, xz -9 for 64; unpack the file first"},
		{"96 MiB", withDictionary(t, packed, 29), "asks for a dictionary of 96 MiB"},
		{"64 MiB", withDictionary(t, packed, 28), ""},
		{"4 GiB in the second stream", append(bytes.Clone(packed), withDictionary(t, packed, 40)...), "asks for a dictionary of 4095 MiB"},
		{"no size at all", withDictionary(t, packed, 41), "dictionary of a block"},
	} {
		path := writeFile(t, "a.csv.xz", string(c.data))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Load(context.Background(), Spec{Path: path})
		runtime.ReadMemStats(&after)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.what, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "a.csv.xz") ||
			strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: error %v, want %q", c.what, err, c.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 80<<20 {
			t.Errorf("%s: %d MiB allocated", c.what, n>>20)
		}
	}
}

// A short block does not take the memory of the dictionary that it asks for.
func TestXZShortBlocksTakeLittle(t *testing.T) {
	text := tableText()
	packed := packXZ(t, text, xz.WriterConfig{BlockSize: 2000, DictCap: 8 << 20})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := unpackXZ(packed)
	runtime.ReadMemStats(&after)
	if err != nil || got != text {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d MB for %d bytes", n>>20, len(packed))
	}
}
