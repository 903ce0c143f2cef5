// Package front decides how a space of kernels grows: which neighbours of the best
// kernels enter, which kernels leave for them, and when there is no more to try.
package front

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/kernelspace/grow"
)

const (
	// Leaders are so many kernels, the best, whose neighbours are tried.
	Leaders = 5
	// Of all rows kernels that are Hopeless nats behind the best leave.
	Hopeless = 15
	// Of all rows a neighbour of another kernel than the first is not tried that would have to
	// gain more than Doubtful nats on its parent to be as good as the best.
	Doubtful = 5
	// Nor of these one with a leaf more that is known to gain nothing as it is and would have to gain more than Unlikely nats.
	Unlikely = 2
	// Of kernels within so many nats of the best only one is the first, whose neighbours are tried whatever is known of them.
	tied = 1
	// Nor is any that loses more than Lossy nats before its hyperparameters are searched: what that makes up for is less.
	Lossy = 40
	// A kernel that has left is tried again once there are again as many rows as it was
	// compared on, and of all rows if those were fewer: what leads then says which kernels are in doubt.
	again = 2
	// Of so many kernels that enter all but one are the best with what they may gain.
	hedge = 3
	// While rows arrive no more than Early enter at a time where it is known what they promise.
	Early = 3
	// What they promise is known of the neighbours of the first so many kernels then.
	earlyLeaders = 2
	// Wide is how many neighbours of a kernel are tried at most, those that promise most. Over a few kinds of leaves a
	// kernel has half as many; over the columns of a table it may have thousands.
	Wide = 256
)

// Kernel is one of the space, as the last evaluation left it.
type Kernel struct {
	Expr     kernelspace.Expr
	Leads    bool    // ranked first
	Compared bool    // live, and up to date
	Waits    bool    // live, and not up to date yet
	Gone     bool    // it cannot be computed, or too little belief has pruned it
	Score    float64 // of those compared: log evidence and log prior, in the units of the belief
}

// Entrant is a kernel that enters.
type Entrant struct {
	Expr   kernelspace.Expr
	Parent string // id of the kernel whose neighbour it is
	Step   string // from there, see grow.Neighbour
}

// Plan is what becomes of a space before an evaluation.
type Plan struct {
	Enter []Entrant // the most promising first
	Leave []string  // ids, in the space's order
	// Over: all rows have been seen and no neighbour of the leaders or that was Passed, nor move of the first, is left to try, but those
	// Beyond.
	Over bool
	// Of the front: how many kernels' neighbours are tried, how many of these wait for room, and how many are not tried since others
	// of the same kernel promise more.
	Leaders, Waiting, Beyond int
	Passed                   Passed // of all rows, where it is known what is lost, with those that had been
}

// Gains is by how many nats neighbours may be better than a kernel, or worse, below 0, by id, those that are not in it by none; see
// promise.Rows.
type Gains func(of kernelspace.Expr, to []grow.Neighbour) map[string]float64

// Tried is on how many rows kernels were compared that have left, by id.
type Tried map[string]int

// Leave returns the kernels that have been tried with one more, of an id, which was
// compared on so many rows. What is there is not modified.
func (t Tried) Leave(id string, rows int) Tried {
	out := maps.Clone(t)
	if out == nil {
		out = Tried{}
	}
	out[id] = rows
	return out
}

// Again returns them as what may be tried again on so many rows: they are about to be compared
// in a way that says more. What cannot be computed stays away.
func (t Tried) Again(rows int) Tried {
	out := maps.Clone(t)
	for id, on := range out {
		if on != Forever {
			out[id] = min(on, rows/again)
		}
	}
	return out
}

// Undecided is on how many rows a kernel is taken to have been compared that is not to be tried again on so many, but which Settle
// leaves as it is.
func Undecided(rows int) int { return rows + 1 }

// Settle returns them as what need not be tried again on more rows, up to all of them, if it has been on just so many.
func (t Tried) Settle(rows, all int) Tried {
	out := maps.Clone(t)
	for id, on := range out {
		if on == rows {
			out[id] = all
		}
	}
	return out
}

