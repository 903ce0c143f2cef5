package kernelspace

import (
	"fmt"
	"math"
)

// Knowledge says how something is known of a hyperparameter beforehand.
type Knowledge uint8

const (
	Open     Knowledge = iota // nothing is, beyond what priors have of all
	Fixed                     // it has a value and is not learned
	Bounded                   // it lies between two values
	Expected                  // it has a prior of its own
)

// String is a word for what is known: "fixed", "bounded", "prior"; "" for nothing.
func (k Knowledge) String() string {
	switch k {
	case Fixed:
		return "fixed"
	case Bounded:
		return "bounded"
	case Expected:
		return "prior"
	}
	return ""
}

// Known is what is stated of a hyperparameter, or of the noise's variance, beforehand.
type Known struct {
	How       Knowledge
	Value     float64 // Fixed: the raw parameter
	Low, High float64 // Bounded: limits of its logarithm
	Mean, SD  float64 // Expected: of a normal prior on its logarithm
}

// A free vector has an entry x for each free parameter, which its logarithm is unless it
// is bounded. Then the entry is where between the limits it lies,
//
//	log θ = low + (high − low)/(1 + exp(−x)),
//
// so that no step and no draw leads beyond. The noise always has an entry; where it is
// fixed that changes nothing.

// Log returns log θ at entry x of a free vector, and its derivative. Not of what is fixed.
func (k *Known) Log(x float64) (log, slope float64) {
	if k.How != Bounded {
		return x, 1
	}
	width, s := k.High-k.Low, sigmoid(x)
	return min(k.Low+width*s, k.High), width * s * (1 - s)
}

// Slope is the derivative of log θ by the entry, from log θ.
func (k *Known) Slope(log float64) float64 {
	if k.How != Bounded {
		return 1
	}
	width := k.High - k.Low
	s := (log - k.Low) / width
	return width * max(0, s*(1-s))
}

// nearEdge is how near a bound, as a part of the distance between both, a start may be:
// at a bound itself there is no gradient.
const nearEdge = 0.01

// Entry is the reverse of Log, for values beyond a bound that of one near it.
func (k *Known) Entry(log float64) float64 {
	if k.How != Bounded {
		return log
	}
	s := min(max((log-k.Low)/(k.High-k.Low), nearEdge), 1-nearEdge)
	return math.Log(s / (1 - s))
}

// Know returns p with what is known of its raw parameters, and last of the noise's
// variance. What is fixed is not among the free ones any more, but for the noise, which
// keeps its place in a free vector. Of a parameter that another amplitude stands for
// nothing can be known.
func (p *Program) Know(known []Known) (*Program, error) {
	if len(known) != len(p.Params)+1 {
		return nil, fmt.Errorf("%s: something is known of %d hyperparameters, it has %d", p.ID, len(known), len(p.Params)+1)
	}
	q := *p
	q.Params = append([]Param(nil), p.Params...)
	q.Noise = known[len(p.Params)]
	for i := range q.Params {
		if err := known[i].check(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.ID, q.Params[i].Name, err)
		}
		if known[i].How != Open && !q.Params[i].Free {
			return nil, fmt.Errorf("%s: %s is relative to another amplitude", p.ID, q.Params[i].Name)
		}
		if i < len(p.Own().Params) { // a line's are fixed
			q.Params[i].Known = known[i]
		}
	}
	if err := q.Noise.check(); err != nil {
		return nil, fmt.Errorf("%s: noise: %w", p.ID, err)
	}
	q.listFree()
	if p.own != nil {
		n := len(p.own.Params)
		own, err := p.own.Know(append(append([]Known(nil), known[:n]...), q.Noise))
		if err != nil {
			return nil, err
		}
		q.own = own
	}
	return &q, nil
}

func (k *Known) check() error {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch k.How {
	case Fixed:
		if !(k.Value > 0) || !finite(k.Value) {
			return fmt.Errorf("it cannot be fixed at %g", k.Value)
		}
	case Bounded:
		if !(k.Low < k.High) || !finite(k.High-k.Low) {
			return fmt.Errorf("it cannot be between %g and %g", math.Exp(k.Low), math.Exp(k.High))
		}
	case Expected:
		if !(k.SD > 0) || !finite(k.Mean) || !finite(1/(k.SD*k.SD)) {
			return fmt.Errorf("its logarithm cannot be %g ± %g", k.Mean, k.SD)
		}
	}
	return nil
}

// NoiseAt returns σ_n² at the last entry of a free vector: floor + exp(x), but what it is
// fixed at or bounded by is in the place of the floor.
func (p *Program) NoiseAt(x, floor float64) float64 {
	switch p.Noise.How {
	case Fixed:
		return p.Noise.Value
	case Bounded:
		log, _ := p.Noise.Log(x)
		return math.Exp(log)
	}
	return floor + math.Exp(x)
}

// NoiseSlope returns ∂σ_n²/∂x from σ_n².
func (p *Program) NoiseSlope(noise, floor float64) float64 {
	switch p.Noise.How {
	case Fixed:
		return 0
	case Bounded:
		return noise * p.Noise.Slope(math.Log(noise))
	}
	return noise - floor
}
