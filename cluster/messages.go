// Package cluster lets other processes take part in a run: the run's is a server of NATS
// JetStream, from whose queue workers take units of kernels, and to which they give what
// came out. The queue holds nothing that could not be made again: log and checkpoint stay
// with the run. It is the only package that knows NATS.
package cluster

import (
	"time"

	"example.com/kestrel/internal/guard"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/wire"
)

// Subjects and streams. Units of a phase lie at work.HOME, where the worker that has their
// states takes them first, or at work.any; workers say what came out at done.ID.
const (
	workStream  = "WORK"
	doneStream  = "DONE"
	shelfBucket = "shelf"
	anyone      = "any"

	askJoin   = "ask.join"   // hello → welcome
	askHeader = "ask.header" // name → header of the phase
	askShelf  = "ask.shelf"  // name of a state → "" once it is on the shelf
	askHow    = "ask.how"    // "" → Status; the owner's
	allNote   = "all.note"   // note
	allLeave  = "all.leave"  // leave; the owner's
	beatAt    = "beat."      // + id: beat
	workAt    = "work."      // + home: unit
	doneAt    = "done."      // + id: outcome
)

// hello is what a worker says of itself.
type hello struct {
	ID    string // nobody else's
	Name  string // for people
	Lanes int
	Class Class
}

// welcome is the answer.
type welcome struct {
	Run        string // it is called by in all messages
	Refused    string // why it may not take part; "": it may
	Foundation string // name of what a site is made of, on the shelf
	LostAfter  time.Duration
	Tasks      bool   // there are tasks to do, not units of phases
	Probe      string // on the shelf, as large as a state: how fast it comes is to be measured; "": there is none
}

// note is what the run says to all: which phase there is. It is said again and again.
type note struct {
	Run     string
	Number  int      // of the phase
	Header  string   // its name; "": none is under way
	Encoded []byte   // the header itself, where it is said for the first time
	Homed   bool     // units lie where their states are
	Homes   []string // whose units others may take, too: those that have more of them than they come to soon
	Paused  bool
	Alone   bool // a worker does one at a time, with all of its lanes
	Over    bool // the run is
}

// unit is a message of the queue.
type unit struct {
	Run           string
	Phase, Number int
	Header        string
	Body          []byte
}

// order is the body of a unit that is a task.
type order struct {
	Number int // of the unit
	Kind   string
	Body   []byte
	Alone  bool // with all lanes
	Files  []sent
}

// sent is a file that a task reads: at this path where the same one is there, else from the shelf,
// by the SHA-256 of what is in it, in hexadecimal.
type sent struct {
	Path, Sum string
	Size      int64
}

// result is what came of a task.
type result struct {
	Body    []byte
	Archive string // on the shelf; "": there is none
}

// What may have become of a unit.
const (
	unitDone     = "done"
	unitFailed   = "failed"   // for a reason that ends the run
	unitWorn     = "worn"     // it has been taken too often
	unitReturned = "returned" // its worker leaves
)

// outcome is what a worker says of a unit.
type outcome struct {
	Run           string
	Phase, Number int
	Worker        string
	What, Why     string
	Mistake       *guard.PanicError // the program's, of a unit that has failed
	Seconds       float64
	Body          []byte
}

// beat says that a worker lives.
type beat struct {
	ID    string
	Name  string
	Lanes int
	Units int     // done
	Holds []int   // numbers of units that it has in hand
	Used  int     // states that units began with and that were not in messages
	Moved Moved   // to and from the shelf, states that were not at hand among them
	Speed float64 // with which a probe has come, in bytes a second; 0: there was none
}

// leave sends workers away.
type leave struct {
	Who []string // ids, or names; none: all
}

// Status is how a run stands that is served.
type Status struct {
	Run     string // for people
	Phase   string // "": none is under way
	Open    int    // units that nothing is known of yet
	Phases  int    // until now
	Units   int    // the same
	Moved   Moved  // by the run itself
	Workers []Standing
}

// Standing is how a worker stands.
type Standing struct {
	ID, Name     string
	Lanes, Units int
	Silent       float64 // seconds since it was heard of
	Used         int     // states that its units began with and that were not in messages
	Moved        Moved
}

// Protocol tells this version of all messages from others.
func Protocol() uint64 {
	return wire.Fingerprint(hello{}, welcome{}, note{}, unit{}, outcome{}, beat{}, leave{}, Status{}, order{}, result{}) ^ vbks.Protocol()
}
