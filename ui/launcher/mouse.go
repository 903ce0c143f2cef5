package launcher

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/ui/plot"
)

// Mouse takes a click or the wheel.
func (l *Launcher) Mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	s := &l.screen
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		by := 1
		if msg.Button == tea.MouseWheelUp {
			by = -1
		}
		if s.list.Contains(m.X, m.Y) {
			l.acted = l.host.Now()
			if l.focus == onParts || l.focus == onSpace {
				l.focus = onList
			}
			return l.move(by)
		}
		l.scroll = max(0, l.scroll+3*by)
	case tea.MouseClickMsg:
		if msg.Button != tea.MouseLeft {
			return nil
		}
		now := l.host.Now()
		twice := now.Sub(s.clicked) < doubleClick && s.at == plot.Rect{X: m.X, Y: m.Y}
		s.clicked, s.at = now, plot.Rect{X: m.X, Y: m.Y}
		l.acted = now
		for _, p := range s.parts {
			if p.area.Contains(m.X, m.Y) {
				return l.toParts(p.part)
			}
		}
		if i := l.itemAt(m.X, m.Y); i >= 0 {
			if l.focus = onList; l.list.shown[i].typed {
				l.focus = onTyped
			}
			if i == l.list.cursor && twice {
				return l.enter()
			}
			return l.move(i - l.list.cursor)
		}
	}
	return nil
}

// doubleClick is the longest time between two clicks that are one.
const doubleClick = 400 * time.Millisecond

// itemAt returns the item drawn at a cell, −1 if there is none.
func (l *Launcher) itemAt(x, y int) int {
	s := &l.screen
	line := l.list.from + y - s.lines.Y
	if !s.lines.Contains(x, y) || line < 0 || line >= len(l.list.lines) {
		return -1
	}
	return l.list.lines[line].item
}