// Next plans the next evaluation, after one that has seen so many of all rows; live is the
// most kernels that may be compared. The space comes in its order.
//
// What is known of a neighbour before it is tried is its parent's score and its own prior,
//
//	score(parent) − log p(parent) + log p(neighbour)
//
// that is, how good it is if it explains no more than its parent, and where gains is not nil what it may gain on that or lose. The
// best by the first, with what they lose, enter, or of three two with what they may gain, too, since gains are of kernels that have not
// been trained; as many as there is room for, but where gains are known no more than Early while rows arrive, when they are asked of
// few parents; of all rows none that are Lossy, only the first kernel's, those that are not Doubtful, or Unlikely, so much the prior and
// their parent's evidence say against the others, and those that with what they may gain are as good as the best; but of a kernel that is
// stated none which is not stated and with what it may gain is still Doubtful for that; and of a kernel with more than Wide neighbours
// those that promise most as order says, gains that are good for that alone. Where none of these is left, the first kernel's moves
// enter, see grow.Grammar.Moves; and where there is none, those that had been passed and, with what they lose, are not Hopeless.
//
// Who is Gone leaves in any case. To make room those that are least leave, but not the leaders, and half of live, or of a
// larger space that it began with, stay (sequential halving, as pruning does): with many rows
// a few nats per thousand decide all long before a kernel has found its optimum. Once all
// rows have been seen, those leave, too, that are Hopeless.
func (t Tried) Next(g *grow.Grammar, space []Kernel, rows, all, live int, gains, order Gains, passed Passed) Plan {
	var compared []int
	there := map[string]bool{}
	others := 0 // that wait
	for i, k := range space {
		there[k.Expr.ID()] = true
		if k.Compared {
			compared = append(compared, i)
		}
		if k.Waits {
			others++
		}
	}
	slices.SortStableFunc(compared, func(a, b int) int {
		if first := space[a].Leads; first != space[b].Leads {
			return map[bool]int{true: -1, false: 1}[first]
		}
		return cmp.Or(cmp.Compare(space[b].Score, space[a].Score), kernelspace.Compare(space[a].Expr, space[b].Expr))
	})
	if len(compared) == 0 {
		return Plan{}
	}
	best := space[compared[0]].Score
	near := func(score, nats float64) bool { return rows < all || best-score <= nats }
	leaders := compared[:min(Leaders, max(1, (live-others)/2), len(compared))]
	proposed := map[string]proposal{}
	beyond := map[string]bool{}
	neighbours := make([][]grow.Neighbour, len(leaders))
	for place, i := range leaders {
		neighbours[place] = g.Neighbours(space[i].Expr)
	}
	away := func(id string) bool {
		on, tried := t[id]
		return there[id] || tried && rows < again*on && (rows < all || on >= all)
	}
	foremost := 0
	if rows == all && gains != nil {
		foremost = first(space, leaders, neighbours, away)
	}
	late := func(id string, p proposal) bool { return !away(id) && near(p.promise, Hopeless) }
	propose := func(place int, k *Kernel, to []grow.Neighbour) {
		own, had := k.Score-g.LogPrior(k.Expr), len(to)
		to = slices.DeleteFunc(to, func(n grow.Neighbour) bool {
			return away(n.Expr.ID())
		})
		if left := max(0, Wide-(had-len(to))); len(to) > left {
			var more map[string]float64
			if order != nil && left > 0 && (rows == all || place < earlyLeaders) {
				more = order(k.Expr, to)
			}
			promise := func(n *grow.Neighbour) float64 { return g.LogPrior(n.Expr) + more[n.Expr.ID()] }
			slices.SortStableFunc(to, func(a, b grow.Neighbour) int { return cmp.Compare(promise(&b), promise(&a)) })
			for i := range to[left:] {
				beyond[to[left+i].Expr.ID()] = true
			}
			to = to[:left]
		}
		var gain map[string]float64
		if gains != nil && len(to) > 0 && (rows == all || place < earlyLeaders) {
			gain = gains(k.Expr, to)
		}
		for _, n := range to {
			id, promise := n.Expr.ID(), own+g.LogPrior(n.Expr)
			more := promise + gain[id]
			most := float64(Doubtful)
			if larger := n.Kind == grow.Add || n.Kind == grow.Multiply; larger && rows == all && gains != nil && gain[id] <= 0 {
				most = Unlikely
			}
			if place != foremost && !near(promise, most) && !near(more, 0) {
				continue
			}
			if gains != nil && rows == all && (gain[id] < -Lossy || g.Preferred(k.Expr)-g.Preferred(n.Expr)-max(0, gain[id]) > Doubtful) {
				continue
			}
			promise += min(0, gain[id])
			if p, some := proposed[id]; !some || more > p.more || more == p.more && promise > p.promise {
				proposed[id] = proposal{Entrant{n.Expr, k.Expr.ID(), n.Step()}, promise, more}
			}
		}
	}
	for place, i := range leaders {
		propose(place, &space[i], neighbours[place])
	}
	if rows == all && len(proposed) == 0 { // what no step leads to, a move may
		propose(foremost, &space[leaders[foremost]], g.Moves(space[leaders[foremost]].Expr))
	}
	if rows == all && len(proposed) == 0 {
		for id, p := range passed {
			if late(id, p) {
				proposed[id] = p
			}
		}
	}
	front := slices.SortedFunc(maps.Values(proposed), func(a, b proposal) int {
		return cmp.Or(cmp.Compare(b.promise, a.promise), kernelspace.Compare(a.Expr, b.Expr))
	})
	if gains != nil {
		more := slices.Clone(front)
		slices.SortStableFunc(more, func(a, b proposal) int { return cmp.Compare(b.more, a.more) })
		front = hedged(more, front)
	}
	plan := Plan{Over: rows == all && len(front) == 0, Leaders: len(leaders)}

	stay := len(compared)
	for stay > len(leaders) && !near(space[compared[stay-1]].Score, Hopeless) {
		stay--
	}
	wanted := len(front)
	if gains != nil && rows < all {
		wanted = min(wanted, Early)
	}
	if room := live - others - stay; wanted > room {
		half := (max(live, len(compared)) + 1) / 2
		stay = max(min(stay, live-others-wanted), min(stay, half), len(leaders))
	}
	gone := map[int]bool{}
	for _, i := range compared[stay:] {
		gone[i] = true
	}
	for i, k := range space {
		if gone[i] || k.Gone {
			plan.Leave = append(plan.Leave, k.Expr.ID())
		}
	}
	for _, p := range front[:max(0, min(wanted, live-others-stay))] {
		plan.Enter = append(plan.Enter, p.Entrant)
	}
	plan.Waiting = len(front) - len(plan.Enter)
	if rows == all && gains != nil { // else what they lose is not known
		plan.Passed = passed.after(proposed, func(id string, p proposal) bool {
			return late(id, p) && !slices.ContainsFunc(plan.Enter, func(e Entrant) bool { return e.Expr.ID() == id })
		})
	}
	maps.DeleteFunc(beyond, func(id string, _ bool) bool { _, is := proposed[id]; return is })
	plan.Beyond = len(beyond)
	return plan
}

