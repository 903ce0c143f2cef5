package ui

import (
	"fmt"
	"slices"
	"strings"

	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// dataKey is equal for runs whose errors compare: on the same held-out rows of the same
// target, or drawn in the same way.
func dataKey(s *record.Start) string {
	d := s.Data
	target := ""
	if c := s.Target(); c != nil {
		target = c.Name
	}
	parts := []string{target, fmt.Sprint(d.Test), d.SplitBy}
	if d.Path != "" {
		return strings.Join(append(parts, d.SHA256, d.MaskSHA256), "\n")
	}
	_ = config.EachSetting(s.Config, func(section, key, value string) { // what cannot be read is like nothing else
		if section == "data" {
			parts = append(parts, key+" = "+value)
		}
	})
	return strings.Join(append(parts, d.Name), "\n")
}

// dataKey is that of a run, found out once.
func (v *compareView) dataKey(s *record.Start) string {
	key, ok := v.keys[s]
	if !ok {
		key = dataKey(s)
		v.keys[s] = key
	}
	return key
}

// dataName is what runs on the same data are told by.
func dataName(s *record.Start) string {
	text := fmt.Sprintf("%s (%d rows)", s.Data.Name, s.Data.Train+s.Data.Test)
	if c := s.Target(); c != nil {
		text += ", target " + c.Name
	}
	return text
}

// dataShown is the key of the data whose runs are drawn: those of the run under the
// cursor, where it is chosen, else those of the bench's.
func (v *compareView) dataShown() string {
	if slices.Contains(v.chosen, v.cursor) {
		if h := v.hist(v.cursor); h != nil && h.Start != nil {
			return v.dataKey(h.Start)
		}
	}
	if s := v.b.hist.Start; s != nil {
		return v.dataKey(s)
	}
	return ""
}

// elsewhere are the chosen runs on other data than those that are drawn.
func (v *compareView) elsewhere() (labels []string) {
	shown := v.dataShown()
	for _, path := range v.chosen {
		if h := v.hist(path); h != nil && h.Start != nil && v.dataKey(h.Start) != shown {
			labels = append(labels, v.label(path))
		}
	}
	return labels
}

// comparedRun is a line of the table of runs; a heading has data only.
type comparedRun struct {
	data  string
	path  string
	cells [compareColumns]string
}

const (
	compareColumns = 6
	differColumn   = 5
)

var compareHeads = [compareColumns]string{"run", "leader", "belief", "RMSE", "best baseline", "differs in"}

// tableRows are the chosen runs, those on the same data together, the ones that are drawn
// first.
func (v *compareView) tableRows() (rows []comparedRun) {
	shown := v.dataShown()
	order := []string{shown}
	of := map[string][]string{}
	for _, path := range v.chosen {
		if h := v.hist(path); h != nil && h.Start != nil {
			key := v.dataKey(h.Start)
			if of[key] = append(of[key], path); !slices.Contains(order, key) {
				order = append(order, key)
			}
		}
	}
	for _, key := range order {
		paths := of[key]
		if len(paths) == 0 {
			continue
		}
		data := dataName(v.hist(paths[0]).Start)
		if key != shown {
			data = "other data: " + data
		}
		rows = append(rows, comparedRun{data: data})
		differ := v.differing(paths)
		for i, path := range paths {
			h := v.hist(path)
			r := comparedRun{path: path, cells: [compareColumns]string{v.label(path), "·", "·", "·", "·", differ[i]}}
			if e := h.Evaluation; e != nil && e.Leader() != nil {
				l := e.Leader()
				r.cells[1], r.cells[2] = l.ID, number(float64(l.Fit.Posterior))
				if at := h.Index(l.ID); at >= 0 {
					r.cells[1] = h.Name(at)
				}
			}
			if m := h.Averaged(); m != nil {
				r.cells[3] = plot.Number(float64(m.RMSE), float64(m.RMSE)/1000)
			}
			if _, _, best, ok := h.Beside(); ok { // to be better than what nobody would use is nothing
				r.cells[4] = strings.TrimPrefix(best.Than, "is ") + " " + best.Label
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// differing says of each of some runs how its settings are not those of the others.
func (v *compareView) differing(paths []string) []string {
	var keys []string
	values, shown := map[string][]string{}, map[string][]string{}
	for i, path := range paths {
		_ = config.EachSettingShown(v.hist(path).Start.Config, func(section, key, value, text string) { // what cannot be read has none
			name := strings.TrimPrefix(section+"."+key, ".")
			if values[name] == nil {
				keys, values[name], shown[name] = append(keys, name), make([]string, len(paths)), make([]string, len(paths))
			}
			values[name][i], shown[name][i] = value, text
		})
	}
	out := make([]string, len(paths))
	for i := range paths {
		var parts []string
		for _, k := range keys {
			if len(slices.Compact(slices.Clone(values[k]))) > 1 && k != "data.path" {
				value := shown[k][i]
				if value == "" {
					value = "not set"
				}
				parts = append(parts, k+" "+value) // the key as --set takes it
			}
		}
		out[i] = strings.Join(parts, ", ")
	}
	return out
}

// drawTable lists what the chosen runs have come to.
func (v *compareView) drawTable(c *plot.Canvas, r plot.Rect, t *theme.Theme, groups []runGroup) {
	in := draw.Panel(c, r, t, "What they have come to", "", false)
	defer c.Clip(in)()
	rows := v.tableRows()
	widths := columnWidths(rows, in.W)
	below := differBelow(rows, widths, in)
	if below != nil { // and the others have its room
		for i := range rows {
			rows[i].cells[differColumn] = ""
		}
		widths = columnWidths(rows, in.W)
	}
	leaders := make([]string, len(rows))
	for i := range rows {
		leaders[i] = rows[i].cells[1]
	}
	leaders = plot.FitNames(leaders, widths[1])
	line := func(y int, cells [compareColumns]string, style func(int) plot.Style) {
		x := in.X
		for i, w := range widths {
			if w == 0 {
				continue
			}
			if i == 2 || i == 3 {
				c.TextRight(x+w, y, plot.Truncate(cells[i], w), style(i))
			} else {
				c.TextFit(x, y, w, cells[i], style(i))
			}
			x += w + 2
		}
	}
	line(in.Y, compareHeads, func(int) plot.Style { return t.Faint })
	y := in.Y + 1
	for i, row := range rows {
		row.cells[1] = leaders[i]
		if y >= in.Y+in.H {
			break
		}
		if row.path == "" {
			c.TextFit(in.X, y, in.W, row.data, t.Title)
			y++
			continue
		}
		line(y, row.cells, func(i int) plot.Style {
			if i == 0 {
				for _, g := range groups {
					if slices.Contains(g.paths, row.path) {
						return t.Series(v.colours.Of(g.key))
					}
				}
				return t.Faint
			}
			return t.Text
		})
		y++
		if below != nil {
			draw.Lines(c, plot.Rect{X: in.X + 2, Y: y, W: in.W - 2, H: min(len(below[i]), in.Y+in.H-y)}, below[i], 0, t.Faint)
			y += len(below[i])
		}
	}
}

// differBelow are the lines below each row of the table in r that say how its settings
// differ, where their column would cut that and there is room for them; else nil.
func differBelow(rows []comparedRun, widths [compareColumns]int, r plot.Rect) [][]string {
	lines := 1 + len(rows)
	out := make([][]string, len(rows))
	cut := false
	for i, row := range rows {
		text := row.cells[differColumn]
		if text == "" {
			continue
		}
		cut = cut || plot.TextWidth(text) > widths[differColumn]
		out[i] = draw.Wrap(text, r.W-2)
		lines += len(out[i])
	}
	if !cut || lines > r.H {
		return nil
	}
	return out
}

// columnWidths shares w columns out among those of the table: the last has what is left,
// names are cut first, and what has no room at all or nothing to say is not shown.
func columnWidths(rows []comparedRun, w int) (widths [compareColumns]int) {
	for i := range widths {
		said := false
		for _, r := range rows {
			widths[i] = max(widths[i], plot.TextWidth(r.cells[i]))
			said = said || r.cells[i] != "" && r.cells[i] != "·"
		}
		if widths[i] = max(widths[i], plot.TextWidth(compareHeads[i])); !said {
			widths[i] = 0
		}
	}
	total := func() (n int) {
		for _, w := range widths {
			if w > 0 {
				n += w + 2
			}
		}
		return n - 2
	}
	wanted := widths
	for _, least := range [][2]int{{5, 20}, {1, 20}, {4, 20}, {0, 16}, {1, 14}, {5, 10}, {4, 12}, {4, 0}, {0, 10}, {1, 8}, {5, 0}} {
		i, least := least[0], least[1]
		if over := total() - w; over > 0 && widths[i] > least { // which is wide enough, or left out
			if widths[i] = max(least, widths[i]-over); least == 0 {
				widths[i] = 0
			}
		}
	}
	for _, i := range [...]int{1, 5, 4, 0} { // where another one has been left out, or cut by more than was needed
		if widths[i] > 0 {
			widths[i] = min(wanted[i], widths[i]+max(0, w-total()))
		}
	}
	return widths
}
