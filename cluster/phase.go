package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/wire"
)

const (
	// unitSeconds is what a unit should take: a message costs far less, and a death no more.
	unitSeconds = 0.2
	// fewestUnits is how many there are for each lane at least, so that lanes end together.
	fewestUnits = 3
	// lookAgain is how often it is looked whose units others may take.
	lookAgain = 100 * time.Millisecond
	// pauseAfter is for how long a run must hold before its workers are told to.
	pauseAfter = 20 * time.Millisecond
)

// pass is a phase under way.
type pass struct {
	hub    *Hub
	phase  *vbks.Phase
	number int
	header string
	open   map[int][]int  // tasks of units that nothing is known of yet
	lies   map[int]string // where these have been sent
	homed  bool           // to where their states are
	queues map[string]queue
	left   int // tasks
}

// queue is how many units of a home are open, and since when.
type queue struct {
	units int
	since time.Time
}

// Each has workers carry out a phase.
func (h *Hub) Each(ctx context.Context, p *vbks.Phase) (err error) {
	if err := p.Hold(ctx); err != nil { // short phases would slip by
		return err
	}
	encoded, name := p.Header()
	if len(encoded) > mostMessage/2 {
		return fmt.Errorf("what the workers would have to be told of %q is %d MB; without --cluster that can be done", p.Name, len(encoded)>>20)
	}
	h.mu.Lock()
	h.number++
	s := &pass{hub: h, phase: p, number: h.number, header: name, open: map[int][]int{}, lies: map[int]string{}, homed: h.heavy,
		queues: map[string]queue{}, left: p.Len()}
	h.header, h.headerName, h.phase, h.open = encoded, name, p.Name, 0
	h.mu.Unlock()
	defer func() { h.over(s.number, p) }()
	// What is left in the queue of an earlier phase workers take and forget.
	h.tell(note{Run: h.id, Number: s.number, Header: name, Encoded: encoded, Homed: s.homed})
	for _, at := range s.divide(s.homed) {
		if err := s.send(ctx, at); err != nil {
			return err
		}
	}
	s.offer() // not before: who is idle would take others' units before its own come
	return s.gather(ctx)
}

// tell has all workers know of a phase, or of a pause of it.
func (h *Hub) tell(n note) {
	h.mu.Lock()
	h.note = n
	h.mu.Unlock()
	if h.own != nil {
		own := n
		h.own.take(&own)
	}
	_ = h.engine.conn.Publish(allNote, wire.Encode(&n)) // it is said again
}

// over ends a phase: no lane of the run's own is at work on it when it returns.
func (h *Hub) over(number int, p *vbks.Phase) {
	n := note{Run: h.id, Number: number}
	h.mu.Lock()
	h.note, h.header, h.headerName = n, nil, ""
	clear(h.blame)
	h.mu.Unlock()
	h.say()
	if h.own != nil {
		h.own.rest(number)
	}
	for _, name := range p.Sweep() {
		h.wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), mostWait)
			defer cancel()
			_ = h.shelf.store.Delete(ctx, name) // it may never have been there
		})
	}
}

// divide makes units of the tasks, of about equal cost and the costliest first; where
// states are large, each of kernels whose states one worker has.
func (s *pass) divide(heavy bool) (units [][]int) {
	p, h := s.phase, s.hub
	total := 0.0
	for i := range p.Len() {
		total += p.Cost(i)
	}
	h.mu.Lock()
	rate := h.rate[p.Name]
	h.mu.Unlock()
	most := total / float64(fewestUnits*h.lanes())
	if rate > 0 {
		most = min(most, unitSeconds/rate)
	} else {
		most = min(most, total/float64(p.Len())) // until it is known how long they take
	}
	open := map[string][]int{}
	cost := map[string]float64{}
	full := func(home string, more float64) bool {
		if h.o.Kernels > 0 {
			return len(open[home]) >= h.o.Kernels
		}
		return len(open[home]) > 0 && cost[home]+more > most
	}
	for i := range p.Len() {
		home := anyone
		if heavy {
			home = s.homeOf([]int{i})
		}
		if full(home, p.Cost(i)) {
			units = append(units, open[home])
			open[home], cost[home] = nil, 0
		}
		open[home], cost[home] = append(open[home], i), cost[home]+p.Cost(i)
	}
	for _, at := range open {
		if len(at) > 0 {
			units = append(units, at)
		}
	}
	return units
}

// homeOf is where a unit's states are, as far as is known.
func (s *pass) homeOf(at []int) string {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if id := h.home[s.phase.Kernel(at[0])]; id != "" {
		if _, there := h.workers[id]; there {
			return id
		}
	}
	return anyone
}

// send puts a unit into the queue.
func (s *pass) send(ctx context.Context, at []int) error {
	h := s.hub
	h.mu.Lock()
	h.units++
	number := h.units
	h.mu.Unlock()
	return s.sendAs(ctx, number, at)
}

