package prepare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
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

// With columns of the calendar a series has kernels on them, written out in its config,
// from which the same data come again; those of a space that is named are on time. A
// file of holidays that has changed is noticed.
func TestCalendarIsSettled(t *testing.T) {
	dir := t.TempDir()
	text := "day,sales\n"
	for i := range 40 {
		text += fmt.Sprintf("%s,%d\n", time.Date(2024, 3, 1+i, 0, 0, 0, 0, time.UTC).Format("2006-01-02"), i*i%11)
	}
	path, days := filepath.Join(dir, "sales.csv"), filepath.Join(dir, "days.csv")
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	must.OK(t, os.WriteFile(days, []byte("2024-03-29,Good Friday\n"), 0o600))
	settled := func(more ...config.Override) config.Config {
		c, err := config.ForTable(path, "", append(more, config.Override{Key: "data.calendar", Value: "weekday"},
			config.Override{Key: "data.holidays", Value: days}))
		must.OK(t, err)
		_, _, err = LoadSettled(t.Context(), &c)
		must.OK(t, err)
		return c
	}
	c := settled()
	again, err := config.Default().Read([]byte(c.TOML()), "config.toml", nil)
	must.OK(t, err)
	d, _, err := LoadData(t.Context(), &again)
	must.OK(t, err)
	if s := &c.Settings; s.Priors != "series" || s.Weights != "tempered" || s.Integrates() ||
		len(again.Kernels.Expressions) != 49 || d.Dim != 3 || d.Series == nil || d.SplitBy != "x" ||
		len(c.HolidaysSHA) != 64 {
		t.Errorf("%d inputs, by %s, kernels %q, priors %s", d.Dim, d.SplitBy, again.Kernels.Expressions, c.Settings.Priors)
	}
	b := baselines(d)
	if b.Task != record.TaskForecast || b.Season != 7 || b.Scale <= 0 {
		t.Errorf("%+v", b)
	}
	if named := settled(config.Override{Key: "kernels.set", Value: "series"}); len(named.Kernels.Expressions) != 32 ||
		strings.Contains(strings.Join(named.Kernels.Expressions, " "), "weekday") {
		t.Errorf("%q", named.Kernels.Expressions)
	}
	must.OK(t, os.WriteFile(days, []byte("2024-04-01,Easter Monday\n"), 0o600))
	if _, _, err := LoadData(t.Context(), &again); err == nil || !strings.Contains(err.Error(), "data.holidays_sha256") {
		t.Error(err)
	}
}
