package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// mostMessage is the largest message, in bytes: a header, a unit, what came out of one.
const mostMessage = 60 << 20

// engine is the server within the run's process.
type engine struct {
	server *server.Server
	dir    string // of streams, which are nothing's only copy
	conn   *nats.Conn
	js     jetstream.JetStream
	ticket Ticket
}

// Address takes apart what a run is to listen at. Without TLS that is this machine alone.
func Address(listen string, insecure bool) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, fmt.Errorf("--cluster %s: no address such as :4222 or 192.0.2.1:4222", listen)
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("--cluster %s: no port", listen)
	}
	if ip := net.ParseIP(host); insecure && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", 0, fmt.Errorf("--insecure needs an address of this machine alone: --cluster 127.0.0.1:%d", port)
	}
	return host, port, nil
}

// startEngine listens at an address.
func startEngine(ctx context.Context, listen string, insecure bool) (e *engine, err error) {
	host, port, err := Address(listen, insecure)
	if err != nil {
		return nil, err
	}
	e = &engine{}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if e.dir, err = os.MkdirTemp("", "kestrel-cluster-"); err != nil {
		return nil, err
	}
	public, seed, err := keys()
	if err != nil {
		return nil, err
	}
	own, ownSeed, err := keys()
	if err != nil {
		return nil, err
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o := &server.Options{
		ServerName: "kestrel", Host: host, Port: port, NoSigs: true, NoLog: true, JetStream: true, StoreDir: e.dir,
		MaxPayload: mostMessage, MaxPending: 4 * mostMessage, DisableJetStreamBanner: true, WriteDeadline: 30 * time.Second,
		Nkeys: []*server.NkeyUser{{Nkey: own}, {Nkey: public, Permissions: workerPermissions()}},
	}
	if !insecure {
		cert, pin, err := certificate()
		if err != nil {
			return nil, err
		}
		e.ticket.Pin = pin
		o.TLS, o.TLSTimeout = true, 5
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}}
	}
	if e.server, err = server.NewServer(o); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	go e.server.Start()
	if !e.server.ReadyForConnections(20 * time.Second) {
		return nil, fmt.Errorf("--cluster %s: cannot listen there; is the port taken?", listen)
	}
	if host == "" || net.ParseIP(host).IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			return nil, err
		}
	}
	addr, ok := e.server.Addr().(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("--cluster %s: cannot listen there; is the port taken?", listen)
	}
	e.ticket.Address, e.ticket.Seed = net.JoinHostPort(host, strconv.Itoa(addr.Port)), seed
	if e.conn, err = nats.Connect("", nats.InProcessServer(e.server), withSeed(own, ownSeed), nats.Name("run")); err != nil {
		return nil, err
	}
	if e.js, err = jetstream.New(e.conn); err != nil {
		return nil, err
	}
	return e, e.streams(ctx)
}

// streams makes the queues. Only the shelf is on the disk.
func (e *engine) streams(ctx context.Context) error {
	for _, c := range []jetstream.StreamConfig{
		{Name: workStream, Subjects: []string{workAt + "*"}, Retention: jetstream.WorkQueuePolicy},
		{Name: doneStream, Subjects: []string{doneAt + "*"}, Retention: jetstream.WorkQueuePolicy, Duplicates: 10 * time.Minute},
	} {
		c.Storage, c.Replicas, c.MaxMsgSize = jetstream.MemoryStorage, 1, mostMessage
		if _, err := e.js.CreateStream(ctx, c); err != nil {
			return err
		}
	}
	_, err := e.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: shelfBucket, Storage: jetstream.FileStorage})
	return err
}

// workerPermissions are what a ticket is good for: to take units and to say what came of
// them, to read the shelf and put states there.
func workerPermissions() *server.Permissions {
	obj := "OBJ_" + shelfBucket
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{
			askJoin, askHeader, askShelf, beatAt + "*", doneAt + "*",
			"$JS.API.CONSUMER.MSG.NEXT." + workStream + ".*", "$JS.ACK." + workStream + ".>", "$JS.ACK.*.*." + workStream + ".>",
			"$O." + shelfBucket + ".>", "$JS.API.STREAM.INFO." + obj, "$JS.API.STREAM.MSG.GET." + obj, "$JS.API.DIRECT.GET." + obj + ".>",
			"$JS.API.DIRECT.GET." + obj, "$JS.API.CONSUMER.CREATE." + obj + ".>", "$JS.API.CONSUMER.CREATE." + obj,
			"$JS.API.CONSUMER.DELETE." + obj + ".>", "$JS.FC." + obj + ".>",
		}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>", allNote}},
	}
}

// withSeed answers the server's question by a key.
func withSeed(public, seed string) nats.Option {
	return nats.Nkey(public, func(nonce []byte) ([]byte, error) {
		pair, err := nkeys.FromSeed([]byte(seed))
		if err != nil {
			return nil, err
		}
		defer pair.Wipe()
		return pair.Sign(nonce)
	})
}

// connect connects to the run of a ticket, at another address if one is given.
func connect(t *Ticket, address string, more ...nats.Option) (*nats.Conn, error) {
	pair, err := nkeys.FromSeed([]byte(t.Seed))
	if err != nil {
		return nil, errors.New("the ticket has no key")
	}
	public, err := pair.PublicKey()
	pair.Wipe()
	if err != nil {
		return nil, err
	}
	options := append([]nats.Option{withSeed(public, t.Seed), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond),
		nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(3), nats.Timeout(5 * time.Second)}, more...)
	url := "nats://" + address
	if t.Pin != "" {
		url = "tls://" + address
		options = append(options, nats.Secure(pinned(t.Pin)))
	}
	c, err := nats.Connect(url, options...)
	switch {
	case errors.Is(err, errWrongServer):
		return nil, errWrongServer
	case errors.Is(err, nats.ErrAuthorization):
		return nil, fmt.Errorf("%s does not know this ticket; take that of the run that serves now", address)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return c, nil
}

func (e *engine) close() {
	if e.conn != nil {
		e.conn.Close()
	}
	if e.server != nil {
		e.server.Shutdown()
		e.server.WaitForShutdown()
	}
	if e.dir != "" {
		os.RemoveAll(e.dir)
	}
}
