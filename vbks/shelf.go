package vbks

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"example.com/kestrel/vbks/wire"
)

// Shelf is where states lie that are too large for every unit to have them with it.
type Shelf interface {
	Put(name string, b []byte) error
	Get(ctx context.Context, name string) ([]byte, error)
}

// leastShelved is of how many numbers in matrices a state has a name: 32 KiB.
const leastShelved = 4096

// states have names, under which they lie on a shelf: the SHA-256 of what they are
// encoded as. Those of the machine's own making are at hand.
type states struct {
	shelf Shelf
	least int  // numbers
	puts  bool // what it names it also puts on the shelf
	most  int  // numbers that are kept at hand; 0: all

	mu     sync.Mutex
	names  map[*State]string
	at     map[string]*State
	order  []string // of use, where most is not 0
	has    int      // numbers at hand
	loaded int      // how often the shelf was asked
	err    error    // of the shelf
}

func newStates(shelf Shelf, puts bool, most int) *states {
	return &states{shelf: shelf, puts: puts, most: most, least: leastShelved, names: map[*State]string{}, at: map[string]*State{}}
}

// numbers is how many a state has in q(v).
func (s *State) numbers() int { return len(s.Chol) + len(s.CholM1) + len(s.CholM2) }

// away returns nil in the place of a state that has a name, and notes that.
func (s *states) away(to *[]shelved, st *State, place int, known bool) *State {
	if st == nil || st.numbers() < s.least {
		return st
	}
	*to = append(*to, shelved{place, known, s.name(st)})
	return nil
}

func (s *states) name(st *State) string {
	s.mu.Lock()
	name, ok := s.names[st]
	s.mu.Unlock()
	if ok {
		return name
	}
	b := wire.Encode(st)
	name = nameOf(b)
	if _, there := s.hand(name); !there && s.puts {
		if err := s.shelf.Put(name, b); err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			return name
		}
	}
	s.note(name, st)
	return name
}

// hand returns the state of a name that is at hand.
func (s *states) hand(name string) (*State, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.at[name]
	if ok && s.most > 0 {
		i := slices.Index(s.order, name)
		s.order = append(slices.Delete(s.order, i, i+1), name)
	}
	return st, ok
}

// note has a state at hand, and gives up those not used for longest where they are too many.
func (s *states) note(name string, st *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.at[name]; ok {
		if s.most == 0 { // else pointers would be kept of what is given up
			s.names[st] = name
		}
		return
	}
	s.at[name], s.names[st] = st, name
	s.has += st.numbers()
	if s.most == 0 {
		return
	}
	s.order = append(s.order, name)
	for s.has > s.most && len(s.order) > 1 {
		s.drop(s.order[0])
		s.order = s.order[1:]
	}
}

// drop forgets a state; the lock is held.
func (s *states) drop(name string) {
	st := s.at[name]
	s.has -= st.numbers()
	delete(s.at, name)
	delete(s.names, st)
}

// get returns the state of a name, from the shelf where it is not at hand.
func (s *states) get(ctx context.Context, name string) (*State, error) {
	if st, ok := s.hand(name); ok {
		return st, nil
	}
	b, err := s.shelf.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	if nameOf(b) != name {
		return nil, fmt.Errorf("%w: a state that is not what its name says", wire.ErrDamaged)
	}
	st, err := wire.Decode[State](b)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.loaded++
	s.mu.Unlock()
	s.note(name, st)
	return st, nil
}

// sweep forgets all states but those needed.
func (s *states) sweep(needed map[*State]bool) (gone []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := map[string]bool{}
	for st, name := range s.names {
		if needed[st] {
			keep[name] = true
		} else {
			delete(s.names, st)
		}
	}
	for name, st := range s.at {
		if !keep[name] {
			s.has -= st.numbers()
			delete(s.at, name)
			gone = append(gone, name)
		}
	}
	return gone
}
