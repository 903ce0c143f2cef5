package datasets

import (
	"math"
	"strings"
	"testing"
)

func TestReadPoints(t *testing.T) {
	d := loadText(t, "when,z,y\n2020-01-01,1,5\n2020-01-02,2,6\n2020-01-03,3,8\n", Spec{})
	// Columns in another order, earlier than the origin, without the target.
	p, err := ReadPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", "z,when\n7,2019-12-31\nNA,2020-01-01\n8,2020-01-05 12:00\n")}, d)
	if err != nil {
		t.Fatal(err)
	}
	if !equalFloats(p.X, []float64{-86400, 7, 4.5 * 86400, 8}) || p.Y != nil || p.Dropped != 1 || p.Rows[1] != 2 {
		t.Errorf("%+v", p)
	}
	p, err = ReadPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", "y,z,when\n1,7,2020-01-01\n,8,2020-01-02\n")}, d)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Y) != 2 || p.Y[0] != 1 || !math.IsNaN(p.Y[1]) || len(p.X) != 4 {
		t.Errorf("%+v", p)
	}
	for text, want := range map[string]string{
		"when,zz\n2020-01-01,1\n": `new.csv: there is no column "z"; did you mean "zz"? the columns are "when", "zz"`,
		"when,z\n1,1\n":           `new.csv: column 1 ("when") holds numbers, but time stamps in the training data`,
		"when,z\nNA,1\n":          `new.csv: no rows to predict at: 1 row read, 1 dropped for a missing input`,
	} {
		_, err := ReadPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", text)}, d)
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v\nwant %s", text, err, want)
		}
	}
}

func TestReadPointsWithoutHeader(t *testing.T) {
	d := loadText(t, "1,2,3\n4,5,6\n", Spec{Target: "1", Inputs: []string{"3", "2"}})
	for text, withTarget := range map[string]bool{"9,8,7\n": true, "7,8\n": false} {
		p, err := ReadPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", text)}, d)
		if err != nil {
			t.Fatal(err)
		}
		if !equalFloats(p.X, []float64{7, 8}) || (p.Y != nil) != withTarget || withTarget && p.Y[0] != 9 {
			t.Errorf("%q: %+v", text, p)
		}
	}
	_, err := ReadPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", "7\n")}, d)
	if err == nil || !strings.HasSuffix(err.Error(), "has 1 column, but 2 inputs are needed") {
		t.Errorf("%v", err)
	}
	s := mustLoad(t, synthetic("SE", 1))
	p, err := ReadPoints(t.Context(), Spec{Path: writeFile(t, "new.csv", "x\n.5\n1.5\n")}, s)
	if err != nil || !equalFloats(p.X, []float64{.5, 1.5}) {
		t.Errorf("%+v, %v", p, err)
	}
}
