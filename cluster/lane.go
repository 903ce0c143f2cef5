package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"example.com/kestrel/device"
	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks/wire"
)

// lane does units on a lane until the worker leaves or the lane is lost.
func (w *Worker) lane(lane int) error {
	to, err := w.conn.SubscribeSync(w.conn.NewInbox())
	if err != nil {
		return err
	}
	defer to.Unsubscribe()
	wait := shortestPoll
	for {
		w.mu.Lock()
		n, noted := w.note, w.noted
		end := w.leaving || w.over || w.gone
		w.mu.Unlock()
		if end {
			return nil
		}
		if n.Header == "" || n.Alone && lane != w.site.Lanes()[0] {
			select {
			case <-noted:
			case <-time.After(idlePoll):
			}
			wait = shortestPoll
			continue
		}
		m, taken := w.pull(to, &n, wait)
		if m == nil {
			wait = min(2*wait, idlePoll)
			continue
		}
		wait = shortestPoll
		if err := w.answer(lane, m, taken); err != nil {
			return err
		}
	}
}

// begin counts a lane in as busy with a unit of a phase and returns the phase's note, or
// waits for that; nil: it is over, or not for this worker to do.
func (w *Worker) begin(u *unit) (n *note, ctx context.Context, over bool) {
	late := time.After(w.lostFor)
	for {
		w.mu.Lock()
		n, ctx, noted := w.note, w.ctx, w.noted
		now := n.Number == u.Phase && n.Header == u.Header && !w.gone
		gone := w.gone
		if now {
			w.holds = append(w.holds, u.Number)
		}
		w.mu.Unlock()
		switch {
		case now:
			return &n, ctx, false
		case gone:
			return nil, nil, false
		case n.Number >= u.Phase:
			return nil, nil, true
		}
		select {
		case <-noted:
		case <-late:
			return nil, nil, false
		}
	}
}

// answer does a unit and says what came of it. Its error is that of a lane that is lost.
func (w *Worker) answer(lane int, m *nats.Msg, taken uint64) error {
	u, err := wire.Decode[unit](m.Data)
	if err != nil {
		w.ack(m)
		return nil
	}
	if u.Run != w.run { // of the next one, which says so soon
		w.handBack(m)
		w.change(w.lose)
		return nil
	}
	n, ctx, over := w.begin(u)
	if n == nil && !over {
		w.handBack(m)
		return nil
	}
	if n == nil {
		w.ack(m)
		return nil
	}
	defer w.change(func() {
		i := slices.Index(w.holds, u.Number)
		w.holds = slices.Delete(w.holds, i, i+1)
		w.units++
		w.moved = time.Now()
	})
	out := outcome{Run: w.run, Phase: u.Phase, Number: u.Number, Worker: w.id, What: unitDone}
	if taken > 1 { // it may have taken others down
		signal(w.tell)
	}
	began := time.Now()
	if taken > mostTaken {
		out.What = unitWorn
	} else {
		stop := w.keepAlive(m)
		if err = w.stand(ctx, n); err == nil {
			out.Body, err = w.do(ctx, lane, u)
		}
		stop()
	}
	out.Seconds = time.Since(began).Seconds()
	lost := errors.Is(err, device.ErrLost)
	switch {
	case err == nil:
	case lost:
		w.site.Lose(lane, err)
		out.What, out.Why = unitReturned, err.Error()
	case ctx.Err() != nil || errors.Is(err, errAtRest):
		if !errors.Is(context.Cause(ctx), errLeaves) {
			w.letGo(m, u)
			return nil
		}
		out.What = unitReturned
	case unreached(err):
		out.What, out.Why = unitReturned, err.Error()
	default:
		out.What, out.Why = unitFailed, err.Error()
		errors.As(err, &out.Mistake)
	}
	if w.say(&out, taken) {
		w.ack(m)
	} else {
		w.letGo(m, u)
	}
	if lost {
		return fmt.Errorf("lane %d: %w", lane+1, err)
	}
	return nil
}

func (w *Worker) do(ctx context.Context, lane int, u *unit) (b []byte, err error) {
	err = guard.Do(func() error {
		var err error
		b, err = w.site.Do(ctx, lane, u.Body)
		return err
	})
	return b, err
}

// unreached reports whether an error is only that nobody could be reached for a while.
func unreached(err error) bool {
	return slices.ContainsFunc([]error{nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionReconnecting,
		nats.ErrConnectionClosed, jetstream.ErrNoStreamResponse, context.DeadlineExceeded, os.ErrDeadlineExceeded},
		func(one error) bool { return errors.Is(err, one) })
}

