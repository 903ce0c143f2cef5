package ui

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/library"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/ui/draw"
	"example.com/kestrel/ui/format"
	"example.com/kestrel/ui/input"
	"example.com/kestrel/ui/plot"
	"example.com/kestrel/ui/theme"
)

// comparison is what runs are compared by.
type comparison int

const (
	compareRMSE comparison = iota
	compareNLPD
	compareCoverage
	compareLeader
	compareKernel
	comparisons
)

var comparisonNames = [comparisons]string{
	"RMSE on held-out rows", "NLPD on held-out rows", "Coverage of the 95 % band", "q* of each run's leader", "q* of",
}

const (
	mostListed      = 200  // runs
	comparePoints   = 2048 // kept of a run's series
	mostMeanPoints  = 512  // of a mean
	comparedAtMost  = 40   // runs
	compareListWide = 54   // columns
	roomForTable    = 13   // lines for chart and table
)

// compareMsg is a list of runs, or one run read.
type compareMsg struct {
	of   *compareView
	runs []library.RunInfo // with path ""
	path string
	hist *history.History
	err  error
}

// compareView lays several runs over each other.
type compareView struct {
	b       *bench
	listed  bool
	listing bool
	listErr error
	runs    []library.RunInfo // this one first
	cursor  string            // path
	top     int

	chosen  []string // paths, as they were chosen
	hists   map[string]*history.History
	errs    map[string]error
	keys    map[*record.Start]string // of their data
	loading string                   // path being read

	by       comparison
	axis     history.Axis
	log      bool
	apart    bool // repeats by themselves, not as mean and sd
	showList bool // where there is room for list or chart only
	tabled   bool // the table in the place of the chart

	colours  chart.Palette
	listArea plot.Rect // of the rows
	raster   plot.Raster
}

func newCompareView(b *bench) *compareView {
	v := &compareView{b: b, axis: history.AxisSeconds, hists: map[string]*history.History{}, errs: map[string]error{},
		keys: map[*record.Start]string{}}
	v.chosen, v.cursor = []string{v.own()}, v.own()
	return v
}

func (v *compareView) name() string { return "compare" }

// own is the path of the bench's run as lists have it.
func (v *compareView) own() string { return filepath.Clean(v.b.path) }

func (v *compareView) groups() []input.Group {
	do := func(f func()) func() tea.Cmd {
		return func() tea.Cmd { f(); return nil }
	}
	return []input.Group{{Name: "compare", All: []input.Binding{
		{Keys: []string{"up", "k"}, Label: "↑ ↓", About: "go through the runs, also j k, home end", Do: do(func() { v.step(-1) })},
		{Keys: []string{"down", "j"}, Do: do(func() { v.step(1) })},
		{Keys: []string{"home"}, Do: do(func() { v.step(-1 << 30) })},
		{Keys: []string{"end"}, Do: do(func() { v.step(1 << 30) })},
		{Keys: []string{"enter"}, Label: "enter", Short: "choose",
			About: "add the run to the chart, or take it out", Do: do(func() { v.toggle(v.cursor) })},
		{Keys: []string{"t"}, Label: "t", Short: "table",
			About: "leaders, errors and differing settings in the place of the chart", Do: do(func() { v.tabled = !v.tabled })},
		{Keys: []string{"a"}, Label: "a", Short: "repeats", About: "add all runs of the same name and folder", Do: do(v.addAlike)},
		{Keys: []string{"backspace", "delete"}, Label: "backspace", About: "only this run", Do: do(func() { v.chosen = []string{v.own()} })},
		{Keys: []string{"v"}, Label: "v", Short: "quantity",
			About: "RMSE, NLPD, coverage, the leader's q*, the chosen kernel's", Do: do(func() { v.by = (v.by + 1) % comparisons })},
		{Keys: []string{"x"}, Label: "x", Short: "axis",
			About: "against time, data or evaluations", Do: do(func() { v.axis = (v.axis + 1) % 3 })},
		{Keys: []string{"y"}, Label: "y", About: "logarithmic or linear axis", Do: do(func() { v.log = !v.log })},
		{Keys: []string{"d"}, Label: "d", Short: "mean ± sd",
			About: "repeats as mean and standard deviation, or each by itself", Do: do(func() { v.apart = !v.apart })},
		{Keys: []string{"tab"}, Label: "tab",
			About: "list or chart, where there is no room for both", Do: do(func() { v.showList = !v.showList })},
		{Keys: []string{"n"}, Label: "n", About: "read the list and the chosen runs anew", Do: do(v.anew)},
	}}}
}

