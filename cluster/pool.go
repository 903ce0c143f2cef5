package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks/wire"
)

// Task is whole work that one machine does by itself: a run, a training.
type Task struct {
	Kind  string
	Body  []byte
	Files []string // paths of what it reads
	Begun bool     // within this process, which alone can go on with it
	// Here does it within this process. Take takes what came of it elsewhere, and by whom; archive is
	// nil where none came with it.
	Here func(ctx context.Context) error
	Take func(by string, body []byte, archive io.Reader) error
}

// Pool has tasks done, by workers and by this process.
type Pool struct {
	hub  *Hub
	room chan struct{} // as many as may be in the queue
	down chan struct{} // closed when the server has lost what it had
	err  error         // why; known from then on

	lanes int           // of this process; 0: it does none
	free  chan struct{} // has one for each that is not in use
	whole chan struct{} // has one while nobody waits for all of them

	mu    sync.Mutex
	alone bool
	asked map[int]*asked // by unit
	sums  map[string]sent
}

// mostOpen is how many tasks are in the queue at a time.
const mostOpen = 1024

// asked is a task that is to be done.
type asked struct {
	task *Task
	ctx  context.Context
	said chan *outcome

	here chan struct{} // closed when it has been done here; nil: it is not begun here
	err  error         // of that
}

// ServeTasks listens for workers that do tasks. Where the options have this process work, it
// has so many lanes.
func ServeTasks(ctx context.Context, o Options, lanes int) (*Pool, error) {
	h, err := serve(ctx, o, welcome{Tasks: true}, nil, func(string) []byte { return nil })
	if err != nil {
		return nil, err
	}
	p := &Pool{hub: h, room: make(chan struct{}, mostOpen), down: make(chan struct{}), whole: make(chan struct{}, 1),
		asked: map[int]*asked{}, sums: map[string]sent{}}
	h.phase = tasksHeader
	h.tell(note{Run: h.id, Number: 1, Header: tasksHeader})
	h.wg.Go(p.listen)
	if !o.WorkHere {
		return p, nil
	}
	p.lanes, p.free = lanes, make(chan struct{}, lanes)
	for range lanes {
		p.free <- struct{}{}
	}
	p.whole <- struct{}{}
	if err := h.workHere(&ownSite{p}); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Alone says whether each machine does one task at a time with all of its lanes, or one a lane.
func (p *Pool) Alone(alone bool) {
	p.mu.Lock()
	p.alone = alone
	p.mu.Unlock()
	p.hub.mu.Lock()
	n := p.hub.note
	p.hub.mu.Unlock()
	n.Alone = alone
	p.hub.tell(n)
}

// Close ends the service, when all that was asked for has been answered.
func (p *Pool) Close() {
	p.hub.tell(note{Run: p.hub.id, Number: 2})
	p.hub.Close()
}

// listen hands on what workers say.
func (p *Pool) listen() {
	for {
		select {
		case out := <-p.hub.results:
			p.mu.Lock()
			a := p.asked[out.Number]
			p.mu.Unlock()
			if a == nil {
				p.drop(out)
				continue
			}
			select {
			case a.said <- out:
			default: // it is being taken already
				p.drop(out)
			}
		case err := <-p.hub.broken:
			p.err = err
			close(p.down)
			return
		case <-p.hub.background.Done():
			return
		}
	}
}

// Do has a task done, and returns when it has been taken; else with why it cannot be done, or
// the cause of ctx's end.
func (p *Pool) Do(ctx context.Context, t *Task) error {
	if err := hold(ctx, p.room); err != nil {
		return err
	}
	defer func() { <-p.room }()
	if t.Begun && p.lanes > 0 {
		return p.doHere(ctx, t)
	}
	p.mu.Lock()
	o := order{Kind: t.Kind, Body: t.Body, Alone: p.alone}
	p.mu.Unlock()
	for _, path := range t.Files {
		s, err := p.send(ctx, path)
		if err != nil {
			return err
		}
		o.Files = append(o.Files, s)
	}
	a := &asked{task: t, ctx: ctx, said: make(chan *outcome, 1)}
	err := p.put(ctx, a, &o)
	for again := true; err == nil && again; {
		select {
		case out := <-a.said:
			if again, err = p.take(ctx, a, out); again {
				err = p.put(ctx, a, &o)
			}
		case <-p.down:
			err = p.err
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	p.mu.Lock()
	delete(p.asked, o.Number)
	here := a.here
	p.count()
	p.mu.Unlock()
	if here != nil {
		<-here
		err = a.err
	}
	return err
}

// hold puts something into a channel that is full where too many have.
func hold(ctx context.Context, room chan<- struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// put puts a task into the queue, under a number of its own.
func (p *Pool) put(ctx context.Context, a *asked, o *order) error {
	h, was := p.hub, o.Number
	h.mu.Lock()
	h.units++
	o.Number = h.units
	if h.blame[was] != nil {
		h.blame[o.Number] = h.blame[was]
		delete(h.blame, was)
	}
	h.mu.Unlock()
	b := wire.Encode(&unit{Run: h.id, Phase: 1, Number: o.Number, Header: tasksHeader, Body: wire.Encode(o)})
	if len(b) > mostMessage-1024 {
		return errors.New("what a worker would have to be told is too large for a message; without --cluster that can be done")
	}
	p.mu.Lock()
	delete(p.asked, was)
	p.asked[o.Number] = a
	p.count()
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	_, err := h.engine.js.Publish(ctx, workAt+anyone, b)
	return err
}

// count notes how many tasks are open, for who asks; the lock is held.
func (p *Pool) count() {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	p.hub.open = len(p.asked)
}

// take goes by what a worker says of a task; again says that it is to be done once more.
func (p *Pool) take(ctx context.Context, a *asked, out *outcome) (again bool, err error) {
	p.mu.Lock()
	here := a.here
	p.mu.Unlock()
	if here != nil { // what another one says who was silent for long is late
		if out.Worker != p.hub.own.id {
			p.drop(out)
		}
		return false, nil
	}
	switch out.What {
	case unitDone:
		return p.takeResult(ctx, a.task, out)
	case unitReturned:
		return true, nil
	case unitWorn:
		if p.hub.lostWith(out.Number) < p.hub.o.MostLost {
			return true, nil
		}
		return false, errors.New(strconv.Itoa(p.hub.o.MostLost) + " workers went down while they had it")
	}
	if out.Mistake != nil {
		return false, out.Mistake
	}
	return false, fmt.Errorf("worker %s: %s", p.name(out.Worker), out.Why)
}

// name is what a worker is called.
func (p *Pool) name(id string) string {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	if w := p.hub.workers[id]; w != nil {
		return w.Name
	}
	return id
}

// takeResult takes what came of a task; a message that is damaged is as none.
func (p *Pool) takeResult(ctx context.Context, t *Task, out *outcome) (again bool, err error) {
	r, err := wire.Decode[result](out.Body)
	if err != nil || r.Archive != "" && !plainID(r.Archive) {
		return true, nil
	}
	if r.Archive == "" {
		return false, t.Take(p.name(out.Worker), r.Body, nil)
	}
	defer p.drop(out)
	f, err := p.hub.shelf.Open(ctx, r.Archive)
	if err != nil {
		return true, nil
	}
	err = t.Take(p.name(out.Worker), r.Body, f)
	return false, errors.Join(err, f.Close())
}

// drop removes from the shelf what a worker has put there.
func (p *Pool) drop(out *outcome) {
	r, err := wire.Decode[result](out.Body)
	if err != nil || !plainID(r.Archive) {
		return
	}
	p.hub.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), mostWait)
		defer cancel()
		_ = p.hub.shelf.store.Delete(ctx, r.Archive) // it goes with the shelf
	})
}

