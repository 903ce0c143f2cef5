package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/wire"
)

// Options of a run that serves.
type Options struct {
	Name     string    // of the run, for people
	Listen   string    // address, such as ":4222"
	Identity *Identity // what to serve as there
	// Owner, where it is not nil, lets the run use a server that is there, at At.
	Owner *Ticket
	At    string

	Class     Class
	LostAfter time.Duration // a worker that is silent for so long is lost
	MostLost  int           // a kernel with which so many workers go down fails
	WorkHere  bool          // the run's own lanes work, too
	Kernels   int           // of a unit; 0: as many as take the time that one should
	// Joined and Lost are told of workers, Say of what the user should know.
	Joined, Lost func(WorkerInfo)
	Say          func(string)
}

// WorkerInfo is what is known of a worker.
type WorkerInfo struct {
	ID    string
	Name  string
	Lanes int
	Units int // done
	Seen  time.Time
	Of    int // workers that there are, with it or without
	Used  int // states that its units began with and that were not in messages
	Moved Moved

	holds []int // units in hand, as far as is known
}

// Hub is a run's side: the crew of its trainer.
type Hub struct {
	id         string // of the run, in all messages
	o          Options
	moving     [2]int // states that come in each evaluation, bytes of each
	engine     *engine
	shelf      *shelf
	offer      welcome             // to who may take part, but for the run's name
	shelved    func(string) []byte // a state that a worker lacks; nil: there is none of this name
	own        *Worker             // nil: the run's lanes do not work
	quit       context.CancelFunc
	background context.Context // ends with it
	wg         sync.WaitGroup
	left       func() // what is undone at the end

	events chan func() // what is told, one after the other

	mu         sync.Mutex
	workers    map[string]*WorkerInfo
	lost       map[string]bool
	blame      map[int]map[string]bool // by unit, workers that were lost while they had it
	home       map[string]string       // worker that has a kernel's state, by the kernel's id
	rate       map[string]float64      // seconds for a cost, by phase
	heavy      bool                    // states are not in the messages
	number     int                     // of the last phase
	phase      string                  // its name
	open       int                     // units
	units      int                     // made, in all
	header     []byte
	headerName string
	note       note
	told       bool // that nobody is there
	probed     bool // it is told what moving states takes
	results    chan *outcome

	back   chan struct{} // the server was lost, and is there again
	broken chan error    // it has lost what it had
}

// signal sends to who is not yet told.
func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// Serve listens for workers and becomes the crew of a trainer.
func Serve(ctx context.Context, t *vbks.Trainer, o Options) (*Hub, error) {
	// Once workers may join the trainer changes.
	h, err := serve(ctx, o, welcome{Foundation: foundationName}, t.Foundation(), t.Shelved)
	if err != nil {
		return nil, err
	}
	if n, size := t.Moving(); n > 0 {
		if err := h.shelf.Put(probeName, probe(size)); err != nil {
			h.Close()
			return nil, err
		}
		h.mu.Lock()
		h.moving, h.offer.Probe = [2]int{n, size}, probeName
		h.mu.Unlock()
	}
	t.SetCrew(h, h.shelf)
	h.left = func() { t.SetCrew(nil, nil) }
	if o.WorkHere {
		if err := h.workHere(t.OwnSite()); err != nil {
			h.Close()
			return nil, err
		}
	}
	return h, nil
}

