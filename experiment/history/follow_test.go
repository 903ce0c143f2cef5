package history_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/history/historytest"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/record/recordtest"
	"example.com/kestrel/internal/must"
)

// A log that is written in pieces, whatever they are, is told as it is read.
func TestFollowAGrowingLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "events.jsonl")
	f, err := os.Create(path)
	must.OK(t, err)
	defer f.Close()
	lines := recordtest.LogLines(t, 6000)
	text := bytes.Join(lines, nil)
	// Most of it is there at the beginning, with half a line.
	half := len(bytes.Join(lines[:5000], nil)) + 10
	_, err = f.Write(text[:half])
	must.OK(t, err)
	l, stop := historytest.Follow(t, dir)
	l.Until(t, "the lines that were there", func(e []record.Event) bool { return len(e) == 5000 })
	for at := half; at < len(text); {
		to := min(len(text), at+7777)
		_, err = f.Write(text[at:to])
		must.OK(t, err)
		at = to
	}
	l.Until(t, "the rest", func(e []record.Event) bool { return len(e) == len(lines) })
	must.OK(t, stop())
	want, err := recordtest.Read(dir)
	must.OK(t, err)
	if !reflect.DeepEqual(l.Events, want) || l.Largest > 2000 {
		t.Errorf("what was told differs from what is read; %d at once", l.Largest)
	}
}

// A log that is cut short or replaced is told anew.
func TestFollowAReplacedLog(t *testing.T) {
	for name, replace := range map[string]func(string, []byte) error{
		"cut short": func(path string, text []byte) error { return os.WriteFile(path, text, 0o644) },
		"replaced":  files.ReplaceFile,
		"grown from nothing": func(path string, text []byte) error {
			return os.WriteFile(path, bytes.Repeat(bytes.ReplaceAll(text, []byte(`"x`), []byte(`"y`)), 100), 0o644)
		},
		"removed and back": func(path string, text []byte) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			time.Sleep(5 * time.Millisecond)
			return os.WriteFile(path, text, 0o644)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "events.jsonl")
			lines := recordtest.LogLines(t, 50)
			must.OK(t, os.WriteFile(path, bytes.Join(lines, nil), 0o644))
			l, stop := historytest.Follow(t, dir)
			l.Until(t, "the first log", func(e []record.Event) bool { return len(e) == 50 })
			must.OK(t, replace(path, bytes.Join(lines[20:30], nil)))
			var after []record.Event
			l.Until(t, "the second log", func(e []record.Event) bool {
				for i := range e {
					if e[i].Type == record.EventAnew {
						after = e[i+1:]
						return len(after) >= 10
					}
				}
				return false
			})
			must.OK(t, stop())
			if after[0].Seconds != 20 || after[9].Seconds != 29 {
				t.Errorf("told %v to %v", after[0].Seconds, after[9].Seconds)
			}
			var h history.History
			for i := range l.Events {
				h.Apply(&l.Events[i])
			}
			if kept, _ := h.Lines(); !strings.Contains(kept[0].Text, "has been replaced") {
				t.Errorf("the history begins with %+v", kept[0])
			}
		})
	}
}

func appendTo(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// Damage before the last line is an error, as when reading; damage in the last
// line is one as soon as something follows.
func TestFollowADamagedLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "events.jsonl")
	lines := recordtest.LogLines(t, 5)
	must.OK(t, os.WriteFile(path, append(bytes.Join(lines[:3], nil), "{torn\n"...), 0o644))
	if events, err := recordtest.Read(dir); err != nil || len(events) != 3 {
		t.Errorf("%d events, %v", len(events), err)
	}
	l, stop := historytest.Follow(t, dir)
	l.Until(t, "what is whole", func(e []record.Event) bool { return len(e) == 3 })
	must.OK(t, stop())

	must.OK(t, appendTo(path, lines[3]))
	_, want := recordtest.Read(dir)
	if want == nil || !strings.Contains(want.Error(), "line 4 is damaged") {
		t.Fatal(want)
	}
	l = &historytest.Told{News: make(chan struct{}, 1)}
	if err := history.Follow(t.Context(), dir, time.Millisecond, l.Put); err == nil || err.Error() != want.Error() || len(l.Events) != 3 {
		t.Errorf("%d events, %v", len(l.Events), err)
	}

	must.OK(t, os.WriteFile(path, bytes.Replace(lines[0], []byte(`"v":1`), []byte(`"v":9`), 1), 0o644))
	if err := history.Follow(t.Context(), dir, 0, l.Put); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Error(err)
	}
	none := filepath.Join(dir, "none")
	_, want = recordtest.Read(none)
	if err := history.Follow(t.Context(), none, 0, l.Put); err == nil || err.Error() != want.Error() {
		t.Error(err)
	}
}
