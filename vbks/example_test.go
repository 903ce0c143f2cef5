package vbks_test

import (
	"context"
	"fmt"
	"math"

	"example.com/kestrel/device/cpu"
	"example.com/kestrel/kernelspace"
	"example.com/kestrel/vbks"
)

// Eighty points of a sine, three kernels: the periodic one is believed, and predicts
// three periods beyond the rows. Inputs and targets are standardised by whoever calls.
func ExampleTrainer() {
	const period = 0.5
	data := vbks.Training{Dim: 1}
	for i := range 80 {
		x := 4*float64(i)/79 - 2
		data.X = append(data.X, x)
		data.Y = append(data.Y, math.Sqrt2*math.Sin(2*math.Pi*x/period)+0.05*math.Cos(37*float64(i*i))) // no noise is drawn
	}
	var space []vbks.Candidate
	for _, text := range []string{"SE", "LIN", "PER"} {
		e, err := kernelspace.Parse(text)
		if err != nil {
			panic(err)
		}
		space = append(space, vbks.Candidate{Expr: e})
	}
	s := vbks.DefaultSettings()
	s.Inducing, s.EvaluateEvery, s.Refine = 20, 0.5, 0

	ctx, dev := context.Background(), cpu.New(cpu.Options{})
	defer dev.Close()
	t, err := vbks.New(ctx, dev, data, space, []string{"x"}, s)
	if err != nil {
		panic(err)
	}
	for range t.Planned() {
		if _, err := t.Next(ctx); err != nil {
			panic(err)
		}
	}
	e := t.Last()
	best := &e.Kernels[e.Leader()]
	fmt.Printf("of all %d rows: %s, believed by %.2f\n", e.RowsSeen, best.ID, best.Posterior)
	for _, p := range best.Params {
		if p.Name == "period" {
			fmt.Printf("period %.2f\n", p.Value)
		}
	}
	p, err := t.Predict(ctx, []float64{3.5 + period/4, 3.5 - period/4}, vbks.PredictOptions{})
	if err != nil {
		panic(err)
	}
	for row := range p.Rows() {
		mean, variance := p.Moments(row, true)
		fmt.Printf("%.1f within %.1f\n", mean, 2*math.Sqrt(variance))
	}
	// Output:
	// of all 80 rows: PER, believed by 1.00
	// period 0.50
	// 1.4 within 0.5
	// -1.4 within 0.5
}
