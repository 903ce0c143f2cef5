package figures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/kestrel/experiment/compare"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/history"
	"example.com/kestrel/experiment/inside"
	"example.com/kestrel/experiment/output"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/rundir"
)

// Options say what figures of runs show.
type Options struct {
	Top int // of the posterior: kernels that were among so many at any time; 0: 2, as in the paper's figure 1
}

// figurePoints is the number of points kept of a run's series.
const figurePoints = 2048

// Figures are the paper's figures of some runs, ready to be drawn.
type Figures struct {
	LeftOut []string // directories of runs that had no evaluation, of which there is nothing to draw
	Empty   []string // names of figures that are left out since nothing of them is a finite number
	figures []*paperFigure
}

// Read makes the paper's figures from the directories of runs, of repeats
// (folders of runs) and of comparisons. Of every experiment (repeats are runs
// that differ in nothing but their seed) there are, NAME being that of its config,
//
//	NAME-posterior  kernel posterior against the proportion of the data, mean of the repeats
//	NAME-rmse       RMSE on held-out rows against time for each method, mean and sd of the runs
//	NAME-table      the RMSE in the end, run by run; also as NAME-table.md
//
// and of experiments that differ in nothing but the batch size, the kernels, or the
// number of rows made
//
//	NAME-scalability          time against the iterations of the optimiser, and a line fitted to it
//	NAME-scalability-kernels  the same for numbers of kernels, where these do not come and go
//	NAME-scalability-rows     the same for numbers of rows
//
// Runs without any evaluation are left out, and figures of which nothing can be drawn.
//
// Errors: a directory that is none of these, results that cannot be read, nothing
// but runs without any evaluation.
func Read(ctx context.Context, paths []string, o Options) (*Figures, error) {
	if o.Top <= 0 {
		o.Top = 2
	}
	var groups []*figureGroup
	p := &Figures{}
	for _, path := range paths {
		found, err := p.source(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, g := range found {
			if i := slices.IndexFunc(groups, func(o *figureGroup) bool {
				return g.table == nil && o.table == nil &&
					g.experiment() == o.experiment()
			}); i >= 0 {
				groups[i].runs = append(groups[i].runs, g.runs...)
			} else {
				groups = append(groups, g)
			}
		}
	}
	if len(groups) == 0 && len(p.LeftOut) > 0 {
		return nil, fmt.Errorf("run %q: %w", p.LeftOut[0], record.ErrNoResults)
	}
	taken := map[string]bool{}
	for _, g := range groups {
		g.name = g.title()
		for n := 2; taken[g.name]; n++ {
			g.name = fmt.Sprintf("%s-%d", g.title(), n)
		}
		taken[g.name] = true
		if g.table == nil {
			g.table = g.results()
		}
		if len(g.runs) > 0 {
			p.figures = append(p.figures, g.posteriorFigure(o.Top))
		}
		if len(g.table.Runs) > 0 {
			p.figures = append(p.figures, g.errorFigure(), g.tableFigure())
		}
	}
	p.figures = append(p.figures, scalabilityFigures(groups)...)
	p.leaveOut()
	return p, nil
}

// leaveOut leaves out figures in which nothing can be drawn.
func (p *Figures) leaveOut() {
	p.figures = slices.DeleteFunc(p.figures, func(f *paperFigure) bool {
		if f.empty() {
			p.Empty = append(p.Empty, f.Name)
			return true
		}
		return false
	})
}

// Save draws the figures and writes them to dir, each as SVG, as PNG and as CSV
// with exactly what is drawn: all of them, or none. It returns the names of the
// files written, without ending.
func (p *Figures) Save(ctx context.Context, dir string) (names []string, err error) {
	var all []files.File
	for _, f := range p.figures {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		drawn, err := f.files()
		if err != nil {
			return nil, err
		}
		names, all = append(names, f.Name), append(all, drawn...)
	}
	if err := output.WriteFiles(dir, all); err != nil {
		return nil, err
	}
	return names, nil
}

// figureGroup is the repeats of an experiment, or a comparison.
type figureGroup struct {
	name  string              // of its files
	runs  []*history.History  // of VBKS; none where a comparison has none
	table *compare.Comparison // what all methods came to
}

func (g *figureGroup) experiment() string { return g.runs[0].Start.Experiment() }

// title is the name of the config.
func (g *figureGroup) title() string {
	if len(g.runs) == 0 {
		return g.table.Config.Name
	}
	return g.runs[0].Start.Name
}

// frame is a figure of the group without its lines.
func (g *figureGroup) frame(q history.Quantity) *paperFigure {
	h := &history.History{} // knows no unit
	if len(g.runs) > 0 {
		h = g.runs[0]
	}
	f := &paperFigure{Figure: *historyFrame(h, q, history.AxisData)}
	f.Name, f.Title = g.name+"-"+f.Name, g.title()
	return f
}

// source reads what a path names.
func (p *Figures) source(ctx context.Context, path string) ([]*figureGroup, error) {
	if rundir.IsRun(path) {
		return p.groups(ctx, []string{path})
	}
	if !isComparison(path) {
		runs, err := runsWithin(path, ".")
		if err == nil && len(runs) == 0 {
			err = fmt.Errorf("%q is neither a run nor a comparison, and no folder of runs", path)
		}
		if err != nil {
			return nil, err
		}
		return p.groups(ctx, runs)
	}
	table, err := compare.Read(path)
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, method := range []string{config.MethodAverage, config.MethodPrune} {
		if runs, err = runsWithin(path, method); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if len(runs) > 0 {
			break
		}
	}
	if len(runs) == 0 {
		return []*figureGroup{{table: table}}, nil
	}
	groups, err := p.groups(ctx, runs)
	if err != nil {
		return nil, err
	}
	if len(groups) == 0 {
		return []*figureGroup{{table: table}}, nil
	}
	if len(groups) > 1 {
		return nil, fmt.Errorf("comparison %q holds runs of %d experiments", path, len(groups))
	}
	groups[0].table = table
	return groups, nil
}

// isComparison reports whether a path is the directory of a comparison.
func isComparison(path string) bool {
	_, err := os.Lstat(filepath.Join(path, record.FinalsFile))
	return err == nil && !rundir.IsRun(path)
}

// runsIn lists the runs in a folder.
func runsIn(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("runs in %q cannot be listed: %w", path, errors.Unwrap(err))
	}
	var runs []string
	for _, e := range entries {
		if dir := filepath.Join(path, e.Name()); !strings.HasPrefix(e.Name(), ".") && rundir.IsRun(dir) {
			runs = append(runs, dir)
		}
	}
	return runs, nil
}

