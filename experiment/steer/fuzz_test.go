package steer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"example.com/kestrel/vbks"
)

// counted is a run that counts its orders.
type counted struct{ orders int }

func (c *counted) Pause() error                 { c.orders++; return nil }
func (c *counted) Resume() error                { c.orders++; return nil }
func (c *counted) Stop(string) error            { c.orders++; return nil }
func (c *counted) Prune([]string) error         { c.orders++; return nil }
func (c *counted) Restore([]string) error       { c.orders++; return nil }
func (c *counted) Reoptimize(vbks.Change) error { c.orders++; return nil }
func (c *counted) Status() (Status, error)      { return Status{}, nil }

// Whatever a peer sends, it gets one line of JSON at most, and only a line that is an
// order does anything, once.
func FuzzConversation(f *testing.F) {
	for _, text := range []string{`{"v":1,"order":"pause"}`, `{"v":1,"order":"prune","kernels":["a"]}`, `{"v":1,"order":"look"}`,
		`{"v":1,"order":"reoptimise","change":{"steps":1}}`, `{"v":2}`, `{"v":1,"order":"stop","order":"x"}`, "", "{", "null", "[1]",
	} {
		f.Add([]byte(text))
		f.Add([]byte(text + "\n" + text + "\n"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		run := &counted{}
		here, there := net.Pipe()
		s := &Server{run: run, open: map[net.Conn]*peer{here: {}}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = here.SetDeadline(time.Now().Add(peerTime))
			_ = s.talk(here)
			here.Close()
		}()
		in := bufio.NewReader(there)
		if _, err := in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		go func() { // a pipe's other end may have no more ears
			_, _ = there.Write(text)
			if !bytes.Contains(text, []byte("\n")) {
				there.Close()
			}
		}()
		said, _ := io.ReadAll(in)
		<-done
		there.Close()
		line, _, whole := bytes.Cut(text, []byte("\n"))
		o, err := parseOrder(line)
		want := 0
		if whole && err == nil && o.Order != look {
			want = 1
		}
		if run.orders != want {
			t.Errorf("%q: %d orders, want %d", text, run.orders, want)
		}
		if len(said) == 0 && !whole {
			return
		}
		var a answer
		if bytes.Count(said, []byte("\n")) != 1 || json.Unmarshal(said, &a) != nil || a.V != Version || (a.Error == "") != (err == nil) {
			t.Errorf("%q is answered %q, %v", text, said, err)
		}
	})
}