// serve listens for workers, to whom an offer is made, with what a site is made of where the
// offer names that.
func serve(ctx context.Context, o Options, offer welcome, foundation []byte, shelved func(string) []byte) (h *Hub, err error) {
	h = &Hub{id: nuid.Next(), o: o, offer: offer, shelved: shelved, left: func() {}, workers: map[string]*WorkerInfo{},
		lost: map[string]bool{}, blame: map[int]map[string]bool{}, home: map[string]string{},
		rate: map[string]float64{}, results: make(chan *outcome, 64), back: make(chan struct{}, 1), broken: make(chan error, 1),
		events: make(chan func(), 1024)}
	if o.Owner != nil {
		if h.engine, err = joinEngine(o.Owner, o.At, func() { signal(h.back) }); err == nil {
			err = h.engine.free()
		}
	} else {
		h.engine, err = startEngine(o.Listen, o.Identity)
	}
	if err == nil {
		err = h.engine.streams(ctx, h.id)
	}
	if err != nil {
		if h.engine != nil {
			h.engine.close()
		}
		return nil, err
	}
	fail := func(err error) (*Hub, error) {
		h.engine.close()
		return nil, err
	}
	if h.shelf, err = newShelf(ctx, h.engine.conn, false); err != nil {
		return fail(err)
	}
	if offer.Foundation != "" {
		if err := h.shelf.Put(offer.Foundation, foundation); err != nil {
			return fail(err)
		}
	}
	if err := h.consumer(anyone); err != nil {
		return fail(err)
	}
	for subject, answer := range map[string]nats.MsgHandler{
		askJoin: h.join, askHeader: h.giveHeader, askShelf: h.giveState, askHow: h.giveStatus, beatAt + "*": h.hear,
	} {
		if _, err := h.engine.conn.Subscribe(subject, answer); err != nil {
			return fail(err)
		}
	}
	done, err := h.engine.js.CreateConsumer(ctx, doneStream, jetstream.ConsumerConfig{Durable: "run", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		return fail(err)
	}
	background, quit := context.WithCancel(context.Background())
	h.quit = quit
	take, err := done.Consume(func(m jetstream.Msg) {
		_ = m.Ack()
		if out, err := wire.Decode[outcome](m.Data()); err == nil && out.Run == h.id {
			select {
			case h.results <- out:
			case <-background.Done():
			}
		}
	})
	if err != nil {
		quit()
		return fail(err)
	}
	h.background = background
	h.wg.Go(func() {
		<-background.Done()
		take.Stop()
	})
	h.wg.Go(func() { h.watch(background) })
	h.wg.Go(func() {
		for {
			select {
			case tell := <-h.events:
				tell()
			case <-background.Done():
				return
			}
		}
	})
	return h, nil
}

// probeName is where on the shelf lies what is as large as a state, or mostProbe.
const (
	probeName = "probe"
	mostProbe = 4 << 20
)

// probe is so many bytes, or mostProbe, of which none follows from the others.
func probe(size int) []byte {
	b := make([]byte, min(size, mostProbe))
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// tellMoving says what moving states will take, by how fast a probe came to a worker; the lock is held.
func (h *Hub) tellMoving(worker string, speed float64) {
	if h.probed || speed <= 0 || h.moving[0] == 0 {
		return
	}
	h.probed = true
	bytes := float64(h.moving[0]) * float64(h.moving[1])
	text := fmt.Sprintf("in each evaluation %d states of %.3g MB come here from workers: %.2g s of their lanes, as fast as a probe came to %s",
		h.moving[0], float64(h.moving[1])/1e6, bytes/speed, worker)
	h.later(func() { h.o.Say(text) })
}

// workHere has the run's own lanes take part, as a worker within the process.
func (h *Hub) workHere(s site) error {
	w := newWorker(h.engine.conn, hostName(), h.o.LostAfter)
	w.site, w.run = s, h.id
	h.mu.Lock()
	w.note = h.note
	h.mu.Unlock()
	h.own = w
	if err := h.admit(&hello{ID: w.id, Name: w.name, Lanes: len(w.site.Lanes())}); err != nil {
		return err
	}
	h.wg.Go(func() { _ = w.work(h.background, 0) }) // its lanes' end is told by beats
	return nil
}

// foundationName is where on the shelf lies what sites are made of.
const foundationName = "foundation"

// later has something told that may block.
func (h *Hub) later(tell func()) {
	select {
	case h.events <- tell:
	default: // nobody has listened for long
	}
}

// free returns an error where a run uses the server.
func (e *engine) free() error {
	s, err := ask(e.conn)
	if err != nil || s == nil {
		return err
	}
	return fmt.Errorf("the cluster is used by the run %q now: wait for its end, or start another cluster", s.Run)
}

// Status says how the run stands.
func (h *Hub) Status() *Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &Status{Run: h.o.Name, Open: h.open, Phases: h.number, Units: h.units, Moved: h.shelf.Moved()}
	if h.note.Header != "" {
		s.Phase = h.phase
	}
	for _, id := range slices.Sorted(maps.Keys(h.workers)) {
		w := h.workers[id]
		s.Workers = append(s.Workers, Standing{w.ID, w.Name, w.Lanes, w.Units, time.Since(w.Seen).Seconds(), w.Used, w.Moved})
	}
	slices.SortStableFunc(s.Workers, func(a, b Standing) int { return strings.Compare(a.Name, b.Name) })
	return s
}

func (h *Hub) giveStatus(m *nats.Msg) { _ = m.Respond(wire.Encode(h.Status())) } // who has not got it asks again

// Close ends the service; workers leave.
func (h *Hub) Close() {
	h.mu.Lock()
	h.note.Over = true
	h.mu.Unlock()
	h.say()
	_ = h.engine.conn.FlushTimeout(time.Second) // who does not hear it finds nobody
	h.quit()
	h.wg.Wait()
	h.left()
	h.engine.close()
}

// consumer makes what units of a home are taken by.
func (h *Hub) consumer(home string) error {
	ctx, cancel := context.WithTimeout(context.Background(), mostWait)
	defer cancel()
	_, err := h.engine.js.CreateOrUpdateConsumer(ctx, workStream, jetstream.ConsumerConfig{
		Durable: home, FilterSubject: workAt + home, AckPolicy: jetstream.AckExplicitPolicy, AckWait: h.o.LostAfter, MaxAckPending: -1,
	})
	return err
}

// join answers a worker that wants to take part.
func (h *Hub) join(m *nats.Msg) {
	h.mu.Lock()
	a := &welcome{Run: h.id, LostAfter: h.o.LostAfter, Tasks: h.offer.Tasks, Probe: h.offer.Probe}
	h.mu.Unlock()
	w, err := wire.Decode[hello](m.Data)
	switch {
	case err != nil:
		a.Refused = "it is of another version of kestrel, with other messages: start the version that the run has"
	default:
		if a.Refused = h.o.Class.refuses(w.Class); a.Refused == "" {
			a.Foundation = h.offer.Foundation
			if err := h.admit(w); err != nil {
				a.Refused = err.Error()
			}
		}
	}
	_ = m.Respond(wire.Encode(a)) // who has not got it asks again
}

// admit enters a worker.
func (h *Hub) admit(w *hello) error {
	if !plainID(w.ID) {
		return errors.New("a worker without a proper name of its own")
	}
	if err := h.consumer(w.ID); err != nil {
		return err
	}
	h.seen(&beat{ID: w.ID, Name: w.Name, Lanes: w.Lanes}) // with nothing in hand
	return nil
}

// plainID reports whether an id can be part of a subject.
func plainID(id string) bool {
	for _, c := range id {
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z') {
			return false
		}
	}
	return len(id) > 8 && len(id) < 64
}

