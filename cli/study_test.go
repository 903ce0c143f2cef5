package cli

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/kestrel/configs"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/study"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
)

// tiny makes a study tiny.
func tiny(args ...string) []string {
	return append([]string{"study", "--figures", "quickstart", "--variant", "iii", "--quiet",
		"--set", "data.outputs=40", "--set", "data.support=40", "--set", "data.test=10",
		"--set", "kernels.expressions=SE,LIN+RQ,LIN+SE,(PER+RQ)*LIN", "--set", "sparse.inducing=6", "--set", "schedule.evaluate_every=0.5",
		"--set", "schedule.steps=4", "--set", "optimise.starts=1", "--set", "schedule.refine=0"}, append(slices.Clone(quicker), args...)...)
}

func records(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestStudyTables(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := kestrel(t, tiny("--seeds", "2,4", "--compare-starts", "2", "-o", "tables")...)
	if code != 0 || stderr != "" {
		t.Fatal(code, stderr)
	}
	for _, part := range []string{
		"### quickstart (iii): ", "True kernel (PER+RQ)*LIN among 4; inducing inputs 6, noise 0.1 sd", "\n| 2 | ", "\n| 4 | ",
		"\nquickstart (iii): true kernel first ", " of 2, first or within 1 nat ", ", explained by exact evidence ",
		"with 2 starts in the place of 1:", "; leader changed on ",
	} {
		if !strings.Contains(stdout, part) {
			t.Errorf("no %q in\n%s", part, stdout)
		}
	}
	evenTables(t, stdout)

	rows := records(t, filepath.Join("tables", "study-iii-quickstart.csv"))
	elbos := records(t, filepath.Join("tables", "study-elbos-iii-quickstart.csv"))
	more := records(t, filepath.Join("tables", "study-starts-elbos-iii-quickstart.csv"))
	starts := records(t, filepath.Join("tables", "study-starts-iii-quickstart.csv"))
	if len(rows) != 3 || len(elbos) != 9 || len(more) != 9 || len(starts) != 3 || rows[1][2] != "2" ||
		rows[2][2] != "4" || starts[2][2] != "4" {
		t.Fatalf("%v\n%v\n%v\n%v", rows, elbos, more, starts)
	}
	// The files agree with each other: gap and rises from the ELBOs.
	for i, row := range rows[1:] {
		of := func(table [][]string, kernel string) float64 {
			for _, r := range table[1:] {
				if r[0] == row[2] && r[1] == kernel {
					f, err := strconv.ParseFloat(r[2], 64)
					if err != nil {
						t.Fatal(err)
					}
					return f
				}
			}
			t.Fatalf("seed %s lacks %s", row[2], kernel)
			return 0
		}
		gap, err := strconv.ParseFloat(row[6], 64)
		if want := of(elbos, row[5]) - of(elbos, row[3]); err != nil || gap != want {
			t.Errorf("gap %v, want %v, %v", gap, want, err)
		}
		most := math.Inf(-1)
		for _, k := range []string{"SE", "LIN+RQ", "LIN+SE", "(PER+RQ)*LIN"} {
			most = max(most, of(more, k)-of(elbos, k))
		}
		if got, err := strconv.ParseFloat(starts[i+1][7], 64); err != nil || got != most {
			t.Errorf("largest rise %v, want %v, %v", got, most, err)
		}
	}

	for _, c := range []struct {
		args []string
		want string
	}{
		{tiny("--seeds", "2,4", "-o", "tables"), "--compare-starts = 2, now it is nothing"},
		{tiny("--seeds", "2", "--compare-starts", "2", "-o", "tables"), "--seeds of iii-quickstart = 2,4, now it is 2"},
		{tiny("--seeds", "4,2", "--compare-starts", "2", "-o", "tables"), "--seeds of iii-quickstart = 2,4, now it is 4,2"},
		{tiny("--seeds", "2,4", "--compare-starts", "2", "-o", "tables", "--variant", "i"), "--seeds of i-quickstart = nothing, now it is 2,4"},
		{tiny("--seeds", "2,4", "--compare-starts", "2", "-o", "tables", "--set", "schedule.steps=5"),
			"iii-quickstart, schedule.steps = 4, now it is 5"},
	} {
		if code, _, stderr = kestrel(t, c.args...); code != 2 || stderr != `kestrel: study "tables" was begun with `+c.want+
			"; choose another directory with --out, or state the same\n" {
			t.Error(code, stderr)
		}
	}
}

func TestStudyJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := kestrel(t, tiny("--seeds", "1..2", "--json")...)
	if code != 0 || stderr != "" {
		t.Fatal(code, stderr)
	}
	var types []string
	for line := range strings.Lines(stdout) {
		var o struct {
			Type    string
			Seed    int
			Rank    int
			Truth   string
			Summary struct{ Seeds int }
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		types = append(types, o.Type)
		if o.Type == "seed" && (o.Seed != len(types) || o.Rank < 1 || o.Rank > 4 || o.Truth != "(PER+RQ)*LIN") ||
			o.Type == "summary" && o.Summary.Seeds != 2 {
			t.Error(line)
		}
	}
	if got := strings.Join(types, " "); got != "seed seed summary" {
		t.Error(got)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("a study without --out leaves %v", left)
	}
}

func TestStudyBadInput(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ args, want string }{
		{"--variant iv", `--variant: there is no variant "iv"; variants are i, ii, iii, paper`},
		{"--seeds 3..1", `--seeds: seeds "3..1": "3..1" is neither a seed nor a range; write 1..10 or 1,3,5`},
		{"--figures fig2", `config "fig2": no such file; built-in configs are ` + strings.Join(configs.Names(), ", ")},
		{"--figures fig1a,fig1a", `figure fig1a (i) is asked for twice`},
		{"--figures swissgrid-small --variant iii",
			`swissgrid-small: a study needs data.source = "synthetic", where the true kernel is known, not "swissgrid"`},
		{"--set seed=3", `--set seed=3: a study runs many seeds; state them with --seeds`},
		{"--set sparse.inducin=3", `--set sparse.inducin=3: unknown key "sparse.inducin"; did you mean "sparse.inducing"?`},
		{"--compare-starts 1", `--compare-starts 1: must be at least 2`},
		{"--compare-starts 2 --set optimise.starts=0", `--set optimise.starts=0: optimise.starts must be a whole number from 1 to 1000, not 0`},
		{"--figures fig1a --set kernels.expressions=SE", `fig1a: the true kernel PER*LIN*RQ is not among the 1 of the space`},
		{"--figures=", `nothing to study: name a figure and a variant`},
	} {
		code, stdout, stderr := kestrel(t, append([]string{"study", "-o", "tables"}, strings.Fields(c.args)...)...)
		if code != 2 || stderr != "kestrel: "+c.want+"\n" || stdout != "" {
			t.Errorf("%s: code %d\n got %s\nwant kestrel: %s", c.args, code, stderr+stdout, c.want)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("something was left behind: %v", left)
	}
}

// Ctrl-C leaves the rows there are, whole, with their summary.
func TestStudyInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to another process here")
	}
	dir := filepath.Join(t.TempDir(), "tables")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), argsEnv+"="+strings.Join(tiny("--seeds", "1..5000", "-o", dir), " "))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rows, last := 0, ""
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		last = lines.Text()
		if strings.HasPrefix(last, "| ") && !strings.HasPrefix(last, "| seed") {
			if rows++; rows == 2 {
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("ended with %v", err)
	}
	if want := "kestrel: interrupted; the rows written so far are whole; kestrel study --figures quickstart "; !strings.HasPrefix(
		stderr.String(), want) || !strings.HasSuffix(stderr.String(), " --variant iii --out "+dir+" goes on\n") {
		t.Errorf("stderr %q", stderr.String())
	}
	if rows < 2 || rows == 5000 || !strings.Contains(last, " of "+strconv.Itoa(rows)+", first or within 1 nat ") {
		t.Errorf("%d rows, then %q", rows, last)
	}
	if n := len(records(t, filepath.Join(dir, "study-iii-quickstart.csv"))); n != rows+1 {
		t.Errorf("%d lines of CSV for %d rows", n, rows)
	}
	if n := len(records(t, filepath.Join(dir, "study-elbos-iii-quickstart.csv"))); n != 4*rows+1 {
		t.Errorf("%d ELBOs for %d rows", n-1, rows)
	}
}

