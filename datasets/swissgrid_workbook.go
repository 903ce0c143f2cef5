package datasets

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/kestrel/datasets/sheets"
)

// workbookSheet is the sheet of quarter hours in EnergieUebersichtCH-YYYY.
const workbookSheet = "Zeitreihen0h15"

// defaultSeries is the column of Teng et al. (2020): "Summe endverbrauchte
// Energie Regelblock Schweiz / Total energy consumed by end users in the Swiss
// controlblock".
const defaultSeries = "energy consumed by end users"

// quarterMinutes is the length of an interval.
const quarterMinutes = 15

// workbook is the time and one series of a file.
type workbook struct {
	file   string // base name
	sha256 string

	name   string // of the series; English, if the file has it
	number int    // of its column, from 1
	unit   string // of the values here
	scale  float64

	walls  []int64 // ends of intervals by the clock on the wall, see swissToUTC
	values []float64
	rows   []int // of the sheet, from 1
}

// reading is one quarter hour.
type reading struct {
	end   int64 // minutes since 1970 UTC
	value float64
	book  *workbook
	row   int
}

// loadWorkbooks reads Swissgrid's yearly workbooks and joins them by time. The
// input is the start of the quarter hour in UTC, in days since the first; a
// series in kWh is given in MWh. The row number of the dataset is that in the
// order of time; Rows counts the quarter hours read, repeated ones once.
func loadWorkbooks(ctx context.Context, s *Spec, files []string, path string) (*Dataset, []int32, error) {
	if len(s.Inputs) > 0 && !slices.Equal(s.Inputs, []string{swissgridInput}) {
		return nil, nil, fmt.Errorf("inputs = %s: the input of source = \"swissgrid\" is the time, %q", quoteList(s.Inputs), swissgridInput)
	}
	var books []*workbook
	var readings []reading
	for _, f := range files {
		b, err := readWorkbook(ctx, f, s)
		if err != nil {
			return nil, nil, err
		}
		utc, errs := swissToUTC(b.walls)
		for i, at := range utc {
			if err := errs[i]; err == nil {
				readings = append(readings, reading{at, b.values[i], b, b.rows[i]})
			} else if !math.IsNaN(b.values[i]) { // an empty row for the hour that was skipped is no error
				return nil, nil, &CellError{b.file, b.rows[i], 1, "", wallText(b.walls[i]), err.Error()}
			}
		}
		books = append(books, b)
	}
	if len(readings) == 0 {
		return nil, nil, fmt.Errorf("%s: sheet %s has no rows but empty ones for the hour that is skipped in spring",
			books[0].file, workbookSheet)
	}
	slices.SortStableFunc(books, func(a, b *workbook) int {
		return cmp.Or(cmp.Compare(a.walls[0], b.walls[0]), cmp.Compare(a.file, b.file))
	})
	notices, err := compareBooks(books)
	if err != nil {
		return nil, nil, err
	}
	rank := map[*workbook]int{}
	for i, b := range books {
		rank[b] = i
	}
	inOrder := func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(rank[a.book], rank[b.book]))
	}
	slices.SortStableFunc(readings, inOrder)
	readings, repeated := withoutRepeats(readings)
	if repeated != "" {
		notices = append(notices, repeated)
	}
	t := seriesTable(books, readings)
	d, kept, err := newDataset(s, path, t)
	if err != nil {
		return nil, nil, err
	}
	d.Target.Unit = books[0].unit
	d.Notices = append(d.Notices, notices...)
	d.quarterHours()
	return d, kept, nil
}

// seriesTable makes a table of the readings.
func seriesTable(books []*workbook, readings []reading) *table {
	var names, sums []string
	for _, b := range books {
		names, sums = append(names, b.file), append(sums, b.sha256)
	}
	t := &table{file: strings.Join(names, ", "), sha256: sumOfSums(names, sums), rows: len(readings)}
	first := readings[0].end - quarterMinutes
	at := tableColumn{name: swissgridInput, number: 1, kind: kindTime, origin: time.Unix(first*60, 0).UTC()}
	y := tableColumn{name: books[0].name, number: books[0].number, kind: kindNumber}
	for _, r := range readings {
		at.values = append(at.values, float64(r.end-quarterMinutes-first)*60)
		y.values = append(y.values, r.value)
		if math.IsNaN(r.value) {
			y.missing++
		}
	}
	t.columns = []tableColumn{at, y}
	return t
}

// withoutRepeats keeps the first of readings of the same quarter hour and says
// how many were left out.
func withoutRepeats(readings []reading) (kept []reading, notice string) {
	kept = readings[:1]
	repeats, differ := 0, 0
	var at reading
	for _, r := range readings[1:] {
		last := kept[len(kept)-1]
		if r.end != last.end {
			kept = append(kept, r)
			continue
		}
		if repeats++; repeats == 1 {
			at = r
		}
		if r.value != last.value && !(math.IsNaN(r.value) && math.IsNaN(last.value)) {
			differ++
		}
	}
	if repeats == 0 {
		return kept, ""
	}
	return kept, fmt.Sprintf("%s for quarter hours already read: left out, the first in %s, row %d; %d with another value",
		plural(repeats, "row"), at.book.file, at.row, differ)
}