// step moves in the list.
func (v *compareView) step(by int) {
	if len(v.runs) == 0 {
		return
	}
	v.cursor = v.runs[max(0, min(len(v.runs)-1, v.place()+by))].Path
}

func (v *compareView) place() int {
	return max(0, slices.IndexFunc(v.runs, func(r library.RunInfo) bool { return r.Path == v.cursor }))
}

func (v *compareView) toggle(path string) {
	if i := slices.Index(v.chosen, path); i >= 0 {
		v.chosen = slices.Delete(v.chosen, i, i+1)
	} else if len(v.chosen) < comparedAtMost {
		v.chosen = append(v.chosen, path)
	}
}

// addAlike adds the runs that may be repeats of the one under the cursor.
func (v *compareView) addAlike() {
	if len(v.runs) == 0 {
		return
	}
	like := v.runs[v.place()]
	for _, r := range v.runs {
		alike := r.Name == like.Name && (filepath.Dir(r.Path) == filepath.Dir(like.Path))
		if alike && !slices.Contains(v.chosen, r.Path) {
			v.toggle(r.Path)
		}
	}
}

func (v *compareView) anew() {
	v.listed = false
	clear(v.hists)
	clear(v.errs)
	clear(v.keys)
}

// root is the folder of the run, or that above its repeats.
func (v *compareView) root() string {
	dir := filepath.Dir(v.own())
	if isRepeat(filepath.Base(v.own())) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// isRepeat reports whether a folder's name is that of a repeat: 001, 002.
func isRepeat(name string) bool {
	return len(name) >= 3 && strings.Trim(name, "0123456789") == ""
}

// refresh implements view: it lists the runs, then reads the chosen ones, one
// after the other.
func (v *compareView) refresh() tea.Cmd {
	if !v.listed && !v.listing {
		v.listing, v.listed = true, true
		root := v.root()
		return func() tea.Msg {
			runs, err := library.RecentRuns(root, mostListed)
			return compareMsg{of: v, runs: runs, err: err}
		}
	}
	if v.loading != "" {
		return nil
	}
	for _, path := range v.chosen {
		if path == v.own() || v.hists[path] != nil || v.errs[path] != nil {
			continue
		}
		v.loading = path
		ctx := v.b.ctx
		return func() tea.Msg {
			h, err := history.Read(ctx, path, comparePoints)
			return compareMsg{of: v, path: path, hist: h, err: err}
		}
	}
	return nil
}

// loaded takes in what was read.
func (v *compareView) loaded(msg compareMsg) {
	if msg.of != v {
		return
	}
	if msg.path != "" {
		v.loading = ""
		if msg.err != nil {
			v.errs[msg.path] = msg.err
		} else {
			v.hists[msg.path] = msg.hist
		}
		return
	}
	v.listing, v.listErr = false, msg.err
	v.runs = v.runs[:0]
	own := library.RunInfo{Path: v.own(), Name: v.b.name(), Fate: v.b.state(), RMSE: math.NaN(), Posterior: math.NaN()}
	for _, r := range msg.runs {
		r.Path = filepath.Clean(r.Path)
		if r.Path == v.own() {
			own = r
		} else {
			v.runs = append(v.runs, r)
		}
	}
	v.runs = slices.Insert(v.runs, 0, own)
}

// hist returns a chosen run, nil as long as it is not read.
func (v *compareView) hist(path string) *history.History {
	if path == v.own() {
		return &v.b.hist
	}
	return v.hists[path]
}

func (v *compareView) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	switch msg.(type) {
	case tea.MouseClickMsg:
		if i := v.top + m.Y - v.listArea.Y; v.listArea.Contains(m.X, m.Y) && i < len(v.runs) {
			v.cursor = v.runs[i].Path
			v.toggle(v.cursor)
		}
	case tea.MouseWheelMsg:
		if m.Button == tea.MouseWheelUp {
			v.step(-1)
		} else {
			v.step(1)
		}
	}
	return nil
}

