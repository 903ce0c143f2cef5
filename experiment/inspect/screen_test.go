package inspect

import (
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// A table for reading has what the points are, what is predicted and an interval, with
// two digits of the standard deviation; what is left out is said.
func TestWriteScreen(t *testing.T) {
	const head = "row,date,n,mean,sd_f,sd_y,"
	for _, c := range []struct{ what, table, want string }{
		{"quantiles in any order", head + "f_q0.5,y_q0.95,y_q0.5,y_q0.025\n" +
			"1,2024-02-06,7,144.4326669685083,1.2429,4.106143,1,151.17998,144,137.67303\n" +
			"2,2024-02-07,1234567.5,1000.04,1.2,41,1,2000,1500,-0.96\n",
			"row        date            n    mean  2.5 %    95 %\n" +
				"───────────────────────────────────────────────────\n" +
				"  1  2024-02-06            7   144.4  137.7   151.2\n" +
				"  2  2024-02-07  1.23457e+06  1000.0   -1.0  2000.0\n" +
				"92.5 % of observations are expected between the last two columns. -o FILE.csv,\n" +
				"or --format csv, writes all 10 columns with all digits.\n"},
		{"no quantiles, a transform", head + "median\n1,a,,5.04,1,300,4.96\n",
			"row  date  n  mean  median  sd of y\n───────────────────────────────────\n  1     a        5       5      300\n" +
				"-o FILE.csv, or --format csv, writes all 7 columns with all digits.\n"},
	} {
		var out strings.Builder
		must.OK(t, WriteScreen(&out, []byte(c.table)))
		if got := out.String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
	var many strings.Builder
	must.OK(t, WriteScreen(&many, []byte("row,mean,sd_y\n"+strings.Repeat("1,2,3\n", 1000))))
	if got := many.String(); !strings.Contains(got, "… and 800 more rows.") || strings.Count(got, "\n") > 210 {
		t.Errorf("of 1000 rows %d lines: %s", strings.Count(got, "\n"), got[len(got)-200:])
	}
	if err := WriteScreen(&many, []byte("a,b\n1,2\n")); err == nil {
		t.Error("a table of something else is laid out")
	}
}
