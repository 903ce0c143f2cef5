package datasets

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"kestrel/internal/must"
)

// A template, written as JSON and read again, reads a table and continues a series as
// the dataset itself does: time stamps in two orders, decimal commas, twins among the
// names, months of the calendar.
func TestTemplateReadsAsTheDataset(t *testing.T) {
	months := []string{"Date,y"}
	for _, m := range []string{"01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"} {
		months = append(months, "28/"+m+"/2020,"+m)
	}
	for name, c := range map[string]struct{ table, more, horizon string }{
		"dates":  {strings.Join(months, "\n") + "\n", "Date,y\n01/02/2021,3\n05/03/2021,4\n", "6mo"},
		"commas": {"time;a;y\n1,5;2;3\n2,5;1;4\n3,5;0;5\n", "y;a;time\n1;2;7,25\n", ""},
		"twins":  {"a,a,y\n1,2,3\n2,3,4\n3,1,5\n", "a,a,y\n5,6,7\n8,9,10\n", ""},
		"nanos": {"t,y\n2020-01-01T00:00:00.000000001Z,1\n2020-01-01T00:00:01Z,2\n2020-01-01T00:00:02Z,3\n",
			"t\n2020-01-01T00:00:05.25Z\n", "5"},
		"headless": {"1,2\n2,3\n3,5\n4,5\n", "7\n8\n", ""},
	} {
		dir := t.TempDir()
		path, more := filepath.Join(dir, "t.csv"), filepath.Join(dir, "more.csv")
		must.OK(t, os.WriteFile(path, []byte(c.table), 0o644))
		must.OK(t, os.WriteFile(more, []byte(c.more), 0o644))
		d, err := Load(t.Context(), Spec{Path: path, TestFraction: 0})
		must.OK(t, err)
		text, err := json.Marshal(d.Template())
		must.OK(t, err)
		var kept Template
		must.OK(t, json.Unmarshal(text, &kept))
		like, err := kept.Dataset()
		must.OK(t, err)
		points := func(d *Dataset) *Points {
			r, err := OpenPoints(t.Context(), Spec{Path: more}, d)
			must.OK(t, err)
			defer r.Close()
			p, err := r.Next(t.Context(), 100)
			must.OK(t, err)
			return p
		}
		if got, want := points(like), points(d); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, by the dataset %+v", name, got, want)
		}
		if c.horizon == "" {
			continue
		}
		h, err := ParseHorizon(c.horizon)
		must.OK(t, err)
		got, err := like.Beyond(h)
		must.OK(t, err)
		want, err := d.Beyond(h)
		must.OK(t, err)
		if !reflect.DeepEqual(got, want) || len(got.X) == 0 {
			t.Errorf("%s: goes on with %+v, the dataset with %+v", name, got, want)
		}
		again, err := json.Marshal(like.Template())
		must.OK(t, err)
		if string(again) != string(text) {
			t.Errorf("%s: %s becomes %s", name, text, again)
		}
	}
}

// What no dataset has is refused in one line.
func TestTemplateIsChecked(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"inputs":[{"name":"x","number":3}],"names":["x","y"],"target":{"name":"y"}}`,
		`{"inputs":[{"name":"x","origin":"soon","unit":"s"}],"target":{"name":"y"}}`,
		`{"inputs":[{"name":"x"}],"target":{"name":"y","origin":"2020-01-01T00:00:00Z","unit":"s"}}`,
		`{"inputs":[{"name":"x"}],"target":{"name":"y"},"decimal":"x"}`,
		`{"inputs":[{"name":"x"}],"target":{"name":"y"},"beyond":{"last":1,"step":-1}}`,
		`{"inputs":[{"name":"x"}],"target":{"name":"y"},"beyond":{"last":1,"step":1,"digits":1000000000}}`,
	} {
		var kept Template
		must.OK(t, json.Unmarshal([]byte(text), &kept))
		if _, err := kept.Dataset(); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
