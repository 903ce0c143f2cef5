//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package terminal

// Keep has nothing to do where the console keeps its own modes.
func Keep() func() { return func() {} }
