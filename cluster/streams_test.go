package cluster

import (
	"testing"

	"example.com/kestrel/internal/must"
)

// One run after the other makes its queues on a server that still clears away those of the
// one before: a server removes emptied folders later, also from under what is made anew.
func TestStreamsAgainAndAgain(t *testing.T) {
	id, err := NewIdentity(true)
	must.OK(t, err)
	e, err := startEngine("127.0.0.1:0", id)
	must.OK(t, err)
	defer e.close()
	for range 300 {
		must.OK(t, e.streams(t.Context(), "test"))
	}
}
