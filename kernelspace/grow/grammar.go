// Package grow is a space of kernels that is not listed: the grammar of sums, products
// and change points over some leaves, up to a number of them; what stands beside a kernel
// in it, one step away; and a prior over all of it, which pays for size.
package grow

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"example.com/kestrel/kernelspace"
)

const (
	// MostLeaves is the most that a grammar may be asked to go up to.
	MostLeaves = 12
	// UsualLeaves is what it goes up to where nobody asks, or beyond the largest kernel of the space by so many, since
	// at the limit nothing can be added.
	UsualLeaves, beyond = 8, 2
)

// Options say what a grammar is made of besides the leaves of a space.
type Options struct {
	Columns []string // names of the inputs; of several, leaves without columns act on each alone, too
	Change  bool     // with change points, along every input
	Leaves  int      // of a kernel at most, up to MostLeaves, unless one of the space has more; 0: as is usual
	Ratio   float64  // of the prior of all kernels with a leaf more to that of those with one less: in (0, 1]
	Stated  float64  // share of the prior that the kernels of the space with more than a leaf have together: in [0, 1)
}

// Grammar is all kernels of some kinds of leaves up to a number of them, each once: two
// are the same where their canonical forms are. The step of a change point counts as a
// leaf, as in kernelspace.Expr.NumLeaves.
type Grammar struct {
	leaves []kernelspace.Expr // kinds, canonical, in their order
	steps  []kernelspace.Expr // of change points, one for each column; none: there are no change points
	most   int
	counts []*big.Int // of kernels with so many leaves; [0] is 0
	logs   []float64  // log prior of one of them by its leaves
	share  float64    // of the prior that stated have together
	stated []kernelspace.Expr
}

// New makes the grammar of the leaves of a space, which holds all of its kernels: where one
// has more leaves than Options.Leaves, it goes so far; where one has a change point, there
// are such.
//
// Errors: an empty space, a number of leaves, a ratio or a share that cannot be, more kernels than a float64 counts.
func New(space []kernelspace.Expr, o Options) (*Grammar, error) {
	switch {
	case len(space) == 0:
		return nil, errors.New("a grammar of no kernels")
	case o.Leaves < 0 || o.Leaves > MostLeaves:
		return nil, fmt.Errorf("kernels of up to %d leaves; a grammar may be asked to go up to %d", o.Leaves, MostLeaves)
	case !(o.Ratio > 0 && o.Ratio <= 1):
		return nil, fmt.Errorf("a ratio of %v in the prior over kernels; it must be above 0 and at most 1", o.Ratio)
	case !(o.Stated >= 0 && o.Stated < 1):
		return nil, fmt.Errorf("a share of %v of the prior for the kernels that are stated; it must be at least 0 and below 1", o.Stated)
	}
	g := &Grammar{most: o.Leaves, share: o.Stated}
	for _, e := range space {
		if e.NumLeaves() > 1 {
			g.stated = with(g.stated, e.Canonical())
		}
		if g.most = max(g.most, e.NumLeaves()); o.Leaves == 0 {
			g.most = max(g.most, UsualLeaves, e.NumLeaves()+beyond)
		}
		for _, l := range e.Canonical().Leaves() {
			if !l.IsLeaf() {
				g.steps = with(g.steps, l)
				continue
			}
			g.leaves = with(g.leaves, l)
		}
	}
	if len(o.Columns) > 1 {
		for _, l := range slices.Clone(g.leaves) {
			for _, scoped := range alone(l, o.Columns) {
				g.leaves = with(g.leaves, scoped)
			}
		}
	}
	if o.Change && len(o.Columns) < 2 {
		g.steps = with(g.steps, change("").Step())
	} else if o.Change {
		for c := range o.Columns {
			g.steps = with(g.steps, change(suffix(o.Columns, c)).Step())
		}
	}
	slices.SortFunc(g.leaves, kernelspace.Compare)
	slices.SortFunc(g.steps, kernelspace.Compare)
	g.count()
	g.weigh(o.Ratio)
	if of, _ := new(big.Float).SetInt(g.Count()).Float64(); math.IsInf(of, 0) {
		return nil, fmt.Errorf("there are more kernels of up to %d leaves of %d kinds than can be counted; begin with kernels of fewer columns",
			g.most, len(g.leaves))
	}
	return g, nil
}

// with adds an expression to those that there are, if it is another one.
func with(all []kernelspace.Expr, e kernelspace.Expr) []kernelspace.Expr {
	if slices.ContainsFunc(all, e.Equal) {
		return all
	}
	return append(all, e)
}

// alone returns a leaf on all columns as one on each of them; one that has its columns, or
// is about levels of a category, stays on these, and a constant is the same on any.
func alone(leaf kernelspace.Expr, columns []string) (out []kernelspace.Expr) {
	if leaf.ID() != leaf.Base() || leaf.Base() == "CAT" || constant(leaf) {
		return nil
	}
	for c := range columns {
		if e, err := kernelspace.Parse(leaf.Base() + suffix(columns, c)); err == nil {
			out = append(out, e.Canonical())
		}
	}
	return out
}

// constant reports whether a leaf is a constant, which is the same on whatever columns it is said to be.
func constant(leaf kernelspace.Expr) bool { return leaf.Base() == "CONST" }

// suffix is how an expression says that it is about a column: by its name, or by its number
// where that names several.
func suffix(columns []string, c int) string {
	name := columns[c]
	others := slices.Concat(columns[:c:c], columns[c+1:])
	if name == "" || slices.Contains(others, name) {
		return fmt.Sprintf("[%d]", c+1)
	}
	return "[" + strconv.QuoteToASCII(name) + "]"
}

