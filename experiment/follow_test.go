package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// told collects what Follow hands over.
type told struct {
	mu      sync.Mutex
	events  []Event
	largest int
	news    chan struct{}
}

func (l *told) put(events []Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, events...)
	l.largest = max(l.largest, len(events))
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// until waits until a condition holds of what has been told.
func (l *told) until(t *testing.T, what string, ok func([]Event) bool) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		l.mu.Lock()
		yes := ok(l.events)
		l.mu.Unlock()
		if yes {
			return
		}
		select {
		case <-l.news:
		case <-late:
			t.Fatalf("never came: %s", what)
		}
	}
}

// follow follows a directory until the test ends, and returns its error.
func follow(t *testing.T, dir string) (*told, func() error) {
	t.Helper()
	l := &told{news: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Follow(ctx, dir, time.Millisecond, l.put) }()
	return l, func() error {
		cancel()
		return <-done
	}
}

func logLines(t *testing.T, n int) [][]byte {
	t.Helper()
	lines := make([][]byte, n)
	for i := range lines {
		b, err := json.Marshal(&Event{V: 1, Type: EventNotice, Seconds: Number(i), Notice: strings.Repeat("x", i%100)})
		must(t, err)
		lines[i] = append(b, '\n')
	}
	return lines
}

// A log that is written in pieces, whatever they are, is told as it is read.
func TestFollowAGrowingLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "events.jsonl")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	lines := logLines(t, 6000)
	text := bytes.Join(lines, nil)
	// Most of it is there at the beginning, with half a line.
	half := len(bytes.Join(lines[:5000], nil)) + 10
	_, err = f.Write(text[:half])
	must(t, err)
	l, stop := follow(t, dir)
	l.until(t, "the lines that were there", func(e []Event) bool { return len(e) == 5000 })
	for at := half; at < len(text); {
		to := min(len(text), at+7777)
		_, err = f.Write(text[at:to])
		must(t, err)
		at = to
	}
	l.until(t, "the rest", func(e []Event) bool { return len(e) == len(lines) })
	must(t, stop())
	want, err := ReadEvents(dir)
	must(t, err)
	if !reflect.DeepEqual(l.events, want) || l.largest > 2000 {
		t.Errorf("what was told differs from what is read; %d at once", l.largest)
	}
}

// The run ends and is re-optimised; its History is that of the whole log.
func TestFollowARun(t *testing.T) {
	dir := recorded(t)
	l, stop := follow(t, dir)
	events, err := ReadEvents(dir)
	must(t, err)
	l.until(t, "the run", func(e []Event) bool { return len(e) == len(events) })
	end, err := os.OpenFile(filepath.Join(dir, "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	defer end.Close()
	must(t, newEventLog(end).append(&Event{V: 1, Type: EventState, State: &StateChange{From: Finished, To: Running}}))
	l.until(t, "what came after its end", func(e []Event) bool { return len(e) == len(events)+1 })
	must(t, stop())
	var h History
	for i := range l.events {
		h.Apply(&l.events[i])
	}
	if s := Summarise(l.events); !reflect.DeepEqual(h.Standing, s.Standing) || h.Evaluation != s.Evaluation || h.Start != s.Start {
		t.Errorf("history %+v, summary %+v", &h, s)
	}
}

// A log that is cut short or replaced is told anew.
func TestFollowAReplacedLog(t *testing.T) {
	for name, replace := range map[string]func(string, []byte) error{
		"cut short": func(path string, text []byte) error { return os.WriteFile(path, text, 0o644) },
		"replaced":  replaceFile,
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
			lines := logLines(t, 50)
			must(t, os.WriteFile(path, bytes.Join(lines, nil), 0o644))
			l, stop := follow(t, dir)
			l.until(t, "the first log", func(e []Event) bool { return len(e) == 50 })
			must(t, replace(path, bytes.Join(lines[20:30], nil)))
			var after []Event
			l.until(t, "the second log", func(e []Event) bool {
				for i := range e {
					if e[i].Type == EventAnew {
						after = e[i+1:]
						return len(after) >= 10
					}
				}
				return false
			})
			must(t, stop())
			if after[0].Seconds != 20 || after[9].Seconds != 29 {
				t.Errorf("told %v to %v", after[0].Seconds, after[9].Seconds)
			}
			var h History
			for i := range l.events {
				h.Apply(&l.events[i])
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
	lines := logLines(t, 5)
	must(t, os.WriteFile(path, append(bytes.Join(lines[:3], nil), "{torn\n"...), 0o644))
	if events, err := ReadEvents(dir); err != nil || len(events) != 3 {
		t.Errorf("%d events, %v", len(events), err)
	}
	l, stop := follow(t, dir)
	l.until(t, "what is whole", func(e []Event) bool { return len(e) == 3 })
	must(t, stop())

	must(t, appendTo(path, lines[3]))
	_, want := ReadEvents(dir)
	if want == nil || !strings.Contains(want.Error(), "line 4 is damaged") {
		t.Fatal(want)
	}
	l = &told{news: make(chan struct{}, 1)}
	if err := Follow(t.Context(), dir, time.Millisecond, l.put); err == nil || err.Error() != want.Error() || len(l.events) != 3 {
		t.Errorf("%d events, %v", len(l.events), err)
	}

	must(t, os.WriteFile(path, bytes.Replace(lines[0], []byte(`"v":1`), []byte(`"v":9`), 1), 0o644))
	if err := Follow(t.Context(), dir, 0, l.put); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Error(err)
	}
	none := filepath.Join(dir, "none")
	_, want = ReadEvents(none)
	if err := Follow(t.Context(), none, 0, l.put); err == nil || err.Error() != want.Error() {
		t.Error(err)
	}
}
