// Package known turns what a config states of hyperparameters by name, in the units of the
// data, into what is known of each kernel's raw parameters.
package known
