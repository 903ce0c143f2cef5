package main

import (
	"flag"
	"os"

	"github.com/mmcloughlin/avo/build"
)

// finish compiles the program and writes what the flags -out and -stubs name.
func finish(c *build.Context) {
	set := flag.NewFlagSet("vec", flag.ExitOnError)
	flags := build.NewFlags(set)
	_ = set.Parse(os.Args[1:])
	if code := build.Main(flags.Config(), c); code != 0 {
		os.Exit(code)
	}
}
