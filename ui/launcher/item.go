package launcher

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/kestrel/experiment/library"
)

// section is a part of the launcher's list.
type section int

const (
	dataSection section = iota
	runSection
	experimentSection
	sections
)

var sectionNames = [sections]string{"your files", "recent runs", "built-in experiments"}

// item is a line of the launcher's list.
type item struct {
	section section
	typed   bool   // the line to write a path on
	name    string // for library.ConfigFor, or the path of a run
	label   string
	about   string
	missing string // the data file that it needs and that is nowhere
	run     *library.RunInfo
}

// key identifies an item however the lists change.
func (i *item) key() string {
	if i.typed {
		return "typed"
	}
	return fmt.Sprintf("%d %s", i.section, i.name)
}

// matches reports whether every word of a filter is found in the item.
func (i *item) matches(filter string) bool {
	text := strings.ToLower(i.label + " " + i.name + " " + i.about)
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// listing is the launcher's list with its filter and cursor.
type listing struct {
	parts  [sections][]item
	loaded [sections]bool
	failed [sections]error

	filter string
	shown  []item
	cursor int // index into shown
	from   int // first line drawn
	page   int // lines drawn at the last time
	lines  []listLine
}

// listLine is a line as drawn: a heading, an item or a remark.
type listLine struct {
	item int // index into shown, −1: none
	text string
	head bool
}

// put replaces a part of the list; the cursor stays on its item.
func (l *listing) put(s section, items []item, err error) {
	l.parts[s], l.loaded[s], l.failed[s] = items, true, err
	l.rebuild()
}

// rebuild applies the filter.
func (l *listing) rebuild() {
	key := ""
	if i := l.current(); i != nil {
		key = i.key()
	}
	l.shown = nil
	for s := range l.parts {
		if s == int(dataSection) && l.filter == "" {
			l.shown = append(l.shown, item{section: dataSection, typed: true})
		}
		for _, i := range l.parts[s] {
			if i.matches(l.filter) {
				l.shown = append(l.shown, i)
			}
		}
	}
	l.cursor = max(0, min(l.cursor, len(l.shown)-1))
	l.find(key)
	l.lay()
}

// find puts the cursor on an item, if it is shown.
func (l *listing) find(key string) bool {
	i := slices.IndexFunc(l.shown, func(i item) bool { return i.key() == key })
	if i >= 0 {
		l.cursor = i
	}
	return i >= 0
}

// lay arranges the lines.
func (l *listing) lay() {
	l.lines = l.lines[:0]
	next := 0
	for s := range sections {
		if len(l.lines) > 0 {
			l.lines = append(l.lines, listLine{item: -1})
		}
		l.lines = append(l.lines, listLine{item: -1, text: sectionNames[s], head: true})
		before := next
		for ; next < len(l.shown) && l.shown[next].section == s; next++ {
			l.lines = append(l.lines, listLine{item: next})
		}
		remark := ""
		switch {
		case l.failed[s] != nil:
			remark = l.failed[s].Error()
		case !l.loaded[s]:
			remark = "looking …"
		case next > before && !(s == dataSection && next == before+1 && len(l.parts[s]) == 0 && l.filter == ""):
		case l.filter != "":
			remark = "none with " + l.filter
		case s == dataSection:
			remark = "none below this folder; p takes a path"
		case s == runSection:
			remark = "none yet; enter on " + firstConfig + " makes one"
		}
		if remark != "" {
			l.lines = append(l.lines, listLine{item: -1, text: remark})
		}
	}
}

// current returns the item under the cursor, nil if there is none.
func (l *listing) current() *item {
	if l.cursor < 0 || l.cursor >= len(l.shown) {
		return nil
	}
	return &l.shown[l.cursor]
}

// move moves the cursor by items.
func (l *listing) move(by int) {
	l.cursor = max(0, min(l.cursor+by, len(l.shown)-1))
}

// configItems are the configs of a list: those that come with the program, and the
// user's own.
func configItems(choices []library.ConfigChoice) (shipped, own []item) {
	for _, c := range choices {
		i := item{section: experimentSection, name: c.Name, label: c.Name, about: c.About, missing: c.Missing}
		if c.Missing != "" {
			i.about = "no data: " + c.About // short, since what it is about is cut to what is left
		}
		if c.Shipped {
			shipped = append(shipped, i)
		} else {
			i.section = dataSection
			own = append(own, i)
		}
	}
	// What a new user should begin with comes first, what cannot be run last.
	slices.SortStableFunc(shipped, func(a, b item) int {
		first := func(i item) int {
			switch {
			case i.name == firstConfig:
				return 0
			case i.missing != "":
				return 2
			}
			return 1
		}
		return first(a) - first(b)
	})
	return shipped, own
}

// firstConfig is what the cursor is on at first, unless there is something of the
// user's own.
const firstConfig = "quickstart"

// begin puts the cursor on what a user is likely to want: the first of their files, the
// run written to last, or the first experiment.
func (l *listing) begin() {
	at := slices.IndexFunc(l.shown, func(i item) bool { return !i.typed })
	l.cursor = max(0, at)
}

// fileItems divides what was found below the working directory into tables and
// configs.
func fileItems(paths []string) (tables, configs []item) {
	for _, p := range paths {
		if library.IsTable(p) {
			tables = append(tables, item{section: dataSection, name: p, label: p})
		} else {
			configs = append(configs, item{section: dataSection, name: p, label: p})
		}
	}
	return tables, configs
}

// runItems are the runs of a list.
func runItems(runs []library.RunInfo) []item {
	var out []item
	named := map[string]int{}
	for i := range runs {
		named[runs[i].Name]++
	}
	for i := range runs {
		r := &runs[i]
		label := r.Name
		if named[r.Name] > 1 && r.Target != "" {
			label += ": " + r.Target
		}
		out = append(out, item{section: runSection, name: r.Path, label: label, about: r.Word() + " " + r.LeaderName, run: r})
	}
	return out
}

// runLine is what the list says of a run behind its name, the most important
// first.
func runLine(r *library.RunInfo, now time.Time) []string {
	out := []string{r.Word()}
	if r.Live {
		out[0] += " now"
	}
	if r.Leader != "" {
		leader := r.LeaderName
		if !math.IsNaN(r.Posterior) {
			leader += fmt.Sprintf(" %.2f", r.Posterior)
		}
		out = append(out, leader)
	}
	out = append(out, ago(now.Sub(r.Last)))
	if !math.IsNaN(r.RMSE) {
		out = append(out, fmt.Sprintf("rmse %.3g", r.RMSE))
	}
	if folder := filepath.Base(r.Path); folder != r.Name {
		out = append(out, folder)
	}
	return out
}

// ago writes how long something is past, in its largest unit.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d/time.Hour))
	}
	return fmt.Sprintf("%d days ago", int(d/(24*time.Hour)))
}
