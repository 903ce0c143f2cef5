//go:build !amd64

package simd

// Best returns the fastest level that this machine can execute.
func Best() Level { return Portable }
