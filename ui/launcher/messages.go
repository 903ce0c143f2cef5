package launcher

import (
	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/inspect"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/prepare"
)

// Messages with which the lists come, one by one.
type (
	choicesMsg struct {
		of      *Launcher
		choices []library.ConfigChoice
	}
	filesMsg struct {
		of    *Launcher
		paths []string
	}
	runsMsg struct {
		of   *Launcher
		runs []library.RunInfo
		err  error
	}
	devicesMsg struct {
		of    *Launcher
		kinds []string
	}
	completedMsg struct {
		of         *Launcher
		from, path string
	}
)

// Answers to what was asked of the choice.
type (
	resolvedMsg struct {
		of     *Launcher
		serial int
		resolved
	}
	previewMsg struct {
		of      *Launcher
		serial  int
		preview *inspect.Preview
		err     error
	}
	estimateMsg struct {
		of       *Launcher
		serial   int
		estimate prepare.Estimate
		err      error
	}
	// settleMsg comes some time after a change.
	settleMsg struct {
		of   *Launcher
		edit int
	}
)

// Message takes a message, and reports whether it is the launcher's.
func (l *Launcher) Message(msg tea.Msg) (tea.Cmd, bool) {
	of, cmd := l, tea.Cmd(nil)
	switch msg := msg.(type) {
	case choicesMsg:
		if of = msg.of; of == l {
			var shipped []item
			shipped, l.found.configs = configItems(msg.choices)
			cmd = l.listed(func() {
				l.list.put(experimentSection, shipped, nil)
				if l.list.loaded[dataSection] {
					l.list.put(dataSection, l.own(), nil)
				}
			})
		}
	case filesMsg:
		if of = msg.of; of == l {
			l.found.tables, l.found.files = fileItems(msg.paths)
			cmd = l.listed(func() { l.list.put(dataSection, l.own(), nil) })
		}
	case runsMsg:
		if of = msg.of; of == l {
			cmd = l.listed(func() { l.list.put(runSection, runItems(msg.runs), msg.err) })
		}
	case devicesMsg:
		if of = msg.of; of == l {
			l.devices = msg.kinds
		}
	case completedMsg:
		if of = msg.of; of == l {
			cmd = l.completed(msg)
		}
	case resolvedMsg:
		if of = msg.of; of == l {
			cmd = l.wasResolved(msg)
		}
	case previewMsg:
		if of = msg.of; of == l {
			cmd = l.wasPreviewed(msg)
		}
	case estimateMsg:
		if of = msg.of; of == l {
			fresh, next := l.estimating.Done(msg.serial)
			if cmd = next; fresh {
				l.measuring = false
				l.estimate, l.estimErr = &msg.estimate, msg.err
			}
		}
	case settleMsg:
		if of = msg.of; of == l && msg.edit == l.edits {
			l.settled = true
			cmd = l.measure()
		}
	default:
		return nil, false
	}
	return cmd, true
}
