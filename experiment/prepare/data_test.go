package prepare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kestrel/experiment/config"
)

// TestLoadIntelFromConfig goes from a config to a dataset, and from the config
// that a run keeps to the same.
func TestLoadIntelFromConfig(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"data.txt": strings.Repeat("2004-02-28 01:03:16 11 2 19.3 38 45 2.6\n2004-02-28 01:03:46 12 1 122.1 38 45 2.6\n2004-02-28 "+
			"01:04:16 12 1 19.5 38 45 2.6\n", 9),
		"mote_locs.txt": "1 21.5 23\n2 24.5 20\n",
		"lab.toml":      "[data]\nsource = \"ieq\"\npath = \"data.txt\"\nvalid_rows = 11\n[kernels]\nexpressions = [\"SE\"]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(filepath.Join(dir, "lab.toml"), nil)
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
	for _, want := range []string{"5 of 16 rows read are not valid", "5 with a temperature outside 0 to 50 °C",
		"the first 11 valid rows are taken"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in the notices: %s", want, told)
		}
	}
	again, err := config.Default().Read([]byte(j.Start.Config), "config.toml", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := LoadData(t.Context(), &again)
	if err != nil || d.SHA256 != j.Data.SHA256 || d.N() != 11 {
		t.Errorf("%v", err)
	}
}
