package runtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/internal/must"
)

// CopyRun copies a run's directory.
func CopyRun(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Error(err)
	}
}

// TakeUp resumes a run and lets it take its course.
func TakeUp(t *testing.T, dir string, o experiment.ResumeOptions, recorders ...record.Recorder) (experiment.Snapshot, error) {
	t.Helper()
	s, err := experiment.Resume(t.Context(), dir, o, recorders...)
	if err != nil {
		return experiment.Snapshot{}, err
	}
	end, err := s.Run.Drive(t.Context(), s.Course)
	must.OK(t, err)
	must.OK(t, s.Close())
	return end, nil
}

// SameResults compares what must be the same byte for byte, and looks for
// scores that are gone.
func SameResults(t *testing.T, what, got, want, before string) {
	t.Helper()
	read := func(dir, name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		must.OK(t, err)
		return text
	}
	for _, name := range []string{record.PosteriorFile, record.KernelsFile} {
		if a, b := read(got, name), read(want, name); !bytes.Equal(a, b) {
			t.Errorf("%s: %s differs:\n%s\nwant\n%s", what, name, a, b)
		}
	}
	// Behind an order that is carried out again a row is made again, with a clock
	// that went on.
	timeless := func(line string) string {
		cells := strings.Split(line, ",")
		if len(cells) > 3 {
			cells = slices.Delete(cells, 2, 3)
		}
		return strings.Join(cells, ",")
	}
	var kept []string
	for line := range strings.SplitSeq(string(read(got, record.MetricsFile)), "\n") {
		kept = append(kept, timeless(line))
	}
	for _, line := range strings.SplitAfter(string(read(before, record.MetricsFile)), "\n") {
		if line, whole := strings.CutSuffix(line, "\n"); whole && !slices.Contains(kept, timeless(line)) {
			t.Errorf("%s: the row of %s is gone: %s", what, record.MetricsFile, line)
		}
	}
}