// arrange divides the screen into list and chart; one may be empty.
func (v *compareView) arrange(r plot.Rect) (list, chart plot.Rect) {
	switch {
	case r.W >= 96:
		w := min(compareListWide, r.W*2/5)
		return plot.Rect{X: r.X, Y: r.Y, W: w, H: r.H}, plot.Rect{X: r.X + w, Y: r.Y, W: r.W - w, H: r.H}
	case r.H >= 18:
		h := min(len(v.runs)+2, r.H/3)
		h = max(h, 4)
		return plot.Rect{X: r.X, Y: r.Y, W: r.W, H: h}, plot.Rect{X: r.X, Y: r.Y + h, W: r.W, H: r.H - h}
	case v.showList:
		return r, plot.Rect{}
	}
	return plot.Rect{}, r
}

func (v *compareView) draw(c *plot.Canvas, r plot.Rect, t *theme.Theme) {
	defer c.Clip(r)()
	list, chart := v.arrange(r)
	groups := v.grouped()
	keys := make([]string, len(groups))
	for i := range groups {
		keys[i] = groups[i].key
	}
	v.colours.Focus(keys)
	v.listArea = plot.Rect{}
	if !list.Empty() {
		v.drawList(c, list, t, groups)
	}
	switch low := min(len(v.tableRows())+3, chart.H/2); {
	case chart.Empty():
	case v.tabled:
		v.drawTable(c, chart, t, groups)
	case chart.H >= roomForTable:
		v.drawChart(c, plot.Rect{X: chart.X, Y: chart.Y, W: chart.W, H: chart.H - low}, t, groups)
		v.drawTable(c, plot.Rect{X: chart.X, Y: chart.Y + chart.H - low, W: chart.W, H: low}, t, groups)
	default:
		v.drawChart(c, chart, t, groups)
	}
}

// drawList lists the runs, the chosen ones with their sign and colour.
func (v *compareView) drawList(c *plot.Canvas, r plot.Rect, t *theme.Theme, groups []runGroup) {
	right := fmt.Sprintf("%d chosen", len(v.chosen))
	if v.loading != "" {
		right = "reading " + filepath.Base(v.loading)
	}
	in := draw.Panel(c, r, t, "Runs in "+v.root(), right, true)
	defer c.Clip(in)()
	if v.listErr != nil && in.H > 1 {
		c.TextFit(in.X, in.Y, in.W, v.listErr.Error(), t.Bad)
		in.Y, in.H = in.Y+1, in.H-1
	}
	if len(v.runs) == 0 {
		draw.Empty(c, in, "looking for runs …", t.Faint)
		return
	}
	if err := v.errs[v.cursor]; err != nil && in.H > 3 {
		lines := draw.Wrap(err.Error(), in.W)
		n := min(len(lines), in.H/3)
		draw.Lines(c, plot.Rect{X: in.X, Y: in.Y + in.H - n, W: in.W, H: n}, lines, 0, t.Bad)
		in.H -= n
	}
	at := v.place()
	v.top = max(0, min(v.top, len(v.runs)-in.H))
	v.top = min(max(v.top, at-in.H+1), at)
	v.listArea = in
	colour := map[string]chart.Swatch{}
	for _, g := range groups {
		for _, p := range g.paths {
			colour[p] = v.colours.Of(g.key)
		}
	}
	for i := range min(in.H, len(v.runs)-v.top) {
		run, y := &v.runs[v.top+i], in.Y+i
		sign, style := ' ', t.Text
		if slices.Contains(v.chosen, run.Path) {
			sign = '…'
			if w, ok := colour[run.Path]; ok {
				style = t.Series(w)
				sign = t.SignOf(w)
			} else if v.errs[run.Path] != nil {
				sign, style = '!', t.Bad
			} else if v.hist(run.Path) != nil { // on other data
				sign, style = '≠', t.Faint
			}
		}
		c.Set(in.X, y, sign, style)
		tail := v.tail(run, in.W)
		room := in.W - 3 - plot.TextWidth(tail)
		c.TextFit(in.X+2, y, room, v.label(run.Path), style)
		c.TextRight(in.X+in.W, y, tail, t.Faint)
		if run.Path == v.cursor {
			c.Restyle(plot.Rect{X: in.X, Y: y, W: in.W, H: 1}, func(s plot.Style) plot.Style {
				s.Attr |= t.Selected.Attr
				if t.Selected.BG != 0 {
					s.BG = t.Selected.BG
				}
				return s
			})
		}
	}
}

