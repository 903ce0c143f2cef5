package ui

import tea "charm.land/bubbletea/v2"

// editing returns the text that keys go into, nil if there is none.
func (l *launcher) editing() *field {
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
func (l *launcher) edit(f *field, msg tea.Msg) tea.Cmd {
	before := f.value()
	f.update(msg)
	if f.value() == before {
		return nil
	}
	switch l.focus {
	case onFilter:
		return l.listed(func() {
			l.list.filter = f.value()
			l.list.rebuild()
		})
	case onTyped:
		return l.moved()
	}
	return l.changed()
}

// paste takes pasted text: into the text that is being edited, else as a path.
func (l *launcher) paste(msg tea.PasteMsg) tea.Cmd {
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
	l.typed.set(path)
	return l.moved()
}

// toTyped goes to the line on which a path is written.
func (l *launcher) toTyped() {
	l.setFilter("")
	l.list.find((&item{typed: true}).key())
	l.focus = onTyped
}

func (l *launcher) setFilter(text string) {
	l.filter.set(text)
	l.list.filter = text
	l.list.rebuild()
}

// complete continues the path.
func (l *launcher) complete() tea.Cmd {
	from := l.typed.value()
	return func() tea.Msg {
		path, _ := completePath(from)
		return completedMsg{l, from, path}
	}
}

func (l *launcher) completed(msg completedMsg) tea.Cmd {
	if l.typed.value() != msg.from || msg.path == msg.from {
		return nil // it has been edited meanwhile, or can go on in more than one way
	}
	l.typed.set(msg.path)
	return l.moved()
}