// runsWithin lists the runs in a folder of a directory, none of which is a link.
func runsWithin(path, folder string) ([]string, error) {
	d, err := inside.Open(path)
	if err != nil {
		return nil, fmt.Errorf("runs in %q cannot be listed: %w", path, errors.Unwrap(err))
	}
	defer d.Close()
	if err := d.CheckFolder(folder); err != nil {
		return nil, err
	}
	runs, err := runsIn(d.Join(folder))
	for _, run := range runs {
		if err := d.CheckFolder(filepath.Join(folder, filepath.Base(run))); err != nil {
			return nil, err
		}
	}
	return runs, err
}

// groups reads runs and puts repeats together.
func (p *Figures) groups(ctx context.Context, paths []string) (groups []*figureGroup, err error) {
	for _, path := range paths {
		h, err := history.Read(ctx, path, figurePoints)
		if err != nil && !errors.Is(err, record.ErrNoEvents) {
			return nil, err
		}
		if err != nil || h.Start == nil || h.Evaluation == nil {
			p.LeftOut = append(p.LeftOut, path)
			continue
		}
		i := slices.IndexFunc(groups, func(g *figureGroup) bool { return g.experiment() == h.Start.Experiment() })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &figureGroup{})
		}
		groups[i].runs = append(groups[i].runs, h)
	}
	for _, g := range groups {
		slices.SortStableFunc(g.runs, func(a, b *history.History) int {
			switch s, t := a.Start.Seed, b.Start.Seed; {
			case s < t:
				return -1
			case s > t:
				return 1
			}
			return 0
		})
	}
	return groups, nil
}

// results is what the methods of prediction of the group's runs came to.
func (g *figureGroup) results() *compare.Comparison {
	c := &compare.Comparison{}
	for _, method := range []string{config.MethodAverage, config.MethodSingle} {
		for i, h := range g.runs {
			for m := range h.Methods() {
				if h.Method(m) == method {
					c.Runs = append(c.Runs, compare.MethodRun{Method: method, Run: i + 1, Seed: h.Start.Seed, Metrics: historyMetrics(h, m)})
				}
			}
		}
		if slices.ContainsFunc(c.Runs, func(r compare.MethodRun) bool { return r.Method == method }) {
			c.Config.Compare.Methods = append(c.Config.Compare.Methods, method)
		}
	}
	return c
}

// historyMetrics returns the metrics of a method that a history has kept.
func historyMetrics(h *history.History, m int) (out []record.Metric) {
	rmse, nlpd := h.MethodSeries(m, history.QuantityRMSE), h.MethodSeries(m, history.QuantityNLPD)
	for i := range rmse.Len() {
		at := rmse.Moment(i)
		out = append(out, record.Metric{
			Evaluation: at.Index, Proportion: at.Proportion, Seconds: files.Number(at.Seconds), Method: h.Method(m),
			RMSE: files.Number(rmse.Last(i)), NLPD: files.Number(nlpd.Last(i)),
		})
	}
	return out
}

// seedsText is such as ", mean of 10 seeds", "" for one run.
func seedsText(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(", mean of %d seeds", n)
}
