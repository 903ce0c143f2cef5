package holidays

import (
	"slices"
	"testing"
	"time"
)

// Dates as they stand in the countries' own lists of these years.
func TestDaysOfCountries(t *testing.T) {
	for _, c := range []struct {
		code string
		year int
		have []string
		not  []string
	}{
		{"DE", 2024, []string{"01-01", "03-29", "04-01", "05-01", "05-09", "05-20", "10-03", "12-25", "12-26"}, []string{"01-06", "11-01"}},
		{"DE-BY", 2024, []string{"01-06", "05-30", "11-01", "10-03"}, []string{"10-31"}},
		{"CH", 2014, []string{"01-01", "04-18", "04-21", "05-29", "06-09", "08-01", "12-25", "12-26"},
			[]string{"03-01", "03-19", "05-01", "06-19", "08-15", "11-01", "12-24"}},
		{"CH-ZH", 2014, []string{"05-01", "08-01"}, []string{"01-02", "08-15"}},
		// the 4th a Sunday; Christmas and New Year on Saturdays
		{"US", 2021, []string{"07-04", "07-05", "11-25", "12-24", "12-31"}, []string{"12-26"}},
		{"GB", 2022, []string{"06-02", "06-03", "08-29"}, []string{"05-30"}}, // the Platinum Jubilee
		{"AU", 2023, []string{"01-26", "04-25"}, []string{"11-07"}},          // Melbourne's cup is Victoria's
	} {
		days, ok := Days(c.code, c.year, c.year)
		if !ok {
			t.Fatalf("%s is not known", c.code)
		}
		var found []string
		for _, d := range days {
			if d.Year() != c.year || !d.Equal(d.Truncate(24*time.Hour)) {
				t.Errorf("%s %d: %v", c.code, c.year, d)
			}
			found = append(found, d.Format("01-02"))
		}
		for _, d := range c.have {
			if !slices.Contains(found, d) {
				t.Errorf("%s %d: %s is a holiday, which is not among %v", c.code, c.year, d, found)
			}
		}
		for _, d := range c.not {
			if slices.Contains(found, d) {
				t.Errorf("%s %d: %s is no holiday", c.code, c.year, d)
			}
		}
	}
}

// Every code that is listed is one by its form, has days in every year, each once, and as many
// in a span of years as in the years of it.
func TestEveryCodeHasDays(t *testing.T) {
	codes := Codes()
	if len(codes) < 60 || !slices.IsSorted(codes) {
		t.Fatalf("%d codes: %v", len(codes), codes)
	}
	for _, code := range codes {
		all, ok := Days(code, 2015, 2024)
		if !ok || !IsCode(code) {
			t.Errorf("%s: known %v, a code %v", code, ok, IsCode(code))
		}
		var apart []time.Time
		for year := 2015; year <= 2024; year++ {
			one, _ := Days(code, year, year)
			if len(one) < 5 || len(one) > 40 {
				t.Errorf("%s has %d holidays in %d", code, len(one), year)
			}
			apart = append(apart, one...)
		}
		if !slices.Equal(all, apart) {
			t.Errorf("%s: %d days in ten years, %d in each of them", code, len(all), len(apart))
		}
	}
	for _, text := range []string{"", "de", "DE-", "days.csv", "DEU", "XX.txt", "DE-BAYERN"} {
		if IsCode(text) {
			t.Errorf("%q has the form of a code", text)
		}
	}
	for _, code := range []string{"XX", "DE-XX", "US-CA"} {
		if _, ok := Days(code, 2020, 2021); ok {
			t.Errorf("%s is known", code)
		}
	}
}
