package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/wire"
)

const (
	// beats says how often a worker tells that it lives, in the time after which it is
	// taken for lost.
	beats = 5
	// mostTaken is how often a unit is taken before the run is asked whether that goes on.
	mostTaken = 3
	// A lane without work waits for a unit for so long, longer each time.
	shortestPoll, idlePoll = 4 * time.Millisecond, 100 * time.Millisecond
)

// ErrRefused is below the errors of who may not take part.
var ErrRefused = errors.New("the run refuses this worker")

// errAtRest ends units of a phase that is over.
var errAtRest = errors.New("the phase is over")

// site is what carries units out: a machine's share of a run, or of tasks.
type site interface {
	Lanes() []int // numbers of those that work
	Stand(header []byte) error
	Do(ctx context.Context, lane int, body []byte) ([]byte, error)
	Lose(lane int, err error)
}

// Worker carries units of a run out on the lanes of a device.
type Worker struct {
	id, name string
	run      string // that it has joined
	conn     *nats.Conn
	site     site
	lostFor  time.Duration

	standing sync.Mutex // held while the site comes to stand otherwise

	mu      sync.Mutex
	tell    chan struct{} // has a beat said at once
	changed chan struct{} // closed when what is below changes
	noted   chan struct{} // closed when a note comes
	note    note
	ctx     context.Context // of the phase's units
	cancel  context.CancelCauseFunc
	stands  string // header that the site stands as

	holds   []int // units in hand, of as many lanes
	units   int
	leaving bool
	over    bool
	gone    bool      // another run says notes, or none does for long
	heard   time.Time // the last note
	err     error     // that ends the worker
	moved   time.Time

	moves func() (used int, m Moved) // of states
	speed float64                    // with which a probe came
}

func newWorker(conn *nats.Conn, name string, lostFor time.Duration) *Worker {
	w := &Worker{id: nuid.Next(), name: name, conn: conn, lostFor: lostFor,
		tell: make(chan struct{}, 1), changed: make(chan struct{}), noted: make(chan struct{}),
		moved: time.Now(), heard: time.Now(), moves: func() (int, Moved) { return 0, Moved{} }}
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	return w
}

// hostName is what a worker is called.
func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// WorkerOptions are those of a worker.
type WorkerOptions struct {
	Ticket  *Ticket
	Address string // of the server; "": the ticket's
	// Open opens the device, anew for each run; the class is that of the machine with it.
	Open     func(context.Context) (device.Device, Class, error)
	Do       func(context.Context, *Order) (Result, error) // does a task
	Stay     bool                                          // when a run is over it waits for the next one
	IdleExit time.Duration                                 // it leaves after so long without a unit; 0: never
	Tell     func(string)                                  // what happens, a line each
}

// errShut is that of a connection which does not come back.
var errShut = errors.New("the server does not let this worker in any more; take the ticket of the run that serves now")

// mostSilent is for how long a worker that is connected hears nothing of its run before it
// looks for another one; a run says something twice a second.
const mostSilent = 30 * time.Second

// nextLook is after how long a worker looks again for a run to join.
const nextLook = 500 * time.Millisecond

// Work takes part in a run until that is over, the worker has been idle for too long or is
// sent away, or ctx ends: then what it has begun is handed back. A run that was killed and
// goes on is joined again.
func Work(ctx context.Context, o WorkerOptions) error {
	address := o.Address
	if address == "" {
		address = o.Ticket.Address
	}
	ctx, away := context.WithCancelCause(ctx)
	defer away(nil)
	conn, err := connect(o.Ticket, address, nats.Name(hostName()), nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
		if err != nil {
			o.Tell("the run cannot be reached; trying again")
		}
	}), nats.ReconnectHandler(func(*nats.Conn) { o.Tell("back") }), nats.ClosedHandler(func(*nats.Conn) { away(errShut) }))
	if err != nil {
		return err
	}
	defer conn.Close()
	name := hostName()
	id := nuid.Next()
	sent, err := conn.Subscribe(allLeave, func(m *nats.Msg) {
		l, err := wire.Decode[leave](m.Data)
		if err == nil && (len(l.Who) == 0 || slices.Contains(l.Who, id) || slices.Contains(l.Who, name)) {
			o.Tell("sent away")
			away(nil)
		}
	})
	if err != nil {
		return err
	}
	defer sent.Unsubscribe()
	bench := &bench{do: o.Do}
	defer bench.close()
	moved := time.Now()
	for {
		w := newWorker(conn, name, 0)
		w.id, w.moved = id, moved
		another, err := w.session(ctx, o, bench)
		switch {
		case err != nil:
			return err
		case errors.Is(context.Cause(ctx), errShut):
			return errShut
		case !another:
			return nil
		}
		moved = w.moved
	}
}

