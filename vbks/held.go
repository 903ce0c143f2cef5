package vbks

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
