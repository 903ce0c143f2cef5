package datasets

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.com/kestrel/datasets/elsewhere"
	"example.com/kestrel/datasets/sheets"
)

// dataEnv names the variable that holds the folder of the user's data.
const dataEnv = "KESTREL_DATA"

// Resolve finds a data file: an absolute path as it is, any other in the given
// folders, then in the working directory, then in the folder named by
// $KESTREL_DATA. The error of a file that is nowhere says where it was looked
// for and wraps fs.ErrNotExist.
func Resolve(path string, dirs []string) (string, error) {
	return find(context.Background(), path, dirs)
}

// find is Resolve where files may lie elsewhere, see package elsewhere.
func find(ctx context.Context, path string, dirs []string) (string, error) {
	return resolve(path, dirs, func(c string) error {
		info, err := elsewhere.Stat(ctx, c)
		if err == nil && info.IsDir() {
			return errFolder
		}
		return err
	})
}

var errFolder = errors.New("is a folder")

// resolve is Resolve with a test of its own, whose error wraps fs.ErrNotExist
// where the next candidate is to be tried.
func resolve(path string, dirs []string, test func(candidate string) error) (string, error) {
	if path == StandardInput {
		return "", errors.New("data from standard input (-) are read only once, by kestrel run and predict; write them to a file first")
	}
	var tried []string
	candidates := []string{path}
	if !filepath.IsAbs(path) {
		candidates = candidates[:0]
		for _, d := range dirs {
			candidates = append(candidates, filepath.Join(d, path))
		}
		candidates = append(candidates, filepath.Clean(path))
		if d := os.Getenv(dataEnv); d != "" {
			candidates = append(candidates, filepath.Join(d, path))
		}
	}
	for _, c := range candidates {
		whole, _ := splitSheet(c)
		err := test(whole)
		switch {
		case err == errFolder:
			return "", fmt.Errorf("data file %q %w", c, err)
		case err == nil:
			return c, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("data file %q: %w", c, err)
		}
		if abs, err := filepath.Abs(c); err == nil {
			c = abs
		}
		seen := false
		for _, t := range tried {
			seen = seen || t == c
		}
		if !seen {
			tried = append(tried, c)
		}
	}
	hint := ""
	if os.Getenv(dataEnv) == "" && !filepath.IsAbs(path) {
		hint = "; $" + dataEnv + " may name the folder of the data"
	}
	return "", &missingFileError{path: path, tried: tried, hint: hint}
}

type missingFileError struct {
	path  string
	tried []string
	hint  string
}

func (e *missingFileError) Error() string {
	return fmt.Sprintf("data file %q not found; looked for %s%s", e.path, strings.Join(e.tried, ", "), e.hint)
}

func (e *missingFileError) Unwrap() error { return fs.ErrNotExist }

// source is an open data file: it reads as plain text whatever the
// compression, and hashes the bytes as they are stored.
type source struct {
	io.Reader
	file    *os.File // nil: what is read is in memory
	stored  *counter // the file, hashed
	size    int64    // bytes of the file, 0 where that is not known
	sum     hash.Hash
	zstd    *zstd.Decoder
	pipe    bool // it can be read only once
	unnamed int  // lines of text behind those of the file: −1 where the names of the columns have none of their own

	unpacker *unpacker // nil if it is not compressed
}

// Bounds of what is unpacked. Tables of numbers shrink to a tenth, regular ones
// to a fiftieth; a file made to fill the memory shrinks a thousandfold and more.
const (
	maxExpansion = 250
	anyExpansion = 64 << 20  // bytes of text that may be unpacked from any
	maxWindow    = 128 << 20 // bytes, as the zstd program's own limit
)

// refusedError is why data that may well be whole are not decompressed.
type refusedError string

func (e refusedError) Error() string { return string(e) }

// unpacker says of the errors of a decompressor what they mean, and stops one
// that unpacks too much.
type unpacker struct {
	io.Reader
	stored   *counter
	unpacked int64
	ahead    func() error // unpacks the file from its beginning, to see whether it will be too much; nil if that cannot be
}

