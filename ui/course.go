package ui

import (
	"fmt"
	"math"
	"slices"

	"kestrel/experiment"
)

// series is what a run is compared by; empty where it has none.
func (v *compareView) series(h *experiment.History) experiment.Series {
	quantity := experiment.QuantityRMSE
	switch v.by {
	case compareNLPD:
		quantity = experiment.QuantityNLPD
	case compareCoverage:
		quantity = experiment.QuantityCoverage
	case compareLeader, compareKernel:
		id := v.b.chosen()
		if v.by == compareLeader {
			id = ""
			if h.Evaluation != nil && h.Evaluation.Leader() != nil {
				id = h.Evaluation.Leader().ID
			}
		}
		if k := h.Index(id); k >= 0 {
			return h.Series(k, experiment.QuantityPosterior)
		}
		return experiment.Series{}
	}
	for m := range h.Methods() {
		if h.Method(m) == experiment.MethodAverage {
			return h.MethodSeries(m, quantity)
		}
	}
	return experiment.Series{}
}

// runGroup is runs of one experiment that differ in their seeds only.
type runGroup struct {
	key   string // for its colour
	paths []string
}

// grouped divides the chosen runs that are there, in the order of choice.
func (v *compareView) grouped() (groups []runGroup) {
	for _, path := range v.chosen {
		h := v.hist(path)
		if h == nil || h.Start == nil {
			continue
		}
		key := path
		if !v.apart {
			key = h.Start.Experiment()
		}
		i := slices.IndexFunc(groups, func(g runGroup) bool { return g.key == key })
		if i < 0 {
			i = len(groups)
			groups = append(groups, runGroup{key: key})
		}
		groups[i].paths = append(groups[i].paths, path)
	}
	return groups
}

// course is a quantity along an axis, which ascends. NaN is a gap.
type course struct{ x, y []float64 }

// at returns the value at x, linearly between the points next to it; NaN
// outside and beside gaps.
func (c course) at(x float64) float64 {
	if len(c.x) == 1 && c.x[0] == x {
		return c.y[0]
	}
	i, u := bracket(c.x, x)
	switch {
	case i < 0:
		return math.NaN()
	case u == 0:
		return c.y[i]
	case u == 1:
		return c.y[i+1]
	}
	return (1-u)*c.y[i] + u*c.y[i+1]
}

// meanSD averages several courses. The common axis is the points of all of
// them as far as every one reaches, so that none enters or leaves the mean on
// the way, thinned evenly to at most so many; on it every course has the value
// that at gives. The standard deviation is that of a sample (n − 1), NaN for
// one course. Where one has a gap there is none of either.
func meanSD(courses []course, most int) (x, mean, sd []float64) {
	lo, hi := math.Inf(-1), math.Inf(1)
	for _, c := range courses {
		if len(c.x) == 0 {
			return nil, nil, nil
		}
		lo, hi = max(lo, c.x[0]), min(hi, c.x[len(c.x)-1])
	}
	for _, c := range courses {
		for _, v := range c.x {
			if v >= lo && v <= hi {
				x = append(x, v)
			}
		}
	}
	slices.Sort(x)
	x = slices.Compact(x)
	if len(x) > most && most > 1 {
		for i := range most {
			x[i] = x[i*(len(x)-1)/(most-1)]
		}
		x = x[:most]
	}
	n := float64(len(courses))
	for _, at := range x {
		m, s := 0.0, 0.0
		for _, c := range courses {
			m += c.at(at) / n
		}
		for _, c := range courses {
			d := c.at(at) - m
			s += d * d
		}
		mean, sd = append(mean, m), append(sd, math.Sqrt(s/(n-1)))
	}
	return x, mean, sd
}

// course returns what a run is compared by, with the last value of each point.
func (v *compareView) course(h *experiment.History) course {
	s := v.series(h)
	var c course
	for i := range s.Len() {
		// A revision of the last evaluation may repeat a moment.
		if x := s.X(i, v.axis); len(c.x) == 0 || x > c.x[len(c.x)-1] {
			c.x, c.y = append(c.x, x), append(c.y, s.Last(i))
		}
	}
	return c
}

// seeds counts the different seeds of runs.
func (v *compareView) seeds(paths []string) int {
	seen := map[uint64]bool{}
	for _, p := range paths {
		seen[v.hist(p).Start.Seed] = true
	}
	return len(seen)
}

// summary is what is drawn of a group: its only run, or the mean of its runs,
// and then also mean ± sd.
type summary struct {
	label   string
	x, y    []float64
	lo, hi  []float64 // nil for one run
	missing []string  // runs without such values
}

// summarise returns false if no run of the group has values.
func (v *compareView) summarise(g runGroup) (s summary, ok bool) {
	s.label = v.label(g.paths[0])
	var courses []course
	for _, p := range g.paths {
		if c := v.course(v.hist(p)); len(c.x) > 0 {
			courses = append(courses, c)
		} else {
			s.missing = append(s.missing, v.label(p))
		}
	}
	switch len(courses) {
	case 0:
		return s, false
	case 1:
		s.x, s.y = courses[0].x, courses[0].y
		return s, true
	}
	var sd []float64
	s.x, s.y, sd = meanSD(courses, mostMeanPoints)
	for k, m := range s.y {
		s.lo, s.hi = append(s.lo, m-sd[k]), append(s.hi, m+sd[k])
	}
	s.label = fmt.Sprintf("%s, %d runs", v.hist(g.paths[0]).Start.Name, len(courses))
	if n := v.seeds(g.paths); n < len(courses) {
		s.label += fmt.Sprintf(" of %d seeds", n)
	}
	return s, true
}
