package experiment

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// scaling is the runs of experiments that differ in their batch size only.
type scaling struct {
	key, name string
	batches   []int
	runs      map[int][]*History
	steps     map[int]int // of an evaluation, by batch size
}

// scalabilityFigures are the paper's figure of time against the iterations of
// the optimiser for several batch sizes: one for each set of experiments that
// differ in nothing but schedule.batch. An iteration is a step of all kernels;
// the time is that of a run, with everything that evaluations take besides.
func scalabilityFigures(groups []*figureGroup) (out []*paperFigure) {
	var sets []*scaling
	for _, g := range groups {
		if len(g.runs) == 0 {
			continue
		}
		s := g.runs[0].Start
		c, err := DefaultConfig().read([]byte(s.Config), configFile, nil)
		if err != nil {
			continue // of another version of the program
		}
		key := withoutBatch(s.Experiment())
		i := slices.IndexFunc(sets, func(o *scaling) bool { return o.key == key })
		if i < 0 {
			i = len(sets)
			sets = append(sets, &scaling{key: key, name: g.name, runs: map[int][]*History{}, steps: map[int]int{}})
		}
		b := c.Settings.Batch
		sets[i].batches = append(sets[i].batches, b)
		sets[i].runs[b], sets[i].steps[b] = append(sets[i].runs[b], g.runs...), c.Settings.Steps
	}
	for _, s := range sets {
		slices.Sort(s.batches)
		if s.batches = slices.Compact(s.batches); len(s.batches) > 1 {
			out = append(out, s.figure())
		}
	}
	return out
}

func withoutBatch(experiment string) string {
	var b strings.Builder
	for line := range strings.Lines(experiment) {
		if !strings.HasPrefix(line, "batch ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func (s *scaling) figure() *paperFigure {
	f := &paperFigure{}
	f.Name, f.Title = s.name+"-scalability", s.name
	f.XLabel, f.YLabel = "iterations", "time (s)"
	looks := Swatches()
	rows := [][]string{{"batch", "runs", "seconds_per_iteration", "intercept_seconds", "r_squared"}}
	for i, batch := range s.batches {
		var courses []course
		var x, y []float64
		for _, h := range s.runs[batch] {
			c := course{}
			for _, m := range h.Moments() {
				c.add(float64(m.Index*s.steps[batch]), m.Seconds)
			}
			courses, x, y = append(courses, c), append(x, c.x...), append(y, c.y...)
		}
		mean := linearMean(courses)
		swatch := looks[i%len(looks)]
		name := fmt.Sprintf("B = %d", batch)
		f.line(FigureLine{Name: name, X: mean.x, Lo: mean.y, Swatch: swatch})
		if len(courses) > 1 {
			m := meanOfSteps(courses)
			f.bars(name, m.bars(false, float64(i)/float64(len(s.batches))), swatch)
		}
		if len(x) < 2 {
			continue
		}
		intercept, slope := stat.LinearRegression(x, y, nil, false)
		rows = append(rows, []string{fmt.Sprint(batch), fmt.Sprint(len(courses)), formatFloat(slope), formatFloat(intercept), formatFloat(stat.RSquared(x, y, nil, intercept, slope))})
	}
	f.XMin, f.YMin = 0, 0
	for _, l := range f.Lines {
		for i := range l.X {
			f.XMax = max(f.XMax, 1.02*l.X[i])
			f.YMax = max(f.YMax, 1.05*l.Lo[i])
		}
	}
	if text, err := formatRows(rows); err == nil {
		f.extra = map[string][]byte{"-fit.csv": text}
	}
	return f
}
