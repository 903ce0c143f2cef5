//go:build cuda

package cuda

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/source"
)

// lane is one card's queue.
type lane struct {
	number  int
	card    *driver.Card
	library map[string]driver.Function
	codes   *codes
	narrow  bool // the card has no shared memory for forWide
	tall    bool // products may take tiles of 128 x 64
	shared  int  // bytes that a block can ask for on every card of the device
	inverts int  // the least size that SolveBoth inverts, see leastInverted
	places  int  // blocks of cholesky_panel that run at once; beyond, the triangles take a launch of their own
	tell    func(notice string)

	lists   map[string]driver.Ptr // lists of members that are on the card
	key     []byte
	last    []int // the list asked for last
	lastPtr driver.Ptr

	args    []uint64
	pending pending
	serial  int   // counts what may have changed arrays
	err     error // first failure that the card does not know of

	step repeating

	partials, diagonals, status, counts, seen, etas, fresh, inverses scratch

	holdings map[owned]holding
	lastOwn  owned
	using    [32]any // see use
	used     int

	mu   sync.Mutex
	dead []owned // whose owner was collected
}

// scratch is memory that operations share.
type scratch struct {
	ptr   driver.Ptr
	bytes int
}

func openLane(drv *driver.Driver, number, card int, o Options, tell func(notice string)) (*lane, error) {
	c, err := drv.Card(card)
	if err != nil {
		return nil, err
	}
	l := &lane{number: number, card: c, tell: tell, inverts: leastInverted, lists: map[string]driver.Ptr{}, holdings: map[owned]holding{}}
	if err := l.load(o); err != nil {
		return nil, cmp.Or(err, c.Close())
	}
	return l, nil
}

// load compiles the library and finds its kernels. Where there is no compiler, or
// what it makes is of no use to this driver, the library compiled beforehand
// serves, with the interpreter, unless code must be generated.
func (l *lane) load(o Options) error {
	options := slices.Concat(source.Options, o.Defines)
	m, err := l.card.Compile("kestrel.cu", source.Library(), options...)
	serves := o.Generate != GenerateAlways && !errors.Is(err, driver.ErrLost) && !errors.Is(err, driver.ErrOutOfMemory)
	if reason := err; errors.Is(err, driver.ErrNoCompiler) || err != nil && serves {
		if m, err = l.loadImage(reason); err == nil && o.Generate != GenerateNever {
			l.tell(interpreted("all expressions", reason))
		}
		o.Generate = GenerateNever
	}
	if err != nil {
		return fmt.Errorf("kernels for %s: %w", l.card.Info(), err)
	}
	l.codes = &codes{card: l.card, options: options, when: o.Generate, tell: l.tell, places: map[string]place{}}
	l.library = map[string]driver.Function{}
	for _, name := range source.Names() {
		if l.library[name], err = m.Function(name); err != nil {
			return err
		}
	}
	l.shared, l.places = l.card.Info().SharedPerBlock, panelsResident*l.card.Info().Multiprocessors
	l.narrow = l.shared < wideShared
	l.tall = !l.narrow
	for name, bytes := range sharedBytes {
		if bytes <= 48<<10 || l.narrow && slices.Contains(forWide, name) {
			continue
		}
		if err := l.library[name].SetSharedLimit(bytes); err != nil {
			return err
		}
	}
	for _, name := range []string{"small_adam", "small_natural"} {
		if err := l.library[name].SetSharedLimit(min(mostSmall(smallInducing, smallRows), l.shared-smallOwn)); err != nil {
			return err
		}
	}
	return nil
}

// loadImage takes the library as it was compiled beforehand, for want of a
// compiler that serves.
func (l *lane) loadImage(want error) (driver.Module, error) {
	image, err := source.Image(l.card.Info().Arch())
	if err != nil {
		return driver.Module{}, fmt.Errorf("%w; %w", want, err)
	}
	m, err := l.card.Load(image)
	if err != nil {
		err = fmt.Errorf("%w; %w", want, err)
	}
	return m, err
}

// fail keeps the first failure until Read or Sync.
func (l *lane) fail(err error) { l.err = cmp.Or(l.err, err) }

