package datasets

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/internal/must"
)

// What stamps without a zone say is what the clock of data.zone shows: their days and
// hours stay as they are written, wherever that zone is.
func TestZoneOfStampsWithoutOne(t *testing.T) {
	var days, hours []string
	for i := range 60 {
		days = append(days, fmt.Sprintf("2024-%02d-%02d", 1+i/31, 1+i%31)) // the first is a Monday
		hours = append(hours, fmt.Sprintf("2024-01-%02d %02d:00", 1+i/24, i%24))
	}
	for _, zone := range []string{"", "America/New_York", "Asia/Tokyo"} {
		d := seriesOf(t, "day", days, func(s *Spec) {
			s.Calendar, s.Zone, s.Holidays = []string{"weekday", "yearday"}, zone, writeFile(t, "days.csv", "2024-01-03\n")
		})
		h, err := ParseHorizon("1")
		must.OK(t, err)
		p, err := d.Beyond(h)
		must.OK(t, err)
		for i := range 61 {
			x := p.X
			if i < 60 {
				x = d.Row(i)
			}
			holiday := 0.0
			if i == 2 {
				holiday = 1
			}
			if !equalFloats(x[1:], []float64{float64(i%7 + 1), float64(i + 1), holiday}) {
				t.Errorf("in %q day %d is %v", zone, i+1, x)
			}
		}
		d = seriesOf(t, "at", hours, func(s *Spec) { s.Calendar, s.Zone = []string{"hour"}, zone })
		for i := range hours {
			if got := d.Row(i); got[1] != float64(i%24) || d.Inputs[0].Written(got[0]) != hours[i] {
				t.Errorf("in %q %s is %v, written %s", zone, hours[i], got, d.Inputs[0].Written(got[0]))
			}
		}
		// Which instants these are is not known.
		r, err := OpenPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", "at\n2024-01-05T00:00Z\n")}, d)
		must.OK(t, err)
		if _, err := r.Next(t.Context(), 1); err == nil || !strings.Contains(err.Error(), `column 1 ("at") holds time stamps with a zone`) {
			t.Error(err)
		}
	}
}

// Where summer time begins among the rows, soon or late, the hour of each is the one
// that its stamp has; beyond them data.zone says it, which agrees with the stamps.
func TestZonesOfStampsChange(t *testing.T) {
	for _, from := range []string{"2024-03-01T00:00:00+01:00", "2024-03-30T00:00:00+01:00"} {
		first, err := time.Parse(time.RFC3339, from)
		must.OK(t, err)
		change := time.Date(2024, 3, 31, 1, 0, 0, 0, time.UTC)
		var rows []string
		for i := range 24 * 40 {
			at, offset := first.Add(time.Duration(i)*time.Hour), 3600
			if !at.Before(change) {
				offset = 7200
			}
			rows = append(rows, at.In(time.FixedZone("", offset)).Format(time.RFC3339))
		}
		h, err := ParseHorizon("3")
		must.OK(t, err)
		points := func(d *Dataset, stamp string) ([]float64, error) {
			r, err := OpenPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", "at\n"+stamp+"\n")}, d)
			must.OK(t, err)
			p, err := r.Next(t.Context(), 1)
			if err != nil {
				return nil, err
			}
			return p.X, nil
		}
		for _, zone := range []string{"", "Europe/Zurich"} {
			d := seriesOf(t, "at", rows, func(s *Spec) { s.Calendar, s.Zone = []string{"hour"}, zone })
			for i, row := range rows {
				hour, err := strconv.Atoi(row[11:13])
				must.OK(t, err)
				written := d.Inputs[0].Written(d.Row(i)[0])
				back, err := time.Parse(time.RFC3339, written)
				must.OK(t, err)
				want, err := time.Parse(time.RFC3339, row)
				must.OK(t, err)
				if d.Row(i)[1] != float64(hour) || !back.Equal(want) || (zone != "" && written != row) {
					t.Fatalf("%s is %v, written %s", row, d.Row(i), written)
				}
			}
			x, err := points(d, rows[30])
			must.OK(t, err)
			if !equalFloats(x, d.Row(30)) {
				t.Errorf("%s is %v among points, %v in the table", rows[30], x, d.Row(30))
			}
			p, err := d.Beyond(h)
			_, behind := points(d, "2024-12-01T00:00:00+01:00")
			told := strings.Contains(strings.Join(d.Notices, "\n"), "time stamps are in several zones (+01:00, +02:00)")
			if zone == "" {
				for _, err := range []error{err, behind} {
					if err == nil || !strings.Contains(err.Error(), "run it with data.zone") || strings.Contains(err.Error(), "\n") || !told {
						t.Errorf("%v; told: %v", err, told)
					}
				}
				continue
			}
			must.OK(t, err)
			must.OK(t, behind)
			last, err := strconv.Atoi(rows[len(rows)-1][11:13])
			must.OK(t, err)
			if p.X[1] != float64((last+1)%24) || told {
				t.Errorf("behind %s comes %v", rows[len(rows)-1], p.X)
			}
		}
		// A window before the change has one zone only, and rows of it alone.
		s := Spec{Source: "csv", Path: seriesOf(t, "at", rows, nil).Path, Calendar: []string{"hour"}}
		groups, err := Groups(t.Context(), s)
		must.OK(t, err)
		w, err := groups[0].Data.Window(s, 20, 4)
		must.OK(t, err)
		p, err := w.Beyond(h)
		must.OK(t, err)
		if got := p.X[1]; got != 0 || w.Row(23)[1] != 23 {
			t.Errorf("behind a day comes hour %v", got)
		}
	}
}

