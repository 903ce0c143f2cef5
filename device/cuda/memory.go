//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
	"weak"

	"example.com/kestrel/device/cuda/driver"
)

// Memory on a card belongs to an object here (an array, an index, kernels, data)
// and is given back by Free or once its owner is unreachable. Only the lane's own
// goroutine gives back.

// owned names what an object owns, 0 nothing. Numbers are not used again, unlike
// addresses.
type owned uint64

// holding is memory with an owner.
type holding struct {
	ptr  driver.Ptr
	gone func() bool // the owner is unreachable
}

// own makes memory the owner's.
func own[T any](l *lane, owner *T, p driver.Ptr) owned {
	l.lastOwn++
	id, w := l.lastOwn, weak.Make(owner)
	l.holdings[id] = holding{p, func() bool { return w.Value() == nil }}
	runtime.AddCleanup(owner, l.discard, id)
	return id
}

// discard notes memory to be given back; any goroutine may call it.
func (l *lane) discard(id owned) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = append(l.dead, id)
}

// release gives memory back, unless that has been done.
func (l *lane) release(ids ...owned) {
	for _, id := range ids {
		if h, ok := l.holdings[id]; ok {
			delete(l.holdings, id)
			l.card.Free(h.ptr)
		}
	}
}

// bury gives back what was discarded.
func (l *lane) bury() {
	l.mu.Lock()
	dead := l.dead
	l.dead = nil
	l.mu.Unlock()
	l.release(dead...)
}

// collect gives back all whose owner is unreachable. The collector's cleanups
// have their turn at some time; the weak pointers are nil when it is done.
func (l *lane) collect() {
	runtime.GC()
	for id, h := range l.holdings {
		if h.gone() {
			l.release(id)
		}
	}
}

// use keeps an argument of the operation under way reachable: its address is
// taken before the operation allocates, and the operation may be the last to use
// it. No operation has more arguments than the ring has places.
func (l *lane) use(x any) {
	l.using[l.used%len(l.using)] = x
	l.used++
}

// begins says that no operation is under way whose arguments must be kept.
func (l *lane) begins() { l.using = [len(l.using)]any{} }

// alloc reserves memory; where there is too little it first gives back what is
// no longer used.
func (l *lane) alloc(what string, bytes int) (driver.Ptr, error) {
	l.bury()
	p, err := l.card.Alloc(bytes)
	if errors.Is(err, driver.ErrOutOfMemory) {
		l.collect()
		p, err = l.card.Alloc(bytes)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return p, nil
}

// upload copies numbers to memory of their own. Where that fails nothing is
// reserved.
func upload[T driver.Number](l *lane, what string, src []T) (driver.Ptr, error) {
	var number T
	p, err := l.alloc(what, int(unsafe.Sizeof(number))*len(src))
	if err != nil {
		return 0, err
	}
	driver.CopyIn(l.card, p, src)
	if err := l.card.Err(); err != nil {
		l.card.Free(p)
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return p, nil
}
