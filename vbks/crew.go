package vbks

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"sync"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/cost"
	"example.com/kestrel/vbks/noise"
	"example.com/kestrel/vbks/wire"
)

// Crew carries out the units of phases: on the run's own lanes, on other machines, or
// both. No result depends on who carries a unit out, nor on the division into units.
type Crew interface {
	// Each returns when every task of the phase has been taken or failed, or with the cause
	// of ctx's end, or with what has gone wrong beyond a kernel's own failure; then what
	// was taken counts for nothing.
	Each(ctx context.Context, p *Phase) error
}

// Phase is a part of a round that is done kernel by kernel, as a crew sees it. Its tasks
// come costliest first. Methods may be called from any goroutine.
type Phase struct {
	Name string

	round *round
	order *order
	tasks []task

	mu   sync.Mutex
	done int // kernels
}

// header is all that a unit reads besides its tasks and what a foundation has.
type header struct {
	Order    order
	Settings Settings
	Rows     int       // training rows that are known
	Z        []float64 // inducing inputs
	Searches bool      // there is a scout
	Scout    []float64 // its inducing inputs; nil: those of the run
	Counts   []float64 // weights of the rows that are known; nil: all are 1
	Noise    noise.Model
	Kernels  []string // ids, of a space that grows or has grown; nil: those of the foundation
}

// shelved says that a state is not in a message but lies under a name.
type shelved struct {
	Place int  // among the tasks or outcomes
	Known bool // it is that of what is known, else the last one
	Name  string
}

// parcel is a unit on its way to a site, and report what comes back. Both have the
// header's name, so that nothing is made of what belongs to another phase.
type parcel struct {
	Header string
	Tasks  []task
	Away   []shelved
}

type report struct {
	Header   string
	Outcomes []outcome
	Away     []shelved
}

// foundation is what a site is made of.
type foundation struct {
	Training Training
	Space    []string // ids
	Weights  []float64
	Known    [][]kernelspace.Known
	Columns  []string
	Settings Settings
}

// Protocol tells messages of this program from those of others whose types differ.
func Protocol() uint64 {
	return wire.Fingerprint(header{}, parcel{}, report{}, foundation{}, State{})
}

// nameOf is what a message goes by: its SHA-256.
func nameOf(b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum)
}

// Header returns what all units of the phase have in common, encoded, and its name.
func (p *Phase) Header() (header []byte, name string) {
	b := wire.Encode(p.round.header(p.order))
	return b, nameOf(b)
}

func (t *Trainer) header(o *order) *header {
	h := &header{Order: *o, Settings: t.settings, Rows: t.data.Rows(), Z: t.inducing, Searches: t.scout != nil, Scout: t.scouted,
		Counts: t.weighing.weights, Noise: t.weighing.model}
	if t.expansion.grammar != nil {
		for _, k := range t.kernels {
			h.Kernels = append(h.Kernels, k.id)
		}
	}
	return h
}

// Len is the number of tasks.
func (p *Phase) Len() int { return len(p.tasks) }

// Kernel returns the id of a task's kernel.
func (p *Phase) Kernel(i int) string { return p.round.kernels[p.tasks[i].Kernel].id }

// Cost ranks tasks by what they take.
func (p *Phase) Cost(i int) float64 { return cost.Search(p.round.kernels[p.tasks[i].Kernel].program) }

// Hold returns when the run is not paused; its error ends the phase.
func (p *Phase) Hold(ctx context.Context) error { return (&site{gate: p.round.gate}).step(ctx) }

// Pack encodes a unit of these tasks under the header of a name; away says that states
// are not in it.
func (p *Phase) Pack(header string, at []int) (encoded []byte, away bool) {
	u := parcel{Header: header}
	for j, i := range at {
		t := p.tasks[i]
		t.Last = p.round.states.away(&u.Away, t.Last, j, false)
		t.Known.State = p.round.states.away(&u.Away, t.Known.State, j, true)
		u.Tasks = append(u.Tasks, t)
	}
	return wire.Encode(&u), len(u.Away) > 0
}

