package series_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/experiment/runtest"
	"example.com/kestrel/experiment/series"
	"example.com/kestrel/experiment/series/seriestest"
	"example.com/kestrel/internal/must"
)

// short is a config of a table that is in a folder with its mask.
func short(t *testing.T) config.Config {
	t.Helper()
	dir := t.TempDir()
	text, mask := "a,b,y\n", ""
	for i := range 40 {
		x := float64(i) / 4
		text += strings.Join([]string{number(x), number(x * x), number(x - x*x/9)}, ",") + "\n"
		mask += number(float64(i%5/4)) + "\n"
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "t.csv"), []byte(text), 0o600))
	must.OK(t, os.WriteFile(filepath.Join(dir, "m.csv"), []byte(mask), 0o600))
	var set []config.Override
	for _, s := range []string{"data.split_by=mask", "data.mask=" + filepath.Join(dir, "m.csv"), "kernels.expressions=SE,LIN",
		"schedule.evaluate_every=0.5", "schedule.refine=0", "optimise.starts=1", "device.kind=cpu"} {
		o, err := config.ParseOverride(s)
		must.OK(t, err)
		set = append(set, o)
	}
	c, err := config.ForTable(filepath.Join(dir, "t.csv"), "", set)
	must.OK(t, err)
	return c
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Runs that another machine makes, which has the data under other names, are those of this one,
// file by file; one that was begun here is gone on with here.
func TestRunsMadeElsewhere(t *testing.T) {
	c, course := short(t), record.Course{PruneTop: 1, ThenRefine: 1}
	all := func(dir string, crew series.Crew, n int) {
		t.Helper()
		r, err := series.BeginRepeats(t.Context(), c, course, n, dir, func(string) {})
		must.OK(t, err)
		r.Crew = crew
		for i := 1; i <= n; i++ {
			if !r.Finished(i) {
				must.OK(t, r.Make(t.Context(), i))
			}
		}
		must.OK(t, r.Close())
	}
	here, there := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "d")
	all(here, nil, 2)
	crew := seriestest.New(t, map[string]func(context.Context, *series.Order) (series.Result, error){series.RunTask: series.DoRun})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := series.BeginRepeats(ctx, c, course, 2, there, func(string) {})
	must.OK(t, err)
	err = r.Make(ctx, 1, record.RecorderFunc(func(e *record.Event) error {
		if e.Type == record.EventEvaluation {
			cancel()
		}
		return nil
	}))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	must.OK(t, r.Close())
	all(there, crew, 2)
	if crew.Done[series.RunTask] != 1 {
		t.Errorf("%d runs made elsewhere, of 2 of which one was begun", crew.Done[series.RunTask])
	}
	if a, b := names(t, here), names(t, there); a != b {
		t.Errorf("files %s, want %s", b, a)
	}
	for _, run := range []string{"001", "002"} {
		runtest.SameResults(t, run, filepath.Join(there, run), filepath.Join(here, run), filepath.Join(here, run))
		for _, name := range []string{record.ConfigFile, record.BaselinesFile} {
			a, errA := os.ReadFile(filepath.Join(here, run, name))
			b, errB := os.ReadFile(filepath.Join(there, run, name))
			must.OK(t, errors.Join(errA, errB))
			if !bytes.Equal(a, b) {
				t.Errorf("%s/%s: another", run, name)
			}
		}
	}
}

// names lists what is in a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	must.OK(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	}))
	return strings.Join(all, " ")
}

// archive is one of files, which have their names as what is in them.
func archive(names ...string) (b []byte) {
	for _, name := range names {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
		b = binary.LittleEndian.AppendUint64(append(b, name...), uint64(len(name)))
		b = append(b, name...)
	}
	return append(b, 0, 0)
}

// What an archive names is within the directory, and a file of its own; one that is torn anywhere
// is none.
func TestHostileArchives(t *testing.T) {
	for _, files := range [][]string{{"../x"}, {"/tmp/x"}, {"a/./b"}, {"a/"}, {"."}, {"a", "a"}, {"a", "a/b"}} {
		dir := filepath.Join(t.TempDir(), "d")
		if err := series.Unpack(bytes.NewReader(archive(files...)), inside.Disk{}, dir); err == nil {
			t.Errorf("%q: unpacked", files)
		}
		if n := names(t, filepath.Dir(dir)); n != ". d" && n != ". d d/a" {
			t.Errorf("%q: %s", files, n)
		}
	}
	whole := archive("a", "state/b", "zzz", record.EventsFile)
	for n := range whole {
		dir := filepath.Join(t.TempDir(), "d")
		if err := series.Unpack(bytes.NewReader(whole[:n]), inside.Disk{}, dir); err == nil {
			t.Errorf("unpacked, of %d bytes %d", len(whole), n)
		}
		if rundir.IsRun(dir) && n < len(whole)-2 { // but for what says that it ends
			t.Errorf("a run, of %d bytes %d", len(whole), n)
		}
	}
	dir := filepath.Join(t.TempDir(), "d")
	must.OK(t, series.Unpack(bytes.NewReader(whole), inside.Disk{}, dir))
	var again bytes.Buffer
	must.OK(t, series.Pack(&again, dir))
	if !bytes.Equal(again.Bytes(), whole) {
		t.Errorf("%q, want %q", again.Bytes(), whole)
	}
}
