package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/internal/thorough"
)

const threeMotes = "1 21.5 23\n2 24.5 20\n54 26.5 3.5\n"

// lab writes a log and the places of the motes into a folder.
func lab(t testing.TB, log string) string {
	t.Helper()
	dir := t.TempDir()
	writeBytes(t, dir, "mote_locs.txt", []byte(threeMotes))
	return writeBytes(t, dir, "data.txt", []byte(log))
}

// TestIntelRows has a row of every kind; the numbers of the valid ones are
// worked out by hand.
func TestIntelRows(t *testing.T) {
	path := lab(t, `2004-03-31 03:38:15.757551 2 1 122.153 -3.91901 11.04 2.03397
2004-02-28 00:59:16.02785 3 1 19.9884 37.0933 45.08 2.69964
2004-02-28 01:03:16.33393 11 2 19.3024 38.4629 45.08 2.68742
2004-02-28 01:06:16.5 17 2
2004-02-28 01:06:46 18 2 19.175 38.8379 45.08
2004-02-27 23:59:46.02785 22 54 0 38.8 45.08 2.4

2004-02-28 01:08:45.992524 23 55 19.2 38.9 45.08 2.6
2004-02-28 01:08:46 23 65407 19.2 38.9 45.08 2.6
2004-02-28 01:09:22 24 1 -0.01 38.9 45.08 2.6
2004-02-28 01:09:23 24 1 50.01 38.9 45.08 2.6
2004-02-28 01:09:24 24 1 50 38.9 45.08 3.3
2004-02-28 01:09:25 24 1 20 38.9 45.08 2.39
2004-02-28 01:09:26 24 1 20 38.9 45.08 18.5603
2004-02-28 01:09:27 24 1 NaN 38.9 45.08 2.6
2004-03-01 00:59:16.02785 999 2 21 40 0 2.5
`)
	d := mustLoad(t, Spec{Source: "ieq", Path: path})
	if want := []float64{19.9884, 19.3024, 0, 50, 21}; !equalFloats(d.Y, want) {
		t.Errorf("%v", d.Y)
	}
	origin := time.Date(2004, 2, 27, 23, 59, 46, 27850000, time.UTC) // the earliest row is not the first
	day := func(clock string) float64 {
		at, err := time.Parse("2006-01-02 15:04:05", clock)
		if err != nil {
			t.Fatal(err)
		}
		return at.Sub(origin).Seconds() / 86400
	}
	want := []float64{
		day("2004-02-28 00:59:16.02785"), 21.5, 23,
		day("2004-02-28 01:03:16.33393"), 24.5, 20,
		0, 26.5, 3.5,
		day("2004-02-28 01:09:24"), 21.5, 23,
		day("2004-03-01 00:59:16.02785"), 24.5, 20,
	}
	for i := range want {
		if math.Abs(d.X[i]-want[i]) > 1e-11 {
			t.Errorf("row %d, input %d: %v, not %v", i/3, i%3, d.X[i], want[i])
		}
	}
	if d.Dim != 3 || d.Rows != 15 || (d.Dropped != Dropped{Invalid: 10}) || d.Name != "ieq" {
		t.Errorf("%d of %d, %+v", d.N(), d.Rows, d.Dropped)
	}
	wantNotice := "10 of 15 rows read are not valid and left out: 3 with missing fields, 2 of a mote without a place, " +
		"3 with a temperature outside 0 to 50 °C, 2 with a voltage outside 2.4 to 3.3 V"
	if !slices.Equal(d.Notices, []string{wantNotice}) {
		t.Errorf("%q", d.Notices)
	}
	for i, c := range append(d.Inputs, d.Target) {
		want := []string{"time d true 1", "x m false 2", "y m false 3", "temperature °C false 4"}[i]
		if got := fmt.Sprint(c.Name, " ", c.Unit, " ", c.Time, " ", c.Number); got != want {
			t.Error(got)
		}
	}
	if !d.Inputs[0].Origin.Equal(origin) {
		t.Error(d.Inputs[0].Origin)
	}
	var text bytes.Buffer
	if err := Describe(d, nil).WriteText(&text); err != nil || !strings.Contains(text.String(), wantNotice) {
		t.Errorf("%v\n%s", err, &text)
	}
}