// compareBooks checks that the files hold the same series in the same unit, and
// says where the names differ or a file is not a whole year.
func compareBooks(books []*workbook) (notices []string, err error) {
	first := books[0]
	for _, b := range books[1:] {
		if b.unit != first.unit {
			return nil, fmt.Errorf("%s: the unit of %s is %s, but in %s it is %s",
				b.file, quoteText(b.name), quoteText(b.unit), first.file, quoteText(first.unit))
		}
		if len(notices) == 0 && plainName(b.name) != plainName(first.name) {
			notices = append(notices,
				fmt.Sprintf("the column is named %s in %s, but %s in %s", quoteText(b.name), b.file, quoteText(first.name), first.file))
		}
	}
	for _, b := range books {
		lo, hi := slices.Min(b.walls), slices.Max(b.walls)
		year := time.Unix(lo*60, 0).UTC().Year()
		from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 60
		to := time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 60
		if lo != from+quarterMinutes || hi != to {
			notices = append(notices, fmt.Sprintf("%s reaches from %s to %s, Swiss time: not one whole year", b.file, wallText(lo), wallText(hi)))
		}
	}
	return notices, nil
}

// wallText writes a time on the wall.
func wallText(minutes int64) string { return time.Unix(minutes*60, 0).UTC().Format("2006-01-02 15:04") }

// readWorkbook reads one file. The first row names the series, the second their
// units, the first column is the time.
func readWorkbook(ctx context.Context, path string, s *Spec) (*workbook, error) {
	b := &workbook{file: filepath.Base(path)}
	known := newCells(s.Missing)
	column, heads := -1, 0
	var err error
	b.sha256, err = readSheet(ctx, path, workbookSheet, func(row int, cells []sheets.Cell, date1904 bool) error {
		switch heads++; heads {
		case 1:
			if column, b.name, err = findSeries(cmp.Or(s.Target, defaultSeries), b.file, cells); err != nil {
				return err
			}
			b.number = column + 1
			return nil
		case 2:
			b.unit, b.scale = unitOf(cells, column)
			return nil
		}
		return b.add(row, cells, column, date1904, known)
	})
	if err != nil {
		return nil, err
	}
	if len(b.walls) == 0 {
		return nil, fmt.Errorf("%s: sheet %s has no rows below the names and units of its columns", b.file, workbookSheet)
	}
	return b, nil
}

// add takes a row.
func (b *workbook) add(row int, line []sheets.Cell, column int, date1904 bool, known *cells) error {
	var stamp, value *sheets.Cell
	for i := range line {
		switch line[i].Column {
		case 0:
			stamp = &line[i]
		case column:
			value = &line[i]
		}
	}
	bad := func(cell *sheets.Cell, name string, err error) error {
		return &CellError{b.file, row, cell.Column + 1, name, cell.String(), err.Error()}
	}
	v := math.NaN()
	if value != nil {
		var err error
		if v, err = known.number([]byte(value.String())); err != nil {
			return bad(value, b.name, err)
		}
	}
	if stamp == nil || stamp.IsText && strings.TrimSpace(stamp.Text) == "" {
		if value == nil || math.IsNaN(v) {
			return nil
		}
		return &LineError{b.file, row, "a value without a time stamp"}
	}
	wall, err := wallMinutes(stamp, date1904)
	if err != nil {
		return bad(stamp, "", err)
	}
	b.walls, b.rows = append(b.walls, wall), append(b.rows, row)
	b.values = append(b.values, v*b.scale)
	return nil
}

// unitOf returns the unit of a column by the second row, and the factor that
// brings its values to the unit returned: kWh become MWh, the unit of the
// paper.
func unitOf(cells []sheets.Cell, column int) (unit string, scale float64) {
	for i := range cells {
		if cells[i].Column == column {
			unit = strings.TrimSpace(cells[i].String())
		}
	}
	if strings.EqualFold(unit, "kWh") {
		return "MWh", 1e-3
	}
	return unit, 1
}

// plainName is a name for comparison: in lower case, with single spaces.
func plainName(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// findSeries finds the column whose name in German or English holds ref, in any
// case, or is ref where several hold it; else the column of that number. It
// returns the index from 0 and the name in English, or the only one there is.
func findSeries(ref, file string, header []sheets.Cell) (column int, name string, err error) {
	var names []string // by column; the last line of the name, which is English
	var parts, exact []int
	want := plainName(ref)
	for i := range header {
		h := &header[i]
		full := h.String()
		for len(names) < h.Column {
			names = append(names, fmt.Sprintf("c%d", len(names)+1))
		}
		lines := strings.FieldsFunc(full, func(r rune) bool { return r == '\n' || r == '\r' })
		last := ""
		if len(lines) > 0 {
			last = strings.Join(strings.Fields(lines[len(lines)-1]), " ")
		}
		names = append(names, cmp.Or(last, fmt.Sprintf("c%d", h.Column+1)))
		if h.Column == 0 || !strings.Contains(plainName(full), want) {
			continue
		}
		parts = append(parts, h.Column)
		same := plainName(full) == want
		for _, l := range lines {
			same = same || plainName(l) == want
		}
		if same {
			exact = append(exact, h.Column)
		}
	}
	if _, err := strconv.Atoi(ref); err == nil {
		parts = nil // a number is that of a column
	}
	switch {
	case len(parts) == 1:
		return parts[0], names[parts[0]], nil
	case len(exact) == 1:
		return exact[0], names[exact[0]], nil
	case len(parts) > 1:
		var found []string
		for _, p := range parts {
			found = append(found, names[p])
		}
		return 0, "", fmt.Errorf("%s: target = %s is part of the names of %d columns: %s; give more of the name, or the column's number",
			file, quoteText(ref), len(parts), quoteList(found))
	}
	if column, err = lookup(ref, file, names); err != nil {
		return 0, "", err
	}
	if column == 0 {
		return 0, "", fmt.Errorf("%s: target = %s is the first column, which holds the time", file, quoteText(ref))
	}
	return column, names[column], nil
}
