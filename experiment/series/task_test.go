package series_test

import (
	"archive/tar"
	"bytes"
	"context"
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

// archive is one of entries, which are written as they are.
func archive(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range entries {
		text := []byte("in " + h.Name)
		if h.Typeflag != tar.TypeReg {
			text = nil
		}
		h.Size, h.Mode = int64(len(text)), 0o644
		must.OK(t, w.WriteHeader(&h))
		_, err := w.Write(text)
		must.OK(t, err)
	}
	must.OK(t, w.Close())
	return b.Bytes()
}

// What an archive names is within the directory, and a file of its own.
func TestHostileArchives(t *testing.T) {
	for what, entries := range map[string][]tar.Header{
		"above":     {{Name: "../x", Typeflag: tar.TypeReg}},
		"absolute":  {{Name: "/tmp/x", Typeflag: tar.TypeReg}},
		"unclean":   {{Name: "a/./b", Typeflag: tar.TypeReg}},
		"a link":    {{Name: "a", Linkname: "/tmp", Typeflag: tar.TypeSymlink}},
		"a name":    {{Name: "a", Linkname: "b", Typeflag: tar.TypeLink}},
		"a device":  {{Name: "a", Typeflag: tar.TypeChar}},
		"a folder":  {{Name: "a/", Typeflag: tar.TypeDir}},
		"twice":     {{Name: "a", Typeflag: tar.TypeReg}, {Name: "a", Typeflag: tar.TypeReg}},
		"in a file": {{Name: "a", Typeflag: tar.TypeReg}, {Name: "a/b", Typeflag: tar.TypeReg}},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		if err := series.Unpack(bytes.NewReader(archive(t, entries...)), inside.Disk{}, dir); err == nil {
			t.Errorf("%s: unpacked", what)
		}
		if n := names(t, filepath.Dir(dir)); n != ". d" && n != ". d d/a" {
			t.Errorf("%s: %s", what, n)
		}
	}
}

// FuzzUnpack unpacks anything: nothing is written but files within the directory, and what is
// unpacked is packed and unpacked the same.
func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, tar.Header{Name: "a", Typeflag: tar.TypeReg}, tar.Header{Name: "state/b", Typeflag: tar.TypeReg}))
	f.Add(archive(f, tar.Header{Name: "../a", Typeflag: tar.TypeReg}))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if series.Unpack(bytes.NewReader(b), inside.Disk{}, filepath.Join(dir, "d")) != nil {
			return
		}
		var again, twice bytes.Buffer
		must.OK(t, series.Pack(&again, filepath.Join(dir, "d")))
		first := bytes.Clone(again.Bytes())
		must.OK(t, series.Unpack(&again, inside.Disk{}, filepath.Join(dir, "e")))
		must.OK(t, series.Pack(&twice, filepath.Join(dir, "e")))
		entries, err := os.ReadDir(dir)
		if must.OK(t, err); len(entries) != 2 || !bytes.Equal(first, twice.Bytes()) {
			t.Errorf("%v: %d and %d bytes", entries, len(first), twice.Len())
		}
	})
}
