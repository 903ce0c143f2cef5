package inspect

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.com/kestrel/datasets"
	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment/files"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/experiment/words"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
	"example.com/kestrel/vbks/periods"
)

const (
	askedParts  = 12 // components of a kernel are asked at most
	swingPhases = 24 // of a period, and values of what varies
	swingTimes  = 12 // periods that a pattern which changes is averaged over
	goldenRatio = 0.618033988749895
	equalSteps  = 1e-6 // of a step, within which the steps of a grid are equal
)

// question is where a component is asked, and what is made of the answer.
type question struct {
	x    []float64 // standardised, row-major
	sums []sum
	// swings are the points of each phase of what repeats, or each value of what varies; nil:
	// it does neither.
	swings   [][]int
	along    []float64     // of what varies, the values of its column, in its unit; nil where it repeats
	effect   record.Effect // of the swing, or of the bend
	*bending               // nil: it does not ask for one
}

// sum is an effect as a weighted sum of what the component is at the points asked.
type sum struct {
	effect  record.Effect
	weights map[int]float64
}

// Learned is what a model is of: its columns, how they were standardised, and the
// standardised inputs, row-major, of the rows that it has learned from.
type Learned struct {
	Columns *datasets.Dataset // whose rows are not needed
	Scaler  *datasets.Scaler
	X       []float64
}

