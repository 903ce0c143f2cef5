package launcher

import (
	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/ui/input"
)

// editing returns the text that keys go into, nil if there is none.
func (l *Launcher) editing() *input.Field {
	switch l.focus {
	case onFilter:
		return &l.filter
	case onTyped:
		return &l.typed
	case onParts:
		if c := l.chosen(); c != nil && c.base != nil {
			return c.text(l.part)
		}
	}
	return nil
}

// edit changes a text and what follows from it.
func (l *Launcher) edit(f *input.Field, msg tea.Msg) tea.Cmd {
	before := f.Value()
	f.Update(msg)
	if f.Value() == before {
		return nil
	}
	switch l.focus {
	case onFilter:
		return l.listed(func() {
			l.list.filter = f.Value()
			l.list.rebuild()
		})
	case onTyped:
		return l.moved()
	}
	return l.changed()
}

// Paste takes pasted text: into the text that is being edited, else as a path.
func (l *Launcher) Paste(msg tea.PasteMsg) tea.Cmd {
	l.acted = l.host.Now()
	if f := l.editing(); f != nil && l.focus != onTyped {
		return l.edit(f, msg)
	}
	path := pastedPath(msg.Content)
	if path == "" {
		return nil
	}
	if l.focus == onTyped {
		return l.edit(&l.typed, tea.PasteMsg{Content: path})
	}
	l.toTyped()
	l.typed.Set(path)
	return l.moved()
}

// toTyped goes to the line on which a path is written.
func (l *Launcher) toTyped() {
	l.setFilter("")
	l.list.find((&item{typed: true}).key())
	l.focus = onTyped
}

func (l *Launcher) setFilter(text string) {
	l.filter.Set(text)
	l.list.filter = text
	l.list.rebuild()
}

// complete continues the path.
func (l *Launcher) complete() tea.Cmd {
	from := l.typed.Value()
	return func() tea.Msg {
		path, _ := completePath(from)
		return completedMsg{l, from, path}
	}
}

func (l *Launcher) completed(msg completedMsg) tea.Cmd {
	if l.typed.Value() != msg.from || msg.path == msg.from {
		return nil // it has been edited meanwhile, or can go on in more than one way
	}
	l.typed.Set(msg.path)
	return l.moved()
}