// change is a change point along a column.
func change(scope string) kernelspace.Expr {
	e, err := kernelspace.Parse("CP(SE,SE)" + scope)
	if err != nil {
		panic("grow: " + err.Error()) // the column's name is quoted
	}
	return e
}

// Leaves returns the most leaves of a kernel.
func (g *Grammar) Leaves() int { return g.most }

// Kinds returns a kernel of each kind of leaf, and a change point of each column with the
// first of these, where there are change points.
func (g *Grammar) Kinds() []kernelspace.Expr {
	out := slices.Clone(g.leaves)
	for _, s := range g.steps {
		out = append(out, kernelspace.Change(s, g.leaves[0], g.leaves[0]))
	}
	return out
}

// CountText says how many kernels a grammar has.
func CountText(n float64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%.0f", n)
	case n < 1e9:
		return fmt.Sprintf("%.3g million", n/1e6)
	}
	return fmt.Sprintf("%.2g", n)
}

// Count returns how many kernels there are.
func (g *Grammar) Count() *big.Int {
	sum := new(big.Int)
	for _, n := range g.counts {
		sum.Add(sum, n)
	}
	return sum
}

// LogPrior returns the logarithm of the prior of a kernel, −∞ of one that is not in the
// grammar. All kernels of n leaves have ratioⁿ together, and of these each the same:
//
//	p(e) = (1 − s) (ratioⁿ / Σ_m ratioᵐ) / N_n + s [e ∈ S] / |S|,   n the leaves of e, N_n how many have so many
//
// where m counts the numbers of leaves that some kernel has, up to the most, and s is the share of S, the kernels of the space
// that have more than a leaf: who states them believes in them. It sums to 1 over the grammar. Since N_n grows by a factor of
// some two times the kinds of leaves, a leaf more costs about the logarithm of that and of 1/ratio.
func (g *Grammar) LogPrior(e kernelspace.Expr) float64 {
	n := e.NumLeaves()
	if n < 1 || n > g.most {
		return math.Inf(-1)
	}
	for _, l := range e.Canonical().Leaves() {
		kinds := g.leaves
		if !l.IsLeaf() {
			kinds = g.steps
		}
		if !slices.ContainsFunc(kinds, func(k kernelspace.Expr) bool { return l.Equal(k) || constant(k) && constant(l) }) {
			return math.Inf(-1)
		}
	}
	if len(g.stated) == 0 || g.share == 0 {
		return g.logs[n]
	}
	return g.logs[n] + math.Log1p(-g.share) + g.Preferred(e)
}

// Preferred is by how many nats the prior of a kernel of the grammar is above that of others of its size, since it is stated; 0 of
// one that is not.
func (g *Grammar) Preferred(e kernelspace.Expr) float64 {
	if g.share == 0 || !slices.ContainsFunc(g.stated, e.Canonical().Equal) {
		return 0
	}
	return math.Log1p(math.Exp(-g.logs[e.NumLeaves()]) / float64(len(g.stated)) * g.share / (1 - g.share))
}

// weigh finds the logarithm of the prior of a kernel by its leaves.
func (g *Grammar) weigh(ratio float64) {
	g.logs = make([]float64, g.most+1)
	total := 0.0
	for n := 1; n <= g.most; n++ {
		if g.counts[n].Sign() > 0 {
			total += math.Pow(ratio, float64(n-1))
		}
	}
	for n := range g.logs {
		if g.logs[n] = math.Inf(-1); g.counts[n].Sign() > 0 {
			of, _ := new(big.Float).SetInt(g.counts[n]).Float64()
			g.logs[n] = float64(n-1)*math.Log(ratio) - math.Log(total) - math.Log(of)
		}
	}
}

// count finds N_n, how many kernels have n leaves. A sum is two or more terms without an
// order that are no sums, a product likewise of what is no product, a change point an
// ordered pair of any kernels. With S_n, P_n and C_n of these, b kinds of leaves and d columns
// to change along,
//
//	N_n = b[n = 1] + S_n + P_n + C_n,   C_n = d Σ_{i+j=n−1} N_i N_j,   A_n = N_n − S_n
//	S_n = (1/n) Σ_{k=1..n} c_k B_{n−k},   c_k = Σ_{j divides k, j < n} j A_j
//
// B_n = S_n + A_n being all collections of n leaves of what is no sum (Euler's transform of A; Sloane
// and Plouffe, The Encyclopedia of Integer Sequences, 1995), B_0 = 1. P_n is S_n: products are to sums as sums
// are to products.
func (g *Grammar) count() {
	n := g.most
	zeros := func() []*big.Int {
		out := make([]*big.Int, n+1)
		for i := range out {
			out[i] = new(big.Int)
		}
		return out
	}
	all, flat, collections := zeros(), zeros(), zeros() // N, A, B
	collections[0].SetInt64(1)
	for at := 1; at <= n; at++ {
		sums := new(big.Int)
		for k := 1; k <= at; k++ {
			c := new(big.Int)
			for j := 1; j <= k && j < at; j++ {
				if k%j == 0 {
					c.Add(c, new(big.Int).Mul(big.NewInt(int64(j)), flat[j]))
				}
			}
			sums.Add(sums, c.Mul(c, collections[at-k]))
		}
		sums.Div(sums, big.NewInt(int64(at)))
		other := new(big.Int)
		if at == 1 {
			other.SetInt64(int64(len(g.leaves)))
		}
		for i := 1; i < at-1; i++ {
			pairs := new(big.Int).Mul(all[i], all[at-1-i])
			other.Add(other, pairs.Mul(pairs, big.NewInt(int64(len(g.steps)))))
		}
		flat[at].Add(sums, other) // as many products as sums
		all[at].Add(flat[at], sums)
		collections[at].Set(all[at]) // S + A
	}
	g.counts = all
}
