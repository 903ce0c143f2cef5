package datasets

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// Dataset is what a run learns from and is tested on, in the units of the
// data.
type Dataset struct {
	Name   string // as Spec.Name
	Source string // as Spec.Source
	Path   string // of the file, or what names several; "" for synthetic data
	SHA256 string // of the file as stored, of several (see sumOfSums), or of the numbers of synthetic data, in hexadecimal

	Mask, Locations string // the files that Spec.Mask and Spec.Locations name, as Path; "" where none was read
	MaskSHA256      string // of the mask as stored; SHA256 covers the locations

	calendar *calendar // of which the last inputs are made, once it is known that there is a series; nil: none
	offsets  []int32   // of the only input's N time stamps, seconds east of UTC; nil: all have one
	zones    *ownZones // these, where the calendar needs them; nil: it has one zone

	Inputs []Column  // Dim of them, in the order of X
	Target Column    // of Y
	Dim    int       // number of inputs
	X      []float64 // N x Dim, row-major, in the order of the file
	Y      []float64 // N

	NoiseSD []float64 // N: standard deviations of the noise by Spec.NoiseColumn; nil: not known
	NoiseIn string    // name of that column; "": there is none
	NoiseBy int       // 1 + the input of Spec.NoiseBy; 0: none

	Train []int32 // rows of the training stream, in its order; see First
	Test  []int32 // rows held out; in random order if split at random, else ascending

	Series  *Series // nil if it is none in time
	SplitBy string  // as Spec.SplitBy, "auto" decided

	Rows    int      // read; N plus those dropped
	Dropped Dropped  // and why
	Notices []string // what the user should know, one line each

	writing writing  // of the values in the file
	names   []string // of all its columns; nil if they are not those of one table
	rows    []int32  // of the file, from 0, that were kept; nil: all, or nobody needs them
	first   int      // of the N rows, those of Spec.FirstRows; 0: all
	stream  int      // of Train, of these rows
	groups  *labels  // of the N rows; nil: no column tells them apart

	goes *continuation // of a Template's: how the series goes on; nil: X shows it, or it is none

	Kernel string    // canonical expression of the true kernel; synthetic data only
	Params []float64 // its raw natural parameters, leaf by leaf
}

// Dropped counts the rows that were left out.
type Dropped struct {
	Target  int // the target was missing, and perhaps inputs too
	Inputs  int // only inputs were missing
	Invalid int // by the rules of the source; a notice says which and how often
	Others  int // rows of other series than the one that is meant, or of none
}

// N returns the number of rows kept.
func (d *Dataset) N() int { return len(d.Y) }

// Row returns the inputs of row i.
func (d *Dataset) Row(i int) []float64 { return d.X[i*d.Dim : (i+1)*d.Dim] }

// Targets returns the targets of some rows.
func (d *Dataset) Targets(rows []int32) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = d.Y[r]
	}
	return out
}

// Load reads or generates the data that spec describes and divides them. Its
// errors are one line each and name the file, and where it applies the line
// and the column; see also CellError and LineError.
func Load(ctx context.Context, spec Spec) (*Dataset, error) {
	s, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	if s.Source == "synthetic" {
		return generate(ctx, &s)
	}
	d, kept, err := read(ctx, &s)
	if err != nil {
		return nil, err
	}
	if d.groups != nil {
		if d, kept, err = d.meant(&s, kept); err != nil {
			return nil, err
		}
	}
	if err := d.findFirst(&s, kept); err != nil {
		return nil, err
	}
	if err := d.findSeries(&s); err != nil {
		return nil, err
	}
	d.findTypes()
	if err := d.addCalendar(); err != nil {
		return nil, err
	}
	if err := d.findNoiseBy(&s); err != nil {
		return nil, err
	}
	if err := d.split(ctx, &s, kept); err != nil {
		return nil, err
	}
	d.rows = kept
	return d, nil
}

// read reads files without dividing the rows. kept are those of the file that were
// not dropped, nil for all.
func read(ctx context.Context, s *Spec) (d *Dataset, kept []int32, err error) {
	switch s.Source {
	case "swissgrid":
		d, kept, err = loadSwissgrid(ctx, s)
	case "ieq":
		d, kept, err = loadIntel(ctx, s)
	default:
		d, kept, err = loadTable(ctx, s)
	}
	if err == nil {
		d.calendar, err = newCalendar(ctx, s, d)
	}
	return d, kept, err
}

