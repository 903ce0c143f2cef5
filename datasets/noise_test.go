package datasets

import (
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/internal/must"
)

// The column of the noise's standard deviations is no input; rows that are left out for a
// missing value take theirs with them.
func TestNoiseColumn(t *testing.T) {
	const table = "x,sd,y\n1,0.5,10\n2,1,\n3,2,30\n4,0.25,40\n"
	d, err := Load(t.Context(), Spec{Path: writeFile(t, "sds.csv", table), NoiseColumn: "sd"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Dim != 1 || d.Inputs[0].Name != "x" || d.Target.Name != "y" || !slices.Equal(d.NoiseSD, []float64{0.5, 2, 0.25}) {
		t.Errorf("inputs %+v, target %s, standard deviations %v", d.Inputs, d.Target.Name, d.NoiseSD)
	}
	if got := d.NoiseOf([]int32{2, 0}); !slices.Equal(got, []float64{0.25, 0.5}) {
		t.Errorf("of rows 2 and 0: %v", got)
	}
	// As the last column it is not taken for the target, and a series keeps its own rows.
	const long = "id,x,y,sd\nb,3,33,3\nb,1,31,1\na,1,11,7\n"
	d, err = Load(t.Context(), Spec{Path: writeFile(t, "long.csv", long), NoiseColumn: "-1", Group: "id", GroupValue: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Target.Name != "y" || !slices.Equal(d.NoiseSD, []float64{3, 1}) {
		t.Errorf("target %s, standard deviations %v", d.Target.Name, d.NoiseSD)
	}
	w, err := d.Window(Spec{Path: "x"}, 2, 0)
	if err != nil || !slices.Equal(w.NoiseSD, []float64{1, 3}) {
		t.Errorf("in the order of x: %v, %v", w.NoiseSD, err)
	}
	for name, c := range map[string]struct {
		table, want string
		spec        Spec
	}{
		"none":        {"x,sd,y\n1,1,2\n2,,3\n", "row 2", Spec{NoiseColumn: "sd"}},
		"below 0":     {"x,sd,y\n1,1,2\n2,-1,3\n", "above 0", Spec{NoiseColumn: "sd"}},
		"no column":   {"x,sd,y\n1,1,2\n2,1,3\n", "did you mean", Spec{NoiseColumn: "sds"}},
		"the target":  {"x,sd,y\n1,1,2\n2,1,3\n", "both the noise and the target", Spec{NoiseColumn: "sd", Target: "sd"}},
		"an input":    {"x,sd,y\n1,1,2\n2,1,3\n", "both the noise and an input", Spec{NoiseColumn: "sd", Inputs: []string{"x", "sd"}}},
		"too few":     {"sd,y\n1,2\n2,3\n", "no column is left", Spec{NoiseColumn: "sd"}},
		"by no input": {"x,sd,y\n1,1,2\n2,1,3\n", "noise_by names an input", Spec{NoiseBy: "y"}},
	} {
		c.spec.Path = writeFile(t, "bad.csv", c.table)
		if _, err := Load(t.Context(), c.spec); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Points may have the noise's standard deviations under the name that the training rows
// have them, also where these are gone; a cell without one is not known.
func TestNoiseOfPoints(t *testing.T) {
	d, err := Load(t.Context(), Spec{Path: writeFile(t, "sds.csv", "x,sd,y\n1,0.5,10\n2,1,20\n3,2,30\n"), NoiseColumn: "2"})
	must.OK(t, err)
	bare, err := d.Template().Dataset()
	must.OK(t, err)
	for _, like := range []*Dataset{d, bare} {
		for text, want := range map[string]*Points{
			"y,sd,x\n7,0.25,1\n8,NA,2\n9,4,3\n": {X: []float64{1, 2, 3}, Y: []float64{7, 8, 9}, NoiseSD: []float64{0.25, 0, 4}},
			"sd,x\n0.25,1\n1,\n4,3\n":           {X: []float64{1, 3}, NoiseSD: []float64{0.25, 4}},
			"x,y\n1,7\n":                        {X: []float64{1}, Y: []float64{7}},
			"x\n1\n":                            {X: []float64{1}},
		} {
			p, _, err := readPoints(t, 2, Spec{Path: writeFile(t, "new.csv", text)}, like)
			must.OK(t, err)
			if !equalFloats(p.X, want.X) || !equalFloats(p.Y, want.Y) || !equalFloats(p.NoiseSD, want.NoiseSD) ||
				(p.NoiseSD == nil) != (want.NoiseSD == nil) {
				t.Errorf("%q: %+v", text, p)
			}
		}
		_, _, err := readPoints(t, 1, Spec{Path: writeFile(t, "new.csv", "x,sd\n1,1\n2,0\n")}, like)
		if err == nil || !strings.Contains(err.Error(), `new.csv: row 2: column "sd"`) {
			t.Errorf("a standard deviation of 0: %v", err)
		}
	}
}

func TestNoiseBy(t *testing.T) {
	const table = "x,room,y\n1,a,10\n2,b,20\n3,a,30\n4,b,40\n"
	d, err := Load(t.Context(), Spec{Path: writeFile(t, "rooms.csv", table), NoiseBy: "room", Types: map[string]string{"room": TypeLevels}})
	if err != nil {
		t.Fatal(err)
	}
	if d.NoiseBy != 2 || d.Inputs[1].Name != "room" {
		t.Errorf("noise by input %d of %+v", d.NoiseBy, d.Inputs)
	}
}
