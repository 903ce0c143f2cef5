package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// binding is a key with what it does. Help and the line of keys are made from
// the same table that keys are looked up in, so they cannot lie.
type binding struct {
	keys  []string // as tea.Key.String has them
	label string   // how help writes them; "": not in help
	short string   // what it does in one word, for the line of keys; "": not there
	about string   // what it does
	off   bool     // not possible now
	do    func() tea.Cmd
}

// bindingGroup is the bindings of one part of the screen.
type bindingGroup struct {
	name string
	all  []binding
}

// dispatch runs the first binding of a key; later groups are the more general.
func dispatch(groups []bindingGroup, key string) (tea.Cmd, bool) {
	for _, g := range groups {
		for i := range g.all {
			b := &g.all[i]
			if !b.off && slices.Contains(b.keys, key) {
				return b.do(), true
			}
		}
	}
	return nil, false
}
