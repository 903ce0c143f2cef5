package habits

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets"
	"example.com/kestrel/datasets/holidays"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// people are a made load by the hour, of so many days since a day: two humps of a day, fewer at weekends and on
// the holidays of a country, by the clock of a zone, with weather that wanders and noise.
func people(t *testing.T, from time.Time, n int, zone, country string, seed uint64) (at, y []float64) {
	t.Helper()
	clock, err := time.LoadLocation(zone)
	must.OK(t, err)
	free := map[string]bool{}
	if country != "" {
		list, known := holidays.Days(country, from.Year()-1, from.Year()+1+n/365)
		if !known {
			t.Fatalf("%s is not known", country)
		}
		for _, day := range list {
			free[day.Format(time.DateOnly)] = true
		}
	}
	r := rand.New(rand.NewPCG(seed, 7))
	weather := 0.0
	for i := range n * 24 {
		now := from.Add(time.Duration(i) * time.Hour)
		local := now.In(clock)
		h := float64(local.Hour())
		v := 100 + 20*math.Exp(-(h-10)*(h-10)/18) + 25*math.Exp(-(h-19)*(h-19)/8) - 15*math.Exp(-(h-4)*(h-4)/8)
		if local.Weekday() == time.Saturday || local.Weekday() == time.Sunday || free[local.Format(time.DateOnly)] {
			v -= 12
		}
		weather += r.NormFloat64()*0.3 - 0.004*weather
		season := 8 * math.Cos(2*math.Pi*float64(local.YearDay())/365)
		at, y = append(at, float64(now.Unix())), append(y, v+weather+season+r.NormFloat64()*2)
	}
	return at, y
}

// sun is the power of panels at a latitude, in UTC, which look so many hours before noon: no clock moves it.
func sun(from time.Time, n int, degrees, before float64, seed uint64) (at, y []float64) {
	r := rand.New(rand.NewPCG(seed, 8))
	cloud := 1.0
	for i := range n * 24 {
		now := from.Add(time.Duration(i) * time.Hour)
		declination := -23.44 * math.Pi / 180 * math.Cos(2*math.Pi*(float64(now.YearDay())+10)/365)
		latitude := degrees * math.Pi / 180
		angle := 2 * math.Pi * (float64(now.Hour()) - 11.4) / 24
		height := math.Sin(latitude)*math.Sin(declination) + math.Cos(latitude)*math.Cos(declination)*math.Cos(angle)
		if i%24 == 0 {
			cloud = 0.3 + 0.7*r.Float64()
		}
		at, y = append(at, float64(now.Unix())), append(y, cloud*max(0, height)*max(0, math.Cos(angle+2*math.Pi*before/24))+0.01*r.NormFloat64())
	}
	return at, y
}

var began = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)

// The rule of summer time that a load follows is found, and the country whose holidays it keeps, whatever the unit
// and the order of the rows; the zone is the country's where that has the same rule.
func TestHabitsAreFound(t *testing.T) {
	for _, c := range []struct {
		lived, country string
		zone           string // which is to be found, "" none
		days           int
		changes        int
	}{
		{"Europe/Zurich", "CH", "Europe/Zurich", 760, 4},
		{"Europe/Lisbon", "", "Europe/London", 760, 4},
		{"Europe/Stockholm", "SE", "Europe/Stockholm", 1100, 6},
		{"Europe/Helsinki", "", "Europe/Athens", 1100, 6},
		{"America/New_York", "US", "America/New_York", 1100, 6},
		{"America/Los_Angeles", "US", "America/Los_Angeles", 1100, 6},
		{"Australia/Melbourne", "", "Australia/Sydney", 1100, 6},
		{"Pacific/Auckland", "NZ", "Pacific/Auckland", 1100, 6},
		{"UTC", "GB", "", 1100, 0}, // people without summer time
		{"Asia/Tokyo", "", "", 1100, 0},
	} {
		at, y := people(t, began, c.days, c.lived, c.country, 1)
		unit, shift := 1e-3, -0.4
		for i := range y {
			y[i] = shift + unit*y[i]
		}
		r := rand.New(rand.NewPCG(2, 2))
		r.Shuffle(len(at), func(i, j int) { at[i], at[j], y[i], y[j] = at[j], at[i], y[j], y[i] })
		zone, ok := FindZone(at, y)
		if ok != (c.zone != "") || zone.Changes != c.changes || ok && zone.Followed < zone.Changes-1 {
			t.Errorf("%s: %+v, %v", c.lived, zone, ok)
		}
		clock, err := time.LoadLocation(zone.Name)
		must.OK(t, err)
		rest, ok := FindHolidays(at, y, clock)
		if rest.Code != c.country || ok != (c.country != "") || rest.Kept > rest.Days || ok && rest.Kept < rest.Days*9/10 {
			t.Errorf("%s: %+v, %v", c.lived, rest, ok)
		}
		if zone.Name != "" {
			got := zone.Name
			if rest.Sure() {
				got = ZoneOf(rest.Code, zone.Name, at)
			}
			if got != c.zone {
				t.Errorf("%s: found %s, and with %q %s, want %s", c.lived, zone.Name, rest.Code, got, c.zone)
			}
		}
	}
}

