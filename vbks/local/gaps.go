package local

import (
	"math"
	"math/rand/v2"
	"sort"
)

// hole is where rows are missing: between two rows that are more than a step apart.
type hole struct {
	at, size float64 // begin, width
	missing  float64 // steps that are missing, of all holes up to this one
}

const (
	// Of fewer missing steps than fewestMissing holes say little of which rows will be asked for.
	fewestMissing = 20
	others        = 8  // every eighth question has a gap of any length, anyhow
	widest        = 20 // no gap is wider than this part of the range
	attempts      = 50
)

// asker draws questions like those that are to be expected: with holes among the rows, rows
// in such holes, which it moves by whole periods to where the rows are known; else single
// rows and gaps of any length.
type asker struct {
	*series
	holes []hole
	rng   *rand.Rand
	drawn int
}

func newAsker(s *series, rng *rand.Rand) *asker {
	a := &asker{series: s, rng: rng}
	sum := 0.0
	for i := 1; i < len(s.x); i++ {
		d := s.x[i] - s.x[i-1]
		if d > 1.5*s.step && d < s.span()/widest {
			sum += math.Round(d/s.step) - 1
			a.holes = append(a.holes, hole{s.x[i-1], d, sum})
		}
	}
	if sum < fewestMissing {
		a.holes = nil
	}
	return a
}

// ask draws so many questions.
func (a *asker) ask(n int) []question {
	out := make([]question, 0, n)
	for range n {
		a.drawn++
		for range attempts {
			row, g := a.draw()
			if row < 0 {
				continue
			}
			q := question{row: row, near: a.reach.neighbours(a.x, a.x[row], g, row, nil)}
			if len(q.near) < 2 {
				continue
			}
			q.away = math.Inf(1)
			for _, r := range q.near {
				q.away = min(q.away, math.Abs(a.x[r]-a.x[row]))
			}
			out = append(out, q)
			break
		}
	}
	return out
}

// draw returns a row and what is not known about it; −1 where there is no such row.
func (a *asker) draw() (row int, g gap) {
	if a.holes == nil || a.drawn%others == 0 {
		row = a.rng.IntN(len(a.x))
		if a.holes == nil && a.drawn%2 == 0 {
			return row, gap{}
		}
		most := math.Log(min(a.span()/widest, 2*max(100*a.step, a.longest())) / a.step)
		width := a.step * math.Exp(a.rng.Float64()*max(0, most))
		lo := a.rng.Float64() * width
		return row, gap{lo, width - lo}
	}
	u := a.rng.Float64() * a.holes[len(a.holes)-1].missing
	h := a.holes[sort.Search(len(a.holes), func(i int) bool { return a.holes[i].missing > u })]
	steps := math.Round(h.size / a.step)
	lo := (1 + math.Floor(a.rng.Float64()*(steps-1))) * h.size / steps
	at, by := h.at+lo, a.longest()
	if by > 0 {
		at += by * math.Floor(a.rng.Float64()*math.Floor(a.span()/by))
	} else {
		at += a.rng.Float64() * a.span()
	}
	if last := a.x[len(a.x)-1]; at > last {
		if by > 0 {
			at -= by * math.Floor(a.span()/by)
		} else {
			at -= a.span()
		}
	}
	row = nearest(a.x, at)
	if math.Abs(a.x[row]-at) > a.step/4 {
		return -1, g
	}
	return row, gap{lo - a.step/2, h.size - lo - a.step/2}
}
