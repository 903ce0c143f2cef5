// Package experiment turns a config into a run: it reads configs, loads the
// data, owns the goroutine that drives the algorithm and takes orders from
// outside, writes the run directory, and reads it again.
package experiment
