package experiment

import (
	"math"
	"slices"
)

// course is a quantity along an axis, which ascends.
type course struct{ x, y []float64 }

// add appends a value; one at the place of the last replaces it.
func (c *course) add(x, y float64) {
	if n := len(c.x); n > 0 && x <= c.x[n-1] {
		c.y[n-1] = y
		return
	}
	c.x, c.y = append(c.x, x), append(c.y, y)
}

// before returns the value of the last point at or before x, and the number of
// that point; NaN and −1 before the first.
func (c *course) before(x float64) (float64, int) {
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
func (c *course) linear(x float64) float64 {
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
func places(courses []course) (x []float64) {
	for _, c := range courses {
		x = append(x, c.x...)
	}
	slices.Sort(x)
	return slices.Compact(x)
}

// linearMean is the mean of courses where all of them are.
func linearMean(courses []course) (out course) {
	for _, x := range places(courses) {
		sum := 0.0
		for i := range courses {
			sum += courses[i].linear(x)
		}
		if !math.IsNaN(sum) {
			out.add(x, sum/float64(len(courses)))
		}
	}
	return out
}

// stepMean is the mean and standard deviation (NaN of one) of courses that keep
// their value until the next point, and the last one for good: from where all
// have begun to where the last one ends.
type stepMean struct{ x, mean, sd []float64 }

func meanOfSteps(courses []course) (m stepMean) {
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
		mean, sd := meanSD(values)
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
	c := course{m.x, m.mean}
	mean, i := c.before(x)
	if i < 0 {
		return mean, math.NaN()
	}
	return mean, m.sd[i]
}
