package experiment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maskedData writes a table and a mask that holds out every third row, and returns
// the folder that they are in and the config of a small run with them.
func maskedData(t *testing.T) (dir string, c Config) {
	t.Helper()
	dir = t.TempDir()
	var table, mask strings.Builder
	table.WriteString("x,y\n")
	for i := range 60 {
		fmt.Fprintf(&table, "%d,%g\n", i, math.Sin(float64(i)/5))
		fmt.Fprintf(&mask, "%d\n", min(i%3, 1)^1)
	}
	must(t, os.WriteFile(filepath.Join(dir, "table.csv"), []byte(table.String()), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "mask.csv"), []byte(mask.String()), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "c.toml"), []byte(`[data]
path = "table.csv"
split_by = "mask"
mask = "mask.csv"
[kernels]
expressions = ["SE", "LIN"]
[sparse]
inducing = 6
[optimise]
starts = 1
[schedule]
steps = 4
evaluate_every = 0.5
refine = 0
`), 0o644))
	c, err := LoadConfig(filepath.Join(dir, "c.toml"), nil)
	must(t, err)
	return dir, c
}

// otherMask holds out other rows, as many as before.
func otherMask(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "mask.csv")
	text, err := os.ReadFile(path)
	must(t, err)
	if !bytes.HasPrefix(text, []byte("1\n0\n")) {
		t.Fatalf("the mask begins with %q", text[:8])
	}
	must(t, os.WriteFile(path, append([]byte("0\n1\n"), text[4:]...), 0o644))
}

// unfinish cuts the last event of a finished run.
func unfinish(t *testing.T, run string) {
	t.Helper()
	path := filepath.Join(run, eventsFile)
	text, err := os.ReadFile(path)
	must(t, err)
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	if !bytes.Contains(text[last:], []byte(`"type":"finished"`)) {
		t.Fatalf("the last event is %s", text[last:])
	}
	must(t, os.WriteFile(path, text[:last], 0o644))
}

// forget makes a run one of a version that did not write down the mask's hash:
// its log, its config and what its checkpoint says of the log.
func forget(t *testing.T, run, sum string) {
	t.Helper()
	strip := func(text []byte, quote string) []byte {
		line := "mask_sha256 = " + quote + sum + quote
		begin := bytes.Index(text, []byte(line))
		if begin < 0 {
			t.Fatalf("no %s in %s", line, text)
		}
		end := bytes.Index(text[begin:], []byte("the mask, if it is to be checked")) + len("the mask, if it is to be checked")
		text = slices.Delete(text, begin, begin+end)
		return bytes.Replace(text, []byte(`,"mask_sha256":"`+sum+`"`), nil, 1)
	}
	path := filepath.Join(run, eventsFile)
	text, err := os.ReadFile(path)
	must(t, err)
	was := len(text)
	text = strip(text, `\"`)
	must(t, os.WriteFile(path, text, 0o644))
	config, err := os.ReadFile(filepath.Join(run, configFile))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(run, configFile), strip(config, `"`), 0o644))
	saved := filepath.Join(run, stateDir, checkpoint)
	arrays, err := loadCheckpoint(saved)
	must(t, err)
	var sums []byte
	for i := range 2 { // before and after the event that it rests on
		arrays["log"].Data[i] -= float64(was - len(text))
		sum := sha256.Sum256(text[:int(arrays["log"].Data[i])])
		sums = append(sums, sum[:]...)
	}
	copy(arrays["log/sha256"].Data, bytesTensor(sums).Data)
	must(t, saveCheckpoint(saved, arrays))
	for _, name := range []string{eventsFile, configFile} {
		if text, err := os.ReadFile(filepath.Join(run, name)); err != nil || bytes.Contains(text, []byte("mask_sha256")) {
			t.Fatalf("%s still has the hash: %v", name, err)
		}
	}
}