// Where there is nothing to find nothing is found: by the sun, in noise, in a walk, in a day that is always the same,
// by the clock on the wall, in days without hours, in half a year.
func TestNoHabitsAreFound(t *testing.T) {
	const n = 1500
	wall := func(at []float64, y []float64) ([]float64, []float64) {
		clock, err := time.LoadLocation("Europe/Berlin")
		must.OK(t, err)
		c := clockOf(clock, at[0], at[len(at)-1])
		out := slices.Clone(at)
		for i := range at {
			out[i] = c.local(at[i])
		}
		return out, y
	}
	var hours []float64
	for i := range n * 24 {
		hours = append(hours, float64(began.Unix())+3600*float64(i))
	}
	made := func(f func(i int) float64) ([]float64, []float64) {
		y := make([]float64, len(hours))
		for i := range y {
			y[i] = f(i)
		}
		return hours, y
	}
	r := rand.New(rand.NewPCG(4, 4))
	level := 0.0
	for name, rows := range map[string]func() (at, y []float64){
		"sun":   func() ([]float64, []float64) { return sun(began, n, 47, 0, 3) },
		"noise": func() ([]float64, []float64) { return made(func(int) float64 { return r.NormFloat64() }) },
		"walk": func() ([]float64, []float64) {
			return made(func(int) float64 { level += r.NormFloat64(); return level })
		},
		"same day":  func() ([]float64, []float64) { return made(func(i int) float64 { return math.Sin(float64(i%24) / 4) }) },
		"constant":  func() ([]float64, []float64) { return made(func(int) float64 { return 3 }) },
		"wall":      func() ([]float64, []float64) { return wall(people(t, began, n, "Europe/Berlin", "", 5)) },
		"half year": func() ([]float64, []float64) { return people(t, began, 180, "Europe/Berlin", "", 5) },
		"nothing":   func() ([]float64, []float64) { return nil, nil },
		"one":       func() ([]float64, []float64) { return hours[:1], []float64{1} },
		"years":     func() ([]float64, []float64) { return []float64{0, 4e12}, []float64{1, 2} },
		"days": func() ([]float64, []float64) {
			at, y := people(t, began, n, "Europe/Berlin", "", 5)
			var a, b []float64
			for i := 0; i < len(at); i += 24 {
				a, b = append(a, at[i]), append(b, y[i])
			}
			return a, b
		},
	} {
		at, y := rows()
		if z, ok := FindZone(at, y); ok {
			t.Errorf("%s: %+v", name, z)
		}
		if h, ok := FindHolidays(at, y, nil); ok {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// A rule of summer time that was given up is none, however often it was followed before.
func TestSummerTimeThatWasGivenUp(t *testing.T) {
	for zone, from := range map[string]int{"Europe/Istanbul": 2010, "Europe/Moscow": 2005} {
		at, y := people(t, time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC), 8*365, zone, "", 1)
		if z, ok := FindZone(at, y); ok {
			t.Errorf("%s: %+v", zone, z)
		}
		// While it lasted it was there.
		n := 4 * 365 * 24
		if z, ok := FindZone(at[:n], y[:n]); !ok || !strings.HasPrefix(z.Name, "Europe/") {
			t.Errorf("%s, while it had it: %+v, %v", zone, z, ok)
		}
	}
}

// A break of weeks about Christmas, as schools have it, is no country's list of holidays.
func TestBreakIsNoHoliday(t *testing.T) {
	at, y := people(t, began, 1800, "UTC", "", 6)
	for i, s := range at {
		if day := time.Unix(int64(s), 0).UTC(); day.Month() == time.December && day.Day() >= 20 || day.Month() == time.January && day.Day() <= 6 {
			y[i] -= 12
		}
	}
	if h, ok := FindHolidays(at, y, nil); ok || h != (Rest{}) {
		t.Errorf("%+v, %v", h, ok)
	}
}

// Where a list is kept but for some days it may be a neighbour's, and says nothing of the zone.
func TestSureOfHolidays(t *testing.T) {
	for _, c := range []struct {
		r    Rest
		want bool
	}{{Rest{}, false}, {Rest{"ES", 33, 25}, false}, {Rest{"CH", 35, 35}, true}, {Rest{"CH", 20, 18}, true}} {
		if got := c.r.Sure(); got != c.want {
			t.Errorf("%+v: %v", c.r, got)
		}
	}
	at := []float64{float64(began.Unix()), float64(began.AddDate(3, 0, 0).Unix())}
	for _, c := range [][3]string{{"CH", "Europe/London", "Europe/Zurich"}, {"DE-BY", "Europe/Athens", "Europe/Berlin"},
		{"CH", "America/New_York", "America/New_York"}, {"JP", "Europe/London", "Europe/London"}, {"", "Europe/London", "Europe/London"}} {
		if got := ZoneOf(c[0], c[1], at); got != c[2] {
			t.Errorf("%s with %q: %s", c[1], c[0], got)
		}
	}
}

// Of forty made series without summer time and holidays none is said to have them.
func TestHabitsAreNoChance(t *testing.T) {
	every := uint64(thorough.OneIn(t, 5, "series"))
	for seed := uint64(0); seed < 40; seed += every {
		for _, degrees := range []float64{47, 56, 60} {
			for _, before := range []float64{6, 4, -5} { // morning sun on a wall to the east, evening sun
				at, y := sun(began.AddDate(0, 0, int(7*seed)), 1460, degrees, before, seed)
				if z, ok := FindZone(at, y); ok {
					t.Errorf("sun of %v°, %v h, seed %d: %+v", degrees, before, seed, z)
				}
			}
		}
		at, y := people(t, began.AddDate(0, 0, int(7*seed)), 800, "Asia/Tokyo", "", seed)
		if z, ok := FindZone(at, y); ok {
			t.Errorf("seed %d: %+v", seed, z)
		}
		if h, ok := FindHolidays(at, y, nil); ok {
			t.Errorf("seed %d: %+v", seed, h)
		}
	}
}

// Days that are on the wall of a zone are its own, also where the clock is put back over midnight, and hours that
// are missing are not made up.
func TestByHour(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Zurich")
	must.OK(t, err)
	var at, y []float64
	for i := range 96 { // the last Sunday of March, which has no hour 2, is the third
		at = append(at, float64(time.Date(2024, 3, 28, 23, 0, 0, 0, time.UTC).Unix()+int64(i)*3600))
		y = append(y, float64(i))
	}
	d, ok := byHour(at, y, zone)
	if !ok || len(d.hours) != 5 || d.first != time.Date(2024, 3, 29, 0, 0, 0, 0, time.UTC).Unix()/daySeconds {
		t.Fatalf("%v, %d days from %d", ok, len(d.hours), d.first)
	}
	sunday := d.hours[2]
	if !math.IsNaN(sunday[2]) || sunday[1] != 49 || sunday[3] != 50 || d.hours[3][0] != 71 || weekday(d.first+2) != 6 {
		t.Errorf("the Sunday is %v, the Monday %v", sunday, d.hours[3])
	}
}

// Of Swissgrid's rows, whose stamps are in UTC, the clock and the holidays are Switzerland's.
func TestHabitsOfSwissgrid(t *testing.T) {
	folder := os.Getenv("KESTREL_DATA")
	if folder == "" {
		t.Skip("KESTREL_DATA names no folder of data")
	}
	d, err := datasets.Load(t.Context(), datasets.Spec{Source: "csv", Target: "mwh", Inputs: []string{"utc_start"},
		Path: filepath.Join(folder, "swissgrid", "total-consumption-15min-2009-2014.csv.xz")})
	must.OK(t, err)
	var at []float64
	for i := range d.N() {
		at = append(at, float64(d.Inputs[0].At(d.X[i]).Unix()))
	}
	zone, ok := FindZone(at, d.Y)
	if !ok || !strings.HasPrefix(zone.Name, "Europe/") || zone.Changes != 12 || zone.Followed != 12 {
		t.Errorf("%+v", zone)
	}
	rest, ok := FindHolidays(at, d.Y, time.UTC)
	if !ok || !rest.Sure() || rest.Code != "CH" || ZoneOf("CH", zone.Name, at) != "Europe/Zurich" {
		t.Errorf("%+v", rest)
	}
}
