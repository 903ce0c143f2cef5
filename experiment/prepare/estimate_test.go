package prepare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/kestrel/device"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/config/configtest"
	"example.com/kestrel/internal/must"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks/cost"
)

// wider is what kernels cost with the inducing inputs of the last rung, where all that
// counts are products of matrices.
func (w *workload) wider(k cost.Bound) cost.Bound {
	f := float64(w.last()) / float64(w.inducing)
	rows, fixed := f*f, f*f*f
	return cost.Bound{Fixed: fixed * k.Fixed, Row: rows * k.Row, FixedGrad: fixed * k.FixedGrad, RowGrad: rows * k.RowGrad}
}

// Counted by hand for a run of one evaluation: all fresh starts on 256 rows, the
// better ones again, then the search on all rows, which are the last ones.
func TestEstimateByHand(t *testing.T) {
	c := config.Default()
	c.Kernels = config.KernelSpace{Expressions: []string{"SE", "PER*LIN"}}
	s := &c.Settings
	s.Optimizer, s.Inducing, s.Starts, s.Steps, s.EvaluateEvery, s.Refine = "collapsed", 64, 9, 40, 1, 0
	space, err := c.Kernels.Candidates()
	must.OK(t, err)
	w, err := newWorkload(&c, space, 1000, 1)
	must.OK(t, err)
	unit := cost.Bound{Fixed: 1, Row: 0.01, FixedGrad: 3, RowGrad: 0.02}
	// Of few rows there are twice the 9 starts; with 3 drafts they cost 18·7 + 3·16 = 174
	// gradients on 256 rows, 4 + 256·0.03 = 11.68 each; then 60·1.35 = 81 and half of
	// 3·16 + 60 on 1000 rows, 34 each, and 300 values, 11 each; nothing is related.
	want := 1.25*2*(174*11.68+135*34+300*11) + 3e-5*1000 + 2*2e-3
	if got := w.seconds(unit, unit, w.wider(unit)); math.Abs(got-want) > 1e-9*want {
		t.Errorf("%v, want %v", got, want)
	}
	// With up to 200 inducing inputs, "auto" searches again with 128 and with 200 of
	// them for both kernels, which transplants are not related enough for. That takes
	// f² times as long for a row and f³ times else, f = 2 and f = 200/64; starts on few
	// rows come again, too.
	s.Inducing, s.MostInducing = 0, 200
	w, err = newWorkload(&c, space, 1000, 1)
	must.OK(t, err)
	if !slices.Equal(w.rungs, []int{128, 200}) {
		t.Fatalf("rungs %v", w.rungs)
	}
	// And as not all rows come, windows of neighbours: 25 times over all rows, each as long as 7 gradients.
	auto := want + 1.25*2*25*1000*7*0.02
	for _, f := range []float64{2, 200. / 64} {
		auto += 1.25*2*(174*(4*f*f*f+7.68*f*f)+135*(4*f*f*f+30*f*f)+300*(f*f*f+10*f*f)) + 2*2e-3
	}
	if got := w.seconds(unit, unit, w.wider(unit)); math.Abs(got-auto) > 1e-9*auto {
		t.Errorf("auto: %v, want %v", got, auto)
	}
	c.Evaluations = 2 // leaves the last of them out
	if got := w.seconds(unit, unit, w.wider(unit)); got >= auto || got <= want {
		t.Errorf("auto, two evaluations: %v, all take %v and the first %v", got, auto, want)
	}
	c.Settings.TimeBudget = 5e9
	if got := w.seconds(unit, unit, w.wider(unit)); got != 5 {
		t.Errorf("a run with a budget of 5 s takes %v s", got)
	}
}

