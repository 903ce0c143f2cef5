// Kestrel selects kernels for Gaussian process regression by variational
// Bayesian kernel selection.
package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"example.com/kestrel/cli"
)

// garbage is how much memory may be taken beyond what is in use before it is collected, in percent. What is in use
// are few and large arrays, which cost little to mark; a quarter of what Go allows costs no time that could be measured.
const garbage = 25

// unused is memory that is counted as in use and never touched, so that the machine does not give it: else of what
// is small garbage would be collected every few MB, which takes a twentieth of a small run.
const unused = 64 << 20

func main() {
	var counted []byte
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
		counted = make([]byte, unused)
	}
	code := cli.Execute(os.Args[1:], os.Stdout, os.Stderr)
	runtime.KeepAlive(counted)
	os.Exit(code)
}