// stand has the site stand as the header of a note says, once.
func (w *Worker) stand(ctx context.Context, n *note) error {
	w.mu.Lock()
	stands := w.stands
	w.mu.Unlock()
	if stands == n.Header {
		return nil
	}
	w.standing.Lock()
	defer w.standing.Unlock()
	w.mu.Lock()
	stands = w.stands
	w.mu.Unlock()
	if stands == n.Header {
		return nil
	}
	header := n.Encoded
	for known := header != nil; !known; {
		asking, cancel := context.WithTimeout(ctx, howLong) // a question may be lost with its connection
		m, err := w.conn.RequestWithContext(asking, askHeader, []byte(n.Header))
		cancel()
		switch {
		case err == nil:
			header, known = m.Data, true
			if len(header) == 0 && n.Header != tasksHeader { // the run is at another one by now
				return errAtRest
			}
		case ctx.Err() != nil || !unreached(err):
			return err
		default:
			time.Sleep(idlePoll)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.site.Stand(header); err != nil {
		return err
	}
	w.mu.Lock()
	w.stands = n.Header
	w.mu.Unlock()
	return nil
}

// pull takes a unit: where units have homes one of the worker's own kernels, else one of
// nobody's, else another worker's that has too many, the costliest first; nil after having waited in vain.
// taken counts how often it has been taken.
func (w *Worker) pull(to *nats.Subscription, n *note, wait time.Duration) (m *nats.Msg, taken uint64) {
	from := []string{anyone}
	if n.Homed {
		from = []string{w.id, anyone}
		for _, h := range n.Homes {
			if h != w.id {
				from = append(from, h)
			}
		}
		wait /= time.Duration(len(from))
	}
	for _, home := range from {
		// It is the server that ends the waiting: what it gives to nobody would be lost for a while.
		ask := fmt.Sprintf(`{"batch":1,"expires":%d}`, max(wait, time.Millisecond).Nanoseconds())
		// The server gives units to a subject of their own only, not to one of many answers.
		if err := w.conn.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+workStream+"."+home, to.Subject, []byte(ask)); err != nil {
			continue
		}
		m, err := to.NextMsg(wait + 2*time.Second)
		if err != nil || m.Reply == "" || m.Header.Get("Status") != "" {
			continue
		}
		if meta, err := m.Metadata(); err == nil {
			return m, meta.NumDelivered
		}
	}
	return nil, 0
}

// keepAlive tells the queue that a unit is being worked on.
func (w *Worker) keepAlive(m *nats.Msg) (stop func()) {
	done := make(chan struct{})
	tick := time.NewTicker(max(w.lostFor/beats, 10*time.Millisecond))
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = w.conn.Publish(m.Reply, []byte("+WPI")) // else another worker takes it, too
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// letGo gives up a unit of which nothing has been told: for good where its phase is over, else
// others are to take it.
func (w *Worker) letGo(m *nats.Msg, u *unit) {
	w.mu.Lock()
	over := w.note.Number > u.Phase || w.note.Number == u.Phase && w.note.Header != u.Header
	w.mu.Unlock()
	if over {
		w.ack(m)
	} else {
		w.handBack(m)
	}
}

// say tells what came of a unit, and whether the server has taken it. It drops what was told before.
func (w *Worker) say(out *outcome, taken uint64) bool {
	b := wire.Encode(out)
	if len(b) > mostMessage-1024 {
		out.What, out.Why, out.Body = unitFailed, "what a unit makes is too large for a message: give fewer rows to predict at", nil
		b = wire.Encode(out)
	}
	id := fmt.Sprintf("%s.%d.%d", out.Run, out.Phase, out.Number)
	if out.What != unitDone {
		id += fmt.Sprintf(".%s.%d", out.What, taken)
	}
	m := &nats.Msg{Subject: doneAt + w.id, Data: b, Header: nats.Header{"Nats-Msg-Id": []string{id}}}
	for range 20 { // then it is taken again
		w.mu.Lock()
		wait := 5 * time.Second
		if w.leaving {
			wait = time.Second
		}
		w.mu.Unlock()
		if r, err := w.conn.RequestMsg(m, wait); err == nil && len(r.Data) > 0 {
			return true
		}
		w.mu.Lock()
		end := w.over || w.gone
		w.mu.Unlock()
		if end || w.stranded() {
			return false
		}
		time.Sleep(idlePoll)
	}
	return false
}

// stranded reports whether a worker is to leave that reaches nobody: what it has begun others
// begin when it is taken for lost.
func (w *Worker) stranded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leaving && !w.conn.IsConnected()
}

// handBack has a message given to another worker.
func (w *Worker) handBack(m *nats.Msg) { _ = w.conn.Publish(m.Reply, []byte("-NAK")) } // else it is after a while

// ack gives a message up, and waits until the server knows.
func (w *Worker) ack(m *nats.Msg) {
	_, _ = w.conn.Request(m.Reply, []byte("+ACK"), 5*time.Second) // else it comes again, and what comes of it is dropped
}
