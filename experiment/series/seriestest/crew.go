// Package seriestest has a crew for tests: other machines in this process.
package seriestest

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"example.com/kestrel/experiment/series"
	"example.com/kestrel/internal/must"
)

// Crew does tasks as a worker on another machine would, with what a message has, and with data
// that have other names there.
type Crew struct {
	t  *testing.T
	do map[string]func(context.Context, *series.Order) (series.Result, error)

	mu   sync.Mutex
	Done map[string]int // tasks, by kind
}

// New makes a crew of what does each kind of task.
func New(t *testing.T, do map[string]func(context.Context, *series.Order) (series.Result, error)) *Crew {
	return &Crew{t: t, do: do, Done: map[string]int{}}
}

// Alone changes nothing: each task has two lanes.
func (c *Crew) Alone(bool) {}

// Do does a task, or has it go on here that was begun here.
func (c *Crew) Do(ctx context.Context, t *series.Task) error {
	if t.Begun {
		return t.Here(ctx)
	}
	dir := c.t.TempDir()
	o := &series.Order{Kind: t.Kind, Body: bytes.Clone(t.Body), Dir: filepath.Join(dir, "work"), Device: "cpu", Lanes: 2,
		Files: map[string]string{}}
	must.OK(c.t, os.Mkdir(o.Dir, 0o700))
	for i, path := range t.Files {
		text, err := os.ReadFile(path)
		must.OK(c.t, err)
		at := filepath.Join(dir, "data"+string(rune('a'+i)))
		must.OK(c.t, os.WriteFile(at, text, 0o600))
		o.Files[path] = at
	}
	r, err := c.do[t.Kind](ctx, o)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.Done[t.Kind]++
	c.mu.Unlock()
	if r.Archive == "" {
		return t.Take("another", r.Body, nil)
	}
	text, err := os.ReadFile(r.Archive)
	must.OK(c.t, err)
	must.OK(c.t, os.RemoveAll(dir))
	return t.Take("another", r.Body, io.Reader(bytes.NewReader(text)))
}
