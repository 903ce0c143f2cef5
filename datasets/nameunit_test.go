package datasets

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"example.com/kestrel/internal/must"
)

func TestUnitInName(t *testing.T) {
	for name, want := range map[string]string{
		"load [kW]": "kW", "load (kW)": "kW", "t(°C)": "°C", "humidity (%)": "%", "speed [m/s]": "m/s",
		"power (W/m²)": "W/m²", "area (m^2)": "m^2",
		"time (UTC)": "", "hour (CET)": "", "GDP (2019)": "", "price (log)": "", "load": "", "(kW)": "", "load (kW) new": "",
		"load (at noon)":       "",
		"load (much too long)": "", "load ()": "", "load [kW)": "", "": "", ")": "", "sum (raw)": "",
	} {
		if got := unitInName(name); got != want {
			t.Errorf("%q has the unit %q, want %q", name, got, want)
		}
	}
}

// Columns have the unit that their names tell, and keep the names.
func TestColumnsHaveTheUnitOfTheirNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	must.OK(t, os.WriteFile(path, []byte("time [h],load (kW)\n1,3\n2,5\n3,4\n4,6\n5,5\n6,7\n"), 0o644))
	d, err := Load(context.Background(), Spec{Source: "csv", Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if in, y := d.Inputs[0], d.Target; in.Unit != "h" || in.Name != "time [h]" || y.Unit != "kW" || y.Name != "load (kW)" {
		t.Errorf("%+v, %+v", in, y)
	}
	if d.Series == nil || d.Days(0) != 1./24 {
		t.Errorf("%+v", d.Series)
	}
}
