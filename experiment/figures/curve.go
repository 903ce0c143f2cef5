package figures

import (
	"math"
	"slices"

	"example.com/kestrel/experiment/average"
)

// curve is a quantity along an axis, which ascends. At a step several values
// stand at one place.
type curve struct{ x, y []float64 }

// add appends a value; one at the place of the last replaces it.
func (c *curve) add(x, y float64) {
	if n := len(c.x); n > 0 && x <= c.x[n-1] {
		c.y[n-1] = y
		return
	}
	c.x, c.y = append(c.x, x), append(c.y, y)
}

// step appends a value; one at the place of the last stands beside it, so that
// the course goes straight up or down there.
func (c *curve) step(x, y float64) { c.x, c.y = append(c.x, x), append(c.y, y) }

// before returns the value of the last point at or before x, and the number of
// that point; NaN and −1 before the first.
func (c *curve) before(x float64) (float64, int) {
	i, found := slices.BinarySearch(c.x, x)
	if !found {
		i--
	}
	if i < 0 {
		return math.NaN(), -1
	}
	return c.y[i], i
}

// linear returns the value at x on the line through the points; NaN beyond them.
func (c *curve) linear(x float64) float64 {
	y, i := c.before(x)
	switch {
	case i < 0 || i == len(c.x)-1 && x > c.x[i]:
		return math.NaN()
	case x == c.x[i]:
		return y
	}
	u := (x - c.x[i]) / (c.x[i+1] - c.x[i])
	return (1-u)*y + u*c.y[i+1]
}

// places lists the places of all points.
func places(courses []curve) (x []float64) {
	for _, c := range courses {
		x = append(x, c.x...)
	}
	slices.Sort(x)
	return slices.Compact(x)
}

// behind returns the value that a course goes on with at x, and whether it steps
// there.
func (c *curve) behind(x float64) (y float64, steps bool) {
	first, found := slices.BinarySearch(c.x, x)
	if !found {
		return c.linear(x), false
	}
	last := first
	for last+1 < len(c.x) && c.x[last+1] == x {
		last++
	}
	return c.y[last], last > first
}

// linearMean is the mean of courses where all of them are.
func linearMean(courses []curve) (out curve) {
	for _, x := range places(courses) {
		to, from, stepped := 0.0, 0.0, false // what a step goes between
		for i := range courses {
			to += courses[i].linear(x)
			y, steps := courses[i].behind(x)
			from += y
			stepped = stepped || steps
		}
		n := float64(len(courses))
		if !math.IsNaN(to) {
			out.step(x, to/n)
		}
		if stepped && !math.IsNaN(from) {
			out.step(x, from/n)
		}
	}
	return out
}

// cut makes a gap of a mean where all courses of there have no value, and takes that off its ends.
func (c *curve) cut(there []curve) {
	var out curve
	for i, x := range c.x {
		second := i > 0 && c.x[i-1] == x // of a step
		in := slices.ContainsFunc(there, func(t curve) bool {
			v := t.linear(x)
			if second {
				v, _ = t.behind(x)
			}
			return !math.IsNaN(v)
		})
		switch n := len(out.y); {
		case in:
			out.step(x, c.y[i])
		case n > 0 && !math.IsNaN(out.y[n-1]):
			out.step(x, math.NaN())
		}
	}
	if n := len(out.y); n > 0 && math.IsNaN(out.y[n-1]) {
		out = curve{out.x[:n-1], out.y[:n-1]}
	}
	*c = out
}

// stepMean is the mean and standard deviation (NaN of one) of courses that keep
// their value until the next point, and the last one for good: from where all
// have begun to where the last one ends.
type stepMean struct{ x, mean, sd []float64 }

func meanOfSteps(courses []curve) (m stepMean) {
	values := make([]float64, len(courses))
	for _, x := range places(courses) {
		begun := true
		for i := range courses {
			v, at := courses[i].before(x)
			values[i] = v
			begun = begun && at >= 0
		}
		if !begun {
			continue
		}
		mean, sd := average.MeanSD(values)
		m.x, m.mean, m.sd = append(m.x, x), append(m.mean, mean), append(m.sd, sd)
	}
	return m
}

// line is the mean as it is drawn, with a corner at every step.
func (m *stepMean) line() (x, y []float64) {
	for i := range m.x {
		if i > 0 {
			x, y = append(x, m.x[i]), append(y, m.mean[i-1])
		}
		x, y = append(x, m.x[i]), append(y, m.mean[i])
	}
	return x, y
}

// at returns the mean and the standard deviation at a place.
func (m *stepMean) at(x float64) (mean, sd float64) {
	c := curve{m.x, m.mean}
	mean, i := c.before(x)
	if i < 0 {
		return mean, math.NaN()
	}
	return mean, m.sd[i]
}
