package figures

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/record"
)

// growth is what experiments may differ in for a figure of how time grows with it.
type growth struct {
	column, label string
	ending        string                         // of the figure's name
	set           func(section, key string) bool // by this key of a config
	of            func(h *history.History, c *config.Config) int
}

const columnKernels = "kernels"

// growths are by the batch size, as in the paper's figure, the number of kernels, which is none where they come and
// go, and that of training rows.
func growths() []growth {
	return []growth{
		{"batch", "B", "", func(section, key string) bool { return section == "schedule" && key == "batch" },
			func(h *history.History, c *config.Config) int { return c.Settings.Batch }},
		{columnKernels, "K", "-kernels", func(section, key string) bool { return section == "kernels" },
			func(h *history.History, c *config.Config) int { return len(h.Start.Kernels) }},
		{"rows", "N", "-rows", func(section, key string) bool { return section == "data" && key == "outputs" },
			func(h *history.History, c *config.Config) int { return h.Start.Data.Train }},
	}
}

// scaling is the runs of experiments that differ in one size only.
type scaling struct {
	growth
	key, name string
	values    []int
	runs      map[int][]*history.History
	steps     map[int]int // of an evaluation
}

// scalabilityFigures are the paper's figure of time against the iterations of
// the optimiser for several batch sizes, and the like for numbers of kernels and of
// rows: one for each set of experiments that differ in nothing but that size. An
// iteration is a step of all kernels; the time is that of a run, with everything
// that evaluations take besides.
func scalabilityFigures(groups []*figureGroup) (out []*paperFigure) {
	for _, by := range growths() {
		out = append(out, by.figures(groups)...)
	}
	return out
}

func (by growth) figures(groups []*figureGroup) (out []*paperFigure) {
	var sets []*scaling
	for _, g := range groups {
		if len(g.runs) == 0 || by.column == columnKernels && g.grows() {
			continue
		}
		s := g.runs[0].Start
		c, err := config.Default().Read([]byte(s.Config), record.ConfigFile, nil)
		if err != nil {
			continue // of another version of the program
		}
		key := s.ExperimentBut(by.set)
		i := slices.IndexFunc(sets, func(o *scaling) bool { return o.key == key })
		if i < 0 {
			i = len(sets)
			sets = append(sets, &scaling{growth: by, key: key, name: g.name, runs: map[int][]*history.History{}, steps: map[int]int{}})
		}
		v := by.of(g.runs[0], &c)
		sets[i].values = append(sets[i].values, v)
		sets[i].runs[v], sets[i].steps[v] = append(sets[i].runs[v], g.runs...), c.Settings.Steps
	}
	for _, s := range sets {
		slices.Sort(s.values)
		if s.values = slices.Compact(s.values); len(s.values) > 1 {
			out = append(out, s.figure())
		}
	}
	return out
}

func (s *scaling) figure() *paperFigure {
	f := &paperFigure{}
	f.Name, f.Title = s.name+"-scalability"+s.ending, s.name
	f.XLabel, f.YLabel = "iterations", "time (s)"
	looks := chart.Swatches()
	rows := [][]string{{s.column, "runs", "seconds_per_iteration", "intercept_seconds", "r_squared"}}
	for i, value := range s.values {
		var courses []curve
		var x, y []float64
		for _, h := range s.runs[value] {
			c := curve{}
			for _, m := range h.Moments() {
				if m.Merged > 0 { // an order costs no iterations
					c.add(float64(m.Index*s.steps[value]), m.Seconds)
				}
			}
			courses, x, y = append(courses, c), append(x, c.x...), append(y, c.y...)
		}
		mean := linearMean(courses)
		swatch := looks[i%len(looks)]
		name := fmt.Sprintf("%s = %d", s.label, value)
		f.line(chart.Line{Name: name, X: mean.x, Lo: mean.y, Swatch: swatch})
		if len(courses) > 1 {
			m := meanOfSteps(courses)
			f.bars(name, m.bars(false, float64(i)/float64(len(s.values))), swatch)
		}
		if len(x) < 2 {
			continue
		}
		intercept, slope := stat.LinearRegression(x, y, nil, false)
		rows = append(rows, []string{fmt.Sprint(value), fmt.Sprint(len(courses)), files.FormatFloat(slope), files.FormatFloat(intercept),
			files.FormatFloat(stat.RSquared(x, y, nil, intercept, slope))})
	}
	s.scale(f)
	if text, err := files.FormatRows(rows); err == nil {
		f.extra = map[string][]byte{"-fit.csv": text}
	}
	return f
}

// scale has the axes begin at 0 and go beyond all lines and bars, whose gaps are NaN.
func (s *scaling) scale(f *paperFigure) {
	for _, l := range f.Lines {
		for i, x := range l.X {
			f.XMax = max(f.XMax, 1.02*x)
			for _, values := range [][]float64{l.Lo, l.Hi} {
				if values != nil && values[i] > 0 {
					f.YMax = max(f.YMax, 1.05*values[i])
				}
			}
		}
	}
}