// EffectsOf tells how large the additive components of a kernel of a model are that act on
// one column and have a size that one number tells: Σ w f_c of weights that sum to 0, so
// that the level, which components share, takes no part; its variance has the covariances
// of all points.
func EffectsOf(ctx context.Context, f *vbks.Frozen, from *Learned, id string) ([]record.Effect, error) {
	at := slices.IndexFunc(f.Kernels, func(k vbks.FrozenKernel) bool { return k.Program.ID == id })
	if at < 0 || len(from.X) == 0 || len(f.Kernels[at].States) == 0 {
		return nil, nil
	}
	k := &f.Kernels[at]
	own, err := k.Program.Own().Components() // those of the line of a mean come behind them
	if err != nil || len(own) > askedParts {
		return nil, nil
	}
	var asked []question
	var x [][]float64
	some := false
	for c := range own {
		q := newQuestion(from, &own[c], own[c].Theta(k.States[0].Theta), k.States[0].Noise)
		asked, x = append(asked, q), append(x, q.x)
		some = some || len(q.x) > 0
	}
	if !some {
		return nil, nil
	}
	dev := cpu.New(cpu.Options{Lanes: 1})
	defer dev.Close()
	t, err := f.On(dev)
	if err != nil {
		return nil, err
	}
	joint, err := t.JointComponents(ctx, id, x)
	if err != nil {
		return nil, err
	}
	var out []record.Effect
	for c := range asked {
		if joint[c] == nil {
			continue
		}
		for _, e := range asked[c].answer(joint[c], from.Scaler) {
			if !math.IsNaN(float64(e.Mean + e.SD)) {
				e.Part = own[c].Expr.ID()
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// answer makes the effects of what is believed of a component.
func (q *question) answer(j *vbks.Joint, s *datasets.Scaler) (out []record.Effect) {
	if q.bending != nil {
		if e, ok := q.bend(q.effect, j, s); ok {
			out = append(out, e)
		}
	}
	if q.swings != nil {
		level := func(points []int) (m float64) {
			for _, p := range points {
				m += j.Mean[p] / float64(len(points))
			}
			return m
		}
		by := func(a, b []int) int { return cmp.Compare(level(a), level(b)) }
		weights := map[int]float64{}
		for _, end := range []struct {
			points []int
			sign   float64
		}{{slices.MaxFunc(q.swings, by), 0.5}, {slices.MinFunc(q.swings, by), -0.5}} {
			for _, p := range end.points {
				weights[p] += end.sign / float64(len(end.points))
			}
		}
		q.sums = append(q.sums, sum{q.effect, weights})
		if shape, ok := q.shape(level); ok {
			twice := map[int]float64{}
			for p, w := range weights {
				twice[p] = 2 * w
			}
			q.sums = append(q.sums, sum{shape, twice})
		}
	}
	n := len(j.Mean)
	for _, c := range q.sums {
		mean, variance := 0.0, 0.0
		for a := range n { // in the order of the points, so that equal runs have equal bits
			w := c.weights[a]
			if w == 0 {
				continue
			}
			mean += w * j.Mean[a]
			for b := range n {
				variance += w * c.weights[b] * j.Covariance[a*n+b]
			}
		}
		c.effect.Mean, c.effect.SD = files.Number(s.SD(mean)), files.Number(math.Sqrt(max(0, s.Variance(variance))))
		out = append(out, c.effect)
	}
	return out
}

const (
	oneTurn  = 1.1  // times the way up and down of what turns once, that a curve may go at most
	atAnEnd  = 0.1  // of the range of a curve, that its ends may be off its highest and lowest
	twoSided = 0.25 // of it, that both ends are off a top or bottom at least
)

// shape says how what varies along a column runs, if it rises, falls or turns once.
func (q *question) shape(level func(points []int) float64) (e record.Effect, ok bool) {
	if n := len(q.along); n < 3 {
		return e, false
	}
	values := make([]float64, len(q.along))
	way := 0.0
	for i, points := range q.swings {
		if values[i] = level(points); i > 0 {
			way += math.Abs(values[i] - values[i-1])
		}
	}
	first, last := values[0], values[len(values)-1]
	high, low := slices.Max(values), slices.Min(values)
	size := high - low
	e = q.effect
	e.Kind = record.EffectShape
	up, down := high-first+high-last, first-low+last-low // the ways of what turns at the top, or at the bottom
	switch {
	case !(size > 0):
		return e, false
	case high-last <= atAnEnd*size && first-low <= atAnEnd*size && way <= oneTurn*size:
		e.Name = record.ShapeRises
	case high-first <= atAnEnd*size && last-low <= atAnEnd*size && way <= oneTurn*size:
		e.Name = record.ShapeFalls
	case min(high-first, high-last) >= twoSided*size && way <= oneTurn*up:
		e.Name, e.Against = record.ShapeTop, q.turn(values, slices.Index(values, high))
	case min(first-low, last-low) >= twoSided*size && way <= oneTurn*down:
		e.Name, e.Against = record.ShapeBottom, q.turn(values, slices.Index(values, low))
	default:
		return e, false
	}
	return e, true
}

// turn is the place at which a parabola through three of the values turns, as it is written.
func (q *question) turn(values []float64, at int) string {
	x := q.along
	b := x[at]
	if at > 0 && at < len(x)-1 {
		a, c := x[at-1], x[at+1]
		fa, fb, fc := values[at-1], values[at], values[at+1]
		if below := (b-a)*(fb-fc) - (b-c)*(fb-fa); below != 0 {
			b -= ((b-a)*(b-a)*(fb-fc) - (b-c)*(b-c)*(fb-fa)) / (2 * below)
		}
	}
	return words.Significant(b, placeDigits(b, x[len(x)-1]-x[0]))
}

// placeDigits is how many digits of a place matter beside the range of its column, of which they tell a hundredth.
func placeDigits(v, all float64) int {
	if v == 0 || !(all > 0) {
		return 2
	}
	return max(2, min(9, int(math.Ceil(math.Log10(math.Abs(v)/all)))+2))
}

// newQuestion is what is to be asked of a component, nothing where it has no size that one
// number tells. Noise is the variance that goes with theta.
func newQuestion(from *Learned, c *kernelspace.Component, theta []float64, noise float64) (q question) {
	if column, ok := bends(c); ok {
		a := newAsking(from, column)
		return a.bend(noise)
	}
	if c.Expr.IsSteps() {
		at := c.Program.Instrs[0].Cols[0]
		if slices.ContainsFunc(c.Program.Instrs, func(in kernelspace.Instr) bool { return in.Op == kernelspace.OpStep && in.Cols[0] != at }) {
			return q
		}
		a := newAsking(from, at)
		return a.steps(c, theta)
	}
	var leaves []*kernelspace.Instr
	var repeats *kernelspace.Instr
	column := -1
	for i := range c.Program.Instrs {
		in := &c.Program.Instrs[i]
		switch {
		case in.Op == kernelspace.OpConst || in.Op == kernelspace.OpMul:
			continue
		case in.Op >= kernelspace.OpAdd || len(in.Cols) != 1 || column >= 0 && in.Cols[0] != column:
			return q
		}
		column, leaves = in.Cols[0], append(leaves, in)
		if repeats == nil && (in.Op == kernelspace.OpPER || in.Op == kernelspace.OpCos) && in.NumPeriod == 1 { // words begin with the first
			repeats = in
		}
	}
	if len(leaves) == 0 {
		return q
	}
	a := newAsking(from, column)
	switch op := leaves[0].Op; {
	case repeats != nil:
		q = a.pattern(theta[repeats.Off+1+repeats.NumScale], len(leaves) == 1)
	case len(leaves) > 1:
	case op.ByLevel():
		q = a.levels()
	case op == kernelspace.OpLIN, op == kernelspace.OpRW, op == kernelspace.OpIRW:
		q = a.ends(op == kernelspace.OpLIN)
	case op == kernelspace.OpSE, op == kernelspace.OpRQ, op == kernelspace.OpMatern12, op == kernelspace.OpMatern32,
		op == kernelspace.OpMatern52:
		q = a.variation()
	}
	return q
}

// asking makes questions about one column.
type asking struct {
	*Learned
	column int
	values []float64 // of it, standardised
	effect record.Effect
}

func newAsking(from *Learned, column int) asking {
	a := asking{Learned: from, column: column, effect: record.Effect{Column: from.Columns.Inputs[column].Name}}
	for at := column; at < len(from.X); at += from.Columns.Dim {
		a.values = append(a.values, from.X[at])
	}
	return a
}

// points are standardised values of the column as rows, of whose other inputs the
// component knows nothing.
func (a *asking) points(values ...float64) []float64 {
	x := make([]float64, len(values)*a.Columns.Dim)
	for i, v := range values {
		x[i*a.Columns.Dim+a.column] = v
	}
	return x
}

// ends asks for what a line or a walk does from the first row to the last.
func (a *asking) ends(line bool) (q question) {
	low, high := slices.Min(a.values), slices.Max(a.values)
	if !(low < high) {
		return q
	}
	a.effect.Kind = record.EffectChange
	length := 1.0
	if line {
		a.effect.Kind = record.EffectSlope
		length = a.Scaler.InputBack(a.column, high) - a.Scaler.InputBack(a.column, low)
	}
	return question{x: a.points(low, high), sums: []sum{{a.effect, map[int]float64{0: -1 / length, 1: 1 / length}}}}
}

// steps asks for what a level that steps does from the first row to the last, and, if it does so several times, at
// each place: half way to the next one on both sides.
func (a *asking) steps(c *kernelspace.Component, theta []float64) (q question) {
	var places []float64
	for i := range c.Program.Instrs {
		if in := &c.Program.Instrs[i]; in.Op == kernelspace.OpStep {
			places = append(places, kernelspace.PlaceOf(theta[in.Off]))
		}
	}
	if q = a.ends(false); q.x == nil || len(places) < 2 {
		return q
	}
	slices.Sort(places)
	low, high := slices.Min(a.values), slices.Max(a.values)
	if !(low < places[0] && places[len(places)-1] < high) {
		return q
	}
	ends := append(append([]float64{low}, places...), high)
	values := []float64{low, high}
	for i := range ends[1:] {
		values = append(values, (ends[i]+ends[i+1])/2)
	}
	q.x = a.points(values...)
	in := &a.Columns.Inputs[a.column]
	a.effect.Kind = record.EffectStep
	for i, place := range places {
		a.effect.Name = in.Format(a.Scaler.InputBack(a.column, place))
		q.sums = append(q.sums, sum{a.effect, map[int]float64{2 + i: -1, 3 + i: 1}})
	}
	return q
}

// variation asks how far what varies about a level goes, at values of the column among the
// rows.
func (a *asking) variation() (q question) {
	sorted := slices.Compact(slices.Sorted(slices.Values(a.values)))
	n := min(swingPhases, len(sorted))
	if n < 2 {
		return q
	}
	a.effect.Kind = record.EffectSwing
	q.effect = a.effect
	var values []float64
	for i := range n {
		q.swings, values = append(q.swings, []int{i}), append(values, sorted[(2*i+1)*len(sorted)/(2*n)])
	}
	q.x = a.points(values...)
	if in := &a.Columns.Inputs[a.column]; !in.Time && in.Levels == nil {
		for _, v := range values {
			q.along = append(q.along, a.Scaler.InputBack(a.column, v))
		}
	}
	return q
}

// levels asks for the levels of a category that has names.
func (a *asking) levels() (q question) {
	in := &a.Columns.Inputs[a.column]
	if in.Levels == nil {
		return q
	}
	levels, _ := levelsOf(a.values)
	if len(levels) < 2 {
		return q
	}
	name := func(level float64) string { return in.Format(math.Round(a.Scaler.InputBack(a.column, level))) }
	a.effect.Kind, a.effect.Against = record.EffectLevel, name(levels[0])
	for l, v := range levels[1:] {
		a.effect.Name = name(v)
		q.sums = append(q.sums, sum{a.effect, map[int]float64{0: -1, l + 1: 1}})
	}
	q.x = a.points(levels...)
	return q
}

// pattern asks for what repeats: by the parts of a day, a week or a year with their
// names, else by phases. One that changes is averaged over the rows.
func (a *asking) pattern(period float64, same bool) (q question) {
	low, high := slices.Min(a.values), slices.Max(a.values)
	if gaps := periods.Gaps(slices.Sorted(slices.Values(a.values))); len(gaps) > 0 {
		if step := slices.Min(gaps); slices.Max(gaps)-step <= equalSteps*step {
			period = datasets.OnGrid(period, step, high-low)
		}
	}
	if !(period > 0) || !(high-low >= 2*period) {
		return q
	}
	a.effect.Kind = record.EffectSwing
	q.effect = a.effect
	if a.column == 0 {
		if q := a.parts(period); q.x != nil {
			return q
		}
	}
	times := 1
	whole := math.Floor((high - low) / period)
	if !same {
		times = int(min(whole, swingTimes))
	}
	var values []float64
	q.swings = make([][]int, swingPhases)
	for p := range q.swings {
		for k := range times {
			from := low + period*math.Floor((float64(k)+0.5)*whole/float64(times))
			q.swings[p] = append(q.swings[p], len(values))
			values = append(values, from+period*float64(p)/swingPhases)
		}
	}
	q.x = a.points(values...)
	return q
}

// parts is pattern by the parts of a day, a week or a year.
func (a *asking) parts(period float64) (q question) {
	d, s := a.Columns, a.Scaler
	back := make([]float64, len(a.values))
	for i, v := range a.values {
		back[i] = s.InputBack(0, v)
	}
	parts := d.Parts(d.Inputs[0].Seconds(s.InputBack(0, period)-s.InputBack(0, 0)), back)
	if len(parts) == 0 {
		return q
	}
	q.effect = a.effect
	var values []float64
	each := max(1, effectRows/len(parts))
	for _, p := range parts {
		n := min(each, len(p.Of))
		var points []int
		for k := range n {
			at := k
			if n < len(p.Of) { // spread, without a step that a day or a week may share
				at = int(math.Mod((float64(k)+0.5)*goldenRatio, 1) * float64(len(p.Of)))
			}
			points, values = append(points, len(values)), append(values, a.values[p.Of[at]])
		}
		q.swings = append(q.swings, points)
	}
	a.effect.Kind = record.EffectPart
	for i, p := range parts {
		weights := map[int]float64{}
		for j, points := range q.swings {
			for _, at := range points {
				weights[at] -= 1 / float64(len(parts)*len(points))
				if i == j {
					weights[at] += 1 / float64(len(points))
				}
			}
		}
		a.effect.Name = p.Name
		q.sums = append(q.sums, sum{a.effect, weights})
	}
	q.x = a.points(values...)
	return q
}
