package experiment

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// eventLog appends events to a file, one a line, each in a single write.
type eventLog struct{ file *os.File }

func (l *eventLog) append(e *Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("event %s cannot be written: %w", e.Type, err)
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("event log: %w", err)
	}
	return nil
}

// ReadEvents reads the event log of a run directory, whether the run is
// finished, crashed or still running: a last line that is not complete is left
// out.
func ReadEvents(dir string) ([]Event, error) {
	file, err := os.Open(filepath.Join(dir, eventsFile))
	if err != nil {
		info, statErr := os.Stat(dir)
		switch {
		case errors.Is(statErr, fs.ErrNotExist):
			return nil, fmt.Errorf("run %q does not exist; name the directory of a run, such as runs/…", dir)
		case statErr == nil && !info.IsDir():
			return nil, fmt.Errorf("run %q is a file; name the directory of a run", dir)
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("run %q has no %s; name the directory of a run", dir, eventsFile)
		}
		return nil, fmt.Errorf("run %q cannot be read: %w", dir, err)
	}
	defer file.Close()
	events, err := decodeEvents(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, eventsFile), err)
	}
	if len(events) == 0 {
		return nil, fmt.Errorf("run %q has no events yet; it ended before it began", dir)
	}
	return events, nil
}

func decodeEvents(r io.Reader) ([]Event, error) {
	var events []Event
	in := bufio.NewReaderSize(r, 1<<20)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		complete := err == nil
		if err != nil && err != io.EOF {
			return nil, err
		}
		if !complete {
			return events, nil // being written, or torn by a crash
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			if _, more := in.Peek(1); more == io.EOF {
				return events, nil // torn in the middle of the line
			}
			return nil, fmt.Errorf("line %d is damaged: %w", number, err)
		}
		if e.V > EventVersion {
			return nil, fmt.Errorf("line %d was written by a newer version of the program (format %d, known is %d); use that version", number, e.V, EventVersion)
		}
		events = append(events, e)
	}
}
