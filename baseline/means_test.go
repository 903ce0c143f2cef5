package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What is made of a pattern of a week and two waves of a year is found as it was made, far ahead
// too, and the standard deviation is the noise's.
func TestMeansFindWhatTheyAreMeantFor(t *testing.T) {
	const season, slow, n, noise = 28, 1461., 3 * 1461, .3
	rng := rand.New(rand.NewPCG(3, 1))
	pattern := make([]float64, season)
	for i := range pattern {
		pattern[i] = 5 * rng.Float64()
	}
	truth := func(t int) float64 {
		turn := 2 * math.Pi * float64(t) / slow
		return 40 + pattern[t%season] + 3*math.Cos(turn) - 2*math.Sin(turn) + .7*math.Sin(2*turn)
	}
	var x, y, at []float64
	for i := range n {
		x, y = append(x, 100+float64(i)/4), append(y, truth(i)+noise*rng.NormFloat64())
	}
	for i := range 900 {
		at = append(at, 100+float64(n+i)/4)
	}
	s, err := NewSeries(x, y)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Means(s, season, slow, at)
	if err != nil {
		t.Fatal(err)
	}
	square := 0.0
	for i := range p {
		d := p[i].Mean - truth(n+i)
		square += d * d / float64(len(p))
		if math.Abs(p[i].SD/noise-1) > .05 {
			t.Fatalf("sd %v, the noise's is %v", p[i].SD, noise)
		}
	}
	if e := math.Sqrt(square); e > noise/4 { // some 32 coefficients of 4383 rows
		t.Errorf("means are %v off", e)
	}
	plain, err := Means(s, season, 0, at)
	phases, err2 := PhaseMean(s, season, at)
	if err != nil || err2 != nil || plain[7] != phases[7] {
		t.Errorf("without waves %v, %v; means by phase %v, %v", plain[7], err, phases[7], err2)
	}
	if _, err := Means(s, season, 2*n, at); err == nil {
		t.Error("a slow season that has been seen half is taken")
	}
}
