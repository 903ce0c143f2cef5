package launcher

import (
	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/ui/input"
)

// Groups returns what keys do, which depends on where the cursor is. Of a text
// that is being edited they are only those that do not go into it.
func (l *Launcher) Groups() []input.Group {
	switch l.focus {
	case onFilter:
		return []input.Group{{Name: "filter", All: []input.Binding{
			{Keys: []string{"enter"}, Label: "enter", Short: "keep", About: "keep the filter", Do: l.to(onList)},
			{Keys: []string{"esc"}, Label: "esc", Short: "all", About: "drop the filter", Do: l.dropFilter},
			{Keys: []string{"up"}, Label: "↑ ↓", About: "move in the list", Do: func() tea.Cmd { return l.move(-1) }},
			{Keys: []string{"down"}, Do: func() tea.Cmd { return l.move(1) }},
		}}}
	case onTyped:
		return []input.Group{{Name: "path", All: []input.Binding{
			{Keys: []string{"enter"}, Label: "enter", Short: "start",
				About: "start a run with this file, or open this run", Off: l.chosen() == nil, Do: l.enter},
			{Keys: []string{"tab"}, Label: "tab", Short: "complete", About: "complete the path", Do: l.complete},
			{Keys: []string{"shift+tab"}, Label: "shift+tab", Short: "settings",
				About: "to the settings", Do: func() tea.Cmd { return l.toParts(noPart) }},
			{Keys: []string{"esc"}, Label: "esc", Short: "list", About: "back to the list", Do: l.to(onList)},
			{Keys: []string{"up"}, Label: "↑ ↓", About: "leave the line", Do: func() tea.Cmd { l.focus = onList; return l.move(-1) }},
			{Keys: []string{"down"}, Do: func() tea.Cmd { l.focus = onList; return l.move(1) }},
		}}}
	case onParts:
		return l.partGroups()
	case onSpace:
		return l.spaceGroups()
	}
	return l.listGroups()
}

func (l *Launcher) to(f focus) func() tea.Cmd {
	return func() tea.Cmd { l.focus = f; return nil }
}

func (l *Launcher) dropFilter() tea.Cmd {
	l.focus = onList
	return l.listed(func() { l.setFilter("") })
}

func (l *Launcher) listGroups() []input.Group {
	c := l.chosen()
	none := len(c.parts()) == 0
	table := !none && len(c.columns) > 1
	i := l.list.current()
	verb, about := "start", "start a run of what is under the cursor"
	if i != nil && i.run != nil {
		verb, about = "open", "open the run under the cursor"
	} else if i != nil && i.typed && c == nil {
		verb, about = "type a path", "write the path of a table or config"
	}
	moves := func(keys []string, by func() int) input.Binding {
		return input.Binding{Keys: keys, Do: func() tea.Cmd { return l.move(by()) }}
	}
	fixed := func(n int) func() int { return func() int { return n } }
	up := moves([]string{"up", "k"}, fixed(-1))
	up.Label, up.About = "↑ ↓", "choose, also j k, pgup pgdown, home end"
	return []input.Group{
		{Name: "launcher", All: []input.Binding{
			{Keys: []string{"enter"}, Label: "enter", Short: verb, About: about, Off: i == nil, Do: l.enter},
			{Keys: []string{"tab"}, Label: "tab", Short: "settings",
				About: "to the settings: kernels, inducing inputs, seed, device", Off: none, Do: func() tea.Cmd { return l.toParts(noPart) }},
			up,
			moves([]string{"down", "j"}, fixed(1)),
			moves([]string{"pgup"}, func() int { return -max(1, l.list.page) }),
			moves([]string{"pgdown"}, func() int { return max(1, l.list.page) }),
			moves([]string{"home"}, func() int { return -len(l.list.shown) }),
			moves([]string{"end"}, func() int { return len(l.list.shown) }),
			{Keys: []string{"/"}, Label: "/", Short: "filter", About: "filter the list", Do: l.to(onFilter)},
			{Keys: []string{"p"}, Label: "p", Short: "path",
				About: "type or paste the path of a table or config; pasting works anywhere in the list",
				Do:    func() tea.Cmd { l.toTyped(); return l.moved() }},
			{Keys: []string{"t", "right"}, Label: "t", Short: "target",
				About: "next column as the target; ← → both ways", Off: !table, Do: func() tea.Cmd { return l.turn(targetPart, 1) }},
			{Keys: []string{"left"}, Off: !table, Do: func() tea.Cmd { return l.turn(targetPart, -1) }},
			{Keys: []string{"i"}, Label: "i", Short: "inputs",
				About: "choose which columns are inputs", Off: !table, Do: func() tea.Cmd { return l.toParts(inputsPart) }},
			{Keys: []string{"J", "shift+down"}, Label: "J K", About: "scroll the preview", Do: func() tea.Cmd { l.scroll += 3; return nil }},
			{Keys: []string{"K", "shift+up"}, Do: func() tea.Cmd { l.scroll = max(0, l.scroll-3); return nil }},
			{Keys: []string{"C"}, Label: "C", About: "copy the command that does the same to the clipboard",
				Off: l.command() == "", Do: l.copyCommand},
			{Keys: []string{"ctrl+r"}, Label: "ctrl+r", About: "look again for files and runs", Do: l.reload},
			{Keys: []string{"esc"}, Label: "esc", About: "drop the filter", Off: l.list.filter == "", Do: l.dropFilter},
		}},
		{Name: "settings", All: []input.Binding{
			{Label: "↑ ↓", Off: true, About: "next or previous setting; tab goes on to the list"},
			{Label: "← → space", Off: true, About: "change a choice; in the inputs move and toggle"},
			{Label: "enter", Off: true, About: "edit: change a choice, kernels by input; ticks stay as they are; at the last line it starts"},
			{Label: "esc", Off: true, About: "back to the list, where enter starts"},
		}},
	}
}

