package front

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
)

func grammar(t *testing.T) *grow.Grammar {
	t.Helper()
	var bases []kernelspace.Expr
	for _, text := range []string{"SE", "RQ", "LIN", "PER"} {
		bases = append(bases, parse(t, text))
	}
	g, err := grow.New(bases, grow.Options{Leaves: 4, Ratio: .5})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func parse(t *testing.T, text string) kernelspace.Expr {
	t.Helper()
	e, err := kernelspace.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e.Canonical()
}

func entered(p Plan) (ids []string) {
	for _, e := range p.Enter {
		ids = append(ids, e.Expr.ID())
	}
	return ids
}

// Who enters is the neighbour of a leader, the best parent's and the smallest first, as many
// as there is room for; nobody twice.
func TestWhoEnters(t *testing.T) {
	g := grammar(t)
	space := []Kernel{
		{Expr: parse(t, "SE"), Compared: true, Score: -50},
		{Expr: parse(t, "PER"), Compared: true, Score: -40, Leads: true},
		{Expr: parse(t, "PER*RQ"), Compared: true, Score: -41},
	}
	p := Tried{"PER+SE": 30}.Next(g, space, 50, 100, 8, nil, nil, nil)
	if p.Over || len(p.Leave) > 0 || len(p.Enter) != 5 {
		t.Fatalf("%+v", p)
	}
	// PER*RQ is one nat behind, but its leaf less is worth more: from PER by a replacement or from
	// PER*RQ by leaving one out comes the same size.
	if ids := entered(p); slices.Contains(ids, "PER+SE") || !slices.Contains(ids, "RQ") || !slices.Contains(ids, "LIN") || ids[0] != "RQ" {
		t.Errorf("%v enter", ids)
	}
	if p := (Tried{"PER+SE": 25}).Next(g, space, 50, 100, 40, nil, nil, nil); !slices.Contains(entered(p), "PER+SE") {
		t.Error("what was compared on half the rows does not come again")
	}
}

// Room is made by the last, of whom half stay; of all rows the hopeless go in any case.
func TestWhoLeaves(t *testing.T) {
	g := grammar(t)
	all, err := kernelspace.Enumerate([]kernelspace.Expr{parse(t, "SE"), parse(t, "LIN")}, 2)
	if err != nil {
		t.Fatal(err)
	}
	var space []Kernel
	for i, e := range all { // 8, the first leads
		space = append(space, Kernel{Expr: e, Compared: true, Score: -4 * float64(i), Leads: i == 0})
	}
	p := Tried{}.Next(g, space, 50, 100, 8, nil, nil, nil)
	if len(p.Leave) != 4 || len(p.Enter) != 4 {
		t.Errorf("%d leave, %d enter", len(p.Leave), len(p.Enter))
	}
	if p := (Tried{}).Next(g, space, 100, 100, 100, nil, nil, nil); len(p.Leave) != 3 { // 15 nats behind, but not of the leaders
		t.Errorf("of all rows %v leave", p.Leave)
	}
	if p := (Tried{}).Next(g, space, 50, 100, 100, nil, nil, nil); len(p.Leave) != 0 {
		t.Errorf("with room for all %v leave", p.Leave)
	}
	if p := (Tried{}).Next(g, space, 50, 100, 3, nil, nil, nil); len(p.Leave) != 4 || len(p.Enter) != 0 { // a larger one shrinks by halves
		t.Errorf("of 8 with room for 3 %v leave, %v enter", p.Leave, p.Enter)
	}
	space[1] = Kernel{Expr: space[1].Expr, Gone: true}
	space[2] = Kernel{Expr: space[2].Expr, Waits: true}
	p = Tried{}.Next(g, space, 50, 100, 8, nil, nil, nil)
	if left := p.Leave; !slices.Contains(left, space[1].Expr.ID()) || slices.Contains(left, space[2].Expr.ID()) ||
		len(p.Enter)+len(space)-len(left) > 8 {
		t.Errorf("one failed, one waits: %+v", p)
	}
}

// With scores that are a function of the kernel alone growth ends, having tried every
// neighbour of the best five that are near, whatever the function and the room.
func TestGrowthEnds(t *testing.T) {
	g := grammar(t)
	for seed := range 5 {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		worth := map[string]float64{}
		score := func(e kernelspace.Expr) float64 {
			if _, known := worth[e.ID()]; !known {
				worth[e.ID()] = 20 * rng.NormFloat64()
			}
			return worth[e.ID()] + g.LogPrior(e)
		}
		space := []Kernel{{Expr: parse(t, "SE"), Compared: true}, {Expr: parse(t, "LIN"), Compared: true}}
		tried, live := Tried{}, 2+7*seed
		for round := 1; ; round++ {
			rows := min(100, 20*round)
			for i := range space {
				space[i].Score = score(space[i].Expr)
			}
			best := slices.MaxFunc(space, func(a, b Kernel) int {
				if a.Score < b.Score {
					return -1
				}
				return 1
			})
			for i := range space {
				space[i].Leads = space[i].Expr.Equal(best.Expr)
			}
			p := tried.Next(g, space, rows, 100, live, nil, nil, nil)
			if fmt.Sprint(p) != fmt.Sprint(tried.Next(g, space, rows, 100, live, nil, nil, nil)) {
				t.Fatal("the same question has two answers")
			}
			for _, id := range p.Leave {
				if id == best.Expr.ID() {
					t.Fatalf("the leader %s leaves", id)
				}
				tried = tried.Leave(id, rows)
			}
			space = slices.DeleteFunc(space, func(k Kernel) bool { return slices.Contains(p.Leave, k.Expr.ID()) })
			for _, e := range p.Enter {
				space = append(space, Kernel{Expr: e.Expr, Compared: true})
			}
			if len(space) > live {
				t.Fatalf("%d are compared of at most %d", len(space), live)
			}
			if p.Over {
				for _, n := range slices.Concat(g.Neighbours(best.Expr), g.Moves(best.Expr)) {
					id := n.Expr.ID()
					if _, left := tried[id]; !left && !slices.ContainsFunc(space, func(k Kernel) bool { return k.Expr.ID() == id }) {
						t.Errorf("%s, which %s makes of the leader, was not tried", id, n.Step())
					}
				}
				break
			}
			if len(p.Enter) == 0 && rows == 100 || round > 1000 {
				t.Fatalf("no kernel enters at round %d, and it is not over", round)
			}
		}
		if len(worth) < 3 || math.IsNaN(worth["SE"]) {
			t.Error("nothing was tried")
		}
	}
}

// Who is about to be compared in a way that says more may come again, but for what cannot be computed; what was known stays.
func TestAgain(t *testing.T) {
	g := grammar(t)
	space := []Kernel{{Expr: parse(t, "SE"), Compared: true, Score: -40, Leads: true}}
	before := Tried{"RQ": 100, "LIN": 30, "PER": Forever}
	after := before.Again(101)
	for _, c := range []struct {
		tried Tried
		rq    bool
	}{{before, false}, {after, true}} {
		ids := entered(c.tried.Next(g, space, 101, 300, 40, nil, nil, nil))
		if slices.Contains(ids, "RQ") != c.rq || !slices.Contains(ids, "LIN") || slices.Contains(ids, "PER") {
			t.Errorf("of %v %v enter", c.tried, ids)
		}
	}
	if before["RQ"] != 100 || len(after) != 3 || Tried(nil).Again(5) != nil {
		t.Errorf("%v, %v", before, after)
	}
}

// Of all rows everything near the leaders is tried that was compared on fewer only, and once.
func TestAllRowsDecide(t *testing.T) {
	g := grammar(t)
	space := []Kernel{{Expr: parse(t, "SE"), Compared: true, Score: -40, Leads: true}}
	tried := Tried{"RQ": 99, "LIN": 100, "PER": Forever}
	for _, c := range []struct {
		rows int
		rq   bool
	}{{99, false}, {100, true}} {
		ids := entered(tried.Next(g, space, c.rows, 100, 40, nil, nil, nil))
		if slices.Contains(ids, "RQ") != c.rq || slices.Contains(ids, "LIN") || slices.Contains(ids, "PER") {
			t.Errorf("of %d rows %v enter", c.rows, ids)
		}
	}
}

// What some of the rows have settled is not tried again of all, but what they leave undecided is; on these rows neither.
func TestUndecidedComeAgainOfAllRows(t *testing.T) {
	g := grammar(t)
	space := []Kernel{{Expr: parse(t, "SE"), Compared: true, Score: -40, Leads: true}}
	before := Tried{"RQ": Undecided(50), "LIN": 50, "PER": Forever}
	after := before.Settle(50, 80)
	ids := entered(before.Next(g, space, 50, 50, 40, nil, nil, nil))
	if slices.Contains(ids, "RQ") || slices.Contains(ids, "LIN") || len(ids) == 0 {
		t.Errorf("on the same rows %v enter", ids)
	}
	ids = entered(after.Next(g, space, 80, 80, 40, nil, nil, nil))
	if !slices.Contains(ids, "RQ") || slices.Contains(ids, "LIN") || slices.Contains(ids, "PER") || before["LIN"] != 50 {
		t.Errorf("of all rows %v enter; %v, %v", ids, before, after)
	}
}

// Two of three that enter are the best with what they gain, the third is by its parent and its prior alone; while rows arrive few
// enter at a time; a neighbour of several has the parent by which it is worth most.
func TestWhatGainsMostEntersFirst(t *testing.T) {
	g := grammar(t)
	space := []Kernel{{Expr: parse(t, "SE"), Compared: true, Score: -40, Leads: true}, {Expr: parse(t, "LIN"), Compared: true, Score: -41}}
	gains := func(of kernelspace.Expr, to []grow.Neighbour) map[string]float64 {
		out := map[string]float64{"PER+SE": 30, "LIN*SE": 9}
		if of.Equal(parse(t, "LIN")) {
			out = map[string]float64{"PER*LIN": 20, "LIN*SE": 11}
		}
		return out
	}
	p := Tried{}.Next(g, space, 100, 100, 40, gains, nil, nil)
	ids := entered(p)
	alone := entered(Tried{}.Next(g, space, 100, 100, 40, nil, nil, nil))
	unlikely := 0
	for _, id := range alone { // with a leaf more than LIN, of which nothing is promised
		if slices.Contains([]string{"PER+LIN", "LIN+LIN", "LIN+RQ", "LIN*LIN", "LIN*RQ"}, id) {
			unlikely++
		} else if !slices.Contains(ids, id) {
			t.Errorf("%s does not enter", id)
		}
	}
	if unlikely != 5 || len(ids) != len(alone)-unlikely {
		t.Errorf("%v enter, %v without gains", ids, alone)
	}
	if want := []string{"PER+SE", "PER*LIN", alone[0], "LIN*SE"}; !slices.Equal(ids[:4], want) {
		t.Errorf("%v enter first, want %v", ids[:4], want)
	}
	for _, e := range p.Enter {
		if e.Expr.ID() == "LIN*SE" && e.Parent != "LIN" {
			t.Errorf("LIN*SE is from %s", e.Parent)
		}
	}
	if p := (Tried{}).Next(g, space, 50, 100, 40, gains, nil, nil); len(p.Enter) != Early || p.Waiting != len(alone)-Early {
		t.Errorf("while rows arrive %v enter and %d wait", entered(p), p.Waiting)
	}
}

// Of kernels that are not told apart the one of which fewest neighbours are left has all of them tried; one that is better is the first.
func TestOneOfAFewIsTheFirst(t *testing.T) {
	g := grammar(t)
	for _, c := range []struct {
		behind float64
		first  string
	}{{tied - .1, "SE"}, {tied + .1, "PER"}} {
		tried := Tried{}
		for _, n := range g.Neighbours(parse(t, "SE"))[2:] {
			tried = tried.Leave(n.Expr.ID(), 100)
		}
		space := []Kernel{
			{Expr: parse(t, "PER"), Compared: true, Score: -40, Leads: true},
			{Expr: parse(t, "SE"), Compared: true, Score: -40 - c.behind},
		}
		none := func(kernelspace.Expr, []grow.Neighbour) map[string]float64 { return nil }
		p := tried.Next(g, space, 100, 100, 80, none, nil, nil)
		added := 0
		for _, e := range p.Enter {
			if e.Parent == "PER" && e.Expr.NumLeaves() > 1 {
				added++
			}
		}
		if (added > 3) != (c.first == "PER") {
			t.Errorf("%v nats behind: %v enter", c.behind, entered(p))
		}
	}
}

// Where no step is left the moves of that one enter, which is not one that has had all its neighbours tried before.
func TestMovesAreOfTheFirst(t *testing.T) {
	g, a, b := grammar(t), parse(t, "LIN*SE+PER"), parse(t, "LIN*RQ+PER")
	space := []Kernel{{Expr: a, Compared: true, Score: -40, Leads: true}, {Expr: b, Compared: true, Score: -40.5}}
	for _, c := range []struct {
		left []string // of the neighbours; they lose much
		want kernelspace.Expr
	}{
		{[]string{"PER+SE", "LIN*SE+PER+SE", "PER+RQ"}, b},
		{[]string{"PER+SE", "LIN*SE+PER+SE"}, a},
		{nil, a},
	} {
		tried, losing := Tried{}, map[string]float64{}
		for _, id := range c.left {
			losing[parse(t, id).ID()] = -Lossy - 1
		}
		found := map[string]bool{}
		for _, e := range []kernelspace.Expr{a, b} {
			for _, n := range g.Neighbours(e) {
				if id := n.Expr.ID(); losing[id] < 0 {
					found[id] = true
				} else {
					tried = tried.Leave(id, 100)
				}
			}
		}
		gains := func(kernelspace.Expr, []grow.Neighbour) map[string]float64 { return losing }
		p := tried.Next(g, space, 100, 100, 80, gains, nil, nil)
		if len(p.Enter) == 0 || len(found) != len(c.left) {
			t.Fatalf("%v left, %v are neighbours: %+v", c.left, found, p)
		}
		for _, e := range p.Enter {
			if e.Parent != c.want.ID() {
				t.Errorf("%v left: %s enters from %s, %s", c.left, e.Expr.ID(), e.Parent, e.Step)
			}
		}
	}
}

// What there was no room for before others led is tried where nothing else is left, if it is not far behind by then, and no more where
// it has been.
func TestPassedAreTriedInTheEnd(t *testing.T) {
	g := grammar(t)
	none := func(kernelspace.Expr, []grow.Neighbour) map[string]float64 { return nil }
	leads := Kernel{Expr: parse(t, "PER*SE"), Compared: true, Score: -40, Leads: true}
	next := Kernel{Expr: parse(t, "LIN*RQ"), Compared: true, Score: -43}
	p := Tried{}.Next(g, []Kernel{leads, next}, 100, 100, 5, none, nil, nil)
	if len(p.Enter) == 0 || len(p.Passed) != p.Waiting || p.Waiting == 0 {
		t.Fatalf("%v enter, %d wait, %d are passed", entered(p), p.Waiting, len(p.Passed))
	}
	of, others := 0, map[string]bool{} // those of the other one
	for id, w := range p.Passed {
		if slices.Contains(entered(p), id) {
			t.Errorf("%s has entered", id)
		}
		if w.Parent == next.Expr.ID() {
			of++
			others[id] = true
		}
	}
	if of < 3 {
		t.Fatalf("%d of the second one's neighbours are passed", of)
	}
	if p := (Tried{}).Next(g, []Kernel{leads}, 50, 100, 80, none, nil, p.Passed); p.Passed != nil {
		t.Errorf("while rows arrive: %v", p.Passed)
	}
	tried := Tried{}
	everything := append(g.Neighbours(leads.Expr), g.Moves(leads.Expr)...)
	for _, n := range everything {
		tried = tried.Leave(n.Expr.ID(), 100)
		delete(others, n.Expr.ID())
	}
	back := tried.Next(g, []Kernel{leads}, 100, 100, 80, none, nil, p.Passed)
	ids := entered(back)
	if len(back.Passed) > 0 {
		t.Errorf("%v are passed still", back.Passed)
	}
	if of := (Tried{}).Next(g, []Kernel{leads, next}, 100, 100, 5, nil, nil, nil).Passed; of != nil {
		t.Errorf("with nothing known of what they lose %v are passed", of)
	}
	if back.Over || len(ids) != len(others) || len(ids) < 2 {
		t.Fatalf("%v enter of %v, over: %v", ids, others, back.Over)
	}
	for _, e := range back.Enter {
		if !others[e.Expr.ID()] || e.Parent != next.Expr.ID() || e.Step == "" {
			t.Errorf("%s enters from %s, %s", e.Expr.ID(), e.Parent, e.Step)
		}
	}
	lines, scores := p.Passed.Lines()
	again, err := ParsePassed(lines, scores)
	if err != nil {
		t.Fatal(err)
	}
	if read := tried.Next(g, []Kernel{leads}, 100, 100, 80, none, nil, again); !slices.Equal(entered(read), ids) {
		t.Errorf("read back %v enter, before %v", entered(read), ids)
	}
	leads.Score += Hopeless + 5
	if far := tried.Next(g, []Kernel{leads}, 100, 100, 80, none, nil, p.Passed); len(far.Enter) > 0 || !far.Over {
		t.Errorf("far behind %v enter, over: %v", entered(far), far.Over)
	}
	leads.Score = -40
	for id := range others {
		tried = tried.Leave(id, 100)
	}
	if done := tried.Next(g, []Kernel{leads}, 100, 100, 80, none, nil, p.Passed); len(done.Enter) > 0 || !done.Over {
		t.Errorf("tried before: %v enter, over: %v", entered(done), done.Over)
	}
	for _, bad := range [][]string{{"PER"}, {"nonsense\tPER\tadd SE"}} {
		if _, err := ParsePassed(bad, make([]float64, 1)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if _, err := ParsePassed(lines, scores[1:]); err == nil {
		t.Error("a score is missing")
	}
}

// What loses much as it is does not enter of all rows, what loses less comes last, whatever its prior.
func TestWhatLosesComesLast(t *testing.T) {
	g := grammar(t)
	space := []Kernel{{Expr: parse(t, "PER*SE"), Compared: true, Score: -40, Leads: true}, {Expr: parse(t, "LIN"), Compared: true, Score: -90}}
	losing := func(nats float64) Gains {
		return func(kernelspace.Expr, []grow.Neighbour) map[string]float64 {
			return map[string]float64{"PER": -nats, "SE": -nats, "PER*RQ": -3}
		}
	}
	alone, few, much := Tried{}.Next(g, space, 100, 100, 80, nil, nil, nil), Tried{}.Next(g, space, 100, 100, 80, losing(Lossy-1), nil, nil),
		Tried{}.Next(g, space, 100, 100, 80, losing(Lossy+1), nil, nil)
	ids := entered(few)
	has := func(ids []string) bool { return slices.Contains(ids, "SE") && slices.Contains(ids, "PER") }
	if n := len(alone.Enter); len(ids) != n || n < 10 || !has(entered(alone)[:2]) || !has(ids[n-2:]) || ids[n-3] != "PER*RQ" {
		t.Errorf("%v enter, %v with nothing known", ids, entered(alone))
	}
	if ids := entered(much); len(ids) != len(alone.Enter)-2 || slices.Contains(ids, "SE") || slices.Contains(ids, "PER") {
		t.Errorf("%v enter", ids)
	}
}

// Of a kernel that is stated neighbours that are not stated enter where they promise to make up for that, but for Doubtful nats; where
// nothing is known of what they promise, and while rows arrive, as those of any other.
func TestNeighboursOfWhatIsStated(t *testing.T) {
	stated := parse(t, "LIN*PER+SE")
	g, err := grow.New([]kernelspace.Expr{parse(t, "SE"), parse(t, "LIN"), parse(t, "PER"), stated},
		grow.Options{Leaves: 5, Ratio: .5, Stated: .5})
	if err != nil {
		t.Fatal(err)
	}
	preferred := g.Preferred(stated)
	if preferred < Doubtful {
		t.Fatalf("it is preferred by %v nats", preferred)
	}
	space := []Kernel{{Expr: stated, Compared: true, Score: -40, Leads: true}}
	more := parse(t, "LIN*PER+SE+SE").ID()
	gains := func(gain float64) Gains {
		return func(kernelspace.Expr, []grow.Neighbour) map[string]float64 { return map[string]float64{more: gain} }
	}
	if p := (Tried{}).Next(g, space, 100, 100, 40, gains(preferred-Doubtful+.1), nil, nil); !slices.Equal(entered(p), []string{more}) {
		t.Errorf("%v enter", entered(p))
	}
	if p := (Tried{}).Next(g, space, 100, 100, 40, gains(preferred-Doubtful-.1), nil, nil); len(p.Enter) > 0 || !p.Over {
		t.Errorf("%v enter, over: %v", entered(p), p.Over)
	}
	if p := (Tried{}).Next(g, space, 100, 100, 40, nil, nil, nil); len(p.Enter) < 10 {
		t.Errorf("with nothing known %v enter", entered(p))
	}
	if p := (Tried{}).Next(g, space, 50, 100, 40, gains(0), nil, nil); len(p.Enter) != Early {
		t.Errorf("while rows arrive %v enter", entered(p))
	}
}

// Of a kernel over many columns the Wide neighbours are tried that promise most, and of all rows growth ends with these, saying
// how many it has left out; of whom the order knows nothing those with the larger prior.
func TestOfManyNeighboursTheBestAreTried(t *testing.T) {
	columns := strings.Split("abcdefghijklm", "")
	sum := parse(t, "SE["+strings.Join(columns, "]+SE[")+"]")
	g, err := grow.New([]kernelspace.Expr{sum}, grow.Options{Columns: columns, Ratio: .5})
	if err != nil {
		t.Fatal(err)
	}
	neighbours := g.Neighbours(sum)
	beyond := len(neighbours) - Wide
	if beyond < 50 {
		t.Fatalf("%d neighbours", len(neighbours))
	}
	all := Wide + min(Wide, len(g.Moves(sum))) // moves come when no neighbour is left
	last := neighbours[len(neighbours)-1].Expr // larger ones come last, and have the smaller prior
	order := func(of kernelspace.Expr, to []grow.Neighbour) map[string]float64 {
		if !of.Equal(sum) {
			t.Errorf("the order of %d neighbours of %s is asked for", len(to), of.ID())
		}
		return map[string]float64{last.ID(): 30}
	}
	gains := func(_ kernelspace.Expr, to []grow.Neighbour) map[string]float64 {
		if len(to) > Wide {
			t.Errorf("gains of %d neighbours are asked for", len(to))
		}
		return nil
	}
	for _, gains := range []Gains{nil, gains} {
		space, tried, entered := []Kernel{{Expr: sum, Compared: true, Leads: true}}, Tried{}, map[string]bool{}
		for range 100 {
			p := tried.Next(g, space, 100, 100, 12, gains, order, nil)
			if p.Over {
				if p.Beyond != beyond || len(entered) != all || !entered[last.ID()] {
					t.Errorf("%d of %d neighbours have been tried, %d are left out, the best tried: %v", len(entered), len(neighbours), p.Beyond,
						entered[last.ID()])
				}
				break
			}
			if n := len(entered); len(p.Enter) == 0 || n < Wide && p.Waiting != Wide-n-len(p.Enter) {
				t.Fatalf("%d enter and %d wait after %d", len(p.Enter), p.Waiting, len(entered))
			}
			for _, e := range p.Enter {
				entered[e.Expr.ID()] = true
				tried = tried.Leave(e.Expr.ID(), 100)
			}
		}
		if len(entered) < all {
			t.Errorf("growth ends or goes on after %d kernels", len(entered))
		}
	}
	if p := (Tried{}).Next(grammar(t), []Kernel{{Expr: parse(t, "SE"), Compared: true, Leads: true}}, 100, 100, 12, nil,
		order, nil); p.Beyond != 0 {
		t.Errorf("of few neighbours %d are left out", p.Beyond)
	}
}
