package cpu

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"example.com/kestrel/internal/goroutines"
	"example.com/kestrel/internal/guard"
)

// partsOf are parts that a function does.
type partsOf func(i int)

func (f partsOf) part(_ *scratch, i int) { f(i) }

// together are parts that wait until all have begun: each needs a core of its own.
func together(n int) (partsOf, *[]int) {
	var all sync.WaitGroup
	all.Add(n)
	done := make([]int, n)
	return func(i int) {
		all.Done()
		all.Wait()
		done[i]++
	}, &done
}

func TestPartsAreDoneAtOnce(t *testing.T) {
	team := NewTeam(3)
	g := newGang(team)
	for range 20 {
		g.rest() // a helper that is about to end would not come
		parts, done := together(3)
		g.divide(3, parts)
		if d := *done; d[0] != 1 || d[1] != 1 || d[2] != 1 {
			t.Fatalf("parts were done %v times", d)
		}
	}
	g.rest()
	goroutines.End(t, "rounds of three parts")
	if used := team.used.Load(); used != 0 {
		t.Errorf("%d cores in use", used)
	}
}

func TestManyRounds(t *testing.T) {
	g := newGang(NewTeam(4))
	var sums [7]int
	for round := range 2000 {
		n := 1 + round%len(sums)
		g.divide(n, partsOf(func(i int) { sums[i] += round }))
	}
	var want [7]int
	for round := range 2000 {
		for i := range 1 + round%len(sums) {
			want[i] += round
		}
	}
	if sums != want {
		t.Errorf("sums %v, want %v", sums, want)
	}
	g.rest()
}

// A mistake on another core is the lane's, when no part is under way any more.
func TestMistakeInAPart(t *testing.T) {
	team := NewTeam(3)
	g := newGang(team)
	for bad := range 3 {
		g.rest()
		parts, done := together(3)
		err := guard.Do(func() error {
			g.divide(3, partsOf(func(i int) {
				parts(i)
				if i == bad {
					panic("a part is broken")
				}
			}))
			return nil
		})
		var p *guard.PanicError
		if !errors.As(err, &p) || p.Value != "a part is broken" || !strings.Contains(string(p.Stack), "TestMistakeInAPart") {
			t.Errorf("part %d: %v", bad, err)
		}
		if d := *done; d[0]+d[1]+d[2] != 3 {
			t.Errorf("part %d: only %v were done", bad, d)
		}
	}
	g.rest()
	parts, _ := together(3)
	g.divide(3, parts) // as if nothing had been
	g.rest()
	goroutines.End(t, "broken parts")
	if used, lanes := team.used.Load(), team.lanes.Load(); used != 0 || lanes != 0 {
		t.Errorf("%d cores, %d lanes", used, lanes)
	}
}

// Cores that no lane uses are lent evenly, and go back to lanes that begin.
func TestCoresAreLent(t *testing.T) {
	dev := New(Options{Lanes: 5})
	a, b, c := dev.lanes[0], dev.lanes[1], dev.lanes[2]
	cores := func(what string, want ...int) {
		t.Helper()
		for i, l := range []*lane{a, b, c} {
			if got := l.cores(); got != want[i] {
				t.Errorf("%s: lane %d has %d cores, want %d", what, i, got, want[i])
			}
		}
	}
	leaveA := a.Occupy()
	if got := a.cores(); got != 5 {
		t.Errorf("alone: %d cores, want 5", got)
	}
	parts, _ := together(5)
	a.divide(5, parts)
	leaveB := b.Occupy()
	leaveC := c.Occupy()
	a.rest()
	cores("three at work", 2, 2, 2) // two cores for three
	parts, _ = together(2)
	a.divide(2, parts)
	leaveA()
	leaveA = a.Occupy()
	a.rest()
	leaveB()
	leaveC()
	leaveA()
	if used, lanes := dev.lanes[0].team.used.Load(), dev.lanes[0].team.lanes.Load(); used != 0 || lanes != 0 {
		t.Errorf("%d cores, %d lanes at the end", used, lanes)
	}
	full := New(Options{Lanes: 2})
	defer full.lanes[0].Occupy()()
	defer full.lanes[1].Occupy()()
	if got := full.lanes[0].cores(); got != 1 {
		t.Errorf("all lanes at work: %d cores", got)
	}
	if got := New(Options{Lanes: 1}).lanes[0].cores(); got != 1 {
		t.Errorf("one lane: %d cores", got)
	}
}
