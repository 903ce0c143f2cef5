package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks/wire"
)

// shouting does tasks: the answer is the body in capitals, and what is in the one file that it
// reads, with that file as an archive where the task's kind is "archive".
func shouting(slow time.Duration) func(context.Context, *Order) (Result, error) {
	return func(ctx context.Context, o *Order) (r Result, err error) {
		select {
		case <-time.After(slow):
		case <-ctx.Done():
			return r, context.Cause(ctx)
		}
		if o.Kind == "fail" {
			return r, errors.New("no paper")
		}
		r.Body = bytes.ToUpper(o.Body)
		for _, at := range o.Files {
			text, err := os.ReadFile(at)
			if err != nil {
				return r, err
			}
			r.Body = append(r.Body, text...)
		}
		if o.Kind == "archive" {
			r.Archive = filepath.Join(o.Dir, "out")
			err = os.WriteFile(r.Archive, append([]byte("in "), r.Body...), 0o600)
		}
		return r, err
	}
}

// helping is taking, of a worker that does tasks.
func helping(t testing.TB, ticket *Ticket, lanes int, do func(context.Context, *Order) (Result, error)) (leave func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Work(ctx, WorkerOptions{Ticket: ticket, Open: lanesOf(lanes, class), Do: do, Stay: true, Tell: func(string) {}})
	}()
	return func() error { cancel(); return <-ended }
}

// asking is a task whose answer is kept.
func asking(kind, body string, files ...string) (*Task, *string) {
	var got string
	return &Task{Kind: kind, Body: []byte(body), Files: files,
		Here: func(context.Context) error { time.Sleep(20 * time.Millisecond); got = "here"; return nil },
		Take: func(_ string, body []byte, archive io.Reader) error {
			got = string(body)
			if archive != nil {
				b, err := io.ReadAll(archive)
				got += " " + string(b)
				return err
			}
			return nil
		}}, &got
}

// Tasks are done by workers and by the process itself, each once, with what they read and make;
// one whose worker leaves is done by another. A file is read from where it is, if it is the same
// there, else from the shelf.
func TestTasksAreDone(t *testing.T) {
	for _, here := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "data")
		must.OK(t, os.WriteFile(file, []byte(" rows"), 0o600))
		o := &told{}
		options := o.options(t, false)
		options.WorkHere = here
		p, err := ServeTasks(t.Context(), options, 1)
		must.OK(t, err)
		if here { // then nobody else has it
			_, err = p.send(t.Context(), file)
			must.OK(t, err)
			must.OK(t, os.WriteFile(file, []byte(" ROWS"), 0o600))
		}
		leave := helping(t, options.Identity.Ticket(), 2, shouting(20*time.Millisecond))
		never := helping(t, options.Identity.Ticket(), 1, shouting(time.Hour))
		workers := 2
		if here {
			workers = 3
		}
		await(t, "workers join", func() bool { n, _, _ := o.counts(); return n == workers })
		var wg sync.WaitGroup
		var byOthers atomic.Int32
		for i := range 30 {
			kind, want := "body", fmt.Sprintf("TASK %d rows", i)
			if i%3 == 0 {
				kind, want = "archive", want+" in "+want
			}
			task, got := asking(kind, fmt.Sprintf("task %d", i), file)
			wg.Go(func() {
				if err := p.Do(t.Context(), task); err != nil {
					t.Error(err)
				}
				if *got != want && !(here && *got == "here") {
					t.Errorf("%q, want %q", *got, want)
				}
				if *got != "here" {
					byOthers.Add(1)
				}
			})
		}
		time.Sleep(200 * time.Millisecond)
		must.OK(t, never())
		wg.Wait()
		if byOthers.Load() == 0 {
			t.Error("this process has done all")
		}
		await(t, "of what was made nothing is left on the shelf", func() bool {
			// A list that is made while things are removed may wait for one of them for ever.
			soon, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			left, err := p.hub.shelf.store.List(soon)
			return err == nil && len(left) == 1 // the file
		})
		task, _ := asking("fail", "x")
		if err := p.Do(t.Context(), task); !here && (err == nil || !strings.HasSuffix(err.Error(), ": no paper")) {
			t.Errorf("%v", err)
		}
		p.Close()
		must.OK(t, leave())
	}
}

