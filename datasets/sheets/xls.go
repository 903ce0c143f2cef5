package sheets

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf16"

	"github.com/richardlehane/mscfb"

	"example.com/kestrel/datasets/quote"
)

// Records of the Binary Interchange File Format, version 8, that are looked at.
// Numbers and layouts here and below: Microsoft, [MS-XLS], section 2.4.
const (
	biffFormula    = 0x0006
	biffEOF        = 0x000a
	biffDateMode   = 0x0022
	biffFilePass   = 0x002f
	biffContinue   = 0x003c
	biffBoundSheet = 0x0085
	biffMulRK      = 0x00bd
	biffRString    = 0x00d6
	biffSST        = 0x00fc
	biffLabelSST   = 0x00fd
	biffNumber     = 0x0203
	biffLabel      = 0x0204
	biffBoolErr    = 0x0205
	biffString     = 0x0207
	biffRK         = 0x027e
	biffBOF        = 0x0809
)

const (
	biffVersion8     = 0x0600
	biffWorksheet    = 0 // type of a sheet in BOUNDSHEET
	biffSheetRecords = 0x0010
)

// Bounds of what a workbook may hold. A sheet has 65,536 rows and 256 columns
// at most by the form of its records.
const (
	largestSST = 64 << 20 // bytes of text in all shared strings
	mostSheets = 4096
)

var errTruncated = errors.New("a record is shorter than it should be")

// xlsReader reads the records of a workbook. No kept library for Go both reads
// the results of formulas and strings over several records and stays within
// bounds on damaged files, so the few records needed are read here; the
// container below them, an OLE2 compound file, is mscfb's.
type xlsReader struct {
	r    *bufio.Reader
	id   uint16
	data []byte // of the record; valid until the next
	buf  []byte

	strings  []string
	date1904 bool
}

// readXLS reads a sheet of a BIFF8 workbook (Excel 97 to 2003).
func readXLS(f io.ReaderAt, size int64, sheet string, rows Rows) error {
	var stream *mscfb.File
	if err := Guarded(func() error {
		container, err := mscfb.New(f)
		if err != nil {
			return err
		}
		for _, e := range container.File {
			switch strings.ToLower(e.Name) {
			case "workbook":
				stream = e
			case "book":
				err = errors.New("is a workbook of Excel 95 or older; save it as .xlsx")
			}
		}
		if stream == nil && err == nil {
			err = errors.New("holds no workbook")
		}
		if stream != nil && stream.Size > size {
			err = errors.New("is cut off or damaged")
		}
		return err
	}); err != nil {
		return fmt.Errorf("cannot be read as .xls: %w", err)
	}
	x := &xlsReader{r: bufio.NewReaderSize(guardedReader{stream}, 1<<16)}
	at, err := x.globals(sheet)
	if err != nil {
		return err
	}
	if err := Guarded(func() error {
		_, err := stream.Seek(at, io.SeekStart)
		return err
	}); err != nil {
		return fmt.Errorf("sheet %s: %w", quote.Text(sheet), err)
	}
	x.r.Reset(guardedReader{stream})
	if err := x.cells(rows); err != nil {
		return fmt.Errorf("sheet %s: %w", quote.Text(sheet), err)
	}
	return nil
}

type guardedReader struct{ io.Reader }

func (g guardedReader) Read(p []byte) (n int, err error) {
	err = Guarded(func() (err error) {
		n, err = g.Reader.Read(p)
		return err
	})
	return n, err
}

// next reads a record.
func (x *xlsReader) next() error {
	var head [4]byte
	if _, err := io.ReadFull(x.r, head[:]); err != nil {
		return endless(err)
	}
	x.id = binary.LittleEndian.Uint16(head[:])
	n := int(binary.LittleEndian.Uint16(head[2:]))
	if cap(x.buf) < n {
		x.buf = make([]byte, math.MaxUint16)
	}
	x.data = x.buf[:n]
	_, err := io.ReadFull(x.r, x.data)
	return endless(err)
}