// Names and reasons come from elsewhere: in CSV they start no formula, in
// Markdown they make no cells and no lines, and nothing steers a terminal.
func TestStudyTablesAreSafe(t *testing.T) {
	const formula, steering = `=HYPERLINK("http://a.b","c")`, "+cmd|' /C calc'!A0\n| 7 | 1 |\x1b[2J"
	good := &study.Row{Variant: "i", Figure: "f", Seed: 1, Truth: formula, Rank: 2, Leader: "@SUM(A1)|x", Gap: -3.5,
		ELBOs: []study.KernelELBO{{ID: "-SE", ELBO: -7}}}
	bad := &study.Row{Variant: "i", Figure: "f", Seed: 2, Truth: "SE", Failure: steering}
	starts := &study.StartsComparison{Variant: "i", Figure: "f", Seed: 1, MostKernel: "=A1",
		Leader: "=B1|", MoreLeader: "a\nb", Changed: true}
	c := &study.Case{Figure: "f", Variant: study.Variant{Name: "i"}, Truth: formula}

	dir := t.TempDir()
	in, err := inside.Open(dir)
	must.OK(t, err)
	defer in.Close()
	all, err := study.OpenTables(in, []*study.Case{c}, true)
	if err != nil {
		t.Fatal(err)
	}
	tables := all[0]
	var b strings.Builder
	sinks := studySinks{&csvSink{tables}, &markdownSink{w: &b}}
	for _, err := range []error{sinks.begin(c), sinks.row(good), sinks.row(bad), sinks.compared(starts, good),
		tables.Close(), writeComparisons(&b, []*study.StartsComparison{starts})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cells := records(t, filepath.Join(dir, "study-i-f.csv"))
	for at, want := range map[[2]int]string{{1, 3}: "'" + formula, {1, 5}: "'@SUM(A1)|x", {1, 6}: "-3.5", {2, 18}: "'" + steering} {
		if got := cells[at[0]][at[1]]; got != want {
			t.Errorf("row %d, column %d: %q, want %q", at[0], at[1], got, want)
		}
	}
	for name, want := range map[string][]string{
		"study-elbos-i-f.csv":  {"1", "'-SE", "-7"},
		"study-starts-i-f.csv": {"i", "f", "1", "0", "0", "0", "0", "0", "'=A1", "'=B1|", "a\nb", "true"},
	} {
		if got := records(t, filepath.Join(dir, name))[1]; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	rows := 0
	for line := range strings.Lines(b.String()) {
		if strings.ContainsRune(line, '\x1b') {
			t.Errorf("steers a terminal: %q", line)
		}
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		rows++
		bars := strings.Count(line, "|") - strings.Count(line, `\|`)
		if bars != 14 && bars != 7 { // of 13 and 6 cells
			t.Errorf("%d bars in %q", bars, line)
		}
	}
	if rows != 5 { // two headers, two rows, one comparison
		t.Errorf("%d rows in\n%s", rows, &b)
	}
}

// seconds stand in a study's tables and in what it writes.
var secondsOf = regexp.MustCompile(`(?m)(; median )[^;]* s$|(\| )[0-9.e+-]+ \|$|,[0-9.e+-]+(,[^,]*,[^,]*)$`)

// A study whose files end anywhere knows the rows before, makes the others, and
// ends with the same tables, on the screen, too; there may be more seeds.
func TestStudyGoesOn(t *testing.T) {
	thorough.Unraced(t)
	t.Chdir(t.TempDir())
	args := func(dir, seeds string) []string { return tiny("--seeds", seeds, "--compare-starts", "2", "-o", dir) }
	code, want, stderr := kestrel(t, args("want", "1..3")...)
	if code != 0 {
		t.Fatal(stderr)
	}
	timeless := func(text string) string { return secondsOf.ReplaceAllString(text, "$1$2$3") }
	const rows, starts = "study-iii-quickstart.csv", "study-starts-iii-quickstart.csv"
	for what, c := range map[string]struct {
		seeds, file string
		less        int // bytes
		line        string
	}{
		"fewer seeds":      {"1,2", "", 0, "goes on where it was cut: 4 of 6 runs finished\n"},
		"a torn row":       {"1..3", rows, 5, "goes on where it was cut: 5 of 6 runs finished\n"},
		"no comparison":    {"1..3", starts, 1, "goes on where it was cut: 5 of 6 runs finished\n"},
		"nothing is known": {"1..3", "", -1, "goes on where it was cut: 0 of 6 runs finished\n"},
		"all":              {"1..3", "", 0, ""},
	} {
		dir := strings.ReplaceAll(what, " ", "-")
		if c.seeds == "1..3" {
			if err := os.CopyFS(dir, os.DirFS("want")); err != nil {
				t.Fatal(err)
			}
		} else if code, _, stderr := kestrel(t, args(dir, c.seeds)...); code != 0 {
			t.Fatal(stderr)
		}
		if c.file != "" {
			info, err := os.Stat(filepath.Join(dir, c.file))
			if err == nil {
				err = os.Truncate(filepath.Join(dir, c.file), info.Size()-int64(c.less))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if c.less < 0 {
			files, err := filepath.Glob(filepath.Join(dir, "*.csv"))
			if err != nil || len(files) != 4 {
				t.Fatal(files, err)
			}
			for _, file := range files {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
		}
		loud := slices.DeleteFunc(args(dir, "1..3"), func(a string) bool { return a == "--quiet" })
		code, stdout, stderr := kestrel(t, loud...)
		if code != 0 || timeless(stdout) != timeless(want) {
			t.Errorf("%s: %d %s\nwant\n%s", what, code, stdout, want)
		}
		if !strings.HasPrefix(stderr, c.line) || strings.Contains(stderr, "goes on") != (c.line != "") ||
			c.less >= 0 && !strings.Contains(stderr, "quickstart (iii), seed 2, 2 of 3: finished already\n") {
			t.Errorf("%s: %s", what, stderr)
		}
		for _, name := range []string{rows, "study-elbos-iii-quickstart.csv", starts, "study-starts-elbos-iii-quickstart.csv"} {
			a, errA := os.ReadFile(filepath.Join("want", name))
			b, errB := os.ReadFile(filepath.Join(dir, name))
			if name == rows {
				a, b = []byte(timeless(string(a))), []byte(timeless(string(b)))
			}
			if errA != nil || errB != nil || string(a) != string(b) {
				t.Errorf("%s: %s is\n%s\nwant\n%s", what, name, b, a)
			}
		}
	}
}

// evenTables looks at Markdown: each table's lines have as many cells as its header.
func evenTables(t *testing.T, text string) {
	t.Helper()
	cells := 0
	for line := range strings.Lines(text) {
		n := strings.Count(line, "|")
		switch {
		case n == 0:
			cells = 0
		case cells == 0:
			cells = n
		case n != cells:
			t.Errorf("%d bars, want %d: %s", n, cells, line)
		}
	}
}
