package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// shelf is the object store, for states and foundations by their names.
type shelf struct {
	store jetstream.ObjectStore
	conn  *nats.Conn
	ask   bool // the run for what is not there
}

// mostWait is how long something on the shelf is waited for.
const mostWait = time.Minute

func newShelf(ctx context.Context, conn *nats.Conn, ask bool) (*shelf, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	store, err := js.ObjectStore(ctx, shelfBucket)
	if err != nil {
		return nil, err
	}
	return &shelf{store, conn, ask}, nil
}

// Put puts something there, once.
func (s *shelf) Put(name string, b []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), mostWait)
	defer cancel()
	if _, err := s.store.GetInfo(ctx, name); err == nil {
		return nil
	}
	_, err := s.store.PutBytes(ctx, name, b)
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

// Open reads something long.
func (s *shelf) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	return s.store.Get(ctx, name)
}

// Get reads it.
func (s *shelf) Get(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	b, err := s.store.GetBytes(ctx, name)
	if !errors.Is(err, jetstream.ErrObjectNotFound) || !s.ask {
		return b, err
	}
	m, err := s.conn.RequestWithContext(ctx, askShelf, []byte(name))
	if err != nil {
		return nil, err
	}
	if len(m.Data) > 0 {
		return nil, fmt.Errorf("a state that the run does not have: %s", m.Data)
	}
	return s.store.GetBytes(ctx, name)
}
