package vbks

import "slices"

// State is what a kernel carries from one evaluation to the next, on the host,
// so that any lane can take it up. Free vectors hold the logarithms of the
// free hyperparameters and, last, ρ with σ_n² = floor + exp(ρ).
type State struct {
	Free   []float64 // point estimate, or mean of q(log θ)
	Factor float64   // escalation of the jitter, 1 where none was needed

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

// clone copies a state.
func (s *State) clone() *State {
	c := *s
	for _, p := range []*[]float64{&c.Free, &c.Mean, &c.Chol, &c.ThetaChol, &c.FreeM1, &c.FreeM2,
		&c.MeanM1, &c.MeanM2, &c.CholM1, &c.CholM2, &c.ThetaCholM1, &c.ThetaCholM2} {
		*p = slices.Clone(*p)
	}
	return &c
}