// hear takes a beat.
func (h *Hub) hear(m *nats.Msg) {
	b, err := wire.Decode[beat](m.Data)
	if err != nil || m.Subject != beatAt+b.ID {
		return
	}
	h.mu.Lock()
	_, known := h.workers[b.ID]
	known = known || h.lost[b.ID]
	h.mu.Unlock()
	if known {
		h.seen(b)
	}
}

// seen notes that a worker lives, or with no lanes that it leaves.
func (h *Hub) seen(b *beat) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w, ok := h.workers[b.ID]
	if b.Lanes == 0 {
		if ok {
			h.forget(w)
			delete(h.lost, b.ID)
		}
		return
	}
	if !ok {
		w = &WorkerInfo{ID: b.ID}
		h.workers[b.ID] = w
		delete(h.lost, b.ID)
		for _, who := range h.blame { // it was only silent
			delete(who, b.ID)
		}
	}
	h.tellMoving(b.Name, b.Speed)
	w.holds, w.Used, w.Moved = b.Holds, b.Used, b.Moved
	w.Name, w.Lanes, w.Units, w.Seen, w.Of = b.Name, b.Lanes, b.Units, time.Now(), len(h.workers)
	if !ok {
		h.told = false
		info := *w
		h.later(func() { h.o.Joined(info) })
	}
}

// forget takes a worker out; the lock is held.
func (h *Hub) forget(w *WorkerInfo) {
	delete(h.workers, w.ID)
	h.lost[w.ID] = true
	maps.DeleteFunc(h.home, func(_, id string) bool { return id == w.ID })
	w.Of = len(h.workers)
	info := *w
	h.later(func() { h.o.Lost(info) })
}

// watch finds out who is lost, and says again what phase there is.
func (h *Hub) watch(ctx context.Context) {
	tick := time.NewTicker(min(max(h.o.LostAfter/beats, 10*time.Millisecond), 500*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-h.back:
			if !h.engine.has(ctx, h.id) {
				select {
				case h.broken <- errAnew:
				default: // told already
				}
			}
		}
		h.mu.Lock()
		for _, w := range h.workers {
			if time.Since(w.Seen) > h.o.LostAfter {
				h.forget(w)
				for _, u := range w.holds {
					if h.blame[u] == nil {
						h.blame[u] = map[string]bool{}
					}
					h.blame[u][w.ID] = true
				}
			}
		}
		nobody := len(h.workers) == 0 && h.note.Header != "" && !h.told
		h.told = h.told || nobody
		h.mu.Unlock()
		if nobody {
			h.later(func() { h.o.Say("no worker is there: the run waits for one to join") })
		}
		h.say()
	}
}

// errAnew is that of a server which was killed and started again.
var errAnew = errors.New("the cluster's server was started anew and has lost what it had of the run; resume the run, " +
	"or give the command again")

// say tells all workers what phase there is.
func (h *Hub) say() {
	h.mu.Lock()
	n := h.note
	h.mu.Unlock()
	n.Run, n.Encoded = h.id, nil
	_ = h.engine.conn.Publish(allNote, wire.Encode(&n)) // it is said again
}

// giveHeader answers a worker that has missed the header of the phase.
func (h *Hub) giveHeader(m *nats.Msg) {
	h.mu.Lock()
	b, name := h.header, h.headerName
	h.mu.Unlock()
	if string(m.Data) != name {
		b = nil
	}
	_ = m.Respond(b) // it asks again
}

// giveState puts a state on the shelf that a worker lacks.
func (h *Hub) giveState(m *nats.Msg) {
	name := string(m.Data)
	b := h.shelved(name)
	if b == nil {
		_ = m.Respond([]byte("there is none of this name any more"))
		return
	}
	if err := h.shelf.Put(name, b); err != nil {
		_ = m.Respond([]byte(err.Error()))
		return
	}
	_ = m.Respond(nil)
}

// lanes counts those of all workers.
func (h *Hub) lanes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, w := range h.workers {
		n += w.Lanes
	}
	return max(1, n)
}
