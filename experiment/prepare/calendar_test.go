package prepare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/datasets/holidays"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// hourly is a table of so many hours, with a value for each.
func hourly(t *testing.T, hours int, value func(hour int) float64) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("at,load\n")
	for i := range hours {
		at := time.Date(2021, 1, 4, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Hour)
		fmt.Fprintf(&text, "%s,%.4f\n", at.Format("2006-01-02T15:04Z"), value(i))
	}
	path := filepath.Join(t.TempDir(), "load.csv")
	must.OK(t, os.WriteFile(path, []byte(text.String()), 0o600))
	return path
}

// Of many rows within days which show a day the calendar is an input, and the kernels have it; not where the
// rows are few, show no day or another cycle, are to be filled in, or where somebody has said what to take.
func TestCalendarIsTakenWhereItShows(t *testing.T) {
	thorough.Unraced(t)
	noise := func(i int) float64 { return math.Mod(math.Abs(math.Sin(float64(i)*12.9898)*43758.5453), 1) }
	day := func(i int) float64 { return 3*math.Sin(2*math.Pi*float64(i)/24) + noise(i) }
	tide := func(i int) float64 { return 3*math.Sin(2*math.Pi*float64(i)/12.4206) + noise(i) }
	for name, c := range map[string]struct {
		hours int
		value func(int) float64
		set   []string
		want  []string
	}{
		"years of days":      {20000, day, nil, []string{"hour", "weekday", "yearday"}},
		"and holidays":       {20000, day, []string{"data.holidays=DE"}, []string{"hour", "weekday", "yearday", "holiday"}},
		"less than two":      {18000, day, nil, nil}, // to learn from
		"few rows":           {4000, day, nil, nil},
		"noise":              {20000, noise, nil, nil},
		"a tide":             {20000, tide, nil, nil},
		"gaps":               {20000, day, []string{"data.split_by=random"}, nil},
		"other kernels":      {20000, day, []string{"kernels.set=K12"}, nil},
		"none":               {20000, day, []string{"data.calendar="}, nil},
		"one that is stated": {20000, noise, []string{"data.calendar=weekday"}, []string{"weekday"}},
		"no time":            {20000, day, []string{"data.time=no"}, nil},
	} {
		var overrides []config.Override
		for _, s := range append(c.set, "data.transform=none") {
			o, err := config.ParseOverride(s)
			must.OK(t, err)
			overrides = append(overrides, o)
		}
		cfg, err := config.ForTable(hourly(t, c.hours, c.value), "", overrides)
		must.OK(t, err)
		d, _, err := LoadSettled(t.Context(), &cfg)
		must.OK(t, err)
		if got := d.Calendar(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q of the calendar, want %q", name, got, c.want)
		}
		told := slices.ContainsFunc(d.Notices, func(s string) bool { return strings.Contains(s, "of the calendar are inputs") })
		if taken := len(c.want) > 1; told != taken {
			t.Errorf("%s: told is %v: %q", name, told, d.Notices)
		}
		space, err := cfg.Kernels.Candidates()
		must.OK(t, err)
		if len(c.want) > 1 {
			for _, k := range space {
				if strings.Contains(k.Expr.String(), "RW") {
					t.Errorf("%s: %s wanders", name, k.Expr)
				}
			}
			if !slices.ContainsFunc(cfg.Kernels.Expressions, func(e string) bool { return strings.Contains(e, "hour") }) {
				t.Errorf("%s: %q", name, cfg.Kernels.Expressions)
			}
		}
		weights := "tempered"
		if taken := len(c.want) > 1; taken {
			weights = "origins"
		} else if d.Series == nil {
			weights = "posterior"
		}
		if cfg.Settings.Weights != weights {
			t.Errorf("%s: weights are %s, want %s", name, cfg.Settings.Weights, weights)
		}
		// What the config says now is what would be read again.
		again, err := config.Default().Read([]byte(cfg.TOML()), "again.toml", nil)
		must.OK(t, err)
		if again.CalendarOpen() || !slices.Equal(again.Data.Calendar, cfg.Data.Calendar) {
			t.Errorf("%s: %q is read again as %q", name, cfg.Data.Calendar, again.Data.Calendar)
		}
	}
}

// Swissgrid's own source has Switzerland's clock and holidays where it is forecast, and others where they are stated.
func TestCalendarOfSwissgrid(t *testing.T) {
	if os.Getenv("KESTREL_DATA") == "" {
		t.Skip("KESTREL_DATA names no folder of data")
	}
	for zone, set := range map[string][]string{"Europe/Zurich": nil, "UTC": {"data.zone=UTC"}} {
		var overrides []config.Override
		for _, s := range append(set, "kernels.set=auto", "data.split_by=x", "data.test=0.1") {
			o, err := config.ParseOverride(s)
			must.OK(t, err)
			overrides = append(overrides, o)
		}
		cfg, err := config.Load("swissgrid-small", overrides)
		must.OK(t, err)
		d, _, err := LoadSettled(t.Context(), &cfg)
		must.OK(t, err)
		want := []string{"hour", "weekday", "yearday", "holiday"}
		if got := d.Calendar(); !slices.Equal(got, want) || cfg.Data.Zone != zone || cfg.Data.Holidays != "CH" {
			t.Errorf("%q of the calendar, zone %q, holidays %q", got, cfg.Data.Zone, cfg.Data.Holidays)
		}
	}
}

