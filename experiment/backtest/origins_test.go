package backtest

import (
	"slices"
	"strings"
	"testing"
)

// Origins of n rows by the formula, counted by hand.
func TestOrigins(t *testing.T) {
	for _, c := range []struct {
		what     string
		n, least int
		plan     Plan
		train    []int
		apart    int
	}{
		{"room for all", 100, 8, Plan{Horizon: 10, Origins: 3}, []int{70, 80, 90}, 10},
		{"as stated", 100, 8, Plan{Horizon: 10, Origins: 3, Step: 5}, []int{80, 85, 90}, 5},
		{"just", 38, 8, Plan{Horizon: 10, Origins: 3}, []int{8, 18, 28}, 10},
		{"one row less: closer", 37, 8, Plan{Horizon: 10, Origins: 3}, []int{9, 18, 27}, 9},
		{"every row", 20, 8, Plan{Horizon: 10, Origins: 3}, []int{8, 9, 10}, 1},
		{"fewer", 19, 8, Plan{Horizon: 10, Origins: 3}, []int{8, 9}, 1},
		{"fewer, as far apart as stated", 37, 8, Plan{Horizon: 10, Origins: 3, Step: 10}, []int{17, 27}, 10},
		{"the last one alone", 18, 8, Plan{Horizon: 10, Origins: 3}, []int{8}, 1},
		{"one is asked for", 100, 8, Plan{Horizon: 10, Origins: 1}, []int{90}, 10},
		{"too short", 17, 8, Plan{Horizon: 10, Origins: 3}, nil, 0},
		{"seasons", 35, 24, Plan{Horizon: 12, Origins: 5}, nil, 0},
	} {
		train, apart := c.plan.origins(c.n, c.least)
		if !slices.Equal(train, c.train) || apart != c.apart {
			t.Errorf("%s: %v, %d apart, want %v, %d", c.what, train, apart, c.train, c.apart)
		}
	}
	for _, p := range []Plan{{Horizon: 0, Origins: 1}, {Horizon: 1}, {Horizon: 1, Origins: 1, Step: -1}} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), "must be at least") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
