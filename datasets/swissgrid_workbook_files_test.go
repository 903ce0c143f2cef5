package datasets

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
	_ "time/tzdata" // Swiss time of the tests does not come from the code under test
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"example.com/kestrel/datasets/sheets"
)

// The writers below make the files of the tests byte by byte from the
// specifications [MS-CFB] and [MS-XLS]; they share nothing with the reader.

const (
	oleFree  = 0xffffffff
	oleEnd   = 0xfffffffe
	oleFAT   = 0xfffffffd
	oleDIFAT = 0xfffffffc
)

// oleFile puts one stream into a compound file of version 3.
func oleFile(name string, stream []byte) []byte {
	const sector, perSector, inHeader = 512, 128, 109
	for len(stream) < 4096 { // shorter ones would belong into the mini stream
		stream = append(stream, 0)
	}
	size := len(stream)
	for len(stream)%sector != 0 {
		stream = append(stream, 0)
	}
	data := len(stream) / sector
	fats, difats := 0, 0
	for {
		f := (data + 1 + fats + difats + perSector - 1) / perSector
		d := max(0, (f-inHeader+perSector-2)/(perSector-1))
		if f == fats && d == difats {
			break
		}
		fats, difats = f, d
	}
	dir, fat0 := data, data+1
	difat0 := fat0 + fats
	le := binary.LittleEndian
	head := make([]byte, sector)
	copy(head, sheets.XLS)
	le.PutUint16(head[24:], 0x3e)
	le.PutUint16(head[26:], 3)
	le.PutUint16(head[28:], 0xfffe)
	le.PutUint16(head[30:], 9)
	le.PutUint16(head[32:], 6)
	le.PutUint32(head[44:], uint32(fats))
	le.PutUint32(head[48:], uint32(dir))
	le.PutUint32(head[56:], 4096)
	le.PutUint32(head[60:], oleEnd)
	le.PutUint32(head[68:], oleEnd)
	if difats > 0 {
		le.PutUint32(head[68:], uint32(difat0))
	}
	le.PutUint32(head[72:], uint32(difats))
	for i := range inHeader {
		v := uint32(oleFree)
		if i < fats {
			v = uint32(fat0 + i)
		}
		le.PutUint32(head[76+4*i:], v)
	}
	directory := make([]byte, sector)
	entry := func(i int, name string, kind byte, child, start, size uint32) {
		e := directory[128*i:]
		for j, u := range utf16.Encode([]rune(name)) {
			le.PutUint16(e[2*j:], u)
		}
		le.PutUint16(e[64:], uint16(2*len(name)+2))
		e[66], e[67] = kind, 1
		le.PutUint32(e[68:], oleFree)
		le.PutUint32(e[72:], oleFree)
		le.PutUint32(e[76:], child)
		le.PutUint32(e[116:], start)
		le.PutUint32(e[120:], size)
	}
	entry(0, "Root Entry", 5, 1, oleEnd, 0)
	entry(1, name, 2, oleFree, 0, uint32(size))
	fat := make([]byte, fats*sector)
	for i := range fats * perSector {
		v := uint32(oleFree)
		switch {
		case i < data-1:
			v = uint32(i + 1)
		case i == data-1, i == dir:
			v = oleEnd
		case i >= fat0 && i < difat0:
			v = oleFAT
		case i >= difat0 && i < difat0+difats:
			v = oleDIFAT
		}
		le.PutUint32(fat[4*i:], v)
	}
	difat := make([]byte, difats*sector)
	for i := range difats {
		for j := range perSector - 1 {
			v, n := uint32(oleFree), inHeader+i*(perSector-1)+j
			if n < fats {
				v = uint32(fat0 + n)
			}
			le.PutUint32(difat[i*sector+4*j:], v)
		}
		next := uint32(oleEnd)
		if i < difats-1 {
			next = uint32(difat0 + i + 1)
		}
		le.PutUint32(difat[(i+1)*sector-4:], next)
	}
	return bytes.Join([][]byte{head, stream, directory, fat, difat}, nil)
}

// biff writes the records of a workbook.
type biff struct{ bytes.Buffer }

