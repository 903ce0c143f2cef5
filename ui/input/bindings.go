package input

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Binding is a key with what it does. Help and the line of keys are made from
// the same table that keys are looked up in, so they cannot lie.
type Binding struct {
	Keys  []string // as tea.Key.String has them
	Label string   // how help writes them; "": not in help
	Short string   // what it does in one word, for the line of keys; "": not there
	About string   // what it does
	Off   bool     // not possible now
	Do    func() tea.Cmd
}

// Group is the bindings of one part of the screen.
type Group struct {
	Name string
	All  []Binding
}

// Dispatch runs the first binding of a key; later groups are the more general.
func Dispatch(groups []Group, key string) (tea.Cmd, bool) {
	for _, g := range groups {
		for i := range g.All {
			b := &g.All[i]
			if !b.Off && slices.Contains(b.Keys, key) {
				return b.Do(), true
			}
		}
	}
	return nil, false
}
