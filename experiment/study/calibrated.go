package study

import (
	"math"
	"math/rand/v2"
	"slices"

	"example.com/kestrel/experiment/files"
	"example.com/kestrel/vbks/random"
)

// Calibrated says whether a belief was right as often as it said: over data sets,
// the belief of the leader's class against how often the generator was in it.
type Calibrated struct {
	Space  string `json:"space"`
	Belief string `json:"belief"` // "bayes", "posterior" (q*), "point_bayes" (without errors)
	Sets   int    `json:"sets"`
	Hits   int    `json:"hits"`
	// hits of a belief that is calibrated: the mean, 95 % of what it gives, and the share of what it gives that is as
	// far from the mean as ours
	Expected   files.Number `json:"expected_hits"`
	HitsBand   [2]int       `json:"hits_band"`
	Share      files.Number `json:"share_as_far"`
	Slope      files.Number `json:"slope"` // of the hits' logit by the belief's; NaN where there is none
	SlopeBand  Interval     `json:"slope_interval"`
	Intercept  files.Number `json:"intercept"`
	InterBand  Interval     `json:"intercept_interval"`
	SlopeDrawn Interval     `json:"slope_band"` // of a belief that is calibrated
	LogScore   files.Number `json:"log_score"`  // mean of −log of the belief in the generator's class
	Brier      files.Number `json:"brier"`
	Bins       []Bin        `json:"bins"`
}

// Interval has a lower and an upper end.
type Interval [2]files.Number

// Bin is the data sets whose belief is from From to To, which belongs to the last.
type Bin struct {
	From     files.Number `json:"from"`
	To       files.Number `json:"to"`
	Sets     int          `json:"sets"`
	Hits     int          `json:"hits"`
	Expected files.Number `json:"expected_hits"`
	Band     [2]int       `json:"band"` // 95 % of the hits of a belief that is calibrated
}

// Inside reports whether the hits are in the band.
func (b *Bin) Inside() bool { return b.Hits >= b.Band[0] && b.Hits <= b.Band[1] }

const (
	// Beliefs are kept this far from 0 and 1 where logarithms are taken.
	leastBelief = 1e-6
	// calibratedStudies are drawn from a belief that is calibrated.
	calibratedStudies = 4000
)

// edges are those of the bins.
func edges() []float64 { return []float64{0, .2, .4, .6, .8, .9, .95, .99, 1} }

// beliefs lists what is believed of a row's kernels: its name, what it says of the
// leader's class and of the generator's.
func beliefs() []struct {
	name string
	of   func(*CalibrationRow) (leading, own files.Number)
} {
	type row = *CalibrationRow
	return []struct {
		name string
		of   func(row) (leading, own files.Number)
	}{
		{"bayes", func(r row) (a, b files.Number) { return r.Bayes, r.OwnBayes }},
		{"posterior", func(r row) (a, b files.Number) { return r.Posterior, r.OwnPosterior }},
		{"point_bayes", func(r row) (a, b files.Number) { return r.PointBayes, r.OwnPointBayes }},
	}
}

// Calibrate sums rows up, for each belief. Rows of failed runs do not count.
func Calibrate(space string, rows []*CalibrationRow) []Calibrated {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *CalibrationRow) bool { return r.Failure != "" })
	var all []Calibrated
	for _, b := range beliefs() {
		var events []event
		var score float64
		for _, r := range rows {
			leading, own := b.of(r)
			events = append(events, event{min(1, max(0, float64(leading))), r.Hit})
			score -= math.Log(clipped(float64(own))) / float64(len(rows))
		}
		c := calibrate(events)
		c.Space, c.Belief, c.LogScore = space, b.name, files.Number(score)
		all = append(all, c)
	}
	return all
}

// event is something that was believed, and whether it was so.
type event struct {
	belief float64
	hit    bool
}

// calibrate compares events with those of a belief that is calibrated.
func calibrate(events []event) Calibrated {
	c := Calibrated{Sets: len(events)}
	brier, expected := 0.0, 0.0
	for _, e := range events {
		expected += e.belief
		hit := 0.0
		if e.hit {
			c.Hits++
			hit = 1
		}
		brier += (e.belief - hit) * (e.belief - hit) / float64(len(events))
	}
	c.Expected, c.Brier = files.Number(expected), files.Number(brier)
	e := edges()
	in := make([]int, len(events)) // the bin of each
	for i := range e[1:] {
		c.Bins = append(c.Bins, Bin{From: files.Number(e[i]), To: files.Number(e[i+1])})
	}
	for i, v := range events {
		at, _ := slices.BinarySearchFunc(e[1:len(e)-1], v.belief, func(edge, b float64) int {
			if edge <= b {
				return -1
			}
			return 1
		})
		in[i] = at
		b := &c.Bins[at]
		b.Sets++
		b.Expected += files.Number(v.belief)
		if v.hit {
			b.Hits++
		}
	}
	c.draw(events, in)
	fit := logit(events)
	c.Slope, c.Intercept = files.Number(fit.slope), files.Number(fit.intercept)
	c.SlopeBand, c.InterBand = around(fit.slope, fit.slopeSD), around(fit.intercept, fit.interceptSD)
	return c
}

