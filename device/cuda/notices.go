//go:build cuda

package cuda

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// notices are what the user of a device should know though nothing failed. Any
// goroutine may add and ask.
type notices struct {
	mu   sync.Mutex
	list []string
	told int
}

// add keeps a notice that is not there yet.
func (n *notices) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.list, text) {
		n.list = append(n.list, text)
	}
}

// fresh returns what it has not returned before.
func (n *notices) fresh() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := slices.Clone(n.list[n.told:])
	n.told = len(n.list)
	return out
}

// all returns every notice so far.
func (n *notices) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}

// Notices returns what the user should know, each notice once: that there is no
// compiler, or that it refuses something, so that kernel matrices come from the
// interpreter. The result is the same, the time is not. Any goroutine may call it.
func (d *Device) Notices() []string { return d.notices.fresh() }

// mostNotice bounds a notice: a compiler's log can have thousands of lines.
const mostNotice = 400

// interpreted is the notice that n expressions are left to the interpreter.
func interpreted(n string, reason error) string {
	text := strings.Join(strings.Fields(reason.Error()), " ")
	if len(text) > mostNotice {
		text = strings.ToValidUTF8(text[:mostNotice], "") + " ..."
	}
	return fmt.Sprintf("kernel matrices of %s are interpreted, which gives the same numbers and is slower where they are large: %s", n, text)
}
