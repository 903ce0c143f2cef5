package vbks

import "testing"

// A rung of more inducing inputs takes as much longer as it has been seen to, and no evaluation
// is foreseen to take nothing, whatever is asked.
func TestForeseen(t *testing.T) {
	s := DefaultSettings()
	first := s.Foreseen(252, 252, 32, 0, 64)
	for _, c := range []struct {
		what             string
		got, least, most float64
	}{
		{"Z = X of 252 rows", s.Foreseen(252, 252, 32, 1, 252) / first, 2.5, 5},
		{"half of the kernels", s.Foreseen(252, 252, 16, 0, 64) / first, 0.49, 0.51},
		{"few rows", s.Foreseen(252, 26, 32, 0, 64) / first, 0.1, 0.4},
		{"solutions taken up", s.Foreseen(252, 252, 32, 2, 252) / s.Foreseen(252, 252, 32, 1, 252), 0.2, 0.9},
		{"more inducing inputs of many rows", s.Foreseen(50_000, 50_000, 8, 1, 512) / s.Foreseen(50_000, 50_000, 8, 0, 64), 2, 200},
	} {
		if !(c.got >= c.least && c.got <= c.most) {
			t.Errorf("%s: %.3g times as long", c.what, c.got)
		}
	}
	for _, v := range []float64{s.Foreseen(0, 0, 0, 0, 0), s.Foreseen(5, 9, -1, 3, 99), Settings{}.Foreseen(10, 10, 3, 0, 4)} {
		if !(v > 0) {
			t.Errorf("%g", v)
		}
	}
}
