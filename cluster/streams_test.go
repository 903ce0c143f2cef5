package cluster

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"example.com/kestrel/internal/must"
)

// One run after the other makes its queues on a server that still clears away those of the
// one before: a server removes emptied folders later, also from under what is made anew.
func TestStreamsAgainAndAgain(t *testing.T) {
	id, err := NewIdentity(true)
	must.OK(t, err)
	e, err := startEngine("127.0.0.1:0", id)
	must.OK(t, err)
	defer e.close()
	for range 300 {
		must.OK(t, e.streams(t.Context(), "test"))
	}
}

// A server that stays forgets the runs that it has had.
func TestServerForgets(t *testing.T) {
	id, err := NewIdentity(true)
	must.OK(t, err)
	e, err := startEngine("127.0.0.1:0", id)
	must.OK(t, err)
	defer e.close()
	run := func() {
		one, err := joinEngine(id.OwnTicket(), id.Address, func() {})
		must.OK(t, err)
		defer one.close()
		must.OK(t, one.streams(t.Context(), "test"))
	}
	for range 2 * mostClosed {
		run()
	}
	c, err := e.server.Connz(&server.ConnzOptions{State: server.ConnClosed})
	must.OK(t, err)
	if len(c.Conns) > mostClosed {
		t.Errorf("it knows of %d connections that have ended", len(c.Conns))
	}
}