// A file that has unpacked to more bytes than suspicious, and to more than
// suspiciousExpansion times what has been read of it, is looked through before it
// is read on: values take several times the memory of their text.
const (
	suspicious          = 1 << 20
	suspiciousExpansion = 50
)

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	var refused refusedError
	if err != nil && err != io.EOF && !errors.As(err, &refused) && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("the compressed data are damaged or cut off: %w", err)
	}
	u.unpacked += int64(n)
	if u.unpacked > suspicious && u.unpacked > suspiciousExpansion*u.stored.n && u.ahead != nil {
		look := u.ahead
		u.ahead = nil
		if err := look(); err != nil {
			return 0, err
		}
	}
	if u.unpacked > anyExpansion && u.unpacked > maxExpansion*u.stored.n {
		return 0, errBomb
	}
	return n, err
}

var errBomb = refusedError(fmt.Sprintf("the compressed data unpack to more than %d times their size; "+
	"if that is right, unpack the file first", maxExpansion))

// lookThrough unpacks a file from its beginning, as far as whatever it holds may
// be unpacked, and keeps nothing of it.
func lookThrough(ctx context.Context, path string) error {
	src, err := openSource(ctx, path, false)
	if err != nil {
		return err
	}
	defer src.Close()
	if src.unpacker == nil {
		return nil // it has been replaced by another
	}
	src.unpacker.ahead = nil
	_, err = io.CopyN(io.Discard, src, anyExpansion+1)
	if errors.Is(err, errBomb) || ctx.Err() != nil {
		return err
	}
	return nil // whatever else is wrong is found when it is read
}

// counter counts what is read.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// openSource opens a file and recognises gzip, xz, zstandard and UTF-16 by their
// first bytes. A pipe is opened only if the caller reads it once. Whoever reads is
// let go when ctx ends.
func openSource(ctx context.Context, path string, pipes bool) (*source, error) {
	whole, sheet := splitSheet(path)
	f, pipe, err := openAny(ctx, whole, pipes)
	if err == errPipe {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	if err != nil {
		return nil, err
	}
	s := &source{file: f, sum: sha256.New(), pipe: pipe}
	in := newBesideReader(ctx, f)
	var magic [6]byte
	n, err := io.ReadFull(in, magic[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		f.Close()
		return nil, err
	}
	s.stored = &counter{Reader: io.TeeReader(io.MultiReader(bytes.NewReader(magic[:n]), in), s.sum)}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		s.size = info.Size()
	}
	converted, err := s.convert(ctx, magic[:n], sheet)
	if err == nil && !converted {
		err = s.decompress(magic[:n])
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	if s.unpacker != nil && !pipe {
		s.unpacker.ahead = func() error { return lookThrough(ctx, path) }
	}
	return s, nil
}

var errSpreadsheet = errors.New("is an old spreadsheet (.xls); save it as .xlsx or CSV")

func (s *source) decompress(magic []byte) (err error) {
	is := func(prefix string) bool { return bytes.HasPrefix(magic, []byte(prefix)) }
	packed := s.stored
	switch {
	case is("\x1f\x8b"):
		s.Reader, err = gzip.NewReader(packed)
	case is(magicXZ):
		s.Reader, err = newXZReader(packed)
	case is("\x28\xb5\x2f\xfd"):
		s.zstd, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		s.Reader = s.zstd
	case is(string(sheets.XLS[:4])):
		return errSpreadsheet
	default:
		s.Reader = s.stored
		if s.rowsOf(magic, s.stored) {
			return nil
		}
		if text := newUTF16Text(s.stored, magic); text != nil {
			s.Reader = text
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot be decompressed: %w", err)
	}
	s.unpacker = &unpacker{Reader: s.Reader, stored: packed}
	unpacked := bufio.NewReaderSize(s.unpacker, 16) // larger reads pass it by
	s.Reader = unpacked
	begin, _ := unpacked.Peek(6) // its error comes again
	if s.rowsOf(begin, unpacked) {
		return nil
	}
	if text := newUTF16Text(unpacked, begin); text != nil {
		s.Reader = text
	}
	return nil
}

// sha256 reads the rest of the file and returns the hash of all of it in
// hexadecimal.
func (s *source) sha256() (string, error) {
	if _, err := io.Copy(io.Discard, s.stored); err != nil {
		return "", err
	}
	return hex.EncodeToString(s.sum.Sum(nil)), nil
}

func (s *source) Close() error {
	if s.zstd != nil {
		s.zstd.Close()
	}
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
