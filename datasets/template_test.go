package datasets

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/internal/must"
)

// A template, written as JSON and read again, reads a table and continues a series as
// the dataset itself does: time stamps in two orders, decimal commas, twins among the
// names, months of the calendar; inputs made of time, in a zone or that of the stamps,
// holidays too. It writes time stamps as they were written.
func TestTemplateReadsAsTheDataset(t *testing.T) {
	months := []string{"Date,y"}
	for _, m := range []string{"01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"} {
		months = append(months, "28/"+m+"/2020,"+m)
	}
	hours := []string{"at,y"}
	for i := range 60 {
		hours = append(hours, time.Date(2024, 3, 29, 20+i, 0, 0, 0, time.UTC).Format("02.01.2006 15:04-07:00,")+strconv.Itoa(i%7))
	}
	east := strings.ReplaceAll(strings.Join(hours, "\n")+"\n", "+00:00", "+05:30")
	feasts := filepath.Join(t.TempDir(), "feasts.txt")
	must.OK(t, os.WriteFile(feasts, []byte("31.03.2024,Easter\n01.04.2024\n"), 0o644))
	for name, c := range map[string]struct {
		table, more, horizon string
		set                  func(*Spec)
	}{
		"dates":  {strings.Join(months, "\n") + "\n", "Date,y\n01/02/2021,3\n05/03/2021,4\n", "6mo", nil},
		"commas": {"time;a;y\n1,5;2;3\n2,5;1;4\n3,5;0;5\n", "y;a;time\n1;2;7,25\n", "", nil},
		"twins":  {"a,a,y\n1,2,3\n2,3,4\n3,1,5\n", "a,a,y\n5,6,7\n8,9,10\n", "", nil},
		"nanos": {"t,y\n2020-01-01T00:00:00.000000001Z,1\n2020-01-01T00:00:01Z,2\n2020-01-01T00:00:02Z,3\n",
			"t\n2020-01-01T00:00:05.25Z\n", "5", nil},
		"headless": {"1,2\n2,3\n3,5\n4,5\n", "7\n8\n", "", nil},
		"clocks": {strings.Join(hours, "\n") + "\n", "y,at\n1,31.03.2024 02:30+00:00\n2,30.03.2024 23:30+00:00\n", "30", func(s *Spec) {
			s.Calendar, s.Holidays, s.Zone = []string{"weekday", "hour"}, feasts, "Europe/Zurich"
		}},
		"country": {strings.Join(hours, "\n") + "\n", "y,at\n1,31.03.2024 02:30+00:00\n2,30.03.2024 23:30+00:00\n", "30", func(s *Spec) {
			s.Calendar, s.Holidays, s.Zone = []string{"hour"}, "CH-ZH", "Europe/Zurich"
		}},
		"east": {east, "at\n01.04.2024 00:30+05:30\n", "2d", func(s *Spec) { s.Calendar, s.Holidays = CalendarNames(), feasts }},
	} {
		dir := t.TempDir()
		path, more := filepath.Join(dir, "t.csv"), filepath.Join(dir, "more.csv")
		must.OK(t, os.WriteFile(path, []byte(c.table), 0o644))
		must.OK(t, os.WriteFile(more, []byte(c.more), 0o644))
		spec := Spec{Path: path}
		if c.set != nil {
			c.set(&spec)
		}
		d, err := Load(t.Context(), spec)
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
		} else if len(like.Inputs) != len(d.Inputs) || like.Inputs[0].Written(got.X[0]) != d.Inputs[0].Written(want.X[0]) {
			t.Errorf("%s: %d inputs, and it writes %s, the dataset %s", name, len(like.Inputs), like.Inputs[0].Written(got.X[0]),
				d.Inputs[0].Written(want.X[0]))
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
	const at, rest = `{"inputs":[{"name":"t","origin":"2020-01-01T00:00:00Z","unit":"s"`, `,{"name":"hour"}],"target":{"name":"y"},"calendar":`
	for _, text := range []string{
		at + `,"form":"2006\n"}],"target":{"name":"y"}}`, at + `,"form":"2006-01-02","offset":90000}],"target":{"name":"y"}}`,
		at + `}` + rest + `{"columns":["weekday"]}}`, at + `}` + rest + `{"columns":["hour","hour"]}}`, at + `}` + rest + `{}}`,
		at + `}` + rest + `{"columns":["hour"],"zone":"../hour"}}`, at + `}` + rest + `{"columns":["hour"],"zone":"Local"}}`,
		at + `}` + rest + `{"columns":["hour"],"holidays":["2024-02-30"]}}`, `{"inputs":[{"name":"t"}` + rest + `{"columns":["hour"]}}`,
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