// Holidays returns the path and the hash of the file that Spec.Holidays names, as
// stored; "" where none was read.
func (d *Dataset) Holidays() (path, sha256 string) {
	if d.calendar == nil {
		return "", ""
	}
	return d.calendar.path, d.calendar.sha256
}

// loadTable reads a table without dividing it. kept are the rows of the file
// that were not dropped, nil for all.
func loadTable(ctx context.Context, s *Spec) (d *Dataset, kept []int32, err error) {
	path, err := find(ctx, s.Path, s.SearchDirs)
	if err != nil {
		return nil, nil, err
	}
	var chosen *roles
	t, err := readTable(ctx, path, s, func(f *form) ([]int, error) {
		var err error
		if chosen, err = chooseRoles(s, filepath.Base(path), f); err != nil {
			return nil, err
		}
		if s.Target == "" {
			if err := f.defaultTarget(filepath.Base(path), chosen.target); err != nil {
				return nil, err
			}
		}
		f.levels = map[int]*levelNames{}
		for i, is := range chosen.texts {
			if is {
				f.levels[i] = newLevels(nil)
			}
		}
		all := append(append([]int(nil), chosen.inputs...), chosen.target)
		if chosen.noise >= 0 {
			all = append(all, chosen.noise)
		}
		if chosen.group >= 0 {
			all = append(all, chosen.group)
		}
		return all, nil
	})
	if err != nil {
		return nil, nil, err
	}
	var groups *labels
	if last := len(t.columns) - 1; chosen.group >= 0 {
		groups = t.columns[last].labels
		t.columns = t.columns[:last]
	}
	var sds []float64
	if last := len(t.columns) - 1; chosen.noise >= 0 {
		sds = t.columns[last].values
		t.columns = t.columns[:last]
	}
	if err := chosen.settle(t, s.FirstRows); err != nil {
		return nil, nil, err
	}
	if d, kept, err = newDataset(s, path, t); err != nil {
		return nil, nil, err
	}
	if chosen.noise >= 0 {
		d.NoiseIn = t.names[chosen.noise]
	}
	for i := range d.Inputs {
		d.Inputs[i].Type = chosen.types[d.Inputs[i].Number-1]
	}
	d.Notices = append(d.Notices, chosen.notices...)
	d.groups = groups.keep(kept)
	return d, kept, d.noise(s, sds, kept)
}

// noise takes the noise's standard deviations of the rows of the file in.
func (d *Dataset) noise(s *Spec, sds []float64, kept []int32) error {
	if sds != nil {
		if d.NoiseSD = sds; kept != nil {
			d.NoiseSD = picked(sds, kept)
		}
		for i, v := range d.NoiseSD {
			if !(v > 0) || math.IsInf(v, 0) {
				row := i
				if kept != nil {
					row = int(kept[i])
				}
				return fmt.Errorf("%s: column %s, the standard deviation of the noise (data.noise_column), is %v in row %d; it must be above 0",
					d.file(), quoteText(s.NoiseColumn), v, row+1)
			}
		}
	}
	return nil
}

// findNoiseBy finds the input that has noise of its own.
func (d *Dataset) findNoiseBy(s *Spec) error {
	if s.NoiseBy == "" {
		return nil
	}
	names := make([]string, len(d.Inputs))
	for i := range d.Inputs {
		names[i] = d.Inputs[i].Name
	}
	at, err := lookup(s.NoiseBy, d.file(), names)
	if err != nil {
		return fmt.Errorf("noise_by names an input: %w", err)
	}
	d.NoiseBy = at + 1
	return nil
}

// NoiseOf are the noise's standard deviations in some rows, nil where they are not known.
func (d *Dataset) NoiseOf(rows []int32) []float64 {
	if d.NoiseSD == nil {
		return nil
	}
	return picked(d.NoiseSD, rows)
}

