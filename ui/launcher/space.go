package launcher

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
)

// mostDepth is the most base kernels in one kernel that the editor offers.
const mostDepth = 4

// spaceEditor makes a kernel space of base kernels chosen for each input; what it
// makes stands in the text of the kernels at once.
type spaceEditor struct {
	columns []string   // as kernels name them; one, "": all inputs
	names   []string   // for reading
	bases   [][]string // [column]
	on      [][]bool   // [column][base]
	depth   int
	x, y    int // of the cursor
	before  string
	other   string // what stands while nothing is chosen: a space that is not of this kind
}

// levelBase is the base kernel of texts: no other one knows that between two of them there is
// nothing.
const levelBase = "CAT"

// changeBase stands for change points along a column: a level that steps, and each of the base kernels
// that are chosen before a place with each of them behind it.
const changeBase = "CP"

// stepping is a level that steps.
const stepping = "CONST"

// offeredBases are those that the editor offers for numbers, the usual ones first.
func offeredBases() []string {
	first := []string{"SE", "RQ", "LIN", "PER"}
	for _, b := range kernelspace.BaseKernels() {
		switch b.Name {
		case "MATERN12", "MATERN32", "MATERN52", "RW", "IRW", "CONST":
			first = append(first, b.Name)
		}
	}
	return append(first, changeBase)
}

// plainName matches the names of columns that kernels take without quotes.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// newSpaceEditor begins with what the text says, as far as it is base kernels of
// single columns, else with none: the text stays until one is chosen.
func newSpaceEditor(c *choice) *spaceEditor {
	e := &spaceEditor{depth: 1, before: c.kernels.Value()}
	number := 0
	for i, in := range c.inputs {
		if !in || !c.usable(i) {
			continue
		}
		number++
		name := c.columns[i].Name
		e.names = append(e.names, name)
		if !plainName.MatchString(name) {
			name = strconv.Itoa(number)
		}
		bases := offeredBases()
		if c.columns[i].Kind == "text" {
			bases = []string{levelBase}
		}
		e.columns, e.bases = append(e.columns, name), append(e.bases, bases)
	}
	if len(e.columns) < 2 {
		e.columns, e.names = []string{""}, []string{"all inputs"}
		if len(e.bases) == 0 {
			e.bases = [][]string{offeredBases()}
		}
	}
	for y := range e.columns {
		e.on = append(e.on, make([]bool, len(e.bases[y])))
	}
	if !e.read(e.before) {
		e.other = e.before
	}
	return e
}

// read takes over a space that the editor could have made.
func (e *spaceEditor) read(text string) bool {
	list, depth, deep := strings.Cut(text, " depth ")
	n := 1
	if deep {
		var err error
		if n, err = strconv.Atoi(strings.TrimSpace(depth)); err != nil || n < 1 || n > mostDepth {
			return false
		}
	}
	made := spaceEditor{columns: e.columns, bases: e.bases, depth: n}
	for _, bases := range e.bases {
		made.on = append(made.on, make([]bool, len(bases)))
	}
	words := config.SplitKernels(strings.ReplaceAll(list, " ", ""))
	made.each(func(y, x int) {
		if made.bases[y][x] == changeBase {
			made.on[y][x] = slices.Contains(words, changes(stepping, stepping, e.columns[y]))
		} else {
			made.on[y][x] = slices.Contains(words, leaf(made.bases[y][x], e.columns[y]))
		}
	})
	own := made.kernels()
	if len(own) == 0 || !containsAll(own, words) || !containsAll(words, own) {
		return false
	}
	e.on, e.depth = made.on, n
	return true
}

// containsAll reports whether all of some words are among others.
func containsAll(words, some []string) bool {
	return !slices.ContainsFunc(some, func(w string) bool { return !slices.Contains(words, w) })
}

// each goes through the base kernels of all columns.
func (e *spaceEditor) each(do func(y, x int)) {
	for y := range e.columns {
		for x := range e.bases[y] {
			do(y, x)
		}
	}
}

// changes is one base kernel before a place of a column, another behind it.
func changes(before, behind, column string) string {
	return leaf(changeBase+"("+before+","+behind+")", column)
}

// leaf is a base kernel on a column.
func leaf(base, column string) string {
	if column == "" {
		return base
	}
	return base + "[" + column + "]"
}

// kernels are the kernels that are combined.
func (e *spaceEditor) kernels() (all []string) {
	e.each(func(y, x int) {
		if e.on[y][x] && e.bases[y][x] != changeBase {
			all = append(all, leaf(e.bases[y][x], e.columns[y]))
		}
	})
	sides := all
	e.each(func(y, x int) {
		if !e.on[y][x] || e.bases[y][x] != changeBase {
			return
		}
		all = append(all, changes(stepping, stepping, e.columns[y]))
		for _, before := range sides {
			for _, behind := range sides {
				if c := changes(before, behind, e.columns[y]); !slices.Contains(all, c) {
					all = append(all, c)
				}
			}
		}
	})
	return all
}

// text is the space as it is written on a line.
func (e *spaceEditor) text() string {
	all := e.kernels()
	if len(all) == 0 {
		return e.other
	}
	text := strings.Join(all, ", ")
	if e.depth > 1 {
		text += fmt.Sprintf(" depth %d", e.depth)
	}
	return text
}

// toSpace opens the editor.
func (l *Launcher) toSpace() tea.Cmd {
	c := l.chosen()
	if c == nil || c.base == nil {
		return nil
	}
	l.focus, l.space = onSpace, newSpaceEditor(c)
	return l.spaceChanged()
}

