package datasets

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestReadHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b.csv")
	text := "when,site,y,empty,x\n2020-01-01,north,1,,3\n2020-01-02,south,2,,4\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	columns := func(roles ...string) []HeaderColumn {
		return []HeaderColumn{
			{"when", 1, "time", roles[0]}, {"site", 2, "text", roles[1]}, {"y", 3, "number", roles[2]},
			{"empty", 4, "", roles[3]}, {"x", 5, "number", roles[4]},
		}
	}
	for _, c := range []struct {
		about string
		spec  Spec
		want  []HeaderColumn
	}{
		{"the last column is the target", Spec{}, columns("input", "", "input", "", "target")},
		{"roles by name and number", Spec{Target: "y", Inputs: []string{"5"}}, columns("", "", "target", "", "input")},
		{"no such column", Spec{Target: "z"}, columns("", "", "", "", "")},
	} {
		c.spec.Path = path
		got, err := ReadHeader(c.spec)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.about, got, err, c.want)
		}
	}
	if _, err := ReadHeader(Spec{Path: path + ".not"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
