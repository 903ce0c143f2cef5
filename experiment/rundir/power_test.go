package rundir_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/inside/disktest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/internal/thorough"
	"example.com/kestrel/vbks"
)

// promises are what a directory has promised to be on the disk, see docs/format.md.
type promises struct {
	events int  // of the log
	saved  int  // checkpoints
	table  bool // that the run learns from
	model  bool
	over   bool // all that was written: it was closed
	harmed bool // somebody has just removed the log
}

// written is a run's directory that was written to a disk that forgets.
type written struct {
	disk   *disktest.Disk
	dir    string
	ends   []int               // of the log's lines
	grown  map[string][]int    // sizes of the tables that grow, by how many events they are of
	whole  map[string][][]byte // tables that are replaced, behind each event
	rests  []int               // how many events each checkpoint rests on
	log    []byte
	tables map[string][]byte // in the end
}

// write records events as a run does. harm, if there is one, comes before an event.
func write(t *testing.T, harm func(d inside.Disk, log string), before int) *written {
	t.Helper()
	from := filepath.Join(t.TempDir(), "table")
	must.OK(t, os.WriteFile(from, bytes.Repeat([]byte("1,2\n"), 500), 0o644))
	base := t.TempDir()
	w := &written{disk: disktest.New(t, base), dir: filepath.Join("runs", "run"), ends: []int{0},
		whole: map[string][][]byte{}, tables: map[string][]byte{},
		grown: map[string][]int{record.PosteriorFile: nil, record.MetricsFile: nil}}
	path := filepath.Join(base, w.dir)
	size := func(name string) int {
		info, err := os.Stat(filepath.Join(path, name))
		must.OK(t, err)
		return int(info.Size())
	}
	grow := func() {
		for name, sizes := range w.grown {
			w.grown[name] = append(sizes, size(name))
		}
	}
	var now promises
	mark := func() { w.disk.Mark(now) }
	d, err := rundir.Create(w.disk.Files(), path)
	must.OK(t, err)
	grow()
	_, err = d.KeepTable(from)
	must.OK(t, err)
	now.table = true
	mark()
	events := recordtest.Eventful()
	for i := range events {
		if harm != nil && i == before {
			now.harmed = true
			mark()
			harm(w.disk.Files(), filepath.Join(path, record.EventsFile))
		}
		e := &events[i]
		must.OK(t, d.Record(e))
		w.ends = append(w.ends, size(record.EventsFile))
		grow()
		for _, name := range []string{record.KernelsFile, record.BaselinesFile} {
			text, err := os.ReadFile(filepath.Join(path, name))
			must.OK(t, err)
			w.whole[name] = append(w.whole[name], text)
		}
		if e.Evaluation != nil {
			w.rests = append(w.rests, i+1)
			which := vbks.Tensor{Shape: []int{2}, Data: []float64{float64(len(w.rests)), 0}}
			must.OK(t, rundir.NewSaver(d, 0).Checkpoint(map[string]vbks.Tensor{rundir.ScheduleArray: which}))
			now.saved++
		}
		if e.Evaluation != nil || e.Type == record.EventReoptimised || e.Type == record.EventFinished {
			now.events, now.harmed = i+1, false
			mark()
		}
	}
	must.OK(t, d.Model(func(to io.Writer) error {
		_, err := to.Write(bytes.Repeat([]byte("model"), 1000))
		return err
	}))
	now.model = true
	mark()
	must.OK(t, d.Close())
	now.over = true
	mark()
	w.disk.MustBeAll()
	w.log, err = os.ReadFile(filepath.Join(path, record.EventsFile))
	must.OK(t, err)
	for _, name := range append(rundir.TableFiles(), record.LogFile, record.ConfigFile) {
		w.tables[name], err = os.ReadFile(filepath.Join(path, name))
		must.OK(t, err)
	}
	return w
}