// session takes part in one run; another says that the worker is to look for the next one.
func (w *Worker) session(ctx context.Context, o WorkerOptions, b *bench) (another bool, err error) {
	dev, class, err := o.Open(ctx)
	if ctx.Err() != nil && err != nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer dev.Close()
	answer, err := w.await(ctx, dev.Info().Lanes, class, o)
	if answer == nil || err != nil {
		return false, err
	}
	w.lostFor, w.run = answer.LostAfter, answer.Run
	notes, err := w.conn.Subscribe(allNote, w.hear)
	if err != nil {
		return false, err
	}
	defer notes.Unsubscribe()
	var foundation []byte
	shelf, err := newShelf(ctx, w.conn, true)
	if err == nil && !answer.Tasks {
		foundation, err = shelf.Get(ctx, answer.Foundation)
	}
	if err == nil && answer.Probe != "" {
		began := time.Now()
		var b []byte
		b, err = shelf.Get(ctx, answer.Probe)
		w.speed = float64(len(b)) / time.Since(began).Seconds()
	}
	if err != nil { // the run may be gone by now
		o.Tell(fmt.Sprintf("the run's data: %v; trying again", err))
		select {
		case <-time.After(nextLook):
		case <-ctx.Done():
		}
		return ctx.Err() == nil, nil
	}
	if answer.Tasks {
		b.begin()
		w.site, w.stands = &taskSite{bench: b, shelf: shelf, device: dev.Info()}, tasksHeader
	} else if s, err := vbks.NewSite(dev, foundation, shelf, w.hold); err != nil {
		return false, fmt.Errorf("the run's data: %w", err)
	} else {
		before := shelf.Moved()
		w.site, w.moves = s, func() (int, Moved) { return s.Used(), shelf.Moved().less(before) }
	}
	o.Tell(fmt.Sprintf("taking part with %d lanes", len(w.site.Lanes())))
	err = w.work(ctx, o.IdleExit)
	w.mu.Lock()
	defer w.mu.Unlock()
	return ctx.Err() == nil && !w.leaving && (w.gone || w.over && o.Stay), err
}