// A space that grows takes longer, and more so with more inducing inputs than it began with; where the rows are too
// many for that, it goes on with the first.
func TestGrowthIsEstimated(t *testing.T) {
	unit := cost.Bound{Fixed: 1e-5, Row: 1e-7, FixedGrad: 3e-5, RowGrad: 2e-7}
	of := func(optimizer string, grow bool, rows, first int) (*workload, float64) {
		t.Helper()
		c := config.Default()
		c.Kernels = config.KernelSpace{Expressions: []string{"SE", "RQ", "LIN", "PER"}}
		c.Settings.Optimizer, c.Settings.Inducing, c.Settings.FirstInducing, c.Settings.Growth.On = optimizer, 0, first, grow
		space, err := c.Kernels.Candidates()
		must.OK(t, err)
		w, err := newWorkload(&c, space, rows, 1)
		must.OK(t, err)
		return w, w.seconds(unit, unit, w.wider(unit))
	}
	for _, rows := range []int{130, 500} {
		plain, before := of("collapsed", false, rows, 0)
		w, with := of("collapsed", true, rows, 0)
		if plain.sharp != 0 || w.sharp <= w.inducing || w.sharp > rows || with < 2*before {
			t.Errorf("%d rows: up to %d inducing inputs, %v s, without growth %v", rows, w.sharp, with, before)
		}
		// Counted by hand: as many more kernels, each .3 s and 50 gradients on all rows with all as inducing inputs.
		more := *w
		more.late += 1000
		k := w.wider(unit)
		late := 1000 * (0.3 + 1.25*50*(k.Fixed+k.FixedGrad+float64(rows)*(k.Row+k.RowGrad)))
		if got := more.seconds(unit, unit, k) - with; !w.whole || w.sharp != rows || math.Abs(got-late) > 1e-6*late {
			t.Errorf("%d rows: a thousand kernels more take %v s, not %v", rows, got, late)
		}
		dull := *w
		dull.sharp = 0
		if less := dull.seconds(unit, unit, w.wider(unit)); less >= with {
			t.Errorf("%d rows: %v s, with the first inducing inputs %v", rows, with, less)
		}
	}
	if w, _ := of("collapsed", true, 1_000_000, 64); w.sharp != 0 {
		t.Errorf("a million rows: up to %d inducing inputs", w.sharp)
	}
	// Few neighbours make up for what is stated.
	stated := config.Default()
	stated.Settings.Growth.On, stated.Kernels = true, config.KernelSpace{Expressions: []string{"SE", "RQ", "LIN", "PER", "PER+LIN"}}
	space, err := stated.Kernels.Candidates()
	must.OK(t, err)
	fewer, err := newWorkload(&stated, space, 500, 1)
	must.OK(t, err)
	if w, _ := of("auto", true, 500, 0); fewer.late == 0 || 2*fewer.late > w.late {
		t.Errorf("%d late kernels beside one that is stated, %d without", fewer.late, w.late)
	}
	few, _ := of("auto", true, 60, 0) // which do not say much
	many, _ := of("auto", true, 500, 0)
	if few.late == 0 || 2*few.late > many.late {
		t.Errorf("%d late kernels of 60 rows, %d of 500", few.late, many.late)
	}
	w, with := of("natural", true, 5000, 0)
	if more := *w; w.sharp != 0 || w.late == 0 {
		t.Errorf("natural: up to %d inducing inputs, %d late kernels", w.sharp, w.late)
	} else if more.late *= 2; more.seconds(unit, unit, w.wider(unit)) <= with {
		t.Errorf("natural: twice as many late kernels take no longer than %v s", with)
	}
}

