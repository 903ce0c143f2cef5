//go:build linux || darwin || freebsd

package steer

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
	"example.com/kestrel/internal/goroutines"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/vbks"
)

// noted is a run that notes what it is ordered.
type noted struct {
	mu     sync.Mutex
	orders []string
	refuse error
	hold   chan struct{} // nil, or what orders wait for
}

func (n *noted) note(format string, args ...any) error {
	if n.hold != nil {
		<-n.hold
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.orders = append(n.orders, fmt.Sprintf(format, args...))
	return n.refuse
}

func (n *noted) Pause() error                   { return n.note("pause") }
func (n *noted) Resume() error                  { return n.note("resume") }
func (n *noted) Stop(reason string) error       { return n.note("stop: %s", reason) }
func (n *noted) Prune(ids []string) error       { return n.note("prune %q", ids) }
func (n *noted) Restore(ids []string) error     { return n.note("restore %q", ids) }
func (n *noted) Reoptimize(c vbks.Change) error { return n.note("reoptimise %+v", c) }
func (n *noted) Status() (Status, error) {
	return Status{State: record.Running, Pruned: []string{"SE"}, Elapsed: 1500 * time.Millisecond,
		Progress: vbks.Progress{Done: 1, Total: 3, Phase: "optimise",
			Kernels: []vbks.KernelProgress{{Stage: vbks.Working, Bound: -12.5}, {Stage: vbks.Queued}}},
		Workers: []Worker{{Name: "desk/3", Lanes: 2, Units: 7, Silent: 250 * time.Millisecond}}}, nil
}

func (n *noted) got() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.orders, "; ")
}

// ownPlace makes a folder of the test the place of sockets.
func ownPlace(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "k") // that of the test is too long for a socket
	must.OK(t, err)
	t.Cleanup(func() { os.RemoveAll(dir); goroutines.End(t, "closed") })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return filepath.Join(dir, "kestrel")
}

func listenFor(t *testing.T, run Run) (*Server, rundir.Owner) {
	t.Helper()
	at := t.TempDir()
	s, err := Listen(run, at)
	must.OK(t, err)
	t.Cleanup(func() { s.Close() })
	return s, rundir.Owner{Dir: at, PID: os.Getpid(), Host: "", Alive: true, Known: true, Socket: s.Path}
}

