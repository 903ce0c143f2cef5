package datasets

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
)

// The log of the Intel Berkeley Research lab (Bodik, Hong, Guestrin, Madden,
// Paskin and Thibaux, 2004) has, separated by spaces and without a header,
//
//	date time epoch moteid temperature humidity light voltage
//
// in °C, %, lux and volts; mote_locs.txt has moteid x y, in metres. What a row
// needs to be valid:
//
//   - it is complete: eight fields, none of them missing,
//   - its mote is one of those in the table of locations,
//   - its temperature is possible: from 0 to 50 °C. The sensors stand in an
//     office that is heated and cooled; when their batteries run down they climb
//     past every room temperature, many to 122.153 °C,
//   - its voltage is possible: from 2.4 V, the least supply that the sensor (a
//     Sensirion SHT11) is specified for, to 3.3 V, more than a fresh lithium cell
//     of 3 V has.
//
// The rules do not depend on the target, so all targets have the same rows.
const (
	intelFields         = 8
	intelLowTemperature = 0.0
	intelTopTemperature = 50.0
	intelLowVoltage     = 2.4
	intelTopVoltage     = 3.3
	intelMote           = 3 // its field, from 0; measurements follow
)

// intelLocations is looked for beside the log where a Spec names no other.
const intelLocations = "mote_locs.txt"

// intelNames are the columns to choose inputs and target from: the row's time,
// its mote's place, and what was measured.
func intelNames() []string {
	return []string{"time", "x", "y", "temperature", "humidity", "light", "voltage"}
}

// intelFieldNames are the fields of a row.
func intelFieldNames() []string {
	return append([]string{"date", "time", "epoch", "moteid"}, intelNames()[intelTemperature:]...)
}

// Columns of intelNames.
const (
	intelTime = iota
	intelX
	intelY
	intelTemperature
	intelHumidity
	intelLight
	intelVoltage
	intelColumns
)

// intelCounts says what became of the rows of a log.
type intelCounts struct {
	read, valid                            int
	incomplete, mote, temperature, voltage int
}

func (c *intelCounts) dropped() int { return c.incomplete + c.mote + c.temperature + c.voltage }

// String lists why rows are not valid.
func (c *intelCounts) String() string {
	return fmt.Sprintf("%d with missing fields, %d of a mote without a place, %d with a temperature outside %v to %v °C, "+
		"%d with a voltage outside %v to %v V",
		c.incomplete, c.mote, c.temperature, intelLowTemperature, intelTopTemperature, c.voltage, intelLowVoltage, intelTopVoltage)
}

// loadIntel reads the first Spec.ValidRows valid rows in the order of the file,
// row by row. The inputs are the time in days since the earliest row taken, by
// the log's own clock, and the mote's place, x and y in metres; the target is
// the temperature. Spec.Inputs and Spec.Target choose others among the time, the
// place and what was measured.
func loadIntel(ctx context.Context, s *Spec) (*Dataset, []int32, error) {
	path, err := find(ctx, s.Path, s.SearchDirs)
	if err != nil {
		return nil, nil, err
	}
	places, err := readMotes(ctx, s, path)
	if err != nil {
		return nil, nil, err
	}
	if len(s.Inputs) == 0 {
		s.Inputs = []string{"time", "x", "y"}
	}
	if s.Target == "" {
		s.Target = "temperature"
	}
	chosen, err := chooseRoles(s, filepath.Base(path), &form{names: intelNames()})
	if err != nil {
		return nil, nil, err
	}
	if chosen.target < intelTemperature {
		return nil, nil, fmt.Errorf("target = %s: is no measurement; those are %s",
			quoteText(s.Target), quoteList(intelNames()[intelTemperature:]))
	}
	l := &intelLog{places: places.at, limit: s.ValidRows, chosen: append(chosen.inputs, chosen.target)}
	for j, i := range l.chosen { // numbers as in a table of the inputs and the target
		l.columns = append(l.columns, tableColumn{name: intelNames()[i], number: j + 1, kind: kindNumber})
	}
	if err := l.read(ctx, path, s); err != nil {
		return nil, nil, err
	}
	t := &table{
		file: filepath.Base(path), rows: l.counts.valid, columns: l.columns,
		sha256: sumOfSums([]string{path, places.path}, []string{l.sha256, places.sha256}),
	}
	for i := range t.columns {
		t.columns[i].finish(0)
	}
	d, _, err := newDataset(s, path, t)
	if err != nil {
		return nil, nil, err
	}
	if s.Name == "" {
		d.Name = "ieq"
	}
	d.Locations = places.path
	d.Rows, d.Dropped.Invalid = l.counts.read, l.counts.dropped()
	d.Notices = append(d.Notices, l.notices...)
	units := [intelColumns]string{intelX: "m", intelY: "m", intelTemperature: "°C", intelHumidity: "%", intelLight: "lux", intelVoltage: "V"}
	for j, i := range chosen.inputs {
		d.Inputs[j].Unit = units[i]
		if i == intelTime {
			d.inDays(j)
		}
	}
	d.Target.Unit = units[chosen.target]
	return d, l.kept, nil
}

// motes are the places of the motes.
type motes struct {
	path, sha256 string
	at           map[int][2]float64
}