// What the rows of a dense series show that people live by is said in the config, where it says nothing else: stamps in
// UTC, with the offsets of a clock that changes, and as the clock on the wall shows them.
func TestHabitsAreSettled(t *testing.T) {
	thorough.Unraced(t)
	zurich, err := time.LoadLocation("Europe/Zurich")
	must.OK(t, err)
	free := map[string]bool{}
	days, _ := holidays.Days("CH", 2020, 2024)
	for _, day := range days {
		free[day.Format(time.DateOnly)] = true
	}
	r := rand.New(rand.NewPCG(1, 2))
	path := func(layout string, zone *time.Location) string {
		var text strings.Builder
		text.WriteString("at,load\n")
		for i := range 20000 {
			at := time.Date(2021, 1, 3, 23, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Hour)
			local := at.In(zurich)
			h := float64(local.Hour())
			v := 10*math.Exp(-(h-12)*(h-12)/20) + r.NormFloat64()
			if local.Weekday() == time.Saturday || local.Weekday() == time.Sunday || free[local.Format(time.DateOnly)] {
				v -= 4
			}
			fmt.Fprintf(&text, "%s,%.4f\n", at.In(zone).Format(layout), v)
		}
		path := filepath.Join(t.TempDir(), "load.csv")
		must.OK(t, os.WriteFile(path, []byte(text.String()), 0o600))
		return path
	}
	for name, c := range map[string]struct {
		path           string
		set            []string
		zone, holidays string
		told           []string
	}{
		"UTC": {path("2006-01-02T15:04Z07:00", time.UTC), nil, "Europe/Zurich", "CH",
			[]string{"summer time, in 4 of 4 changes", `data.zone = "Europe/Zurich"`, `data.holidays = "CH"`}},
		"offsets": {path("2006-01-02T15:04Z07:00", zurich), nil, "Europe/Zurich", "CH", []string{"by one clock"}},
		"offsets, other holidays": {path("2006-01-02T15:04Z07:00", zurich), []string{"data.holidays=GB"}, "Europe/Berlin", "GB",
			[]string{"by one clock"}},
		"one offset": {path("2006-01-02T15:04Z07:00", time.FixedZone("", -7*3600)), nil, "Europe/Zurich", "CH", nil},
		"wall":       {path("2006-01-02 15:04", zurich), nil, "", "CH", []string{`data.holidays = "CH"`, `say more with data.zone`}},
		"zone": {path("2006-01-02T15:04Z07:00", time.UTC), []string{"data.zone=UTC"}, "UTC", "CH",
			[]string{`data.holidays = "CH"`}},
		"holidays": {path("2006-01-02T15:04Z07:00", time.UTC), []string{"data.holidays=DE"}, "Europe/Berlin", "DE",
			[]string{`data.zone = "Europe/Berlin"`}},
		"stated": {path("2006-01-02T15:04Z07:00", time.UTC), []string{"data.calendar=hour"}, "", "", nil},
	} {
		var overrides []config.Override
		for _, s := range append(c.set, "data.transform=none") {
			o, err := config.ParseOverride(s)
			must.OK(t, err)
			overrides = append(overrides, o)
		}
		cfg, err := config.ForTable(c.path, "", overrides)
		must.OK(t, err)
		d, _, err := LoadSettled(t.Context(), &cfg)
		must.OK(t, err)
		if cfg.Data.Zone != c.zone || cfg.Data.Holidays != c.holidays {
			t.Errorf("%s: zone %q, holidays %q", name, cfg.Data.Zone, cfg.Data.Holidays)
		}
		notices := strings.Join(d.Notices, "\n")
		for _, want := range c.told {
			if !strings.Contains(notices, want) {
				t.Errorf("%s: no %q in %q", name, want, notices)
			}
		}
		// A backtest, too, says what is taken.
		cfg, err = config.ForTable(c.path, "", overrides)
		must.OK(t, err)
		groups, err := LoadGroups(t.Context(), &cfg)
		must.OK(t, err)
		if of := strings.Join(groups[0].Data.Notices, "\n"); cfg.Data.Zone != c.zone || len(c.told) > 0 && !strings.Contains(of, c.told[0]) {
			t.Errorf("%s: of groups the zone is %q: %q", name, cfg.Data.Zone, of)
		}
		// Row 1,000 is in winter, 5,000 in summer; the columns are by the clock that was found.
		for _, row := range []int{1000, 5000} {
			clock := zurich
			if c.zone == "UTC" || name == "stated" {
				clock = time.UTC
			}
			local := time.Date(2021, 1, 3, 23, 0, 0, 0, time.UTC).Add(time.Duration(row) * time.Hour).In(clock)
			if got := d.Row(row)[1]; got != float64(local.Hour()) {
				t.Errorf("%s: hour %v of row %d, want %d", name, got, row, local.Hour())
			}
		}
		again, err := config.Default().Read([]byte(cfg.TOML()), "again.toml", nil)
		must.OK(t, err)
		if again.Data.Zone != cfg.Data.Zone || again.Data.Holidays != cfg.Data.Holidays {
			t.Errorf("%s: read again: zone %q, holidays %q", name, again.Data.Zone, again.Data.Holidays)
		}
	}
}
