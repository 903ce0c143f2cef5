package datasets

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// maxDictionary is the largest dictionary of an xz file that is read, in bytes:
// that of xz -9. A file may ask for 4 GiB.
const maxDictionary = 64 << 20

const (
	magicXZ    = "\xfd7zXZ\x00"
	magicXZEnd = "YZ"
	lzma2      = 0x21 // the one filter that texts are packed with
)

var errXZ = errors.New("this is not how an xz file continues")

// xzReader unpacks .xz (The .xz File Format, version 1.2.1): streams of blocks,
// each of LZMA2 alone. The container is read here and not by the package xz,
// which takes the memory that a block asks for, whatever that is, and of which a
// block may begin where nobody else can tell.
type xzReader struct {
	r     *bufio.Reader
	flags [2]byte // of the stream
	done  []xzBlock
	block *xzBlock // being read; nil between blocks
	err   error    // that ended it
}

// xzBlock is a block: as the index has it when it is over.
type xzBlock struct {
	packed, clear int64 // bytes: head, chunks and checksum, without padding; in clear

	data      *lzma.Reader2
	stored    *counter // below data
	sum       hash.Hash
	wantClear int64 // −1: not said
	wantData  int64 // bytes of chunks; −1: not said
	head      int64
}

// newXZReader reads the head of the first stream.
func newXZReader(r io.Reader) (*xzReader, error) {
	x := &xzReader{r: bufio.NewReaderSize(r, 1<<16)}
	return x, x.streamHead()
}

// Read implements io.Reader.
func (x *xzReader) Read(p []byte) (int, error) {
	n := 0
	for n == 0 && len(p) > 0 && x.err == nil {
		if x.block == nil {
			x.err = x.nextBlock()
			continue
		}
		b := x.block
		n, x.err = b.data.Read(p)
		b.clear += int64(n)
		b.sum.Write(p[:n])
		if x.err == io.EOF {
			x.err = x.endBlock()
		}
	}
	return n, x.err
}

// take reads so many bytes.
func (x *xzReader) take(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(x.r, b)
	return b, whole(err)
}

// whole turns the end of a file where it must not end into an error.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// sealed reports whether the last four bytes are the checksum of the others from
// the one numbered first on.
func sealed(b []byte, first int) bool {
	end := len(b) - 4
	return crc32.ChecksumIEEE(b[first:end]) == binary.LittleEndian.Uint32(b[end:])
}

// streamHead: 6 bytes of magic, 2 of flags, 4 of their checksum.
func (x *xzReader) streamHead() error {
	b, err := x.take(12)
	if err != nil {
		return err
	}
	if string(b[:6]) != magicXZ || !sealed(b, 6) || b[6] != 0 {
		return fmt.Errorf("head of a stream: %w", errXZ)
	}
	x.flags = [2]byte(b[6:8])
	x.done = x.done[:0]
	_, err = x.newSum()
	return err
}

// newSum returns the checksum of the stream's blocks.
func (x *xzReader) newSum() (hash.Hash, error) {
	switch x.flags[1] {
	case 0:
		return noSum{}, nil
	case 1:
		return crc32.NewIEEE(), nil
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA)), nil
	case 10:
		return sha256.New(), nil
	}
	return nil, refusedError(fmt.Sprintf("its checksum is of an unknown kind, %d", x.flags[1]))
}

// noSum is the checksum of a stream that has none.
type noSum struct{ hash.Hash }

func (noSum) Write(p []byte) (int, error) { return len(p), nil }
func (noSum) Sum(b []byte) []byte         { return b }
func (noSum) Size() int                   { return 0 }

// nextBlock begins the next block of this stream or of the next one; io.EOF if
// there is none.
func (x *xzReader) nextBlock() error {
	for {
		size, err := x.r.ReadByte()
		if err != nil {
			return whole(err)
		}
		if size > 0 {
			return x.begin(size)
		}
		if err := x.streamEnd(); err != nil {
			return err
		}
		// Zeros by fours may follow, and other streams.
		for {
			next, err := x.r.Peek(4)
			if err == io.EOF && len(next) == 0 {
				return io.EOF
			}
			if err != nil {
				return whole(err)
			}
			if !bytes.Equal(next, make([]byte, 4)) {
				break
			}
			x.r.Discard(4)
		}
		if err := x.streamHead(); err != nil {
			return err
		}
	}
}