// Every order arrives as it was given, and its answer too.
func TestOrders(t *testing.T) {
	dir := ownPlace(t)
	run := &noted{}
	s, o := listenFor(t, run)
	if filepath.Dir(s.Path) != dir {
		t.Errorf("the socket is %s", s.Path)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	r, err := Reach(o)
	must.OK(t, err)
	must.OK(t, r.Pause())
	must.OK(t, r.Resume())
	must.OK(t, r.Prune([]string{"PER+SE", "a \"b\"\nc"}))
	must.OK(t, r.Restore([]string{"SE"}))
	must.OK(t, r.Reoptimize(vbks.Change{Steps: 2, Inducing: 3, Batch: 4, Grow: "on", Rounds: 5}))
	must.OK(t, r.Stop("whatever"))
	want := `pause; resume; prune ["PER+SE" "a \"b\"\nc"]; restore ["SE"]; reoptimise {Steps:2 Inducing:3 Batch:4 Grow:on Rounds:5}; ` +
		"stop: stopped by the user"
	if run.got() != want {
		t.Errorf("ordered %s, want %s", run.got(), want)
	}
	now, err := r.Status()
	must.OK(t, err)
	if want, _ := run.Status(); !reflect.DeepEqual(now, want) {
		t.Errorf("%+v, want %+v", now, want)
	}
	run.refuse = errors.New("the run is finished and cannot be paused")
	if err := r.Pause(); err == nil || err.Error() != run.refuse.Error() {
		t.Errorf("refused with %v", err)
	}
	must.OK(t, s.Close())
	if _, err := os.Lstat(s.Path); !os.IsNotExist(err) {
		t.Errorf("the socket stays: %v", err)
	}
	if err := r.Pause(); err == nil || !strings.Contains(err.Error(), "cannot be reached") || strings.Contains(err.Error(), "\n") {
		t.Errorf("closed: %v", err)
	}
}

// Where no order can be given, one line says why.
func TestWhyNot(t *testing.T) {
	dir := ownPlace(t)
	_, o := listenFor(t, &noted{})
	other := func(change func(o *rundir.Owner)) rundir.Owner { o := o; change(&o); return o }
	others := 0
	says := func(text string) func(o *rundir.Owner) { // somebody else's socket
		return func(o *rundir.Owner) {
			others++
			listening := filepath.Join(dir, fmt.Sprintf("%d.sock", others))
			at, err := net.Listen("unix", listening)
			must.OK(t, err)
			t.Cleanup(func() { at.Close() })
			go func() {
				if c, err := at.Accept(); err == nil {
					c.Write([]byte(text))
					c.Close()
				}
			}()
			o.Socket = listening
		}
	}
	for want, o := range map[string]rundir.Owner{
		"no process carries it out":               other(func(o *rundir.Owner) { o.Alive = false }),
		"older version":                           other(func(o *rundir.Owner) { o.Socket = "" }),
		"no place":                                other(func(o *rundir.Owner) { o.Socket, o.NoOrders = "", "no place" }),
		"on elsewhere carries it out":             other(func(o *rundir.Owner) { o.Host, o.Socket = "elsewhere", dir+"/y.sock" }),
		"no name of a run's socket":               other(func(o *rundir.Owner) { o.Socket = "/run/docker" }),
		"others may enter":                        other(func(o *rundir.Owner) { o.Socket = "/tmp/y.sock" }),
		"cannot be reached":                       other(func(o *rundir.Owner) { o.Socket = dir + "/y.sock" }),
		fmt.Sprintf("process %d is", os.Getpid()): other(func(o *rundir.Owner) { o.PID = 1 }),
		"something else is at its socket":         other(says("+OK ready\n")),
		"it has hung up":                          other(says("")),
		"carries out the run in \"" + o.Dir:       other(func(o *rundir.Owner) { o.Dir = dir }),
		"version 2":                               other(says(`{"v":2,"service":"kestrel run","pid":1}` + "\n")),
	} {
		if _, err := Reach(o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// As many who say nothing as are served at once keep nobody else out: on who has been silent
// for longest the run hangs up.
func TestSilentPeers(t *testing.T) {
	ownPlace(t)
	run := &noted{}
	s, o := listenFor(t, run)
	var first net.Conn
	for range mostPeers + 3 {
		silent, err := net.Dial("unix", s.Path)
		must.OK(t, err)
		defer silent.Close()
		first = cmp.Or(first, silent)
	}
	began := time.Now()
	r, err := Reach(o)
	must.OK(t, err)
	must.OK(t, r.Pause())
	if took := time.Since(began); took >= peerTime || run.got() != "pause" {
		t.Errorf("%s after %v", run.got(), took)
	}
	must.OK(t, first.SetReadDeadline(began.Add(peerTime/2)))
	if _, err := io.ReadAll(first); err != nil {
		t.Errorf("the first that was silent: %v", err)
	}
}

// What is no order is refused in a line, and does nothing.
func TestNoOrders(t *testing.T) {
	ownPlace(t)
	run := &noted{}
	s, o := listenFor(t, run)
	for line, want := range map[string]string{
		"pause\n":                        "this is no order",
		"{}\n":                           "version 0",
		`{"v":2,"order":"pause"}` + "\n": "version 2",
		`{"v":1,"order":"pause","when":1}` + "\n":                   "unknown field",
		`{"v":1,"order":"fly"}` + "\n":                              "there is no order \\\"fly\\\"; there are pause, resume",
		`{"v":1,"order":"prune"}` + "\n":                            "names 0 kernels",
		`{"v":1,"order":"stop","kernels":["a"]}\n`:                  "",
		`{"v":1,"order":"reoptimise"}` + "\n":                       "do not go together",
		strings.Repeat("x", mostBytes+1) + "\n":                     "longer than",
		`{"v":1,"order":"reoptimise","change":{"steps":-1}}` + "\n": "must be from 0 to 1000000",
	} {
		c, err := net.Dial("unix", s.Path)
		must.OK(t, err)
		in := bufio.NewReader(c)
		_, err = in.ReadString('\n')
		must.OK(t, err)
		go func() {
			_, _ = c.Write([]byte(line)) // of a line that is too long it may not take all
			_ = c.(*net.UnixConn).CloseWrite()
		}()
		got, _ := in.ReadString('\n')
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%.60q is answered %.200q, want %q", line, got, want)
		}
		c.Close()
	}
	if run.got() != "" {
		t.Errorf("ordered %s", run.got())
	}
	r, err := Reach(o)
	must.OK(t, err)
	if err := r.Prune(nil); err == nil { // here already
		t.Error("pruned nothing")
	}
}

// Closing cuts off who has said nothing, waits for an order in hand and lets its
// answer out; many at once are served or hung up on.
func TestClosing(t *testing.T) {
	ownPlace(t)
	run := &noted{hold: make(chan struct{})}
	s, o := listenFor(t, run)
	silent, err := net.Dial("unix", s.Path)
	must.OK(t, err)
	defer silent.Close()
	r, err := Reach(o)
	must.OK(t, err)
	answered := make(chan error, 1)
	go func() { answered <- r.Pause() }()
	for begun := false; !begun; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		for _, p := range s.open {
			begun = begun || p.busy
		}
		s.mu.Unlock()
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case <-closed:
		t.Error("closed before the order was carried out")
	case <-answered:
		t.Error("answered before the order was carried out")
	case <-time.After(50 * time.Millisecond):
	}
	close(run.hold)
	must.OK(t, <-answered)
	must.OK(t, <-closed)
	if run.got() != "pause" {
		t.Error(run.got())
	}
}

// Orders of many at once are all carried out or refused, and none twice.
func TestManyAtOnce(t *testing.T) {
	ownPlace(t)
	run := &noted{}
	_, o := listenFor(t, run)
	var all sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for range 40 {
		all.Add(1)
		go func() {
			defer all.Done()
			r := &Remote{o}
			if r.Pause() == nil {
				mu.Lock()
				taken++
				mu.Unlock()
			}
		}()
	}
	all.Wait()
	if n := len(run.orders); n != taken || n == 0 {
		t.Errorf("%d orders were carried out, %d were answered so", n, taken)
	}
}

// What a killed process has left is removed by the next run, what lives is not, nor
// what others call so.
func TestStaleSockets(t *testing.T) {
	dir := ownPlace(t)
	living, _ := listenFor(t, &noted{})
	stale := filepath.Join(dir, machine()+"-1-dead.sock")
	at, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	must.OK(t, err)
	at.SetUnlinkOnClose(false)
	must.OK(t, at.Close())
	other, file := filepath.Join(dir, "00000000-1-dead.sock"), filepath.Join(dir, machine()+"-1-file.sock")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	must.OK(t, os.WriteFile(other, nil, 0o600))
	listenFor(t, &noted{})
	for path, stays := range map[string]bool{stale: false, living.Path: true, other: true, file: true} {
		if _, err := os.Lstat(path); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A place that others could reach into, or whose name is too long, is passed over.
func TestPlaces(t *testing.T) {
	dir := ownPlace(t)
	second, err := os.MkdirTemp("/tmp", "k")
	must.OK(t, err)
	defer os.RemoveAll(second)
	t.Setenv("TMPDIR", second)
	for _, change := range []func(){
		func() { must.OK(t, os.Mkdir(dir, 0o755)) },
		func() { must.OK(t, os.Remove(dir)); must.OK(t, os.Symlink(second, dir)) },
		func() { must.OK(t, os.Remove(dir)); must.OK(t, os.WriteFile(dir, nil, 0o600)) },
		func() { t.Setenv("XDG_RUNTIME_DIR", filepath.Join("/tmp", strings.Repeat("x", longestPath))) },
		func() { t.Setenv("XDG_RUNTIME_DIR", "relative") },
	} {
		change()
		s, err := Listen(&noted{}, t.TempDir())
		must.OK(t, err)
		if want := filepath.Join(second, fmt.Sprintf("kestrel-%d", os.Getuid())); filepath.Dir(s.Path) != want {
			t.Errorf("the socket is %s, want one in %s", s.Path, want)
		}
		must.OK(t, s.Close())
	}
}
