package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConfigDataPaths reads a path, a list of paths and the keys of the Intel
// lab, writes them and reads them again.
func TestConfigDataPaths(t *testing.T) {
	list := "a.xls" + string(os.PathListSeparator) + "b/*.xlsx"
	for text, want := range map[string]string{
		`path = "a.xls"`:               "a.xls",
		`path = ["a.xls", "b/*.xlsx"]`: list,
		`path = ["only.xls"]`:          "only.xls",
	} {
		c, err := DefaultConfig().read([]byte("[data]\nsource = \"swissgrid\"\n"+text+"\n"), "c.toml", nil)
		if err != nil || c.Data.Path != want {
			t.Errorf("%s: %q, %v", text, c.Data.Path, err)
		}
		again, err := DefaultConfig().read([]byte(c.TOML()), "c.toml", nil)
		if err != nil || again.Data.Path != want {
			t.Errorf("%s, again: %q, %v", text, again.Data.Path, err)
		}
	}
	c, err := DefaultConfig().read([]byte("[data]\nsource = \"ieq\"\npath = \"data.txt\"\nlocations = \"m.txt\"\nvalid_rows = 0\n"), "c.toml", nil)
	if err != nil || c.Data.Source != "ieq" || c.Data.Locations != "m.txt" || c.Data.ValidRows != 0 {
		t.Errorf("%+v, %v", c.Data, err)
	}
	if n := DefaultConfig().Data.ValidRows; n != 1_000_000 { // as the paper
		t.Error(n)
	}
	if c, err = DefaultConfig().read(nil, "c.toml", []Override{{Key: "data.source", Value: "swissgrid"}, {Key: "data.path", Value: `["a.xls", "b/*.xlsx"]`}}); err != nil || c.Data.Path != list {
		t.Errorf("%q, %v", c.Data.Path, err)
	}
	for text, want := range map[string]string{
		"path = 3":                      "c.toml: line 2: data.path must be a path or a list of paths, not 3",
		"path = []":                     "c.toml: line 2: data.path must be a path or a list of paths, not a list",
		"path = [\"a\", 3]":             "c.toml: line 2: data.path must be a list of paths; one of them is 3",
		"path = [\"a\", \"b\"]":         `c.toml: line 2: data.path is a list; only source = "swissgrid" joins files, not "csv"`,
		"source = \"ieq\"":              `c.toml: line 2: data.path is missing; source = "ieq" needs the file to read`,
		"source = \"iq\"\npath = \"a\"": `c.toml: line 2: data.source must be one of "csv", "synthetic", "swissgrid", "ieq", not "iq"; did you mean "ieq"?`,
		"path = \"a\"\nvalidrows = 4":   `c.toml: line 3: unknown key "data.validrows"; did you mean "data.valid_rows"?`,
	} {
		if _, err := DefaultConfig().read([]byte("[data]\n"+text+"\n"), "c.toml", nil); err == nil || err.Error() != want {
			t.Errorf("%v\nnot %s", err, want)
		}
	}
}

// TestLoadIntelFromConfig goes from a config to a dataset, and from the config
// that a run keeps to the same.
func TestLoadIntelFromConfig(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"data.txt":      strings.Repeat("2004-02-28 01:03:16 11 2 19.3 38 45 2.6\n2004-02-28 01:03:46 12 1 122.1 38 45 2.6\n2004-02-28 01:04:16 12 1 19.5 38 45 2.6\n", 9),
		"mote_locs.txt": "1 21.5 23\n2 24.5 20\n",
		"lab.toml":      "[data]\nsource = \"ieq\"\npath = \"data.txt\"\nvalid_rows = 11\n[kernels]\nexpressions = [\"SE\"]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := LoadConfig(filepath.Join(dir, "lab.toml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	j, err := Prepare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if j.Data.N() != 11 || j.Data.Dim != 3 || j.Start.Data.Columns[0].Unit != "d" || j.Start.Data.Columns[3].Unit != "°C" {
		t.Errorf("%d x %d, %+v", j.Data.N(), j.Data.Dim, j.Start.Data.Columns)
	}
	told := strings.Join(j.Notices, "\n")
	for _, want := range []string{"5 of 16 rows read are not valid", "5 with a temperature outside 0 to 50 °C", "the first 11 valid rows are taken"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in the notices: %s", want, told)
		}
	}
	again, err := DefaultConfig().read([]byte(j.Start.Config), "config.toml", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := LoadData(t.Context(), &again)
	if err != nil || d.SHA256 != j.Data.SHA256 || d.N() != 11 {
		t.Errorf("%v", err)
	}
}