// readMotes reads the table of locations: the one that s names, else the one
// beside the log.
func readMotes(ctx context.Context, s *Spec, log string) (*motes, error) {
	path := filepath.Join(filepath.Dir(log), intelLocations)
	var err error
	if s.Locations != "" {
		path, err = find(ctx, s.Locations, s.SearchDirs)
	} else {
		path, err = find(ctx, path, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("locations of the motes: %w", err)
	}
	spec := Spec{Header: "no", Delimiter: "space", Missing: []string{}}
	t, err := readTable(ctx, path, &spec, func(f *form) ([]int, error) {
		if len(f.names) != 3 {
			return nil, fmt.Errorf("%s: has %s, not the 3 of mote, x and y", filepath.Base(path), plural(len(f.names), "column"))
		}
		return []int{0, 1, 2}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("locations of the motes: %w", err)
	}
	m := &motes{path: path, sha256: t.sha256, at: map[int][2]float64{}}
	for r, id := range t.columns[0].values {
		n := int(id)
		if _, twice := m.at[n]; twice || float64(n) != id {
			return nil, fmt.Errorf("locations of the motes: %s: row %d: mote %v is not a whole number, or is there twice", t.file, r+1, id)
		}
		m.at[n] = [2]float64{t.columns[1].values[r], t.columns[2].values[r]}
	}
	return m, nil
}

// intelLog reads a log.
type intelLog struct {
	places  map[int][2]float64
	limit   int
	chosen  []int         // of intelNames
	columns []tableColumn // those chosen

	counts  intelCounts
	kept    []int32 // rows of the file, from 0
	sha256  string
	notices []string
	stamp   []byte // of a row; reused
}

func (l *intelLog) read(ctx context.Context, path string, s *Spec) error {
	src, err := openSource(ctx, path, false)
	if err != nil {
		return err
	}
	defer src.Close()
	file := filepath.Base(path)
	recs := &records{r: bufio.NewReaderSize(src, sampleBytes), delim: ' ', file: file}
	known := newCells(s.Missing)
	last := 0
	for l.limit == 0 || l.counts.valid < l.limit {
		if l.counts.read&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		fields, err := recs.read()
		if err == io.EOF {
			break
		}
		if err != nil {
			if _, ok := err.(*LineError); ok {
				return err
			}
			return fmt.Errorf("%s: after line %d: %w", file, recs.next, err)
		}
		if l.counts.read++; l.counts.read > math.MaxInt32 {
			return &LineError{file, recs.line, "more rows than can be counted"}
		}
		if len(fields) > intelFields {
			return &LineError{file, recs.line,
				fmt.Sprintf("%s where %d belong: %s", plural(len(fields), "field"), intelFields, strings.Join(intelFieldNames(), ", "))}
		}
		at, err := l.row(fields, known)
		if err != nil {
			return &CellError{file, recs.line, at + 1, intelFieldNames()[at], string(fields[at]), err.Error()}
		}
		last = recs.line
	}
	if l.counts.valid == 0 {
		if l.counts.read == 0 {
			return fmt.Errorf("%s: has no rows", file)
		}
		return fmt.Errorf("%s: none of %s is valid: %s", file, plural(l.counts.read, "row"), &l.counts)
	}
	if n := l.counts.dropped(); n > 0 {
		l.notices = append(l.notices, fmt.Sprintf("%d of %d rows read are not valid and left out: %s", n, l.counts.read, &l.counts))
	}
	switch {
	case l.limit == 0:
	case l.counts.valid == l.limit:
		l.notices = append(l.notices, fmt.Sprintf("the first %d valid rows are taken (data.valid_rows), up to line %d", l.limit, last))
	default:
		l.notices = append(l.notices, fmt.Sprintf("there are only %d valid rows, not data.valid_rows = %d", l.counts.valid, l.limit))
	}
	if l.sha256, err = src.sha256(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// row takes a row if it is valid and counts it. Of an error it returns the
// field.
func (l *intelLog) row(fields [][]byte, known *cells) (field int, err error) {
	if len(fields) < intelFields {
		l.counts.incomplete++
		return 0, nil
	}
	var mote float64
	var values [intelColumns]float64
	for i := intelMote; i < intelFields; i++ {
		v, err := known.number(fields[i])
		switch {
		case err != nil:
			return i, err
		case math.IsNaN(v):
			l.counts.incomplete++
			return 0, nil
		case i == intelMote:
			mote = v
		default:
			values[intelTemperature+i-intelMote-1] = v
		}
	}
	l.stamp = append(append(append(l.stamp[:0], fields[0]...), ' '), fields[1]...)
	us, ok := parseStamp(l.stamp)
	if !ok {
		field = 1
		if _, ok := parseStamp(fields[0]); !ok {
			field = 0
		}
		return field, errNotTime
	}
	place, placed := l.places[int(mote)]
	switch t, v := values[intelTemperature], values[intelVoltage]; {
	case !placed || float64(int(mote)) != mote:
		l.counts.mote++
		return 0, nil
	case t < intelLowTemperature || t > intelTopTemperature:
		l.counts.temperature++
		return 0, nil
	case v < intelLowVoltage || v > intelTopVoltage:
		l.counts.voltage++
		return 0, nil
	}
	values[intelX], values[intelY] = place[0], place[1]
	for j, i := range l.chosen {
		c := &l.columns[j]
		if i != intelTime {
			c.values = append(c.values, values[i])
			continue
		}
		if c.kind != kindTime {
			c.kind, c.base = kindTime, us
		}
		c.values = append(c.values, float64(us-c.base))
	}
	l.kept = append(l.kept, int32(l.counts.read-1))
	l.counts.valid++
	return 0, nil
}