func (l *Launcher) spaceChanged() tea.Cmd {
	l.chosen().kernels.Set(l.space.text())
	return l.changed()
}

// leaveSpace closes the editor; unless it is kept the text is what it was.
func (l *Launcher) leaveSpace(keep bool) tea.Cmd {
	if !keep {
		l.chosen().kernels.Set(l.space.before)
	}
	l.focus, l.space = onParts, nil
	return l.changed()
}

// spaceGroups are what keys do in the editor.
func (l *Launcher) spaceGroups() []input.Group {
	e := l.space
	move := func(key string, down, right int) input.Binding {
		return input.Binding{Keys: []string{key}, Do: func() tea.Cmd {
			e.y = max(0, min(e.y+down, len(e.columns)-1))
			e.x = max(0, min(e.x+right, len(e.bases[e.y])-1))
			return nil
		}}
	}
	deeper := func(by int) func() tea.Cmd {
		return func() tea.Cmd {
			e.depth = max(1, min(e.depth+by, mostDepth))
			return l.spaceChanged()
		}
	}
	up := move("up", -1, 0)
	up.Label, up.About = "arrows", "another input or base kernel"
	return []input.Group{{Name: "kernels by input", All: []input.Binding{
		{Keys: []string{"enter"}, Label: "enter", Short: "take", About: "take this space", Do: func() tea.Cmd { return l.leaveSpace(true) }},
		{Keys: []string{"space", "x"}, Label: "space", Short: "in or out", About: "take a base kernel in or out", Do: func() tea.Cmd {
			e.on[e.y][e.x] = !e.on[e.y][e.x]
			return l.spaceChanged()
		}},
		{Keys: []string{"+", "="}, Label: "+ -", Short: "depth", About: "more or fewer base kernels in one kernel", Do: deeper(1)},
		{Keys: []string{"-"}, Do: deeper(-1)},
		up,
		move("down", 1, 0),
		move("left", 0, -1),
		move("right", 0, 1),
		{Keys: []string{"esc"}, Label: "esc", Short: "as before", About: "leave the space as it was",
			Do: func() tea.Cmd { return l.leaveSpace(false) }},
	}}}
}

// spaceSheet shows the editor: a line for each input, a column for each base kernel.
func (l *Launcher) spaceSheet(s *sheet) {
	e := l.space
	widest := 0
	for _, name := range e.names {
		widest = max(widest, plot.TextWidth(name))
	}
	widest = min(widest, max(6, s.w/4))
	cell := 4 + longest(offeredBases()) + 1
	perLine := max(1, (s.w-widest-1)/cell)
	lines := func(y int) int { return (len(e.bases[y]) + perLine - 1) / perLine }
	all := 0
	for y := range e.columns {
		all += lines(y)
	}
	for y := range e.columns {
		if y != e.y && all > mostSpaceLines { // only what is chosen of it
			s.add(1, func(left, top, w int) {
				s.c.TextFit(left, top, widest, e.names[y], s.t.Faint)
				s.c.TextFit(left+widest+1, top, w-widest-1, e.chosen(y), s.t.Text)
			})
			continue
		}
		if y == e.y {
			s.from = len(s.blocks)
		}
		s.add(lines(y), func(left, top, w int) {
			s.c.TextFit(left, top, widest, e.names[y], s.t.Faint)
			for x, base := range e.bases[y] {
				text, style := "[ ] "+base, s.t.Faint
				if e.on[y][x] {
					text, style = "[x] "+base, s.t.Text
				}
				if x == e.x && y == e.y {
					style = style.With(plot.Reverse)
				}
				at := left + widest + 1 + x%perLine*cell
				s.c.TextFit(at, top+x/perLine, left+w-at, text, style)
			}
			if at := left + widest + 1 + cell; len(e.bases[y]) == 1 {
				s.c.TextFit(at, top, left+w-at, "an effect of each text", s.t.Faint)
			}
		})
		if y != e.y {
			continue
		}
		if e.bases[y][e.x] == changeBase {
			along := e.names[y]
			if e.columns[y] == "" {
				along = "the input"
			}
			s.indented(widest+1, "CP: a level that steps somewhere along "+along+", and each of those chosen before that place with each behind it",
				s.t.Faint)
		}
		s.to = len(s.blocks)
	}
	about := "each of them is a kernel"
	if e.depth > 1 {
		about = fmt.Sprintf("and all sums and products of up to %d", e.depth)
	}
	if keys := "; + and - change it"; plot.TextWidth("depth 1  "+about+keys) <= s.w { // the line of keys has it, too
		about += keys
	}
	s.add(1, func(x, y, w int) {
		at := s.c.TextFit(x, y, w, "depth ", s.t.Faint)
		at = s.c.TextFit(at, y, x+w-at, strconv.Itoa(e.depth), s.t.Text)
		s.c.TextFit(at, y, x+w-at, "  "+about, s.t.Faint)
	})
}

// mostSpaceLines is how many lines the base kernels of all columns may take; of more only those of the
// column under the cursor are shown, and what is chosen of the others.
const mostSpaceLines = 12

// chosen are the base kernels that are in of a column, in a few words.
func (e *spaceEditor) chosen(y int) string {
	var in []string
	for x, base := range e.bases[y] {
		if e.on[y][x] {
			in = append(in, base)
		}
	}
	if len(in) == 0 {
		return "·"
	}
	return strings.Join(in, ", ")
}

func longest(words []string) (n int) {
	for _, w := range words {
		n = max(n, len(w))
	}
	return n
}
