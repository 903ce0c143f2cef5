package vbks

import "math"

// What an evaluation of one kernel consists of where the bound that is searched on is the
// local ELBO, in gradients of it; measured as those of estimates of a run's time.
const (
	foreseenSearch   = 90.0  // on all rows seen: the last optimum, the drafts, transplants
	foreseenAgain    = 80.0  // where solutions are only taken up with more inducing inputs
	foreseenEnd      = 1.5   // times as many once all rows are used, with volumes of modes and more drafts
	foreseenFresh    = 19.0  // on few rows, for each start
	foreseenFixed    = 8.0   // products of M x M matrices, in the place of as many times M rows
	foreseenEntry    = 100   // multiplications that an entry of a covariance takes
	foreseenWhole    = 1.2   // multiplications for each of rows³, with k(X,X) alone
	foreseenLeast    = 1.5e6 // multiplications that take as long as what does not grow with the rows
	foreseenStarts   = 1.5   // times as long with more starts once all of few rows are used
	foreseenHalf     = 0.3   // of the rows, from where half as many starts are enough
	foreseenScouting = 20.0  // where it is not, on the scout: not at every evaluation
)

// Foreseen is about what an evaluation takes that compares so many kernels on a rung with m
// inducing inputs when seen of n rows are in use. It has no unit: what it is good for
// are ratios between evaluations of one run.
func (s Settings) Foreseen(n, seen, kernels, rung, m int) float64 {
	n, seen = max(1, n), max(1, min(seen, n))
	m = max(1, min(m, n))
	kernels = max(1, kernels)
	e, err := s.Effort(n)
	if err != nil {
		return float64(kernels)
	}
	if !e.Exact() {
		steps := perStep * float64(s.Steps) * float64(min(s.Batch, seen))
		rows, scout := ScoutSize(kernels, m)
		work := float64(kernels) * (foreseenScouting*s.boundWork(n, min(rows, seen), scout) + (steps+float64(seen))*rowWork(m))
		if seen == n {
			work += e.Work(n, kernels, m)
		}
		return work
	}
	starts, search := float64(max(1, s.Starts)), foreseenSearch
	if p := float64(seen) / float64(n); p >= foreseenHalf && p < 1 {
		starts = math.Ceil(starts / 2)
	}
	if seen == n {
		search *= foreseenEnd
		if n <= s.AllRows {
			starts *= foreseenStarts
		}
	}
	if like := s.Like(n, m); rung > 1 || rung == 1 && n > s.AllRows {
		if first := float64(s.first(kernels)); like*like > searchedRung*first*first {
			starts, search = 0, foreseenAgain
		}
	}
	fresh := 0.7 * foreseenFresh * starts // of all starts some go on to drafts
	return float64(kernels) * (fresh*s.boundWork(n, min(seen, ScreenRows), m) + search*s.boundWork(n, seen, m))
}

// boundWork is what a bound with its gradient takes on some of the n rows.
func (s Settings) boundWork(n, rows, m int) float64 {
	r, z := float64(rows), float64(min(m, rows))
	if m == n && s.wholeAt(n, m) { // k(X,X) alone
		return foreseenLeast + r*r*(foreseenWhole*r+foreseenEntry)
	}
	return foreseenLeast + z*z*(r+foreseenFixed*z) + foreseenEntry*z*(r+z)
}