// TestIntelAgainstNaive reads a generated log, compressed, up to a number of
// valid rows, and compares it with what the generator knows.
func TestIntelAgainstNaive(t *testing.T) {
	thorough.Unraced(t)
	r := rand.New(rand.NewPCG(5, 6))
	places := map[int][2]float64{1: {21.5, 23}, 2: {24.5, 20}, 54: {26.5, 3.5}}
	base := time.Date(2004, 2, 28, 0, 58, 0, 0, time.UTC)
	type row struct {
		line                  int
		at                    time.Time
		mote                  int
		temperature, humidity float64
	}
	var log bytes.Buffer
	var valid []row
	first := base.AddDate(1, 0, 0)
	const limit = 2000
	for line := 1; line <= 9000; line++ {
		at := base.Add(time.Duration(r.IntN(37*86400e6)) * time.Microsecond)
		mote := []int{1, 2, 54, 54, 2, 7, 0, 65535}[r.IntN(8)]
		temperature := math.Round((15+10*r.Float64())*1e4) / 1e4
		if r.IntN(10) == 0 {
			temperature = []float64{122.153, -38.4, 385.568}[r.IntN(3)]
		}
		humidity, voltage := math.Round(40e4*r.Float64())/1e4, math.Round((2.0+r.Float64())*1e5)/1e5
		text := fmt.Sprintf("%s %d %d %v %v %v %v", at.Format("2006-01-02 15:04:05.999999"), line, mote, temperature, humidity, 45.08, voltage)
		whole := r.IntN(9) > 0
		if !whole {
			fields := strings.Fields(text)
			text = strings.Join(fields[:2+r.IntN(len(fields)-2)], " ")
		}
		fmt.Fprintln(&log, text)
		if _, known := places[mote]; whole && known && temperature >= 0 && temperature <= 50 && voltage >= 2.4 &&
			voltage <= 3.3 && len(valid) < limit {
			valid = append(valid, row{line, at, mote, temperature, humidity})
			if at.Before(first) {
				first = at
			}
		}
	}
	dir := t.TempDir()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(log.Bytes())
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := writeBytes(t, dir, "data.txt.gz", packed.Bytes())
	locations := writeBytes(t, t.TempDir(), "places.txt", []byte(threeMotes))
	for _, n := range []int{100, limit, 0} {
		d := mustLoad(t, Spec{Source: "ieq", Path: path, Locations: locations, ValidRows: n, Target: "humidity",
			Inputs: []string{"x", "time", "temperature"}, TestFraction: .1})
		if n > 0 && (d.N() != n || d.Rows != valid[n-1].line || d.Rows != n+d.Dropped.Invalid) {
			t.Fatalf("%d rows of %d, %+v", d.N(), d.Rows, d.Dropped)
		}
		last := d.Notices[len(d.Notices)-1]
		if want := fmt.Sprintf("the first %d valid rows are taken (data.valid_rows), up to line %d", n, d.Rows); (n > 0) != (last == want) {
			t.Errorf("%q", last)
		}
		for i := range min(limit, d.N()) {
			v := valid[i]
			place := places[v.mote]
			if d.Y[i] != v.humidity || d.X[3*i] != place[0] || d.X[3*i+2] != v.temperature {
				t.Fatalf("row %d: %v %v, not %+v", i, d.X[3*i:3*i+3], d.Y[i], v)
			}
			if got := d.Inputs[1].At(d.X[3*i+1]); !got.Equal(v.at) {
				t.Fatalf("row %d: %v, not %v", i, got, v.at)
			}
		}
	}
}

func TestIntelNotices(t *testing.T) {
	log := strings.Repeat("2004-02-28 01:03:16 11 2 19.3 38 45 2.6\n2004-02-28 01:03:46 12 1 19.4 38 45 2.6\n", 3)
	d := mustLoad(t, Spec{Source: "ieq", Path: lab(t, log), ValidRows: 10})
	if want := []string{"there are only 6 valid rows, not data.valid_rows = 10"}; !slices.Equal(d.Notices, want) {
		t.Errorf("%q", d.Notices)
	}
	// The hash covers both files, and does not depend on where reading ends.
	path := lab(t, log)
	one, all := mustLoad(t, Spec{Source: "ieq", Path: path, ValidRows: 2}), mustLoad(t, Spec{Source: "ieq", Path: path})
	writeBytes(t, filepath.Dir(path), "mote_locs.txt", []byte(threeMotes+"3 1 1\n"))
	moved := mustLoad(t, Spec{Source: "ieq", Path: path})
	if one.SHA256 != all.SHA256 || all.SHA256 == moved.SHA256 {
		t.Error("wrong hash")
	}
	// A mask has a line for each row of the file, valid or not.
	mask := writeFile(t, "mask.csv", "0\n1\n0\n1\n0\n")
	log = "2004-02-28 01:03:16 11 2 19.3 38 45 2.6\n" +
		"2004-02-28 01:03:16 11 2\n" +
		strings.Repeat("2004-02-28 01:03:16 11 2 19.4 38 45 2.6\n", 3)
	d = mustLoad(t, Spec{Source: "ieq", Path: lab(t, log), SplitBy: "mask", Mask: mask})
	if !slices.Equal(d.Test, []int32{2}) || len(d.Train) != 3 {
		t.Errorf("%v %v", d.Train, d.Test)
	}
}