// What has been begun here is done here, what ctx ends is not waited for, and a task alone has
// all lanes of its worker.
func TestTasksHereAndAlone(t *testing.T) {
	o := &told{}
	options := o.options(t, true)
	p, err := ServeTasks(t.Context(), options, 2)
	must.OK(t, err)
	defer p.Close()
	task, got := asking("body", "x")
	task.Begun = true
	must.OK(t, p.Do(t.Context(), task))
	if *got != "here" {
		t.Errorf("%q", *got)
	}
	for _, begun := range []bool{true, false} {
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		task.Begun = begun
		task.Here = func(ctx context.Context) error {
			cancel(stopped)
			<-ctx.Done()
			return context.Cause(ctx)
		}
		if err := p.Do(ctx, task); !errors.Is(err, stopped) {
			t.Error(err)
		}
		cancel(nil)
	}
	options = o.options(t, true)
	options.WorkHere = false
	q, err := ServeTasks(t.Context(), options, 2)
	must.OK(t, err)
	defer q.Close()
	q.Alone(true)
	var at, most atomic.Int32
	leave := helping(t, options.Identity.Ticket(), 3, func(_ context.Context, o *Order) (Result, error) {
		if n := at.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(10 * time.Millisecond)
		at.Add(-1)
		return Result{Body: []byte{byte(o.Lanes)}}, nil
	})
	var wg sync.WaitGroup
	for range 6 {
		task, got := asking("body", "x")
		wg.Go(func() {
			if err := q.Do(t.Context(), task); err != nil || *got != "\x03" {
				t.Errorf("%q, %v", *got, err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at a time", most.Load())
	}
	must.OK(t, leave())
}

// A task with which as many workers go down as may is given up; what somebody says who has no
// part in it, or what is damaged, changes nothing.
func TestTasksThatTakeWorkersDown(t *testing.T) {
	o := &told{}
	options := o.options(t, false)
	options.WorkHere, options.LostAfter = false, 300*time.Millisecond
	p, err := ServeTasks(t.Context(), options, 1)
	must.OK(t, err)
	defer p.Close()
	c, err := connect(options.Identity.Ticket(), options.Identity.Address)
	must.OK(t, err)
	defer c.Close()
	task, _ := asking("body", "x")
	ended := make(chan error, 1)
	go func() { ended <- p.Do(t.Context(), task) }()
	to, err := c.SubscribeSync(c.NewInbox())
	must.OK(t, err)
	for i := range options.MostLost {
		w := newWorker(c, "doomed", options.LostAfter)
		answer, err := w.join(t.Context(), 1, class)
		must.OK(t, err)
		if !answer.Tasks || answer.Foundation != "" {
			t.Errorf("%+v", answer)
		}
		w.run = answer.Run
		b := beat{ID: w.id, Name: w.name, Lanes: 1}
		await(t, "it comes", func() bool {
			m, _ := w.pull(to, &note{}, idlePoll)
			if m == nil {
				return false
			}
			u, err := wire.Decode[unit](m.Data)
			must.OK(t, err)
			b.Holds = []int{u.Number}
			must.OK(t, c.Publish(beatAt+w.id, wire.Encode(&b)))
			if i == 0 { // of no task, and of this one but damaged
				w.say(&outcome{Run: w.run, Phase: 1, Number: u.Number + 1, Worker: w.id, What: unitDone}, 1)
				w.say(&outcome{Run: w.run, Phase: 1, Number: u.Number, Worker: w.id, What: unitDone,
					Body: wire.Encode(&result{Archive: "../x"})}, 2)
				must.OK(t, c.PublishMsg(&nats.Msg{Subject: m.Reply, Data: []byte("+ACK")}))
				u2, _ := w.pull(to, &note{}, 10*time.Second)
				u, err := wire.Decode[unit](u2.Data)
				must.OK(t, err)
				b.Holds = []int{u.Number}
				must.OK(t, c.Publish(beatAt+w.id, wire.Encode(&b)))
			}
			return true
		})
		await(t, "it is lost", func() bool { _, n, _ := o.counts(); return n == i+1 })
	}
	leave := helping(t, options.Identity.Ticket(), 1, shouting(0))
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "3 workers went down") {
		t.Errorf("%v", err)
	}
	must.OK(t, leave())
}

// What is sent is fetched once; the same file at its own path is not.
func TestFilesAreFetchedOnce(t *testing.T) {
	o := &told{}
	options := o.options(t, true)
	options.WorkHere = false
	p, err := ServeTasks(t.Context(), options, 1)
	must.OK(t, err)
	defer p.Close()
	dir := t.TempDir()
	var files []*sent
	for _, name := range []string{"same", "changed", "gone"} {
		path := filepath.Join(dir, name)
		must.OK(t, os.WriteFile(path, []byte("in "+name), 0o600))
		s, err := p.send(t.Context(), path)
		must.OK(t, err)
		files = append(files, &s)
	}
	must.OK(t, os.WriteFile(files[1].Path, []byte("of another"), 0o600))
	must.OK(t, os.Remove(files[2].Path))
	shelf, err := newShelf(t.Context(), p.hub.engine.conn, true)
	must.OK(t, err)
	b := &bench{}
	defer b.close()
	for turn := range 2 {
		for i, s := range files {
			path, err := b.file(t.Context(), s, shelf)
			must.OK(t, err)
			text, err := os.ReadFile(path)
			if must.OK(t, err); string(text) != "in "+filepath.Base(s.Path) || (path == s.Path) != (i == 0) {
				t.Errorf("%s is read from %s: %q", s.Path, path, text)
			}
			if turn == 0 { // from now on it is only at hand
				must.OK(t, shelf.store.Delete(t.Context(), s.Sum))
			}
		}
	}
	at, err := b.file(t.Context(), files[1], shelf)
	must.OK(t, err)
	b.begin() // it has been read by the series before, and is by this one
	_, err = b.file(t.Context(), files[1], shelf)
	must.OK(t, err)
	b.begin()
	entries, err := filepath.Glob(filepath.Join(b.dir.Path, "[^.]*"))
	must.OK(t, err)
	if len(entries) != 1 || entries[0] != at {
		t.Errorf("kept: %v, want %s", entries, at)
	}
	for _, bad := range []*sent{{Path: "x", Sum: "../x"}, {Path: "x", Sum: strings.Repeat("0", 64)}} {
		if path, err := b.file(t.Context(), bad, shelf); err == nil {
			t.Errorf("%+v is %s", bad, path)
		}
	}
}

// A task that no message holds, or what comes of it, is refused with that reason; one that
// cannot be sent is not waited for.
func TestTasksThatCannotBeSent(t *testing.T) {
	o := &told{}
	options := o.options(t, true)
	options.WorkHere = false
	p, err := ServeTasks(t.Context(), options, 1)
	must.OK(t, err)
	defer p.Close()
	large := make([]byte, mostMessage)
	leave := helping(t, options.Identity.Ticket(), 1, func(context.Context, *Order) (Result, error) { return Result{Body: large}, nil })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, body := range [][]byte{nil, large} {
		task, _ := asking("body", "")
		task.Body = body
		if err := p.Do(ctx, task); err == nil || !strings.Contains(err.Error(), "too large for a message") {
			t.Errorf("%d bytes, of which %d come: %v", len(body), len(large), err)
		}
	}
	must.OK(t, leave())
	p.hub.engine.conn.Close()
	task, _ := asking("body", "x")
	if err := p.Do(ctx, task); err == nil || ctx.Err() != nil {
		t.Errorf("a task that nobody has got: %v", err)
	}
}