// sendAs is send by a number.
func (s *pass) sendAs(ctx context.Context, number int, at []int) error {
	h := s.hub
	body, away := s.phase.Pack(s.header, at)
	h.mu.Lock()
	if away {
		h.heavy = true
	}
	h.mu.Unlock()
	b := wire.Encode(&unit{Run: h.id, Phase: s.number, Number: number, Header: s.header, Body: body})
	if len(b) > mostMessage-1024 {
		if len(at) == 1 {
			return fmt.Errorf("what a unit of %q needs is too large for a message; without --cluster that can be done", s.phase.Name)
		}
		if err := s.send(ctx, at[:len(at)/2]); err != nil {
			return err
		}
		return s.send(ctx, at[len(at)/2:])
	}
	home := anyone
	if s.homed {
		home = s.homeOf(at)
	}
	s.open[number], s.lies[number] = at, home
	s.count()
	ctx, cancel := context.WithTimeout(ctx, mostWait)
	defer cancel()
	_, err := h.engine.js.Publish(ctx, workAt+home, b)
	return err
}

// gather takes what the workers say until nothing is open.
func (s *pass) gather(ctx context.Context) error {
	held, ended := make(chan bool), make(chan error, 1)
	watching, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { ended <- s.hold(watching, held) })
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for s.left > 0 {
		select {
		case out := <-s.hub.results:
			if err := s.take(ctx, out); err != nil {
				return err
			}
			s.offer()
		case <-look.C: // a worker may be lost
			s.offer()
		case paused := <-held:
			s.hub.mu.Lock()
			n := s.hub.note
			s.hub.mu.Unlock()
			n.Paused, n.Encoded = paused, nil
			s.hub.tell(n)
		case err := <-s.hub.broken:
			return err
		case err := <-ended:
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// hold tells when the run pauses and when it goes on; its error ends the phase.
func (s *pass) hold(ctx context.Context, held chan<- bool) error {
	tell := func(paused bool) {
		select {
		case held <- paused:
		case <-ctx.Done():
		}
	}
	for {
		passed := make(chan error, 1)
		go func() { passed <- s.phase.Hold(ctx) }()
		var err error
		select {
		case err = <-passed:
		case <-time.After(pauseAfter):
			tell(true)
			err = <-passed
			tell(false)
		}
		if err != nil {
			return err
		}
		select {
		case <-time.After(pauseAfter):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take goes by what a worker says of a unit.
func (s *pass) take(ctx context.Context, out *outcome) error {
	at, ok := s.open[out.Number]
	if out.Phase != s.number || !ok {
		return nil // late
	}
	switch out.What {
	case unitDone:
		err := s.phase.Take(ctx, s.header, at, out.Body)
		if errors.Is(err, wire.ErrDamaged) {
			return s.again(ctx, out.Number, at)
		}
		if err != nil {
			return err
		}
		delete(s.open, out.Number)
		s.count()
		s.left -= len(at)
		s.learn(out, at)
	case unitReturned:
		return s.again(ctx, out.Number, at)
	case unitWorn:
		if s.hub.lostWith(out.Number) < s.hub.o.MostLost { // others have only handed it on
			return s.again(ctx, out.Number, at)
		}
		if len(at) > 1 {
			delete(s.open, out.Number)
			if err := s.send(ctx, at[:len(at)/2]); err != nil {
				return err
			}
			return s.send(ctx, at[len(at)/2:])
		}
		delete(s.open, out.Number)
		s.left--
		s.phase.Fail(at[0], strconv.Itoa(s.hub.o.MostLost)+" workers went down while they had it, in phase "+s.phase.Name)
	case unitFailed:
		if out.Mistake != nil {
			return out.Mistake
		}
		return errors.New(out.Why)
	}
	return nil
}

// offer says whose units others may take, although states have to move then: those of who is
// gone, of who has more than the next one waiting, and of who has not come to that for long.
func (s *pass) offer() {
	if !s.homed {
		return
	}
	waiting := map[string]int{}
	for number := range s.open {
		waiting[s.lies[number]]++
	}
	delete(waiting, anyone)
	h := s.hub
	var homes []string
	h.mu.Lock()
	for home, n := range waiting {
		was := s.queues[home]
		if was.units != n {
			was = queue{n, time.Now()}
			s.queues[home] = was
		}
		w, there := h.workers[home]
		if !there || n > w.Lanes+1 || n > w.Lanes && time.Since(was.since) > time.Duration(2*unitSeconds*float64(time.Second)) {
			homes = append(homes, home)
		}
	}
	n := h.note
	h.mu.Unlock()
	slices.Sort(homes)
	if slices.Equal(homes, n.Homes) {
		return
	}
	n.Homes, n.Encoded = homes, nil
	h.tell(n)
}

// count notes how many units are open, for who asks.
func (s *pass) count() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.open = len(s.open)
}

// again puts a unit back into the queue, as a new one.
func (s *pass) again(ctx context.Context, number int, at []int) error {
	delete(s.open, number)
	h := s.hub
	h.mu.Lock()
	h.units++
	as := h.units
	h.blame[as] = h.blame[number]
	delete(h.blame, number)
	h.mu.Unlock()
	return s.sendAs(ctx, as, at)
}

// lostWith counts the workers that were lost while they had a unit.
func (h *Hub) lostWith(unit int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.blame[unit])
}

// learn notes how long a unit took and who has its states now.
func (s *pass) learn(out *outcome, at []int) {
	h := s.hub
	cost := 0.0
	for _, i := range at {
		cost += s.phase.Cost(i)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := out.Seconds / cost
	if was := h.rate[s.phase.Name]; was > 0 {
		r = 0.8*was + 0.2*r
	}
	h.rate[s.phase.Name] = r
	for _, i := range at {
		h.home[s.phase.Kernel(i)] = out.Worker
	}
}
