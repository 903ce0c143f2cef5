package steer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/vbks"
)

// Remote is a run of another process of this user on this machine. Its methods wait
// until the order has been carried out, and say why it was not.
type Remote struct {
	Owner rundir.Owner // whose note led here
}

// reachTime is how long the process of a run has to say who it is, while every core
// computes.
const reachTime = 10 * time.Second

// Reach finds the process that its owner's note says carries a run out. An error says
// why that takes no orders from here.
func Reach(o rundir.Owner) (*Remote, error) {
	if err := reachable(o); err != nil {
		return nil, err
	}
	r := &Remote{o}
	c, _, err := r.dial()
	if err != nil {
		return nil, elsewhere(o, err)
	}
	return r, c.Close()
}

// elsewhere is the error of a socket that leads nowhere because it is another machine's.
func elsewhere(o rundir.Owner, err error) error {
	if host, e := os.Hostname(); e == nil && o.Host != "" && o.Host != host {
		return fmt.Errorf("process %d on %s carries it out, and takes orders from there only", o.PID, o.Host)
	}
	return err
}

// reachable says what the note alone tells.
func reachable(o rundir.Owner) error {
	switch {
	case o.Known && !o.Alive:
		return errors.New("no process carries it out")
	case o.PID == 0:
		return errors.New("its owner's note cannot be read")
	case o.NoOrders != "":
		return fmt.Errorf("process %d, which carries it out, takes no orders: %s", o.PID, o.NoOrders)
	case o.Socket == "":
		return fmt.Errorf("process %d, which carries it out, takes no orders: it is of an older version, or the run is one of a series", o.PID)
	}
	return nil
}

// dial connects, and makes sure before a word is said that it is the run's process
// that listens: a run may come from others, and so may the name of the socket.
func (r *Remote) dial() (net.Conn, *bufio.Reader, error) {
	who := fmt.Sprintf("process %d, which carries it out,", r.Owner.PID)
	if err := ours(r.Owner.Socket); err != nil {
		return nil, nil, fmt.Errorf("%s cannot be reached: %w", who, err)
	}
	d := net.Dialer{Timeout: reachTime}
	at, err := d.Dial("unix", r.Owner.Socket)
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be reached: %w", who, plain(err))
	}
	c := at.(*net.UnixConn)
	in := bufio.NewReader(c)
	err = checkPeer(c)
	if err == nil {
		err = c.SetDeadline(time.Now().Add(reachTime))
	}
	var h hello
	if err == nil {
		var line []byte
		if line, err = readLine(in); err == nil && json.Unmarshal(line, &h) != nil {
			h = hello{}
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("it has not answered within %v", reachTime)
	case errors.Is(err, io.EOF):
		err = errors.New("it has hung up")
	case err != nil:
	case h.Service != service:
		err = errors.New("something else is at its socket")
	case h.V != Version:
		err = fmt.Errorf("it takes orders of version %d, and this program gives those of version %d; use the same kestrel for both", h.V, Version)
	case h.PID != r.Owner.PID:
		err = fmt.Errorf("process %d is at its socket", h.PID)
	case another(h.Run, r.Owner.Dir):
		err = fmt.Errorf("it carries out the run in %q", h.Run)
	}
	if err != nil {
		c.Close()
		return nil, nil, fmt.Errorf("%s cannot be reached: %w", who, plain(err))
	}
	return c, in, nil
}

// another reports whether a process that has begun the run in one directory is known to
// carry out another than that in dir: a copy of a run has its note. A directory may have
// been moved since; "" is not known.
func another(began, dir string) bool {
	if began == "" || dir == "" {
		return false
	}
	a, errA := os.Stat(began)
	b, errB := os.Stat(dir)
	return errA == nil && errB == nil && !os.SameFile(a, b)
}

// plain is an error without the socket's name, which says nothing to people.
func plain(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// ask gives an order and waits for its answer, however long the run's steps are.
func (r *Remote) ask(o *order) (Status, error) {
	o.V = Version
	if err := o.check(); err != nil {
		return Status{}, err
	}
	c, in, err := r.dial()
	if err != nil {
		return Status{}, err
	}
	defer c.Close()
	if err := send(c, o); err != nil {
		return Status{}, fmt.Errorf("the order was not given: %w", plain(err))
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return Status{}, err
	}
	line, err := readLine(in)
	if err != nil {
		return Status{}, fmt.Errorf("process %d ended before it answered; whether the order was carried out stands in the log", r.Owner.PID)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil || a.V != Version || a.Error == "" && a.Status == nil {
		return Status{}, errors.New("the answer to the order cannot be read; whether it was carried out stands in the log")
	}
	if a.Error != "" {
		return Status{}, errors.New(a.Error)
	}
	return a.Status.read(), nil
}

// Pause implements Run.
func (r *Remote) Pause() error { return r.give(&order{Order: Pause}) }

// Resume implements Run.
func (r *Remote) Resume() error { return r.give(&order{Order: Resume}) }

// Stop implements Run. The run writes its own reason down.
func (r *Remote) Stop(string) error { return r.give(&order{Order: Stop}) }

// Prune implements Run.
func (r *Remote) Prune(ids []string) error { return r.give(&order{Order: Prune, Kernels: ids}) }

// Restore implements Run.
func (r *Remote) Restore(ids []string) error { return r.give(&order{Order: Restore, Kernels: ids}) }

// Reoptimize implements Run.
func (r *Remote) Reoptimize(c vbks.Change) error {
	return r.give(&order{Order: Reoptimise, Change: &change{
		Evaluations: c.Rounds, Steps: c.Steps, Inducing: c.Inducing, Batch: c.Batch, Grow: c.Grow,
	}})
}

// Status implements Run.
func (r *Remote) Status() (Status, error) { return r.ask(&order{Order: look}) }

func (r *Remote) give(o *order) error {
	_, err := r.ask(o)
	return err
}