// endless says what the end of a stream means before that of its records.
func endless(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the last record is missing; the file is cut off or damaged")
	}
	return err
}

// u16 returns a number in the record; the caller has checked its length.
func (x *xlsReader) u16(at int) int { return int(binary.LittleEndian.Uint16(x.data[at:])) }

// globals reads the first substream: the shared strings and where the sheet
// begins.
func (x *xlsReader) globals(sheet string) (at int64, err error) {
	at = -1
	var sheets []string
	for first := true; ; first = false {
		if err := x.next(); err != nil {
			return 0, fmt.Errorf("workbook: %w", err)
		}
		if first && (x.id != biffBOF || len(x.data) < 4 || x.u16(0) != biffVersion8) {
			return 0, errors.New("is no workbook of Excel 97 to 2003; save it as .xlsx")
		}
		switch x.id {
		case biffFilePass:
			return 0, errors.New("is protected by a password; save it without one")
		case biffDateMode:
			x.date1904 = len(x.data) >= 2 && x.u16(0) == 1
		case biffBoundSheet:
			if len(x.data) < 8 || len(sheets) == mostSheets {
				return 0, errTruncated
			}
			if x.data[5] != biffWorksheet {
				continue
			}
			name, err := text(x.data[8:], int(x.data[6]), x.data[7])
			if err != nil {
				return 0, err
			}
			if strings.EqualFold(name, sheet) {
				at = int64(binary.LittleEndian.Uint32(x.data))
			}
			sheets = append(sheets, name)
		case biffSST:
			if err := x.sharedStrings(); err != nil {
				return 0, fmt.Errorf("shared strings: %w", err)
			}
		case biffEOF:
			if at < 0 {
				return 0, Missing(sheet, sheets)
			}
			return at, nil
		}
	}
}

// characters appends n characters to units: Latin-1, or UTF-16 if the flags
// have bit 0. It returns the bytes used.
func characters(units []uint16, b []byte, n int, flags byte) ([]uint16, int, error) {
	width := 1 + int(flags&1)
	if len(b) < width*n {
		return nil, 0, errTruncated
	}
	for i := range n {
		if width == 1 {
			units = append(units, uint16(b[i]))
		} else {
			units = append(units, binary.LittleEndian.Uint16(b[2*i:]))
		}
	}
	return units, width * n, nil
}

// text decodes n characters.
func text(b []byte, n int, flags byte) (string, error) {
	units, _, err := characters(nil, b, n, flags)
	return string(utf16.Decode(units)), err
}

// continued is the data of a record and of the CONTINUE records behind it.
type continued struct {
	x    *xlsReader
	data []byte // not used yet
}

// more takes up the next CONTINUE record once all is used.
func (c *continued) more() error {
	for len(c.data) == 0 {
		head, err := c.x.r.Peek(2)
		if err != nil {
			return endless(err)
		}
		if binary.LittleEndian.Uint16(head) != biffContinue {
			return errTruncated
		}
		if err := c.x.next(); err != nil {
			return err
		}
		c.data = c.x.data
	}
	return nil
}

// number reads a whole number of n bytes, 1, 2 or 4.
func (c *continued) number(n int) (uint32, error) {
	v := uint32(0)
	for i := range n {
		if err := c.more(); err != nil {
			return 0, err
		}
		v |= uint32(c.data[0]) << (8 * i)
		c.data = c.data[1:]
	}
	return v, nil
}

// skip passes over bytes.
func (c *continued) skip(n int) error {
	for n > 0 {
		if err := c.more(); err != nil {
			return err
		}
		k := min(n, len(c.data))
		c.data, n = c.data[k:], n-k
	}
	return nil
}