// begin reads the head of a block, of which the first byte is the size: in units
// of 4 bytes, less one. It has flags, two sizes that may be there, the filters,
// padding and a checksum.
func (x *xzReader) begin(size byte) error {
	rest, err := x.take((int(size)+1)*4 - 1)
	if err != nil {
		return err
	}
	head := append([]byte{size}, rest...)
	if !sealed(head, 0) {
		return fmt.Errorf("head of a block: %w", errXZ)
	}
	const more, packed, clear, unknown = 0x03, 0x40, 0x80, 0x3c
	b := &xzBlock{head: int64(len(head)), wantData: -1, wantClear: -1}
	in := bytes.NewReader(head[2 : len(head)-4])
	flags := head[1]
	for _, s := range []struct {
		flag byte
		to   *int64
	}{{packed, &b.wantData}, {clear, &b.wantClear}} {
		if flags&s.flag != 0 {
			v, err := binary.ReadUvarint(in)
			if err != nil || int64(v) < 0 {
				return fmt.Errorf("sizes of a block: %w", errXZ)
			}
			*s.to = int64(v)
		}
	}
	if flags&unknown != 0 {
		return fmt.Errorf("flags of a block: %w", errXZ)
	}
	filter := make([]byte, 3)
	if _, err := io.ReadFull(in, filter); err != nil || flags&more != 0 || filter[0] != lzma2 || filter[1] != 1 {
		return refusedError("it is packed with other filters than LZMA2; pack it without")
	}
	dictionary, err := lzma.DecodeDictCap(filter[2])
	if err != nil {
		return fmt.Errorf("dictionary of a block: %w", errXZ)
	}
	if dictionary > maxDictionary {
		return refusedError(fmt.Sprintf("it asks for a dictionary of %d MiB, xz -9 for %d; "+
			"unpack the file first, or pack it with xz -9 or less", dictionary>>20, maxDictionary>>20))
	}
	if b.sum, err = x.newSum(); err != nil {
		return err
	}
	b.stored = &counter{Reader: x.r}
	// A dictionary is taken for every block: for a short one no more than it fills.
	begin, _ := x.r.Peek(x.r.Size()) // its error comes again
	if clear, whole := clearBytes(begin); whole {
		dictionary = min(dictionary, max(clear, lzma.MinDictCap))
	}
	if b.data, err = (lzma.Reader2Config{DictCap: int(dictionary)}).NewReader2(b.stored); err != nil {
		return err
	}
	x.block = b
	return nil
}

// clearBytes adds up what the chunks of LZMA2 at the start of a block have in clear;
// whole is false if they go on behind what is there.
func clearBytes(b []byte) (clear int64, whole bool) {
	const head = 6 // bytes, at most: control, size in clear and packed, properties
	for len(b) > 0 {
		control := b[0]
		if control == 0 {
			return clear, true
		}
		if len(b) < head {
			return clear, false
		}
		size := int64(b[1])<<8 + int64(b[2]) + 1
		next := size + 3 // a chunk that is stored
		if control >= 0x80 {
			size += int64(control&0x1f) << 16
			next = int64(b[3])<<8 + int64(b[4]) + 1 + 5
			if control >= 0xc0 {
				next++
			}
		}
		clear += size
		b = b[min(next, int64(len(b))):]
	}
	return clear, false
}

// endBlock reads what follows the chunks of a block: zeros up to a multiple of 4
// bytes, and the checksum.
func (x *xzReader) endBlock() error {
	b := x.block
	x.block = nil
	if b.wantClear >= 0 && b.wantClear != b.clear || b.wantData >= 0 && b.wantData != b.stored.n {
		return errors.New("a block has another size than it says")
	}
	padding := int(-b.stored.n & 3)
	tail, err := x.take(padding + b.sum.Size())
	if err != nil {
		return err
	}
	sum := b.sum.Sum(nil)
	if _, ok := b.sum.(hash.Hash32); ok { // these are written the other way round
		sum = reversed(sum)
	} else if _, ok := b.sum.(hash.Hash64); ok {
		sum = reversed(sum)
	}
	if !bytes.Equal(tail[:padding], make([]byte, padding)) || !bytes.Equal(tail[padding:], sum) {
		return errors.New("a block has another checksum than it says")
	}
	x.done = append(x.done, xzBlock{packed: b.head + b.stored.n + int64(b.sum.Size()), clear: b.clear})
	return nil
}

func reversed(b []byte) []byte {
	out := make([]byte, len(b))
	for i, v := range b {
		out[len(b)-1-i] = v
	}
	return out
}

// streamEnd reads the index, of which the first byte, a zero, has been read, and
// the foot of a stream, and compares them with what was there.
func (x *xzReader) streamEnd() error {
	index := &summing{r: x.r, read: []byte{0}}
	number := func() (int64, error) {
		v, err := binary.ReadUvarint(index)
		if err == nil && int64(v) < 0 {
			err = errXZ
		}
		return int64(v), err
	}
	n, err := number()
	if err == nil && n != int64(len(x.done)) {
		err = errXZ
	}
	for i := 0; err == nil && i < len(x.done); i++ {
		var packed, clear int64
		if packed, err = number(); err == nil {
			clear, err = number()
		}
		if err == nil && (packed != x.done[i].packed || clear != x.done[i].clear) {
			err = errXZ
		}
	}
	for err == nil && len(index.read)%4 != 0 {
		var zero byte
		if zero, err = index.ReadByte(); err == nil && zero != 0 {
			err = errXZ
		}
	}
	size := len(index.read) // of the index without its checksum
	var foot []byte
	if err == nil {
		foot, err = x.take(4 + 12)
	}
	if err != nil {
		return fmt.Errorf("index: %w", whole(err))
	}
	back := binary.LittleEndian.Uint32(foot[8:])
	switch {
	case crc32.ChecksumIEEE(index.read) != binary.LittleEndian.Uint32(foot):
	case crc32.ChecksumIEEE(foot[8:14]) != binary.LittleEndian.Uint32(foot[4:]):
	case (int64(back)+1)*4 != int64(size)+4 || [2]byte(foot[12:14]) != x.flags || string(foot[14:]) != magicXZEnd:
	default:
		return nil
	}
	return fmt.Errorf("end of a stream: %w", errXZ)
}

// summing keeps what is read byte by byte.
type summing struct {
	r    io.ByteReader
	read []byte
}

// ReadByte implements io.ByteReader.
func (s *summing) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	if err == nil {
		s.read = append(s.read, b)
	}
	return b, err
}
