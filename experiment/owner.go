package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// ownerFile says in a run's state folder which process writes the run.
const ownerFile = "owner.json"

// Owner is the process that writes a run, or last wrote it.
type Owner struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`

	Alive bool `json:"-"` // it still does
	Known bool `json:"-"` // whether it does could be told
}

// errNoLocks is the error of a file system that has no locks; who owns a run is
// then not known.
var errNoLocks = errors.New("the file system has no locks")

// errOwned is the error of taking a lock that another holds.
var errOwned = errors.New("another process holds the lock")

// WriteOwner notes that this process writes the run in dir, until the result is
// closed or the process ends, however it ends. The result must be kept: a file
// that nobody refers to is closed. It is an error if another process writes
// the run. The state folder is made if it is missing.
func WriteOwner(dir string) (io.Closer, error) {
	if err := os.MkdirAll(filepath.Join(dir, stateDir), 0o755); err != nil {
		return nil, unwritable(dir, err)
	}
	path := filepath.Join(dir, stateDir, ownerFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	if err := claim(f); err != nil && !errors.Is(err, errNoLocks) {
		f.Close()
		if errors.Is(err, errOwned) {
			return nil, fmt.Errorf("run %q is being written by %s; wait for it or stop it", dir, ownerName(path))
		}
		return nil, unwritable(dir, err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "" // it is for people
	}
	text, err := json.Marshal(Owner{PID: os.Getpid(), Host: host, Since: time.Now().UTC()})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	if err != nil {
		f.Close()
		return nil, unwritable(dir, err)
	}
	return f, nil
}

// claim takes the lock of an owner; a reader that is just looking holds it for
// a moment.
func claim(f *os.File) error {
	for try := 0; ; try++ {
		err := lockOwner(f, true)
		if !errors.Is(err, errOwned) || try == 10 {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func ownerName(path string) string {
	o, err := readOwner(path)
	if err != nil || o.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s", o.PID, o.Host)
}

func readOwner(path string) (Owner, error) {
	var o Owner
	text, err := os.ReadFile(path)
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(text, &o)
}

// OwnerOf returns the process that writes the run in dir, or wrote it last, and
// whether it still does. known is false where that cannot be told: the run was
// made without such a note, or it cannot be read.
func OwnerOf(dir string) (o Owner, known bool) {
	path := filepath.Join(dir, stateDir, ownerFile)
	f, err := os.Open(path)
	if err != nil {
		return o, false
	}
	defer f.Close()
	// Who holds the lock may just be writing its name.
	if read, err := readOwner(path); err == nil {
		o = read
	}
	o.Alive, err = ownerAlive(f, o)
	o.Known = err == nil
	return o, o.Known
}
