//go:build cuda

package proving

import (
	"cmp"
	"math"
	"slices"
)

// middling is the number of inducing inputs that stands for as many as it takes.
const middling = 200

// Faster returns how many times faster than all cores of the CPU the card makes a step of so many
// kernels, or computes their collapsed bound, by what was measured for the nearest number of inducing inputs (0: as
// many as it takes); false where nothing was. Steps stand for bounds that were not measured. Time is taken to grow in a
// line with the number of kernels, since a card takes as long for one as for a few.
func (v *Verdict) Faster(kernels, inducing int, bound bool) (times float64, ok bool) {
	if len(v.Speeds) == 0 {
		return 0, false
	}
	alike := slices.DeleteFunc(slices.Clone(v.Speeds), func(s Speed) bool { return s.Bound != bound })
	if len(alike) == 0 {
		alike = v.Speeds
	}
	far := func(s Speed) float64 {
		return math.Abs(math.Log(float64(s.Inducing) / float64(cmp.Or(inducing, middling))))
	}
	nearest := slices.MinFunc(alike, func(a, b Speed) int { return cmp.Compare(far(a), far(b)) })
	var of []Speed
	for _, s := range alike {
		if s.Inducing == nearest.Inducing {
			of = append(of, s)
		}
	}
	slices.SortFunc(of, func(a, b Speed) int { return cmp.Compare(a.Kernels, b.Kernels) })
	least, most := of[0], of[len(of)-1]
	at := func(time func(Speed) float64) float64 {
		if least.Kernels == most.Kernels {
			return time(least) * float64(kernels) / float64(least.Kernels)
		}
		each := (time(most) - time(least)) / float64(most.Kernels-least.Kernels)
		// Neither less than nothing for fewer kernels, nor more than for more of them.
		return max(time(least)+each*float64(kernels-least.Kernels), time(least)*min(1, float64(kernels)/float64(least.Kernels)))
	}
	card, cores := at(func(s Speed) float64 { return s.Card }), at(func(s Speed) float64 { return s.CPU })
	if !(card > 0 && cores > 0) {
		return 0, false
	}
	return cores / card, true
}