// await joins the run that uses the server, when there is one; nil: it has waited for too long.
func (w *Worker) await(ctx context.Context, lanes int, class Class, o WorkerOptions) (*welcome, error) {
	told := false
	for {
		answer, err := w.join(ctx, lanes, class)
		switch {
		case err == nil || errors.Is(err, ErrRefused) && !o.Stay:
			return answer, err
		case ctx.Err() != nil:
			return nil, nil
		case o.IdleExit > 0 && time.Since(w.moved) > o.IdleExit:
			o.Tell("nothing to do for so long")
			return nil, nil
		}
		if !told && errors.Is(err, ErrRefused) {
			o.Tell(err.Error() + "; waiting for another run")
		} else if !told {
			o.Tell("no run is there; waiting for one")
		}
		told = true
		select {
		case <-time.After(nextLook):
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// join asks the run whether it takes this worker.
func (w *Worker) join(ctx context.Context, lanes int, class Class) (*welcome, error) {
	ctx, cancel := context.WithTimeout(ctx, howLong)
	defer cancel()
	m, err := w.conn.RequestWithContext(ctx, askJoin, wire.Encode(&hello{w.id, w.name, lanes, class}))
	if err != nil {
		return nil, fmt.Errorf("the run does not answer: %w", err)
	}
	a, err := wire.Decode[welcome](m.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: it is of another version of kestrel; start the version that the run has", ErrRefused)
	}
	if a.Refused != "" {
		return nil, fmt.Errorf("%w: %s", ErrRefused, a.Refused)
	}
	return a, nil
}

// change has a change made that others wait for.
func (w *Worker) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
	close(w.changed)
	w.changed = make(chan struct{})
}

// hear takes a note of the run.
func (w *Worker) hear(m *nats.Msg) {
	if n, err := wire.Decode[note](m.Data); err == nil {
		w.take(n)
	}
}

// take goes by a note.
func (w *Worker) take(n *note) {
	w.change(func() {
		if n.Run != w.run {
			w.lose()
			return
		}
		w.heard = time.Now()
		if n.Number < w.note.Number { // late
			return
		}
		if n.Header != w.note.Header || n.Number != w.note.Number {
			w.cancel(errAtRest)
			w.ctx, w.cancel = context.WithCancelCause(context.Background())
		} else if n.Encoded == nil {
			n.Encoded = w.note.Encoded
		}
		w.note, w.over = *n, w.over || n.Over
		close(w.noted)
		w.noted = make(chan struct{})
	})
}

// lose gives the run up that was joined; the lock is held.
func (w *Worker) lose() {
	w.gone = true
	w.cancel(errAtRest)
	close(w.noted)
	w.noted = make(chan struct{})
}

// rest ends the phase and waits until no lane has a unit of it.
func (w *Worker) rest(number int) {
	w.take(&note{Run: w.run, Number: number})
	for {
		w.mu.Lock()
		busy, changed := len(w.holds), w.changed
		w.mu.Unlock()
		if busy == 0 {
			return
		}
		<-changed
	}
}

// hold blocks while the run is paused.
func (w *Worker) hold(ctx context.Context) error {
	for {
		w.mu.Lock()
		paused, changed := w.note.Paused && !w.over && !w.gone, w.changed
		w.mu.Unlock()
		if !paused {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// work does units until there is nothing more to do.
func (w *Worker) work(ctx context.Context, idle time.Duration) error {
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() { w.beat(stop) })
	var lanes sync.WaitGroup
	for _, lane := range w.site.Lanes() {
		lanes.Go(func() {
			if err := guard.Do(func() error { return w.lane(lane) }); err != nil {
				w.change(func() { w.err, w.leaving = errors.Join(w.err, err), true })
			}
		})
	}
	gone := make(chan struct{})
	go func() { lanes.Wait(); close(gone) }()
	look := time.NewTicker(idlePoll)
	defer look.Stop()
	for done := false; !done; {
		select {
		case <-gone:
			done = true
		case <-ctx.Done():
			w.leave()
			<-gone
			done = true
		case <-look.C:
			w.mu.Lock()
			late := idle > 0 && len(w.holds) == 0 && time.Since(w.moved) > idle
			silent := !w.gone && time.Since(w.heard) > max(mostSilent, 3*w.lostFor) && w.conn.IsConnected()
			w.mu.Unlock()
			if silent {
				w.change(w.lose)
			}
			if late {
				w.leave()
			}
		}
	}
	close(stop)
	wg.Wait()
	return w.err
}

// leave has the lanes hand back what they have begun.
func (w *Worker) leave() {
	w.change(func() {
		w.leaving = true
		w.cancel(errLeaves)
	})
}

var errLeaves = errors.New("the worker leaves")

// beat tells the run that the worker lives.
func (w *Worker) beat(stop chan struct{}) {
	tick := time.NewTicker(max(w.lostFor/beats, 10*time.Millisecond))
	defer tick.Stop()
	say := func(lanes int) {
		w.mu.Lock()
		b := beat{ID: w.id, Name: w.name, Lanes: lanes, Units: w.units, Holds: slices.Clone(w.holds)}
		w.mu.Unlock()
		b.Used, b.Moved = w.moves()
		b.Speed = w.speed
		_ = w.conn.Publish(beatAt+w.id, wire.Encode(&b)) // else it is missed
	}
	for {
		say(len(w.site.Lanes()))
		select {
		case <-tick.C:
		case <-w.tell:
		case <-stop:
			say(0)
			_ = w.conn.FlushTimeout(time.Second)
			return
		}
	}
}
