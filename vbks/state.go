package vbks

import (
	"fmt"
	"slices"

	"example.com/kestrel/device"
	"example.com/kestrel/vbks/random"
)

// State is what a kernel carries from one evaluation to the next, on the host,
// so that any lane can take it up. Free vectors hold the logarithms of the
// free hyperparameters and, last, ρ with σ_n² = floor + exp(ρ). What slices hold
// never changes: lanes know by them what they have, and checkpoints share them.
type State struct {
	Free   []float64 // point estimate, or mean of q(log θ)
	Mode   []float64 // that a belief of the collapsed bound was made about, where searches go on; nil: Free
	Factor float64   // escalation of the jitter, 1 where none was needed
	Z      []float64 // inducing inputs of its own, M x D, which q(v) is of; nil: those of all

	// q(v), of the stochastic optimisers.
	Mean      []float64 // M: m ("adam") or Λm ("natural")
	Chol      []float64 // M x M: C ("adam") or Λ = S⁻¹ ("natural")
	ThetaChol []float64 // F x F lower, factor of q(log θ)'s covariance; nil for point estimates

	// What Λ and Λm stand for ("natural"): sums over Rows rows, estimated from
	// Seen of them; 0 at the prior.
	Rows, Seen float64

	// Moments of Adam and the number of its steps.
	Steps                    int
	FreeM1, FreeM2           []float64
	MeanM1, MeanM2           []float64
	CholM1, CholM2           []float64
	ThetaCholM1, ThetaCholM2 []float64
}

// unplaced is what of a state does not depend on the inducing inputs.
func (s *State) unplaced() *State {
	return &State{Free: s.Free, Mode: s.Mode, Factor: s.Factor, ThetaChol: s.ThetaChol}
}

// solution is where searches go on.
func (s *State) solution() []float64 {
	if s.Mode != nil {
		return s.Mode
	}
	return s.Free
}

// begin gives member k its state. What a state lacks starts anew: q(v) at the
// prior, q(log θ) around the free vector, moments at 0; &State{Free: x} is a
// fresh start at x. name is the kernel's, for its stream of random numbers.
func (l *learner) begin(k int, st *State, name string) error {
	n := l.freeLen(k)
	if len(st.Free) != n {
		return fmt.Errorf("%s: a state of %d free parameters for a kernel of %d", name, len(st.Free), n)
	}
	l.members[k] = member{name: name, steps: st.Steps, seen: st.Seen, rows: st.Rows,
		rng: random.Stream(l.seed, name+" samples", 0), began: st}
	factor := st.Factor
	if factor == 0 {
		factor = 1
	}
	ln := l.lane
	ln.Write(l.factor, k, []float64{factor})
	l.setFree(k, st.Free)
	vector := func(x []float64) []float64 { return l.padded(orZeros(x, n), 0) }
	ln.Write(l.freeMoments.first, k, vector(st.FreeM1))
	ln.Write(l.freeMoments.second, k, vector(st.FreeM2))
	stride := l.strides(l.programs[k], st.Free)
	ln.Write(l.stride, k, l.padded(stride, 0))

	if !l.holds(k, st) {
		mean, root := orZeros(st.Mean, l.m), orIdentity(st.Chol, l.m, 1)
		if len(mean) != l.m || len(root) != l.m*l.m {
			return fmt.Errorf("%s: q(v) of %d inducing inputs where there are %d", name, len(mean), l.m)
		}
		l.rule.write(l, k, st, mean, root)
		l.hold(k, st)
	}
	if l.q == nil {
		return nil
	}
	ln.Write(l.q.centre, k, l.padded(st.Free, 0))
	rows := make([]float64, n*n)
	chol := slices.Clone(st.ThetaChol)
	if chol == nil {
		chol = make([]float64, n*n)
	}
	for i, d := range stride {
		for j := range n {
			rows[i*n+j] = d
		}
		if st.ThetaChol == nil {
			chol[i*n+i] = thetaStart * d
		}
	}
	ln.Write(l.strideChol, k, l.paddedSquare(rows, n))
	ln.Write(l.q.chol, k, l.paddedSquare(chol, n))
	square := func(x []float64) []float64 {
		out := l.paddedSquare(orZeros(x, n*n), n)
		f := l.ks.Free()
		for i := n - 1; i < f-1; i++ {
			out[i*f+i] = 0
		}
		return out
	}
	ln.Write(l.thetaMoments.first, k, square(st.ThetaCholM1))
	ln.Write(l.thetaMoments.second, k, square(st.ThetaCholM2))
	return nil
}

