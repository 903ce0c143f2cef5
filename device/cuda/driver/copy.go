//go:build cuda

package driver

/*
#include <cuda.h>
#include "calls.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// Number is what copies are made of.
type Number interface {
	~float64 | ~float32 | ~int64 | ~uint64 | ~int32 | ~uint32 | ~uint8
}

// The card reads host memory that is locked to its place while Go goes on. So
// what is copied in goes through a ring of such memory, in segments; a segment
// is written again when the card has passed the event recorded at its end.
//
// What is copied out comes in pieces, of which the card writes one while the
// host takes another.
const (
	segments     = 8
	segmentBytes = 1 << 19

	pieces     = 2
	pieceBytes = 1 << 22
)

// staging is a card's memory for copies, made at the first.
type staging struct {
	memory []byte // segments·segmentBytes in, then pieces·pieceBytes out
	passed [segments + pieces]cu.Event
	waits  [segments]bool // recorded and not waited for
	at     int            // segment being filled
	used   int            // bytes of it
}

// open makes the memory and the events. The context must be current.
func (s *staging) open() error {
	var p unsafe.Pointer
	const size = segments*segmentBytes + pieces*pieceBytes
	if r := C.cuMemHostAlloc(&p, size, 0); r != C.CUDA_SUCCESS {
		return &Error{Code: int(r)}
	}
	for i := range s.passed {
		var err error
		if s.passed[i], err = cu.MakeEvent(cu.DisableTiming); err != nil {
			for k := range i {
				cu.DestroyEvent(&s.passed[k])
			}
			cu.MemFreeHost(p)
			*s = staging{}
			return err
		}
	}
	s.memory = unsafe.Slice((*byte)(p), size) // last: it says that all is there
	return nil
}

// close gives all back. The context must be current and the card idle.
func (s *staging) close() {
	if s.memory == nil {
		return
	}
	for i := range s.passed {
		if s.passed[i] != (cu.Event{}) {
			cu.DestroyEvent(&s.passed[i])
		}
	}
	cu.MemFreeHost(unsafe.Pointer(&s.memory[0]))
	*s = staging{}
}

func (c *Card) openStaging() error {
	if c.staging.memory != nil {
		return nil
	}
	return c.do("locking host memory", c.staging.open)
}

// reserve returns a piece of the ring, of at most n bytes.
func (c *Card) reserve(n int) ([]byte, error) {
	s := &c.staging
	n = min(n, segmentBytes)
	if s.used > 0 && s.used+n > segmentBytes {
		if err := c.do("recording an event", func() error { return s.passed[s.at].Record(c.stream) }); err != nil {
			return nil, err
		}
		s.waits[s.at] = true
		s.at, s.used = (s.at+1)%segments, 0
		if s.waits[s.at] {
			if err := c.do("waiting for a copy", s.passed[s.at].Synchronize); err != nil {
				return nil, err
			}
			s.waits[s.at] = false
		}
	}
	from := s.at*segmentBytes + s.used
	s.used += (n + 15) &^ 15
	return s.memory[from : from+n], nil
}

// CopyIn copies src to dst. It returns when src may be changed again, which is
// before the card has it.
func CopyIn[T Number](c *Card, dst Ptr, src []T) {
	c.issue()
	c.copyIn(dst, bytesOf(src))
}

// CopyOut waits until everything asked for is done and copies src to dst. It
// returns the first failure since the last CopyOut or Sync; then dst is
// undefined.
func CopyOut[T Number](c *Card, dst []T, src Ptr) error { return c.copyOut(bytesOf(dst), src) }

func bytesOf[T Number](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

func (c *Card) copyIn(dst Ptr, src []byte) {
	if len(src) == 0 || c.err != nil {
		return
	}
	if c.err = c.openStaging(); c.err != nil {
		return
	}
	for len(src) > 0 && c.err == nil {
		piece, err := c.reserve(len(src))
		if err != nil {
			c.err = err
			return
		}
		n := copy(piece, src)
		c.keep("copying in", C.kestrel_copy_in(c.context, c.queue, C.CUdeviceptr(dst), unsafe.Pointer(&piece[0]), C.size_t(n)))
		src, dst = src[n:], dst.Add(n)
	}
}

func (c *Card) copyOut(dst []byte, src Ptr) error {
	c.issue()
	if len(dst) == 0 || c.err != nil {
		return c.Sync()
	}
	if c.err = c.openStaging(); c.err != nil {
		return c.Sync()
	}
	asked, had := 0, 0 // bytes
	for k := 0; had < len(dst); k++ {
		for j := asked / pieceBytes; asked < len(dst) && j < k+pieces; j++ {
			n := min(pieceBytes, len(dst)-asked)
			c.askOut(j%pieces, src.Add(asked), n)
			asked += n
		}
		if c.err == nil && asked == len(dst) && asked-had <= pieceBytes {
			c.err = c.Sync() // the last: nothing is left to do meanwhile
		} else if c.err == nil {
			c.err = c.do("copying out", c.staging.passed[segments+k%pieces].Synchronize)
		}
		if c.err != nil {
			return c.Sync()
		}
		had += takePiece(dst[had:], c.staging.piece(k%pieces))
	}
	return nil
}

// askOut asks for n bytes from src on in a piece.
func (c *Card) askOut(piece int, src Ptr, n int) {
	if c.err != nil {
		return
	}
	c.keep("copying out", C.kestrel_copy_out(c.context, c.queue, unsafe.Pointer(&c.staging.piece(piece)[0]), C.CUdeviceptr(src), C.size_t(n)))
	if c.err == nil {
		c.err = c.do("recording an event", func() error { return c.staging.passed[segments+piece].Record(c.stream) })
	}
}

// piece is where what is copied out comes to.
func (s *staging) piece(k int) []byte {
	return s.memory[segments*segmentBytes+k*pieceBytes:][:pieceBytes]
}

// takePiece copies what dst has room for. Memory that is fresh is given by the
// operating system page by page as it is written, which several threads do
// faster than one.
func takePiece(dst, piece []byte) int {
	n := min(len(dst), len(piece))
	const least = pieceBytes / 4
	var wg sync.WaitGroup
	for from := least; from < n; from += least {
		to := min(from+least, n)
		wg.Go(func() { copy(dst[from:to], piece[from:to]) })
	}
	copy(dst[:min(least, n)], piece)
	wg.Wait()
	return n
}

// CopyDevice copies bytes from src to dst, both on the card, not overlapping.
func (c *Card) CopyDevice(dst, src Ptr, bytes int) {
	c.issue()
	if bytes > 0 && c.err == nil {
		c.keep("copying", C.kestrel_copy_device(c.context, c.queue, C.CUdeviceptr(dst), C.CUdeviceptr(src), C.size_t(bytes)))
	}
}

// Memset sets every one of bytes bytes at dst.
func (c *Card) Memset(dst Ptr, value byte, bytes int) {
	if bytes == 0 || c.err != nil {
		return
	}
	if c.gathered.on {
		c.gathered.gather("setting memory", [C.kestrel_call_words]uint64{0, 0, uint64(dst), uint64(bytes), uint64(value), 0}, nil)
	} else {
		c.keep("setting memory", C.kestrel_memset(c.context, c.queue, C.CUdeviceptr(dst), C.uchar(value), C.size_t(bytes)))
	}
}