// pack encodes numbers in little endian.
func pack(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func (b *biff) record(id uint16, parts ...any) {
	data := pack(parts...)
	b.Write(pack(id, uint16(len(data)), data))
}

func (b *biff) bof(kind uint16) {
	b.record(0x0809, uint16(0x0600), kind, uint16(0x0dbb), uint16(0x07cc), uint32(0), uint32(6))
}

func (b *biff) number(row, col int, v float64) {
	b.record(0x0203, uint16(row), uint16(col), uint16(15), v)
}

func (b *biff) rk(row, col int, rk uint32) {
	b.record(0x027e, uint16(row), uint16(col), uint16(15), rk)
}

func (b *biff) mulRK(row, col int, rks ...uint32) {
	parts := []any{uint16(row), uint16(col)}
	for _, rk := range rks {
		parts = append(parts, uint16(15), rk)
	}
	b.record(0x00bd, append(parts, uint16(col+len(rks)-1))...)
}

func (b *biff) shared(row, col int, index uint32) {
	b.record(0x00fd, uint16(row), uint16(col), uint16(15), index)
}

// rkOf packs a whole number.
func rkOf(n int) uint32 { return uint32(n)<<2 | 2 }

// sst writes strings as a shared string table whose records have at most so
// many bytes; characters go over the breaks. A string that starts with "*" is
// written with formatting runs and phonetic data, as the office programs do.
func (b *biff) sst(most int, strings []string) {
	chunks := [][]byte{pack(uint32(len(strings)), uint32(len(strings)))}
	room := func() int { return most - len(chunks[len(chunks)-1]) }
	put := func(p ...byte) {
		for len(p) > 0 {
			if room() == 0 {
				chunks = append(chunks, nil)
			}
			n := min(room(), len(p))
			chunks[len(chunks)-1], p = append(chunks[len(chunks)-1], p[:n]...), p[n:]
		}
	}
	wide := func(units []uint16) byte {
		for _, u := range units {
			if u > 0xff {
				return 1
			}
		}
		return 0
	}
	for _, s := range strings {
		units := utf16.Encode([]rune(s))
		flags := wide(units)
		var head, tail []byte
		if len(s) > 0 && s[0] == '*' {
			head, tail = pack(uint16(2), uint32(14)), make([]byte, 2*4+14)
			flags |= 8 | 4
		}
		head = append(pack(uint16(len(units)), flags), head...)
		if room() < len(head) { // the head of a string is not broken
			chunks = append(chunks, nil)
		}
		put(head...)
		for i, u := range units {
			if room() < 1+int(flags&1) {
				flags = wide(units[i:]) // the rest is as narrow as it can be
				chunks = append(chunks, []byte{flags})
			}
			if flags&1 != 0 {
				put(pack(u)...)
			} else {
				put(byte(u))
			}
		}
		put(tail...)
	}
	b.record(0x00fc, chunks[0])
	for _, c := range chunks[1:] {
		b.record(0x003c, c)
	}
}

// book is a workbook in the making.
type book struct {
	name     string // of the sheet
	strings  []string
	most     int // bytes in a record of strings
	date1904 bool
	extra    func(*biff) // records of the globals
	cells    func(*biff)
}

// stream writes another sheet and then the one that is asked for.
func (k *book) stream() []byte {
	var offsets [2]int
	var out []byte
	for range 2 { // the offsets are known once all is written
		var b biff
		b.bof(0x0005)
		if k.extra != nil {
			k.extra(&b)
		}
		if k.date1904 {
			b.record(0x0022, uint16(1))
		}
		for i, name := range []string{"Übersicht", k.name} {
			units := utf16.Encode([]rune(name))
			b.record(0x0085, uint32(offsets[i]), byte(0), byte(0), byte(len(units)), byte(1), units)
		}
		b.sst(k.most, k.strings)
		b.record(0x000a)
		offsets[0] = b.Len()
		b.bof(0x0010)
		b.number(0, 0, 1)
		b.record(0x000a)
		offsets[1] = b.Len()
		b.bof(0x0010)
		b.record(0x0200, uint32(0), uint32(2), uint16(0), uint16(2), uint16(0)) // DIMENSIONS, not needed
		k.cells(&b)
		b.record(0x000a)
		out = b.Bytes()
	}
	return out
}

// writeBytes puts bytes into a file of a folder.
func writeBytes(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The names and units of the first columns in 2009, and one of a canton.
var gridNames = []string{
	"", "Summe endverbrauchte Energie Regelblock Schweiz\nTotal energy consumed by end users in the Swiss controlblock",
	"Summe produzierte Energie Regelblock Schweiz\nTotal energy production Swiss controlblock",
	"Summe verbrauchte Energie Regelblock Schweiz\nTotal energy consumption Swiss controlblock",
	"Transit\nTransit", "Durchschnittliche positive Sekundär-Regelenergie Preise\nAverage positive secondary control energy prices",
}

var gridUnits = []string{"Zeitstempel", "kWh", "kWh", "kWh", "kWh", "Euro/MWh"}

// gridRow is a row of Swissgrid's table: the clock on the wall at the end of
// the quarter hour, and the values.
type gridRow struct {
	wall   time.Time // its zone does not matter
	values []float64 // NaN: an empty cell
}

// gridRows makes the rows of a range of wall time, given as the first and last
// instant at which intervals end. Values are known functions of the instant:
// kWh of end users are 1,000,000 plus the number of the quarter hour.
func gridRows(t testing.TB, from, to time.Time) []gridRow {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	var rows []gridRow
	for at := from; !at.After(to); at = at.Add(15 * time.Minute) {
		n := float64(at.Sub(from) / (15 * time.Minute))
		// An interval's end is read off the clock of the interval.
		_, offset := at.Add(-time.Minute).In(zone).Zone()
		if at.In(zone).IsDST() {
			_, offset = at.In(zone).Zone()
		}
		wall := at.UTC().Add(time.Duration(offset) * time.Second)
		rows = append(rows, gridRow{wall, []float64{1e6 + n, 2e6 + n, 3e6 - n, 12.5 + n, 45.25 + n}})
	}
	return rows
}

// swissYear returns the instants of the first and last stamp of a year's file.
func swissYear(year int) (from, to time.Time) {
	first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Hour)
	return first.Add(15 * time.Minute), time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Hour)
}

