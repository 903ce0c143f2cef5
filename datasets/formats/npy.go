package formats

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// MagicNPY begins an array of NumPy's.
const MagicNPY = "\x93NUMPY"

// array is an array of NumPy's of one or two dimensions, read value by value.
type array struct {
	in         *bufio.Reader
	kind       byte // f, i, u, b
	size       int
	order      binary.ByteOrder
	rows, cols int
	flat       bool // of one dimension
	buf        [8]byte
}

var (
	npyDescr   = regexp.MustCompile(`'descr':\s*'([<>|=])([fiub])([1248])'`)
	npyFortran = regexp.MustCompile(`'fortran_order':\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape':\s*\(([0-9, L]*)\)`)
)

// newArray reads the header of an array (numpy.lib.format).
func newArray(from io.Reader) (*array, error) {
	a := &array{in: bufio.NewReaderSize(from, 1<<16)}
	var fixed [10]byte
	if _, err := io.ReadFull(a.in, fixed[:]); err != nil || string(fixed[:6]) != MagicNPY {
		return nil, errors.New("is no array of NumPy's")
	}
	length := int(binary.LittleEndian.Uint16(fixed[8:]))
	if fixed[6] > 1 { // two more bytes, which no such header needs
		var more [2]byte
		if _, err := io.ReadFull(a.in, more[:]); err != nil || more != [2]byte{} {
			return nil, errors.New("has a header that no array of numbers has")
		}
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(a.in, header); err != nil {
		return nil, errors.New("is an array of NumPy's that is cut off")
	}
	descr, fortran, shape := npyDescr.FindSubmatch(header), npyFortran.FindSubmatch(header), npyShape.FindSubmatch(header)
	if descr == nil || fortran == nil || shape == nil {
		return nil, fmt.Errorf("is an array of something else than numbers (%.100q); save its columns as float64", header)
	}
	a.kind, a.size, a.order = descr[2][0], int(descr[3][0]-'0'), binary.LittleEndian
	if descr[1][0] == '>' {
		a.order = binary.BigEndian
	}
	if a.kind == 'f' && a.size < 4 {
		return nil, errors.New("is an array of half-precision numbers; save it as float64")
	}
	var dims []int
	for _, text := range strings.Split(strings.ReplaceAll(string(shape[1]), "L", ""), ",") {
		if text = strings.TrimSpace(text); text != "" {
			n, err := strconv.ParseUint(text, 10, 31)
			if err != nil {
				return nil, fmt.Errorf("has the shape (%.100s), which cannot be true", shape[1])
			}
			dims = append(dims, int(n))
		}
	}
	switch len(dims) {
	case 1:
		a.rows, a.cols, a.flat = dims[0], 1, true
	case 2:
		a.rows, a.cols = dims[0], dims[1]
	default:
		return nil, fmt.Errorf("is an array of %d dimensions; a table has 2", len(dims))
	}
	if string(fortran[1]) == "True" && a.rows > 1 && a.cols > 1 {
		return nil, errors.New("is an array in Fortran's order; save it with numpy.ascontiguousarray")
	}
	switch {
	case a.cols == 0:
		return nil, errors.New("is an array without columns")
	case a.cols > 1<<16:
		return nil, fmt.Errorf("has %d columns, more than are read", a.cols)
	}
	return a, nil
}

// next reads a value.
func (a *array) next() (string, error) {
	b := a.buf[:a.size]
	if _, err := io.ReadFull(a.in, b); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = errors.New("the array is cut off")
		}
		return "", err
	}
	var bits uint64
	switch a.size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(a.order.Uint16(b))
	case 4:
		bits = uint64(a.order.Uint32(b))
	case 8:
		bits = a.order.Uint64(b)
	}
	switch {
	case a.kind == 'f' && a.size == 4:
		return number(float64(math.Float32frombits(uint32(bits)))), nil
	case a.kind == 'f':
		return number(math.Float64frombits(bits)), nil
	case a.kind == 'i':
		shift := 64 - 8*a.size
		return strconv.FormatInt(int64(bits<<shift)>>shift, 10), nil
	}
	return strconv.FormatUint(bits, 10), nil
}

// NPY reads an array of two dimensions: a row of it is one of the table, whose columns
// have no names.
func NPY(from io.Reader) (Rows, error) {
	a, err := newArray(from)
	if err != nil {
		return nil, err
	}
	done := 0
	return func() ([]string, error) {
		if done == a.rows {
			return nil, io.EOF
		}
		row := make([]string, a.cols)
		for i := range row {
			var err error
			if row[i], err = a.next(); err != nil {
				return nil, fmt.Errorf("row %d: %w", done+1, err)
			}
		}
		done++
		return row, nil
	}, nil
}

// npz reads arrays in a zip: those of one dimension are columns with their names, one of
// two dimensions is a table.
func npz(z *zip.Reader, open func(*zip.File) (io.Reader, error)) (rows Rows, named bool, err error) {
	var names []string
	var all []*array
	for _, f := range z.File {
		from, err := open(f)
		if err != nil {
			return nil, false, err
		}
		if len(z.File) == 1 {
			if rows, err := NPY(from); err != nil {
				return nil, false, err
			} else if a := f.Name; a != "" {
				return rows, false, nil
			}
		}
		a, err := newArray(from)
		if err != nil {
			return nil, false, fmt.Errorf("array %.100q %w", f.Name, err)
		}
		if !a.flat {
			return nil, false, fmt.Errorf("array %.100q is not a column beside others; save one table, or columns of one dimension", f.Name)
		}
		if len(all) > 0 && a.rows != all[0].rows {
			return nil, false, fmt.Errorf("array %.100q has %d values, %.100q has %d", f.Name, a.rows, names[0], all[0].rows)
		}
		names, all = append(names, strings.TrimSuffix(f.Name, ".npy")), append(all, a)
	}
	done := -1
	return func() ([]string, error) {
		if done++; done == 0 {
			return names, nil
		}
		if done > all[0].rows {
			return nil, io.EOF
		}
		row := make([]string, len(all))
		for i, a := range all {
			var err error
			if row[i], err = a.next(); err != nil {
				return nil, fmt.Errorf("row %d: %w", done, err)
			}
		}
		return row, nil
	}, true, nil
}
