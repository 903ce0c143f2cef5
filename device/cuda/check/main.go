//go:build cuda

// Command check compiles every kernel of the CUDA device with libnvrtc, without a
// card, and prints what it needs: registers, bytes of stack, spilled bytes,
// shared memory. It fails where a kernel spills registers, or has a stack and does
// not interpret expressions, whose values are kept there.
//
//	check [-arch 70,75,80,90,100] [-v] [-library | -space K144 | -dim 3 EXPRESSION...]
//	check -images
//
// Without arguments the kernels are those of the library and code generated, in
// groups as the device does, for a space in one column and some expressions in three;
// else those generated for the expressions. With -images it compiles the library to
// the PTX that the device falls back on where there is no compiler, in
// device/cuda/source/image; PTX of CUDA 12.1 serves every driver from there on.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/kestrel/device/cuda/driver"
	"example.com/kestrel/device/cuda/source"
	"example.com/kestrel/kernelspace"
)

func main() {
	archs := flag.String("arch", "70,75,80,90,100", "compute capabilities, 90 for 9.0; those that the compiler does not know are left out")
	verbose := flag.Bool("v", false, "print every kernel, not only the library's")
	library := flag.Bool("library", false, "only the library")
	space := flag.String("space", "K144", "kernels to generate code for in one column")
	dim := flag.Int("dim", 3, "columns that the expressions are for")
	images := flag.Bool("images", false, "write the library's images and check nothing")
	flag.Parse()
	if *images {
		if err := writeImages("device/cuda/source/image"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := run(*archs, *space, *dim, *verbose, *library, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// unit is a source to compile and what came of it.
type unit struct {
	name, source string
	kernels      []kernel
	bytes        int
	took         time.Duration
	err          error
}

// kernel is what the assembler says of a kernel.
type kernel struct {
	name                             string
	registers, stack, spills, shared int
}

// several are column subsets and sums of products, and every base kernel with a
// length scale per column.
func several() []string {
	list := []string{
		"LIN[;ard]*PER", "MATERN32[1,3]", "MATERN52[2,1;ard]", "POLY2+POLY3[;ard]", "COS[2]*SE", "WN*SE+LIN", "PER[2]*LIN[1]*RQ[3]",
		"(PER[1]+RQ[2,3;ard])*LIN[;ard]+POLY2[2]", "SE+SE+SE*SE*SE*SE", "PER[;ard]*RQ[;ard]",
		"CP(SE,PER*LIN)[2]+RW", "CP(CP(SE,LIN),CONST)*PER",
	}
	for _, b := range kernelspace.BaseKernels() {
		if b.Name == "CAT" { // a length for each level is of one column
			list = append(list, "CAT[2;ard]*SE[1]")
			continue
		}
		list = append(list, b.Name+"[;ard]")
	}
	return list
}

func run(archs, space string, dim int, verbose, library bool, expressions []string) error {
	compiler, err := driver.OpenCompiler(0)
	if err != nil {
		return err
	}
	var units []*unit
	if len(expressions) == 0 {
		units = append(units, &unit{name: "library", source: source.Library()})
	}
	if len(expressions) == 0 && !library {
		kernels, err := kernelspace.Set(space)
		if err != nil {
			return err
		}
		units, err = add(units, space, kernels, 1)
		if err != nil {
			return err
		}
		expressions = several()
	}
	list := make([]kernelspace.Expr, len(expressions))
	for i, e := range expressions {
		if list[i], err = kernelspace.Parse(e); err != nil {
			return err
		}
	}
	if units, err = add(units, fmt.Sprintf("%d columns", dim), list, dim); err != nil {
		return err
	}
	checked := 0
	for text := range strings.SplitSeq(archs, ",") {
		arch, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("-arch %s: %q is not a number like 90", archs, text)
		}
		target := compiler.Target(arch)
		if target != fmt.Sprintf("sm_%d", arch) {
			fmt.Printf("libnvrtc %s does not compile for sm_%d, which is left out\n", compiler.Version(), arch)
			continue
		}
		checked++
		fmt.Printf("libnvrtc %s, for %s\n", compiler.Version(), target)
		if err := compileAll(units, compiler, target, verbose); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	if checked == 0 {
		return fmt.Errorf("-arch %s: libnvrtc %s compiles for none of them", archs, compiler.Version())
	}
	return nil
}

// compileAll compiles the units for a target and reports on them.
func compileAll(units []*unit, compiler *driver.Compiler, target string, verbose bool) error {
	var wg sync.WaitGroup
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, u := range units {
		turns <- struct{}{}
		wg.Go(func() {
			u.compile(compiler, target)
			<-turns
		})
	}
	wg.Wait()
	return report(units, verbose)
}

// levels are those of a column that has a length for each.
var levels = []float64{-1.5, -0.5, 0.5, 1.5}

// add adds units of as many expressions as the device compiles together.
func add(units []*unit, name string, list []kernelspace.Expr, dim int) ([]*unit, error) {
	var programs []*kernelspace.Program
	for _, e := range list {
		p, err := kernelspace.Compile(e, kernelspace.Options{Dim: dim, Levels: func(int) []float64 { return levels }})
		if err != nil {
			return nil, err
		}
		if source.Structure(p) != "" {
			programs = append(programs, p)
		}
	}
	number := 0
	for group := range slices.Chunk(programs, source.PerModule) {
		number++
		text, err := source.Matrices(group, true)
		if err != nil {
			return nil, err
		}
		units = append(units, &unit{name: fmt.Sprintf("%s, module %d", name, number), source: text})
	}
	return units, nil
}

func (u *unit) compile(c *driver.Compiler, target string) {
	u.kernels, u.err = nil, nil
	start := time.Now()
	image, err := c.Compile(u.name, u.source, target, append(slices.Clone(source.Options), "-Xptxas=-v")...)
	u.took = time.Since(start)
	if err != nil {
		u.err = err
		return
	}
	u.bytes = len(image.Code)
	u.kernels, u.err = parse(image.Log)
	if u.err == nil && len(u.kernels) == 0 {
		u.err = fmt.Errorf("%s: the compiler's log names no kernel; its version may not pass -Xptxas=-v on", u.name)
	}
}

var (
	entryLine = regexp.MustCompile(`Compiling entry function '(\w+)'`)
	stackLine = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	usedLine  = regexp.MustCompile(`Used (\d+) registers`)
	smemLine  = regexp.MustCompile(`(\d+) bytes smem`)
)

// parse reads what ptxas -v prints, kernel by kernel.
func parse(log string) ([]kernel, error) {
	var list []kernel
	number := func(s string) int {
		n, _ := strconv.Atoi(s)
		return n
	}
	for line := range strings.Lines(log) {
		if m := entryLine.FindStringSubmatch(line); m != nil {
			list = append(list, kernel{name: m[1], registers: -1, stack: -1})
			continue
		}
		if len(list) == 0 {
			continue
		}
		k := &list[len(list)-1]
		if m := stackLine.FindStringSubmatch(line); m != nil && k.stack < 0 {
			k.stack, k.spills = number(m[1]), number(m[2])+number(m[3])
		}
		if m := usedLine.FindStringSubmatch(line); m != nil {
			k.registers = number(m[1])
			if m := smemLine.FindStringSubmatch(line); m != nil {
				k.shared = number(m[1])
			}
		}
	}
	for _, k := range list {
		if k.registers < 0 || k.stack < 0 {
			return nil, fmt.Errorf("the compiler's log says nothing of %s", k.name)
		}
	}
	return list, nil
}

// interprets reports whether a kernel holds the interpreter.
func interprets(name string) bool {
	return strings.HasPrefix(name, "interpret_") || strings.HasPrefix(name, "small_")
}

func report(units []*unit, verbose bool) error {
	bad, count, most := 0, 0, 0
	var cpu time.Duration
	for _, u := range units {
		if u.err != nil {
			return u.err
		}
		fmt.Printf("%s: %d KiB, %.1f s\n", u.name, u.bytes>>10, u.took.Seconds())
		cpu += u.took
		for _, k := range u.kernels {
			count++
			fault := ""
			if k.spills > 0 {
				fault = "  SPILLS"
			} else if k.stack > 0 && !interprets(k.name) {
				fault = "  HAS A STACK"
			}
			if fault != "" {
				bad++
			}
			if !interprets(k.name) {
				most = max(most, k.registers)
			}
			if verbose || fault != "" || u == units[0] {
				fmt.Printf("  %-18s %3d registers %5d stack %4d spilled %6d shared%s\n", k.name, k.registers, k.stack, k.spills, k.shared, fault)
			}
		}
	}
	fmt.Printf("%d kernels in %d modules, at most %d registers, %.0f s of compiling\n", count, len(units), most, cpu.Seconds())
	if bad > 0 {
		return fmt.Errorf("%d kernels spill registers or need a stack", bad)
	}
	return nil
}