// Rows that are left out take their zones with them, and each series has its own.
func TestZonesGoWithTheirRows(t *testing.T) {
	text := "at,who,y\n"
	for i := range 48 {
		at := time.Date(2024, 5, 1, i, 0, 0, 0, time.UTC)
		y := fmt.Sprint(i * i % 7)
		if i%5 == 1 {
			y = ""
		}
		text += fmt.Sprintf("%s,east,%s\n%s,west,%s\n", at.In(time.FixedZone("", 9*3600)).Format(time.RFC3339), y,
			at.In(time.FixedZone("", -4*3600)).Format(time.RFC3339), y)
	}
	for who, offset := range map[string]int{"east": 9, "west": -4} {
		d := loadText(t, text, Spec{Source: "csv", Group: "who", GroupValue: who, Calendar: []string{"hour"}})
		for i := range d.N() {
			if got, want := d.Row(i)[1], d.Inputs[0].At(d.Row(i)[0]).Hour()+offset; int(got) != (want+24)%24 {
				t.Errorf("%s: row %d has hour %v, want %d", who, i, got, want)
			}
		}
		h, err := ParseHorizon("1")
		must.OK(t, err)
		if _, err := d.Beyond(h); err != nil { // of this series the zone is one
			t.Error(err)
		}
	}
}

// Stamps without a zone are in UTC where their column says so, and are put into data.zone like others of UTC.
func TestStampsInUTCByName(t *testing.T) {
	var hours []string
	for i := range 60 {
		hours = append(hours, fmt.Sprintf("2024-01-%02d %02d:00", 1+i/24, i%24))
	}
	for name, want := range map[string]float64{"utc_timestamp": 1, "time (GMT)": 1, "Zeit_UTC": 1, "at": 0, "cutcode": 0,
		"time (UTC+1)": 0, "GMT-2": 0, "utc offset": 0, "local_utc": 0} {
		d := seriesOf(t, name, hours, func(s *Spec) { s.Calendar, s.Zone = []string{"hour"}, "Europe/Zurich" })
		for i := range hours {
			if got := d.Row(i); got[1] != math.Mod(float64(i)+want, 24) || d.Inputs[0].Written(got[0]) != hours[i] {
				t.Errorf("%s: %s is %v, written %s", name, hours[i], got, d.Inputs[0].Written(got[0]))
			}
		}
		if clock, zone := d.Clock(); (clock == ClockUnsaid) != (want == 0) || zone != time.UTC {
			t.Errorf("%s: the clock is %v, %v", name, clock, zone)
		}
	}
}
