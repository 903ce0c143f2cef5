package figures

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.com/kestrel/experiment/chart"
	"example.com/kestrel/experiment/compare"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/history"
)

// errorBars is the number of standard deviations drawn along a line.
const errorBars = 8

// errorFigure is RMSE against time for each method: the paper's Swissgrid b and
// IEQ b. A method keeps its last prediction until it has another.
func (g *figureGroup) errorFigure() *paperFigure {
	f := g.frame(history.QuantityRMSE)
	f.XLabel = "time (s)"
	means := map[string]stepMean{}
	var times, errors []float64
	runs, wide := 0, false
	for _, method := range g.table.Config.Compare.Methods {
		m := meanOfSteps(coursesOf(g.table, method))
		if len(m.x) == 0 {
			continue
		}
		means[method] = m
		times = append(times, m.x[0], m.x[len(m.x)-1])
		errors = append(errors, m.mean...)
		for k := range m.x { // bars that would go below 0
			wide = wide || m.sd[k] >= m.mean[k]
		}
		runs = max(runs, len(coursesOf(g.table, method)))
	}
	f.LogX, f.LogY = spread(times, 20), spread(errors, 4) || wide && spread(errors, 1)
	if runs > 1 {
		f.Title += ", mean and standard deviation of the runs"
	}
	for i, method := range g.table.Config.Compare.Methods {
		m, ok := means[method]
		if !ok {
			continue
		}
		s := methodSwatch(method)
		x, y := m.line()
		name := config.MethodLabel(method)
		if n := len(coursesOf(g.table, method)); n > 1 {
			name += fmt.Sprintf(" (%d)", n)
		}
		f.line(chart.Line{Name: name, X: x, Lo: y, Swatch: s})
		f.bars(name, m.bars(f.LogX, float64(i)/float64(len(g.table.Config.Compare.Methods))), s)
	}
	return f
}

// methodSwatch is how a method looks: always the same.
func methodSwatch(method string) chart.Swatch {
	looks := chart.Swatches()
	i := max(0, slices.Index(config.MethodNames(), method))
	return looks[i%len(looks)]
}

// coursesOf returns the RMSE of a method's runs against time.
func coursesOf(c *compare.Comparison, method string) (out []curve) {
	for i := range c.Runs {
		if r := &c.Runs[i]; r.Method == method && len(r.Metrics) > 0 {
			var one curve
			for _, m := range r.Metrics {
				one.add(float64(m.Seconds), float64(m.RMSE))
			}
			out = append(out, one)
		}
	}
	return out
}

// bars are spread evenly along the axis; those of different methods at
// different places, by a part of their distance.
func (m *stepMean) bars(log bool, part float64) (out []bar) {
	lo, hi := m.x[0], m.x[len(m.x)-1]
	for i := range errorBars {
		u := (float64(i) + part) / errorBars
		x := lo + u*(hi-lo)
		if log {
			x = lo * math.Pow(hi/lo, u)
		}
		if mean, sd := m.at(x); sd > 0 {
			out = append(out, bar{x, mean, sd})
		}
	}
	if n := len(m.x) - 1; m.sd[n] > 0 {
		out = append(out, bar{m.x[n], m.mean[n], m.sd[n]})
	}
	return out
}

// tableFigure is the paper's table of ten runs, as points and in Markdown. Of
// random, of which there are more runs, as many are drawn as of the others. Marks
// stand side by side so that equal ones are seen.
func (g *figureGroup) tableFigure() *paperFigure {
	f := g.frame(history.QuantityRMSE)
	f.Name = g.name + "-table"
	f.Title += ", RMSE in the end"
	f.XLabel = "run"
	methods := g.table.Config.Compare.Methods
	most := 0
	for i := range g.table.Runs {
		if r := &g.table.Runs[i]; r.Method != config.MethodRandom || len(methods) == 1 {
			most = max(most, r.Run)
		}
	}
	var all []float64
	for k, method := range methods {
		p := chart.Points{Name: config.MethodLabel(method), Swatch: methodSwatch(method)}
		left := 0
		for i := range g.table.Runs {
			r := &g.table.Runs[i]
			switch {
			case r.Method != method || r.Final() == nil:
			case r.Run > most:
				left++
			default:
				aside := 0.6 * ((float64(k)+.5)/float64(len(methods)) - .5)
				p.X, p.Y = append(p.X, float64(r.Run)+aside), append(p.Y, float64(r.Final().RMSE))
			}
		}
		if left > 0 {
			p.Name += fmt.Sprintf(" (%d of %d)", len(p.X), len(p.X)+left)
		}
		if len(p.X) > 0 {
			f.points(p)
			all = append(all, p.Y...)
		}
	}
	f.LogY = spread(all, 4)
	f.XMin, f.XMax, f.XAt = 0.5, float64(most)+.5, fromOne(float64(most))
	f.extra = map[string][]byte{".md": []byte(markdown(g.table.TableRows()))}
	return f
}

// markdown writes rows as a table, numbers with four digits.
func markdown(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		for j, cell := range row {
			if v, err := strconv.ParseFloat(cell, 64); err == nil && j > 0 {
				cell = fmt.Sprintf("%.4g", v)
			}
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---:", len(row)) + "|\n")
		}
	}
	return b.String()
}