func orZeros(x []float64, n int) []float64 {
	if x == nil {
		return make([]float64, n)
	}
	return x
}

func orIdentity(x []float64, n int, diag float64) []float64 {
	if x != nil {
		return x
	}
	x = make([]float64, n*n)
	for i := range n {
		x[i*n+i] = diag
	}
	return x
}

// end returns the state of member k as it stands.
func (l *learner) end(k int) (*State, error) {
	f := l.ks.Free()
	st := &State{Steps: l.members[k].steps, Seen: l.members[k].seen, Rows: l.members[k].rows}
	var err error
	read := func(a device.Array, n int) []float64 {
		x := make([]float64, n)
		if err == nil {
			err = l.lane.Read(a, k, x)
		}
		return x
	}
	vector := func(a device.Array) []float64 { return l.unpadded(k, read(a, f)) }
	square := func(a device.Array) []float64 { return l.unpaddedSquare(read(a, f*f), l.freeLen(k)) }
	st.Factor = read(l.factor, 1)[0]
	st.FreeM1, st.FreeM2 = vector(l.freeMoments.first), vector(l.freeMoments.second)
	l.rule.read(l, st, read)
	if l.q == nil {
		st.Free = vector(l.free)
	} else {
		st.Free, st.ThetaChol = vector(l.q.centre), square(l.q.chol)
		st.ThetaCholM1, st.ThetaCholM2 = square(l.thetaMoments.first), square(l.thetaMoments.second)
	}
	if err != nil {
		return nil, err
	}
	l.hold(k, st)
	return st, nil
}

// believed reads mean and factor of member k's q(log θ).
func (l *learner) believed(k int) (mean, chol []float64, err error) {
	f := l.ks.Free()
	mean, chol = make([]float64, f), make([]float64, f*f)
	if err := l.lane.Read(l.q.centre, k, mean); err != nil {
		return nil, nil, err
	}
	if err := l.lane.Read(l.q.chol, k, chol); err != nil {
		return nil, nil, err
	}
	return l.unpadded(k, mean), l.unpaddedSquare(chol, l.freeLen(k)), nil
}

// matrices are what of a state is large: q(v) and its moments.
func (s *State) matrices() [6][]float64 {
	return [...][]float64{s.Mean, s.Chol, s.MeanM1, s.MeanM2, s.CholM1, s.CholM2}
}

// holds reports whether the lane's arrays of member k already are the q(v) of a state and its
// moments, so that they need not be copied there. Slices of states are never written into.
func (l *learner) holds(k int, st *State) bool {
	if l.held[k] == nil || st.Mean == nil {
		return false
	}
	held := l.held[k].matrices()
	for i, x := range st.matrices() {
		if len(x) != len(held[i]) || len(x) > 0 && &x[0] != &held[i][0] {
			return false
		}
	}
	return true
}

// hold says that the lane's arrays of member k are those of a state.
func (l *learner) hold(k int, st *State) {
	l.held[k] = nil
	if st.Mean != nil {
		l.held[k] = &State{Mean: st.Mean, Chol: st.Chol, MeanM1: st.MeanM1, MeanM2: st.MeanM2, CholM1: st.CholM1, CholM2: st.CholM2}
	}
}

// changes says that what members carry is about to change on the lane.
func (l *learner) changes(sub []int) {
	for _, k := range sub {
		l.held[k], l.members[k].began = nil, nil
	}
}
