package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"example.com/kestrel/configs"
	"example.com/kestrel/internal/guard"
)

// kestrel runs the program in the test's directory.
func kestrel(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("NO_COLOR", "1")
	var out, err bytes.Buffer
	code = Execute(args, &out, &err)
	return code, out.String(), err.String()
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestKernels(t *testing.T) {
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"--base", "SE,RQ,LIN,PER", "--depth", "3", "--count"}, 0, "144\n", ""},
		{[]string{"K144", "K12", "--count"}, 0, "144\n", ""},
		{[]string{"LIN*(r+PER)"}, 0, "(PER+RQ)*LIN   (PER + RQ)×LIN   (p+r)×l\n", ""},
		{[]string{"PER*(LIN+RQ"}, 2, "",
			"kestrel: kernel expression \"PER*(LIN+RQ\", column 12: expected \")\" to close the \"(\" at column 5\n" +
				"PER*(LIN+RQ\n           ^\n"},
		{[]string{"--base", "SE,CP(LIN,SE)[1]", "--depth", "2", "--count"}, 0, "8\n", ""},
		{[]string{"--depth", "3"}, 2, "", "kestrel: --depth needs --base, the kernels to combine\n"},
	} {
		code, stdout, stderr := kestrel(t, append([]string{"kernels"}, c.args...)...)
		if code != c.code || stdout != c.stdout || stderr != c.stderr {
			t.Errorf("%q: code %d\n%s%s", c.args, code, stdout, stderr)
		}
	}
}