// text reads characters, of which a record may hold a part. Behind a break
// inside the characters, and only there, stands a byte with the flags of the
// rest.
func (c *continued) text(n int, flags byte) (string, error) {
	var units []uint16 // decoded as a whole: a break may part a surrogate pair
	for {
		here := min(n, len(c.data)/(1+int(flags&1)))
		var used int
		var err error
		if units, used, err = characters(units, c.data, here, flags); err != nil {
			return "", err
		}
		c.data, n = c.data[used:], n-here
		if n == 0 {
			return string(utf16.Decode(units)), nil
		}
		if len(c.data) > 0 {
			return "", errTruncated // half a character
		}
		f, err := c.number(1)
		if err != nil {
			return "", err
		}
		flags = byte(f)
	}
}

// head reads what a string begins with: the number of its characters and flags.
func (c *continued) head() (n int, flags byte, err error) {
	count, err := c.number(2)
	if err != nil {
		return 0, 0, err
	}
	f, err := c.number(1)
	return int(count), byte(f), err
}

// string reads an XLUnicodeRichExtendedString with its formatting left out.
func (c *continued) string() (string, error) {
	n, flags, err := c.head()
	if err != nil {
		return "", err
	}
	runs, extra := uint32(0), uint32(0)
	if flags&8 != 0 {
		if runs, err = c.number(2); err != nil {
			return "", err
		}
	}
	if flags&4 != 0 {
		if extra, err = c.number(4); err != nil {
			return "", err
		}
		if extra > Largest {
			return "", errTruncated
		}
	}
	text, err := c.text(n, flags)
	if err != nil {
		return "", err
	}
	return text, c.skip(int(4*runs + extra))
}

// plain reads an XLUnicodeString.
func (c *continued) plain() (string, error) {
	n, flags, err := c.head()
	if err != nil {
		return "", err
	}
	return c.text(n, flags)
}

// sharedStrings reads the SST record and its continuations.
func (x *xlsReader) sharedStrings() error {
	if len(x.data) < 8 {
		return errTruncated
	}
	count := binary.LittleEndian.Uint32(x.data[4:])
	c := &continued{x, x.data[8:]}
	bytes := 0
	x.strings = nil
	for range count {
		s, err := c.string()
		if err != nil {
			return err
		}
		if bytes += len(s) + 16; bytes > largestSST {
			return fmt.Errorf("take more than %d MB", largestSST>>20)
		}
		x.strings = append(x.strings, s)
	}
	return nil
}

var errMisplaced = errors.New("does not begin where the workbook says; the file is damaged")

// cells reads the cells of a sheet, row by row.
func (x *xlsReader) cells(rows Rows) error {
	g := &gatherer{rows: rows, date1904: x.date1904, row: -1}
	depth := 0 // of substreams: a chart in the sheet has its own
	for {
		if err := x.next(); err != nil {
			return err
		}
		switch {
		case x.id == biffBOF:
			if depth == 0 && (len(x.data) < 4 || x.u16(0) != biffVersion8 || x.u16(2) != biffSheetRecords) {
				return errMisplaced
			}
			depth++
		case depth == 0:
			return errMisplaced
		case x.id == biffEOF:
			if depth--; depth == 0 {
				return g.emit()
			}
		case depth > 1:
		default:
			if err := x.cell(g); err != nil {
				return err
			}
		}
	}
}

// gatherer makes rows of cells.
type gatherer struct {
	rows     Rows
	date1904 bool
	row      int // from 0; −1 before the first
	cells    []Cell

	waits               bool // for the text of a formula, at
	textRow, textColumn int
}

func (g *gatherer) emit() error {
	if len(g.cells) == 0 {
		return nil
	}
	err := g.rows(g.row+1, g.cells, g.date1904)
	g.cells = g.cells[:0]
	return err
}

func (g *gatherer) add(row int, c Cell) error {
	if row < g.row || row == g.row && len(g.cells) > 0 && c.Column <= g.cells[len(g.cells)-1].Column {
		return fmt.Errorf("row %d, column %d: comes after row %d; save the workbook anew", row+1, c.Column+1, g.row+1)
	}
	if row > g.row {
		if err := g.emit(); err != nil {
			return err
		}
		g.row = row
	}
	g.cells = append(g.cells, c)
	return nil
}