func TestIntelErrors(t *testing.T) {
	row := "2004-02-28 01:03:16 11 2 19.3 38 45 2.6\n"
	for log, want := range map[string]string{
		row + "2004-02-28 01:03:16 11 2 19.3 38 45 2.6 7\n": "data.txt: line 2: 9 fields where 8 belong: " +
			"date, time, epoch, moteid, temperature, humidity, light, voltage",
		row + "\n2004-02-28 01:03:16 11 2 19.x 38 45 2.6\n": `data.txt: line 3, column 5 (temperature): "19.x" is not a number`,
		row + "2004-02-30 01:03:16 11 2 19.3 38 45 2.6\n":   `data.txt: line 2, column 1 (date): "2004-02-30" is not a time stamp`,
		row + "2004-02-28 25:03:16 11 2 19.3 38 45 2.6\n":   `data.txt: line 2, column 2 (time): "25:03:16" is not a time stamp`,
		"":                "data.txt: has no rows",
		"a,b\n1,2\n3,4\n": "data.txt: none of 3 rows is valid: 3 with missing fields, ",
		row:               "data.txt: 1 training row: at least 2 are needed",
	} {
		_, err := Load(context.Background(), Spec{Source: "ieq", Path: lab(t, log)})
		want = strings.NewReplacer("(temperature)", `("temperature")`, "(date)", `("date")`, "(time)", `("time")`).Replace(want)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v\nnot %s", err, want)
		}
	}
	path := lab(t, row)
	alone := writeFile(t, "data.txt", row)
	for want, s := range map[string]Spec{
		`there is no column "temprature"; did you mean "temperature"?`:      {Target: "temprature"},
		`target = "x": is no measurement; those are "temperature", `:        {Target: "x", Inputs: []string{"time"}},
		`column "temperature" is both an input and the target`:              {Inputs: []string{"time", "temperature"}},
		"locations of the motes: data file":                                 {Path: alone},
		`places.txt: has 2 columns, not the 3 of mote, x and y`:             {Locations: writeFile(t, "places.txt", "1 2\n2 3\n")},
		"twice.txt: row 2: mote 1 is not a whole number, or is there twice": {Locations: writeFile(t, "twice.txt", "1 2 3\n1 3 4\n")},
		"valid_rows = -1: the number of rows must not be negative":          {ValidRows: -1},
	} {
		s.Source = "ieq"
		if s.Path == "" {
			s.Path = path
		}
		if _, err := Load(context.Background(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nnot %s", err, want)
		}
	}
	if _, err := Load(context.Background(), Spec{Source: "ieq"}); err == nil || !strings.Contains(err.Error(), "data.path is missing") {
		t.Error(err)
	}
}

// TestRealMotes reads the published table of locations.
func TestRealMotes(t *testing.T) {
	path := sharedData(t, "ieq/mote_locs.txt")
	m, err := readMotes(context.Background(), &Spec{Locations: path}, "data.txt")
	if err != nil || len(m.at) != 54 || m.at[1] != [2]float64{21.5, 23} {
		t.Errorf("%v, %d motes", err, len(m.at))
	}
}

// FuzzIntel looks for panics and for rows that are neither taken nor counted.
func FuzzIntel(f *testing.F) {
	f.Add([]byte("2004-02-28 01:03:16 11 2 19.3 38 45 2.6\n2004-03-31 03:38:15.757551 2 1 122.153 -3.91901 11.04 2.03397\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		d, err := Load(context.Background(), Spec{Source: "ieq", Path: lab(t, string(log))})
		if err == nil && d.N()+d.Dropped.Invalid != d.Rows {
			t.Errorf("%d + %d of %d", d.N(), d.Dropped.Invalid, d.Rows)
		}
	})
}
