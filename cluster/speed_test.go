package cluster

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks/wire"
)

// What a worker's death costs: from when it falls silent with a unit until that is begun by
// another worker, in seconds, beside lost_after.
func BenchmarkDeath(b *testing.B) {
	o := &told{}
	options := o.options(b, false)
	options.WorkHere = false
	p, err := ServeTasks(b.Context(), options, 1)
	must.OK(b, err)
	defer p.Close()
	c, err := connect(options.Identity.Ticket(), options.Identity.Address)
	must.OK(b, err)
	defer c.Close()
	to, err := c.SubscribeSync(c.NewInbox())
	must.OK(b, err)
	total := time.Duration(0)
	for b.Loop() {
		w := newWorker(c, "doomed", options.LostAfter)
		answer, err := w.join(b.Context(), 1, class)
		must.OK(b, err)
		w.run = answer.Run
		ended := make(chan error, 1)
		task, _ := asking("body", "x")
		go func() { ended <- p.Do(b.Context(), task) }()
		for {
			if m, _ := w.pull(to, &note{}, idlePoll); m != nil {
				u, err := wire.Decode[unit](m.Data)
				must.OK(b, err)
				must.OK(b, c.Publish(beatAt+w.id, wire.Encode(&beat{ID: w.id, Name: w.name, Lanes: 1, Holds: []int{u.Number}})))
				must.OK(b, c.Flush())
				break
			}
		}
		died := time.Now()
		var begun time.Time
		leave := helping(b, options.Identity.Ticket(), 1, func(context.Context, *Order) (Result, error) {
			begun = time.Now()
			return Result{}, nil
		})
		must.OK(b, <-ended)
		total += begun.Sub(died)
		must.OK(b, leave())
	}
	b.ReportMetric(total.Seconds()/float64(b.N), "s/death")
	b.ReportMetric(options.LostAfter.Seconds(), "s-lost-after")
}

// How long it takes a worker from when it begins to join until it has begun a unit.
func BenchmarkJoin(b *testing.B) {
	o := &told{}
	options := o.options(b, false)
	options.WorkHere = false
	p, err := ServeTasks(b.Context(), options, 1)
	must.OK(b, err)
	defer p.Close()
	total := time.Duration(0)
	for b.Loop() {
		ended := make(chan error, 1)
		task, _ := asking("body", "x")
		go func() { ended <- p.Do(b.Context(), task) }()
		came := time.Now()
		var begun time.Time
		leave := helping(b, options.Identity.Ticket(), 1, func(context.Context, *Order) (Result, error) {
			begun = time.Now()
			return Result{}, nil
		})
		must.OK(b, <-ended)
		total += begun.Sub(came)
		must.OK(b, leave())
	}
	b.ReportMetric(total.Seconds()/float64(b.N), "s/join")
}

// countingDialer counts what comes in over the connections that it makes.
type countingDialer struct{ came atomic.Int64 }

type countingConn struct {
	net.Conn
	came *atomic.Int64
}

func (c *countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.came.Add(int64(n))
	return n, err
}

func (d *countingDialer) Dial(network, address string) (net.Conn, error) {
	c, err := net.Dial(network, address)
	return &countingConn{c, &d.came}, err
}

// How many bytes come to each of three workers for a gigabyte of rows, TLS and all.
func BenchmarkGigabyte(b *testing.B) {
	const size = 1e9
	rows := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(rows)
	o := &told{}
	options := o.options(b, false)
	h, err := serve(b.Context(), options, welcome{Foundation: foundationName}, rows, nil)
	must.OK(b, err)
	defer h.Close()
	for b.Loop() {
		most := int64(0)
		for range 3 {
			d := &countingDialer{}
			c, err := connect(options.Identity.Ticket(), options.Identity.Address, nats.SetCustomDialer(d))
			must.OK(b, err)
			shelf, err := newShelf(b.Context(), c, true)
			must.OK(b, err)
			got, err := shelf.Get(b.Context(), foundationName)
			must.OK(b, err)
			if !bytes.Equal(got, rows) {
				b.Error("other bytes")
			}
			c.Close()
			most = max(most, d.came.Load())
		}
		b.ReportMetric(float64(most)/size, "of-its-bytes")
	}
}