// newDataset makes a dataset of a table whose last column is the target.
func newDataset(s *Spec, path string, t *table) (d *Dataset, kept []int32, err error) {
	d = &Dataset{
		Name: s.Name, Source: s.Source, Path: path, SHA256: t.sha256,
		Dim: len(t.columns) - 1, Rows: t.rows, Notices: t.notices, writing: t.writing, names: t.names,
	}
	if d.Name == "" {
		d.Name, _, _ = strings.Cut(filepath.Base(path), ".")
	}
	for i := range t.columns {
		c := &t.columns[i]
		col := Column{Name: c.name, Number: c.number, Missing: c.missing}
		if c.kind == kindTime {
			col.Time, col.Origin, col.Unit, col.nanos, col.form = true, c.origin, "s", c.nanos != nil, c.form()
			col.local = c.local > 0 && c.zoned == 0 && !namesUTC(c.name)
		}
		if c.levels != nil {
			col.Levels = c.levels.names
		}
		if !col.Time && col.Levels == nil {
			col.Unit = unitInName(col.Name)
		}
		advice := ""
		if i < d.Dim {
			advice = ", or leave the column out (data.inputs)"
		}
		if err := c.checkLarge(t.file, advice); err != nil {
			return nil, nil, err
		}
		if i < d.Dim {
			d.Inputs = append(d.Inputs, col)
		} else {
			d.Target = col
		}
	}
	if d.Target.Time {
		return nil, nil, fmt.Errorf("%s: the target, column %d (%s), holds time stamps, not numbers",
			t.file, d.Target.Number, quoteText(d.Target.Name))
	}
	if kept, err = d.take(t); err != nil {
		return nil, nil, err
	}
	if d.Dim == 1 {
		if d.offsets = t.columns[0].offsets; d.offsets != nil && kept != nil {
			d.offsets = picked(d.offsets, kept)
		}
	}
	return d, kept, nil
}

// take moves the rows without missing values from the table to d.
func (d *Dataset) take(t *table) (kept []int32, err error) {
	target := t.columns[d.Dim].values
	var keep []bool // nil: all
	for i := range t.columns {
		if t.columns[i].missing > 0 {
			keep = make([]bool, t.rows)
			break
		}
	}
	n := t.rows
	if keep != nil {
		n = 0
		for r := range keep {
			keep[r] = true
			for i := range d.Dim {
				keep[r] = keep[r] && !math.IsNaN(t.columns[i].values[r])
			}
			switch {
			case math.IsNaN(target[r]):
				keep[r] = false
				d.Dropped.Target++
			case !keep[r]:
				d.Dropped.Inputs++
			default:
				kept = append(kept, int32(r))
				n++
			}
		}
	}
	if n == 0 {
		if t.rows == 0 {
			return nil, fmt.Errorf("%s: has no rows", t.file)
		}
		return nil, fmt.Errorf("%s: no rows are left: of %d, %d were dropped for a missing target and %d for a missing input",
			t.file, t.rows, d.Dropped.Target, d.Dropped.Inputs)
	}
	d.X = make([]float64, n*d.Dim)
	if keep == nil {
		d.Y = slices.Clip(target)
	} else {
		d.Y = make([]float64, 0, n)
	}
	for i := range t.columns {
		if i == d.Dim && keep == nil {
			break
		}
		at := 0
		for r, v := range t.columns[i].values {
			switch {
			case keep != nil && !keep[r]:
				continue
			case i == d.Dim:
				d.Y = append(d.Y, v)
			default:
				d.X[at*d.Dim+i] = v
			}
			at++
		}
		t.columns[i].values = nil // a million rows need not be held twice
	}
	return kept, nil
}

// file names the data in a message.
func (d *Dataset) file() string {
	if d.Path != "" {
		return filepath.Base(d.Path)
	}
	return d.Name
}

// checkTarget refuses a target that does not vary over the training rows.
func (d *Dataset) checkTarget() error {
	if n := len(d.Train); n < 2 {
		held := ""
		if len(d.Test) > 0 {
			held = fmt.Sprintf("; %d of %d are held out (data.test)", len(d.Test), d.N())
		}
		return fmt.Errorf("%s: %s: at least 2 are needed%s", d.file(), plural(n, "training row"), held)
	}
	first := d.Y[d.Train[0]]
	for _, r := range d.First() {
		if d.Y[r] != first {
			return nil
		}
	}
	rows := "row"
	for _, y := range d.Y {
		if y != first {
			rows = "training row"
		}
	}
	return fmt.Errorf("%s: the target %s is %v in every %s: there is nothing to learn", d.file(), quoteText(d.Target.Name), first, rows)
}
