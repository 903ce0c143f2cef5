package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"example.com/kestrel/device"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/device/cpu/simd"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/wire"
)

func onCPU(t *testing.T, lanes int) *cpu.Device {
	t.Helper()
	level, err := simd.Choose("")
	must.OK(t, err)
	dev := cpu.New(cpu.Options{Lanes: lanes, Level: level})
	t.Cleanup(func() { dev.Close() })
	return dev
}

// series is a run to be made by several.
func series(t *testing.T, optimizer string, inducing int) *vbks.Trainer {
	t.Helper()
	const n = 90
	rng := rand.New(rand.NewPCG(5, 2))
	data := vbks.Training{Dim: 1, X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		data.X[i] = 4 * (2*rng.Float64() - 1)
		data.Y[i] = math.Sin(2*data.X[i]) + 0.3*data.X[i] + 0.3*rng.NormFloat64()
	}
	s := vbks.DefaultSettings()
	s.Optimizer, s.Inducing, s.Batch, s.EvaluateEvery, s.Refine, s.Steps, s.Starts, s.Samples = optimizer, inducing, 16, 0.5, 0, 5, 2, 300
	s.Evidence, s.AllRows = "mode", 0
	var space []vbks.Candidate
	for _, text := range []string{"SE", "LIN+SE", "PER", "SE*LIN", "PER+SE"} {
		e, err := kernelspace.Parse(text)
		must.OK(t, err)
		space = append(space, vbks.Candidate{Expr: e, Weight: 1})
	}
	tr, err := vbks.New(t.Context(), onCPU(t, 2), data, space, []string{"x"}, s)
	must.OK(t, err)
	return tr
}

func train(t *testing.T, tr *vbks.Trainer) {
	t.Helper()
	for !tr.Done() {
		_, err := tr.Next(t.Context())
		must.OK(t, err)
	}
}

var class = Class{Protocol(), "test", "cpu", "test"}

// told is what a hub has told.
type told struct {
	mu           sync.Mutex
	joined, lost []WorkerInfo
	said         []string
}

func (o *told) options(t testing.TB, insecure bool) Options {
	t.Helper()
	id, err := NewIdentity(insecure)
	must.OK(t, err)
	note := func(list *[]WorkerInfo) func(WorkerInfo) {
		return func(w WorkerInfo) {
			o.mu.Lock()
			defer o.mu.Unlock()
			*list = append(*list, w)
		}
	}
	return Options{Name: "test", Listen: "127.0.0.1:0", Identity: id, Class: class, LostAfter: time.Second, MostLost: 3, WorkHere: true,
		Joined: note(&o.joined), Lost: note(&o.lost),
		Say: func(s string) { o.mu.Lock(); defer o.mu.Unlock(); o.said = append(o.said, s) }}
}

func (o *told) counts() (joined, lost, said int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.joined), len(o.lost), len(o.said)
}

// await waits until something is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// lanesOf opens a device for a worker.
func lanesOf(lanes int, c Class) func(context.Context) (device.Device, Class, error) {
	return func(context.Context) (device.Device, Class, error) {
		level, err := simd.Choose("")
		return cpu.New(cpu.Options{Lanes: lanes, Level: level}), c, err
	}
}

// taking has a worker take part until the function it returns is called, which waits for it.
func taking(t *testing.T, ticket *Ticket, lanes int) (leave func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Work(ctx, WorkerOptions{Ticket: ticket, Open: lanesOf(lanes, class), Stay: true, Tell: func(string) {}})
	}()
	return func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(30 * time.Second):
			return errors.New("the worker does not leave")
		}
	}
}