// send puts a file on the shelf, once.
func (p *Pool) send(ctx context.Context, path string) (sent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.sums[path]; ok {
		return s, nil
	}
	s := sent{Path: path}
	info, err := os.Stat(path)
	if err == nil {
		s.Size = info.Size()
		s.Sum, err = sumOf(ctx, path)
	}
	if err == nil {
		err = p.hub.shelf.PutFile(ctx, s.Sum, path)
	}
	if err != nil {
		return s, fmt.Errorf("data for the workers: %w", err)
	}
	p.sums[path] = s
	return s, nil
}

// doHere does a task within this process, when its lanes are free for it.
func (p *Pool) doHere(ctx context.Context, t *Task) error {
	p.mu.Lock()
	n := 1
	if p.alone {
		n = p.lanes
	}
	p.mu.Unlock()
	if err := pick(ctx, p.whole); err != nil { // two would wait for each other's
		return err
	}
	var err error
	held := 0
	for ; held < n && err == nil; held++ {
		err = pick(ctx, p.free)
	}
	if p.whole <- struct{}{}; err != nil {
		held--
	}
	defer func() {
		for range held {
			p.free <- struct{}{}
		}
	}()
	if err != nil {
		return err
	}
	return guard.Do(func() error { return t.Here(ctx) })
}

// pick takes something that others put back.
func pick(ctx context.Context, from <-chan struct{}) error {
	select {
	case <-from:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ownSite is where this process does tasks.
type ownSite struct{ pool *Pool }

func (s *ownSite) Lanes() []int { return numbered(s.pool.lanes) }

// Stand has nothing to prepare.
func (s *ownSite) Stand([]byte) error { return nil }

// Lose has nothing to keep.
func (s *ownSite) Lose(int, error) {}

// Do does a task, unless it is known what comes of it; whoever waits for it is told by who has
// asked.
func (s *ownSite) Do(ctx context.Context, _ int, body []byte) ([]byte, error) {
	o, err := wire.Decode[order](body)
	if err != nil {
		return nil, err
	}
	p := s.pool
	p.mu.Lock()
	a := p.asked[o.Number]
	begin := a != nil && a.here == nil
	if begin {
		a.here = make(chan struct{})
	}
	p.mu.Unlock()
	if !begin {
		return nil, nil
	}
	defer close(a.here)
	both, cancel := context.WithCancelCause(a.ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	a.err = p.doHere(both, a.task)
	return nil, nil
}
