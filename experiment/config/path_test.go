package config

import (
	"os"
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
		c, err := Default().Read([]byte("[data]\nsource = \"swissgrid\"\n"+text+"\n"), "c.toml", nil)
		if err != nil || c.Data.Path != want {
			t.Errorf("%s: %q, %v", text, c.Data.Path, err)
		}
		again, err := Default().Read([]byte(c.TOML()), "c.toml", nil)
		if err != nil || again.Data.Path != want {
			t.Errorf("%s, again: %q, %v", text, again.Data.Path, err)
		}
	}
	c, err := Default().Read([]byte("[data]\nsource = \"ieq\"\npath = \"data.txt\"\nlocations = \"m.txt\"\nvalid_rows = 0\n"), "c.toml", nil)
	if err != nil || c.Data.Source != "ieq" || c.Data.Locations != "m.txt" || c.Data.ValidRows != 0 {
		t.Errorf("%+v, %v", c.Data, err)
	}
	if n := Default().Data.ValidRows; n != 1_000_000 { // as the paper
		t.Error(n)
	}
	if c, err = Default().Read(nil, "c.toml", []Override{{Key: "data.source", Value: "swissgrid"},
		{Key: "data.path", Value: `["a.xls", "b/*.xlsx"]`}}); err != nil || c.Data.Path != list {
		t.Errorf("%q, %v", c.Data.Path, err)
	}
	for text, want := range map[string]string{
		"path = 3":              "c.toml: line 2: data.path must be a path or a list of paths, not 3",
		"path = []":             "c.toml: line 2: data.path must be a path or a list of paths, not a list",
		"path = [\"a\", 3]":     "c.toml: line 2: data.path must be a list of paths; one of them is 3",
		"path = [\"a\", \"b\"]": `c.toml: line 2: data.path is a list; only source = "swissgrid" joins files, not "csv"`,
		"source = \"ieq\"":      `c.toml: line 2: data.path is missing; source = "ieq" needs the file to read`,
		"source = \"iq\"\npath = \"a\"": `c.toml: line 2: data.source must be one of "csv", "synthetic", "swissgrid", "ieq", not "iq"; did ` +
			`you mean "ieq"?`,
		"path = \"a\"\nvalidrows = 4": `c.toml: line 3: unknown key "data.validrows"; did you mean "data.valid_rows"?`,
	} {
		if _, err := Default().Read([]byte("[data]\n"+text+"\n"), "c.toml", nil); err == nil || err.Error() != want {
			t.Errorf("%v\nnot %s", err, want)
		}
	}
}
