package modelfile_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"example.com/kestrel/device/cpu"
	"example.com/kestrel/experiment"
	"example.com/kestrel/experiment/config"
	"example.com/kestrel/experiment/modelfile"
	"example.com/kestrel/experiment/record"
	"example.com/kestrel/vbks"
)

// ran makes a run of a table, y = 3 + 2x and a wave, as kestrel run does, and returns its
// model file.
func ran(dir string) (string, error) {
	table := "x,y\n"
	for i := range 60 {
		x := float64(i) / 10
		table += fmt.Sprintf("%v,%v\n", x, 3+2*x+math.Sin(40*x*x)/10)
	}
	path := filepath.Join(dir, "line.csv")
	if err := os.WriteFile(path, []byte(table), 0o644); err != nil {
		return "", err
	}
	var set []config.Override
	for _, text := range []string{"kernels.expressions=LIN,SE", "data.time=no", "data.transform=none", "schedule.evaluate_every=0.5"} {
		o, err := config.ParseOverride(text)
		if err != nil {
			return "", err
		}
		set = append(set, o)
	}
	c, err := config.ForTable(path, "y", set)
	if err != nil {
		return "", err
	}
	ctx, run := context.Background(), filepath.Join(dir, "run")
	s, err := experiment.Begin(ctx, c, run)
	if err != nil {
		return "", err
	}
	defer s.Close()
	_, err = s.Run.Drive(ctx, record.Course{})
	return filepath.Join(run, record.ModelFile), err
}

// A model file predicts without the run that wrote it: points are standardised with its
// scaler, predictions come back in the units of the data.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "kestrel")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path, err := ran(dir) // or what kestrel model has written
	if err != nil {
		panic(err)
	}

	m, err := modelfile.Open(path)
	if err != nil {
		panic(err)
	}
	dev := cpu.New(cpu.Options{Lanes: 1})
	defer dev.Close()
	predicts, err := m.Frozen.On(dev)
	if err != nil {
		panic(err)
	}
	a := &m.About
	p, err := predicts.Predict(context.Background(), a.Scaler.Inputs([]float64{1, 10}), vbks.PredictOptions{Top: a.Top, Weights: a.Weights})
	if err != nil {
		panic(err)
	}
	y := p.In(a.Scaler)
	fmt.Printf("%s, learned from %d rows\n", p.IDs[0], a.Data.Learned)
	for row, x := range []float64{1, 10} {
		mean, _ := y.Moments(row, true)
		fmt.Printf("%s at %v: %.0f, %t\n", m.Data.Target.Name, x, mean, y.Quantile(row, 0.05, true) < mean && mean < y.Quantile(row, 0.95, true))
	}
	// Output:
	// LIN, learned from 54 rows
	// y at 1: 5, true
	// y at 10: 23, true
}
