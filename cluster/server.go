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

	"example.com/kestrel/internal/scratch"
)

// mostMessage is the largest message, in bytes: a header, a unit, what came out of one.
const mostMessage = 60 << 20

// mostClosed is of how many connections that have ended the server knows something yet: by
// default ten thousand, which nobody asks for here.
const mostClosed = 16

// engine is where the queue is: a server within this process, or one elsewhere.
type engine struct {
	server *server.Server  // nil: elsewhere
	dir    *scratch.Folder // of streams, which are nothing's only copy
	conn   *nats.Conn      // the owner's
	js     jetstream.JetStream
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

// Listen has a server listen at an address for those whom an identity lets in, and enters
// there where it is reached.
func Listen(listen string, id *Identity) (close func(), err error) {
	e, err := startEngine(listen, id)
	if err != nil {
		return nil, err
	}
	return e.close, nil
}

// startEngine listens at an address, with the owner connected.
func startEngine(listen string, id *Identity) (e *engine, err error) {
	host, port, err := Address(listen, id.Insecure())
	if err != nil {
		return nil, err
	}
	e = &engine{}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	if e.dir, err = scratch.Make("cluster"); err != nil {
		return nil, err
	}
	workers, err := publicOf(id.workers)
	if err != nil {
		return nil, err
	}
	owners, err := publicOf(id.owners)
	if err != nil {
		return nil, err
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o := &server.Options{
		ServerName: "kestrel", Host: host, Port: port, NoSigs: true, NoLog: true, JetStream: true, StoreDir: e.dir.Path,
		MaxPayload: mostMessage, MaxPending: 4 * mostMessage, DisableJetStreamBanner: true, WriteDeadline: 30 * time.Second,
		MaxClosedClients: mostClosed,
		Nkeys:            []*server.NkeyUser{{Nkey: owners}, {Nkey: workers, Permissions: workerPermissions()}},
	}
	if !id.Insecure() {
		cert, err := id.tls()
		if err != nil {
			return nil, err
		}
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
	id.Address = net.JoinHostPort(host, strconv.Itoa(addr.Port))
	if e.conn, err = nats.Connect("", nats.InProcessServer(e.server), withSeed(owners, id.owners), nats.Name("run")); err != nil {
		return nil, err
	}
	e.js, err = jetstream.New(e.conn)
	return e, err
}

// joinEngine connects to a server elsewhere, as its owner.
// back is called when the connection has been lost and is there again.
func joinEngine(t *Ticket, address string, back func()) (e *engine, err error) {
	e = &engine{}
	again := nats.ReconnectHandler(func(*nats.Conn) { back() })
	if e.conn, err = connect(t, address, nats.Name("run"), again); err != nil {
		return nil, err
	}
	if e.js, err = jetstream.New(e.conn); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// has reports whether the queues of a run are there.
func (e *engine) has(ctx context.Context, run string) bool {
	ctx, cancel := context.WithTimeout(ctx, howLong)
	defer cancel()
	s, err := e.js.Stream(ctx, workStream)
	if err != nil { // it is looked for again when something is to be sent
		return !errors.Is(err, jetstream.ErrStreamNotFound)
	}
	return s.CachedInfo().Config.Description == run
}

// streams makes the queues of a run, in the place of what an earlier one has left. Only the
// shelf is on the disk.
func (e *engine) streams(ctx context.Context, run string) error {
	for _, name := range []string{workStream, doneStream, "OBJ_" + shelfBucket} {
		if err := e.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			return err
		}
	}
	for _, c := range []jetstream.StreamConfig{
		{Name: workStream, Subjects: []string{workAt + "*"}, Retention: jetstream.WorkQueuePolicy},
		{Name: doneStream, Subjects: []string{doneAt + "*"}, Retention: jetstream.WorkQueuePolicy, Duplicates: 10 * time.Minute},
	} {
		c.Storage, c.Replicas, c.MaxMsgSize, c.Description = jetstream.MemoryStorage, 1, mostMessage, run
		if _, err := e.js.CreateStream(ctx, c); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return errors.New("another run has begun to use the cluster at the same time")
		} else if err != nil {
			return err
		}
	}
	// The server removes folders that have become empty after it has said that a stream is
	// gone, now and then from under the next one, which it then cannot make.
	for {
		_, err := e.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: shelfBucket, Storage: jetstream.FileStorage})
		var refused *jetstream.APIError
		if !errors.As(err, &refused) || refused.ErrorCode != storeFailed {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// storeFailed is the server's "error creating store for stream", which nats.go does not name.
const storeFailed jetstream.ErrorCode = 10049

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
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>", allNote, allLeave}},
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

// connect connects to the server of a ticket, at an address that may be another one.
func connect(t *Ticket, address string, more ...nats.Option) (*nats.Conn, error) {
	public, err := publicOf(t.Seed)
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
	if e.dir != nil {
		e.dir.Remove()
	}
}
