package experiment

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"

	"kestrel/vbks"
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
	must(t, writeNPZ(&b, arrays))
	return b.Bytes()
}

func TestCheckpointRoundTrip(t *testing.T) {
	want := checkpointArrays()
	path := filepath.Join(t.TempDir(), "c.npz")
	must(t, saveCheckpoint(path, want))
	got, err := loadCheckpoint(path)
	must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if !math.Signbit(got["run"].Data[1]) {
		t.Error("−0 became 0")
	}
	// What an independent writer makes of an array is read, too.
	other := filepath.Join(t.TempDir(), "o.npz")
	w, err := npz.Create(other)
	must(t, err)
	must(t, w.Write("a.npy", []float64{1, 2, 3}))
	must(t, w.Close())
	if got, err = loadCheckpoint(other); err != nil || !reflect.DeepEqual(got["a"], vbks.Tensor{Shape: []int{3}, Data: []float64{1, 2, 3}}) {
		t.Errorf("%v %v", got, err)
	}
	if _, err := loadCheckpoint(filepath.Join(t.TempDir(), "nosuch")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// Whatever happens to the bytes: an error of one line, or the same arrays.
func TestDamagedCheckpoint(t *testing.T) {
	want := checkpointArrays()
	whole := npzBytes(t, want)
	try := func(what string, text []byte) {
		t.Helper()
		got, err := readNPZ(bytes.NewReader(text), int64(len(text)))
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
		must(t, err)
		_, err = w.Write(text)
		must(t, err)
		must(t, z.Close())
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
			must(t, err)
			_, err = w.Write(headerOf(fmt.Sprintf(ok, "1,"), 8))
			must(t, err)
		}
		must(t, z.Close())
		return b.Bytes()
	}()
	for what, c := range map[string]struct {
		text []byte
		want string
	}{
		"a size that the file cannot have": {claims, "16777200 bytes cannot be true"},
		"a shape without data":             {pack("a.npy", headerOf(fmt.Sprintf(ok, "1000000, 1000"), 16)), "[1000000 1000] in"},
		"a shape that overflows":           {pack("a.npy", headerOf(fmt.Sprintf(ok, "2000000000, 2000000000, 2000000000"), 16)), "cannot be true"},
		"a number that overflows":          {pack("a.npy", headerOf(fmt.Sprintf(ok, "99999999999999999999,"), 16)), "cannot be true"},
		"a negative size":                  {pack("a.npy", headerOf(fmt.Sprintf(ok, "-2,"), 16)), "cannot be true"},
		"column-major":                     {pack("a.npy", headerOf("{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }\n", 16)), "row-major"},
		"float32":                          {pack("a.npy", headerOf("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8)), "float64"},
		"no array":                         {pack("a.txt", []byte("hello")), "no array"},
		"no NumPy":                         {pack("a.npy", []byte("hello, world")), "not a NumPy array"},
		"an array twice":                   {twice, "twice"},
		"no archive":                       {[]byte("hello"), "zip"},
	} {
		if _, err := readNPZ(bytes.NewReader(c.text), int64(len(c.text))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", what, err, c.want)
		}
	}
}