// tail is what stands at the right of a run's name, as there is room.
func (v *compareView) tail(run *library.RunInfo, w int) string {
	parts := []string{run.Word()}
	if run.Path == v.own() {
		parts[0] = "this run"
	}
	if !math.IsNaN(run.RMSE) && w >= 34 {
		parts = append(parts, plot.Number(run.RMSE, run.RMSE/1000))
	}
	return strings.Join(parts, " ")
}

// label names a run: its folder, below the root.
func (v *compareView) label(path string) string {
	if rel, err := filepath.Rel(v.root(), path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

func (v *compareView) title() string {
	title := comparisonNames[v.by]
	if v.by == compareKernel {
		title += " " + v.b.kernelName(v.b.chosen())
	}
	return title
}

func (v *compareView) drawChart(c *plot.Canvas, r plot.Rect, t *theme.Theme, groups []runGroup) {
	right := "vs " + axisNames[v.axis]
	if v.log && v.by == compareRMSE {
		right += " · log"
	}
	in := draw.Panel(c, r, t, v.title(), right, false)
	defer c.Clip(in)()
	ch := plot.Chart{Glyphs: t.Glyphs, Styles: t.ChartStyles(), Raster: &v.raster, LabelEnds: true}
	ch.Empty = "none of the runs chosen has such values"
	if len(v.chosen) == 0 {
		ch.Empty = "no run is chosen"
	} else if v.loading != "" {
		ch.Empty = "reading …"
	}
	ch.Y.Log = v.log && v.by == compareRMSE
	ch.Y.Robust = v.by != compareCoverage
	switch v.by {
	case compareLeader, compareKernel, compareCoverage:
		ch.Y.Min, ch.Y.Max, ch.Y.Robust = 0, 1, false
	}
	if v.by == compareCoverage {
		ch.Y.Include = []float64{0.95}
	}
	h := &v.b.hist
	ch.X.Format = func(x, _ float64) string { return h.Label(v.axis, x) }
	if away := v.elsewhere(); len(away) > 0 && in.H > 8 {
		in.H--
		c.TextFit(in.X, in.Y+in.H, in.W, "on other data, not drawn: "+strings.Join(away, ", "), t.Warn)
	}
	var missing []string
	for i, g := range groups {
		w := v.colours.Of(g.key)
		style := t.Series(w)
		sum, ok := v.summarise(g)
		missing = append(missing, sum.missing...)
		if !ok {
			continue
		}
		line := plot.Line{Style: style, Dash: w.Dash, Priority: len(groups) - i, Name: sum.label, Label: sum.label, X: sum.x, Y: sum.y}
		if t.Plain() || len(groups) > 1 { // colours alone are not told apart by everybody, nor by their names in a list
			line.Mark = t.SignOf(w)
			line.Label = string(line.Mark) + " " + sum.label
		}
		if sum.lo != nil {
			// Robust limits are those of the lines. Early on, bands may be wide
			// beyond measure; where runs have settled they must be seen whole.
			if least, most, ok := finiteRange(sum.lo[len(sum.lo)/2:], sum.hi[len(sum.hi)/2:]); ok {
				ch.Y.Include = append(ch.Y.Include, least, most)
			}
			ch.Bands = append(ch.Bands, plot.Band{Style: t.Tint(w), X: sum.x, Lo: sum.lo, Hi: sum.hi})
		}
		ch.Lines = append(ch.Lines, line)
	}
	if len(missing) > 0 && in.H > 6 {
		in.H--
		c.TextFit(in.X, in.Y+in.H, in.W, "without such values: "+strings.Join(missing, ", "), t.Warn)
	}
	if v.axis == history.AxisSeconds {
		last := 0.0
		for i := range ch.Lines {
			if x := ch.Lines[i].X; len(x) > 0 {
				last = max(last, x[len(x)-1])
			}
		}
		if last > 0 {
			ch.X.Min, ch.X.Max = 0, last
			ch.X.Labels = format.LagTicks(1, 0, last, mostTicks(in.W))
		}
	}
	ch.Draw(c, in)
}
