package kernelspace_test

import (
	"fmt"
	"math"

	"example.com/kestrel/kernelspace"
)

// Two texts are the same kernel if their canonical forms are: order does not count,
// brackets do, since a product is not multiplied out.
func ExampleParse() {
	for _, text := range []string{"LIN*PER + SE", "SE+PER*LIN", "(SE+PER)*LIN", "SE[day]+RQ[2,3]", "SE+"} {
		e, err := kernelspace.Parse(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(e.Canonical().ID())
	}
	// Output:
	// PER*LIN+SE
	// PER*LIN+SE
	// (PER+SE)*LIN
	// RQ[2,3]+SE[day]
	// kernel expression "SE+", column 4: expected a kernel or "(" after "+"
}

// All kernels of at most two of two base kernels, one by one and added or multiplied.
func ExampleEnumerate() {
	var base []kernelspace.Expr
	for _, name := range []string{"SE", "LIN"} {
		e, err := kernelspace.Parse(name)
		if err != nil {
			panic(err)
		}
		base = append(base, e)
	}
	space, err := kernelspace.Enumerate(base, 2)
	if err != nil {
		panic(err)
	}
	for _, e := range space {
		fmt.Println(e)
	}
	// Output:
	// LIN
	// SE
	// LIN + LIN
	// LIN + SE
	// SE + SE
	// LIN×LIN
	// LIN×SE
	// SE×SE
}

// The squared exponential falls to exp(−1/2) a length scale away.
func ExampleCompile() {
	e, err := kernelspace.Parse("SE")
	if err != nil {
		panic(err)
	}
	p, err := kernelspace.Compile(e, kernelspace.Options{Columns: []string{"x"}})
	if err != nil {
		panic(err)
	}
	for _, q := range p.Params {
		fmt.Println(q.Base, q.Name)
	}
	theta := []float64{4, 2} // variance, length scale
	fmt.Println(p.Eval(theta, []float64{1}, []float64{1}, false))
	fmt.Println(p.Eval(theta, []float64{1}, []float64{3}, false) == 4*math.Exp(-0.5))
	// Output:
	// SE variance
	// SE lengthscale
	// 4
	// true
}
