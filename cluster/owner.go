package cluster

import (
	"errors"
	"net"
	"time"

	"github.com/nats-io/nats.go"

	"example.com/kestrel/vbks/wire"
)

// howLong an answer of a run is waited for.
const howLong = 3 * time.Second

// ask asks the run that uses a server how it stands; nil: there is none.
func ask(c *nats.Conn) (*Status, error) {
	m, err := c.Request(askHow, nil, howLong)
	if errors.Is(err, nats.ErrTimeout) { // it may have vanished with the question, which the server then knows
		m, err = c.Request(askHow, nil, howLong)
	}
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return wire.Decode[Status](m.Data)
}

// asOwner connects to a server, from its own machine also where its name leads nowhere.
func asOwner(t *Ticket, do func(*nats.Conn) error) error {
	c, err := connect(t, t.Address)
	if _, port, e := net.SplitHostPort(t.Address); err != nil && e == nil && !errors.Is(err, errWrongServer) {
		if here, e := connect(t, net.JoinHostPort("127.0.0.1", port)); e == nil {
			c, err = here, nil
		}
	}
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// How says how the run stands that uses a server; nil: none does.
func How(owner *Ticket) (s *Status, err error) {
	err = asOwner(owner, func(c *nats.Conn) error {
		s, err = ask(c)
		return err
	})
	return s, err
}

// SendAway has workers hand back what they have begun and end: those of these ids or names, or all.
func SendAway(owner *Ticket, who ...string) error {
	return asOwner(owner, func(c *nats.Conn) error {
		if err := c.Publish(allLeave, wire.Encode(&leave{who})); err != nil {
			return err
		}
		return c.FlushTimeout(howLong)
	})
}
