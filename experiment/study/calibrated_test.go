package study

import (
	"math"
	"math/rand/v2"
	"testing"

	"example.com/kestrel/internal/thorough"
)

// source draws events whose belief is made of the true probability by its logit.
func source(n int, seed uint64, believed func(logit float64) float64) []event {
	rng := rand.New(rand.NewPCG(seed, 5))
	out := make([]event, n)
	for i := range out {
		l := 1 + 1.5*rng.NormFloat64()
		p := 1 / (1 + math.Exp(-l))
		out[i] = event{1 / (1 + math.Exp(-believed(l))), rng.Float64() < p}
	}
	return out
}

// A belief that is calibrated has slope 1, and hits in the bands; one that is twice
// as sure as it should be half the slope; one that is too high hits less often than
// it says.
func TestCalibrated(t *testing.T) {
	thorough.Unraced(t)
	good := calibrate(source(1000, 1, func(l float64) float64 { return l }))
	if !(math.Abs(float64(good.Slope)-1) < 0.2) || !(good.SlopeBand[0] < 1 && good.SlopeBand[1] > 1) || !(good.Share > 0.05) ||
		!(good.SlopeDrawn[0] < good.Slope && good.SlopeDrawn[1] > good.Slope) ||
		good.Hits < good.HitsBand[0] || good.Hits > good.HitsBand[1] || !(good.InterBand[0] < 0 && good.InterBand[1] > 0) {
		t.Errorf("calibrated: %+v", good)
	}
	outside := 0
	sets, hits := 0, 0
	expected := 0.0
	for _, b := range good.Bins {
		if !b.Inside() {
			outside++
		}
		sets, hits, expected = sets+b.Sets, hits+b.Hits, expected+float64(b.Expected)
	}
	if outside > 1 || sets != 1000 || hits != good.Hits || math.Abs(expected-float64(good.Expected)) > 1e-9 {
		t.Errorf("%d bins outside, %d sets, %d hits of %d", outside, sets, hits, good.Hits)
	}
	sure := calibrate(source(1000, 2, func(l float64) float64 { return 2 * l }))
	if !(math.Abs(float64(sure.Slope)-0.5) < 0.1) || !(sure.SlopeBand[1] < 0.8) ||
		!(sure.SlopeDrawn[0] > sure.Slope) || !(sure.Brier > good.Brier) {
		t.Errorf("overconfident: %+v", sure)
	}
	high := calibrate(source(300, 3, func(l float64) float64 { return l + 1 }))
	if high.Hits >= high.HitsBand[0] || high.Share > 0.01 || !(high.InterBand[1] < 0) {
		t.Errorf("too high: %+v", high)
	}
}

// The bands have what a calibrated belief gives in 95 of 100 studies, by the binomial
// distribution where all beliefs are alike.
func TestBands(t *testing.T) {
	var events []event
	for i := range 100 {
		events = append(events, event{0.85, i < 85})
	}
	c := calibrate(events)
	// Of 100 with .85 each, 77 or fewer come in 2.6 %, 92 or more in 2.7 % of the cases.
	if c.HitsBand[0] < 77 || c.HitsBand[0] > 79 || c.HitsBand[1] < 91 || c.HitsBand[1] > 92 || c.Share != 1 || c.Bins[4].Band != c.HitsBand {
		t.Errorf("%+v", c)
	}
	if !math.IsNaN(float64(c.Slope)) { // of one belief
		t.Errorf("slope %v", c.Slope)
	}
	all := calibrate([]event{{0.5, true}, {0.9, true}, {1, true}})
	if !math.IsNaN(float64(all.Slope)) || !math.IsNaN(float64(all.SlopeDrawn[0])) || all.Hits != 3 || all.Bins[7].Hits != 1 {
		t.Errorf("nothing but hits: %+v", all)
	}
	if none := calibrate(nil); none.Sets != 0 || none.Share != 1 || !math.IsNaN(float64(none.Slope)) {
		t.Errorf("nothing: %+v", none)
	}
	at0 := calibrate([]event{{0, false}, {0.2, false}, {0.99, true}})
	if at0.Bins[0].Sets != 1 || at0.Bins[1].Sets != 1 || at0.Bins[7].Sets != 1 {
		t.Errorf("edges: %+v", at0.Bins)
	}
}

// Rows are summed up for each belief, and failed ones are not.
func TestCalibrate(t *testing.T) {
	rows := []*CalibrationRow{
		{Hit: true, Bayes: 0.9, Posterior: 0.6, PointBayes: 1, OwnBayes: 0.9, OwnPosterior: 0.6, OwnPointBayes: 1},
		{Hit: false, Bayes: 0.7, Posterior: 0.5, PointBayes: 1, OwnBayes: 0.1, OwnPosterior: 0.2, OwnPointBayes: 0},
		{Failure: "it", Bayes: 1},
	}
	all := Calibrate("K", rows)
	if len(all) != 3 || all[0].Belief != "bayes" || all[0].Sets != 2 || all[0].Hits != 1 || all[0].Space != "K" {
		t.Fatalf("%+v", all)
	}
	for i, want := range []struct{ score, brier float64 }{
		{-(math.Log(0.9) + math.Log(0.1)) / 2, (0.01 + 0.49) / 2},
		{-(math.Log(0.6) + math.Log(0.2)) / 2, (0.16 + 0.25) / 2},
		{-(math.Log(1-leastBelief) + math.Log(leastBelief)) / 2, 0.5},
	} {
		if c := all[i]; math.Abs(float64(c.LogScore)-want.score) > 1e-9 || math.Abs(float64(c.Brier)-want.brier) > 1e-9 {
			t.Errorf("%s: log score %v, Brier %v, want %+v", c.Belief, c.LogScore, c.Brier, want)
		}
	}
}