// Every bad input has its message on one line, exit code 2, and leaves nothing
// behind.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("KESTREL_DATA", "")
	write(t, "good.csv", "a,b\n1,5\n2,6\n3,5\n4,5\n")
	write(t, "text.csv", "a,b\n1,2\n2,3\nthree,4\n5,6\n")
	write(t, "nan.csv", "a,b\n1,2\n2,NaN\n3,4\n4,5\n5,6\n")
	write(t, "inf.csv", "a,b\n1,2\n2,3\n3,inf\n4,5\n")
	write(t, "zero.csv", "a,b\n1,\n2,\n")
	write(t, "const.csv", "a,b\n1,5\n2,5\n3,5\n4,5\n")
	write(t, "key.toml", "[data]\nsource = \"synthetic\"\nkernel = \"SE\"\n[schedule]\nstep = 5\n")
	write(t, "kernel.toml", "[data]\nsource = \"synthetic\"\nkernel = \"PER*(LIN+RQ\"\n")
	write(t, "file", "")
	write(t, "column.toml", "[data]\npath = \"good.csv\"\n[kernels]\nexpressions = [\"SE\", \"PER[time]\"]\n")
	write(t, "huge.csv", "a,b\n1,5\n2,6\n3,1e300\n4,5\n")
	write(t, "tiny.csv", "a,b\n1,1e-300\n2,2e-300\n3,3e-300\n4,4e-300\n5,1e-300\n6,4e-300\n")
	write(t, "binary.csv", "\x7fELF\x00\x01\x02\n\x00")
	write(t, "empty.csv", "")
	write(t, "sales.prn", "a,b\n1,2\n")
	write(t, "book.xlsx", "PK\x03\x04zip")
	write(t, "names.csv", "a,b\n")
	write(t, "one.csv", "a,b\n1,2\n")
	for _, d := range []string{filepath.Join("full", "sub"), "table.csv"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"quickstart fig1a", `one config or data file is taken, not 2; kestrel --help lists commands`},
		{"config lst", `config has no command "lst"; did you mean list?`},
		{"data zzz", `data has no command "zzz"; kestrel data --help lists them`},
		{"completion fis", `completion has no command "fis"; did you mean fish?`},
		{"devices all", `devices takes no argument, not "all"`},
		{"run quickstart --seed -1", `--seed "-1": must be a whole number, at least 0`},
		{"run quickstart --repeat x", `--repeat "x": must be a whole number`},
		{"run column.toml", `kernels: PER[time]: there is no column "time"; columns: a`},
		{"run huge.csv", `huge.csv: line 4, column 2 ("b"): "1e300" is too large: its square cannot be summed in 64-bit numbers; ` +
			`change the unit or list it under missing`},
		{"run tiny.csv", `tiny.csv: "b" goes from 1e-300 to 4e-300 only: too little to compute with; change its unit`},
		{"run binary.csv", `binary.csv: holds binary data, not a table of text`},
		{"run empty.csv", `empty.csv: has no rows`},
		{"run names.csv", `names.csv: has no rows below the names of its columns`},
		{"run one.csv", `one.csv: no training rows are left: of 1 row, 1 held out (data.test)`},
		{"run sales.prn", `sales.prn: line 1, column 2: expected '=' after key; a config is TOML, ` +
			`and a table of data is told by its name: .csv, .tsv, .txt or .dat`},
		{"run book.xlsx", `book.xlsx: is a damaged archive: zip: not a valid zip file`},
		{"data info book.xlsx", `book.xlsx: is a damaged archive: zip: not a valid zip file`},
		{"run table.csv", `data file "table.csv" is a folder`},
		{"run key.toml", `key.toml: line 5: unknown key "schedule.step"; did you mean "schedule.steps"?`},
		{"run kernel.toml", `kernel.toml: line 3: data.kernel is wrong: kernel expression "PER*(LIN+RQ", ` +
			`column 12: expected ")" to close the "(" at column 5` + "\nPER*(LIN+RQ\n           ^"},
		{"run none.csv",
			`data file "none.csv" not found; looked for ` + filepath.Join(dir, "none.csv") + `; $KESTREL_DATA may name the folder of the data`},
		{"run none.toml", `config "none.toml": no such file; built-in configs are ` + strings.Join(configs.Names(), ", ")},
		{"run good.csv --target level", `good.csv: there is no column "level"; the columns are "a", "b"`},
		{"run text.csv", `text.csv: line 4, column 1 ("a"): "three" is not a number`},
		{"run nan.csv --set data.missing=[]",
			`nan.csv: line 3, column 2 ("b"): "NaN" is not a finite number; list it under missing to drop such rows`},
		{"run inf.csv", `inf.csv: line 4, column 2 ("b"): "inf" is not a finite number; list it under missing to drop such rows`},
		{"run zero.csv", `zero.csv: no rows are left: of 2, 2 were dropped for a missing target and 0 for a missing input`},
		{"run const.csv", `const.csv: the target "b" is 5 in every row: there is nothing to learn`},
		{"run quickstart --out file/run", `output directory "file/run" cannot be written: not a directory; choose another with --out`},
		{"run quickstart --out full", `output directory "full" exists and is not empty; choose another with --out, or remove it`},
		{"run quickstart --device gpu3", `--device gpu3: device.kind must be one of "auto", "cpu", "cuda", not "gpu3"`},
		{"run quickstart --set kernels.weights={RQ=2}", `kernels.weights: RQ is not in the kernel space of 6; add it or remove its weight`},
		{"run quickstart --repeat 0", `--repeat 0: must be at least 1`},
		{"run quickstart --then-refine 2", `--then-refine needs --prune-top k, the number of kernels to keep`},
		{"run", `run needs a config or a data file; for example kestrel run fig1a`},
		{"run a b", `run takes one argument, a config or a data file, not 2; for example kestrel run fig1a`},
		{"run quickstart --nope", `unknown flag: --nope; kestrel --help tells more`},
		{"quickstar", `"quickstar" is no command, config or file; did you mean quickstart?`},
		{"kernel", `"kernel" is no command, config or file; did you mean kernels?`},
		{"zzzzzz", `"zzzzzz" is no command, config or file; kestrel --help lists commands, kestrel config list the configs`},
		{"config show fig2", `config "fig2": no such file; built-in configs are ` + strings.Join(configs.Names(), ", ")},
		{"open none", `run "none" does not exist; name the directory of a run, such as runs/…`},
		{"export full --format xls", `--format xls: must be csv, json or python`},
	} {
		code, stdout, stderr := kestrel(t, strings.Fields(c.args)...)
		if code != 2 || stderr != "kestrel: "+c.want+"\n" || stdout != "" {
			t.Errorf("%s: code %d\n got %s\nwant kestrel: %s", c.args, code, stderr+stdout, c.want)
		}
	}
	after, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != len(before) {
		t.Errorf("something was left behind: %v", after)
	}
}

// quicker leaves out what takes longer than all the rest, and is the same of longer runs.
var quicker = []string{"--set", "optimise.evidence=mode", "--set", "posterior.errors=ignore"}

// quick makes the quickstart quicker.
func quick(args ...string) []string {
	return append(append(args, quicker...), "--set", "data.outputs=40", "--set", "data.support=40", "--set", "sparse.inducing=6",
		"--set", "kernels.expressions=SE,LIN,PER", "--set", "schedule.evaluate_every=0.5", "--set", "schedule.steps=4",
		"--set", "optimise.starts=1", "--set", "schedule.refine=0")
}

