package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// logLevel chooses lines of the log.
type logLevel int

const (
	logAll logLevel = iota
	logNoEvaluations
	logNotices
	logErrors
	logLevels
)

var logLevelNames = [logLevels]string{"all", "no evaluations", "notices and errors", "errors"}

func (l logLevel) shows(level history.Level) bool {
	switch l {
	case logNoEvaluations:
		return level != history.LevelEvaluation
	case logNotices:
		return level == history.LevelNotice || level == history.LevelError
	case logErrors:
		return level == history.LevelError
	}
	return true
}

// logView shows what the run said.
type logView struct {
	b      *bench
	level  logLevel
	filter string
	hold   bool // do not follow new lines
	top    int  // first row shown, while held

	rows    []logRow // wrapped
	built   logKey   // what rows were made of
	dropped int      // lines that are not kept any more
	shown   int      // lines that pass the filters
	page    int
}

// logRow is a row of the screen.
type logRow struct {
	time, text string // time "" on the rows after a line's first
	level      history.Level
}

type logKey struct {
	version, width int
	level          logLevel
	filter         string
}

func newLogView(b *bench) *logView { return &logView{b: b, built: logKey{version: -1}} }

func (v *logView) name() string     { return "log" }
func (v *logView) refresh() tea.Cmd { return nil }

func (v *logView) groups() []input.Group {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	return []input.Group{{Name: "log", All: []input.Binding{
		{Keys: []string{"l"}, Label: "l", Short: "level",
			About: "all lines, all but evaluations, notices and errors, errors",
			Do:    do(func() { v.level = (v.level + 1) % logLevels; v.hold = false })},
		{Keys: []string{"/"}, Label: "/", Short: "find", About: "only lines that hold a text", Do: do(v.ask)},
		{Keys: []string{"f"}, Label: "f", Short: "follow", About: "follow new lines, or hold", Do: do(func() { v.scroll(0); v.hold = !v.hold })},
		{Keys: []string{"up", "k"}, Label: "↑ ↓",
			About: "scroll, also j k, pgup pgdown, home, and end, which follows", Do: do(func() { v.scroll(-1) })},
		{Keys: []string{"down", "j"}, Do: do(func() { v.scroll(1) })},
		{Keys: []string{"pgup"}, Do: do(func() { v.scroll(-max(1, v.page-1)) })},
		{Keys: []string{"pgdown"}, Do: do(func() { v.scroll(max(1, v.page-1)) })},
		{Keys: []string{"home"}, Do: do(func() { v.scroll(-1 << 30) })},
		{Keys: []string{"end"}, Do: do(func() { v.hold = false })},
	}}}
}

// last is the highest first row.
func (v *logView) last() int { return max(0, len(v.rows)-v.page) }

// scroll moves by rows and holds; at the end it follows again.
func (v *logView) scroll(by int) {
	if !v.hold {
		v.top = v.last()
	}
	v.top = max(0, min(v.last(), v.top+by))
	v.hold = v.top < v.last()
}

func (v *logView) mouse(msg tea.MouseMsg) tea.Cmd {
	if _, ok := msg.(tea.MouseWheelMsg); ok {
		if msg.Mouse().Button == tea.MouseWheelUp {
			v.scroll(-3)
		} else {
			v.scroll(3)
		}
	}
	return nil
}

// build wraps the lines that pass the filters.
func (v *logView) build(w int) {
	key := logKey{v.b.version, w, v.level, v.filter}
	if key == v.built {
		return
	}
	v.built = key
	v.rows, v.shown = v.rows[:0], 0
	var lines []history.LogLine
	lines, v.dropped = v.b.hist.Lines()
	want := strings.ToLower(v.filter)
	room := w
	if w >= withTime {
		room = w - logTime - 1
	}
	for i := range lines {
		l := &lines[i]
		if !v.level.shows(l.Level) || want != "" && !strings.Contains(strings.ToLower(l.Text), want) {
			continue
		}
		v.shown++
		time := l.Time.Local().Format("15:04:05")
		for j, text := range draw.Wrap(l.Text, room) {
			if j > 0 {
				time = ""
			}
			v.rows = append(v.rows, logRow{time, text, l.Level})
		}
	}
}

