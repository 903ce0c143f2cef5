// Package bench measures how fast single steps of the optimisers are, as a share of
// the machine's peak and against other programs.
package bench