// first is the place of the leader whose neighbours are all tried: of the best one and those that evidence and prior do not tell from it
// the one of which fewest are left; else each of a dozen that hardly differ has fifty to try. One that has none left is not meant: the
// others have theirs still.
func first(space []Kernel, leaders []int, neighbours [][]grow.Neighbour, away func(id string) bool) (first int) {
	fewest := math.MaxInt
	for place, i := range leaders {
		if space[leaders[0]].Score-space[i].Score > tied {
			continue
		}
		untried := 0
		for _, n := range neighbours[place] {
			if !away(n.Expr.ID()) {
				untried++
			}
		}
		if untried > 0 && untried < fewest {
			first, fewest = place, untried
		}
	}
	return first
}

// proposal is a kernel that may enter.
type proposal struct {
	Entrant
	promise, more float64 // by its parent's score and what it loses, and with what it may gain
}

// hedged merges two orders of the same, two of the first to one of the second.
func hedged(first, second []proposal) (out []proposal) {
	in := map[string]bool{}
	for len(out) < len(first) {
		from := first
		if len(out)%hedge == hedge-1 {
			from = second
		}
		p := from[slices.IndexFunc(from, func(p proposal) bool { return !in[p.Expr.ID()] })]
		in[p.Expr.ID()] = true
		out = append(out, p)
	}
	return out
}

// Forever is on how many rows a kernel is taken to have been compared that is not to be
// tried again.
const Forever = math.MaxInt32 / again
