package library

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/internal/must"
)

// The preview of a table of known content: what was read, thinned with its
// spike, and counted.
func TestPreviewData(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "wave.csv")
	var b strings.Builder
	b.WriteString("day,other,level\n")
	for i := range 5000 {
		level := math.Sin(float64(i) / 50)
		if i == 3210 {
			level = 99
		}
		fmt.Fprintf(&b, "%d,%d,%v\n", i, i%7, level)
	}
	b.WriteString("5000,1,NA\n")
	must.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
	c, err := config.ForTable(path, "", []config.Override{{Key: "data.test", Value: "1000"}, {Key: "data.split_by", Value: "x"}})
	must.OK(t, err)
	p, err := inspect.PreviewData(t.Context(), c, 200)
	must.OK(t, err)
	if s := p.Summary; s.Train != 4000 || s.Test != 1000 || s.DroppedTarget != 1 || p.Input.Name != "day" || p.Target.Name != "level" {
		t.Errorf("%+v", p)
	}
	n := len(p.Points.X)
	if n > 200 || n < 100 || len(p.Points.Y) != n || len(p.Points.Kind) != n || p.Points.Unseen != 4000 || p.Points.Tests != 1000 {
		t.Errorf("%d points: %+v", n, p.Points)
	}
	spike := slices.Index(p.Points.Y, 99)
	if spike < 0 || p.Points.X[spike] != 3210 || p.Points.Kind[spike] != inspect.PointUnseen {
		t.Errorf("the spike at %d is lost", spike)
	}
	for i, kind := range p.Points.Kind {
		if (kind == inspect.PointTest) != (p.Points.X[i] >= 4000) {
			t.Errorf("row %v is of kind %d", p.Points.X[i], kind)
		}
	}
	if p, err = inspect.PreviewData(t.Context(), configtest.Small(t), 1000); err != nil || len(p.Points.X) != 80 {
		t.Errorf("%+v, %v", p, err)
	}
	c.Data.Path = filepath.Join(dir, "none.csv")
	if _, err := inspect.PreviewData(t.Context(), c, 10); err == nil {
		t.Error("a file that does not exist has a preview")
	}
}

// tree writes files below a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.OK(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

func TestFindData(t *testing.T) {
	const config, table = "# Mine.\n[data]\npath = \"x.csv\"\n", "1\t2\n3\t4\n"
	root := tree(t, map[string]string{
		"b.csv": "", "a/c.CSV.gz": "", "a/b/c/d.tsv": "", "a/b/c/d/too-deep.csv": "", "z.toml": config, "other.toml": "[tool]\n",
		"table.txt": table, "README.txt": "This is\nno table, but has a comma\n", "one.dat": "1\n2\n", "a/x.dat": table,
		".git/x.csv": "", "runs/r/posterior.csv": "", "a/runs/x.csv": "", "a/run/events.jsonl": "", "a/run/posterior.csv": "", ".x.csv": "",
		"folder.csv/inside.csv": "", "x.go": "",
	})
	want := []string{"b.csv", "table.txt", "z.toml", "a/c.CSV.gz", "a/x.dat", "folder.csv/inside.csv", "a/b/c/d.tsv"}
	for most, want := range map[int][]string{0: want, 100: want, 3: want[:3], 4: want[:4]} {
		var got []string
		for _, path := range FindData(root, most) {
			name, err := filepath.Rel(root, path)
			must.OK(t, err)
			got = append(got, filepath.ToSlash(name))
		}
		if !slices.Equal(got, want) {
			t.Errorf("at most %d: %q\nwant %q", most, got, want)
		}
	}
	if got := FindData(filepath.Join(root, "none"), 0); len(got) != 0 {
		t.Errorf("%q", got)
	}
	t.Chdir(root)
	if got := FindData(".", 1); !slices.Equal(got, []string{"b.csv"}) {
		t.Errorf("%q", got)
	}
}

func TestConfigChoices(t *testing.T) {
	shipped := ConfigChoices(t.TempDir())
	for _, c := range shipped {
		if _, err := config.Load(c.Name, nil); err != nil || !c.Shipped || c.About == "" || strings.HasPrefix(c.About, "#") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	quick, err := os.ReadFile(filepath.Join("..", "..", "configs", "quickstart.toml"))
	must.OK(t, err)
	root := tree(t, map[string]string{
		"configs/copy.toml": string(quick), "configs/mine.toml": "# Mine: ours,\n# since 1.5 years. More\n[data]\n",
		"top.toml": "name = \"top\"\n\n[kernels]\nset = \"K12\"\n",
		"go.toml":  "[build]\n", ".hidden.toml": "[data]\n", "deep/er.toml": "[data]\n",
	})
	got := ConfigChoices(root)[len(shipped):]
	want := []ConfigChoice{{Name: filepath.Join(root, "configs", "mine.toml"), About: "Mine: ours, since 1.5 years."},
		{Name: filepath.Join(root, "top.toml")}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
