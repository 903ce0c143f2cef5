// Package compare trains and scores, under one budget, what other methods of selecting
// a kernel choose: kernels at random, Bayesian optimisation over kernels, greedy
// compositional search. A comparison goes on where it was stopped.
package compare
