package datasets

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestStampsAgreeWithTimePackage writes random instants in every form and
// checks what is read against package time.
func TestStampsAgreeWithTimePackage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	zone := time.FixedZone("", -(3*3600 + 30*60))
	for range 3000 {
		at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rng.Int64N(9e18))).
			AddDate(rng.IntN(9000), 0, 0).Truncate(time.Microsecond)
		for _, layout := range []string{
			time.RFC3339Nano, "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05.999999", "2006-01-02 15:04:05", "2006-01-02 15:04",
			"2006-01-02T15:04", "2006-01-02T15:04Z",
			"2006-01-02T15:04-07:00", "2006-01-02 15:04:05-0700", "2006-01-02 15:04-07", "2006-01-02", "2006/01/02 15:04:05", "02.01.2006 15:04",
			"02.01.2006", "02.01.2006 15:04:05", "2006-01",
		} {
			if layout == "2006-01-02 15:04-07" {
				zone = time.FixedZone("", 5*3600)
			}
			text := at.In(zone).Format(layout)
			want, err := time.Parse(layout, text)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := parseStamp([]byte(text))
			if !ok || got != want.UnixMicro() {
				t.Fatalf("%s: %d, %v, want %d", text, got, ok, want.UnixMicro())
			}
		}
	}
}

func TestNoStamps(t *testing.T) {
	for _, text := range []string{
		"", "2020", "2020-1-1", "2020-13-01", "2020-00-10", "2020-02-30", "2019-02-29", "1900-02-29", "2020-01-01 24:00", "2020-01-01 12",
		"2020-01-01 12:60", "2020-01-01 12:00:60",
		"2020-01-01 12:00:", "2020-01-01 12:00:00.", "2020-01-01x12:00", "2020-01-01 12:00 CET", "2020-01-01 12:00+1",
		"2020-01-01 12:00+01:99", "2020-01-01T", "2020-01/01",
		"32.01.2020", "01.02.20", "1.2.2020", "01/02/2020", "aaaa-bb-cc", "2020-01-01 12:00:00,5",
	} {
		if us, ok := parseStamp([]byte(text)); ok {
			t.Errorf("%q is read as %v", text, time.UnixMicro(us).UTC())
		}
	}
	if _, ok := parseStamp([]byte("2000-02-29")); !ok {
		t.Error("2000 was a leap year")
	}
}
