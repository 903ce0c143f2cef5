// Command mutate changes the program in small ways, one at a time, and looks which
// changes its tests notice.
//
//	scripts/mutate.sh -n 200 -seed 1
//	scripts/mutate.sh -packages vbks/belief,ui/plot -n 20 -deadline 30m
//
// The tree is never touched: go test is handed the changed file as an overlay. Tests
// are run with a home and a folder for temporary files of their own, but a changed
// program is a wrong program: run it where nothing can be lost.
//
// What is known is kept in -out, and given again it goes on: covered/, which lines
// each test reaches, and mutants.csv, a line for each mutant that was tried.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// asked is what the command line asks for.
type asked struct {
	root, out string
	groups    []string // packages, each with those below it
	n         int      // mutants, over all groups
	seed      uint64
	deadline  time.Time
	beyond    int      // packages whose tests are run besides a mutant's own
	most      float64  // seconds that tests of one package usually take
	without   []string // packages whose tests are not run
	again     bool
	list      bool
	at        string // a line, as file.go:12
}

// groups are what mutants are drawn from, and what coverage is taken of.
var groups = []string{"kernelspace", "vbks", "datasets", "experiment", "ui", "cluster"}

func main() {
	var a asked
	var packages, names, without string
	var deadline, most time.Duration
	flag.StringVar(&packages, "packages", strings.Join(groups, ","), "groups, each with the packages below it")
	flag.IntVar(&a.n, "n", 200, "mutants, as many of each group; those that do not compile are not counted")
	flag.Uint64Var(&a.seed, "seed", 1, "of the draw")
	flag.DurationVar(&deadline, "deadline", 0, "begin no mutant later than this from now; 0: none")
	flag.DurationVar(&most, "most", time.Minute, "how long a package's tests for a mutant may usually take; further ones are left out")
	flag.IntVar(&a.beyond, "beyond", 3, "other packages whose tests are run where a mutant's own package notices nothing")
	flag.StringVar(&without, "without", "", "packages whose tests are not run, as cli, which take long")
	flag.BoolVar(&a.again, "again", false, "try those anew that have survived")
	flag.BoolVar(&a.list, "list", false, "say what is drawn, and run nothing")
	flag.StringVar(&a.at, "at", "", "all that can be changed on a `line`, as vbks/rows.go:81, and nothing that is drawn")
	flag.StringVar(&a.out, "out", "bin/mutate", "where it is kept what is known")
	flag.StringVar(&names, "known", "scripts/mutate/known.csv", "mutants that need not be killed, with the reason")
	flag.Parse()
	if flag.NArg() > 0 || a.n < 1 || a.beyond < 0 || most <= 0 || deadline < 0 {
		flag.Usage()
		os.Exit(2)
	}
	a.groups, a.most, a.without = strings.Split(packages, ","), most.Seconds(), strings.Split(without, ",")
	if deadline > 0 {
		a.deadline = time.Now().Add(deadline)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, a, names); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, a asked, names string) error {
	m, err := readModule()
	if err != nil {
		return err
	}
	a.root = m.root
	same, err := readKnown(names)
	if err != nil {
		return err
	}
	t, err := openTable(a.out, a.again, same)
	if err != nil {
		return err
	}
	defer t.file.Close()
	w, err := newWorkshop(a, m)
	if err != nil {
		return err
	}
	defer w.close()
	if a.at != "" {
		sites, err := atLine(m, a.at)
		if err != nil {
			return err
		}
		return w.group(ctx, a.at, sites, len(sites), t)
	}
	for i, group := range a.groups {
		if top, _, _ := strings.Cut(group, "/"); !slices.Contains(groups, top) {
			return fmt.Errorf("no coverage is taken of %s, only of %s", group, strings.Join(groups, ", "))
		}
		sites, err := draw(m, group, a.seed)
		if err != nil {
			return err
		}
		want := (a.n + len(a.groups) - 1 - i) / len(a.groups)
		if err := w.group(ctx, group, sites, want, t); err != nil {
			return err
		}
	}
	if !a.list {
		t.figures(os.Stdout, a.groups)
	}
	return nil
}
