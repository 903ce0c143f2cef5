package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"

	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/internal/guard"
)

// Team is a number of cores that lanes share, of one device or of several. A lane at work
// has one; those that no lane has are lent, evenly, to lanes whose operations are large
// enough to be divided, and taken back when another lane begins to work.
type Team struct {
	size  int32
	lanes atomic.Int32 // at work
	used  atomic.Int32 // cores that lanes and helpers have

	mu   sync.Mutex
	free []*helper // at rest
}

// NewTeam returns a team of so many cores, at least one.
func NewTeam(cores int) *Team { return &Team{size: int32(max(1, cores))} }

// enter is called by a lane that begins to work, leave by one that ends.
func (t *Team) enter() {
	t.lanes.Add(1)
	t.used.Add(1)
}

func (t *Team) leave() {
	t.used.Add(-1)
	t.lanes.Add(-1)
}

// share is how many helpers a lane at work may have: the cores that are not lanes' own,
// over the lanes.
func (t *Team) share() int32 { return max(0, (t.size-1)/max(1, t.lanes.Load())) }

// take takes a core for a helper, if there is one.
func (t *Team) take() bool {
	for {
		used := t.used.Load()
		if used >= t.size {
			return false
		}
		if t.used.CompareAndSwap(used, used+1) {
			return true
		}
	}
}

// giveBack gives a helper's core back if lanes want it.
func (t *Team) giveBack() bool {
	for {
		used := t.used.Load()
		if used <= t.size {
			return false
		}
		if t.used.CompareAndSwap(used, used-1) {
			return true
		}
	}
}

// parts is an operation in parts. Each may be done on another core, with its scratch
// memory; none writes what another one reads or writes.
type parts interface{ part(s *scratch, i int) }

// scratch is the memory that the work on one core needs.
type scratch struct {
	tile tile
	work simd.Workspace
}

// gang is a lane and the helpers that it has at the moment. Work comes in rounds: the lane
// calls divide, all take parts until there are none, and divide returns when the last is
// done. Between rounds helpers look out for the next one for a while, since operations
// follow each other closely, and then end.
type gang struct {
	team    *Team
	busy    bool    // the lane has entered the team
	own     scratch // for the parts that the lane does itself
	round   uint64  // rounds so far
	open    atomic.Uint64
	task    parts // of the round
	done    atomic.Int32
	helpers atomic.Int32
	waiting atomic.Bool
	ended   chan struct{} // by the last part of a round that is waited for
	failed  atomic.Pointer[guard.PanicError]
}

func newGang(t *Team) gang { return gang{team: t, ended: make(chan struct{}, 1)} }

// open holds the numbers of the round, of its parts and of the next one: a helper that has
// been held up cannot take a part of a round that it does not know.
const (
	partBits  = 16
	mostParts = 1<<partBits - 1
)

// cores is how many cores work on an operation of the lane, or would.
func (g *gang) cores() int {
	if g.team.size == 1 {
		return 1
	}
	used := g.team.used.Load()
	if !g.busy {
		used++
	}
	return 1 + int(min(g.team.share(), g.helpers.Load()+max(0, g.team.size-used)))
}

// divide has parts 0 to n−1 of some work done and returns when all are. A panic in one of
// them is passed on, as a PanicError, when no other is under way any more.
func (g *gang) divide(n int, work parts) {
	if n > mostParts {
		panic("cpu: too many parts")
	}
	if !g.busy {
		g.team.enter()
		defer g.team.leave()
	}
	g.task = work
	g.done.Store(0)
	g.round++
	g.open.Store(g.round<<(2*partBits) | uint64(n)<<partBits)
	for want := min(int32(n-1), g.team.share()); g.helpers.Load() < want && g.team.take(); {
		g.helpers.Add(1)
		g.team.helper(g).begin()
	}
	for g.one(&g.own) {
	}
	g.wait(int32(n))
	g.task = nil
	if p := g.failed.Swap(nil); p != nil {
		panic(p)
	}
}

// one does a part, if there is one left.
func (g *gang) one(s *scratch) bool {
	for {
		open := g.open.Load()
		next, n := open&mostParts, open>>partBits&mostParts
		if next >= n {
			return false
		}
		if !g.open.CompareAndSwap(open, open+1) {
			continue
		}
		g.do(s, int(next))
		if g.done.Add(1) == int32(n) && g.waiting.Load() {
			select {
			case g.ended <- struct{}{}:
			default:
			}
		}
		return true
	}
}

func (g *gang) do(s *scratch, i int) {
	if g.failed.Load() != nil {
		return
	}
	defer func() {
		if err := guard.Caught(recover()); err != nil {
			g.failed.CompareAndSwap(nil, err)
		}
	}()
	g.task.part(s, i)
}

const (
	// patience is how often one looks for work, or for its end, before it rests: some
	// 200 µs. Every now and then others may have the core.
	patience = 1600
	glances  = 50 // of one look
	offered  = 8  // looks between offers
)

// wait waits until n parts are done.
func (g *gang) wait(n int32) {
	for i := range patience {
		for range glances {
			if g.done.Load() == n {
				return
			}
		}
		if i%offered == 0 {
			runtime.Gosched()
		}
	}
	g.waiting.Store(true)
	for g.done.Load() != n {
		<-g.ended
	}
	g.waiting.Store(false)
}

// rest waits until the helpers have ended.
func (g *gang) rest() {
	for g.helpers.Load() > 0 {
		runtime.Gosched()
	}
}

// helper is a goroutine that does parts of a lane's work, with memory that it keeps.
type helper struct {
	scratch
	gang *gang
	run  func()
}

// helper returns one that is at rest, for a gang.
func (t *Team) helper(g *gang) *helper {
	t.mu.Lock()
	defer t.mu.Unlock()
	var h *helper
	if n := len(t.free); n > 0 {
		h, t.free = t.free[n-1], t.free[:n-1]
	} else {
		h = &helper{}
		h.run = h.help // made once
	}
	h.gang = g
	return h
}

func (h *helper) begin() { go h.run() }

// help does parts until there have been none for a while, or lanes want the core back.
func (h *helper) help() {
	g, t := h.gang, h.gang.team
	given := false
	for idle := 0; idle < patience && !given; idle++ {
		for range glances {
			if g.one(&h.scratch) {
				idle = 0
				break
			}
		}
		if given = t.giveBack(); !given && idle%offered == offered-1 {
			runtime.Gosched()
		}
	}
	if !given {
		t.used.Add(-1)
	}
	h.tile.forget()
	h.gang = nil
	t.mu.Lock()
	t.free = append(t.free, h)
	t.mu.Unlock()
	g.helpers.Add(-1)
}
