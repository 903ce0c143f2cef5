package inspect

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

const (
	mostEffects = 12  // levels of a column, the most frequent ones
	effectRows  = 300 // points for them together
)

// worthAsking is the share of the best kernel's weight that another one has to have.
const worthAsking = 0.01

// LevelEffects are how the levels of a column differ from the most frequent one, by the
// average over the kernels that take it as levels.
type LevelEffects struct {
	Column  int
	Against string // that level
	Rows    int    // that have it
	Levels  []LevelEffect
}

// LevelEffect is one of them, in the unit of the (transformed) target.
type LevelEffect struct {
	Level    string
	Rows     int // that have it
	Mean, SD float64
}

// LevelEffects tells how columns that kernels take as levels (CAT) act, most frequent
// levels first. With f at R training rows, all else as it is, an effect of level l is
//
//	1/R Σ_r f(x_r, l) − f(x_r, l₀)
//
// whose variance has the covariances of all these points.
func (i *Inspector) LevelEffects(ctx context.Context) ([]LevelEffects, error) {
	kernels, err := i.takingLevels()
	if err != nil || len(kernels) == 0 {
		return nil, err
	}
	var out []LevelEffects
	err = i.thawed(ctx, func(ctx context.Context, t *vbks.Thawed) error {
		for _, c := range slices.Sorted(maps.Keys(kernels)) {
			e, err := i.effects(ctx, t, c, kernels[c])
			if err != nil {
				return err
			}
			if e != nil {
				out = append(out, *e)
			}
		}
		return nil
	})
	return out, err
}

// takingLevels lists, by column, the live kernels that take it as levels and have some
// weight.
func (i *Inspector) takingLevels() (map[int][]string, error) {
	type taking struct {
		id     string
		weight float64
	}
	all, best := map[int][]taking{}, map[int]float64{}
	for _, k := range i.trainer.Last().Kernels {
		if k.Status != vbks.Live {
			continue
		}
		p, _, _, err := i.trainer.Solution(k.ID)
		if err != nil {
			return nil, err
		}
		for _, c := range levelColumns(p) {
			all[c] = append(all[c], taking{k.ID, k.Posterior})
			best[c] = max(best[c], k.Posterior)
		}
	}
	out := map[int][]string{}
	for c, kernels := range all {
		for _, k := range kernels {
			if k.weight >= worthAsking*best[c] {
				out[c] = append(out[c], k.id)
			}
		}
	}
	return out, nil
}

// levelColumns are those that a kernel takes as levels, each once.
func levelColumns(p *kernelspace.Program) (columns []int) {
	for _, in := range p.Instrs {
		if in.Op.ByLevel() && len(in.Cols) == 1 && !slices.Contains(columns, in.Cols[0]) {
			columns = append(columns, in.Cols[0])
		}
	}
	return columns
}

// effects are those of one column by some kernels; nil where it has one level.
func (i *Inspector) effects(ctx context.Context, t *vbks.Thawed, column int, kernels []string) (*LevelEffects, error) {
	d, seen := i.subject.Data, i.seen()
	all := make([]float64, len(seen))
	for k, r := range seen {
		all[k] = d.Row(int(r))[column]
	}
	levels, count := levelsOf(all)
	if len(levels) < 2 {
		return nil, nil
	}
	rows := min(len(seen), effectRows/len(levels))
	var x []float64 // level by level
	for _, v := range levels {
		for k := range rows {
			at := len(x)
			x = append(x, d.Row(int(seen[k*len(seen)/rows]))...)
			x[at+column] = v
		}
	}
	j, err := t.Joint(ctx, i.subject.Scaler.Inputs(x), vbks.PredictOptions{IDs: kernels}, 0, 1)
	if err != nil {
		return nil, err
	}
	in := &d.Inputs[column]
	out := &LevelEffects{Column: column, Against: in.Format(levels[0]), Rows: count[levels[0]]}
	n := len(levels) * rows
	for l := 1; l < len(levels); l++ {
		mean, variance := 0.0, 0.0
		sign := func(p int) float64 { // of a point in the difference
			switch p / rows {
			case l:
				return 1 / float64(rows)
			case 0:
				return -1 / float64(rows)
			}
			return 0
		}
		for p := range n {
			s := sign(p)
			if s == 0 {
				continue
			}
			mean += s * j.Mean[p]
			for q := range n {
				variance += s * sign(q) * j.Covariance[p*n+q]
			}
		}
		out.Levels = append(out.Levels, LevelEffect{in.Format(levels[l]), count[levels[l]],
			mean * i.subject.Scaler.YScale, math.Sqrt(max(0, i.subject.Scaler.Variance(variance)))})
	}
	return out, nil
}

// levelsOf are the different ones among values, the most frequent first, at most
// mostEffects, and how many there are of each.
func levelsOf(values []float64) (levels []float64, count map[float64]int) {
	count = map[float64]int{}
	for _, v := range values {
		count[v]++
	}
	levels = slices.Collect(maps.Keys(count))
	slices.SortFunc(levels, func(a, b float64) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	return levels[:min(len(levels), mostEffects)], count
}