// read returns how many events the log of a run has, by the program's own reader, and
// the first error; they must be those that were written.
func (w *written) read(t *testing.T, dir string) (events int, finished bool, err error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, record.EventsFile))
	if err != nil {
		return 0, false, err
	}
	var s record.Standing
	err = record.Each(t.Context(), dir, func(e *record.Event) {
		if events++; events >= len(w.ends) || !bytes.HasPrefix(text, w.log[:w.ends[events]]) {
			t.Errorf("event %d of the log is none that was written", events)
		}
		s.Apply(e)
	})
	return events, s.State == record.Finished && s.Ended, err
}

// left judges what is left of a run after a loss of power.
func (w *written) left(t *testing.T, folder string, left disktest.State, marks []any) {
	t.Helper()
	said := promises{}
	if len(marks) > 0 {
		said = marks[len(marks)-1].(promises)
	}
	dir := filepath.Join(folder, w.dir)
	events, finished, err := w.read(t, dir)
	if events < said.events && !said.harmed {
		t.Errorf("of %d events that were promised %d are there: %v", said.events, events, err)
	}
	if finished { // nobody makes them anew
		for name, sizes := range w.grown {
			if got, want := left[filepath.ToSlash(filepath.Join(w.dir, name))], w.tables[name][:sizes[events]]; !bytes.HasPrefix(got, want) {
				t.Errorf("the run has finished, and %s has %d bytes of %d", name, len(got), len(want))
			}
		}
		for name, texts := range w.whole {
			if got := left[filepath.ToSlash(filepath.Join(w.dir, name))]; !bytes.Equal(got, texts[events-1]) {
				t.Errorf("the run has finished, and %s is not that of its end", name)
			}
		}
	}
	d, err := inside.Open(dir)
	if err != nil {
		if said != (promises{}) {
			t.Error(err)
		}
		return
	}
	defer d.Close()
	saved, err := rundir.ReadCheckpoint(d)
	switch {
	case err != nil:
		t.Error(err)
	case saved == nil && said.saved > 0:
		t.Error("a checkpoint was promised")
	case saved != nil:
		n := saved.Most // which says the how manieth it is
		if n < said.saved {
			t.Errorf("checkpoint %d is there, %d was promised", n, said.saved)
		}
		if rest := w.rests[n-1]; events < rest && !said.harmed {
			t.Errorf("checkpoint %d rests on event %d, the log has %d", n, rest, events)
		}
	}
	file := func(name string) []byte { return left[filepath.ToSlash(filepath.Join(w.dir, name))] }
	if said.table && len(file(record.TableFile)) != 2000 {
		t.Error("the table that was kept is lost")
	}
	if said.model && len(file(record.ModelFile)) != 5000 {
		t.Error("the model file is lost")
	}
	if said.over {
		for name, want := range w.tables {
			if !bytes.Equal(file(name), want) {
				t.Errorf("the run was closed, and %s has %d bytes of %d", name, len(file(name)), len(want))
			}
		}
	}
}

// Whenever the power fails, what the directory of a run has promised is there, nothing
// that is put in its place whole is torn, and no event is read that was not written:
// when a checkpoint, an order or the end has been recorded the log has all up to it; a
// checkpoint never rests on events that are lost; where the log says that the run has
// finished its tables are whole; the table that was kept, the model file and, once
// the directory is closed, all is there.
func TestPowerFailsWhileARunIsWritten(t *testing.T) {
	n := 10_000 / thorough.OneIn(t, 50, "losses of power")
	w := write(t, nil, 0)
	t.Logf("%d losses of power, %d states", n, w.disk.Draw(n, 1, w.left))
	// Somebody removes the log, and the run writes it anew.
	w = write(t, func(d inside.Disk, log string) { must.OK(t, d.Remove(log)) }, slices.Index(types(), record.EventReoptimised))
	t.Logf("%d losses of power, %d states, the log removed in between", n, w.disk.Draw(n, 2, w.left))
}

func types() (all []record.EventType) {
	for _, e := range recordtest.Eventful() {
		all = append(all, e.Type)
	}
	return all
}