// failure returns what is kept and forgets it.
func (l *lane) failure() error {
	err := l.err
	l.err = nil
	return err
}

// grow returns scratch memory of at least so many bytes, 0 where there is none.
func (l *lane) grow(s *scratch, bytes int) driver.Ptr {
	if bytes <= s.bytes {
		return s.ptr
	}
	l.card.Free(s.ptr)
	*s = scratch{}
	p, err := l.alloc("scratch memory", bytes)
	if err != nil {
		l.fail(err)
		return 0
	}
	*s = scratch{p, bytes}
	return p
}

// mostLists is the number of lists of members that are kept.
const mostLists = 4096

// list returns a list of members on the card.
func (l *lane) list(sub []int) driver.Ptr {
	if l.lastPtr != 0 && slices.Equal(sub, l.last) {
		return l.lastPtr
	}
	l.key = l.key[:0]
	for _, k := range sub {
		l.key = binary.NativeEndian.AppendUint32(l.key, uint32(k))
	}
	p, ok := l.lists[string(l.key)]
	if !ok {
		if len(l.lists) >= mostLists {
			for _, q := range l.lists {
				l.card.Free(q)
			}
			clear(l.lists)
			l.lastPtr = 0 // one of them
		}
		numbers := make([]int32, len(sub))
		for i, k := range sub {
			numbers[i] = int32(k)
		}
		var err error
		if p, err = upload(l, "list of kernels", numbers); err != nil {
			l.fail(err)
			return 0
		}
		l.lists[string(l.key)] = p
	}
	l.last, l.lastPtr = append(l.last[:0], sub...), p
	return p
}

const blockThreads = 256

// elements runs a kernel (sub, n, ...) with a thread for each of n elements of
// every member.
func (l *lane) elements(name string, sub []int, n int, args ...uint64) {
	l.begin(sub)
	l.args = append(l.args, driver.Int(n))
	l.args = append(l.args, args...)
	l.launch(l.library[name], sub, (n+blockThreads-1)/blockThreads, blockThreads, 0)
}

// blocks runs a kernel (sub, ...) with so many blocks of threads for every member.
func (l *lane) blocks(name string, sub []int, blocks, threads int, args ...uint64) {
	l.begin(sub)
	l.args = append(l.args, args...)
	l.launch(l.library[name], sub, blocks, threads, sharedBytes[name])
}

func (l *lane) begin(sub []int) {
	l.flush()
	l.args = append(l.args[:0], 0)
	if len(sub) > 0 {
		l.args[0] = uint64(l.list(sub))
	}
}

// launch runs a kernel with l.args. After a failure nothing is carried out
// until it has been told: what lacks memory must not run.
func (l *lane) launch(f driver.Function, sub []int, blocks, threads, shared int) {
	l.launchMany(f, sub, blocks, 1, threads, shared)
}

// launchMany is launch with so many times the blocks, counted by blockIdx.z.
func (l *lane) launchMany(f driver.Function, sub []int, blocks, times, threads, shared int) {
	if l.err != nil || len(sub) == 0 {
		return
	}
	l.serial++
	l.card.Launch(f, [3]int{blocks, len(sub), times}, [3]int{threads, 1, 1}, shared, l.args...)
}

// NewIndex copies row numbers to the lane.
func (l *lane) NewIndex(rows []int32) (device.Index, error) {
	l.begins()
	p, err := upload(l, "index", rows)
	if err != nil {
		return nil, err
	}
	x := &index{lane: l, n: len(rows), ptr: p}
	x.owned = own(l, x, p)
	return x, nil
}

// Free gives memory back.
func (l *lane) Free(things ...any) {
	l.flush()
	for _, t := range things {
		switch t := t.(type) {
		case nil:
		case *array:
			l.release(t.owned)
			*t = array{}
		case *index:
			l.release(t.owned)
			*t = index{}
		case *kernels:
			l.release(t.owned...)
			*t = kernels{}
		default:
			panic("cuda: freed what is not an array, index or kernels of this device")
		}
	}
}

// Sync waits until everything asked for is done.
func (l *lane) Sync() error {
	l.flush()
	l.begins()
	l.bury()
	return cmp.Or(l.failure(), l.card.Sync())
}
