// Package modelfile has model files: what a run predicts with, in one file that needs
// neither the run nor its data nor, but for what it is made of, this program. It is
// NumPy's npz; docs/format.md has its arrays, and what another program computes with
// them.
package modelfile
