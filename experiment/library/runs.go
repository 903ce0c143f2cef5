package library

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
)

// RunInfo is what a list of runs says of one.
type RunInfo struct {
	Path        string
	Name        string
	Fate        record.State // as rundir.Fate has it
	Reason      string       // "" where it was written down long before the end
	Started     time.Time
	Last        time.Time // of the last event
	Seconds     float64   // wall time less pauses
	Evaluations int
	Planned     int
	Leader      string  // its id, "" before the first evaluation
	LeaderName  string  // for reading
	Posterior   float64 // of the leader, NaN if there is none
	RMSE        float64 // of the average, NaN if there is none
	Kernels     int
	Rows        int    // for training
	Data        string // the dataset's name
	Target      string // the column that is explained, "" where none is named
	Explains    string // that, and from which: record.Start.Explains
	Err         string // why the rest is not known, "" as a rule

	Live bool // a process is known to write the run now
}

// Word is the run's fate, or "damaged" if the rest is not known.
func (r *RunInfo) Word() string {
	if r.Err != "" {
		return "damaged"
	}
	return string(r.Fate)
}

// RecentRuns lists the runs in a folder, such as "runs", and one level below,
// where repeats are: at most so many (0: all), those written to last first. It
// reads the beginning and the end of their event logs only. A run that cannot
// be read is listed with the reason. A folder that does not exist has no runs.
func RecentRuns(root string, most int) ([]RunInfo, error) {
	type found struct {
		path    string
		written time.Time
	}
	var runs []found
	look := func(dir string) bool {
		info, err := os.Lstat(filepath.Join(dir, record.EventsFile)) // what it leads to is not looked at
		if err != nil || info.IsDir() {
			return false
		}
		runs = append(runs, found{dir, info.ModTime()})
		return true
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("runs in %q cannot be listed: %w", root, err)
	}
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		if strings.HasPrefix(e.Name(), ".") || look(dir) {
			continue
		}
		below, err := os.ReadDir(dir)
		if err != nil {
			continue // a file, or not for us
		}
		for _, b := range below {
			if !strings.HasPrefix(b.Name(), ".") {
				look(filepath.Join(dir, b.Name()))
			}
		}
	}
	slices.SortFunc(runs, func(a, b found) int {
		if c := b.written.Compare(a.written); c != 0 {
			return c
		}
		return strings.Compare(b.path, a.path)
	})
	if most > 0 && len(runs) > most {
		runs = runs[:most]
	}
	var out []RunInfo
	for _, r := range runs {
		out = append(out, ReadRunInfo(r.path))
	}
	return out, nil
}

// ReadRunInfo looks at the run in dir without reading all of its log.
func ReadRunInfo(dir string) RunInfo {
	r := RunInfo{Path: dir, Name: filepath.Base(dir), Posterior: math.NaN(), RMSE: math.NaN()}
	var s record.Standing
	if err := r.read(dir, &s); err != nil {
		r.Err = err.Error()
	}
	o, _ := rundir.OwnerOf(dir)
	r.Fate, r.Live = rundir.Fate(&s, o), o.Alive
	return r
}

// read takes what the list says from the beginning and the end of a log; s is how
// the run stands.
func (r *RunInfo) read(dir string, s *record.Standing) error {
	f, err := record.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	d := record.NewDecoder(io.LimitReader(f, record.LongestLine))
	first, err := d.Next()
	switch {
	case err == io.EOF:
		return errors.New("no event yet")
	case err != nil:
		return err
	}
	r.Started = first.Time
	if start := first.Start; start != nil {
		r.Name, r.Kernels, r.Planned = start.Name, len(start.Kernels), start.Planned
		r.Rows, r.Data = start.Data.Train, start.Data.Name
		if r.Explains = start.Explains(); r.Explains != "" {
			r.Target = start.Target().Name
		}
	}
	return r.readEnd(f, first, s)
}

// tailSizes are the parts of a log's end that are tried one after the other.
var tailSizes = [...]int64{256 << 10, 4 << 20, 32 << 20}

// readEnd takes the last state, evaluation and metrics from the end of a log.
func (r *RunInfo) readEnd(f *os.File, first *record.Event, s *record.Standing) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	for i, part := range tailSizes {
		t, err := readTail(f, size, min(part, size))
		if err != nil {
			return err
		}
		if !t.enough() && part < size && i < len(tailSizes)-1 {
			continue
		}
		if len(t.events) == 0 {
			return errors.New("its end is damaged")
		}
		t.apply(first, s)
		r.show(s)
		break
	}
	return nil
}

// show takes over how the run stands.
func (r *RunInfo) show(s *record.Standing) {
	r.Reason, r.Last, r.Seconds = s.Reason, s.Time, float64(s.Seconds)
	if s.Start != nil { // which may not be the first one
		r.Rows = s.Start.Data.Train
	}
	if e := s.Evaluation; e != nil {
		r.Evaluations, r.Planned = e.Index, e.Planned
		if l := e.Leader(); l != nil {
			r.Leader, r.LeaderName, r.Posterior = l.ID, readName(s.Start, l.ID), float64(l.Fit.Posterior)
		}
	}
	for _, m := range s.Metrics {
		if m.Method == config.MethodAverage {
			r.RMSE = float64(m.RMSE)
		}
	}
}

// readName returns how a kernel is written for reading, "" if it is not known.
func readName(s *record.Start, id string) string {
	if s != nil {
		for i := range s.Kernels {
			if k := &s.Kernels[i]; k.ID == id {
				return k.Name
			}
		}
	}
	return ""
}

// tail is the end of a log.
type tail struct {
	events         []*record.Event // the last one first
	state, metrics bool            // are among them
	evaluations    int
	revised        bool // an evaluation or what an order made of one is
}

// enough reports whether nothing further up would add to it: metrics stand
// right behind their evaluation, and there are none without test rows.
func (t *tail) enough() bool {
	return t.revised && (t.state && t.metrics || t.evaluations > 2)
}

func (t *tail) add(e *record.Event) {
	t.events = append(t.events, e)
	t.state = t.state || e.Type == record.EventState
	t.metrics = t.metrics || e.Type == record.EventMetrics
	t.revised = t.revised || e.Evaluation != nil
	if e.Type == record.EventEvaluation {
		t.evaluations++
	}
}

// apply makes s how the run stands after its first event and those of its end.
func (t *tail) apply(first *record.Event, s *record.Standing) {
	s.Apply(first)
	for _, e := range slices.Backward(t.events) {
		s.Apply(e)
	}
}

// readTail reads the last lines of a log, backwards, as far as they matter.
func readTail(f *os.File, size, part int64) (*tail, error) {
	text := make([]byte, part)
	n, err := f.ReadAt(text, size-part)
	if err != nil && err != io.EOF {
		return nil, err
	}
	text = text[:n]
	if part < size { // the first line may have lost its beginning
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	t := &tail{}
	for len(text) > 0 && !t.enough() {
		start := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
		e, err := record.Decode(text[start:], 0)
		text = text[:start]
		var damage *record.DamagedLine
		switch {
		case errors.As(err, &damage) && len(t.events) == 0:
			continue // torn
		case errors.As(err, &damage):
			return nil, fmt.Errorf("a line near its end is damaged: %w", damage.Err)
		case err != nil:
			return nil, err
		case e == nil:
			continue
		}
		t.add(e)
	}
	return t, nil
}
