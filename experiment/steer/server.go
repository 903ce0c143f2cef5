package steer

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"example.com/kestrel/internal/guard"
)

const (
	mostPeers  = 16              // at once
	peerTime   = 5 * time.Second // to say an order, or to take its answer
	acceptWait = 50 * time.Millisecond
)

// Server takes orders for a run, at a socket.
type Server struct {
	Path string // of the socket

	run  Run
	dir  string // of the run
	at   *net.UnixListener
	mu   sync.Mutex
	open map[net.Conn]*peer
	over bool
	done sync.WaitGroup
}

// peer is who is connected.
type peer struct {
	since time.Time
	busy  bool // what it asks is being done
}

// Listen takes orders for a run of this process, written to dir, until Close. An error
// says why none can come.
func Listen(run Run, dir string) (*Server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	at, err := listen()
	if err != nil {
		return nil, err
	}
	s := &Server{Path: at.Addr().String(), run: run, dir: dir, at: at, open: map[net.Conn]*peer{}}
	s.done.Add(1)
	go s.accept()
	return s, nil
}

// Close takes no more orders, waits for those in hand, which have their answer, and
// removes the socket.
func (s *Server) Close() error {
	s.mu.Lock()
	s.over = true
	for c, p := range s.open {
		if !p.busy {
			c.Close()
		}
	}
	s.mu.Unlock()
	err := s.at.Close()
	s.done.Wait()
	return err
}

func (s *Server) accept() {
	defer s.done.Done()
	for {
		c, err := s.at.AcceptUnix()
		s.mu.Lock()
		switch {
		case s.over:
			s.mu.Unlock()
			if err == nil {
				c.Close()
			}
			return
		case err != nil: // too many files are open; those who wait may be lucky later
			s.mu.Unlock()
			time.Sleep(acceptWait)
			continue
		case len(s.open) >= mostPeers && !s.giveUp():
			s.mu.Unlock()
			c.Close()
			continue
		}
		s.open[c] = &peer{since: time.Now()}
		s.done.Add(1)
		s.mu.Unlock()
		go s.serve(c)
	}
}

// giveUp hangs up on the peer that has been silent for longest; false where every one's
// order is in hand. s.mu is held.
func (s *Server) giveUp() bool {
	var longest net.Conn
	for c, p := range s.open {
		if !p.busy && (longest == nil || p.since.Before(s.open[longest].since)) {
			longest = c
		}
	}
	if longest == nil {
		return false
	}
	longest.Close() // its serve ends with an error
	delete(s.open, longest)
	return true
}

// serve takes the one order of a peer.
func (s *Server) serve(c *net.UnixConn) {
	defer s.done.Done()
	defer func() {
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
		c.Close()
	}()
	_ = guard.Do(func() error { // a mistake here is of this order alone; the peer sees the end
		if err := checkPeer(c); err != nil {
			return err
		}
		if err := c.SetDeadline(time.Now().Add(peerTime)); err != nil {
			return err
		}
		return s.talk(c)
	})
}

// talk says hello, reads an order and answers it.
func (s *Server) talk(c net.Conn) error {
	if err := send(c, &hello{V: Version, Service: service, PID: os.Getpid(), Run: s.dir}); err != nil {
		return err
	}
	a := &answer{V: Version}
	line, err := readLine(bufio.NewReader(c))
	if err != nil && err != errLong {
		return err
	}
	var o *order
	if err == nil {
		o, err = parseOrder(line)
	}
	if err == nil && !s.begin(c) {
		err = fmt.Errorf("the run takes no more orders: it is being closed")
	}
	if err == nil {
		err = guard.Do(func() error { return o.giveTo(s.run) })
	}
	if err == nil {
		var now Status
		if now, err = s.run.Status(); err == nil {
			a.Status = now.message()
		}
	}
	if err != nil {
		a.Error = err.Error()
	}
	if err := c.SetDeadline(time.Now().Add(peerTime)); err != nil {
		return err
	}
	return send(c, a)
}

// begin notes that an order is being carried out, unless it is too late.
func (s *Server) begin(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[c]
	if s.over || p == nil {
		return false
	}
	p.busy = true
	return true
}

func send(c net.Conn, v any) error {
	line, err := marshalLine(v)
	if err == nil {
		_, err = c.Write(line)
	}
	return err
}
