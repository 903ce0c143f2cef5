//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package ui

// keepTerminal has nothing to do where the console keeps its own modes.
func keepTerminal() func() { return func() {} }
