package ui

import tea "charm.land/bubbletea/v2"

// groups returns what keys do, which depends on where the cursor is. Of a text
// that is being edited they are only those that do not go into it.
func (l *launcher) groups() []bindingGroup {
	switch l.focus {
	case onFilter:
		return []bindingGroup{{"filter", []binding{
			{keys: []string{"enter"}, label: "enter", short: "keep", about: "keep the filter", do: l.to(onList)},
			{keys: []string{"esc"}, label: "esc", short: "all", about: "drop the filter", do: l.dropFilter},
			{keys: []string{"up"}, label: "↑ ↓", about: "move in the list", do: func() tea.Cmd { return l.move(-1) }},
			{keys: []string{"down"}, do: func() tea.Cmd { return l.move(1) }},
		}}}
	case onTyped:
		return []bindingGroup{{"path", []binding{
			{keys: []string{"enter"}, label: "enter", short: "start", about: "start a run with this file, or open this run", off: l.chosen() == nil, do: l.enter},
			{keys: []string{"tab"}, label: "tab", short: "complete", about: "complete the path", do: l.complete},
			{keys: []string{"shift+tab"}, label: "shift+tab", short: "settings", about: "to the settings", do: func() tea.Cmd { return l.toParts(noPart) }},
			{keys: []string{"esc"}, label: "esc", short: "list", about: "back to the list", do: l.to(onList)},
			{keys: []string{"up"}, label: "↑ ↓", about: "leave the line", do: func() tea.Cmd { l.focus = onList; return l.move(-1) }},
			{keys: []string{"down"}, do: func() tea.Cmd { l.focus = onList; return l.move(1) }},
		}}}
	case onParts:
		return l.partGroups()
	}
	return l.listGroups()
}

func (l *launcher) to(f focus) func() tea.Cmd {
	return func() tea.Cmd { l.focus = f; return nil }
}

func (l *launcher) dropFilter() tea.Cmd {
	l.focus = onList
	return l.listed(func() { l.setFilter("") })
}

func (l *launcher) listGroups() []bindingGroup {
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
	moves := func(keys []string, by func() int) binding {
		return binding{keys: keys, do: func() tea.Cmd { return l.move(by()) }}
	}
	fixed := func(n int) func() int { return func() int { return n } }
	up := moves([]string{"up", "k"}, fixed(-1))
	up.label, up.about = "↑ ↓", "choose, also j k, pgup pgdown, home end"
	return []bindingGroup{
		{"launcher", []binding{
			{keys: []string{"enter"}, label: "enter", short: verb, about: about, off: i == nil, do: l.enter},
			{keys: []string{"tab"}, label: "tab", short: "settings", about: "to the settings: kernels, inducing inputs, seed, device", off: none, do: func() tea.Cmd { return l.toParts(noPart) }},
			up,
			moves([]string{"down", "j"}, fixed(1)),
			moves([]string{"pgup"}, func() int { return -max(1, l.list.page) }),
			moves([]string{"pgdown"}, func() int { return max(1, l.list.page) }),
			moves([]string{"home"}, func() int { return -len(l.list.shown) }),
			moves([]string{"end"}, func() int { return len(l.list.shown) }),
			{keys: []string{"/"}, label: "/", short: "filter", about: "filter the list", do: l.to(onFilter)},
			{keys: []string{"p"}, label: "p", short: "path", about: "type or paste the path of a table or config; pasting works anywhere in the list", do: func() tea.Cmd { l.toTyped(); return l.moved() }},
			{keys: []string{"t", "right"}, label: "t", short: "target", about: "next column as the target; ← → both ways", off: !table, do: func() tea.Cmd { return l.turn(targetPart, 1) }},
			{keys: []string{"left"}, off: !table, do: func() tea.Cmd { return l.turn(targetPart, -1) }},
			{keys: []string{"i"}, label: "i", short: "inputs", about: "choose which columns are inputs", off: !table, do: func() tea.Cmd { return l.toParts(inputsPart) }},
			{keys: []string{"J", "shift+down"}, label: "J K", about: "scroll the preview", do: func() tea.Cmd { l.scroll += 3; return nil }},
			{keys: []string{"K", "shift+up"}, do: func() tea.Cmd { l.scroll = max(0, l.scroll-3); return nil }},
			{keys: []string{"ctrl+r"}, label: "ctrl+r", about: "look again for files and runs", do: l.reload},
			{keys: []string{"esc"}, label: "esc", about: "drop the filter", off: l.list.filter == "", do: l.dropFilter},
		}},
		{"settings", []binding{
			{label: "↑ ↓", off: true, about: "next or previous setting; tab goes on to the list"},
			{label: "← → space", off: true, about: "change a choice; in the inputs move and toggle"},
			{label: "esc", off: true, about: "back to the list; enter starts from anywhere"},
		}},
	}
}

func (l *launcher) partGroups() []bindingGroup {
	bs := []binding{
		{keys: []string{"enter"}, label: "enter", short: "start", about: "start a run", do: l.enter},
		{keys: []string{"tab"}, label: "tab", short: "next", about: "next setting, then the list", do: func() tea.Cmd { return l.nextPart(1, true) }},
		{keys: []string{"shift+tab"}, label: "shift+tab", about: "previous setting, then the list", do: func() tea.Cmd { return l.nextPart(-1, true) }},
		{keys: []string{"up"}, label: "↑ ↓", about: "previous or next setting", do: func() tea.Cmd { return l.nextPart(-1, false) }},
		{keys: []string{"down"}, do: func() tea.Cmd { return l.nextPart(1, false) }},
		{keys: []string{"esc"}, label: "esc", short: "list", about: "back to the list", do: l.to(onList)},
	}
	turns := func(name, about string) {
		bs = append(bs,
			binding{keys: []string{"right"}, label: "← →", short: name, about: about, do: func() tea.Cmd { return l.turn(l.part, 1) }},
			binding{keys: []string{"left"}, do: func() tea.Cmd { return l.turn(l.part, -1) }})
	}
	switch l.part {
	case inputsPart:
		turns("move", "another column")
		bs = append(bs, binding{keys: []string{"space", "i"}, label: "space", short: "in or out", about: "take the column in or out of the inputs", do: l.toggle})
	case targetPart, splitPart, devicePart:
		turns("change", "change the choice")
		bs = append(bs, binding{keys: []string{"space", "t"}, do: func() tea.Cmd { return l.turn(l.part, 1) }})
	}
	return []bindingGroup{{"settings", bs}}
}

// reload looks for everything again.
func (l *launcher) reload() tea.Cmd {
	l.rest()
	clear(l.choices)
	l.resolved, l.preview, l.previewErr = nil, nil, nil
	return l.start()
}