// around is a 95 % interval.
func around(v, sd float64) Interval {
	return Interval{files.Number(v - 1.96*sd), files.Number(v + 1.96*sd)}
}

// draw simulates studies of a belief that is calibrated.
func (c *Calibrated) draw(events []event, in []int) {
	rng := random.Stream(1, "calibrated belief", 0)
	total := make([]int, calibratedStudies)
	bins := make([][]int, len(c.Bins))
	var slopes []float64
	far := 0
	for s := range total {
		drawn := drawn(events, rng)
		hits := make([]int, len(c.Bins))
		for i, e := range drawn {
			if e.hit {
				total[s]++
				hits[in[i]]++
			}
		}
		for b, h := range hits {
			bins[b] = append(bins[b], h)
		}
		mean := float64(c.Expected)
		if math.Abs(float64(total[s])-mean) >= math.Abs(float64(c.Hits)-mean)-1e-9 {
			far++
		}
		if s < calibratedStudies/4 {
			if fit := logit(drawn); !math.IsNaN(fit.slope) {
				slopes = append(slopes, fit.slope)
			}
		}
	}
	c.Share = files.Number(float64(far) / calibratedStudies)
	c.HitsBand = middle(total)
	for b := range c.Bins {
		c.Bins[b].Band = middle(bins[b])
	}
	c.SlopeDrawn = Interval{files.Number(math.NaN()), files.Number(math.NaN())}
	if len(slopes) > calibratedStudies/8 { // else most studies have none
		m := middle(slopes)
		c.SlopeDrawn = Interval{files.Number(m[0]), files.Number(m[1])}
	}
}

// drawn are the same beliefs with what comes of them where they are calibrated.
func drawn(events []event, rng *rand.Rand) []event {
	out := make([]event, len(events))
	for i, e := range events {
		out[i] = event{e.belief, rng.Float64() < e.belief}
	}
	return out
}

// middle has at most 2.5 % of the values on either side.
func middle[T int | float64](values []T) [2]T {
	slices.Sort(values)
	tail := len(values) / 40
	return [2]T{values[tail], values[len(values)-1-tail]}
}

func clipped(p float64) float64 { return min(1-leastBelief, max(leastBelief, p)) }

// logistic is a regression logit P(hit) = intercept + slope · logit(belief).
type logistic struct{ slope, intercept, slopeSD, interceptSD float64 }

// logit fits a logistic regression by Newton's method; NaN where the likelihood has
// no maximum, as with nothing but hits.
func logit(events []event) logistic {
	nan := math.NaN()
	none := logistic{nan, nan, nan, nan}
	x := make([]float64, len(events))
	for i, e := range events {
		p := clipped(e.belief)
		x[i] = math.Log(p / (1 - p))
	}
	a, b := 0.0, 1.0 // a calibrated belief
	value := func(a, b float64) (v float64) {
		for i, e := range events {
			t := a + b*x[i]
			if !e.hit {
				t = -t
			}
			v -= softplus(-t)
		}
		return v
	}
	now := value(a, b)
	for range 100 {
		var ga, gb, haa, hab, hbb float64
		for i, e := range events {
			p := 1 / (1 + math.Exp(-(a + b*x[i])))
			r := -p
			if e.hit {
				r++
			}
			w := p * (1 - p)
			ga, gb = ga+r, gb+r*x[i]
			haa, hab, hbb = haa+w, hab+w*x[i], hbb+w*x[i]*x[i]
		}
		det := haa*hbb - hab*hab
		if !(det > 1e-9*haa*hbb) {
			return none
		}
		da, db := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
		if math.Abs(da)+math.Abs(db) < 1e-9 {
			return logistic{b, a, math.Sqrt(haa / det), math.Sqrt(hbb / det)}
		}
		step := 1.0
		for step > 1e-10 && !(value(a+step*da, b+step*db) >= now-1e-12) {
			step /= 2
		}
		a, b = a+step*da, b+step*db
		now = value(a, b)
		if math.Abs(a) > 100 || math.Abs(b) > 100 {
			return none
		}
	}
	return none
}

// softplus is log(1 + exp(t)).
func softplus(t float64) float64 {
	if t > 30 {
		return t
	}
	return math.Log1p(math.Exp(t))
}
