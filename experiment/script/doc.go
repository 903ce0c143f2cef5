// Package script writes a run's best kernels as a program in Python: for NumPy alone, or
// for one of the libraries of Gaussian processes that others use.
package script
