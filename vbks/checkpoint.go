package vbks

import "fmt"

// Tensor is a named array of a checkpoint, row-major.
type Tensor struct {
	Shape []int
	Data  []float64
}

// Checkpoint returns everything that the trainer has learned, by name:
// "run" (evaluation, rows seen, M, noise floor), "z" (inducing inputs in standardised
// units) and, for the kernel at place i of the space, "kernel/i/..." its free
// vector (logarithms of the free hyperparameters and ρ with
// σ_n² = floor + exp ρ), q(v), the optimiser's moments, and "status": local
// ELBO, jitter factor, steps of Adam, rows that Λ stands for and rests on, rows
// that the ELBO stands for, and 0, 1 or 2 for live, pruned or failed.
func (t *Trainer) Checkpoint() map[string]Tensor {
	out := map[string]Tensor{
		"run": {Shape: []int{4}, Data: []float64{float64(t.evaluation), float64(t.rows), float64(t.m), t.floor}},
		"z":   {Shape: []int{t.m, t.dim}, Data: t.inducing},
	}
	if b := t.belief; b != nil {
		k := len(b.Mean)
		out["belief/mean"] = Tensor{Shape: []int{k}, Data: b.Mean}
		out["belief/chol"] = Tensor{Shape: []int{k, k}, Data: b.Chol}
	}
	for i, k := range t.kernels {
		if k.state == nil {
			continue
		}
		name := func(part string) string { return fmt.Sprintf("kernel/%d/%s", i, part) }
		add := func(part string, data []float64) {
			if data != nil {
				out[name(part)] = Tensor{Shape: []int{len(data)}, Data: data}
			}
		}
		s := k.state
		status := map[Status]float64{Live: 0, Pruned: 1, Failed: 2}[k.status]
		out[name("status")] = Tensor{Shape: []int{7}, Data: []float64{
			k.elbo, s.Factor, float64(s.Steps), s.Rows, s.Seen, float64(k.rows), status,
		}}
		add("free", s.Free)
		add("theta_chol", s.ThetaChol)
		add("mean", s.Mean)
		add("chol", s.Chol)
		add("free_m1", s.FreeM1)
		add("free_m2", s.FreeM2)
		add("mean_m1", s.MeanM1)
		add("mean_m2", s.MeanM2)
		add("chol_m1", s.CholM1)
		add("chol_m2", s.CholM2)
		add("theta_chol_m1", s.ThetaCholM1)
		add("theta_chol_m2", s.ThetaCholM2)
	}
	return out
}
