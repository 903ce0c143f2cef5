//go:build cuda

package driver

/*
#cgo noescape kestrel_carry
#cgo nocallback kestrel_carry
#cgo noescape kestrel_record
#cgo nocallback kestrel_record
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"hash/maphash"
	"unsafe"
)

const (
	// fewCalls are so few that a graph is not worth its memory.
	fewCalls = 4
	// mostGraphs and mostSeen are how many are kept; beyond, all are forgotten.
	mostGraphs = 128
	mostSeen   = 1 << 10
	// mostVaried is how many numbers Vary has places for between two calls that are carried out.
	mostVaried = 64
)

// gathering is what has been asked for between Gather and Carry, as calls.h writes it, and the graphs
// of what has been asked for so often before.
type gathering struct {
	on     bool
	words  []uint64
	ops    []string // what each call is, for errors
	varied []float64
	places Ptr // of what is varied

	seen    map[uint64]bool // hashes of what has been carried out once
	seed    maphash.Seed
	graphs  map[string]C.CUgraphExec
	refused error // why the driver records nothing
}

// Gather puts off launches, and sets of memory, until Carry. What is asked for a second time with
// the same arguments is recorded as a graph, which from then on takes one call of the driver. Whatever else
// is asked of the card comes behind what is gathered until then, as everywhere.
//
// Recording is what a driver may refuse, as those before 11.4 do; then Records is false, and calls are made
// one by one. What is computed is the same.
func (c *Card) Gather() {
	g := &c.gathered
	c.issue()
	if g.refused != nil || c.err != nil {
		return
	}
	if g.places == 0 {
		if g.places, g.refused = c.Alloc(8 * mostVaried); g.refused != nil {
			return
		}
		g.seed, g.seen, g.graphs = maphash.MakeSeed(), map[uint64]bool{}, map[string]C.CUgraphExec{}
	}
	g.on = true
}

// Carry carries out what has been gathered.
func (c *Card) Carry() {
	c.issue()
	c.gathered.on = false
}

// Records reports whether the driver has not yet refused to record a graph.
func (c *Card) Records() bool { return c.gathered.refused == nil }

// Graphs returns how many graphs are kept.
func (c *Card) Graphs() int { return len(c.gathered.graphs) }

// Vary returns an address at which launches that are being gathered find these numbers, so that
// other numbers make no other graph. It serves until something else than a launch or a set of memory
// is asked of the card. Without Gather, and where there are too many, it is 0.
func (c *Card) Vary(values ...float64) Ptr {
	g := &c.gathered
	if !g.on || len(g.varied)+len(values) > mostVaried {
		return 0
	}
	at := g.places.Add(8 * len(g.varied))
	g.varied = append(g.varied, values...)
	return at
}

// gather adds a call.
func (g *gathering) gather(op string, head [C.kestrel_call_words]uint64, args []uint64) {
	g.ops = append(g.ops, op)
	g.words = append(append(g.words, head[:]...), args...)
}

// issue carries out what has been gathered so far.
func (c *Card) issue() {
	g := &c.gathered
	if len(g.ops) == 0 {
		return
	}
	words, ops, varied := g.words, g.ops, g.varied
	g.words, g.ops, g.varied = g.words[:0], g.ops[:0], g.varied[:0]
	if len(varied) > 0 {
		c.copyIn(g.places, bytesOf(varied))
	}
	if c.err != nil {
		return
	}
	graph, err := c.graph(words, len(ops))
	if err != nil {
		g.refused = err
		g.on = false
	}
	if graph != nil {
		c.keep(fmt.Sprintf("%d calls, first %s", len(ops), ops[0]), C.kestrel_graph_launch(c.context, c.queue, graph))
		return
	}
	var failed C.int
	if r := C.kestrel_carry(c.context, c.queue, (*C.uint64_t)(unsafe.Pointer(&words[0])), C.int(len(words)), &failed); r != C.CUDA_SUCCESS {
		c.keep(ops[failed], r)
	}
}

// graph returns the graph of calls, which is recorded when they are made a second time; nil where there
// is none.
func (c *Card) graph(words []uint64, calls int) (C.CUgraphExec, error) {
	g := &c.gathered
	if calls < fewCalls || g.refused != nil {
		return nil, nil
	}
	key := bytesOf(words)
	if graph, ok := g.graphs[string(key)]; ok {
		return graph, nil
	}
	if hash := maphash.Bytes(g.seed, key); !g.seen[hash] {
		if len(g.seen) >= mostSeen {
			clear(g.seen)
		}
		g.seen[hash] = true
		return nil, nil
	}
	if len(g.graphs) >= mostGraphs {
		if err := c.do("waiting", c.stream.Synchronize); err != nil {
			return nil, err
		}
		c.forgetGraphs()
	}
	var graph C.CUgraphExec
	if r := C.kestrel_record(c.context, c.queue, (*C.uint64_t)(unsafe.Pointer(&words[0])), C.int(len(words)), &graph); r != C.CUDA_SUCCESS {
		return nil, &Error{Op: "recording a graph", Card: c.info.String(), Code: int(r)}
	}
	g.graphs[string(key)] = graph
	return graph, nil
}

// forgetGraphs gives the graphs back, of which none may be running.
func (c *Card) forgetGraphs() {
	for _, graph := range c.gathered.graphs {
		C.kestrel_graph_destroy(c.context, graph)
	}
	clear(c.gathered.graphs)
}
