package npz

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/vbks"
)

// blockBytes is how much is converted at a time, a multiple of 8.
const blockBytes = 1 << 16

// Write writes arrays as NumPy's npz: a zip of .npy files, float64,
// row-major (numpy.lib.format, version 1.0), stored as they are: deflating takes
// longer than many an evaluation and saves little. The npyio package writes
// slices and matrices only, not arrays of any shape.
func Write(w io.Writer, arrays map[string]vbks.Tensor) error {
	z := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		entry, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
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
	if size != t.Len() {
		return fmt.Errorf("%d numbers for shape %v", t.Len(), t.Shape)
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
	return writeNumbers(w, t, make([]byte, 0, min(8*t.Len(), blockBytes)))
}

// writeNumbers writes the bits of an array's numbers through a buffer.
func writeNumbers(w io.Writer, t vbks.Tensor, buf []byte) error {
	for piece := range t.Pieces() {
		for len(piece) > 0 {
			n := min(len(piece), (cap(buf)-len(buf))/8)
			buf, piece = appendFloats(buf, piece[:n]), piece[n:]
			if cap(buf)-len(buf) >= 8 {
				continue
			}
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	_, err := w.Write(buf)
	return err
}

// Save replaces a file in a directory by one that WriteHashed writes.
func Save(dir *inside.Dir, name string, arrays map[string]vbks.Tensor) error {
	return dir.Replace(name, func(f inside.File) error {
		buf := bufio.NewWriter(f)
		if err := WriteHashed(buf, arrays); err != nil {
			return err
		}
		return buf.Flush()
	})
}

// WriteHashed is Write with one array more, the hash of all others.
func WriteHashed(w io.Writer, arrays map[string]vbks.Tensor) error {
	arrays = maps.Clone(arrays)
	arrays[HashArray] = Bytes(hashArrays(arrays))
	return Write(w, arrays)
}

// ReadStored reads what WriteHashed writes from a file of the given size. What is
// deflated is refused, so that arrays take no more memory than the file is large.
func ReadStored(file io.ReaderAt, size int64) (map[string]vbks.Tensor, error) {
	entries, err := openNPZ(file, size)
	if err != nil {
		return nil, err
	}
	arrays := make(map[string]vbks.Tensor, len(entries))
	for _, e := range entries {
		if e.file.Method != zip.Store || e.file.UncompressedSize64 > uint64(size) {
			return nil, fmt.Errorf("array %s is compressed, which it never is", e.name)
		}
		if arrays[e.name], err = e.read(uint64(size)); err != nil {
			return nil, fmt.Errorf("array %s: %w", e.name, err)
		}
	}
	if err := checkHash(arrays); err != nil {
		return nil, err
	}
	delete(arrays, HashArray)
	return arrays, nil
}

// Load reads a checkpoint file in a directory.
func Load(dir *inside.Dir, name string) (map[string]vbks.Tensor, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	arrays, err := unpack(f, info.Size())
	if err == nil {
		err = checkHash(arrays)
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s is damaged: %w", dir.Join(name), err)
	}
	delete(arrays, HashArray)
	return arrays, nil
}

// HashArray is the name of the array with the hash of the others.
const HashArray = "sha256"

// hashArrays returns the SHA-256 of names, shapes and numbers.
func hashArrays(arrays map[string]vbks.Tensor) []byte {
	h := sha256.New()
	buf := make([]byte, 0, blockBytes)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		t := arrays[name]
		fmt.Fprintf(h, "%q %v\n", name, t.Shape)
		_ = writeNumbers(h, t, buf[:0]) // never fails
	}
	return h.Sum(nil)
}

// checkHash compares the hash in a checkpoint with what it holds. Every version of
// the program has written one.
func checkHash(arrays map[string]vbks.Tensor) error {
	want, ok := arrays[HashArray]
	if !ok {
		return fmt.Errorf("it has no array %s, which says what the others are; another program wrote or changed it", HashArray)
	}
	rest := maps.Clone(arrays)
	delete(rest, HashArray)
	if got := Bytes(hashArrays(rest)); !slices.Equal(got.Data, want.Data) {
		return errors.New("its arrays have another sha256 than it says")
	}
	return nil
}

// Bytes returns bytes as an array of numbers.
func Bytes(b []byte) vbks.Tensor {
	t := vbks.Tensor{Shape: []int{len(b)}, Data: make([]float64, len(b))}
	for i, v := range b {
		t.Data[i] = float64(v)
	}
	return t
}

// BytesOf is the inverse of Bytes; ok is false for an array of
// anything else.
func BytesOf(t vbks.Tensor) (b []byte, ok bool) {
	b = make([]byte, len(t.Data))
	for i, v := range t.Data {
		if !(v >= 0 && v <= 255) || v != math.Trunc(v) {
			return nil, false
		}
		b[i] = byte(v)
	}
	return b, true
}

// appendFloats appends the bits of numbers, the least significant byte first.
func appendFloats(b []byte, numbers []float64) []byte {
	for _, f := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
	}
	return b
}

// unpack is the inverse of Write, for arrays of float64 in row-major order
// in a file of the given size. Before it allocates anything for an array it
// checks that its size can be true, see checkpointLimits.
func unpack(file io.ReaderAt, size int64) (map[string]vbks.Tensor, error) {
	entries, err := openNPZ(file, size)
	if err != nil {
		return nil, err
	}
	limits, err := entries.limits()
	if err != nil {
		return nil, err
	}
	arrays := make(map[string]vbks.Tensor, len(entries))
	for _, e := range entries {
		if arrays[e.name], err = e.read(limits.numbers()); err != nil {
			return nil, fmt.Errorf("array %s: %w", e.name, err)
		}
	}
	return arrays, nil
}

// readNPY reads an .npy file of the given size, of so many numbers at most.
func readNPY(r io.Reader, size, most uint64) (t vbks.Tensor, err error) {
	in := bufio.NewReader(r)
	const magic = "\x93NUMPY"
	fixed := make([]byte, len(magic)+4)
	if _, err := io.ReadFull(in, fixed); err != nil {
		return t, err
	}
	length := int(binary.LittleEndian.Uint16(fixed[8:]))
	switch string(fixed[:8]) {
	case magic + "\x01\x00":
	case magic + "\x02\x00": // two more bytes of the length, which no array of ours needs
		more := make([]byte, 2)
		if _, err := io.ReadFull(in, more); err != nil {
			return t, err
		}
		if more[0] != 0 || more[1] != 0 {
			return t, errors.New("a header of more than 65535 bytes")
		}
		fixed = append(fixed, more...)
	default:
		return t, errors.New("not a NumPy array of version 1.0 or 2.0")
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(in, header); err != nil {
		return t, err
	}
	var count uint64
	if t.Shape, count, err = parseHeader(string(header)); err != nil {
		return t, err
	}
	if begin := uint64(len(fixed) + len(header)); size < begin || (size-begin)%8 != 0 || (size-begin)/8 != count {
		return t, fmt.Errorf("shape %v in %d bytes", t.Shape, size)
	}
	if count > most {
		return t, errTooLarge
	}
	t.Data = make([]float64, count)
	buf := make([]byte, min(8*count, blockBytes))
	for block := range slices.Chunk(t.Data, blockBytes/8) {
		if _, err := io.ReadFull(in, buf[:8*len(block)]); err != nil {
			return t, err
		}
		for i := range block {
			block[i] = math.Float64frombits(binary.LittleEndian.Uint64(buf[8*i:]))
		}
	}
	// The end of the file is where the checksum is compared.
	if _, err := in.ReadByte(); err != io.EOF {
		return t, cmp.Or(err, errors.New("more bytes than its shape says"))
	}
	return t, nil
}

// parseHeader reads the dictionary in front of an array's numbers.
func parseHeader(s string) (shape []int, count uint64, err error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "{'descr': '<f8', 'fortran_order': False, 'shape': (")
	body, tail, closed := strings.Cut(rest, ")")
	if tail = strings.Trim(tail, ", "); !ok || !closed || tail != "}" {
		return nil, 0, fmt.Errorf("header %q is not that of float64 in row-major order", s)
	}
	shape, count = []int{}, 1
	for i, field := range strings.Split(body, ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		n, err := strconv.ParseUint(field, 10, 31)
		if err != nil || i >= maxDimensions {
			return nil, 0, fmt.Errorf("shape (%s) cannot be true", body)
		}
		shape = append(shape, int(n))
		if count *= n; count > maxCheckpoint/8 {
			return nil, 0, fmt.Errorf("shape (%s) cannot be true", body)
		}
	}
	return shape, count, nil
}