// Counted by hand: forecasts from rolling origins, each of kernels that pass over the rows before it, estimate their ELBO on
// 10,000 of them at most and predict what comes behind, or climb 15 gradients, with as many inducing inputs for a row.
func TestOriginsAreEstimated(t *testing.T) {
	unit := cost.Bound{Fixed: 1, Row: 0.01, FixedGrad: 3, RowGrad: 0.02}
	of := func(optimizer, weights string, inducing, rows int, kernels ...string) *workload {
		c := config.Default()
		c.Kernels = config.KernelSpace{Expressions: kernels}
		s := &c.Settings
		s.Optimizer, s.Weights, s.Inducing, s.Starts, s.Steps, s.EvaluateEvery, s.Refine = optimizer, weights, inducing, 2, 40, 1, 0
		s.MostSeconds = 0
		space, err := c.Kernels.Candidates()
		must.OK(t, err)
		w, err := newWorkload(&c, space, rows, 1)
		must.OK(t, err)
		return w
	}
	seconds := func(w *workload) float64 { return w.seconds(unit, unit, unit) }
	more := func(optimizer string, rows int, kernels ...string) float64 {
		return seconds(of(optimizer, "origins", 64, rows, kernels...)) - seconds(of(optimizer, "tempered", 64, rows, kernels...))
	}
	calibrated := func(optimizer string, rows int, kernels ...string) float64 {
		w := of(optimizer, "tempered", 64, rows, kernels...)
		plain := seconds(w)
		w.config.Settings.Calibrate = "auto"
		return seconds(w) - plain
	}
	stream, climb, long := 0.0, 0.0, 0.0
	for tenth := 5.; tenth < 10; tenth++ {
		past := 2000 * tenth // of 20,000 rows, 2,000 behind each
		stream += tenth * tenth / 100 * (1 + 20 + 1 + past/100 + 1 + min(past, 10_000)/100)
		past = 10_000 * tenth // of 100,000, of which a calibration has all 10,000 behind each
		long += tenth * tenth / 100 * (1 + 100 + 1 + past/100 + 1 + min(past, 10_000)/100)
		past = 100 * tenth // of 1,000
		climb += tenth * tenth / 100 * (1 + 1 + 15*(4+past*.03))
	}
	// Where more inducing inputs come all that were compared are forecast with before, too.
	space := []string{"SE", "PER", "RQ", "LIN", "MATERN32", "SE+PER", "SE*PER", "LIN+PER"}
	w := of("natural", "origins", 0, 20_000, space...)
	left, forecast := len(space), 0
	for _, m := range w.rungs {
		forecast += left
		left = w.config.Settings.RungKernels(20_000, len(space), left, m)
	}
	if forecast == 0 || left == len(space) {
		t.Fatalf("rungs %v leave %d kernels", w.rungs, left)
	}
	climbing := seconds(w) - seconds(of("natural", "tempered", 0, 20_000, space...))
	for name, c := range map[string]struct{ got, want float64 }{
		"rungs":       {climbing, 1.25 * float64(forecast+left) * stream},
		"a stream":    {more("natural", 20_000, "SE", "PER"), 1.25 * 2 * stream},
		"few rows":    {more("collapsed", 1000, "SE", "PER"), 1.25 * 2 * climb},
		"calibration": {calibrated("natural", 100_000, "SE"), 1.25 * long},
		"of few rows": {calibrated("collapsed", 1000, "SE", "PER"), 1.25 * 2 * climb}, "of too few": {calibrated("collapsed", 20, "SE"), 0},
		"one kernel": {more("natural", 20_000, "SE"), 0}, "too few rows": {more("collapsed", 20, "SE", "PER"), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-6*(1+c.want) {
			t.Errorf("%s: %v s more, want %v", name, c.got, c.want)
		}
	}
}

// More of anything takes longer, and memory where it is kept.
func TestEstimateGrows(t *testing.T) {
	unit := cost.Bound{Fixed: 1e-5, Row: 1e-7, FixedGrad: 3e-5, RowGrad: 2e-7}
	base := func() config.Config {
		c := config.Default()
		c.Kernels = config.KernelSpace{Set: "K12"}
		return c
	}
	of := func(c config.Config, rows int) (float64, int64) {
		t.Helper()
		space, err := c.Kernels.Candidates()
		must.OK(t, err)
		w, err := newWorkload(&c, space, rows, 2)
		must.OK(t, err)
		return w.seconds(unit, unit, w.wider(unit)), w.bytes(2)
	}
	var withAll int64 // collapsed goes by all rows at every step
	for _, optimizer := range []string{"collapsed", "natural", "adam"} {
		plain := base()
		plain.Settings.Optimizer, plain.Settings.Inducing = optimizer, 64
		seconds, bytes := of(plain, 3000)
		s, b := of(plain, 30_000)
		if s <= seconds || b <= bytes {
			t.Errorf("%s: ten times the rows take %v s and %d bytes, not more than %v and %d", optimizer, s, b, seconds, bytes)
		}
		if optimizer == "collapsed" {
			withAll = b
		} else if b >= withAll {
			t.Errorf("%s: minibatches of 30,000 rows take %d bytes, not less than the %d of all rows", optimizer, b, withAll)
		}
		for name, change := range map[string]func(*config.Config){
			"kernels":     func(c *config.Config) { c.Kernels.Set = "K144" },
			"starts":      func(c *config.Config) { c.Settings.Starts *= 4 },
			"steps":       func(c *config.Config) { c.Settings.Steps *= 2 },
			"refinements": func(c *config.Config) { c.Settings.Refine += 5 },
			// natural tunes point estimates on the collapsed bound, which takes longer than
			// all that q(theta) gets.
			"q(theta)": func(c *config.Config) { c.Settings.Hyperparameters = "diagonal" },
			"often":    func(c *config.Config) { c.Settings.EvaluateEvery /= 2 },
		} {
			c := plain
			change(&c)
			other := name == "steps" && optimizer == "collapsed" || name == "q(theta)" && optimizer == "natural"
			if s, _ := of(c, 3000); s <= seconds && !other {
				t.Errorf("%s, more %s: %v s, not more than %v", optimizer, name, s, seconds)
			}
		}
		c := plain
		c.Settings.AutoPruneMass, c.Settings.AutoPruneWait, c.Settings.AutoPruneKeep = 1e-3, 1, 2
		if s, _ := of(c, 3000); s >= seconds {
			t.Errorf("%s: pruning takes %v s, not less than %v", optimizer, s, seconds)
		}
		c = plain
		c.Evaluations = 2
		if s, _ := of(c, 3000); s >= seconds {
			t.Errorf("%s: two evaluations take %v s, not less than %v", optimizer, s, seconds)
		}
		c = plain
		c.Settings.Inducing *= 8
		if _, b := of(c, 3000); b <= bytes {
			t.Errorf("%s: 512 inducing inputs take %d bytes, not more than %d", optimizer, b, bytes)
		}
	}
}

// The time is measured on this machine, also for kernels of named columns and
// for more inducing inputs than are timed.
func TestEstimateRun(t *testing.T) {
	var estimator Estimator
	defer func() { must.OK(t, estimator.Close()) }()
	for _, set := range [][]string{nil, {"optimise.optimizer=natural"}, {"kernels.expressions=SE[x]*LIN,PER[nosuch]"},
		{"sparse.inducing=300"}, {"sparse.inducing=auto"}} {
		// Each lane has memory of its own.
		e, err := estimator.Run(t.Context(), configtest.Small(t, append(set, "device.lanes=2")...), 500, 3)
		must.OK(t, err)
		if !(e.Seconds > 0 && e.Low < e.Seconds && e.Seconds < e.High && e.High < 3600) || e.Bytes < 1e6 || e.Bytes > 1e9 {
			t.Errorf("%v: %+v", set, e)
		}
		// One that knows enough early takes far less time than all rungs.
		if auto := slices.Contains(set, "sparse.inducing=auto"); auto == (e.Low > e.Seconds/estimateSpread/1.01) {
			t.Errorf("%v: %+v", set, e)
		}
	}
	// A space that grows on some of the rows first takes up to what it would of these, and more for all of them.
	set := []string{"device.lanes=2", "sparse.inducing=auto", "sparse.compare_all=200", "kernels.grow=true", "kernels.grow_rows=100"}
	some, err := estimator.Run(t.Context(), configtest.Small(t, set...), 100, 1)
	must.OK(t, err)
	all, err := estimator.Run(t.Context(), configtest.Small(t, set...), 1000, 1)
	must.OK(t, err)
	if !(all.High > 1.2*some.High && all.Low < all.Seconds && all.Seconds < all.High) || all.Bytes < some.Bytes+20*8*1000*1000 {
		t.Errorf("%+v, of some of the rows %+v", all, some)
	}
	budget, err := estimator.Run(t.Context(), configtest.Small(t, append(set, "schedule.budget=5s")...), 1000, 1)
	if must.OK(t, err); budget.Seconds > 5 || budget.High > 5*growthSpread {
		t.Errorf("with a budget of 5 s: %+v", budget)
	}
	few, err := estimator.Run(t.Context(), configtest.Small(t, append(set, "schedule.budget=3")...), 1000, 1)
	if must.OK(t, err); few.High > all.High/1.2 {
		t.Errorf("three evaluations: %+v, of all %+v", few, all)
	}
	c := configtest.Small(t)
	c.Kernels = config.KernelSpace{Expressions: []string{"SE+"}}
	if _, err := estimator.Run(t.Context(), c, 100, 1); err == nil {
		t.Error("a kernel that cannot be read has an estimate")
	}
	if _, err := estimator.Run(t.Context(), configtest.Small(t), 0, 1); err == nil {
		t.Error("no rows have an estimate")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := estimator.Run(ctx, configtest.Small(t), 100, 1); err == nil {
		t.Error("an estimate was made although the context had ended")
	}
}

// The device is kept from one estimate to the next, until another is asked for.
func TestEstimatorKeepsItsDevice(t *testing.T) {
	var e Estimator
	estimate := func(c config.Config) device.Device {
		t.Helper()
		_, err := e.Run(t.Context(), c, 50, 1)
		must.OK(t, err)
		return e.dev
	}
	one, two := configtest.Small(t, "device.kind=cpu", "device.lanes=1"), configtest.Small(t, "device.kind=cpu", "device.lanes=2")
	first := estimate(one)
	if again := estimate(one); again != first {
		t.Error("a second device for the same choice")
	}
	if other := estimate(two); other == first || other.Info().Lanes != 2 {
		t.Errorf("%d lanes, want 2", other.Info().Lanes)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Run(ctx, two, 50, 1); err == nil || e.dev == nil {
		t.Errorf("after an estimate that was not wanted any more: %v, device %v", err, e.dev)
	}
	must.OK(t, e.Close())
	if e.dev != nil {
		t.Error("the device is kept although the estimator is closed")
	}
	if again := estimate(one); again == nil || again.Info().Lanes != 1 {
		t.Error("no estimate after closing")
	}
	must.OK(t, e.Close())
}

func TestEstimateText(t *testing.T) {
	for want, e := range map[string]Estimate{
		"less than a second, 31 MB":      {0.4, 0.2, 0.8, 30.2e6},
		"about 0.6 s (0.3 to 1), 60 MB":  {0.61, 0.305, 1.22, 60e6},
		"about 9 s (4 to 18), 100 MB":    {8.8, 4.4, 17.6, 100e6},
		"about 2 min (1 to 4), 130 MB":   {124, 62, 248, 121e6},
		"about 3 h (2 to 6), 2.5 GB":     {11_000, 5500, 22_000, 2.5e9},
		"about 13 min (6 to 26), 60 MB":  {780, 390, 1560, 60e6},
		"about 2 min (0.8 to 3), 2.0 GB": {95, 47.5, 190, 2.04e9},
		"about 40 h (20 to 80), 1000 MB": {144_000, 72_000, 288_000, 1e9},
	} {
		if got := e.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRelated(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"SE", "RQ", true}, {"SE", "SE", false}, {"SE", "SE+LIN", true}, {"SE*LIN", "SE+LIN", true}, {"SE*LIN", "SE*PER", true},
		{"SE", "RQ+LIN", false}, {"SE", "SE*LIN*PER", false}, {"SE*LIN", "PER*RQ", false}, {"SE+SE", "SE", true},
	} {
		a, err := kernelspace.Parse(c.a)
		must.OK(t, err)
		b, err := kernelspace.Parse(c.b)
		must.OK(t, err)
		if related(a, b) != c.want || related(b, a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}

// sparse.most_memory: "auto" ends with the last number that fits, a number that does
// not is refused with one that does.
func TestMemoryLimit(t *testing.T) {
	for _, optimizer := range []string{"collapsed", "natural"} {
		c := config.Default()
		c.Kernels = config.KernelSpace{Set: "K12"}
		c.Settings.Optimizer = optimizer
		space, err := c.Kernels.Candidates()
		must.OK(t, err)
		const rows, lanes = 3000, 2
		bytes := func(c config.Config) int64 {
			w, err := newWorkload(&c, space, rows, 1)
			must.OK(t, err)
			return w.bytes(lanes)
		}
		limited := func(mb, inducing int) (int, error) {
			c := c
			c.MostMemory, c.Settings.Inducing = mb, inducing
			return room(&c, space, rows, 1, lanes)
		}
		all := int(bytes(c) / 1e6)
		for mb, none := range map[int]bool{0: true, all + 1: true, all - 1: false} {
			if got, err := limited(mb, 0); err != nil || (got == 0) != none {
				t.Errorf("%s, %d MB of %d: room %d, %v", optimizer, mb, all, got, err)
			}
		}
		for _, mb := range []int{80, 150, all / 2} {
			fits, err := limited(mb, 0)
			must.OK(t, err)
			within, beyond := c, c
			within.Settings.Room, beyond.Settings.Room = fits, fits+1
			if bytes(within) > int64(mb)*1e6 || bytes(beyond) <= int64(mb)*1e6 {
				t.Errorf("%s: %d MB have room for %d, which take %d bytes, one more %d", optimizer, mb, fits, bytes(within), bytes(beyond))
			}
			if w, err := newWorkload(&within, space, rows, 1); err != nil || w.last() > fits {
				t.Errorf("%s: it ends with %d, %v", optimizer, w.last(), err)
			}
		}
		_, err = limited(150, 2500)
		most := 0
		if err != nil {
			_, scanErr := fmt.Sscanf(err.Error()[strings.LastIndex(err.Error(), ";"):], "; at most %d fit", &most)
			must.OK(t, scanErr)
		}
		if err == nil || !strings.HasPrefix(err.Error(), "sparse.inducing = 2500 takes about ") ||
			!strings.Contains(err.Error(), ", more than sparse.most_memory = 150; at most ") {
			t.Errorf("%s: %v", optimizer, err)
		} else if _, err := limited(150, most); err != nil {
			t.Errorf("%s: the number that fits: %v", optimizer, err)
		} else if _, err := limited(150, most+1); err == nil {
			t.Errorf("%s: one more than %d fits, too", optimizer, most)
		}
		if _, err = limited(1, 8); err == nil || !strings.HasPrefix(err.Error(), "sparse.most_memory = 1 is too little: ") {
			t.Errorf("%s: %v", optimizer, err)
		}
	}
}

// sparse.most_seconds shortens the estimate by rungs that would not be begun.
func TestEstimateEndsInTime(t *testing.T) {
	c := config.Default()
	c.Kernels = config.KernelSpace{Set: "K12"}
	space, err := c.Kernels.Candidates()
	must.OK(t, err)
	unit := cost.Bound{Fixed: 1e-5, Row: 1e-7, FixedGrad: 3e-5, RowGrad: 2e-7}
	seconds := func(most float64, inducing int) float64 {
		c := c
		c.Settings.MostSeconds, c.Settings.Inducing = most, inducing
		w, err := newWorkload(&c, space, 1000, 1)
		must.OK(t, err)
		return w.seconds(unit, unit, w.wider(unit))
	}
	all, first := seconds(0, 0), seconds(0, 64)
	if got := seconds(1e-3, 0); got != first {
		t.Errorf("with next to no time %v s, the first rung takes %v", got, first)
	}
	if got := seconds((all+first)/2, 0); got <= first || got > (all+first)/2 {
		t.Errorf("%v s, between %v and %v", got, first, (all+first)/2)
	}
	if got := seconds(2*all, 0); got != all {
		t.Errorf("with time enough %v s, not %v", got, all)
	}
}
