// Package trial compares a device that nobody has seen computing with one that is known:
// kernel matrices of two devices bit by bit, objective, gradients and steps within
// rounding, and whether memory holds what is written. The conformance suite says
// whether each operation is right; this says whether what a run makes of them is.
package trial

import (
	"errors"

	"example.com/kestrel/kernelspace"
)

// ErrWrong is below the error where a device computes and the numbers are wrong, as
// opposed to a device that fails.
var ErrWrong = errors.New("wrong numbers")

// Compile compiles expressions for inputs of dim columns.
func Compile(dim int, expressions ...string) ([]*kernelspace.Program, error) {
	var programs []*kernelspace.Program
	for _, s := range expressions {
		e, err := kernelspace.Parse(s)
		if err != nil {
			return nil, err
		}
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: dim})
		if err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// Space compiles the kernels of a named set, such as "K144", for one column.
func Space(name string) ([]*kernelspace.Program, error) {
	exprs, err := kernelspace.Set(name)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(exprs))
	for i, e := range exprs {
		list[i] = e.String()
	}
	return Compile(1, list...)
}