func TestRunOpenExport(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, stderr := kestrel(t, quick("run", "quickstart", "--headless", "--out", "r")...)
	if code != 0 {
		t.Fatal(code, stderr)
	}
	for _, part := range []string{"results go to r\n", "\n1/2  50%  ", "\n2/2 100%  ", "  q* ", "  rmse ", "s each", "  ETA "} {
		if !strings.Contains(stderr, part) {
			t.Errorf("progress lacks %q:\n%s", part, stderr)
		}
	}
	if !strings.HasSuffix(stdout, "\nresults in r\n") {
		t.Error(stdout)
	}
	code, again, _ := kestrel(t, "open", "r")
	if code != 0 || again+"\nresults in r\n" != stdout {
		t.Errorf("open shows another summary:\n%s\n%s", again, stdout)
	}
	if code, _, stderr := kestrel(t, "export", "r", "-o", "tables"); code != 0 {
		t.Error(code, stderr)
	}
	for _, name := range []string{"posterior.csv", "metrics.csv", "kernels.csv"} {
		a, err := os.ReadFile(filepath.Join("r", name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join("tables", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs after export", name)
		}
	}
	if code, _, stderr := kestrel(t, "export", "r", "-o", "r"); code != 2 ||
		stderr != "kestrel: -o \"r\" is the directory of a run; choose another\n" {
		t.Error(code, stderr)
	}
	write(t, filepath.Join("tables", "events.jsonl"), "")
	write(t, "file", "")
	for _, c := range []struct{ args, want string }{
		{"-o tables", `-o "tables" is the directory of a run; choose another`},
		{"-o file/sub", `output directory "file/sub" cannot be written: not a directory; choose another with --out`},
		{"-o file --format json", `output directory "file" cannot be written: not a directory; choose another with --out`},
	} {
		if code, _, stderr := kestrel(t, append([]string{"export", "r"}, strings.Fields(c.args)...)...); code != 2 ||
			stderr != "kestrel: "+c.want+"\n" {
			t.Errorf("export r %s: %d %s", c.args, code, stderr)
		}
	}
	code, stdout, _ = kestrel(t, "export", "r", "--format", "json")
	var trace struct {
		State       string
		Evaluations []struct{ Index int }
		Metrics     []struct{ Method string }
	}
	if err := json.Unmarshal([]byte(stdout), &trace); code != 0 || err != nil || trace.State != "finished" ||
		len(trace.Evaluations) != 2 || len(trace.Metrics) != 4 {
		t.Errorf("%d %v %+v", code, err, trace)
	}
}

func TestRepeatPruneAndFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, stderr := kestrel(t,
		quick("run", "quickstart", "--out", "many", "--repeat", "2", "--quiet", "--seed", "5", "--prune-top", "1", "--then-refine", "1")...)
	if code != 0 || stderr != "" {
		t.Fatal(code, stderr)
	}
	for i, dir := range []string{"001", "002"} {
		text, err := os.ReadFile(filepath.Join("many", dir, "config.toml"))
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"\nseed = 5 ", "\nseed = 6 "}[i]; !strings.Contains(string(text), want) {
			t.Errorf("%s: no %q in\n%s", dir, want, text)
		}
		text, err = os.ReadFile(filepath.Join("many", dir, "posterior.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), ",pruned,"); n != 4 { // 2 kernels, revised and refined
			t.Errorf("%s: %d pruned rows:\n%s", dir, n, text)
		}
	}
	write(t, "my.data.csv", "when;a;b\n1;2;3\n2;3;5\n3;5;4\n4;4;6\n5;4;7\n6;8;6\n")
	code, stdout, stderr := kestrel(t, quick("my.data.csv", "--target", "a", "--json")...)
	if code != 0 {
		t.Fatal(code, stderr)
	}
	var s struct{ Name, State string }
	if err := json.Unmarshal([]byte(stdout), &s); err != nil || s.Name != "my" || s.State != "finished" {
		t.Error(err, stdout)
	}
	if runs, err := filepath.Glob("runs/my-2*Z"); err != nil || len(runs) != 1 {
		t.Error(runs, err)
	}
	if code, stdout, _ = kestrel(t, "data", "info", "my.data.csv", "--target", "a"); code != 0 || !strings.Contains(stdout, "rows      6: ") {
		t.Error(code, stdout)
	}
}

// What a run would note of its data is known before it.
func TestDataInfoKnowsCycles(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder
	b.WriteString("day,y\n")
	for i := range 200 {
		y := 3*math.Sin(2*math.Pi*float64(i)/30) + math.Sin(float64(i*i))
		fmt.Fprintf(&b, "%s,%.3f\n", time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), y)
	}
	write(t, "waves.csv", b.String())
	code, stdout, _ := kestrel(t, "data", "info", "waves.csv")
	if code != 0 || !strings.Contains(stdout, "y seems to repeat every 30") {
		t.Error(code, stdout)
	}
}

