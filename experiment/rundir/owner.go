package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"kestrel/experiment/files"
	"kestrel/experiment/record"
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

// Claim notes that this process writes the run in dir, until the result is
// closed or the process ends, however it ends. The result must be kept: a file
// that nobody refers to is closed. It is an error if another process writes
// the run. The state folder is made if it is missing.
func Claim(dir string) (io.Closer, error) {
	if err := os.MkdirAll(filepath.Join(dir, record.StateDir), 0o755); err != nil {
		return nil, files.Unwritable(dir, err)
	}
	note := filepath.Join(dir, record.StateDir, ownerFile)
	lock, err := claim(note)
	if errors.Is(err, errOwned) {
		return nil, fmt.Errorf("run %q is being written by %s; wait for it or stop it", dir, ownerName(note))
	}
	if locked := err == nil; locked || errors.Is(err, errNoLocks) {
		err = writeNote(note)
		if locked && errors.Is(err, fs.ErrPermission) {
			err = nil // on SMB what is locked is written through the lock's own handle only; the note is for people
		}
	}
	if err != nil {
		lock.Close()
		return nil, files.Unwritable(dir, err)
	}
	return lock, nil
}

// writeNote notes that this process is the owner, in the place of who was.
func writeNote(note string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "" // it is for people
	}
	text, err := json.Marshal(Owner{PID: os.Getpid(), Host: host, Since: time.Now().UTC()})
	if err != nil {
		return err
	}
	f, err := openNote(note, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	return errors.Join(err, f.Close())
}

// claim takes the lock of an owner; a reader that is just looking holds it for
// a moment.
func claim(note string) (*flock.Flock, error) {
	path := lockFile(note)
	lock := newLock(path, os.O_RDWR|os.O_CREATE)
	if err := ordinary(path); err != nil {
		return lock, err
	}
	for try := 0; ; try++ {
		err := take(lock.TryLock)
		if !errors.Is(err, errOwned) || try == 10 {
			return lock, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// newLock is not locked yet, and its file not open.
func newLock(path string, flag int) *flock.Flock {
	return flock.New(path, flock.SetFlag(flag|noFollow), flock.SetPermissions(0o644))
}

// take tries to take a lock and returns errOwned if another holder is in the
// way.
func take(try func() (bool, error)) error {
	for {
		held, err := try()
		switch {
		case held:
			return nil
		case err == nil:
			return errOwned
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
			return errNoLocks
		}
		return err
	}
}

// ordinary refuses what stands in the place of a file, a link above all: who put
// it there would choose what is written to. A file may also be missing.
func ordinary(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || info.Mode().IsRegular():
		return err
	}
	what := "no file"
	if info.Mode()&fs.ModeSymlink != 0 {
		what = "a link"
	}
	return fmt.Errorf("%s in it is %s", filepath.Join(record.StateDir, filepath.Base(path)), what)
}

// openNote opens a note that is no link.
func openNote(note string, flag int) (*os.File, error) {
	if err := ordinary(note); err != nil {
		return nil, err
	}
	return os.OpenFile(note, flag|noFollow, 0o644)
}

func ownerName(note string) string {
	o, err := readOwner(note)
	if err != nil || o.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s", o.PID, o.Host)
}

// readOwner returns an owner without a number if the note is torn: who holds the
// lock may just be writing it.
func readOwner(note string) (o Owner, err error) {
	f, err := openNote(note, os.O_RDONLY)
	if err != nil {
		return o, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err == nil && json.Unmarshal(text, &o) != nil {
		o = Owner{}
	}
	return o, err
}

// OwnerOf returns the process that writes the run in dir, or wrote it last, and
// whether it still does. known is false where that cannot be told: the run was
// made without such a note, or it cannot be read.
func OwnerOf(dir string) (o Owner, known bool) {
	note := filepath.Join(dir, record.StateDir, ownerFile)
	o, err := readOwner(note)
	if err != nil && !errors.Is(err, fs.ErrPermission) { // which on SMB a locked note is refused with
		return o, false
	}
	o.Alive, err = owned(note)
	o.Known = err == nil
	return o, o.Known
}

// owned tries the owner's lock.
func owned(note string) (bool, error) {
	path := lockFile(note)
	if err := ordinary(path); err != nil {
		return false, err
	}
	lock := newLock(path, os.O_RDONLY)
	defer lock.Close()
	switch err := take(lock.TryRLock); {
	case errors.Is(err, errOwned):
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // nobody has taken it yet
	default:
		return false, err
	}
}
