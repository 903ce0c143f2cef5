// Kestrel selects kernels for Gaussian process regression by variational
// Bayesian kernel selection.
package main

import (
	"os"
	"runtime/debug"

	"example.com/kestrel/cli"
)

// garbage is how much memory may be taken beyond what is in use before it is collected, in percent. What is in use
// are few and large arrays, which cost little to mark; a quarter of what Go allows costs no time that could be measured.
const garbage = 25

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	os.Exit(cli.Execute(os.Args[1:], os.Stdout, os.Stderr))
}