// cell adds what the record holds, if it holds cells.
func (x *xlsReader) cell(g *gatherer) error {
	if x.id == biffString {
		if !g.waits {
			return nil
		}
		g.waits = false
		s, err := (&continued{x, x.data}).plain()
		if err != nil {
			return err
		}
		return g.add(g.textRow, Cell{Column: g.textColumn, IsText: true, Text: s})
	}
	need, isCell := biffCellLength(x.id)
	if !isCell {
		return nil
	}
	d := x.data
	if len(d) < need {
		return fmt.Errorf("behind row %d: %w", g.row+1, errTruncated)
	}
	row, c := x.u16(0), Cell{Column: x.u16(2)}
	switch x.id {
	case biffNumber:
		c.Number = math.Float64frombits(binary.LittleEndian.Uint64(d[6:]))
	case biffRK:
		c.Number = decodeRK(binary.LittleEndian.Uint32(d[6:]))
	case biffMulRK:
		n := (len(d) - 6) / 6
		if len(d) != 6+6*n || x.u16(len(d)-2) != c.Column+n-1 {
			return fmt.Errorf("row %d: %w", row+1, errTruncated)
		}
		for i := range n {
			c.Number = decodeRK(binary.LittleEndian.Uint32(d[6+6*i:]))
			if err := g.add(row, c); err != nil {
				return err
			}
			c.Column++
		}
		return nil
	case biffLabelSST:
		i := binary.LittleEndian.Uint32(d[6:])
		if uint64(i) >= uint64(len(x.strings)) {
			return fmt.Errorf("row %d, column %d: shared string %d of %d; the file is damaged", row+1, c.Column+1, i, len(x.strings))
		}
		c.IsText, c.Text = true, x.strings[i]
	case biffLabel, biffRString:
		s, err := text(d[9:], x.u16(6), d[8])
		if err != nil {
			return fmt.Errorf("row %d: %w", row+1, err)
		}
		c.IsText, c.Text = true, s
	case biffBoolErr:
		c.IsText, c.Text = true, boolErr(d[6], d[7] == 1)
	case biffFormula:
		g.waits = false
		if x.u16(12) != 0xffff {
			c.Number = math.Float64frombits(binary.LittleEndian.Uint64(d[6:]))
			break
		}
		switch d[6] {
		case 0:
			g.textRow, g.textColumn, g.waits = row, c.Column, true
			return nil
		case 1, 2:
			c.IsText, c.Text = true, boolErr(d[8], d[6] == 2)
		default: // empty
			return nil
		}
	}
	return g.add(row, c)
}

// biffCellLength returns the least length of a record that holds cells.
func biffCellLength(id uint16) (n int, ok bool) {
	switch id {
	case biffNumber, biffFormula:
		return 14, true
	case biffRK, biffLabelSST:
		return 10, true
	case biffMulRK:
		return 12, true
	case biffLabel, biffRString:
		return 9, true
	case biffBoolErr:
		return 8, true
	}
	return 0, false
}

// decodeRK returns the number that an RK value packs into 32 bits: the upper 30
// of a float64's bits, or a signed whole number if bit 1 is set; a hundredth of
// it if bit 0 is set ([MS-XLS] 2.5.217).
func decodeRK(rk uint32) float64 {
	var v float64
	if rk&2 != 0 {
		v = float64(int32(rk) >> 2)
	} else {
		v = math.Float64frombits(uint64(rk&^3) << 32)
	}
	if rk&1 != 0 {
		v /= 100
	}
	return v
}

// boolErr writes a truth value or an error value.
func boolErr(code byte, isError bool) string {
	switch {
	case isError && code == 0x2a:
		return "#N/A"
	case isError:
		return fmt.Sprintf("#ERROR %d", code)
	case code != 0:
		return "TRUE"
	}
	return "FALSE"
}
