package datasets

import (
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// What has been read is written as it was: form, digits and zone. An instant that the
// form cannot tell, and stamps of several forms, are in RFC 3339.
func TestStampsAreWrittenAsTheyWereRead(t *testing.T) {
	for _, c := range []struct {
		stamps []string
		step   string // what comes next
	}{
		{[]string{"2024-01-29", "2024-01-30", "2024-01-31"}, "2024-02-01"},
		{[]string{"2024/01/29", "2024/01/30", "2024/01/31"}, "2024/02/01"},
		{[]string{"29.01.2024", "30.01.2024", "31.01.2024"}, "01.02.2024"},
		{[]string{"29/01/2024", "30/01/2024", "31/01/2024"}, "01/02/2024"},
		{[]string{"01/01/2024", "01/02/2024", "01/13/2024", "01/14/2024", "01/15/2024"}, "01/16/2024"},
		{[]string{"12/30/2023", "12/31/2023", "1/1/2024"}, "1/2/2024"},
		{[]string{"2023-10", "2023-11", "2023-12"}, "2024-01"},
		{[]string{"29-Jan-24", "30-Jan-24", "31-Jan-24"}, "1-Feb-24"},
		{[]string{"2024-01-31 21:00", "2024-01-31 22:00", "2024-01-31 23:00"}, "2024-02-01 00:00"},
		{[]string{"2024-01-31T21:00:00Z", "2024-01-31T22:00:00Z", "2024-01-31T23:00:00Z"}, "2024-02-01T00:00:00Z"},
		{[]string{"2024-01-31T21:00+05:30", "2024-01-31T22:00+05:30", "2024-01-31T23:00+05:30"}, "2024-02-01T00:00+05:30"},
		{[]string{"2024-01-31 21:00:00.250", "2024-01-31 21:00:00.500", "2024-01-31 21:00:00.750"}, "2024-01-31 21:00:01.000"},
		{[]string{"31.01.2024 9:00 PM", "31.01.2024 10:00 PM", "31.01.2024 11:00 PM"}, "01.02.2024 12:00 AM"},
		// No one form, or one zone.
		{[]string{"2024-01-29", "2024-01-30 00:00", "2024-01-31"}, "2024-02-01T00:00:00Z"},
		{[]string{"2024-01-31T21:00+01:00", "2024-01-31T23:00+02:00", "2024-01-31T23:00+01:00"}, "2024-01-31T23:00:00Z"},
	} {
		d := seriesOf(t, "day", c.stamps, func(s *Spec) { s.TestFraction = 0 })
		in := &d.Inputs[0]
		one := strings.Contains(c.step, "T00:00:00Z") && c.stamps[0] != "2024-01-31T21:00:00Z" || strings.HasSuffix(c.step, "T23:00:00Z")
		for i, want := range c.stamps {
			if got := in.Written(d.X[i]); got != want && !one {
				t.Errorf("%q is written %q", want, got)
			}
		}
		h, err := ParseHorizon("1")
		must.OK(t, err)
		p, err := d.Beyond(h)
		must.OK(t, err)
		if got := in.Written(p.X[0]); got != c.step {
			t.Errorf("behind %q comes %q, want %q", c.stamps, got, c.step)
		}
	}
	d := seriesOf(t, "day", []string{"2024-01-29", "2024-01-30", "2024-01-31"}, nil)
	if got := d.Inputs[0].Written(3600); got != "2024-01-29T01:00:00Z" {
		t.Errorf("an hour later is %q", got)
	}
}
