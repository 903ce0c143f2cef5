package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"github.com/sbinet/npyio/npz"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// checkpointArrays has every shape and every kind of number.
func checkpointArrays() map[string]vbks.Tensor {
	big := make([]float64, 3000)
	for i := range big {
		big[i] = math.Sin(float64(i))
	}
	return map[string]vbks.Tensor{
		"run":          {Shape: []int{4}, Data: []float64{0, math.Copysign(0, -1), math.Inf(-1), 5e-324}},
		"kernel/0/big": {Shape: []int{30, 100}, Data: big},
		"scalar":       {Shape: []int{}, Data: []float64{1}},
		"empty":        {Shape: []int{0, 3}, Data: []float64{}},
	}
}

func npzBytes(t *testing.T, arrays map[string]vbks.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, Write(&b, arrays))
	return b.Bytes()
}

func TestCheckpointRoundTrip(t *testing.T) {
	want := checkpointArrays()
	dir, err := inside.Open(t.TempDir())
	must.OK(t, err)
	defer dir.Close()
	must.OK(t, Save(dir, "c.npz", want))
	got, err := Load(dir, "c.npz")
	must.OK(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if !math.Signbit(got["run"].Data[1]) {
		t.Error("−0 became 0")
	}
	// What an independent writer makes of an array is read, too; a checkpoint has a
	// hash, or others may have changed it.
	other := dir.Join("o.npz")
	w, err := npz.Create(other)
	must.OK(t, err)
	must.OK(t, w.Write("a.npy", []float64{1, 2, 3}))
	must.OK(t, w.Close())
	text, err := os.ReadFile(other)
	must.OK(t, err)
	if got, err = unpack(bytes.NewReader(text), int64(len(text))); err != nil ||
		!reflect.DeepEqual(got["a"], vbks.Tensor{Shape: []int{3}, Data: []float64{1, 2, 3}}) {
		t.Errorf("%v %v", got, err)
	}
	if _, err := Load(dir, "o.npz"); err == nil || !strings.Contains(err.Error(), "it has no array sha256") {
		t.Error(err)
	}
	if _, err := Load(dir, "nosuch"); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// Of a triangle a file has no more than that, in blocks of any size; read back it is plain numbers.
func TestTrianglesAreWritten(t *testing.T) {
	const m = 200 // more than a block
	matrix := make([]float64, m*m)
	var want []float64
	for i := range m {
		for j := range i + 1 {
			matrix[i*m+j] = math.Sin(float64(i*m + j))
			want = append(want, matrix[i*m+j])
		}
	}
	dir, err := inside.Open(t.TempDir())
	must.OK(t, err)
	defer dir.Close()
	must.OK(t, Save(dir, "c.npz", map[string]vbks.Tensor{"chol": {Shape: []int{len(want)}, Data: matrix, Lower: true}}))
	got, err := Load(dir, "c.npz")
	must.OK(t, err)
	if !reflect.DeepEqual(got, map[string]vbks.Tensor{"chol": {Shape: []int{m * (m + 1) / 2}, Data: want}}) {
		t.Error("the triangle came back as something else")
	}
	info, err := dir.Lstat("c.npz")
	must.OK(t, err)
	if info.Size() > int64(8*len(want)+2000) {
		t.Errorf("%d bytes for %d numbers", info.Size(), len(want))
	}
}

// Whatever happens to the bytes: an error of one line, or the same arrays.
func TestDamagedCheckpoint(t *testing.T) {
	want := checkpointArrays()
	whole := npzBytes(t, want)
	try := func(what string, text []byte) {
		t.Helper()
		got, err := unpack(bytes.NewReader(text), int64(len(text)))
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q", what, err)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: read without an error as something else", what)
		}
	}
	try("whole", whole)
	for n := 0; n < len(whole); n += 97 {
		try(fmt.Sprintf("%d bytes", n), whole[:n])
	}
	// Names lie outside the checksums.
	names := bytes.Index(whole, []byte("PK\x01\x02"))
	for at := 0; at < names; at += 5 {
		bad := bytes.Clone(whole)
		bad[at] ^= 0x40
		try(fmt.Sprintf("byte %d", at), bad)
	}
}

// headerOf makes an .npy file with a given header and data.
func headerOf(dict string, data int) []byte {
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(dict))))
	b.WriteString(dict)
	b.Write(make([]byte, data))
	return b.Bytes()
}

