package steer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// Version of the protocol. Who reads another one reads no further.
const Version = 1

// service is how a socket of a run tells itself from any other.
const service = "kestrel run"

// mostBytes of a line, more than the ids of any space take.
const mostBytes = 4 << 20

// MostOf is the greatest number that a re-optimisation may ask for.
const MostOf = 1_000_000

// hello is what the run's process says first, before it reads anything.
type hello struct {
	V       int    `json:"v"`
	Service string `json:"service"`
	PID     int    `json:"pid"`
	Run     string `json:"run,omitempty"` // its directory when it began
}

// Names of orders.
const (
	Pause      = "pause"
	Resume     = "resume"
	Stop       = "stop"
	Prune      = "prune"
	Restore    = "restore"
	Reoptimise = "reoptimise"
	look       = "look" // no order: how the run stands
)

// Orders are the names of all orders.
func Orders() []string { return []string{Pause, Resume, Stop, Prune, Restore, Reoptimise} }

// order is what is asked of a run.
type order struct {
	V       int      `json:"v"`
	Order   string   `json:"order"`
	Kernels []string `json:"kernels,omitempty"` // of prune and restore
	Change  *change  `json:"change,omitempty"`  // of reoptimise
}

// change is a vbks.Change.
type change struct {
	Evaluations int `json:"evaluations,omitempty"`
	Steps       int `json:"steps,omitempty"`
	Inducing    int `json:"inducing,omitempty"`
	Batch       int `json:"batch,omitempty"`

	Grow string `json:"grow,omitempty"` // "on" or "off"
}

// answer is what became of an order: an error, or how the run stands after it.
type answer struct {
	V      int     `json:"v"`
	Error  string  `json:"error,omitempty"`
	Status *status `json:"status,omitempty"`
}

// status is a Status.
type status struct {
	State    record.State `json:"state"`
	Pruned   []string     `json:"pruned,omitempty"`
	Seconds  float64      `json:"seconds"`
	Progress *progress    `json:"progress,omitempty"`
	Workers  []worker     `json:"workers,omitempty"`
}

// worker is a Worker.
type worker struct {
	Name   string  `json:"name"`
	Lanes  int     `json:"lanes"`
	Units  int     `json:"units"`
	Silent float64 `json:"silent"` // s
}

type progress struct {
	Phase   string   `json:"phase"`
	Done    int      `json:"done"`
	Total   int      `json:"total"`
	Kernels []kernel `json:"kernels,omitempty"` // in the space's order
}

// kernel is a vbks.KernelProgress.
type kernel struct {
	Stage vbks.Stage `json:"stage,omitempty"`
	Bound *float64   `json:"bound,omitempty"` // nil: none yet
}

func newProgress(p *vbks.Progress) *progress {
	out := &progress{Phase: p.Phase, Done: p.Done, Total: p.Total}
	for _, k := range p.Kernels {
		m := kernel{Stage: k.Stage}
		if b := k.Bound; !math.IsNaN(b) && !math.IsInf(b, 0) {
			m.Bound = &b
		}
		out.Kernels = append(out.Kernels, m)
	}
	return out
}

func (p *progress) read() vbks.Progress {
	out := vbks.Progress{Phase: p.Phase, Done: p.Done, Total: p.Total}
	for _, k := range p.Kernels {
		r := vbks.KernelProgress{Stage: k.Stage, Bound: math.NaN()}
		if k.Bound != nil {
			r.Bound = *k.Bound
		}
		out.Kernels = append(out.Kernels, r)
	}
	return out
}

func (s *Status) message() *status {
	out := &status{State: s.State, Pruned: s.Pruned, Seconds: s.Elapsed.Seconds()}
	if p := s.Progress; p.Total > 0 {
		out.Progress = newProgress(&p)
	}
	for _, w := range s.Workers {
		out.Workers = append(out.Workers, worker{w.Name, w.Lanes, w.Units, w.Silent.Seconds()})
	}
	return out
}

func (s *status) read() Status {
	out := Status{State: s.State, Pruned: s.Pruned, Elapsed: time.Duration(s.Seconds * float64(time.Second))}
	if p := s.Progress; p != nil {
		out.Progress = p.read()
	}
	for _, w := range s.Workers {
		out.Workers = append(out.Workers, Worker{w.Name, w.Lanes, w.Units, time.Duration(w.Silent * float64(time.Second))})
	}
	return out
}

var errLong = fmt.Errorf("a line is longer than %d bytes", mostBytes)

// readLine reads a line of at most mostBytes, without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > mostBytes {
			return nil, errLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// parseOrder reads an order. A key that is not known would mean something: it is
// refused.
func parseOrder(line []byte) (*order, error) {
	var v struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(line, &v); err != nil {
		return nil, fmt.Errorf("this is no order: %w", err)
	}
	if v.V != Version {
		return nil, fmt.Errorf("the order is of version %d, and this program takes those of version %d; use the same kestrel for both",
			v.V, Version)
	}
	o := &order{}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(o); err != nil {
		return nil, fmt.Errorf("this is no order: %w", err)
	}
	return o, o.check()
}

func (o *order) check() error {
	switch named := len(o.Kernels) > 0; {
	case o.Order != look && !slices.Contains(Orders(), o.Order):
		return fmt.Errorf("there is no order %.40q; there are %s", o.Order, strings.Join(Orders(), ", "))
	case (o.Order == Prune || o.Order == Restore) != named:
		return fmt.Errorf("the order %s names %d kernels", o.Order, len(o.Kernels))
	case (o.Order == Reoptimise) != (o.Change != nil):
		return fmt.Errorf("the order %s and a change do not go together", o.Order)
	case o.Change == nil:
		return nil
	}
	if g := o.Change.Grow; g != "" && g != vbks.GrowOn && g != vbks.GrowOff {
		return fmt.Errorf("a change has the growth %.40q; it must be %q or %q", g, vbks.GrowOn, vbks.GrowOff)
	}
	for _, n := range []int{o.Change.Evaluations, o.Change.Steps, o.Change.Inducing, o.Change.Batch} {
		if n < 0 || n > MostOf {
			return fmt.Errorf("a change has the number %d; it must be from 0 to %d", n, MostOf)
		}
	}
	return nil
}

// giveTo carries an order out, as if it came from the bench.
func (o *order) giveTo(r Run) error {
	switch o.Order {
	case Pause:
		return r.Pause()
	case Resume:
		return r.Resume()
	case Stop:
		return r.Stop("stopped by the user")
	case Prune:
		return r.Prune(o.Kernels)
	case Restore:
		return r.Restore(o.Kernels)
	case Reoptimise:
		c := o.Change
		return r.Reoptimize(vbks.Change{Rounds: c.Evaluations, Steps: c.Steps, Inducing: c.Inducing, Batch: c.Batch, Grow: c.Grow})
	}
	return nil // only looked at
}

// marshalLine is a message as a line.
func marshalLine(v any) ([]byte, error) {
	line, err := json.Marshal(v)
	if err == nil && len(line) >= mostBytes {
		err = errLong
	}
	return append(line, '\n'), err
}
