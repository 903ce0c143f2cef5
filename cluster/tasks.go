package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/nats-io/nuid"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/internal/scratch"
	"example.com/kestrel/vbks/wire"
)

// Order is a task as whoever does it gets it.
type Order struct {
	Kind   string // of task
	Body   []byte
	Dir    string            // an empty folder for what is made, removed behind it
	Device string            // kind of the device to compute on
	Lanes  int               // how many of it
	Files  map[string]string // where files lie that the task reads, by their paths on the machine that it comes from
}

// Result is what comes of a task.
type Result struct {
	Body    []byte
	Archive string // path of a file that comes with it, in the order's Dir; "": none
}

// tasksHeader is the name of the one phase in which there are tasks to do.
const tasksHeader = "tasks"

// bench is what a worker keeps for tasks from one series to the next: a folder, in which files
// lie that it was sent, each once.
type bench struct {
	do func(context.Context, *Order) (Result, error)

	mu    sync.Mutex
	dir   *scratch.Folder   // nil: there is none yet
	known map[string]string // where files are, by path and hash
	used  map[string]bool   // which of these the series under way has read
}

// close removes the folder.
func (b *bench) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir != nil {
		b.dir.Remove()
	}
}

// begin begins another series: files that the last one has not read are not kept any longer.
func (b *bench) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	var left []string
	kept := map[string]bool{}
	for key, path := range b.known {
		if b.used[key] {
			kept[path] = true
			continue
		}
		delete(b.known, key)
		left = append(left, path)
	}
	for _, path := range left {
		if filepath.Dir(path) == b.dir.Path && !kept[path] {
			_ = os.Remove(path) // it goes with the folder
		}
	}
	b.used = map[string]bool{}
}

// folder makes a folder for a task.
func (b *bench) folder() (path string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.open(); err != nil {
		return "", err
	}
	return os.MkdirTemp(b.dir.Path, "task-")
}

// open makes the bench's own folder; the lock is held.
func (b *bench) open() (err error) {
	if b.dir == nil {
		b.known, b.used = map[string]string{}, map[string]bool{}
		b.dir, err = scratch.Make("worker")
	}
	return err
}

// file says where a file is that a task reads, and gets it where it is not there.
func (b *bench) file(ctx context.Context, s *sent, shelf *shelf) (path string, err error) {
	if sum, err := hex.DecodeString(s.Sum); err != nil || len(sum) != sha256.Size {
		return "", fmt.Errorf("%w: a file without a hash", wire.ErrDamaged)
	}
	b.mu.Lock() // others that read the same file wait for it
	defer b.mu.Unlock()
	if err := b.open(); err != nil {
		return "", err
	}
	key := s.Path + "\x00" + s.Sum
	b.used[key] = true
	if path, ok := b.known[key]; ok {
		return path, nil
	}
	path = filepath.Join(b.dir.Path, s.Sum)
	if isFile(ctx, s.Path, s) {
		path = s.Path
	} else if !isFile(ctx, path, s) {
		if err := fetch(ctx, s, shelf, path); err != nil {
			return "", fmt.Errorf("%s: %w", s.Path, err)
		}
	}
	b.known[key] = path
	return path, nil
}

// isFile reports whether a file is the one that was sent.
func isFile(ctx context.Context, path string, s *sent) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != s.Size {
		return false
	}
	sum, err := sumOf(ctx, path)
	return err == nil && sum == s.Sum
}

// sumOf is the SHA-256 of a file, in hexadecimal.
func sumOf(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, &until{ctx, f}); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// until reads until ctx ends.
type until struct {
	ctx context.Context
	io.Reader
}

func (u *until) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.Reader.Read(p)
}

// fetch takes a file from the shelf; a part of one is not left.
func fetch(ctx context.Context, s *sent, shelf *shelf, path string) error {
	r, err := shelf.Open(ctx, s.Sum)
	if err != nil {
		return err
	}
	defer r.Close()
	aside := path + ".part"
	f, err := os.Create(aside)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, h), r)
	err = errors.Join(err, f.Close())
	if err == nil && hex.EncodeToString(h.Sum(nil)) != s.Sum {
		err = fmt.Errorf("%w: what came is another file", wire.ErrDamaged)
	}
	if err == nil {
		err = os.Rename(aside, path)
	}
	return err
}

// taskSite is where a worker does tasks.
type taskSite struct {
	bench  *bench
	shelf  *shelf
	device device.Info
}

// Lanes has one task for each core; those of a card would share it.
func (s *taskSite) Lanes() []int {
	n := max(1, s.device.Lanes)
	if s.device.Kind != ofCPU {
		n = 1
	}
	return numbered(n)
}

func numbered(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
}

// Stand has nothing to prepare: there is one phase.
func (s *taskSite) Stand([]byte) error { return nil }

// Lose has nothing to keep: tasks have devices of their own.
func (s *taskSite) Lose(int, error) {}

// Do does a task.
func (s *taskSite) Do(ctx context.Context, _ int, body []byte) ([]byte, error) {
	t, err := wire.Decode[order](body)
	if err != nil {
		return nil, err
	}
	o := &Order{Kind: t.Kind, Body: t.Body, Device: s.device.Kind, Lanes: 1, Files: map[string]string{}}
	if t.Alone || s.device.Kind != ofCPU {
		o.Lanes = s.device.Lanes
	}
	for i := range t.Files {
		if o.Files[t.Files[i].Path], err = s.bench.file(ctx, &t.Files[i], s.shelf); err != nil {
			return nil, err
		}
	}
	if o.Dir, err = s.bench.folder(); err != nil {
		return nil, err
	}
	defer os.RemoveAll(o.Dir)
	var made Result
	err = guard.Do(func() (err error) { made, err = s.bench.do(ctx, o); return err })
	if err != nil {
		return nil, err
	}
	out := result{Body: made.Body}
	if made.Archive != "" {
		out.Archive = nuid.Next()
		if err := s.shelf.PutFile(ctx, out.Archive, made.Archive); err != nil {
			return nil, err
		}
	}
	return wire.Encode(&out), nil
}