const (
	logTime  = 8  // width of a time
	withTime = 40 // least width with times
)

// drawWorkers draws who takes part in the run, above the log, and returns what is left.
func (v *logView) drawWorkers(c *plot.Canvas, r plot.Rect, t *theme.Theme) plot.Rect {
	workers := v.b.snapshot.Workers
	if len(workers) == 0 || r.H < leastWithWorkers {
		return r
	}
	h := min(len(workers), r.H/3) + 2
	top := r
	top.H = h
	right := words.Count(len(workers), "worker")
	in := draw.Panel(c, top, t, "Workers", right, false).Inset(1, 0)
	for i, w := range workers[:min(len(workers), in.H)] {
		style := t.Text
		if w.Silent > silentWorker {
			style = t.Warn
		}
		text := fmt.Sprintf("%s · %s · %s done · seen %.1f s ago", words.PlainLine(w.Name), words.Count(w.Lanes, "lane"),
			words.Count(w.Units, "unit"), w.Silent.Seconds())
		c.TextFit(in.X, in.Y+i, in.W, text, style)
	}
	r.Y, r.H = r.Y+h, r.H-h
	return r
}

const (
	leastWithWorkers = 12 // rows of the view
	// silentWorker is after how long a worker is marked: it tells five times in cluster.lost_after.
	silentWorker = 5 * time.Second
)

func (v *logView) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	defer c.Clip(r)()
	r = v.drawWorkers(c, r, t)
	v.build(r.W - 4)
	title := "Log"
	if v.level != logAll {
		title += ", " + logLevelNames[v.level]
	}
	if v.filter != "" {
		title += fmt.Sprintf(", with %q", v.filter)
	}
	v.page = max(1, r.H-2)
	if !v.hold || v.top >= v.last() {
		v.top, v.hold = v.last(), false
	}
	right := fmt.Sprintf("%d lines", v.shown)
	if v.dropped > 0 {
		right += fmt.Sprintf(", %d earlier ones in log.txt", v.dropped)
	}
	if v.hold {
		right += fmt.Sprintf(" · held at %d %%", 100*(v.top+v.page)/max(1, len(v.rows)))
	}
	in := draw.Panel(c, r, t, title, right, false).Inset(1, 0)
	if len(v.rows) == 0 {
		text := "nothing has been said yet"
		if v.level != logAll || v.filter != "" {
			text = "no such lines"
		}
		draw.Empty(c, in, text, t.Faint)
		return
	}
	styles := map[history.Level]plot.Style{
		history.LevelNotice: t.Warn, history.LevelState: t.Strong, history.LevelEvaluation: t.Text, history.LevelError: t.Bad,
	}
	for i := range min(in.H, len(v.rows)-v.top) {
		row, x, y := &v.rows[v.top+i], in.X, in.Y+i
		if in.W >= withTime {
			c.Text(x, y, row.time, t.Faint)
			x += logTime + 1
		}
		c.TextFit(x, y, in.X+in.W-x, row.text, styles[row.level])
	}
}

// ask asks for the text to find.
func (v *logView) ask() {
	v.b.app.prompt = &textPrompt{
		title: "Find in the log", field: input.NewField(v.filter, "part of a line; empty: all lines"),
		act: func(text string) tea.Cmd { v.filter, v.hold = text, false; return nil },
	}
}

// textPrompt asks for one line of text.
type textPrompt struct {
	title string
	field input.Field
	act   func(string) tea.Cmd
}

func (p *textPrompt) update(msg tea.Msg) tea.Cmd {
	p.field.Update(msg)
	return nil
}

func (p *textPrompt) accept() (tea.Cmd, bool) { return p.act(strings.TrimSpace(p.field.Value())), true }

func (p *textPrompt) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	card := draw.Card(c, r, t, p.title, 56, 3)
	p.field.Draw(c, card.X, card.Y, card.W, t, true)
	draw.Keys(c, card.X, card.Y+card.H-1, card.W, t, [][2]string{{"enter", "show"}, {"esc", "back"}})
}