// A mask that holds out other rows than when the run began, though as many, is
// noticed by whatever reads the data again; a run from before its hash was
// written down goes on.
func TestChangedMask(t *testing.T) {
	data, c := maskedData(t)
	mask, err := os.ReadFile(filepath.Join(data, "mask.csv"))
	must(t, err)
	h := sha256.Sum256(mask)
	sum := hex.EncodeToString(h[:])
	done := filepath.Join(t.TempDir(), "done")
	j, end := runIn(t, c, done)
	if end.State != Finished || j.Config.MaskSHA256 != sum || j.Start.Data.MaskSHA256 != sum {
		t.Fatal(end.State, end.Reason, j.Config.MaskSHA256, j.Start.Data.MaskSHA256)
	}
	middle := filepath.Join(t.TempDir(), "middle")
	copyRun(t, done, middle)
	unfinish(t, middle)
	old := filepath.Join(t.TempDir(), "old")
	copyRun(t, middle, old)
	forget(t, old, sum)
	again := func(from string, o ResumeOptions) (string, error) {
		run := filepath.Join(t.TempDir(), "run")
		copyRun(t, from, run)
		_, err := takeUp(t, run, o)
		return run, err
	}
	for what, from := range map[string]string{"as it was": middle, "of an older version": old} {
		run, err := again(from, ResumeOptions{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		sameResults(t, what, run, done, middle)
	}

	otherMask(t, data)
	for _, o := range []ResumeOptions{{}, {FromStart: true}} {
		before := listing(t, middle)
		_, err := takeUp(t, middle, o)
		if err == nil || !strings.HasSuffix(err.Error(), "have changed since it began: "+filepath.Join(data, "mask.csv")+" has another sha256; put the old file back, or begin a new run") || strings.Contains(err.Error(), "\n") {
			t.Errorf("resuming %+v: %v", o, err)
		}
		if !slices.Equal(listing(t, middle), before) {
			t.Errorf("resuming %+v has changed the run", o)
		}
	}
	p, err := OpenPredictor(t.Context(), done)
	if err == nil {
		must(t, p.Close())
	}
	if err == nil || !strings.Contains(err.Error(), "mask.csv: its sha256 is ") || !strings.Contains(err.Error(), sum) || strings.Contains(err.Error(), "\n") {
		t.Errorf("predicting: %v", err)
	}
	if _, err := again(old, ResumeOptions{FromStart: true}); err != nil {
		t.Errorf("a run of an older version: %v", err)
	}
}

// A comparison is not continued with another mask; one begun when the mask's path
// was kept as it was given, and without its hash, is.
func TestComparisonWithAMask(t *testing.T) {
	data, c := maskedData(t)
	c.Compare.Methods, c.Compare.Runs = []string{MethodAverage}, 1
	dir := filepath.Join(t.TempDir(), "c")
	begin := func(c Config) error {
		m, err := BeginComparison(t.Context(), c, dir, CompareOptions{})
		if err == nil {
			err = m.Close()
		}
		return err
	}
	must(t, begin(c))
	file := filepath.Join(dir, configFile)
	text, err := os.ReadFile(file)
	must(t, err)
	now, err := LoadConfig(file, nil)
	must(t, err)
	for was, good := range map[string]bool{
		"mask.csv": true, "../" + filepath.Base(data) + "/mask.csv": true, "./mask.csv": true,
		"ask.csv": false, "masks/mask.csv": false, filepath.Join(t.TempDir(), "mask.csv"): false,
	} {
		older := now
		older.Data.Mask, older.MaskSHA256 = was, ""
		must(t, os.WriteFile(file, []byte(older.TOML()), 0o644))
		err := begin(c)
		if good && err != nil || !good && (err == nil || !strings.Contains(err.Error(), "was begun with data.mask = ")) {
			t.Errorf("begun with %q: %v", was, err)
		}
		if good {
			if got, err := LoadConfig(file, nil); err != nil || got.Data.Mask != now.Data.Mask || got.MaskSHA256 != now.MaskSHA256 {
				t.Errorf("begun with %q, it goes on with %q, %q: %v", was, got.Data.Mask, got.MaskSHA256, err)
			}
		}
	}
	must(t, os.WriteFile(file, text, 0o644))
	otherMask(t, data)
	if err := begin(c); err == nil || !strings.Contains(err.Error(), "was begun with data.mask_sha256 = ") {
		t.Errorf("another mask: %v", err)
	}
}
