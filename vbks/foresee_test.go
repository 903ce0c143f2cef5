package vbks

import "testing"

// A rung of more inducing inputs takes as much longer as it has been seen to, integrals and scores count,
// and no evaluation is foreseen to take nothing, whatever is asked.
func TestForeseen(t *testing.T) {
	s := DefaultSettings()
	s.Evidence = modeEvidence
	drawn := s
	drawn.Evidence = drawsEvidence
	at := func(n, seen, kernels, rung, m int) Prospect {
		return Prospect{Rows: n, Seen: seen, First: 32, Kernels: kernels, Close: 16, Rung: rung, Rungs: 3, Inducing: m, Last: true}
	}
	streamed := func(seen int, onCard bool) float64 {
		p := at(190_000, seen, 144, 0, 800)
		p.First, p.Rungs, p.Last, p.OnCard = 144, 1, false, onCard
		return s.Foreseen(p)
	}
	first, table := s.Foreseen(at(252, 252, 32, 0, 64)), s.Foreseen(at(810, 810, 32, 0, 64))
	for _, c := range []struct {
		what             string
		got, least, most float64
	}{
		{"Z = X of 252 rows", s.Foreseen(at(252, 252, 32, 1, 252)) / first, 2.5, 6},
		{"half of the kernels", s.Foreseen(at(252, 252, 16, 0, 64)) / first, 0.49, 0.51},
		{"few rows", s.Foreseen(at(252, 26, 32, 0, 64)) / first, 0.1, 0.5},
		{"solutions taken up", s.Foreseen(at(252, 252, 32, 2, 252)) / s.Foreseen(at(252, 252, 32, 1, 252)), 0.2, 0.9},
		{"more inducing inputs of many rows", s.Foreseen(at(50_000, 50_000, 8, 1, 512)) / s.Foreseen(at(50_000, 50_000, 8, 0, 64)), 2, 200},
		{"integrals that are good enough until the next rung", drawn.Foreseen(at(810, 810, 32, 0, 64)) / table, 1.2, 2.5},
		{"integrals of half of the kernels behind it", drawn.Foreseen(at(810, 810, 32, 1, 128)) / s.Foreseen(at(810, 810, 32, 1, 128)), 1.5, 5},
		{"steps of minibatches when many more rows are seen", streamed(170_000, false) / streamed(60_000, false), 1, 1.3},
		{"steps on a card", streamed(60_000, true) / streamed(60_000, false), 1.5, 20},
		{"all rows on a card", streamed(190_000, true) / streamed(60_000, true), 3, 20},
		{"no integral while rows are to come", drawn.Foreseen(at(810, 700, 32, 0, 64)) / s.Foreseen(at(810, 700, 32, 0, 64)), 1, 1},
		{"scores of 24 kernels of 378 rows", s.ForeseenScores(378, 378, 24, 128) / s.Foreseen(at(378, 378, 32, 1, 128)), 0.25, 0.7},
		{"scores at the modes, of many rows", s.ForeseenScores(3000, 3000, 24, 128), 0, 0},
	} {
		if !(c.got >= c.least && c.got <= c.most) {
			t.Errorf("%s: %.3g times as long", c.what, c.got)
		}
	}
	for _, v := range []float64{
		s.Foreseen(Prospect{}), drawn.Foreseen(Prospect{Rows: 5, Seen: 9, Kernels: -1, Rung: 3, Inducing: 99}),
		Settings{}.Foreseen(Prospect{Rows: 10, Seen: 10, Kernels: 3, Inducing: 4}),
	} {
		if !(v > 0) {
			t.Errorf("%g", v)
		}
	}
}
