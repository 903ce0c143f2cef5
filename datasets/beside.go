package datasets

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"example.com/kestrel/datasets/elsewhere"
	"example.com/kestrel/internal/guard"
)

// beside runs work on a goroutine of its own and returns what it returns, or the
// end of ctx where that comes first: a disk far away or a pipe may never answer.
// What work brings after that goes to late, if there is one.
func beside[T any](ctx context.Context, work func() (T, error), late func(T)) (T, error) {
	var none T
	if ctx.Done() == nil {
		return work()
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		a.err = guard.Do(func() (err error) { a.value, err = work(); return err })
		answers <- a
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		go func() {
			if a := <-answers; a.err == nil && late != nil {
				late(a.value)
			}
		}()
		return none, ctx.Err()
	}
}

// besideBytes is how much is read at once.
const besideBytes = 1 << 16

// besideReader reads a file beside whoever reads from it, who is let go when ctx
// ends.
type besideReader struct {
	ctx  context.Context
	file io.Reader
	buf  []byte // left to the goroutine that reads when ctx ends
	rest []byte // of buf, not handed on yet
	err  error
}

func newBesideReader(ctx context.Context, file io.Reader) *besideReader {
	return &besideReader{ctx: ctx, file: file, buf: make([]byte, besideBytes)}
}

// Read implements io.Reader.
func (b *besideReader) Read(p []byte) (int, error) {
	if len(b.rest) == 0 && b.err == nil {
		n, err := beside(b.ctx, func() (int, error) {
			n, err := b.file.Read(b.buf)
			if n > 0 && err == io.EOF {
				err = nil // it comes again
			}
			return n, err
		}, nil)
		b.rest, b.err = b.buf[:n], err
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	if n == 0 && len(p) > 0 {
		return 0, b.err
	}
	return n, nil
}

// errPipe is why a pipe is not read where a regular file is needed.
var errPipe = errors.New("is a pipe: a table is read more than once; write it to a file first")

// open opens a file that is read more than once: a pipe is refused before it is
// opened, which would wait for whoever writes into it.
func open(ctx context.Context, path string) (*os.File, error) {
	file, _, err := openAny(ctx, path, false)
	return file, err
}

// openAny opens a file, or if the caller reads it only once a pipe, and says
// whether it is one.
func openAny(ctx context.Context, path string, pipes bool) (file *os.File, pipe bool, err error) {
	if path == StandardInput {
		if !pipes {
			return nil, false, errPipe
		}
		return os.Stdin, true, nil
	}
	at, err := elsewhere.Path(ctx, path)
	if err != nil {
		return nil, false, err
	}
	file, err = beside(ctx, func() (*os.File, error) {
		info, err := os.Stat(at)
		if err != nil {
			return nil, err
		}
		if pipe := isPipe(info); pipe && !pipes {
			return nil, errPipe
		}
		return os.Open(at)
	}, func(f *os.File) { f.Close() })
	if err != nil {
		return nil, false, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, false, err
	}
	elsewhere.Note(ctx, path)
	return file, isPipe(info), nil
}

func isPipe(info fs.FileInfo) bool { return info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 }