// A run over TLS with two workers beside its own lanes, of which one leaves in between, is
// the same bit for bit; states that are large come from the shelf.
func TestWorkersMakeTheSameRun(t *testing.T) {
	for _, c := range []struct {
		optimizer string
		inducing  int
		here      bool
	}{{"collapsed", 8, true}, {"natural", 64, false}} {
		t.Run(c.optimizer, func(t *testing.T) {
			want := series(t, c.optimizer, c.inducing)
			train(t, want)
			tr, o := series(t, c.optimizer, c.inducing), &told{}
			options := o.options(t, false)
			options.WorkHere = c.here
			h, err := Serve(t.Context(), tr, options)
			must.OK(t, err)
			defer h.Close()
			first, second := taking(t, options.Identity.Ticket(), 1), taking(t, options.Identity.Ticket(), 2)
			workers := 2
			if c.here {
				workers = 3
			}
			await(t, "workers join", func() bool { n, _, _ := o.counts(); return n == workers })
			lanes := 1 + 2
			if c.here {
				lanes += 2 // the run's own
			}
			await(t, "their lanes are counted", func() bool { return h.lanes() == lanes })
			_, err = tr.Next(t.Context())
			must.OK(t, err)
			must.OK(t, first())
			await(t, "a worker has left", func() bool { _, n, _ := o.counts(); return n == 1 })
			train(t, tr)
			if !reflect.DeepEqual(tr.Checkpoint(), want.Checkpoint()) {
				t.Error("workers make another run")
			}
			x := []float64{-1, 0, 2}
			a, err := tr.Predict(t.Context(), x, vbks.PredictOptions{})
			must.OK(t, err)
			b, err := want.Predict(t.Context(), x, vbks.PredictOptions{})
			must.OK(t, err)
			if !reflect.DeepEqual(a, b) {
				t.Error("workers make other predictions")
			}
			must.OK(t, second())
			results, err := h.engine.js.Consumer(t.Context(), doneStream, "run")
			must.OK(t, err)
			await(t, "nothing that was taken would be sent again", func() bool {
				info, err := results.Info(t.Context())
				must.OK(t, err)
				return info.NumAckPending == 0 && info.NumPending == 0
			})
			h.mu.Lock()
			heavy := h.heavy
			h.mu.Unlock()
			if heavy != (c.optimizer == "natural") {
				t.Errorf("states on the shelf: %v", heavy)
			}
		})
	}
}

// Without a worker the run waits, and says so; who joins then works. A phase can be
// ended while it waits.
func TestNobodyIsThere(t *testing.T) {
	tr, o := series(t, "collapsed", 8), &told{}
	options := o.options(t, true)
	options.WorkHere = false
	h, err := Serve(t.Context(), tr, options)
	must.OK(t, err)
	defer h.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	ended := make(chan error, 1)
	go func() { _, err := tr.Next(ctx); ended <- err }()
	await(t, "it is said that nobody is there", func() bool { _, _, n := o.counts(); return n == 1 })
	cancel(stopped)
	if err := <-ended; !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	go func() { _, err := tr.Next(t.Context()); ended <- err }()
	leave := taking(t, options.Identity.Ticket(), 2)
	must.OK(t, <-ended)
	must.OK(t, leave())
}

