package experiment

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"kestrel/vbks"
)

// writeNPZ writes arrays as NumPy's npz: a zip of .npy files, float64,
// row-major (numpy.lib.format, version 1.0). The npyio package writes slices
// and matrices only, not arrays of any shape.
func writeNPZ(w io.Writer, arrays map[string]vbks.Tensor) error {
	z := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		entry, err := z.Create(name + ".npy")
		if err != nil {
			return err
		}
		if err := writeNPY(entry, arrays[name]); err != nil {
			return fmt.Errorf("array %s: %w", name, err)
		}
	}
	return z.Close()
}

func writeNPY(w io.Writer, t vbks.Tensor) error {
	size, shape := 1, "("
	for _, n := range t.Shape {
		size *= n
		shape += fmt.Sprintf("%d,", n)
	}
	if size != len(t.Data) {
		return fmt.Errorf("%d numbers for shape %v", len(t.Data), t.Shape)
	}
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': %s), }", shape)
	// The data begin at a multiple of 64 bytes; the header ends in a line feed.
	const fixed = 10
	header += strings.Repeat(" ", 63-(fixed+len(header))%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	b.WriteString(header)
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	buf := bufio.NewWriter(w)
	var word [8]byte
	for _, f := range t.Data {
		binary.LittleEndian.PutUint64(word[:], math.Float64bits(f))
		if _, err := buf.Write(word[:]); err != nil {
			return err
		}
	}
	return buf.Flush()
}

// saveCheckpoint replaces a checkpoint file.
func saveCheckpoint(path string, arrays map[string]vbks.Tensor) error {
	return replaceWith(path, func(f *os.File) error {
		buf := bufio.NewWriter(f)
		if err := writeNPZ(buf, arrays); err != nil {
			return err
		}
		return buf.Flush()
	})
}
