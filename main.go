// Kestrel selects kernels for Gaussian process regression by variational
// Bayesian kernel selection.
package main

import (
	"os"

	"example.com/kestrel/cli"
)

func main() {
	os.Exit(cli.Execute(os.Args[1:], os.Stdout, os.Stderr))
}