// A pause reaches workers soon, and is no loss of theirs.
func TestPausesReachWorkers(t *testing.T) {
	tr, o := series(t, "collapsed", 8), &told{}
	var mu sync.Mutex
	open := make(chan struct{})
	close(open)
	tr.SetGate(func(ctx context.Context) error {
		mu.Lock()
		c := open
		mu.Unlock()
		select {
		case <-c:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	options := o.options(t, false)
	options.WorkHere = false
	h, err := Serve(t.Context(), tr, options)
	must.OK(t, err)
	defer h.Close()
	leave := taking(t, options.Identity.Ticket(), 1)
	ended := make(chan error, 1)
	done := make(chan struct{}, 1000)
	first := true
	tr.SetProgress(func(vbks.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if first {
			first, open = false, make(chan struct{})
		}
		done <- struct{}{}
	})
	go func() { _, err := tr.Next(t.Context()); ended <- err }()
	await(t, "the run works", func() bool { return len(done) > 0 })
	time.Sleep(200 * time.Millisecond)
	for len(done) > 0 {
		<-done
	}
	time.Sleep(1500 * time.Millisecond) // longer than a worker may be silent
	if n := len(done); n > 0 {
		t.Errorf("%d kernels were done during the pause", n)
	}
	if _, n, _ := o.counts(); n > 0 {
		t.Error("a paused worker is taken for lost")
	}
	mu.Lock()
	close(open)
	mu.Unlock()
	must.OK(t, <-ended)
	must.OK(t, leave())
}

// A program is of one class, which has what results depend on.
func TestClasses(t *testing.T) {
	info := onCPU(t, 1).Info()
	c, err := ClassOf(info)
	must.OK(t, err)
	again, err := ClassOf(info)
	must.OK(t, err)
	if c != again || c.Build == "" || c.Kind != info.Kind || !strings.Contains(c.Arithmetic, info.Arithmetic) || c.refuses(again) != "" {
		t.Errorf("%+v and %+v", c, again)
	}
}

// Whoever is of another class, has another key or finds another server is told so, and a
// ticket is good for nothing but units.
func TestWhoIsRefused(t *testing.T) {
	tr, o := series(t, "collapsed", 8), &told{}
	options := o.options(t, false)
	h, err := Serve(t.Context(), tr, options)
	must.OK(t, err)
	defer h.Close()
	work := func(c Class, change func(*Ticket)) string {
		ticket := *options.Identity.Ticket()
		change(&ticket)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := Work(ctx, WorkerOptions{Ticket: &ticket, Open: lanesOf(1, c), Tell: func(string) {}}); err != nil {
			return err.Error()
		}
		return ""
	}
	same := func(*Ticket) {}
	_, otherSeed, err := keys()
	must.OK(t, err)
	for want, got := range map[string]string{
		"another version of kestrel": work(Class{1, "test", "cpu", "test"}, same),
		"another build":              work(Class{class.Protocol, "x", "cpu", "test"}, same),
		"computes with avx9":         work(Class{class.Protocol, "test", "cpu", "avx9"}, same),
		"start it with --device cpu": work(Class{class.Protocol, "test", "cuda", "test"}, same),
		"another server":             work(class, func(t *Ticket) { t.Pin = strings.Repeat("0", 64) }),
		"does not know this ticket":  work(class, func(t *Ticket) { t.Seed = otherSeed }),
		"tls":                        work(class, func(t *Ticket) { t.Pin = "" }),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	c, err := connect(options.Identity.Ticket(), options.Identity.Address, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	must.OK(t, err)
	defer c.Close()
	for _, subject := range []string{"$JS.API.STREAM.DELETE.WORK", "$JS.API.STREAM.PURGE.WORK", "$JS.API.STREAM.PURGE.OBJ_shelf",
		"$JS.API.CONSUMER.CREATE.WORK.x",
		"$JS.API.CONSUMER.MSG.NEXT.DONE.run", "work.any", "all.note", "all.leave", "ask.how", "$SYS.REQ.SERVER.PING"} {
		if m, err := c.Request(subject, nil, 150*time.Millisecond); err == nil {
			t.Errorf("%s: %s", subject, m.Data)
		}
	}
	if s, err := c.SubscribeSync(doneAt + ">"); err == nil {
		must.OK(t, c.Flush())
		if _, err := s.NextMsg(100 * time.Millisecond); !errors.Is(err, nats.ErrPermissionViolation) && !errors.Is(err, nats.ErrTimeout) {
			t.Error(err)
		}
	}
	// Who asks for a state that is gone is told so at once.
	shelf, err := newShelf(t.Context(), c, true)
	must.OK(t, err)
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := shelf.Get(soon, "gone"); err == nil || !strings.Contains(err.Error(), "none of this name") {
		t.Errorf("a state that nobody has: %v", err)
	}
	bare, err := NewIdentity(true)
	must.OK(t, err)
	if _, err := Serve(t.Context(), tr, Options{Listen: ":0", Identity: bare}); err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v", err)
	}
}

// A unit with which three workers went down is halved to the one kernel, which fails.
func TestUnitsThatTakeWorkersDown(t *testing.T) {
	tr, o := series(t, "collapsed", 8), &told{}
	options := o.options(t, false)
	options.WorkHere, options.LostAfter = false, 300*time.Millisecond
	h, err := Serve(t.Context(), tr, options)
	must.OK(t, err)
	defer h.Close()
	h.rate["optimise"] = 1e-9 // large units
	c, err := connect(options.Identity.Ticket(), options.Identity.Address)
	must.OK(t, err)
	defer c.Close()
	ended := make(chan error, 1)
	var e *vbks.Evaluation
	go func() {
		var err error
		e, err = tr.Next(t.Context())
		ended <- err
	}()
	to, err := c.SubscribeSync(c.NewInbox())
	must.OK(t, err)
	var begun []int
	for range options.MostLost { // each takes every unit, says so, and is not heard of again
		w := newWorker(c, "doomed", options.LostAfter)
		answer, err := w.join(t.Context(), 1, class)
		must.OK(t, err)
		w.run = answer.Run
		b := beat{ID: w.id, Name: w.name, Lanes: 1}
		await(t, "units come again", func() bool {
			m, _ := w.pull(to, &note{}, idlePoll)
			if m != nil {
				u, err := wire.Decode[unit](m.Data)
				must.OK(t, err)
				if !slices.Contains(b.Holds, u.Number) {
					b.Holds = append(b.Holds, u.Number)
				}
			}
			must.OK(t, c.Publish(beatAt+w.id, wire.Encode(&b)))
			// Units are handed out one by one: there are two at least, and no further one waits.
			return m == nil && len(b.Holds) >= max(2, len(begun)) && (begun != nil || len(b.Holds) == h.Status().Open)
		})
		begun = b.Holds
	}
	await(t, "all are lost", func() bool { _, n, _ := o.counts(); return n == options.MostLost })
	leave := taking(t, options.Identity.Ticket(), 2)
	must.OK(t, <-ended)
	must.OK(t, leave())
	failed, live := 0, 0
	for _, k := range e.Kernels {
		if strings.Contains(k.Reason, "3 workers went down") {
			failed++
		} else if k.Status == vbks.Live {
			live++
		}
	}
	if failed == 0 || live < 2 || failed+live != 5 || len(begun) < 2 || len(begun) == 5 {
		t.Errorf("of %d units that nobody survived %d kernels have failed, %d are live", len(begun), failed, live)
	}
}

func TestTickets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ticket")
	want := &Ticket{Address: "h:1", Pin: "ab", Seed: "SUX"}
	must.OK(t, WriteSecret(path, want.Bytes()))
	if got, err := ReadTicket(path, false); err != nil || *got != *want {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ReadTicket(path, true); err == nil || !strings.Contains(err.Error(), "for workers") {
		t.Errorf("as the owner's: %v", err)
	}
	want.Owner = true
	must.OK(t, WriteSecret(path, want.Bytes()))
	if got, err := ReadTicket(path, true); err != nil || *got != *want {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ReadTicket(path, false); err == nil || !strings.Contains(err.Error(), "the owner's ticket") {
		t.Errorf("as a worker's: %v", err)
	}
	must.OK(t, os.Chmod(path, 0o640))
	if _, err := ReadTicket(path, true); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v", err)
	}
}

// An identity is the same after it was kept, and a damaged one is no other.
func TestIdentities(t *testing.T) {
	for _, insecure := range []bool{false, true} {
		id, err := NewIdentity(insecure)
		must.OK(t, err)
		id.Address = "h:1"
		again, err := ParseIdentity(id.Bytes())
		must.OK(t, err)
		if *again.Ticket() != *id.Ticket() || *again.OwnTicket() != *id.OwnTicket() || again.Insecure() != insecure ||
			id.Ticket().Pin == "" != insecure {
			t.Errorf("%+v became %+v", id, again)
		}
		for _, b := range [][]byte{nil, id.Bytes()[:60], id.Ticket().Bytes()} {
			if _, err := ParseIdentity(b); err == nil {
				t.Errorf("%q is taken for an identity", b)
			}
		}
	}
}

// A standing server lets runs come and go: a worker that stays takes part in one after the
// other, also where the first one's process vanishes; two at once are refused; the owner
// sees and sends away.
func TestStandingServer(t *testing.T) {
	id, err := NewIdentity(false)
	must.OK(t, err)
	shut, err := Listen("127.0.0.1:0", id)
	must.OK(t, err)
	if s, err := How(id.OwnTicket()); s != nil || err != nil {
		t.Errorf("%+v, %v of a server without a run", s, err)
	}
	leave := taking(t, id.Ticket(), 1)
	want := series(t, "collapsed", 8)
	train(t, want)
	for turn := range 2 {
		tr, o := series(t, "collapsed", 8), &told{}
		options := o.options(t, false)
		options.Owner, options.At, options.WorkHere = id.OwnTicket(), id.Address, false
		h, err := Serve(t.Context(), tr, options)
		must.OK(t, err)
		if _, err := Serve(t.Context(), series(t, "collapsed", 8), options); err == nil ||
			!strings.Contains(err.Error(), `used by the run "test"`) {
			t.Errorf("two runs at once: %v", err)
		}
		await(t, "the worker joins", func() bool { n, _, _ := o.counts(); return n == 1 })
		if turn == 0 {
			_, err = tr.Next(t.Context())
			must.OK(t, err)
			h.engine.conn.Close() // as if the process were killed; nobody hears of the end
			h.Close()
			continue
		}
		train(t, tr)
		if !reflect.DeepEqual(tr.Checkpoint(), want.Checkpoint()) {
			t.Error("workers make another run")
		}
		var s *Status
		await(t, "the worker has told of its units", func() bool {
			s, err = How(id.OwnTicket())
			must.OK(t, err)
			return s != nil && len(s.Workers) == 1 && s.Workers[0].Units > 0
		})
		if s.Run != "test" || s.Workers[0].Lanes != 1 {
			t.Errorf("%+v", s)
		}
		must.OK(t, SendAway(id.OwnTicket(), s.Workers[0].Name))
		await(t, "the worker has left", func() bool { _, n, _ := o.counts(); return n == 1 })
		h.Close()
	}
	must.OK(t, leave())
	tr, o := series(t, "collapsed", 8), &told{}
	options := o.options(t, false)
	options.Owner, options.At, options.WorkHere = id.OwnTicket(), id.Address, false
	h, err := Serve(t.Context(), tr, options)
	must.OK(t, err)
	defer h.Close()
	ended := make(chan error, 1)
	go func() { _, err := tr.Next(t.Context()); ended <- err }()
	await(t, "it is said that nobody is there", func() bool { _, _, n := o.counts(); return n == 1 })
	shut()
	again, err := Listen(id.Address, id)
	must.OK(t, err)
	defer again()
	if err := <-ended; !errors.Is(err, errAnew) {
		t.Errorf("a server that has lost the run: %v", err)
	}
}

// A worker that is sent away while its server cannot be reached does not wait for that.
func TestLeavesThoughNobodyHears(t *testing.T) {
	o := &told{}
	options := o.options(t, false)
	options.WorkHere = false
	p, err := ServeTasks(t.Context(), options, 1)
	must.OK(t, err)
	defer p.Close()
	began := make(chan struct{})
	leave := helping(t, options.Identity.Ticket(), 1, func(ctx context.Context, _ *Order) (Result, error) {
		close(began)
		<-ctx.Done()
		return Result{}, context.Cause(ctx)
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	task, _ := asking("body", "x")
	go func() { ended <- p.Do(ctx, task) }()
	<-began
	p.hub.engine.server.Shutdown()
	left := make(chan error, 1)
	go func() { left <- leave() }()
	select {
	case err := <-left:
		must.OK(t, err)
	case <-time.After(40 * time.Second): // it would try for 100
		t.Error("the worker does not leave")
	}
	cancel()
	<-ended
}