func TestAbsurdCheckpoints(t *testing.T) {
	const ok = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }\n"
	pack := func(name string, text []byte) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create(name)
		must.OK(t, err)
		_, err = w.Write(text)
		must.OK(t, err)
		must.OK(t, z.Close())
		return b.Bytes()
	}
	claims := pack("a.npy", headerOf(fmt.Sprintf(ok, "2,"), 16))
	at := bytes.LastIndex(claims, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(claims[at+20:], 1<<31)    // compressed
	binary.LittleEndian.PutUint32(claims[at+24:], 0xfffff0) // in clear
	twice := func() []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for range 2 {
			w, err := z.Create("a.npy")
			must.OK(t, err)
			_, err = w.Write(headerOf(fmt.Sprintf(ok, "1,"), 8))
			must.OK(t, err)
		}
		must.OK(t, z.Close())
		return b.Bytes()
	}()
	for what, c := range map[string]struct {
		text []byte
		want string
	}{
		"a size that the file cannot have": {claims, "16777200 bytes cannot be true"},
		"a shape without data":             {pack("a.npy", headerOf(fmt.Sprintf(ok, "1000000, 1000"), 16)), "[1000000 1000] in"},
		"a shape that overflows": {pack("a.npy", headerOf(fmt.Sprintf(ok, "2000000000, 2000000000, 2000000000"), 16)),
			"cannot be true"},
		"a number that overflows": {pack("a.npy", headerOf(fmt.Sprintf(ok, "99999999999999999999,"), 16)), "cannot be true"},
		"a negative size":         {pack("a.npy", headerOf(fmt.Sprintf(ok, "-2,"), 16)), "cannot be true"},
		"column-major": {pack("a.npy", headerOf("{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }\n", 16)),
			"row-major"},
		"float32": {pack("a.npy", headerOf("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8)),
			"float64"},
		"no array":       {pack("a.txt", []byte("hello")), "no array"},
		"no NumPy":       {pack("a.npy", []byte("hello, world")), "not a NumPy array"},
		"an array twice": {twice, "twice"},
		"no archive":     {[]byte("hello"), "zip"},
	} {
		if _, err := unpack(bytes.NewReader(c.text), int64(len(c.text))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", what, err, c.want)
		}
	}
}

// zeros is an .npy file of n zeros, which deflate to almost nothing.
func zeros(shape string, n int) []byte {
	return headerOf(fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }\n", shape), 8*n)
}

// deflated makes an archive of deflated .npy files.
func deflated(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name + ".npy")
		must.OK(t, err)
		_, err = w.Write(files[name])
		must.OK(t, err)
	}
	must.OK(t, z.Close())
	return b.Bytes()
}

// A small file that claims much takes no memory: not what its directory says,
// not what many entries say of the same bytes, not what no run of the size that
// it states has.
func TestSmallCheckpointsThatClaimMuch(t *testing.T) {
	thorough.Unraced(t)
	run := func(inducing, rows float64) []byte {
		head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }\n", 10)
		text := headerOf(head, 0)
		for i := range 10 {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits([]float64{1, 5, inducing, 0, rows, 0, 0, 0, 0, 0}[i]))
		}
		return text
	}
	// 20,000,000 numbers by header and directory.
	claims := deflated(t, map[string][]byte{"a": zeros("20000000,", 1<<17)})
	at := bytes.LastIndex(claims, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(claims[at+24:], uint32(len(zeros("20000000,", 0))+8*20_000_000))
	// A hundred entries of a MiB each, all the same deflated bytes.
	one := deflated(t, map[string][]byte{"a000": zeros(fmt.Sprint(1<<17)+",", 1<<17)})
	at = bytes.LastIndex(one, []byte("PK\x01\x02"))
	end := bytes.LastIndex(one, []byte("PK\x05\x06"))
	overlap := bytes.Clone(one[:at])
	for i := range 100 {
		entry := bytes.Clone(one[at:end])
		copy(entry[46:], fmt.Sprintf("a%03d", i))
		overlap = append(overlap, entry...)
	}
	tail := bytes.Clone(one[end:])
	binary.LittleEndian.PutUint16(tail[8:], 100)
	binary.LittleEndian.PutUint16(tail[10:], 100)
	binary.LittleEndian.PutUint32(tail[12:], uint32(len(overlap)-at))
	binary.LittleEndian.PutUint32(tail[16:], uint32(at))
	overlap = append(overlap, tail...)
	// 40 MiB, of a run that has 8 inducing inputs and 100 rows, and of one that has
	// room for them.
	const n = 5 << 20
	large := zeros(fmt.Sprint(n)+",", n)
	for what, c := range map[string]struct {
		text  []byte
		want  string // "" if it is read
		bytes uint64 // that may be allocated
	}{
		"a directory that lies":     {claims, "cannot be true", 8 << 20},
		"entries of the same bytes": {overlap, "cannot be true", 8 << 20},
		"a small run": {deflated(t, map[string][]byte{"run": run(8, 100), "kernel/0/chol": large}),
			"kernel/0/chol: more numbers than", 8 << 20},
		"no run":                {deflated(t, map[string][]byte{"kernel/0/chol": large}), "more numbers than", 8 << 20},
		"more inputs than rows": {deflated(t, map[string][]byte{"run": run(1e6, 100), "kernel/0/chol": large}), "more numbers than", 8 << 20},
		"a large head":          {deflated(t, map[string][]byte{"run": zeros("65,", 65)}), "array run: more numbers than", 8 << 20},
		"a large run":           {deflated(t, map[string][]byte{"run": run(8, n), "kernel/0/terms": large}), "", 64 << 20},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := unpack(bytes.NewReader(c.text), int64(len(c.text)))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > c.bytes {
			t.Errorf("%s: a file of %d bytes took %d of memory", what, len(c.text), got)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", what, err, c.want)
		}
	}
}

// An independent reader finds the shapes, and data that begin at a multiple of 64.
func TestShapesAsOthersReadThem(t *testing.T) {
	for _, shape := range [][]int{{}, {3}, {2, 1, 3}} {
		size := 1
		for _, n := range shape {
			size *= n
		}
		var b bytes.Buffer
		must.OK(t, writeNPY(&b, vbks.Tensor{Shape: shape, Data: make([]float64, size)}))
		if rest := b.Len() - 8*size; rest%64 != 0 {
			t.Errorf("header of %d bytes", rest)
		}
		n, err := npyio.NewReader(&b)
		must.OK(t, err)
		if len(n.Header.Descr.Shape) != len(shape) {
			t.Errorf("shape %v read as %v", shape, n.Header.Descr.Shape)
		}
	}
	if err := writeNPY(io.Discard, vbks.Tensor{Shape: []int{2}, Data: []float64{1}}); err == nil {
		t.Error("a shape that does not fit was written")
	}
}