// Take takes the outcomes over of a unit of these tasks. Errors: a report that is
// damaged or not of this phase and these tasks, or whose states cannot be had.
func (p *Phase) Take(ctx context.Context, header string, at []int, encoded []byte) error {
	r, err := wire.Decode[report](encoded)
	if err != nil {
		return err
	}
	if r.Header != header || len(r.Outcomes) != len(at) {
		return fmt.Errorf("%w: of another phase", wire.ErrDamaged)
	}
	for _, a := range r.Away {
		if a.Place < 0 || a.Place >= len(at) {
			return fmt.Errorf("%w: a state of no kernel", wire.ErrDamaged)
		}
		if r.Outcomes[a.Place].State, err = p.round.states.get(ctx, a.Name); err != nil {
			return err
		}
	}
	tasks := make([]task, len(at))
	for j, i := range at {
		tasks[j] = p.tasks[i]
	}
	p.keep(tasks, r.Outcomes)
	return nil
}

// Fail gives up a task.
func (p *Phase) Fail(i int, reason string) {
	out := p.tasks[i].Known
	out.Failure = p.round.kernels[p.tasks[i].Kernel].id + ": " + reason
	p.keep(p.tasks[i:i+1], []outcome{out})
}

// keep takes outcomes over.
func (p *Phase) keep(tasks []task, outcomes []outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, t := range tasks {
		p.round.outcomes[t.Kernel] = outcomes[i]
		stage := &p.round.stages[t.Kernel]
		stage.Stage = Through
		if v := outcomes[i].value(); !math.IsInf(v, 0) {
			stage.Bound = v
		}
	}
	p.done += len(tasks)
	p.tell()
}

// stage says what becomes of the kernels of tasks.
func (p *Phase) stage(tasks []task, to Stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range tasks {
		p.round.stages[t.Kernel].Stage = to
	}
	p.tell()
}

// tell says how far the phase has come; the mutex is held.
func (p *Phase) tell() {
	if tell := p.round.progress; tell != nil {
		tell(Progress{Done: p.done, Total: len(p.tasks), Phase: p.Name, Kernels: slices.Clone(p.round.stages)})
	}
}

// mostSent is how many numbers of rows to predict at are sent to a crew: 2 MiB.
const mostSent = 1 << 18

// sent reports whether a crew carries an order out: not where it takes less to do it than
// to have all come back.
func (o *order) sent() bool { return o.Phase != phaseFreeze && len(o.X) <= mostSent }

// Sweep returns the names of states that nothing of the run rests on any more, and
// forgets them.
func (p *Phase) Sweep() []string {
	needed := map[*State]bool{}
	for i, k := range p.round.kernels {
		needed[k.state], needed[k.ahead], needed[p.round.outcomes[i].State] = true, true, true
	}
	return p.round.states.sweep(needed)
}

// SetCrew has a crew carry out what is done kernel by kernel from now on, nil the
// trainer's own lanes. States are on the shelf that other machines have put there.
func (t *Trainer) SetCrew(c Crew, shelf Shelf) {
	if t.crew, t.states = c, nil; c != nil {
		t.states = newStates(shelf, false, 0)
	}
}

// Shelved encodes the state of a name that a machine lacks; nil: there is none.
func (t *Trainer) Shelved(name string) []byte {
	s := t.states
	if s == nil {
		return nil
	}
	st, ok := s.hand(name)
	if !ok {
		return nil
	}
	return wire.Encode(st)
}

// Foundation encodes what a site is made of: all rows, the kernel space that the run began with
// and the settings.
func (t *Trainer) Foundation() []byte {
	f := foundation{Training: t.all, Columns: t.columns, Settings: t.settings}
	f.Training.Begin = t.data.Rows()
	for _, c := range t.space {
		f.Space = append(f.Space, c.Expr.Canonical().ID())
		f.Weights, f.Known = append(f.Weights, c.Weight), append(f.Known, c.Known)
	}
	return wire.Encode(&f)
}

// Moving says how many states go to the run in each evaluation that other machines make, and of
// how many bytes each is; none where they are small enough for messages.
func (t *Trainer) Moving() (kernels, bytes int) {
	numbers := t.m * t.m
	switch t.settings.Optimizer {
	case "natural":
	case "adam":
		numbers *= 3
	default:
		return 0, 0
	}
	if numbers < leastShelved {
		return 0, 0
	}
	return len(t.kernels), 4 * (numbers + numbers/t.m*3) // triangles with their diagonals, and means
}

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
	used   int      // how often one was asked for
	loaded int      // how often the shelf was, for that
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
	s.mu.Lock()
	s.used++
	s.mu.Unlock()
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
