package ui

import (
	"image"
	"image/color"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/ui/picture"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/settings"
)

// pictures are what the terminal shows beside characters: at most one at a time. The
// frame leaves its cells empty; it is written when these have been, since what the
// renderer writes later would go over it.
type pictures struct {
	terminal picture.Terminal
	ground   color.Color      // as the terminal says, nil: not known
	want     *picture.Picture // of the frame drawn last
	shown    *picture.Picture
	due      bool // pictureMsg is under way
	painting bool // paintedMsg is
	used     bool // something has been written

	before *picture.Picture // wanted by the frame before
	since  time.Time        // that want is
}

// begin and drawn are called before and after a frame is drawn.
func (p *pictures) begin() { p.before, p.want = p.want, nil }

func (p *pictures) drawn() {
	if !p.want.Same(p.before) {
		p.since = time.Now()
	}
	p.before = nil
}

// pictureMsg comes when the last frame has been written, paintedMsg with a picture that
// has been painted.
type (
	pictureMsg struct{}
	paintedMsg struct {
		picture *picture.Picture
		text    string
	}
)

// writtenTime is how long the renderer may take to write a frame; it writes 60 a second.
const writtenTime = 50 * time.Millisecond

// askPictures asks the terminal whether it shows pictures.
func (a *app) askPictures() tea.Cmd {
	if text := picture.Question(a.opts.Env); text != "" && a.opts.Settings.Theme.Pictures != settings.Off {
		return tea.Raw(text)
	}
	return nil
}

// takes reports whether a picture of so many cells can be part of the frame that is being
// drawn: nothing else may lie on it.
func (a *app) takes(w, h int) bool {
	return a.pictures.terminal.Can(w, h) && a.help == nil && a.prompt == nil && !a.leaving
}

// place puts a picture into the frame that is being drawn. Of its cells those that are
// not empty are seen.
func (a *app) place(c *plot.Canvas, p picture.Picture) {
	for y := range p.Cells.H {
		for x := range p.Cells.W {
			if r := c.At(p.Cells.X+x, p.Cells.Y+y).Rune; r != ' ' {
				p.Free = append(p.Free, image.Pt(x, y))
			}
		}
	}
	// The renderer may scroll lines that have moved, and a picture with them.
	for y := range p.Cells.H {
		for x := range a.w {
			if r := c.At(x, p.Cells.Y+y).Rune; r != ' ' {
				p.Of += string(r)
			}
		}
		p.Of += "\n"
	}
	a.pictures.want = &p
}

// showPictures is what comes after each message: a look, once the frame is written,
// whether another picture is to be shown.
func (a *app) showPictures() tea.Cmd {
	p := &a.pictures
	if p.terminal.Protocol == picture.None || p.due || p.painting {
		return nil
	}
	p.due = true
	return tea.Tick(writtenTime, func(time.Time) tea.Msg { return pictureMsg{} })
}

// renewPicture takes away a picture that is not wanted any more, and has another painted.
func (a *app) renewPicture() tea.Cmd {
	p := &a.pictures
	p.due = false
	switch {
	case p.want.Same(p.shown):
		return nil
	case time.Since(p.since) < writtenTime:
		return a.showPictures()
	case p.shown != nil && (p.want == nil || p.want.Cells != p.shown.Cells):
		return tea.Sequence(a.clearPicture(), a.showPictures())
	}
	p.painting = true
	want, terminal, ground := p.want, p.terminal, a.ground()
	return func() tea.Msg { return paintedMsg{want, terminal.Sequence(want, ground)} }
}

// clearPicture takes away what is shown.
func (a *app) clearPicture() tea.Cmd {
	p := &a.pictures
	p.shown = nil
	if text, ok := p.terminal.Gone(); ok {
		return tea.Raw(text)
	}
	return tea.ClearScreen
}

// painted writes a picture, if it is still wanted.
func (a *app) painted(msg paintedMsg) tea.Cmd {
	p := &a.pictures
	p.painting = false
	if !msg.picture.Same(p.want) {
		return a.showPictures()
	}
	p.shown, p.used = msg.picture, true
	return tea.Raw(msg.text)
}

// screenCleared is what is to be done for pictures where the screen is drawn anew; their
// size may be another one.
func (a *app) screenCleared() tea.Cmd {
	p := &a.pictures
	if p.terminal.Protocol == picture.None {
		return nil
	}
	p.shown = nil
	text, _ := p.terminal.Gone()
	return tea.Raw(text + picture.SizeQuestion)
}

// ground is the terminal's background.
func (a *app) ground() color.RGBA {
	if a.pictures.ground != nil {
		return color.RGBAModel.Convert(a.pictures.ground).(color.RGBA)
	}
	if a.theme.Dark {
		return color.RGBA{A: 255}
	}
	return color.RGBA{255, 255, 255, 255}
}

// forgetPictures frees what the terminal keeps of pictures, when the workbench is left.
func (a *app) forgetPictures() {
	text, ok := a.pictures.terminal.Gone()
	if !ok || !a.pictures.used {
		return
	}
	to := a.opts.Output
	if to == nil {
		to = os.Stdout
	}
	_, _ = io.WriteString(to, text) // the terminal may be gone
}
