package datasets

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"example.com/kestrel/datasets/elsewhere"
	"example.com/kestrel/internal/must"
)

const readings = "2004-02-28 00:59:16.02785 3 1 19.9884 37.0933 45.08 2.69964\n" +
	"2004-02-28 01:03:16.33393 11 2 19.3024 38.4629 45.08 2.68742\n" +
	"2004-02-28 01:06:46 18 2 19.175 38.8379 45.08 2.6\n"

// Data whose files lie at other paths, under other names, are those of before, by the names of
// before: all files that were opened are all that are needed.
func TestDataElsewhere(t *testing.T) {
	for what, make := range map[string]func(dir string) Spec{
		"a table with holidays, by a mask": func(dir string) Spec {
			days, text, mask := "2024-01-02\n", "day,y\n", ""
			for i := range 28 {
				text += "2024-01-" + strconv.Itoa(101 + i)[1:] + "," + strconv.Itoa(i*i%7) + "\n"
				mask += strconv.Itoa(i%7/6) + "\n"
			}
			return Spec{Source: "csv", Path: writeBytes(t, dir, "t.csv", []byte(text)), SplitBy: "mask",
				Holidays: writeBytes(t, dir, "days.txt", []byte(days)), Mask: writeBytes(t, dir, "m.csv", []byte(mask))}
		},
		"a folder of workbooks": func(dir string) Spec {
			writeBytes(t, dir, "EnergieUebersichtCH-2021.xlsx", gridXLSX(t, week(t), false))
			writeBytes(t, dir, "readme.txt", nil)
			return Spec{Source: "swissgrid", Path: dir, TestRows: 10}
		},
		"a pattern": func(dir string) Spec {
			writeBytes(t, dir, "EnergieUebersichtCH-2021.xls", gridXLS(week(t)))
			return Spec{Source: "swissgrid", Path: filepath.Join(dir, "E*.xls*"), TestRows: 10}
		},
		"motes with their places": func(dir string) Spec {
			writeBytes(t, dir, "mote_locs.txt", []byte(threeMotes))
			return Spec{Source: "ieq", Path: writeBytes(t, dir, "data.txt", []byte(readings)), TestRows: 1}
		},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		must.OK(t, os.Mkdir(dir, 0o700))
		spec := make(dir)
		noting, opened := elsewhere.Noting(t.Context())
		want, err := Load(noting, spec)
		must.OK(t, err)
		at, away := map[string]string{}, t.TempDir()
		for i, path := range opened() {
			at[path] = filepath.Join(away, strconv.Itoa(i))
			must.OK(t, os.Rename(path, at[path]))
		}
		got, err := Load(elsewhere.With(t.Context(), at), spec)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if a, b := told(got), told(want); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %v, want %v", what, a, b)
		}
		spec = make(dir) // as if they were on this machine, too, and not sent
		if d, err := Load(elsewhere.With(t.Context(), map[string]string{}), spec); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v of this machine's own", what, d, err)
		}
	}
}

// told is what runs take of data.
func told(d *Dataset) []any {
	path, sum := d.Holidays()
	return []any{d.Path, d.SHA256, d.Mask, d.MaskSHA256, d.Locations, path, sum, d.Notices, d.Rows, d.X, d.Y, d.Train, d.Test}
}
