package datasets

import (
	"slices"
	"testing"
	"time"

	"example.com/kestrel/datasets/sheets"
)

// TestSwissTime checks every quarter hour of the days around the changes, and
// that no other has two readings, against the time zone database.
func TestSwissTime(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	wallOf := func(at int64) int64 {
		_, offset := time.Unix(at*60, 0).In(zone).Zone()
		return at + int64(offset)/60
	}
	for _, year := range []int{1985, 1995, 1996, 2009, 2010, 2014, 2021, 2024, 2030} {
		var walls, want []int64
		from := time.Date(year, 1, 1, 0, 0, 0, 0, zone).Unix()/60 + 15
		to := time.Date(year+1, 1, 1, 0, 0, 0, 0, zone).Unix() / 60
		for at := from; at <= to; at += 15 {
			walls, want = append(walls, wallOf(at)), append(want, at)
		}
		got, errs := swissToUTC(walls)
		if len(errs) > 0 || !slices.Equal(got, want) {
			t.Fatalf("%d: %v", year, errs)
		}
	}
}

// TestAutumnNight gives the 100 quarter hours of a day in autumn in the forms
// that a file may have.
func TestAutumnNight(t *testing.T) {
	at := func(clock string) int64 {
		w, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(2009, 10, 25, w.Hour(), w.Minute(), 0, 0, time.UTC).Unix() / 60
	}
	for name, c := range map[string]struct{ walls, utc []string }{
		"hour repeated, ends read before the change": {
			[]string{"02:00", "02:15", "02:30", "02:45", "03:00", "02:15", "02:30", "02:45", "03:00", "03:15"},
			[]string{"00:00", "00:15", "00:30", "00:45", "01:00", "01:15", "01:30", "01:45", "02:00", "02:15"},
		},
		"hour repeated, ends read after the change": {
			[]string{"02:00", "02:15", "02:30", "02:45", "02:00", "02:15", "02:30", "02:45", "03:00", "03:15"},
			[]string{"00:00", "00:15", "00:30", "00:45", "01:00", "01:15", "01:30", "01:45", "02:00", "02:15"},
		},
		"each quarter repeated": {
			[]string{"02:00", "02:15", "02:15", "02:30", "02:30", "02:45", "02:45", "03:00", "03:00", "03:15"},
			[]string{"00:00", "00:15", "01:15", "00:30", "01:30", "00:45", "01:45", "01:00", "02:00", "02:15"},
		},
		"hour once": {
			[]string{"02:00", "02:15", "02:30", "02:45", "03:00"},
			[]string{"00:00", "00:15", "00:30", "00:45", "02:00"},
		},
	} {
		var walls, want []int64
		for i := range c.walls {
			walls, want = append(walls, at(c.walls[i])), append(want, at(c.utc[i]))
		}
		got, errs := swissToUTC(walls)
		if len(errs) > 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, errs)
		}
	}
}

func TestSpringNight(t *testing.T) {
	minute := func(h, m int) int64 { return time.Date(2021, 3, 28, h, m, 0, 0, time.UTC).Unix() / 60 }
	for _, change := range []int{2, 3} { // the interval before the change ends at 02:00 or 03:00
		got, errs := swissToUTC([]int64{minute(1, 45), minute(change, 0), minute(3, 15)})
		if want := []int64{minute(0, 45), minute(1, 0), minute(1, 15)}; len(errs) > 0 || !slices.Equal(got, want) {
			t.Errorf("%v %v", got, errs)
		}
	}
	if _, errs := swissToUTC([]int64{minute(1, 45), minute(2, 30)}); errs[1] == nil || len(errs) != 1 {
		t.Errorf("%v", errs)
	}
}

func TestWallMinutes(t *testing.T) {
	want := time.Date(2021, 7, 1, 12, 15, 0, 0, time.UTC).Unix() / 60
	day := 44378.0 // 2021-07-01 in a spreadsheet
	for name, c := range map[string]struct {
		cell     sheets.Cell
		date1904 bool
		err      error
	}{
		"number":      {sheets.Cell{Number: day + 49./96}, false, nil},
		"drifted":     {sheets.Cell{Number: day + 49./96 - 5e-4}, false, nil},
		"from 1904":   {sheets.Cell{Number: day - 1462 + 49./96}, true, nil},
		"text":        {sheets.Cell{IsText: true, Text: "01.07.2021 12:15"}, false, nil},
		"off":         {sheets.Cell{Number: day + .512}, false, errNotQuarter},
		"text off":    {sheets.Cell{IsText: true, Text: "01.07.2021 12:10"}, false, errNotQuarter},
		"no stamp":    {sheets.Cell{IsText: true, Text: "Total"}, false, errNotTime},
		"small":       {sheets.Cell{Number: 17}, false, errNotInRange},
		"large":       {sheets.Cell{Number: 1e300}, false, errNotInRange},
		"month first": {sheets.Cell{IsText: true, Text: "07/01/2021 12:15"}, false, errNotTime},
	} {
		got, err := wallMinutes(&c.cell, c.date1904)
		if err != c.err || err == nil && got != want {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
}
