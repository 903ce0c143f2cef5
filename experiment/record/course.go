package record

// Course is what becomes of a run that nobody gives orders: it is started and,
// when it has finished, pruned and refined. The zero Course only starts it.
type Course struct {
	PruneTop   int `json:"prune_top,omitempty"`   // keep so many kernels, those ranked first; 0: all
	ThenRefine int `json:"then_refine,omitempty"` // then go on with them for so many evaluations
	Inducing   int `json:"inducing,omitempty"`    // with so many inducing inputs; 0: as many as before
}
