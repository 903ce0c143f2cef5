package local

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Checked is what rows showed that a model had not been fitted to.
type Checked struct {
	Widths []Width `json:"widths"` // of intervals, by how far the nearest row is, ascending
	Checks []Check `json:"-"`      // nil of a model that was read
}

// Width is by what standard deviations are multiplied where the nearest row is not farther
// away than Away.
type Width struct {
	Away   float64 `json:"away"`
	Factor float64 `json:"factor"`
}

// Check is a row that was predicted as if it and what is about it were not known.
type Check struct {
	Row            int     // of those that the model was fitted to, in the order in which they were given
	Away           float64 // from the nearest row that was known
	Y              float64
	Mean, Variance float64 // of y
	LogDensity     float64 // of y
}

const (
	fewestAway          = 150 // checks that a width is of
	narrowest, broadest = 0.7, 2
	trusted             = 30 // checks that count as much as that widths are right as they are
	groupsOfChecks      = 6
)

// normal95 is the quantile of .975 of a standard normal.
const normal95 = 1.959963984540054

// checkedBy finds widths from rows that were predicted: the factors with which intervals of
// 95 % hold as many. Variances of the checks are then multiplied by them.
func checkedBy(got []Check) Checked {
	var out Checked
	slices.SortStableFunc(got, func(a, b Check) int { return cmp.Compare(a.Away, b.Away) })
	least := max(fewestAway, len(got)/groupsOfChecks)
	for from := 0; from < len(got); {
		to := min(from+least, len(got))
		for to < len(got) && got[to].Away < got[to-1].Away*(1+same) {
			to++
		}
		if len(got)-to < least {
			to = len(got)
		}
		out.Widths = append(out.Widths, Width{Away: got[to-1].Away * (1 + same), Factor: factorOf(got[from:to])})
		from = to
	}
	for i := range got {
		c := &got[i]
		f := out.width(c.Away)
		c.Variance *= f * f
		c.LogDensity = logNormal(c.Y-c.Mean, c.Variance)
	}
	out.Checks = got
	return out
}

// factorOf is by what standard deviations must be multiplied for 95 % of the checks to lie in
// their intervals, drawn a little towards 1.
func factorOf(checks []Check) float64 {
	z := make([]float64, len(checks))
	for i, c := range checks {
		z[i] = math.Abs(c.Y-c.Mean) / math.Sqrt(c.Variance)
	}
	slices.Sort(z)
	f := z[min(len(z)-1, len(z)*95/100)] / normal95
	n := float64(len(z))
	return min(max((f*n+trusted)/(n+trusted), narrowest), broadest)
}

// width is the factor where the nearest row is so far away.
func (c *Checked) width(away float64) float64 {
	i := sort.Search(len(c.Widths), func(i int) bool { return c.Widths[i].Away >= away })
	return c.Widths[min(i, len(c.Widths)-1)].Factor
}

// surely is how many standard errors of what is gained it must be.
const surely = 2

// Better is how many nats more a row of the checks has than others' log densities of it, one for
// each check, up to the greatest distance up to which it surely is at all; there is none where within is 0.
func (c *Checked) Better(densities []float64) (within, nats float64) {
	gain, rows := 0.0, 0
	from := 0
	for _, w := range c.Widths {
		sum, squares, to := 0.0, 0.0, from
		for ; to < len(c.Checks) && c.Checks[to].Away <= w.Away; to++ {
			d := c.Checks[to].LogDensity - densities[to]
			sum += d
			squares += d * d
		}
		if !(sum > surely*math.Sqrt(max(0, squares-sum*sum/float64(to-from)))) {
			break
		}
		gain, rows, within, from = gain+sum, to, w.Away, to
	}
	if rows == 0 {
		return 0, 0
	}
	return within, gain / float64(rows)
}
