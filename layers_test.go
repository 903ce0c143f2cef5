package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// layers are the packages of the module from the lowest to the highest: a package
// imports only those above it in this list. docs/architecture.md has the same list
// with what each is for.
var layers = []string{
	"internal/guard",
	"internal/scratch",
	"scoring",
	"kernelspace",
	"kernelspace/grow",
	"device",
	"device/conformance",
	"device/trial",
	"device/cpu/simd",
	"device/cpu",
	"device/cuda/driver",
	"device/cuda/source",
	"device/cuda",
	"device/cuda/proving",
	"vbks/random",
	"vbks/periods",
	"vbks/pace",
	"vbks/secant",
	"vbks/inducing",
	"vbks/belief",
	"vbks/mixture",
	"vbks/noise",
	"vbks/stacking",
	"vbks/params",
	"vbks/cost",
	"vbks/starts",
	"vbks/promise",
	"vbks/covariance",
	"vbks/distance",
	"vbks/exact",
	"vbks/laplace",
	"vbks/wire",
	"vbks/windows",
	"vbks/local",
	"vbks/front",
	"vbks",
	"cluster",
	"baseline",
	"datasets/transform",
	"datasets/formats",
	"datasets/quote",
	"datasets/sheets",
	"datasets/relevance",
	"datasets/holidays",
	"datasets/habits",
	"datasets/jumps",
	"datasets/elsewhere",
	"datasets",
	"configs",
	"experiment/average",
	"experiment/words",
	"experiment/template",
	"experiment/grid",
	"experiment/inside",
	"experiment/files",
	"experiment/npz",
	"experiment/config",
	"experiment/record",
	"experiment/finding",
	"experiment/output",
	"experiment/chart",
	"experiment/rundir",
	"experiment/history",
	"experiment/library",
	"experiment/known",
	"experiment/prepare",
	"experiment/modelfile",
	"experiment/inspect",
	"experiment/script",
	"experiment/serve",
	"experiment/steer",
	"experiment",
	"experiment/series",
	"experiment/searches",
	"experiment/study",
	"experiment/compare",
	"experiment/backtest",
	"experiment/bench",
	"experiment/figures",
	"experiment/report",
	"ui/terminal",
	"ui/plot",
	"ui/picture",
	"ui/theme",
	"ui/format",
	"ui/draw",
	"ui/input",
	"ui/note",
	"ui/asking",
	"ui/launcher",
	"ui/settings",
	"ui",
	"cli",
	".",
}

// apart says what a package must not know, nor what is below that, although it
// stands lower.
var apart = map[string][]string{
	"baseline":           {"vbks", "device", "kernelspace"}, // it knows numbers only
	"datasets":           {"vbks", "device"},
	"datasets/transform": {"kernelspace", "vbks", "device"}, // maths alone
	"vbks":               {"device/cpu", "device/cuda"},     // whatever computes
	"vbks/exact":         {"device/cpu", "device/cuda"},
	"cluster":            {"device/cpu", "device/cuda", "scoring"},                       // it carries units, whatever is in them
	"experiment/chart":   {"experiment/record", "experiment/config", "vbks", "datasets"}, // it knows no run
	"experiment/rundir":  {"experiment/config", "experiment/chart"},
	"experiment/history": {"experiment/config"},
	"ui/plot":            {"experiment", "vbks", "datasets", "device", "kernelspace"},
	"ui/picture":         {"experiment", "vbks", "datasets", "device", "kernelspace"},
	"ui/launcher":        {"vbks", "device"},
	"ui":                 {"device", "datasets"},
	".":                  {"ui", "experiment", "vbks"}, // cli alone
}

// forTests are packages that only tests import, and programs that nobody does.
func forTests(pkg string) bool {
	named := strings.HasSuffix(pkg, "test") && !slices.Contains(layers, pkg) // a backtest is none
	return named || slices.Contains([]string{"internal/must", "internal/golden", "internal/goroutines", "internal/thorough"}, pkg)
}

// standsAlone reports whether a package is a program of its own, or made for one.
func standsAlone(pkg string) bool {
	return slices.Contains([]string{"device/cuda/check", "device/cuda/driver/fake", "scripts/harm", "scripts/mutate", "scripts/screens"}, pkg)
}

// mostFiles is how many files besides tests a package may have, where it is below
// experiment or anywhere.
const mostBelow, mostAnywhere = 30, 45

// Imports point upwards in the list of layers only, and every package says what it is.
func TestLayers(t *testing.T) {
	at := map[string]int{}
	for i, p := range layers {
		at[p] = i
	}
	files, said, own := map[string]int{}, map[string]bool{}, module(t)+"/"
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || ownModule(name)):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		pkg := path.Clean(filepath.ToSlash(filepath.Dir(name)))
		files[pkg]++
		layer, known := at[pkg]
		if !known && !forTests(pkg) && !standsAlone(pkg) {
			t.Errorf("package %s has no place in layers (layers_test.go); give it one, and a row in docs/architecture.md", pkg)
			return fs.SkipDir
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		said[pkg] = said[pkg] || f.Doc != nil
		for _, i := range f.Imports {
			to, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			to, ours := strings.CutPrefix(to, own)
			if !ours || forTests(pkg) || standsAlone(pkg) {
				continue
			}
			if forTests(to) {
				t.Errorf("%s: %s → %s, which is for tests only", name, pkg, to)
			} else if below, known := at[to]; !known || below >= layer {
				t.Errorf("%s: the arrow %s → %s runs back up", name, pkg, to)
			}
			for _, p := range apart[pkg] {
				if to == p || strings.HasPrefix(to, p+"/") {
					t.Errorf("%s: %s must not know %s", name, pkg, to)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg, n := range files {
		most := mostAnywhere
		if strings.HasPrefix(pkg, "experiment/") {
			most = mostBelow
		}
		if !said[pkg] {
			t.Errorf("package %s does not say what it is, in a comment on it", pkg)
		}
		if n > most {
			t.Errorf("package %s has %d files besides tests, more than %d: has it one purpose?", pkg, n, most)
		}
	}
	for _, p := range layers {
		if files[p] == 0 {
			t.Errorf("layers has %s, which has no files", p)
		}
	}
}

// module is the path of this module, which scripts/module.sh changes.
func module(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	path, ok := strings.CutPrefix(line, "module ")
	if !ok {
		t.Fatalf("go.mod begins with %q", line)
	}
	return path
}

func ownModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// The table of docs/architecture.md has the layers, in their order.
func TestLayersAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	_, table, _ := strings.Cut(string(text), "\n## Packages\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for _, name := range strings.Split(cells[1], ",") {
				if _, name, ok := strings.Cut(name, "`"); ok {
					name, _, _ = strings.Cut(name, "`")
					rows = append(rows, name)
				}
			}
		}
	}
	if !slices.Equal(rows, layers[:len(layers)-1]) {
		t.Errorf("docs/architecture.md has the packages\n%s\nand layers_test.go\n%s", strings.Join(rows, "\n"), strings.Join(layers, "\n"))
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// Links of the pages for people lead somewhere, to a heading that is there.
func TestLinksLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "CHANGELOG.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			to := filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))
			if m[1] == "" {
				to = page
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if m[2] != "" && !slices.Contains(anchors(t, to), m[2]) {
				t.Errorf("%s: %s has no heading for %s", page, to, m[2])
			}
		}
	}
}

// anchors are those that GitHub makes of a page's headings.
func anchors(t *testing.T, page string) (all []string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		all = append(all, "#"+strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return all
}