func TestHelpHasExamples(t *testing.T) {
	root := newRoot()
	commands := root.Commands()
	for i := 0; i < len(commands); i++ {
		commands = append(commands, commands[i].Commands()...)
		if c := commands[i]; c.Example == "" || c.Short == "" {
			t.Errorf("%s has no example or no description", c.CommandPath())
		}
	}
	for _, args := range [][]string{{"--help"}, {"run", "--help"}, {"version"}, {"devices"}, {"config", "list"},
		{"completion", "bash"}, {"kernels"}} {
		code, stdout, stderr := kestrel(t, args...)
		if code != 0 || stdout == "" || stderr != "" || strings.Contains(stdout, "\x1b") {
			t.Errorf("%q: code %d, stderr %q, stdout %q", args, code, stderr, stdout[:min(200, len(stdout))])
		}
	}
}

// Where something is written to is named alike everywhere: --out, in short -o.
func TestOutIsAlike(t *testing.T) {
	have := map[string]bool{}
	commands := []*cobra.Command{newRoot()}
	for i := 0; i < len(commands); i++ {
		commands = append(commands, commands[i].Commands()...)
		out, short := commands[i].Flags().Lookup("out"), commands[i].Flags().ShorthandLookup("o")
		if out != short {
			t.Errorf("%s: --out is %v, -o is %v", commands[i].CommandPath(), out, short)
		}
		have[commands[i].Name()] = out != nil
	}
	for _, name := range []string{"kestrel", "run", "bench", "export", "predict", "report", "study", "compare", "backtest", "figures"} {
		if !have[name] {
			t.Errorf("%s has no --out", name)
		}
	}
	t.Chdir(t.TempDir())
	if code, _, stderr := kestrel(t, quick("run", "quickstart", "--quiet", "-o", "r")...); code != 0 {
		t.Error(code, stderr)
	}
	if _, err := os.Stat(filepath.Join("r", "events.jsonl")); err != nil {
		t.Error(err)
	}
}

func TestConfigCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	code, stdout, _ := kestrel(t, "config", "show", "fig1a", "--set", "sparse.inducing=32")
	if code != 0 || !strings.Contains(stdout, "\ninducing = 32 ") {
		t.Error(code, stdout)
	}
	write(t, "again.toml", stdout)
	code, again, _ := kestrel(t, "config", "show", "again.toml")
	if code != 0 || again != stdout {
		t.Errorf("not the same:\n%s\n%s", stdout, again)
	}
	if code, stdout, _ := kestrel(t, "config", "check", "again.toml", "fig1c"); code != 0 ||
		stdout != "again.toml: good, 12 kernels\nfig1c: good, 144 kernels\n" {
		t.Error(code, stdout)
	}
}

// A mistake of the program is one line and a file, not a stack trace.
func TestCrash(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	line := crash("index out of range", []byte("goroutine 1 [running]"))
	_, path, ok := strings.Cut(line, "report it with the file ")
	if !ok || strings.Contains(line, "goroutine") {
		t.Fatal(line)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "goroutine 1") || !strings.Contains(string(text), "index out of range") {
		t.Errorf("%v: %s", err, text)
	}
	// So is one that was caught on another goroutine and came as an error.
	var out strings.Builder
	complain(&out, fmt.Errorf("predicting: %w", &guard.PanicError{Value: "too long", Stack: []byte("goroutine 9 [running]")}))
	if _, file, ok := strings.Cut(out.String(), "kestrel: internal error: too long; please report it with the file "); !ok ||
		strings.Contains(out.String(), "goroutine") {
		t.Error(out.String())
	} else if text, err := os.ReadFile(strings.TrimSpace(file)); err != nil || !strings.Contains(string(text), "goroutine 9") {
		t.Errorf("%v: %s", err, text)
	}
}

// What a run would take is told without one.
func TestRunEstimate(t *testing.T) {
	t.Chdir(t.TempDir())
	text := said(t, "run", "quickstart", "--estimate")
	if !regexp.MustCompile(`^quickstart, 1 run of \d+ rows: (about .+ \(.+ to .+\)|less than a second), \d+ MB\n`).MatchString(text) {
		t.Errorf("%q", text)
	}
	var one, three struct {
		Seconds float64
		Low     float64 `json:"seconds_low"`
		High    float64 `json:"seconds_high"`
		Bytes   int64
	}
	for runs, to := range map[string]any{"1": &one, "3": &three} {
		if err := json.Unmarshal([]byte(said(t, "run", "quickstart", "--estimate", "--json", "--repeat", runs)), to); err != nil {
			t.Fatal(err)
		}
	}
	if one.Low <= 0 || one.Seconds <= one.Low || one.High <= one.Seconds || one.Bytes <= 1e6 || three.Bytes != one.Bytes {
		t.Errorf("%+v, three %+v", one, three)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", err, left)
	}
}
