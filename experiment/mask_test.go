package experiment_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/compare"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/npz"
	"example.com/kestrel/experiment/npz/npztest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/internal/must"
)

// unfinish cuts the last event of a finished run.
func unfinish(t *testing.T, run string) {
	t.Helper()
	path := filepath.Join(run, record.EventsFile)
	text, err := os.ReadFile(path)
	must.OK(t, err)
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	if !bytes.Contains(text[last:], []byte(`"type":"finished"`)) {
		t.Fatalf("the last event is %s", text[last:])
	}
	must.OK(t, os.WriteFile(path, text[:last], 0o644))
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
	path := filepath.Join(run, record.EventsFile)
	text, err := os.ReadFile(path)
	must.OK(t, err)
	was := len(text)
	text = strip(text, `\"`)
	must.OK(t, os.WriteFile(path, text, 0o644))
	config, err := os.ReadFile(filepath.Join(run, record.ConfigFile))
	must.OK(t, err)
	must.OK(t, os.WriteFile(filepath.Join(run, record.ConfigFile), strip(config, `"`), 0o644))
	saved := filepath.Join(run, record.StateDir, record.CheckpointFile)
	arrays, err := npztest.Load(t, saved)
	must.OK(t, err)
	var sums []byte
	for i := range 2 { // before and after the event that it rests on
		arrays["log"].Data[i] -= float64(was - len(text))
		sum := sha256.Sum256(text[:int(arrays["log"].Data[i])])
		sums = append(sums, sum[:]...)
	}
	copy(arrays["log/sha256"].Data, npz.Bytes(sums).Data)
	must.OK(t, npztest.Save(t, saved, arrays))
	for _, name := range []string{record.EventsFile, record.ConfigFile} {
		if text, err := os.ReadFile(filepath.Join(run, name)); err != nil || bytes.Contains(text, []byte("mask_sha256")) {
			t.Fatalf("%s still has the hash: %v", name, err)
		}
	}
}

// A mask that holds out other rows than when the run began, though as many, is
// noticed by whatever reads the data again; a run from before its hash was
// written down goes on.
func TestChangedMask(t *testing.T) {
	data, c := configtest.MaskedData(t)
	mask, err := os.ReadFile(filepath.Join(data, "mask.csv"))
	must.OK(t, err)
	h := sha256.Sum256(mask)
	sum := hex.EncodeToString(h[:])
	done := filepath.Join(t.TempDir(), "done")
	j, end := runtest.In(t, c, done)
	if end.State != record.Finished || j.Config.MaskSHA256 != sum || j.Start.Data.MaskSHA256 != sum {
		t.Fatal(end.State, end.Reason, j.Config.MaskSHA256, j.Start.Data.MaskSHA256)
	}
	middle := filepath.Join(t.TempDir(), "middle")
	runtest.CopyRun(t, done, middle)
	unfinish(t, middle)
	old := filepath.Join(t.TempDir(), "old")
	runtest.CopyRun(t, middle, old)
	forget(t, old, sum)
	again := func(from string, o experiment.ResumeOptions) (string, error) {
		run := filepath.Join(t.TempDir(), "run")
		runtest.CopyRun(t, from, run)
		_, err := runtest.TakeUp(t, run, o)
		return run, err
	}
	for what, from := range map[string]string{"as it was": middle, "of an older version": old} {
		run, err := again(from, experiment.ResumeOptions{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		runtest.SameResults(t, what, run, done, middle)
	}

	configtest.OtherMask(t, data)
	for _, o := range []experiment.ResumeOptions{{}, {FromStart: true}} {
		before := listing(t, middle)
		_, err := runtest.TakeUp(t, middle, o)
		if err == nil || !strings.HasSuffix(err.Error(), "have changed since it began: "+filepath.Join(data,
			"mask.csv")+" has another sha256; put the old file back, or begin a new run") || strings.Contains(err.Error(), "\n") {
			t.Errorf("resuming %+v: %v", o, err)
		}
		if !slices.Equal(listing(t, middle), before) {
			t.Errorf("resuming %+v has changed the run", o)
		}
	}
	p, err := inspect.OpenPredictor(t.Context(), done)
	if err == nil {
		must.OK(t, p.Close())
	}
	if err == nil || !strings.Contains(err.Error(), "mask.csv: its sha256 is ") || !strings.Contains(err.Error(), sum) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("predicting: %v", err)
	}
	if _, err := again(old, experiment.ResumeOptions{FromStart: true}); err != nil {
		t.Errorf("a run of an older version: %v", err)
	}
}

// A comparison is not continued with another mask; one begun when the mask's path
// was kept as it was given, and without its hash, is.
func TestComparisonWithAMask(t *testing.T) {
	data, c := configtest.MaskedData(t)
	c.Compare.Methods, c.Compare.Runs = []string{config.MethodAverage}, 1
	dir := filepath.Join(t.TempDir(), "c")
	begin := func(c config.Config) error {
		m, err := compare.Begin(t.Context(), c, dir, compare.Options{})
		if err == nil {
			err = m.Close()
		}
		return err
	}
	must.OK(t, begin(c))
	file := filepath.Join(dir, record.ConfigFile)
	text, err := os.ReadFile(file)
	must.OK(t, err)
	now, err := config.Load(file, nil)
	must.OK(t, err)
	for was, good := range map[string]bool{
		"mask.csv": true, "../" + filepath.Base(data) + "/mask.csv": true, "./mask.csv": true,
		"ask.csv": false, "masks/mask.csv": false, filepath.Join(t.TempDir(), "mask.csv"): false,
	} {
		older := now
		older.Data.Mask, older.MaskSHA256 = was, ""
		must.OK(t, os.WriteFile(file, []byte(older.TOML()), 0o644))
		err := begin(c)
		if good && err != nil || !good && (err == nil || !strings.Contains(err.Error(), "was begun with data.mask = ")) {
			t.Errorf("begun with %q: %v", was, err)
		}
		if good {
			if got, err := config.Load(file, nil); err != nil || got.Data.Mask != now.Data.Mask || got.MaskSHA256 != now.MaskSHA256 {
				t.Errorf("begun with %q, it goes on with %q, %q: %v", was, got.Data.Mask, got.MaskSHA256, err)
			}
		}
	}
	must.OK(t, os.WriteFile(file, text, 0o644))
	configtest.OtherMask(t, data)
	if err := begin(c); err == nil || !strings.Contains(err.Error(), "was begun with data.mask_sha256 = ") {
		t.Errorf("another mask: %v", err)
	}
}