func (l *Launcher) partGroups() []input.Group {
	bs := []input.Binding{
		l.partEnter(),
		{Keys: []string{"tab"}, Label: "tab", Short: "next",
			About: "next setting, then the list", Do: func() tea.Cmd { return l.nextPart(1, true) }},
		{Keys: []string{"shift+tab"}, Label: "shift+tab",
			About: "previous setting, then the list", Do: func() tea.Cmd { return l.nextPart(-1, true) }},
		{Keys: []string{"up"}, Label: "↑ ↓", About: "previous or next setting", Do: func() tea.Cmd { return l.nextPart(-1, false) }},
		{Keys: []string{"down"}, Do: func() tea.Cmd { return l.nextPart(1, false) }},
		{Keys: []string{"esc"}, Label: "esc", Short: "list", About: "back to the list", Do: l.to(onList)},
	}
	turns := func(name, about string) {
		bs = append(bs,
			input.Binding{Keys: []string{"right"}, Label: "← →", Short: name, About: about, Do: func() tea.Cmd { return l.turn(l.part, 1) }},
			input.Binding{Keys: []string{"left"}, Do: func() tea.Cmd { return l.turn(l.part, -1) }})
	}
	switch l.part {
	case inputsPart:
		turns("move", "another column")
		bs = append(bs, input.Binding{Keys: []string{"space", "i"}, Label: "space", Short: "in or out",
			About: "take the column in or out of the inputs", Do: l.toggle},
			input.Binding{Keys: []string{"t"}, Label: "t", Short: "type",
				About: "what the column is taken for: what the data say, levels, few, flag, number, time", Do: l.turnType})
	case calendarPart:
		turns("move", "another input made of the calendar")
		bs = append(bs, input.Binding{Keys: []string{"space"}, Label: "space", Short: "in or out",
			About: "take it in or out", Do: l.toggle})
	case targetPart, splitPart, timePart, devicePart, growthPart:
		turns("change", "change the choice")
		bs = append(bs, input.Binding{Keys: []string{"space", "t"}, Do: func() tea.Cmd { return l.turn(l.part, 1) }})
	}
	return []input.Group{{Name: "settings", All: bs}}
}

// partEnter is what enter does with a setting.
func (l *Launcher) partEnter() input.Binding {
	b := input.Binding{Keys: []string{"enter"}, Label: "enter", Short: "next", About: "keep it, and on to the next setting",
		Do: func() tea.Cmd { return l.nextPart(1, true) }}
	switch l.part {
	case startPart:
		b.Short, b.About, b.Do = "start", "start the run", l.enter
	case kernelsPart:
		b.Short, b.About, b.Do = "choose", "choose base kernels for each input", l.toSpace
	case targetPart, splitPart, timePart, devicePart, growthPart:
		b.Short, b.About, b.Do = "change", "the next choice", func() tea.Cmd { return l.turn(l.part, 1) }
	}
	return b
}

// reload looks for everything again.
func (l *Launcher) reload() tea.Cmd {
	l.rest()
	clear(l.choices)
	l.resolved, l.preview, l.previewErr = nil, nil, nil
	return l.Start()
}