// serial is a day of the spreadsheet's calendar.
func serial(wall time.Time) float64 {
	return float64(wall.Unix()-time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Unix()) / 86400
}

// gridXLS writes rows as Swissgrid's .xls: stamps as NUMBER, values as MULRK
// where they are whole, the last column as NUMBER.
func gridXLS(rows []gridRow) []byte {
	var strings []string
	add := func(s string) uint32 {
		strings = append(strings, s)
		return uint32(len(strings) - 1)
	}
	for _, s := range append(append([]string(nil), gridNames...), gridUnits...) {
		add(s)
	}
	k := &book{name: workbookSheet, strings: strings, most: 150, cells: func(b *biff) {
		for i := range gridNames {
			if gridNames[i] != "" {
				b.shared(0, i, uint32(i))
			}
		}
		for i := range gridUnits {
			b.shared(1, i, uint32(len(gridNames)+i))
		}
		for r, row := range rows {
			// Excel's own stamps are made by adding, and drift.
			b.number(r+2, 0, serial(row.wall)+float64(r%3-1)*2e-5)
			var rks []uint32
			for _, v := range row.values[:3] {
				if math.IsNaN(v) {
					break
				}
				rks = append(rks, rkOf(int(v)))
			}
			if len(rks) > 1 {
				b.mulRK(r+2, 1, rks...)
			} else if !math.IsNaN(row.values[1]) {
				b.record(0x0201, uint16(r+2), uint16(1), uint16(15)) // BLANK
				b.rk(r+2, 2, rkOf(int(row.values[1])))
			}
			b.rk(r+2, 4, uint32(math.Round(row.values[3]*100))<<2|3) // in hundredths
			b.number(r+2, 5, row.values[4])
		}
	}}
	return oleFile("Workbook", k.stream())
}

// gridXLSX writes rows as Swissgrid's .xlsx, with stamps as text or as dates.
func gridXLSX(t testing.TB, rows []gridRow, text bool) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := f.NewSheet(workbookSheet)
	check(err)
	style, err := f.NewStyle(&excelize.Style{NumFmt: 22})
	check(err)
	w, err := f.NewStreamWriter(workbookSheet)
	check(err)
	line := func(row int, cells []any) {
		check(w.SetRow("A"+strconv.Itoa(row), cells))
	}
	var names, units []any
	for i := range gridNames {
		names, units = append(names, gridNames[i]), append(units, gridUnits[i])
	}
	names[0] = nil
	line(1, names)
	line(2, units)
	for r, row := range rows {
		var cells []any
		if text {
			cells = append(cells, row.wall.Format("02.01.2006 15:04"))
		} else {
			cells = append(cells, excelize.Cell{StyleID: style, Value: serial(row.wall)})
		}
		for _, v := range row.values {
			if math.IsNaN(v) {
				cells = append(cells, nil)
			} else {
				cells = append(cells, v)
			}
		}
		line(r+3, cells)
	}
	check(w.Flush())
	var b bytes.Buffer
	check(f.Write(&b))
	return b.Bytes()
}
