package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/note"
)

// launcherHost is the workbench as the launcher sees it.
type launcherHost struct{ a *app }

func (h launcherHost) Now() time.Time                            { return h.a.opts.now() }
func (h launcherHost) Cores() int                                { return h.a.opts.Cores }
func (h launcherHost) Keys() []input.Group                       { return h.a.groups() }
func (h launcherHost) Note() note.Note                           { return h.a.note }
func (h launcherHost) Begin(c config.Config, out string) tea.Cmd { return h.a.begin(c, out) }
func (h launcherHost) Open(path string) tea.Cmd                  { return h.a.open(path) }
