package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// shelf is the object store, for states and foundations by their names.
type shelf struct {
	store jetstream.ObjectStore
	conn  *nats.Conn
	ask   bool // the run for what is not there

	mu    sync.Mutex
	moved Moved
}

// Moved counts what has gone to and from the shelf.
type Moved struct {
	Put, Got int // states, or other things
	Bytes    int64
	Seconds  float64 // that lanes have waited for it
}

// less is what has moved since.
func (m Moved) less(before Moved) Moved {
	return Moved{m.Put - before.Put, m.Got - before.Got, m.Bytes - before.Bytes, m.Seconds - before.Seconds}
}

// count counts something in that began to move a while ago; the bytes are what went to or fro.
func (s *shelf) count(began time.Time, put, got int, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved.Put += put
	s.moved.Got += got
	s.moved.Bytes += int64(bytes)
	s.moved.Seconds += time.Since(began).Seconds()
}

// Moved is what has gone to and fro until now.
func (s *shelf) Moved() Moved {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}

// mostWait is how long something on the shelf is waited for, and leastSpeed in bytes a second
// the slowest network over which what is large comes in time.
const (
	mostWait   = time.Minute
	leastSpeed = 1 << 19
)

// patience is how long so many bytes are waited for.
func patience(bytes uint64) time.Duration {
	return mostWait + time.Duration(float64(bytes)/leastSpeed*float64(time.Second))
}

func newShelf(ctx context.Context, conn *nats.Conn, ask bool) (*shelf, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	store, err := js.ObjectStore(ctx, shelfBucket)
	if err != nil {
		return nil, err
	}
	return &shelf{store: store, conn: conn, ask: ask}, nil
}

// Put puts something there, once.
func (s *shelf) Put(name string, b []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience(uint64(len(b))))
	defer cancel()
	began := time.Now()
	if _, err := s.store.GetInfo(ctx, name); err == nil {
		return nil
	}
	_, err := s.store.PutBytes(ctx, name, b)
	s.count(began, 1, 0, len(b))
	return err
}

// PutFile puts a file there, once.
func (s *shelf) PutFile(ctx context.Context, name, path string) error {
	if _, err := s.store.GetInfo(ctx, name); err == nil {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = s.store.Put(ctx, jetstream.ObjectMeta{Name: name}, f)
	return err
}

// coming is something long that is read, in as much time as it may take.
type coming struct {
	io.ReadCloser
	size uint64
	end  context.CancelFunc
}

func (c *coming) Close() error {
	defer c.end()
	return c.ReadCloser.Close()
}

// Open reads something long.
func (s *shelf) Open(ctx context.Context, name string) (*coming, error) {
	asking, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	info, err := s.store.GetInfo(asking, name)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithTimeout(ctx, patience(info.Size)) // without a deadline it would end after some seconds
	r, err := s.store.Get(ctx, name)
	if err != nil {
		end()
		return nil, err
	}
	return &coming{r, info.Size, end}, nil
}

// Get reads it.
func (s *shelf) Get(ctx context.Context, name string) (b []byte, err error) {
	began := time.Now()
	defer func() { s.count(began, 0, 1, len(b)) }()
	b, err = s.read(ctx, name)
	if !errors.Is(err, jetstream.ErrObjectNotFound) || !s.ask {
		return b, err
	}
	asking, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	m, err := s.conn.RequestWithContext(asking, askShelf, []byte(name))
	if err != nil {
		return nil, err
	}
	if len(m.Data) > 0 {
		return nil, fmt.Errorf("a state that the run does not have: %s", m.Data)
	}
	return s.read(ctx, name)
}

// read reads what is there.
func (s *shelf) read(ctx context.Context, name string) ([]byte, error) {
	r, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := bytes.NewBuffer(make([]byte, 0, r.size+bytes.MinRead))
	_, err = b.ReadFrom(r)
	return b.Bytes(), err
}
