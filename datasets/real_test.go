package datasets

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/internal/thorough"
)

func TestRealSwissgrid(t *testing.T) {
	thorough.Unraced(t)
	t.Parallel() // decompression is slow under the race detector
	path := sharedData(t, "swissgrid/total-consumption-15min-2009-2014.csv.xz")
	start := time.Now()
	d := mustLoad(t, Spec{Source: "swissgrid", Path: path, TestRows: 20000, Seed: 1})
	took := time.Since(start)
	t.Logf("%d rows in %v", d.N(), took)
	checkPartition(t, d, 190336, 20000)
	if d.Rows != 210336 || d.Dim != 1 || len(d.Notices) != 0 || (d.Dropped != Dropped{}) {
		t.Errorf("%d rows, %q, %+v", d.Rows, d.Notices, d.Dropped)
	}
	if d.Inputs[0].Unit != "d" || d.Target.Unit != "MWh" || !d.Inputs[0].Origin.Equal(time.Date(2008, 12, 31, 23, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v %+v", d.Inputs, d.Target)
	}
	for i, x := range d.X {
		if math.Abs(x-float64(i)/96) > 1e-11 {
			t.Fatalf("row %d at %v days", i, x)
		}
	}
	if d.Y[0] != 1923.5 || d.Y[1] != 1905.6 {
		t.Errorf("%v", d.Y[:2])
	}
	s := Describe(d, nil)
	if c := s.Columns[0]; !c.Regular || c.Span != "6 years" || c.Last != "2014-12-31T22:45:00Z" {
		t.Errorf("%+v", c)
	}
	// Its standard deviation is 283 (notes/selection.md, 6).
	if sd := s.Columns[1].SD; math.Abs(sd-283) > 1 {
		t.Errorf("sd %v", sd)
	}
}

func TestSwissgridReportsGaps(t *testing.T) {
	text := "utc_start,local_label,mwh,dst_order_guessed\n"
	for _, at := range []string{"00:00", "00:15", "02:15", "02:30", "03:00", "02:45"} {
		text += "2010-01-01T" + at + "Z,x,1" + at[:2] + at[3:] + ",0\n"
	}
	d := loadText(t, text, Spec{Source: "swissgrid"})
	want := []string{"the time grid has 2 steps other than 15 min, the widest 2 h after 2010-01-01 00:15",
		"the time stamps do not ascend at 1 row"}
	if !slices.Equal(d.Notices, want) {
		t.Errorf("%q", d.Notices)
	}
}

func TestRealSeries(t *testing.T) {
	for name, want := range map[string][2]int{"01-airline": {129, 15}, "03-mauna": {490, 55}} {
		d := mustLoad(t, Spec{Path: sharedData(t, "series/"+name+".csv"), SplitBy: "x", TestFraction: .1, Order: "time"})
		checkPartition(t, d, want[0], want[1])
		if d.Name != name || d.Inputs[0].Name != "x" || d.Target.Name != "y" || !slices.IsSorted(d.Train) {
			t.Errorf("%q %+v", d.Name, d.Inputs)
		}
	}
}

func TestRealElevators(t *testing.T) {
	path, mask := sharedData(t, "uci/elevators/data.csv.gz"), sharedData(t, "uci/elevators/test_mask.csv.gz")
	seen := 0
	for _, column := range []int{1, 10} {
		d := mustLoad(t, Spec{Path: path, SplitBy: "mask", Mask: mask, MaskColumn: column})
		checkPartition(t, d, len(d.Train), 16599-len(d.Train))
		if d.Dim != 18 || d.Rows != 16599 || d.Inputs[0].Name != "c1" || d.Target.Number != 19 {
			t.Fatalf("%d x %d", d.Rows, d.Dim)
		}
		if column == 1 && (slices.Contains(d.Test, 0) || d.X[0] != -294.2 || d.Y[1] != .053351) {
			t.Error("wrong values")
		}
		seen += len(d.Test)
	}
	if seen < 3000 || seen > 3600 { // two splits of a tenth each
		t.Errorf("%d test rows in both splits", seen)
	}
}

func TestRealSensorLocations(t *testing.T) {
	d := mustLoad(t, Spec{Path: sharedData(t, "ieq/mote_locs.txt"), Delimiter: "space"})
	if d.N() != 54 || d.Dim != 2 || d.X[1] != 21.5 {
		t.Errorf("%d x %d", d.N(), d.Dim)
	}
}

// TestRealDataUnderEnvironment checks that the shipped default of the
// Swissgrid source is found through the variable.
func TestRealDataUnderEnvironment(t *testing.T) {
	path := sharedData(t, swissgridFile)
	t.Setenv(dataEnv, strings.TrimSuffix(path, string(os.PathSeparator)+swissgridFile))
	if p, err := Resolve(swissgridFile, nil); err != nil || p != path {
		t.Errorf("%q, %v", p, err)
	}
}
