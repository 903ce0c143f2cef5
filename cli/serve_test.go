package cli

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The program serves what it predicts, says where, and ends at a signal with code 0.
func TestServe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent to another process here")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if code, _, stderr := kestrel(t, quick("run", "quickstart", "--quiet", "-o", "run")...); code != 0 {
		t.Fatal(code, stderr)
	}
	model := filepath.Join("run", "model.kestrel")
	write(t, "points.csv", "x\n0.25\n5\n")
	code, stdout, stderr := kestrel(t, "predict", model, "--data", "points.csv", "--quiet")
	if code != 0 {
		t.Fatal(code, stderr)
	}
	table, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), argsEnv+"=serve "+model+" --listen 127.0.0.1:0")
		said, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(said)
		lines.Scan()
		_, at, _ := strings.Cut(lines.Text(), " on ")
		at, _, _ = strings.Cut(at, ": POST")
		answer, err := http.Post(at+"/predict", "application/json", strings.NewReader(`{"rows":[{"x":0.25},{"x":5}]}`))
		if err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		var got struct{ Rows []map[string]float64 }
		err = json.NewDecoder(answer.Body).Decode(&got)
		answer.Body.Close()
		if err != nil || len(got.Rows) != 2 {
			t.Fatal(got, err)
		}
		for i, row := range table[1:] {
			for j, name := range table[0] {
				if text := strconv.FormatFloat(got.Rows[i][name], 'g', -1, 64); text != row[j] {
					t.Errorf("%s of row %d is %s, by kestrel predict %s", name, i, text, row[j])
				}
			}
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			t.Errorf("it says %q", lines.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", signal, err)
		}
	}
	for _, c := range [][]string{
		{"needs a model file", "serve"},
		{"is a folder; serve takes a model file", "serve", "run"},
		{"no such file", "serve", "none.kestrel"},
		{"damaged, or no model file", "serve", "points.csv"},
		{"--listen nowhere", "serve", model, "--listen", "nowhere"},
		{"must be greater than 0", "serve", model, "--most-rows", "0"},
	} {
		if code, _, stderr := kestrel(t, c[1:]...); code != exitUsage || !strings.Contains(stderr, c[0]) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: code %d, %s", c[1:], code, stderr)
		}
	}
}
