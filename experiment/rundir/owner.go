package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/record"
)

// largestNote is more than the note of a run's owner takes, in bytes.
const largestNote = 1 << 16

// notePath is its name in the directory of a run.
const notePath = record.StateDir + "/" + record.OwnerFile

// Owner is the process that writes a run, or last wrote it.
type Owner struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`

	Socket   string `json:"socket,omitempty"`    // where it takes orders
	NoOrders string `json:"no_orders,omitempty"` // why it takes none

	Dir   string `json:"-"` // where the note was read; "": it was not
	Alive bool   `json:"-"` // it still does
	Known bool   `json:"-"` // whether it does could be told
}

// errNoLocks is the error of a file system that has no locks; who owns a run is
// then not known.
var errNoLocks = errors.New("the file system has no locks")

// errOwned is the error of taking a lock that another holds.
var errOwned = errors.New("another process holds the lock")

// Claimed is the directory of a run that this process writes: open, and locked.
type Claimed struct {
	*inside.Dir
	lock   *flock.Flock
	note   Owner
	before []byte   // what the note said, nil if there was none
	made   []string // what was not there before, the last first
}

// Claim notes that this process writes the run in dir, until the result is
// closed or the process ends, however it ends. The result must be kept: a file
// that nobody refers to is closed. It is an error if another process writes
// the run, and, before anything is changed, if one of the run's files is no file,
// see inside.Refused. The state folder is made if it is missing.
func Claim(dir string) (*Claimed, error) { return ClaimOn(inside.Disk{}, dir) }

// ClaimOn is Claim on a disk.
func ClaimOn(disk inside.Disk, dir string) (*Claimed, error) {
	d, err := disk.Open(dir)
	if err != nil {
		return nil, files.Unwritable(dir, err)
	}
	c := &Claimed{Dir: d}
	for _, check := range []func() error{
		func() error { return record.CheckFiles(d) },
		func() error { return d.CheckFile(notePath) },
		func() error { return d.CheckFile(lockFile(notePath)) },
	} {
		if err := check(); err != nil {
			d.Close()
			return nil, err
		}
	}
	err = c.claim()
	if errors.Is(err, errOwned) {
		err = fmt.Errorf("run %q is being written by %s; wait for it or stop it", dir, ownerName(d))
		c.Release()
		return nil, err
	}
	if locked := err == nil; locked || errors.Is(err, errNoLocks) {
		err = c.writeNote()
		if locked && errors.Is(err, fs.ErrPermission) {
			err = nil // on SMB what is locked is written through the lock's own handle only; the note is for people
		}
	}
	if err != nil {
		c.Release()
		return nil, files.Unwritable(dir, err)
	}
	return c, nil
}

// Close gives the directory back and closes it.
func (c *Claimed) Close() error {
	var err error
	if c.lock != nil {
		err = c.lock.Close()
	}
	return errors.Join(err, c.Dir.Close())
}

// Release is Close where nothing was written after all: the note says again what it
// said, and what was made for it is removed.
func (c *Claimed) Release() {
	if c.before != nil && !c.isNew(notePath) {
		_ = c.writeText(c.before) // the note is for people
	}
	var left []string
	for _, name := range c.made {
		if c.Remove(name) != nil {
			left = append(left, name)
		}
	}
	if c.lock != nil {
		_ = c.lock.Close()
	}
	for _, name := range left { // Windows removes nothing that is open
		_ = c.Remove(name) // it does no harm
	}
	_ = c.Dir.Close()
}

func (c *Claimed) isNew(name string) bool {
	for _, made := range c.made {
		if made == name {
			return true
		}
	}
	return false
}

// missing notes that a name is about to be made, if it is not there.
func (c *Claimed) missing(name string) {
	if _, err := c.Lstat(name); errors.Is(err, fs.ErrNotExist) && !c.isNew(name) {
		c.made = append([]string{name}, c.made...)
	}
}

// writeNote notes that this process is the owner, in the place of who was.
func (c *Claimed) writeNote() error {
	host, err := os.Hostname()
	if err != nil {
		host = "" // it is for people
	}
	c.note = Owner{PID: os.Getpid(), Host: host, Since: time.Now().UTC()}
	c.missing(notePath)
	if before, err := c.ReadFile(notePath, largestNote); err == nil {
		c.before = before
	}
	return c.writeOwner()
}

func (c *Claimed) writeOwner() error {
	text, err := json.Marshal(c.note)
	if err != nil {
		return err
	}
	return c.writeText(append(text, '\n'))
}

// Orders notes where the owner takes orders, or why it takes none.
func (c *Claimed) Orders(socket, none string) error {
	c.note.Socket, c.note.NoOrders = socket, none
	return c.writeOwner()
}

// writeText writes the note in its place, for it may be what is locked.
func (c *Claimed) writeText(text []byte) error {
	f, err := c.OpenOrCreate(notePath)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil { // whoever reads meanwhile finds a note and spaces, not none
		over := max(0, min(info.Size(), largestNote)-int64(len(text)))
		_, err = f.WriteAt(slices.Concat(text, bytes.Repeat([]byte(" "), int(over))), 0)
	}
	if err == nil {
		err = f.Truncate(int64(len(text)))
	}
	return errors.Join(err, f.Close())
}

// claim takes the lock of an owner; a reader that is just looking holds it for
// a moment, and a process that gives up what it had claimed removes its file.
func (c *Claimed) claim() error {
	c.missing(record.StateDir)
	if err := c.MkdirAll(record.StateDir); err != nil {
		return err
	}
	name := lockFile(notePath)
	for try := 0; ; try++ {
		c.missing(name)
		f, err := c.OpenOrCreate(name)
		if err != nil && !errors.Is(err, fs.ErrPermission) { // which on SMB a locked file is refused with
			return err
		}
		if f != nil {
			f.Close()
		}
		c.lock = newLock(c.Join(name), os.O_RDWR)
		err = take(c.lock.TryLock)
		if err == nil {
			if err = c.holds(name); err == nil {
				return nil
			}
			c.lock.Close()
		}
		if errors.Is(err, errNoLocks) || try == 10 {
			return err
		}
		if !errors.Is(err, errOwned) && !errors.Is(err, fs.ErrNotExist) && !errors.As(err, new(*inside.Refused)) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// holds returns an error unless the file that is locked is the one that the
// directory has: it was opened by its path.
func (c *Claimed) holds(name string) error {
	info, err := c.lock.Stat()
	if err != nil {
		return err
	}
	return c.Holds(name, info)
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

func ownerName(d *inside.Dir) string {
	o, err := readOwner(d)
	if err != nil || o.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s", o.PID, o.Host)
}

// readOwner returns an owner without a number if the note is torn: who holds the
// lock may just be writing it.
func readOwner(d *inside.Dir) (o Owner, err error) {
	text, err := d.ReadFile(notePath, largestNote)
	if err == nil && json.Unmarshal(text, &o) != nil {
		o = Owner{}
	}
	return o, err
}

// OwnerOf returns the process that writes the run in dir, or wrote it last, and
// whether it still does. known is false where that cannot be told: the run was
// made without such a note, or it cannot be read.
func OwnerOf(dir string) (o Owner, known bool) {
	d, err := inside.Open(dir)
	if err != nil {
		return o, false
	}
	defer d.Close()
	o, err = readOwner(d)
	if err != nil && !errors.Is(err, fs.ErrPermission) { // which on SMB a locked note is refused with
		return o, false
	}
	o.Dir = dir
	o.Alive, err = owned(d)
	o.Known = err == nil
	return o, o.Known
}

// owned tries the owner's lock.
func owned(d *inside.Dir) (bool, error) {
	name := lockFile(notePath)
	if err := d.CheckFile(name); err != nil {
		return false, err
	}
	lock := newLock(d.Join(name), os.O_RDONLY)
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
